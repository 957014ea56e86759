"""Examines a gate: shares the copies out, counts, and says what follows from the counts. It prints nothing."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.special import betaincinv

import gateline
from gateline import amounts
from gateline.comparison import Comparison
from gateline.doctor.conclusion import LEAST_CAUGHT, conclude
from gateline.doctor.copies import Change, differ
from gateline.doctor.facts import CheckFacts, Examination, PowerFacts, Rate
from gateline.doctor.planning import Plans
from gateline.doctor.processes import share_out
from gateline.doctor.trials import (
    BLOCKED,
    PASSED,
    PROOF,
    SHOWN,
    TRIED,
    Counts,
    Ground,
    try_copies,
)
from gateline.errors import GatelineError, Problem
from gateline.findings import Finding, Status
from gateline.gate import compare
from gateline.metric import Metric
from gateline.policy import PolicyFile
from gateline.spelling import PLAIN

DROPS = (0.0, 0.02, 0.05, 0.10)
"""Shares of the range: none, to compare with, then 2, 5 and 10 points."""
MOST_POWER_COPIES, FEWEST_POWER_COPIES = 100, 20
"""Copies into which drops are put: of 100, a chance of one half is known to 10 points either way."""
_CHECKS = 20_000
"""Checks of drops that are worth waiting for: with more to a copy, drops are put into fewer copies."""
_SHARE = 10
"""Copies that one process takes at a time."""

Progress = Callable[[int, int], None]
"""Told how many copies are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How thoroughly a gate is examined."""

    copies: int = 500
    seed: int = 0
    redone: float = 0.1
    """Share of answers that are assumed to change from run to run, where there is but one run."""
    processes: int | None = None
    """How many work at it; as many as there are processors when None."""


def examine(
    policy: PolicyFile, baseline: str, candidate: str | None, plan: Plan, progress: Progress | None = None
) -> Examination:
    """Try a policy on copies of a user's own runs.

    With two runs, the copies have their sides swapped at random by cluster; with one run, a share of its answers is
    made anew. Drops of 2, 5 and 10 points are put into each metric and slice that a rule looks at.

    Raises PolicyError, InputError or NotComparable where the gate itself would have no verdict.
    """
    comparison = _compare(policy, baseline, candidate)
    findings = [finding for rule in policy.policy.rules for finding in rule.check(comparison)]
    changes = _list_changes(findings, policy.policy.metrics)
    redone = None if candidate is not None else plan.redone
    families = {(f.rule, f.slice): f.family for f in findings if f.status is not Status.SKIPPED}
    ground = Ground(policy.policy, comparison.pairs, redone, changes, plan.seed, families)
    counts = Counts()
    for part in _share_out(ground, plan):
        counts.add(part)
        if progress is not None:
            progress(counts.copies, plan.copies)
    return _tell(policy, (baseline, candidate), comparison, findings, ground, counts)


def _compare(policy: PolicyFile, baseline: str, candidate: str | None) -> Comparison:
    """Return the runs as a gate compares them; what is wrong with the one run of two sides is told once."""
    try:
        return compare(policy, baseline, candidate or baseline)
    except GatelineError as error:
        told: dict[tuple[str, str], Problem] = {}
        for problem in error.problems:
            told[problem.message, problem.where] = problem
        raise type(error)(error.headline, problems=list(told.values())) from None


def _share_out(ground: Ground, plan: Plan) -> Iterator[Counts]:
    """Return the counts of all copies, part by part, in any number of processes with the same sum."""
    parts = [range(first, min(first + _SHARE, plan.copies)) for first in range(0, plan.copies, _SHARE)]
    processes = min(plan.processes or os.cpu_count() or 1, len(parts))
    powers = _power_copies(ground)
    if processes == 1:
        for part in parts:
            yield from try_copies(ground, part, powers)
    else:
        yield from share_out(_Work(ground, powers).count, parts, processes)


@dataclass(frozen=True)
class _Work:
    """What each process is given once."""

    ground: Ground
    powers: int
    """Into how many copies drops are put."""

    def count(self, numbers: Sequence[int]) -> Counts:
        """Return the counts of some copies together."""
        total = Counts()
        for counts in try_copies(self.ground, numbers, self.powers):
            total.add(counts)
        return total


def _power_copies(ground: Ground) -> int:
    """Return into how many copies drops are put."""
    checks = sum(len(ground.asked(change)) for change in ground.changes)
    return max(FEWEST_POWER_COPIES, min(MOST_POWER_COPIES, _CHECKS // max(checks, 1)))


def _list_changes(findings: Sequence[Finding], metrics: dict[str, Metric]) -> list[Change]:
    """Return the drops to try: for each metric and slice that a rule looks at, and for the whole run."""
    places = dict.fromkeys(
        place
        for finding in findings
        if finding.kind != "improvement"
        for place in ((finding.metric, None), (finding.metric, finding.slice))
    )
    ordered = sorted(places, key=lambda place: (list(metrics).index(place[0]), place[1] is not None))
    return [Change(metric, place, drop) for metric, place in ordered for drop in DROPS]


def _tell(
    policy: PolicyFile,
    files: tuple[str, str | None],
    comparison: Comparison,
    findings: Sequence[Finding],
    ground: Ground,
    counts: Counts,
) -> Examination:
    judged = counts.copies - counts.no_verdict
    has_gains = any(finding.kind == "improvement" for finding in findings)
    plans = Plans.make(ground, findings)
    own = [f for f in findings if f.judged == "candidate" and f.status is Status.FAIL]
    found = Examination(
        gateline=gateline.__version__,
        policy=policy.policy.name,
        policy_file=policy.file,
        baseline=files[0],
        candidate=files[1],
        noise="swapped" if ground.redone is None else "redone",
        redone=ground.redone,
        questions=len(comparison.pairs.ids),
        clusters=len(set(comparison.pairs.cluster.tolist())),
        copies=counts.copies,
        seed=ground.seed,
        blocked=rate(counts.false_alarms + counts.unshown, judged),
        false_alarms=rate(counts.false_alarms, judged),
        unshown=rate(counts.unshown, judged),
        lucky_gains=rate(counts.lucky_gains, judged) if has_gains else None,
        always_blocks=list(dict.fromkeys(f.rule for f in own)),
        no_verdict=counts.no_verdict,
        no_verdict_reason=counts.reason,
        no_noise=ground.redone is None and not differ(comparison.pairs),
        judge_alone=sorted(comparison.people),
        waived=list(dict.fromkeys(one.rule for one in policy.policy.waivers)),
        checks=[_tell_check(finding, plans, counts, judged) for finding in findings],
        powers=[
            _tell_power(position, change, counts, plans) for position, change in enumerate(ground.changes)
        ],
        conclusion=[],
    )
    return found.model_copy(update={"conclusion": conclude(found)})


def rate(count: int, of: int) -> Rate:
    """Return a share with Jeffreys' interval at 95 %; of nothing, everything is possible."""
    if of == 0:
        return Rate(count=0, of=0, share=0.0, low=0.0, high=1.0)
    low = 0.0 if count == 0 else float(betaincinv(count + 0.5, of - count + 0.5, 0.025))
    high = 1.0 if count == of else float(betaincinv(count + 0.5, of - count + 0.5, 0.975))
    return Rate(count=count, of=of, share=count / of, low=low, high=high)


def _tell_check(finding: Finding, plans: Plans, counts: Counts, judged: int) -> CheckFacts:
    check = (finding.rule, finding.slice)
    planned = plans.findings[check]
    against_baseline = finding.judged != "candidate"
    visible = planned.smallest_visible_change
    allowed = abs(finding.threshold) if against_baseline and finding.threshold is not None else None
    needs = None
    if visible is not None and allowed and finding.decide_by == "interval":
        needs = math.ceil(finding.samples * (visible / allowed) ** 2)
    return CheckFacts(
        rule=finding.rule,
        kind=finding.kind,
        metric=finding.metric,
        slice=finding.slice,
        hard=finding.hard,
        samples=finding.samples,
        at_least=plans.fewest(finding),
        passes=rate(counts.checks[check, PASSED], judged),
        fails=rate(counts.checks[check, SHOWN], judged),
        blocks_unshown=rate(counts.checks[check, PROOF], judged),
        visible_change=visible,
        allowed=allowed,
        needs=needs,
        bound=amounts.allowed(finding, PLAIN),
        now=amounts.from_to(finding, PLAIN),
        status=finding.status,
        summary=finding.summary,
        holds_plainly=None if against_baseline else _holds_plainly(finding),
        beyond=[] if against_baseline else _beyond(finding),
        decides=check in counts.settled,
    )


def _holds_plainly(finding: Finding) -> bool | None:
    """Return whether both runs keep a bound on the candidate alone by their plain values; None where none is known."""
    if finding.failing_count is not None:
        return finding.failing_count == 0
    if finding.threshold is None or (finding.baseline is None and finding.candidate is None):
        return None
    return not _beyond(finding)


def _beyond(finding: Finding) -> list[Literal["baseline", "candidate"]]:
    """Return the runs whose plain value lies beyond a bound on one run."""
    bound = finding.threshold
    if finding.failing_count is not None or bound is None:
        return []
    ceiling = finding.at_most is not None
    runs: list[Literal["baseline", "candidate"]] = ["baseline", "candidate"]
    values = zip(runs, (finding.baseline, finding.candidate), strict=True)
    return [
        run for run, value in values if value is not None and (value > bound if ceiling else value < bound)
    ]


def _tell_power(position: int, change: Change, counts: Counts, plans: Plans) -> PowerFacts:
    tried = counts.changes[position, TRIED]
    blocked = rate(counts.changes[position, BLOCKED], tried) if tried else None
    is_missed = change.size > 0 and blocked is not None and blocked.share < LEAST_CAUGHT
    return PowerFacts(
        metric=change.metric,
        slice=change.slice,
        drop=change.size,
        of_range=plans.ground.policy.metrics[change.metric].range is not None,
        blocked=blocked,
        shown=rate(counts.changes[position, SHOWN], tried) if tried else None,
        samples=max((one.samples for one in plans.looking(change)), default=None),
        allowed=plans.allows(change),
        needs=plans.needed(change) if is_missed else None,
    )
