"""The distribution of a difference of two ratios under gamma weights, without drawing anything.

A gain of ratios is a smooth function g of four sums Σ w·x with independent gamma weights. Its tail is the tail of
the linear function that touches g at the most likely point of {g = q}, which `gamma_sums` evaluates, times a factor
for the curvature of g there (Breitung 1984; in statistics DiCiccio and Martin 1991, Jing and Robinson 1994).

It knows four columns and shapes. It must not know what a run, a metric or a cluster is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, ndtri_exp

from gateline.statistics.tails import Floats, Tail

_MOST_STEPS = 60
_DONE = 1e-6
_ON_THE_SURFACE = 1e-2
"""How far off {g = q} a point may be, in deviates, for its tail to be worth a look."""


@dataclass(frozen=True, slots=True)
class GainRows:
    """Rows of (numerator, denominator) of the baseline, then of the candidate, and the shapes of their weights.

    The numerators are deviations from `middle` times the denominator. The gain is candidate − baseline, divided
    by |baseline| where `relative`.
    """

    columns: Floats  # (rows, 4)
    shape: Floats  # (rows,)
    middle: float
    relative: bool


def find_gain_ends(rows: GainRows, deviate: float) -> tuple[float, float] | None:
    """Return both ends of the gain from the same rows; None where one of them does not hold."""
    low, high = (find_gain_end(rows, deviate, upper=upper) for upper in (False, True))
    return None if low is None or high is None else (low, high)


def find_gain_end(rows: GainRows, deviate: float, *, upper: bool) -> float | None:
    """Return the quantile of the gain at Φ(deviate), or for the upper end at 1 − Φ(deviate).

    Returns:
        The end; None where the expansion does not hold (very few rows and a deep tail, or a baseline that may
        change its sign): the caller must draw.
    """
    if rows.relative and not _keeps_its_sign(rows, deviate):
        return None
    # Numerators of 1e12 and of 1e-12 take the same path.
    unit = float(np.abs(rows.columns[:, [0, 2]]).max())
    if unit == 0.0:
        return 0.0
    scaled = GainRows(rows.columns / [unit, 1.0, unit, 1.0], rows.shape, rows.middle / unit, rows.relative)
    sign = 1.0 if upper else -1.0
    end = _find_end(scaled, deviate, sign)
    if end is None:
        return None
    return sign * end if rows.relative else sign * end * unit


def _keeps_its_sign(rows: GainRows, deviate: float) -> bool:
    """Say whether a baseline of 0 lies well outside of the tails that are asked for."""
    numerator, denominator = rows.columns[:, 0], rows.columns[:, 1]
    below = float(rows.shape @ denominator)
    mean = float(rows.shape @ numerator) / below
    error = math.sqrt(float(rows.shape @ (numerator - mean * denominator) ** 2)) / below
    one_sign = ((numerator + rows.middle * denominator) * math.copysign(1.0, rows.middle) >= 0.0).all()
    return bool(one_sign) or abs(rows.middle + mean) > -1.5 * deviate * error


@dataclass(frozen=True, slots=True)
class _Surface:
    """The gain as a function of the four sums, at a point."""

    first: float  # deviation of the baseline's ratio from the middle
    second: float
    before: float  # the baseline's ratio, 1 where the gain is absolute
    after: float
    down: Floats  # gradient of the first ratio
    up: Floats

    @staticmethod
    def at(sums: list[float], rows: GainRows) -> _Surface:
        numerator, below, other, under = sums
        first, second = numerator / below, other / under
        before, after = (rows.middle + first, rows.middle + second) if rows.relative else (1.0, 1.0)
        down = np.array([1.0 / below, -first / below, 0.0, 0.0])
        up = np.array([0.0, 0.0, 1.0 / under, -second / under])
        return _Surface(first, second, before, after, down, up)

    def value(self) -> float:
        """Return the gain."""
        return (self.second - self.first) / abs(self.before)

    def gradient(self) -> Floats:
        """Return the derivatives of the gain by the four sums."""
        return (self.up - self.after / self.before * self.down) / abs(self.before)

    def hessian(self, sums: list[float], *, relative: bool) -> Floats:
        """Return the second derivatives of the gain."""
        second = np.zeros((4, 4))
        ratio = self.after / self.before
        _, below, _, under = sums
        second[0, 1] = second[1, 0] = ratio / below**2
        second[1, 1] = -2.0 * ratio * self.first / below**2
        second[2, 3] = second[3, 2] = -1.0 / under**2
        second[3, 3] = 2.0 * self.second / under**2
        if relative:
            mixed = np.outer(self.up, self.down)
            second -= (mixed + mixed.T) / self.before - 2.0 * ratio / self.before * np.outer(
                self.down, self.down
            )
        return second / abs(self.before)


def _find_end(rows: GainRows, deviate: float, sign: float) -> float | None:
    """Return the q with P(sign·gain ≥ q) = Φ(deviate).

    Each step replaces the gain by its tangent at the last point and takes the most likely point of the tangent
    plane; q moves by Newton steps on the normal deviate once the point lies on {g = q}.
    """
    columns, shape = rows.columns, rows.shape
    total = float(shape.sum())
    sums: list[float] = (shape @ columns).tolist()
    surface = _Surface.at(sums, rows)
    spread = math.sqrt(float(shape @ (columns @ surface.gradient()) ** 2))
    if spread <= 1e-14:
        return sign * surface.value()
    q = sign * surface.value() - deviate * spread
    saddle = 0.0
    for _ in range(_MOST_STEPS):
        missing = q - sign * surface.value()
        slopes = columns @ (sign * surface.gradient())
        off = slopes - missing / total
        if not off.max() > 0.0:
            # Beyond what the tangent can reach: come back half the way.
            q -= 0.5 * missing
            continue
        if not float(shape @ off) < 0.0:
            return None
        tail = Tail.at(off, shape, saddle)
        saddle = tail.saddle
        root = math.sqrt(max(-2.0 * tail.exponent, 0.0))
        weights = shape / tail.shrink
        sums = (weights @ columns).tolist()
        surface = _Surface.at(sums, rows)
        still_missing = abs(q - sign * surface.value()) * saddle
        if still_missing > _ON_THE_SURFACE * max(root, 1.0):
            continue
        log_probability = _log_tail(rows, sums, surface, tail, sign)
        if log_probability is None:
            return None
        miss = deviate - float(ndtri_exp(log_probability))
        if max(abs(miss), still_missing) <= _DONE * (1.0 + abs(deviate)):
            return q
        q -= miss * root / saddle
    return None


def _log_tail(rows: GainRows, sums: list[float], surface: _Surface, tail: Tail, sign: float) -> float | None:
    """Return the log of the tail beyond a point, None where the boundary curves too much for the expansion."""
    weighted = rows.columns.T * (rows.shape / tail.shrink**2)
    spreads = weighted @ rows.columns
    gradient = surface.gradient()
    across = spreads @ gradient
    left = spreads - np.outer(across, across) / float(gradient @ across)
    hessian = surface.hessian(sums, relative=rows.relative)
    curvature = float(np.linalg.det(np.eye(4) - sign * tail.saddle * left @ hessian))
    if not curvature > 0.0:
        return None
    u, w = tail.standard_saddle(), math.sqrt(max(-2.0 * tail.exponent, 0.0))
    if not min(u, w) > 1e-3:
        return None
    mills = math.sqrt(math.pi / 2.0) * float(erfcx(w / math.sqrt(2.0)))
    flat = mills + 1.0 / u - 1.0 / w
    curved = mills + 1.0 / (u * math.sqrt(curvature)) - 1.0 / w
    if not (flat > 0.0 and curved > 0.0):
        return None
    return tail.log_probability() + math.log(curved / flat)
