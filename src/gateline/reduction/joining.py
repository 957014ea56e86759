"""May two reduced runs be compared at all? Then what is told of them: counts, what is missing, how they were made.

The counterpart of `pairing` for sums; what makes a comparison meaningless ends in an error (`refusals`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gateline.errors import InputError, NotComparable
from gateline.findings import Finding, Status
from gateline.pairing import NONE, MetricValues, Pairs, Rows, SideValues, Terms
from gateline.pairing.facts import LeftOutIds, LeftOutValues, Pairing
from gateline.pairing.join import Side
from gateline.pairing.labels import Labels
from gateline.pairing.provenance import compare_provenance
from gateline.policy import PolicyFile
from gateline.reduction.checked_table import AGAIN, MOST
from gateline.reduction.compare import ReducedComparison
from gateline.reduction.file import FORMAT, Reduced
from gateline.reduction.independent import (
    count_questions,
    refuse_fewer_questions,
    settle_independent,
    tell_numbers,
)
from gateline.reduction.plan import FEWEST_GROUPS, MOST_GROUPS, Plan, make_plan
from gateline.reduction.records import CAUSES, COUNTED_WORST
from gateline.reduction.refusals import (
    refuse_empty_slices,
    refuse_missing,
    refuse_other_questions,
    refuse_scales,
    refuse_uneven_attempts,
)
from gateline.reduction.sides import ReducedSide
from gateline.reduction.soundness import refuse_unsound
from gateline.remark import remarks_of, said
from gateline.rules import Rule
from gateline.samples import Run

_NOTHING = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class ReducedRun(Run):
    """A run of which only the number of records and how it was made are known."""

    records: int = 0
    reduced: Reduced | None = None

    def __len__(self) -> int:
        """Return the number of records."""
        return self.records


@dataclass
class ReducedLabels(Labels):
    """The slices of two reduced runs; which questions they hold isn't known."""

    places: Sequence[str] = field(default_factory=list)

    def rows(self, name: str | None) -> Rows:
        """Return no pair."""
        return _NOTHING

    def lost_in(self, name: str | None) -> list[str]:
        """Return no question."""
        return []

    def family(self, label: str) -> list[str]:
        """Return the slices of a label, one a value, sorted, the blank one last."""
        found = [place for place in self.places if place.startswith(f"{label}=")]
        return sorted(found, key=lambda place: (place == f"{label}={NONE}", place))


def run_of(reduced: Reduced) -> ReducedRun:
    """Return what a reduced file says of its run as a whole."""
    said_of_run = reduced.statement.get("provenance")
    records = reduced.statement.get("records")
    if not isinstance(said_of_run, dict) or not all(isinstance(value, str) for value in said_of_run.values()):
        what = "provenance must be names and texts"
        raise InputError(f"is a damaged reduced file: {what}", reduced.file, AGAIN)
    if type(records) is not int or not 1 <= records < MOST:
        what = "records must be a whole number of at least 1"
        raise InputError(f"is a damaged reduced file: {what}", reduced.file, AGAIN)
    return ReducedRun(
        file=reduced.file, sha256=reduced.sha256, format=FORMAT, ids=[], lines=_NOTHING,
        provenance=said_of_run, records=records, reduced=reduced,
    )  # fmt: skip


def join(policy: PolicyFile, runs: Sequence[Reduced]) -> ReducedComparison:
    """Return the comparison of a baseline and a candidate, or of a candidate alone.

    Raises NotComparable, InputError or PolicyError where no verdict can rest on them.
    """
    plan = _agree_on_plan(policy, runs)
    for run in runs:
        refuse_unsound(run, plan)
    sides = tuple(ReducedSide(run, plan) for run in runs)
    terms = policy.terms()
    changed = []
    if len(runs) > 1:
        changed = compare_provenance(run_of(runs[0]), run_of(runs[1]), terms.provenance)
        if plan.paired:
            refuse_other_questions(sides)
        else:
            refuse_fewer_questions(sides, terms)
    if len(runs) < 2 or not plan.paired:
        refuse_uneven_attempts(sides, terms)
    refuse_empty_slices(sides, terms)
    asked = min(side.count("questions", None) for side in sides)
    if asked < terms.samples.at_least:
        raise NotComparable(
            said(
                "problem.too-few-pairs" if plan.paired else "problem.too-few-questions",
                count=asked,
                least=str(terms.samples.at_least),
            ),
            runs[-1].file,
            said("hint.too-few-pairs"),
        )
    refuse_scales(sides, plan)
    refuse_missing(sides, terms)
    pairs = _tell_pairs(sides, plan, terms)
    pairs.changed = changed
    return ReducedComparison(pairs, plan.metrics, policy.policy.statistics, sides=sides, paired=plan.paired)


def _agree_on_plan(policy: PolicyFile, runs: Sequence[Reduced]) -> Plan:
    plan = None
    for run in runs:
        groups, paired = run.statement.get("groups"), run.statement.get("paired")
        if type(groups) is not int or not FEWEST_GROUPS <= groups <= MOST_GROUPS or type(paired) is not bool:
            raise InputError("is a damaged reduced file: it can't be read how it was made", run.file, AGAIN)
        own = make_plan(policy, groups=groups)
        if own.paired and not paired:
            what, hint = said("problem.unpaired-not-permitted"), said("hint.unpaired-not-permitted")
            raise InputError(what, run.file, hint)
        wanted = own.statement() | {"digest": own.digest()}
        differing = [key for key, value in wanted.items() if _text(run.statement.get(key)) != _text(value)]
        if differing:
            named = [key for key in differing if key != "digest"] or differing
            raise InputError(
                f"was reduced for another policy: it differs in {', '.join(named)}",
                run.file, f"gateline reduce the log again, with --policy {policy.file}",
            )  # fmt: skip
        if plan is not None and plan.groups != groups:
            raise InputError(
                "was reduced in another way than the baseline: --groups must be the same",
                run.file, "reduce both logs with the same options",
            )  # fmt: skip
        plan = own
    assert plan is not None
    return plan


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)  # tells true from 1, and a tuple from no list


def _tell_pairs(sides: Sequence[ReducedSide], plan: Plan, terms: Terms) -> Pairs:
    runs = [run_of(side.reduced) for side in sides]
    shown = tuple(Side(run, _NOTHING, _NOTHING, repeated=False) for run in runs)
    places = sorted({place for side in sides for place in side.places})
    labels = ReducedLabels([], shown, None, terms, places=places)
    nothing = SideValues(np.empty(0), None, np.empty(0, dtype=bool), np.empty(0, dtype=np.int8), np.empty(0))
    empty = MetricValues(nothing if len(sides) > 1 else None, nothing, _NOTHING)
    identical = len(sides) > 1 and plan.paired and _is_same(sides[0].reduced, sides[1].reduced)
    pairs = Pairs([], shown, _NOTHING, [], labels, dict.fromkeys(plan.metrics, empty), identical)
    pairs.facts = _tell_facts(sides, plan, places, identical=identical)
    pairs.notices = [*_notices(sides, plan, pairs.facts), *([said("note.identical")] if identical else [])]
    return pairs


def _is_same(before: Reduced, after: Reduced) -> bool:
    return before.columns == after.columns and before.sketches == after.sketches


def _tell_facts(
    sides: Sequence[ReducedSide], plan: Plan, places: Sequence[str], *, identical: bool
) -> Pairing:
    told: dict[str, list[LeftOutValues]] = {"no_answer": [], "no_score": []}
    for name in plan.metrics:
        for run, side in zip(
            ("candidate",) if len(sides) == 1 else ("baseline", "candidate"), sides, strict=True
        ):
            for place in (None, *places):
                for code, number in side.causes(name, place).items():
                    value = LeftOutValues(
                        metric=name,
                        run=run,
                        slice=place,
                        cause=CAUSES[code],
                        counted_as="worst" if code == COUNTED_WORST else "left out",
                        samples=number,
                        of=side.due(name, place),
                        ids=[],
                    )
                    told["no_answer" if CAUSES[code] == "no_answer" else "no_score"].append(value)
    nobody = LeftOutIds(samples=0, ids=[], slices={})
    independent = len(sides) > 1 and not plan.paired
    return Pairing(
        paired=0 if independent else min(side.count("questions", None) for side in sides),
        clusters=min(len(side.rows(None)) for side in sides),
        attempts=any(side.count("repeated", None) for side in sides),
        identical=identical,
        only_in_baseline=nobody,
        only_in_candidate=nobody,
        no_answer=told["no_answer"],
        no_score=told["no_score"],
        slices={}
        if independent
        else {place: min(side.count("questions", place) for side in sides) for place in places},
        independent=count_questions(sides, places) if independent else None,
    )


def _notices(sides: Sequence[ReducedSide], plan: Plan, facts: Pairing) -> list[str]:
    notices: list[str] = [said("notice.sums", count=min(len(side.rows(None)) for side in sides))]
    notices += [
        said("notice.uneven-tries", file=side.reduced.file, times=side.most_tries)
        for side in sides
        if side.untried_share > 0.0
    ]
    if facts.independent is not None:
        notices += tell_numbers(facts.independent)
    for name in plan.metrics if len(sides) > 1 and plan.paired else ():
        used = [side.sums(name, None).used for side in sides]
        if not np.array_equal(used[0], used[1]):
            before, after = (int(one.sum()) for one in used)
            notices.append(said("notice.other-usable", metric=name, before=before, after=after))
    return notices


def settle_reduced(
    findings: Sequence[Finding], rules: dict[str, Rule], comparison: ReducedComparison
) -> list[Finding]:
    """Return the findings, unsettled where a plain quantile lies nearer to its bound than a sketch can tell.

    Of runs of other questions they have the samples of both, and nothing passes where the candidate has too few.
    """
    settled = [_settle(finding, rules[finding.rule], comparison) for finding in findings]
    if comparison.paired or len(comparison.sides) < 2:
        return settled
    return [settle_independent(finding, rules[finding.rule], comparison) for finding in settled]


def _settle(finding: Finding, rule: Rule, comparison: ReducedComparison) -> Finding:
    value = getattr(finding, finding.judged)
    error = comparison.error(finding.metric, finding.slice, finding.judged)
    judged = finding.status in (Status.PASS, Status.FAIL) and finding.decide_by == "value"
    if not error or not judged or value is None or finding.threshold is None:
        return finding
    if abs(value - finding.threshold) > error or comparison.pairs.identical:
        return finding
    note = f"the sketch of the quantile may be off by {error:.3g}, and the bound is nearer than that"
    notes = [*finding.notes, note]
    update = {
        "status": Status.INCONCLUSIVE,
        "blocks": rule.if_inconclusive == "fail",
        "notes": notes,
        "notes_said": [*finding.notes_said, *remarks_of([note])],
    }
    return finding.model_copy(update=update)
