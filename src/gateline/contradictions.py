"""Holds a finding that somebody else wrote against itself: what its own numbers can't have come to is a contradiction.

It judges nothing anew: it knows no samples, so that what it finds no fault with may still be untrue. No true finding is
one, whatever was rounded when it was written.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateline.bounds import Bound, read_bound
from gateline.findings import Finding, Status

_ROUNDING = 2e-6
"""Numbers are written with six places, and two of them are held against each other."""
_SINGLE_SAMPLES = "every"
_JUDGE = "calibration"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a verdict says beside its findings that they depend on."""

    first_run: bool
    """Whether there was no baseline."""
    identical: bool
    """Whether the candidate is the baseline: a tolerance holds then, whatever an interval says."""
    judged_on: str
    """Day, YYYY-MM-DD."""


def find_contradiction(finding: Finding, told: Circumstances) -> str:
    """Return in which way a finding contradicts itself, as the end of a sentence that its rule begins; empty where not.

    Bounds, intervals and ceilings are held as `rules.base.hold` and `waivers` do it, within what rounding may lose. A
    fail, and what is unsettled, may rest on what a finding does not show, and is held to what it does only.
    """
    status = finding.status
    blocks = status is Status.FAIL or (status is Status.INCONCLUSIVE and finding.on_inconclusive == "fail")
    if finding.blocks != blocks:
        return "blocks" if finding.blocks else "does not block"
    if finding.hard and (finding.decide_by != "value" or finding.on_inconclusive != "fail"):
        return "is hard and is not decided as a hard rule"
    wrong = _wrong_numbers(finding)
    if not wrong and status is Status.PASS:
        wrong = _wrong_pass(finding, told)
    if not wrong and status is Status.WAIVED:
        wrong = _wrong_waiver(finding, told)
    if not wrong and status is Status.SKIPPED:
        wrong = _wrong_skip(finding, told)
    return wrong


def _wrong_numbers(finding: Finding) -> str:
    """Return which of the numbers do not belong together."""
    gain, relative = finding.gain, finding.relative_gain
    if finding.calibration is None and finding.baseline is not None and finding.candidate is not None:
        difference = finding.candidate - finding.baseline
        expected = difference if finding.direction == "higher" else -difference
        if gain is not None and not _is_near(
            gain, expected, max(abs(finding.baseline), abs(finding.candidate))
        ):
            return "has a gain that is not the difference of its values"
    if (
        gain is not None
        and relative is not None
        and gain * relative < 0
        and min(abs(gain), abs(relative)) > _ROUNDING
    ):
        return "has a relative gain that goes against its gain"
    span = finding.interval
    if (
        span is not None
        and span.low is not None
        and span.high is not None
        and span.low > span.high + _ROUNDING
    ):
        return "has an interval that ends before it begins"
    return ""


def _wrong_pass(finding: Finding, told: Circumstances) -> str:
    if not finding.samples and finding.kind != _JUDGE:
        return "has no samples"
    if finding.calibration is not None and not finding.calibration.corrects:
        return "rests on labels that do not count"
    if finding.kind == _SINGLE_SAMPLES:
        return "has samples that miss its bound" if finding.failing_count or finding.failing else ""
    if finding.threshold is None or not _is_bound(finding):
        return "is not held against its own bound"
    if told.identical and finding.worse_by_at_most is not None and _is_near(finding.gain or 0.0, 0.0):
        return ""
    if finding.decide_by == "value":
        return (
            "" if _is_met(finding, getattr(finding, finding.judged)) else "has a value that misses its bound"
        )
    span = finding.interval
    if span is None or span.of != finding.judged:
        return "is decided by an interval that it does not have"
    near = span.high if finding.at_most is not None else span.low
    return "" if _is_met(finding, near) else "has an interval that misses its bound"


def _is_met(finding: Finding, number: float | None) -> bool:
    """Return whether a number is on the good side of the threshold."""
    threshold = finding.threshold
    if number is None or threshold is None:
        return False
    beyond = number - threshold if finding.at_most is not None else threshold - number
    return beyond <= 0 or _is_near(number, threshold)


def _is_bound(finding: Finding) -> bool:
    """Return whether the threshold is one that the bound makes, for the number that is judged."""
    return any(
        finding.judged == judged and _is_near(finding.threshold or 0.0, threshold)
        for judged, threshold in _thresholds(finding)
    )


def _thresholds(finding: Finding) -> list[tuple[str, float]]:
    """Return which numbers the bound may hold, and at which value; none where it can't be read."""
    if finding.bound is None:
        return []
    name, value = finding.bound
    try:
        bounds = [read_bound(one) for one in (value if isinstance(value, list) else [value])]
    except ValueError:
        return []
    return [_threshold(finding, name, bound) for bound in bounds]


def _threshold(finding: Finding, name: str, bound: Bound) -> tuple[str, float]:
    if name in ("at_most", "at_least"):
        return "candidate", bound.number
    if bound.percent and finding.relative_gain is None:
        return "gain", 0.0
    sign = -1 if name == "worse_by_at_most" else 1
    return "relative_gain" if bound.percent else "gain", sign * bound.number


def _wrong_waiver(finding: Finding, told: Circumstances) -> str:
    """Return what is wrong with a check that was let through: a waiver moves the bound to its ceiling for a while."""
    waiver = finding.waiver
    if waiver is None or waiver.up_to is None:
        return "is waived without a waiver"
    if finding.hard:
        return "is hard and is waived"
    if not finding.samples and finding.kind != _JUDGE:
        return "is waived and has no samples"
    if waiver.until < told.judged_on:
        return "is waived by a waiver that has ended"
    try:
        ceiling = read_bound(waiver.up_to)
    except ValueError:
        return "is waived up to no bound"
    if finding.kind in (_SINGLE_SAMPLES, _JUDGE) or finding.bound is None:
        return ""
    judged, threshold = _threshold(finding, finding.bound[0], ceiling)
    held = finding.model_copy(update={"threshold": threshold})
    return "" if _is_met(held, getattr(finding, judged)) else "is waived beyond the waiver's ceiling"


def _wrong_skip(finding: Finding, told: Circumstances) -> str:
    if (finding.hard or finding.slice is None) and not told.first_run and finding.kind != _JUDGE:
        return "is skipped without a reason"
    return ""


def _is_near(number: float, other: float, size: float = 0.0) -> bool:
    return abs(number - other) <= _ROUNDING + 1e-9 * max(abs(number), abs(other), size)
