"""What people should look at though it does not block, worst first, and what the headline must not leave out of it.

A slice that is too small to be judged and fell plainly, and a slice that lost more than the whole run, are named.
This module groups and says; it decides nothing and computes no number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.amounts import from_to
from gateline.reports.layers import movement
from gateline.wording import subject_in_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateline.findings import Finding
    from gateline.spelling import Spelling
    from gateline.verdict import Verdict


def needing_a_look(verdict: Verdict) -> list[Finding]:
    """Return what people should look at though it does not block, the worst first.

    First stands what lost the values it should rest on, then what misses its bound. What a waiver lets through is
    expected to miss its bound, and stays in the order of the verdict.
    """
    strict = verdict.verdict == "fail" and verdict.fail_on == "inconclusive"
    looks = [one for one in verdict.findings if one.warns and not (strict and _is_unsettled(one))]
    lost = [one for one in looks if one.lost_evidence]
    lost.sort(key=lambda one: (one.samples > 0, -one.missed_by))
    missing = [one for one in looks if one.missed_by > 0 and one.status.value != "waived"]
    missing = [one for one in missing if not one.lost_evidence]
    missing.sort(key=lambda one: -one.missed_by)
    kept = {id(one) for one in (*lost, *missing)}
    return [*lost, *missing, *(one for one in looks if id(one) not in kept)]


def say_falls(verdict: Verdict, told: Finding | None, spelling: Spelling) -> str:
    """Return what got worse beyond its bound and neither blocks nor is told: too small to be judged, or let through.

    What a rule lets through unsettled counts where its whole interval lies below zero, or where far more pairs got
    worse than better: an interval widened over many slices may hide a fall that anybody sees.
    """
    named = [told, None if told is None else worse_slice(verdict.findings, told)]
    rest = [one for one in verdict.findings if all(one is not other for other in named)]
    strict = verdict.fail_on == "inconclusive"
    unjudged = [one for one in rest if one.fell_unjudged]
    let_through = [] if strict else [one for one in rest if _is_let_through(one) and _is_worse(one)]
    return spelling.join_sentences(
        [
            _say_worst("headline.unjudged-fall", unjudged, spelling),
            _say_worst("headline.open-fall", let_through, spelling),
        ]
    )


def _say_worst(key: str, falls: Sequence[Finding], spelling: Spelling) -> str:
    if not falls:
        return ""
    worst = max(falls, key=lambda one: one.missed_by)
    moved = spelling.say(
        "moved.in-pairs",
        subject=subject_in_sentence(worst, spelling),
        values=from_to(worst, spelling, unit_once=True),
        pairs=spelling.say("count.pairs", count=worst.samples),
    )
    if len(falls) > 1:
        moved = spelling.say("list.more", list=moved, count=len(falls) - 1)
    return spelling.say(key, moved=moved)


def worse_slice(findings: Sequence[Finding], told: Finding) -> Finding | None:
    """Return the slice that lost most of a metric, where it is told how the whole lost less of it.

    Only a loss that is shown counts: of a check that blocks, or with an interval that lies below zero.
    """
    if told.gain is None or told.judged == "candidate" or told.kind == "every":
        return None
    worse = [
        one
        for one in findings
        if one.slice is not None
        and one.metric == told.metric
        and one.judged == told.judged
        and one.status.value in ("fail", "inconclusive")
        and one.gain is not None
        and one.gain < min(told.gain, 0.0)
        and (one.blocks or movement(one) == "worse")
    ]
    return min(worse, key=lambda one: one.gain or 0.0, default=None)


def say_worse_slice(verdict: Verdict, told: Finding, spelling: Spelling) -> str:
    """Return a sentence on that slice; empty where there is none."""
    worst = worse_slice(verdict.findings, told)
    if worst is None:
        return ""
    return spelling.say(
        "headline.worse-slice",
        slice=spelling.name(worst.slice or ""),
        values=from_to(worst, spelling, unit_once=True),
        pairs=spelling.say("count.pairs", count=worst.samples),
    )


def _is_let_through(finding: Finding) -> bool:
    return _is_unsettled(finding) and not finding.warns and not finding.blocks and finding.missed_by > 0


def _is_worse(finding: Finding) -> bool:
    return finding.fell_plainly or movement(finding) == "worse"


def _is_unsettled(finding: Finding) -> bool:
    return finding.status.value == "inconclusive"
