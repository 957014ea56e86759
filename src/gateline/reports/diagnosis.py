"""Pointers to the layer in which a change sits, each with the checks that it rests on.

A pointer is made only of what is shown: movements whose whole interval lies on one side of zero, and checks whose
interval shows that a metric holds. Both must be of the same slice. It is a pointer, never part of the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateline.field_names import words_of
from gateline.reports.layers import holds, movement
from gateline.spelling import Spelling

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import Verdict

_MOST_SLICES = 3
_RECALL = frozenset(["recall", "hit", "hits", "success"])
_FAITHFUL = frozenset(
    ["faithful", "faithfulness", "fabricated", "grounded", "groundedness", "hallucinated", "hallucination"]
) | frozenset(["contradicted", "contradiction", "hallucinations", "supported", "unsupported"])
_COVERAGE = frozenset(["coverage", "complete", "completeness", "comprehensiveness"])
_RANKING = frozenset(["precision", "mrr", "ndcg", "map", "ap", "reciprocal"])
_REFUSED = frozenset(["abstained", "abstention", "declined", "refusal", "refusals", "refused"])
_UNANSWERABLE = frozenset(["unanswerable", "unsafe", "harmful", "toxic", "correctly", "correct"])

POINTERS = ("retrieval", "context", "generation", "ranking", "less-said", "over-refusal")
"""Where a pointer can point, in the order of the layers."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where to look first."""

    to: str
    """One of POINTERS."""
    place: str | None
    """The slice in which it shows; None for the whole run."""
    evidence: tuple[Finding, ...]
    """The checks that it rests on, never empty."""

    def sentence(self, spelling: Spelling) -> str:
        """Return what it says, without the checks."""
        return spelling.say(f"pointer.{self.to}")


def diagnose(verdict: Verdict) -> list[Pointer]:
    """Return the pointers, in the order of the layers; where the whole run shows one, its slices are not named."""
    places: dict[str | None, list[Finding]] = {None: []}
    for finding in verdict.findings:
        if finding.kind in ("tolerance", "improvement"):
            places.setdefault(finding.slice, []).append(finding)
    found: dict[str, list[Pointer]] = {name: [] for name in POINTERS}
    for place, findings in places.items():
        for pointer in _point(place, findings):
            known = found[pointer.to]
            if len(known) < _MOST_SLICES and not any(one.place is None for one in known):
                known.append(pointer)
    return [pointer for pointers in found.values() for pointer in pointers]


def _point(place: str | None, findings: Sequence[Finding]) -> Iterator[Pointer]:
    """Yield what the checks of one slice point at."""
    for to, causes, conditions in (
        ("retrieval", _moved(findings, _is_recall, "worse"), _held(findings, _is_faithful)),
        ("context", _moved(findings, _is_context_recall, "worse"), _held(findings, _is_recall)),
        ("generation", _moved(findings, _is_about_the_answer, "worse"), _held(findings, _is_recall)),
        ("ranking", _moved(findings, _is_ranking, "worse"), _held(findings, _is_recall)),
        ("less-said", _moved(findings, _is_coverage, "worse"), _moved(findings, _is_faithful, "better")),
    ):
        if causes and conditions:
            yield Pointer(to, place, (*causes, *conditions))
    refused = _moved(findings, _is_wrong_refusal, "worse")
    if refused:
        yield Pointer("over-refusal", place, tuple(refused))


def _moved(findings: Sequence[Finding], is_meant: Callable[[Finding], bool], way: str) -> list[Finding]:
    """Return the checks of the meant metrics that show a movement that way, one for each metric.

    None where another check or metric of the same kind shows the opposite.
    """
    meant = [finding for finding in findings if is_meant(finding)]
    moved = {finding.metric: finding for finding in reversed(meant) if movement(finding) == way}
    against = [finding for finding in meant if movement(finding) not in (way, None)]
    return [] if against else list(moved.values())[::-1]


def _held(findings: Sequence[Finding], is_meant: Callable[[Finding], bool]) -> list[Finding]:
    """Return the checks that show that the meant metrics hold, one for each metric; none where one of them fell."""
    meant = [finding for finding in findings if is_meant(finding)]
    if any(movement(finding) == "worse" for finding in meant):
        return []
    return list({finding.metric: finding for finding in reversed(meant) if holds(finding)}.values())[::-1]


def _is_recall(finding: Finding) -> bool:
    return finding.layer == "retrieval" and bool(words_of(finding.metric) & _RECALL)


def _is_ranking(finding: Finding) -> bool:
    return finding.layer == "retrieval" and bool(words_of(finding.metric) & _RANKING)


def _is_context_recall(finding: Finding) -> bool:
    return finding.layer == "context" and "recall" in words_of(finding.metric)


def _is_faithful(finding: Finding) -> bool:
    return finding.layer == "generation" and bool(words_of(finding.metric) & _FAITHFUL)


def _is_coverage(finding: Finding) -> bool:
    return finding.layer == "generation" and bool(words_of(finding.metric) & _COVERAGE)


def _is_about_the_answer(finding: Finding) -> bool:
    """Return whether the metric is of correctness or faithfulness."""
    return finding.layer == "generation" and not _is_coverage(finding)


def _is_wrong_refusal(finding: Finding) -> bool:
    """Return whether a fall of the metric is more refusals of questions that could be answered."""
    words = words_of(finding.metric)
    if (words | words_of(finding.slice or "")) & _UNANSWERABLE or finding.layer != "citation":
        return False
    refused = bool(words & _REFUSED) and finding.direction == "lower"
    return refused or ("answered" in words and finding.direction == "higher")
