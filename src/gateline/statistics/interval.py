"""An interval as it is handed out: made from two ends, scaled, and kept within a range.

It must not know how the ends were found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gateline.statistics.drawn import Ends
from gateline.statistics.notes import Note


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of confidence `level` (two-sided, as widened), and how it was made.

    An end is finite, or None where the sample can't bound that side. `method` is bayesian, percentile, bca or
    order-statistic; `resamples` the number of draws, None where the distribution was evaluated without
    drawing.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    resamples: int | None
    notes: tuple[Note, ...] = ()


def make_interval(ends: Ends, estimate: float, level: float, draws: int | None) -> Interval:
    """Make an interval that holds its estimate: end points pull inwards, at the end of a range past it."""
    low, high = min(ends.low, estimate), max(ends.high, estimate)
    notes = ends.notes
    if not (math.isfinite(low) and math.isfinite(high)):
        notes += (Note("note.baseline-near-zero"),)
    return Interval(finite(low), finite(high), level, "bayesian", draws, notes)


def scaled(interval: Interval, scale: float) -> Interval:
    """Return the interval of so many times the gain or value."""
    if scale == 1.0:
        return interval
    low, high = (None if end is None else end * scale for end in (interval.low, interval.high))
    return replace(interval, low=low, high=high)


def kept_within(
    interval: Interval, bounds: tuple[float | None, float | None] | None, estimate: float
) -> Interval:
    """Cut off what rounding puts past the metric's range; the interval keeps its estimate."""
    least, most = bounds or (None, None)
    low, high = interval.low, interval.high
    if least is not None and low is not None:
        low = max(low, min(least, estimate))
    if most is not None and high is not None:
        high = min(high, max(most, estimate))
    return replace(interval, low=low, high=high)


def finite(end: float) -> float | None:
    """Return an end, None where it is infinite: the sample can't bound that side."""
    return end if math.isfinite(end) else None
