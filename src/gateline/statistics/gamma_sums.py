"""The distribution of a Bayesian bootstrap mean, evaluated without drawing anything.

The Bayesian bootstrap of a weighted mean is Q = Σ G·numerator / Σ G·denominator with independent gamma
weights G. For a given q, Q ≤ q exactly when Σ G·(q·denominator − numerator) ≥ 0, so its distribution
function is a tail of a linear combination of gamma variables. This module evaluates that tail by a contour
integral through the saddlepoint of its cumulant generating function (Lugannani and Rice 1980; Daniels
1987), and solves for q.

It knows rows, shapes and normal deviates. It must not know what a run, a metric or a cluster is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, ndtri_exp

Floats: TypeAlias = NDArray[np.float64]

_STEP = 0.25
"""Step of the trapezoid rule; its error falls like exp(−2π·d/step) with d ≥ 0.8: below 1e-8."""
_NODES = 16
_MOST_NODES = 96
_NEGLIGIBLE = 1e-12
_SERIES_IS_EXACT = 0.004
"""Where kurtosis/8 and 5·skewness²/24 are below this, two terms of the series are exact to about 1e-6 of
the tail."""
_CLEAR_OF_POLE = 0.7
_CLOSE = 0.01
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
    centre = rows.mean()
    shifted = rows.numerator - centre * rows.denominator
    # Divide by the sizes that occur, so that values of 1e12 and of 1e-12 take the same path.
    height = float(np.max(np.abs(shifted), initial=0.0))
    weight = float(rows.shape @ rows.denominator) / float(rows.shape.sum())
    if height <= 1e-14 * float(np.max(np.abs(rows.numerator), initial=0.0)):
        return centre, centre
    scaled = GammaRows(shifted / height, rows.denominator / weight, rows.shape)
    unit = height / weight
    return centre + unit * _find_lower_end(scaled, deviate), centre - unit * _find_lower_end(
        scaled.negated(), deviate
    )


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


@dataclass(frozen=True, slots=True)
class Tail:
    """P(Σ G·c ≥ 0) for an expectation below 0, seen from its saddlepoint.

    With K(s) = −Σ shape·log(1 − s·c) the saddlepoint solves K'(s) = 0 and lies above 0.
    """

    shape: Floats
    saddle: float
    shrink: Floats  # 1 − s·c at the saddlepoint
    tilted: Floats  # c / (1 − s·c)
    exponent: float  # K
    variance: float  # K''

    @staticmethod
    def seen_from(c: Floats, shape: Floats, saddle: float) -> Tail:
        """Take a saddlepoint that is known."""
        shrink = 1.0 - saddle * c
        tilted = c / shrink
        exponent = -float(shape @ np.log(shrink))
        return Tail(shape, saddle, shrink, tilted, exponent, float((shape * tilted) @ tilted))

    @staticmethod
    def at(c: Floats, shape: Floats, start: float) -> Tail:
        """Find the saddlepoint, starting from `start` (inside 0 … 1/max(c), or 0)."""
        pole = 1.0 / float(c.max())
        low, high = 0.0, pole
        s = start if 0.0 < start < pole else 0.0
        for _ in range(_MOST_STEPS):
            shrink = 1.0 - s * c
            tilted = c / shrink
            weighted = shape * tilted
            slope = float(weighted.sum())
            variance = float(weighted @ tilted)
            if abs(slope) <= 1e-9 * math.sqrt(variance):
                break
            if slope < 0.0:
                low = s
            else:
                high = s
            following = _step_towards_root(s, slope, variance, pole)
            s = following if low < following < high else 0.5 * (low + high)
        exponent = -float(shape @ np.log(shrink))
        return Tail(shape, s, shrink, tilted, exponent, variance)

    def standard_saddle(self) -> float:
        """Return the saddlepoint in units of the tilted standard deviation (û of Lugannani and Rice)."""
        return self.saddle * math.sqrt(self.variance)

    def skewness(self) -> float:
        """Return the third standardised cumulant of the tilted distribution."""
        spread = self.tilted / math.sqrt(self.variance)
        return 2.0 * float((self.shape * spread**2) @ spread)

    def log_probability(self) -> float:
        """Return the log of the tail, by the series where that is exact and by the contour elsewhere."""
        by_series, size = self.log_probability_by_series()
        return by_series if size < _SERIES_IS_EXACT else self.log_probability_by_contour()

    def log_probability_by_series(self) -> tuple[float, float]:
        """Return the log of the tail by two terms of the saddlepoint series, and how small its terms are.

        Lugannani and Rice 1980; the second term is equation (3.3) and following of Daniels 1987. The log is
        NaN where the series makes no positive number.
        """
        u = self.standard_saddle()
        w = math.sqrt(max(-2.0 * self.exponent, 0.0))
        if not (u > 0.05 and w > 0.05):
            return math.nan, math.inf
        skewness = self.skewness()
        squares = self.tilted**2 / self.variance
        kurtosis = 6.0 * float((self.shape * squares) @ squares)
        mills = math.sqrt(math.pi / 2.0) * float(erfcx(w / math.sqrt(2.0)))
        first = mills + 1.0 / u - 1.0 / w
        second = (
            (kurtosis / 8.0 - 5.0 * skewness**2 / 24.0) / u
            - skewness / (2.0 * u**2)
            - 1.0 / u**3
            + 1.0 / w**3
        )
        base = self.exponent - 0.5 * math.log(2.0 * math.pi)
        if first + second > 0.5 * first > 0.0:
            size = max(kurtosis / 8.0, 5.0 * skewness**2 / 24.0)
            # Beside the mean its terms nearly cancel.
            return base + math.log(first + second), size if u > 1.3 else math.inf
        return (base + math.log(first) if first > 0.0 else math.nan), math.inf

    def log_probability_by_contour(self) -> float:
        """Return the log of the tail by the trapezoid rule along a bent contour through the saddlepoint.

        The contour is s = ŝ + (i·sinh v + bend(v))/√K''. Near the saddlepoint it bends as the path of steepest
        descent does, by skewness/3; there the integrand does not oscillate, and the trapezoid rule converges
        geometrically. Far out, many rows with a small c (a large sample in which little differs) still pull
        like exp(drift·s), and it bends to the side where that falls.
        """
        spread = self.tilted / math.sqrt(self.variance)
        still_pull = self.shape / (1.0 + (10.0 * spread) ** 2)
        drift = float(still_pull @ spread) / (1.0 + 20.0 * float(still_pull @ spread**2))
        near_pole = self.standard_saddle() < _CLEAR_OF_POLE
        near = min(max(self.skewness() / 3.0, -0.5 if near_pole else -1.0), 1.0)
        far = min(max(-1.35 * drift, -0.5 if near_pole else -0.7), 1.0)
        total = self._walk(spread, near, far, 0.8 * _STEP if near_pole else _STEP)
        if not total > 0.0:
            # Not seen in any test; a straight contour in small steps always converges, only slowly.
            total = self._walk(spread, 0.0, 0.0, _STEP / 16.0)
        return self.exponent + math.log(total / math.pi)

    def _walk(self, spread: Floats, near: float, far: float, step: float) -> float:
        """Return the integral over the contour with these bends: π times the tail over exp(K)."""
        u = self.standard_saddle()
        # Tails near one half bring the pole of 1/s at 0 close. A function with the same residue there and no
        # singularity to the right has the integral 0: taking it off leaves a smooth integrand.
        near_pole = u < _CLEAR_OF_POLE
        residue = math.exp(-self.exponent) if near_pole else 0.0
        total = 0.5 * (1.0 - residue * (1.0 + 0.5 * u) ** -6) / u if u > 1e-7 else 1.5
        for first in range(1, int(_MOST_NODES * _STEP / step), _NODES):
            v = step * np.arange(first, first + _NODES)
            up, over, turn = np.sinh(v), np.log(np.cosh(v)), np.tanh(v)
            along = near * over + far * (np.cosh(v) - 1.0 - over)
            real = 1.0 - along[:, None] * spread
            imaginary = up[:, None] * spread
            log_size = -0.5 * (np.log(real * real + imaginary * imaginary) @ self.shape)
            angle = np.arctan2(imaginary, real) @ self.shape
            from_pole = u + along + 1j * up
            direction = (near * turn + far * (up - turn) + 1j * np.cosh(v)) / from_pole
            terms = np.exp(np.minimum(log_size, 700.0) + 1j * angle) * direction
            if near_pole:
                terms -= residue * (1.0 + 0.5 * from_pole) ** -6 * direction
            total += float(terms.imag.sum())
            if abs(terms[-1]) < _NEGLIGIBLE * abs(total):
                break
        return step * total


def _step_towards_root(s: float, slope: float, variance: float, pole: float) -> float:
    """Return the next guess for K'(s) = 0, with K' modelled as a constant plus the nearest pole."""
    gap = pole - s
    strength = variance * gap * gap
    constant = slope - variance * gap
    if constant < 0.0:
        return pole + strength / constant
    return s - slope / variance


def _find_lower_end(rows: GammaRows, deviate: float) -> float:
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
    if share < _SERIES_IS_EXACT:
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
