"""May two reduced runs be compared at all? Then what is told of them: counts, what is missing, how they were made.

The counterpart of `pairing` for sums. Everything that makes a comparison meaningless ends here in an error.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gateline.errors import InputError, NotComparable, PolicyError, Problem
from gateline.findings import Finding, Status
from gateline.pairing import NONE, MetricValues, Pairs, Rows, SideValues, Terms
from gateline.pairing.facts import LeftOutIds, LeftOutValues, Pairing
from gateline.pairing.join import Side
from gateline.pairing.labels import Labels
from gateline.pairing.provenance import compare_provenance
from gateline.policy import PolicyFile
from gateline.reduction.compare import ReducedComparison
from gateline.reduction.file import FORMAT, Reduced
from gateline.reduction.plan import Plan, make_plan
from gateline.reduction.records import CAUSES, COUNTED_WORST
from gateline.reduction.sides import ReducedSide
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
    if not isinstance(said_of_run, dict) or not isinstance(records, int):
        raise InputError("is a damaged reduced file", reduced.file, "reduce the log again")
    return ReducedRun(
        file=reduced.file, sha256=reduced.sha256, format=FORMAT, ids=[], lines=_NOTHING,
        provenance=said_of_run, records=records, reduced=reduced,
    )  # fmt: skip


def join(policy: PolicyFile, runs: Sequence[Reduced]) -> ReducedComparison:
    """Return the comparison of a baseline and a candidate, or of a candidate alone.

    Raises NotComparable, InputError or PolicyError where no verdict can rest on them.
    """
    plan = _agree_on_plan(policy, runs)
    sides = tuple(ReducedSide(run, plan) for run in runs)
    terms = policy.terms()
    changed = []
    if len(runs) > 1:
        changed = compare_provenance(run_of(runs[0]), run_of(runs[1]), terms.provenance)
        if plan.paired:
            _refuse_other_questions(sides)
    _refuse_empty_slices(sides, plan, terms)
    asked = min(side.count("questions", None) for side in sides)
    if asked < terms.samples.at_least:
        raise NotComparable(
            said("problem.too-few-pairs", count=asked, least=str(terms.samples.at_least)),
            runs[-1].file,
            said("hint.too-few-pairs"),
        )
    _refuse_scales(sides, plan)
    _refuse_missing(sides, terms)
    pairs = _tell_pairs(sides, plan, terms)
    pairs.changed = changed
    return ReducedComparison(pairs, plan.metrics, policy.policy.statistics, sides=sides, paired=plan.paired)


def _agree_on_plan(policy: PolicyFile, runs: Sequence[Reduced]) -> Plan:
    plan = None
    for run in runs:
        groups, paired = run.statement.get("groups"), run.statement.get("paired")
        if not isinstance(groups, int) or not isinstance(paired, bool):
            raise InputError("is a damaged reduced file", run.file, "reduce the log again")
        own = make_plan(policy, groups=groups, paired=paired)
        if run.statement.get("digest") != own.digest():
            wanted = json.loads(json.dumps(own.statement()))
            differing = [key for key, value in wanted.items() if run.statement.get(key) != value]
            raise InputError(
                f"was reduced for another policy: it differs in {', '.join(differing) or 'its digest'}",
                run.file, f"gateline reduce the log again, with --policy {policy.file}",
            )  # fmt: skip
        if plan is not None and (plan.groups, plan.paired) != (groups, paired):
            raise InputError(
                "was reduced in another way than the baseline: --groups and --unpaired must be the same",
                run.file, "reduce both logs with the same options",
            )  # fmt: skip
        plan = own
    assert plan is not None
    return plan


def _refuse_other_questions(sides: Sequence[ReducedSide]) -> None:
    """Raise NotComparable where the runs have other questions, slices, inputs or attempts."""
    before, after = sides
    file = after.reduced.file
    counts = [side.count("questions", None) for side in sides]
    if before.fingerprint(None) != after.fingerprint(None):
        raise NotComparable(
            f"the two runs did not answer the same questions: {counts[0]:,} in the baseline, {counts[1]:,} in the "
            "candidate, and the checksums of their ids or clusters differ",
            file,
            "log the same questions in both; or, where they are meant to be others, reduce both with --unpaired",
        )  # fmt: skip
    moved = [
        place
        for place in sorted({*before.places, *after.places})
        if before.fingerprint(place) != after.fingerprint(place)
    ]
    if moved:
        raise NotComparable(
            f"the runs disagree on labels: other questions are in {', '.join(moved[:5])}",
            file, "labels belong to the golden set and must be the same in both runs",
        )  # fmt: skip
    inputs = [[side.count(name, None) for name in ("inputs", "hash3")] for side in sides]
    asked_for = before.plan.policy.policy.samples.same_input
    if all(one[0] for one in inputs) and inputs[0] != inputs[1]:
        raise NotComparable(
            "one id stands for different inputs in the two runs, or an input is missing in one of them",
            file, "gateline check on the logs themselves, or on a part of them, names the ids",
        )  # fmt: skip
    if asked_for and not all(one[0] for one in inputs):
        raise NotComparable(f"samples.same_input: a run has no {', '.join(asked_for)}", file)
    if before.count("records", None) != after.count("records", None):
        raise NotComparable(
            "the two runs tried the questions a different number of times",
            file,
            "make as many attempts in both",
        )


def _refuse_empty_slices(sides: Sequence[ReducedSide], plan: Plan, terms: Terms) -> None:
    problems = [
        Problem(f"no sample is in {name}", where, "look for a slip of the pen in its label and value")
        for name, where in terms.slice_lines.items()
        if not any(len(side.rows(name)) for side in sides)
    ]
    if problems:
        raise PolicyError("the policy names slices that no sample carries", problems=problems)


def _refuse_scales(sides: Sequence[ReducedSide], plan: Plan) -> None:
    """Raise NotComparable for a score without a range that is a share in one run and a percentage in the other."""
    for name, metric in plan.metrics.items():
        is_score = not (metric.range or metric.ratio or metric.is_cost(name) or metric.is_time(name))
        if len(sides) < 2 or not is_score:
            continue
        both = [side.sums(name, None) for side in sides]
        if not all(one.size for one in both):
            continue
        small, large = sorted(both, key=lambda one: one.most)
        means = [one.value.sum() / one.size for one in (small, large)]
        if small.most <= 1 < large.most and means[0] > 0 and 30 <= means[1] / means[0] <= 300:
            raise NotComparable(
                said(
                    "problem.share-and-percent",
                    metric=name,
                    before=f"{both[0].most:g}",
                    after=f"{both[1].most:g}",
                ),
                sides[-1].reduced.file,
                said("hint.share-and-percent", metric=name),
            )


def _refuse_missing(sides: Sequence[ReducedSide], terms: Terms) -> None:
    """Raise NotComparable where more values are left out than the policy allows, overall or in a hard slice."""
    most, problems = terms.missing.drop_at_most, []
    hint = said("hint.drop-at-most", share=f"{most * 100:g}") if most else said("hint.drop-none")
    for name in terms.metrics:
        for side in sides:
            for place in _hard_places(name, side, terms):
                due, lost = side.due(name, place), side.lost(name, place)
                counts = side.causes(name, place)
                counts.pop(COUNTED_WORST, None)
                refused = [CAUSES[code] for code in counts if _is_refused(CAUSES[code], terms)]
                where = "" if place is None else f" in {place}"
                told = ", ".join(f"{number:,} {CAUSES[code]}" for code, number in counts.items())
                if refused:
                    problems.append(
                        Problem(
                            f"{name}{where}: {told}, and missing.{refused[0]} is refuse", side.reduced.file
                        )
                    )
                elif due and lost / due > most + 1e-12:
                    share = f"{lost:,.6g} of {due:,} values are missing ({lost / due:.1%}; {told})"
                    problems.append(Problem(f"{name}{where}: {share}", side.reduced.file, hint))
    if problems:
        raise NotComparable("too many values are missing for a verdict", problems=problems)


def _is_refused(cause: str, terms: Terms) -> bool:
    return (terms.missing.no_answer if cause == "no_answer" else terms.missing.no_score) == "refuse"


def _hard_places(metric: str, side: ReducedSide, terms: Terms) -> list[str | None]:
    named = {place for judged, place in terms.hard if judged == metric and place is not None}
    labels = [label for judged, label in terms.hard_families if judged == metric]
    named |= {place for place in side.places for label in labels if place.startswith(f"{label}=")}
    return [None, *sorted(named)]


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
    pairs.notices = [*_notices(sides, plan), *([said("note.identical")] if identical else [])]
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
    return Pairing(
        paired=min(side.count("questions", None) for side in sides),
        clusters=min(len(side.rows(None)) for side in sides),
        attempts=any(side.count("repeated", None) for side in sides),
        identical=identical,
        only_in_baseline=nobody,
        only_in_candidate=nobody,
        no_answer=told["no_answer"],
        no_score=told["no_score"],
        slices={place: min(side.count("questions", place) for side in sides) for place in places},
    )


def _notices(sides: Sequence[ReducedSide], plan: Plan) -> list[str]:
    groups = min(len(side.rows(None)) for side in sides)
    notices = [
        f"judged from sums of {groups:,} groups of questions: single questions are not known, so none is named"
        + ("" if plan.paired else "; the two runs are taken as independent, of other questions")
    ]
    for name in plan.metrics if len(sides) > 1 and plan.paired else ():
        used = [side.sums(name, None).used for side in sides]
        if not np.array_equal(used[0], used[1]):
            notices.append(
                f"{name}: {int(used[0].sum()):,} questions of the baseline and {int(used[1].sum()):,} of the candidate "
                "can be used, and each run is summed up over its own"
            )
    return notices


def settle_sketched(
    findings: Sequence[Finding], rules: dict[str, Rule], comparison: ReducedComparison
) -> list[Finding]:
    """Return the findings, unsettled where a plain quantile lies nearer to its bound than a sketch can tell."""
    return [_settle(finding, rules[finding.rule], comparison) for finding in findings]


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
