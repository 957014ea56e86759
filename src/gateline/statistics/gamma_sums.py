"""The distribution of a Bayesian bootstrap mean, evaluated without drawing anything.

The Bayesian bootstrap of a weighted mean is Q = Σ G·numerator / Σ G·denominator with independent gamma
weights G. For a given q, Q ≤ q exactly when Σ G·(q·denominator − numerator) ≥ 0, so its distribution
function is a tail of a linear combination of gamma variables (`tails`). This module solves for the q at
which that tail has a given size.

It knows rows, shapes and normal deviates. It must not know what a run, a metric or a cluster is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from gateline.statistics.tails import SERIES_IS_EXACT, Tail

Floats: TypeAlias = NDArray[np.float64]

_CLOSE = 0.01
"""Deviates from the target within which the series gives way to the contour."""
_DONE = 1e-5
_MOST_STEPS = 100
_BY_SERIES = 4
"""Steps by the series, where it is not exact, before the contour is walked."""


@dataclass(frozen=True, slots=True)
class GammaRows:
    """Numerators, denominators (≥ 0) and shapes (> 0): each row has one gamma weight."""

    numerator: Floats
    denominator: Floats
    shape: Floats

    def mean(self) -> float:
        """Return Σ shape·numerator / Σ shape·denominator: the centre of the distribution."""
        return float(self.shape @ self.numerator) / float(self.shape @ self.denominator)

    def negated(self) -> GammaRows:
        """Return the rows with the signs of the numerators turned: an upper end becomes a lower one."""
        return GammaRows(-self.numerator, self.denominator, self.shape)


def merge_equal_rows(numerator: Floats, denominator: Floats, shape: Floats) -> GammaRows:
    """Merge rows that are equal (gamma weights add up to gamma weights), and put them in a canonical order.

    Rows that are zero in both columns have no effect and are left out.
    """
    used = (numerator != 0) | (denominator != 0)
    if not used.all():
        numerator, denominator, shape = numerator[used], denominator[used], shape[used]
    if denominator.size and (denominator == denominator[0]).all():
        rows, place = np.unique(numerator, return_inverse=True)
        return GammaRows(
            rows, np.full(rows.size, denominator[0]), np.bincount(place, shape).astype(np.float64)
        )
    pairs, place = np.unique(numerator + 1j * denominator, return_inverse=True)
    return GammaRows(pairs.real.copy(), pairs.imag.copy(), np.bincount(place, shape).astype(np.float64))


def find_ends(rows: GammaRows, deviate: float) -> tuple[float, float]:
    """Return the quantiles of Q at Φ(deviate) and 1 − Φ(deviate).

    Args:
        rows: at least one denominator above 0.
        deviate: the normal deviate of one tail, below −0.5 (−1.96 for 2.5 % a side).

    Returns:
        The two ends. An end is infinite where the distribution has no end that a number can hold (rows of
        denominator 0 let Q grow without bound, and the tail is too deep).
    """
    return find_lower_end(rows, deviate), find_upper_end(rows, deviate)


def find_upper_end(rows: GammaRows, deviate: float) -> float:
    """Return the quantile of Q at 1 − Φ(deviate); arguments and errors as in `find_ends`."""
    return -find_lower_end(rows.negated(), deviate)


def find_lower_end(rows: GammaRows, deviate: float) -> float:
    """Return the quantile of Q at Φ(deviate); arguments and errors as in `find_ends`."""
    centre = rows.mean()
    shifted = rows.numerator - centre * rows.denominator
    # Divide by the sizes that occur, so that values of 1e12 and of 1e-12 take the same path.
    height = float(np.max(np.abs(shifted), initial=0.0))
    weight = float(rows.shape @ rows.denominator) / float(rows.shape.sum())
    if height <= 1e-14 * float(np.max(np.abs(rows.numerator), initial=0.0)):
        return centre
    scaled = GammaRows(shifted / height, rows.denominator / weight, rows.shape)
    return centre + height / weight * _find_scaled_end(scaled, deviate)


def log_lower_tail(rows: GammaRows, q: float) -> float:
    """Return log P(Q ≤ q): −inf below the support, 0 above it."""
    gap = q * rows.denominator - rows.numerator
    if gap.max() <= 0.0:
        return -math.inf
    if gap.min() >= 0.0:
        return 0.0
    if float(rows.shape @ gap) <= 0.0:
        return Tail.at(gap, rows.shape, 0.0).log_probability_by_contour()
    upper = Tail.at(-gap, rows.shape, 0.0).log_probability_by_contour()
    return math.log1p(-math.exp(upper))


def _find_scaled_end(rows: GammaRows, deviate: float) -> float:
    """Return the q with P(Q ≤ q) = Φ(deviate), for rows of mean 0, largest numerator 1 and average weight 1.

    Works on the distance of q from the lower end of the support, so that an end beside it keeps its digits.
    Newton steps on the normal deviate: first by the series, then by the contour integral.
    """
    search = _Search.over(rows)
    distance = search.first_distance(deviate)
    saddle, by_series = 0.0, 0
    previous: tuple[float, float] | None = None
    for _ in range(_MOST_STEPS):
        tail = Tail.at(search.combination(distance), rows.shape, saddle)
        exact, found = _deviate_of(tail, deviate, refine=previous is not None or by_series == _BY_SERIES)
        miss, slope, stalls = deviate - found, search.slope(tail), False
        if not exact:
            by_series += 1
        elif previous is None:
            # What the series said of the bracket may be wrong.
            search.forget_bracket()
        else:
            stalls = abs(miss) > 0.5 * abs(deviate - previous[1])
            secant = (found - previous[1]) / (distance - previous[0]) if distance != previous[0] else 0.0
            slope = secant if secant > 0.0 else slope
        if exact:
            previous = (distance, found)
        moved = search.step(distance, miss, slope, halve=stalls)
        if exact and abs(miss) <= _DONE * (1.0 + abs(deviate)):
            distance = moved
            break
        if search.is_out_of_reach(moved):
            return search.limit()
        saddle = tail.saddle * (distance / moved if search.bounded else 1.0)
        distance = moved
    return search.anchor + distance


def _deviate_of(tail: Tail, target: float, *, refine: bool) -> tuple[bool, float]:
    """Return whether the deviate of a tail is exact, and the deviate.

    The contour is walked only near the target (or once it was), and where the series can't be trusted.
    """
    log_probability, share = tail.log_probability_by_series()
    if share < SERIES_IS_EXACT:
        return True, float(ndtri_exp(log_probability))
    if not math.isnan(log_probability) and not refine:
        found = float(ndtri_exp(min(log_probability, -1e-9)))
        if abs(found - target) > _CLOSE * (1.0 + abs(target)):
            return False, found
    return True, float(ndtri_exp(tail.log_probability_by_contour()))


@dataclass(slots=True)
class _Search:
    """Where the lower end is looked for: at a distance from the end of the support, else from the mean."""

    rows: GammaRows
    bounded: bool
    anchor: float
    base: Floats  # anchor·denominator − numerator, exactly 0 in the rows at the end of the support
    deviation: float
    highest: float
    low: float
    high: float

    @staticmethod
    def over(rows: GammaRows) -> _Search:
        numerator, denominator, shape = rows.numerator, rows.denominator, rows.shape
        deviation = math.sqrt(float(shape @ numerator**2)) / float(shape @ denominator)
        if bool(np.any((denominator <= 0.0) & (numerator < 0.0))):
            return _Search(
                rows, False, 0.0, -numerator, deviation, -0.1 * deviation, -math.inf, -0.1 * deviation
            )
        ratio = np.where(
            denominator > 0.0, numerator / np.where(denominator > 0.0, denominator, 1.0), math.inf
        )
        end = float(ratio.min())
        gap = np.where(
            np.isinf(ratio), numerator, denominator * (np.where(np.isinf(ratio), end, ratio) - end)
        )
        highest = -end - min(0.1 * deviation, -0.1 * end)
        return _Search(rows, True, end, -gap, deviation, highest, 0.0, highest)

    def forget_bracket(self) -> None:
        """Go back to the whole range."""
        self.low, self.high = (0.0 if self.bounded else -math.inf), self.highest

    def combination(self, distance: float) -> Floats:
        """Return c = q·denominator − numerator at a distance from the anchor."""
        return distance * self.rows.denominator + self.base

    def slope(self, tail: Tail) -> float:
        """Return d deviate / d q, from d(w²/2)/dq with w²/2 = −K at the saddlepoint."""
        w = math.sqrt(max(-2.0 * tail.exponent, 1e-6))
        growth = tail.saddle * float((self.rows.shape / tail.shrink) @ self.rows.denominator)
        return growth / w

    def first_distance(self, deviate: float) -> float:
        """Return a first guess from the normal approximation, pulled inside the support."""
        reach = deviate * self.deviation
        if not self.bounded:
            return reach
        return min(-self.anchor * math.exp(max(reach / -self.anchor, -20.0)), self.high)

    def step(self, distance: float, miss: float, slope: float, *, halve: bool) -> float:
        """Return the next distance: a Newton step, of the log where the support ends, kept in the bracket."""
        if miss > 0.0:
            self.low = max(self.low, distance)
        else:
            self.high = min(self.high, distance)
        if self.bounded:
            moved = distance * math.exp(min(max(miss / (slope * distance), -40.0), 40.0))
            middle = math.sqrt(self.low * self.high) if self.low > 0.0 else 0.5 * self.high
        else:
            moved = distance + min(max(miss / slope, -20.0 * abs(distance)), 0.9 * abs(distance))
            middle = 0.5 * (self.low + self.high) if math.isfinite(self.low) else 2.0 * distance
        known = self.low > 0.0 if self.bounded else math.isfinite(self.low)
        return moved if self.low < moved < self.high and not (halve and known) else middle

    def is_out_of_reach(self, distance: float) -> bool:
        """Say whether the end lies beyond what a float can tell from the end of the support."""
        return distance < -1e-18 * self.anchor if self.bounded else distance < -1e12

    def limit(self) -> float:
        """Return the end of the support."""
        return self.anchor if self.bounded else -math.inf
