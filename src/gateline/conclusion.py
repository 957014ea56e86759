"""From findings, or from an error, to the verdict: puts together what is known and says why.

It judges nothing; the word comes from `verdict.decide`.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import gateline
from gateline.comparison import Comparison
from gateline.errors import GatelineError, Problem
from gateline.field_names import guess_layer
from gateline.findings import Finding, Status
from gateline.losses import find_losses
from gateline.movements import find_changed, find_curves, find_spreads
from gateline.pairing import Pairs, list_changes, state_facts
from gateline.policy import PolicyFile, name_of
from gateline.remark import remark_of, remarks_of, said
from gateline.samples import Run
from gateline.verdict import (
    BaseVerdict,
    ChangedField,
    FailOn,
    PolicyFacts,
    RunFacts,
    StatedProblem,
    StatisticsFacts,
    Verdict,
    WorstSample,
    count,
    decide,
    order_findings,
)
from gateline.wording import describe

BoolArray = npt.NDArray[np.bool_]
MOST_WORST = 20
MOST_WORST_OF_ONE = 5


@dataclass(frozen=True)
class Options:
    """How the same question may be asked in other ways."""

    fail_on: FailOn = "fail"
    """Which outcome ends with exit code 1."""
    first_run: bool = False
    """Whether a missing baseline is allowed: only fixed limits are judged then."""
    require_fresh: bool = False
    """Whether a candidate that holds the baseline's records gets no verdict."""
    read_as: str | None = None
    """Name of the reader for both files, where the content does not tell."""
    with_excerpts: bool = False
    """Whether the verdict may hold texts of questions."""


@dataclass
class Known:
    """What is known so far of one question to the gate; a verdict may end anywhere on the way."""

    policy_file: str
    baseline: str | None
    candidate: str
    on: datetime.date
    policy: PolicyFile | None = None
    baseline_run: Run | None = None
    candidate_run: Run | None = None
    pairs: Pairs | None = None


def conclude(
    findings: Sequence[Finding],
    notices: Sequence[str],
    comparison: Comparison,
    known: Known,
    options: Options,
) -> Verdict:
    """Return the verdict that the findings make; the worst of them decides."""
    policy = known.policy
    assert policy is not None
    ordered = order_findings(_complete(finding, policy, options.fail_on) for finding in findings)
    word, code = decide(ordered, options.fail_on)
    problems = []
    if word == "invalid":
        hint = said("hint.give-baseline-or-limit" if known.baseline is None else "hint.see-findings")
        problems = [_state(Problem(said("problem.nothing-judged"), known.policy_file, hint))]
    return _tell(known, options).model_copy(
        update={
            "verdict": word,
            "exit_code": code,
            "because": [one.message for one in problems] or _reasons(ordered, word, options),
            "counts": count(ordered),
            "findings": ordered,
            "worst": _find_worst(ordered, comparison, options),
            "worse_samples": _count_worse(ordered, comparison),
            "changed_samples": find_changed(ordered, comparison, with_excerpts=options.with_excerpts),
            "spreads": find_spreads(ordered, comparison),
            "curves": find_curves(ordered, comparison),
            "losses": find_losses(ordered, comparison, policy.rules, with_excerpts=options.with_excerpts),
            "notices": [str(notice) for notice in notices],
            "notices_said": remarks_of(notices),
            "problems": problems,
        }
    )


def refuse(error: GatelineError, known: Known, options: Options) -> Verdict:
    """Return the verdict that there is none, with all that was known when it ended."""
    problems = [_state(problem) for problem in error.problems]
    because = [str(problem) for problem in error.problems]
    return _tell(known, options).model_copy(update={"because": because, "problems": problems})


def add_notices(verdict: Verdict, notices: Sequence[str]) -> Verdict:
    """Return the verdict with more that a person should know."""
    silent = [None] * (len(verdict.notices) - len(verdict.notices_said))
    update = {
        "notices": [*verdict.notices, *map(str, notices)],
        "notices_said": [*verdict.notices_said, *silent, *remarks_of(notices)],
    }
    return verdict.model_copy(update=update)


def tell_base(before: Verdict) -> BaseVerdict:
    """Return what the base branch's policy says, with what its first reason is about."""
    first = before.because[0] if before.because else None
    return BaseVerdict(
        verdict=before.verdict,
        because=before.because[:3],
        worst=next((one for one in before.findings if one.message == first), None),
        problem=before.problems[0] if before.problems else None,
    )


def _state(problem: Problem) -> StatedProblem:
    return StatedProblem(
        message=str(problem.message),
        where=problem.where,
        hint=str(problem.hint),
        message_said=remark_of(problem.message),
        hint_said=remark_of(problem.hint),
    )


def _tell(known: Known, options: Options) -> Verdict:
    """Return a verdict that decides nothing yet and tells what was looked at."""
    policy, pairs = known.policy, known.pairs
    return Verdict(
        gateline=gateline.__version__,
        verdict="invalid",
        exit_code=2,
        because=[],
        counts=count([]),
        fail_on=options.fail_on,
        first_run=known.baseline is None and options.first_run,
        policy=_tell_policy(policy, known.policy_file),
        judged_on=known.on.isoformat(),
        baseline=None if known.baseline is None else _tell_run(known.baseline_run, known.baseline),
        candidate=_tell_run(known.candidate_run, known.candidate),
        changed=pairs.changed if pairs else _list_changes(known),
        pairing=pairs.facts if pairs else None,
        statistics=_tell_statistics(policy) if policy else None,
        findings=[],
        worst=[],
        notices=[str(notice) for notice in pairs.notices] if pairs else [],
        notices_said=remarks_of(pairs.notices) if pairs else [],
        problems=[],
    )


def _list_changes(known: Known) -> list[ChangedField]:
    """Return in what two runs differ that were never paired: it may be the reason why not."""
    if known.policy is None or known.baseline_run is None or known.candidate_run is None:
        return []
    return list_changes(known.baseline_run, known.candidate_run, known.policy.policy.provenance)


def _complete(finding: Finding, policy: PolicyFile, fail_on: FailOn) -> Finding:
    metric = policy.policy.metrics[finding.metric]
    told = {"line": policy.rule_lines[finding.rule], "layer": guess_layer(finding.metric, metric)}
    placed = finding.model_copy(update=told)
    return placed.model_copy(update={"message": describe(placed, fail_on=fail_on)})


def _reasons(findings: Sequence[Finding], word: str, options: Options) -> list[str]:
    """Return why, worst first: what blocks, else what warns, else what the pass rests on."""
    blocking = [finding for finding in findings if finding.blocks]
    if word == "fail" and options.fail_on == "inconclusive":
        blocking += [f for f in findings if f.status is Status.INCONCLUSIVE and not f.blocks]
    if blocking:
        return [finding.message for finding in blocking]
    judged = [finding for finding in findings if finding.status is not Status.SKIPPED]
    held = sum(finding.status is Status.PASS for finding in judged)
    warnings = [finding.message for finding in findings if finding.warns]
    return [*warnings, f"{held} of {len(judged)} checks hold"]


def _tell_policy(policy: PolicyFile | None, file: str) -> PolicyFacts:
    if policy is None:
        return PolicyFacts(name=name_of(file), file=file, sha256=None)
    return PolicyFacts(
        name=policy.policy.name, file=policy.file, sha256=policy.sha256, lang=policy.policy.lang
    )


def _tell_run(run: Run | None, file: str) -> RunFacts:
    if run is None:
        return RunFacts(file=file, sha256=None, format=None, samples=None, provenance={})
    return RunFacts(
        file=run.file, sha256=run.sha256, format=run.format, samples=len(run), provenance=state_facts(run)
    )


def _tell_statistics(policy: PolicyFile) -> StatisticsFacts:
    settings = policy.policy.statistics
    return StatisticsFacts(
        confidence=settings.confidence,
        resamples=settings.resamples,
        seed=settings.seed,
        method=settings.method,
    )


def _find_worst(findings: Sequence[Finding], comparison: Comparison, options: Options) -> list[WorstSample]:
    """Return the samples that lost most, of each metric and slice that is not plainly fine, worst first."""
    if comparison.pairs.first_run:
        return []
    worst: dict[tuple[str, str], WorstSample] = {}
    for finding in findings:
        if _is_looked_into(finding) and len(worst) < MOST_WORST:
            for sample in _worst_of(finding, comparison, options):
                worst.setdefault((sample.metric, sample.id), sample)
    return list(worst.values())[:MOST_WORST]


def _count_worse(findings: Sequence[Finding], comparison: Comparison) -> int | None:
    """Return how many samples got worse where the worst are taken from; None where single samples are not known."""
    got_worse: dict[str, BoolArray] = {}
    for finding in findings:
        if _is_looked_into(finding):
            rows = comparison.rows(finding.metric, finding.slice)
            gains = np.nan_to_num(comparison.gains(finding.metric, rows)) if len(rows) else np.zeros(0)
            marks = got_worse.setdefault(finding.metric, np.zeros(len(comparison.pairs.ids), dtype=bool))
            marks[rows[gains < 0]] = True
    return sum(int(marks.sum()) for marks in got_worse.values()) or None


def _is_looked_into(finding: Finding) -> bool:
    """Return whether its samples are worth a look: it is not plainly fine, or too small to be judged and fell."""
    return finding.status not in (Status.PASS, Status.SKIPPED) or finding.fell_unjudged


def _worst_of(finding: Finding, comparison: Comparison, options: Options) -> list[WorstSample]:
    pairs = comparison.pairs
    rows = comparison.rows(finding.metric, finding.slice)
    gains = np.nan_to_num(comparison.gains(finding.metric, rows))
    before, after = comparison.per_sample(finding.metric, rows)
    if before is None:
        return []
    candidate = pairs.sides[-1]
    questions = candidate.run.texts("question") if options.with_excerpts else None
    order = [int(place) for place in np.argsort(gains, kind="stable")[:MOST_WORST_OF_ONE] if gains[place] < 0]
    return [
        WorstSample(
            id=pairs.ids[int(rows[place])],
            metric=finding.metric,
            slice=finding.slice,
            baseline=float(before[place]),
            candidate=float(after[place]),
            gain=float(gains[place]),
            question=questions[int(candidate.first[rows[place]])] if questions else None,
        )
        for place in order
    ]
