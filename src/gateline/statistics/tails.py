"""The tail of a linear combination of gamma variables, by a contour integral through its saddlepoint.

P(Σ G·c ≥ 0) with independent gamma weights G, to about a millionth of itself, however small it is
(Lugannani and Rice 1980; Daniels 1987). It must not know what the weights are weights of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

Floats: TypeAlias = NDArray[np.float64]

_STEP = 0.25
"""Step of the trapezoid rule; its error falls like exp(−2π·d/step) with d ≥ 0.8: below 1e-8."""
_NODES = 16
_MOST_NODES = 96
_NEGLIGIBLE = 1e-12
SERIES_IS_EXACT = 0.004
"""Where kurtosis/8 and 5·skewness²/24 are below this, two terms of the series are exact to about a
millionth."""
_CLEAR_OF_POLE = 0.7
_MOST_STEPS = 100


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
        return by_series if size < SERIES_IS_EXACT else self.log_probability_by_contour()

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

        The contour is s = ŝ + (i·sinh v + bend(v))/√K''. Near the saddlepoint it bends as the path of
        steepest descent does, by skewness/3; there the integrand does not oscillate, and the trapezoid rule
        converges geometrically. Far out, many rows with a small c (a large sample in which little differs)
        still pull like exp(drift·s), and it bends to the side where that falls.
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
