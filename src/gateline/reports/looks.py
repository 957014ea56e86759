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
    """Return what people should look at though it does not block: first what misses its bound, the worst first.

    What a waiver lets through is expected to miss its bound, and stays in the order of the verdict.
    """
    strict = verdict.verdict == "fail" and verdict.fail_on == "inconclusive"
    looks = [one for one in verdict.findings if one.warns and not (strict and _is_unsettled(one))]
    missing = [one for one in looks if one.missed_by > 0 and one.status.value != "waived"]
    missing.sort(key=lambda one: -one.missed_by)
    kept = {id(one) for one in missing}
    return [*missing, *(one for one in looks if id(one) not in kept)]


def unjudged_falls(findings: Sequence[Finding], told: Finding | None, spelling: Spelling) -> str:
    """Return a sentence on what was too small to be judged and fell plainly, but for what is told already."""
    falls = sorted(
        (one for one in findings if one.fell_unjudged and one is not told), key=lambda one: -one.missed_by
    )
    if not falls:
        return ""
    first = falls[0]
    return spelling.say(
        "headline.unjudged-fall" if len(falls) == 1 else "headline.unjudged-falls",
        subject=subject_in_sentence(first, spelling),
        values=from_to(first, spelling, unit_once=True),
        samples=spelling.say("count.pairs", count=first.samples),
        count=len(falls) - 1 or None,
    )


def worse_slice(findings: Sequence[Finding], told: Finding, spelling: Spelling) -> str:
    """Return a sentence on the slice that lost most, where the headline tells of a smaller loss of the same metric.

    Only a loss that is shown counts: of a check that blocks, or with an interval that lies below zero.
    """
    if told.gain is None or told.judged == "candidate" or told.kind == "every":
        return ""
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
    if not worse:
        return ""
    worst = min(worse, key=lambda one: one.gain or 0.0)
    return spelling.say(
        "headline.worse-slice",
        slice=spelling.name(worst.slice or ""),
        values=from_to(worst, spelling, unit_once=True),
        samples=spelling.say("count.pairs", count=worst.samples),
    )


def _is_unsettled(finding: Finding) -> bool:
    return finding.status.value == "inconclusive"
