"""Two reduced runs of other questions: how many each has, and that a candidate with fewer settles less.

Which question a run lacks can't be told, so that what was not logged could be what went wrong. It computes no interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateline.errors import NotComparable, Problem
from gateline.findings import Finding, Status
from gateline.pairing import Terms
from gateline.pairing.facts import IndependentRuns
from gateline.reduction.compare import ReducedComparison
from gateline.reduction.sides import ReducedSide
from gateline.remark import Said, list_some, remarks_of, said
from gateline.rules import Rule

_MOST_PLACES = 5


def refuse_fewer_questions(sides: Sequence[ReducedSide], terms: Terms) -> None:
    """Raise NotComparable where the candidate has fewer questions by more than may be missing.

    Overall and in each slice of a hard rule, as for questions without a record under `on_mismatch: intersect`.
    """
    most = terms.missing.drop_at_most
    problems = []
    for place in (
        None,
        *terms.hard_slices(lambda label: (one for side in sides for one in side.family(label))),
    ):
        before, after = _count(sides, place)
        if not has_too_few(before, after, most):
            continue
        what = said(
            "problem.fewer-questions",
            fewer=before - after,
            share=f"{(before - after) / before:.1%}",
            before=before,
            after=after,
        )
        if place is not None:
            what = said("problem.of-slice", things=what, slice=place)
        problems.append(
            Problem(what, sides[-1].reduced.file, said("hint.fewer-questions", share=f"{most * 100:g}"))
        )
    if problems:
        raise NotComparable("the candidate has too few questions for a verdict", problems=problems)


def has_too_few(before: int, after: int, most: float) -> bool:
    """Return whether the candidate has fewer questions than the baseline by more than the share `most` of it."""
    return before - after > most * before + 1e-9


def count_questions(sides: Sequence[ReducedSide], places: Sequence[str]) -> IndependentRuns:
    """Return how many questions each run has, overall and by slice."""
    before, after = _count(sides, None)
    return IndependentRuns(
        baseline=before,
        candidate=after,
        baseline_slices={place: _count(sides, place)[0] for place in places},
        candidate_slices={place: _count(sides, place)[1] for place in places},
    )


def tell_numbers(runs: IndependentRuns) -> list[Said]:
    """Return notices: that nothing is paired, and where the numbers of questions differ, most first."""
    notices = [said("notice.independent", before=runs.baseline, after=runs.candidate)]
    counts: dict[str | Said, tuple[int, int]] = {
        said("notice.all-questions"): (runs.baseline, runs.candidate)
    }
    counts |= {
        place: (number, runs.candidate_slices[place]) for place, number in runs.baseline_slices.items()
    }
    differing = [(place, pair) for place, pair in counts.items() if pair[0] != pair[1]]
    differing.sort(key=lambda one: -abs(one[1][0] - one[1][1]) / max(one[1]))
    if differing:
        told = [
            said("notice.other-number", before=before, after=after, place=place)
            for place, (before, after) in differing
        ]
        notices.append(said("notice.other-numbers", places=list_some(told, _MOST_PLACES)))
    return notices


def settle_independent(finding: Finding, rule: Rule, comparison: ReducedComparison) -> Finding:
    """Return a finding with the samples of both runs; what passes in a slice with too few questions is open."""
    update: dict[str, object] = {}
    if finding.judged != "candidate":
        before, after = comparison.sizes(finding.metric, finding.slice)
        update = {"baseline_samples": before, "samples": after}
    before, after = _count(comparison.sides, finding.slice)
    most = comparison.pairs.labels.terms.missing.drop_at_most
    if finding.status is Status.PASS and has_too_few(before, after, most):
        note = said("note.fewer-questions", before=before, after=after, share=f"{most * 100:g}")
        update |= {
            "status": Status.INCONCLUSIVE,
            "blocks": rule.if_inconclusive == "fail",
            "notes": [*finding.notes, note],
            "notes_said": [*finding.notes_said, *remarks_of([note])],
        }
    return finding.model_copy(update=update)


def _count(sides: Sequence[ReducedSide], place: str | None) -> tuple[int, int]:
    before, after = (side.count("questions", place) for side in sides)
    return before, after
