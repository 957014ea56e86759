"""The distribution of a quantile's gain under Bayesian bootstrap weights, evaluated and not drawn.

Of n pairs with weights of one exponential each (Rubin 1981), divided by their sum, any four disjoint sets of pairs
have weights (w₁₁, w₁₀, w₀₁, w₀₀) ~ Dirichlet(their counts). The weighted quantile of a run is at most a value v where
the pairs with values up to v weigh at least p. So the joint distribution of both runs' quantiles is

    G(i, j) = P(w₁₁ + w₁₀ ≥ p and w₁₁ + w₀₁ ≥ p)

with the sets made by "at most the i-th value in the baseline" and "at most the j-th value in the candidate", an
integral in two variables whose inner part is an incomplete beta function. The gain takes only the values that one
baseline value and one candidate value make; its distribution is a sum of G along a staircase. No seed, no draws.

It knows pairs that are clusters of their own; clusters of several samples have no such form and are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_OUTER, _INNER = 40, 20
"""Nodes of the two integrals; the outer one crosses the width of the inner one many times."""
_NEGLIGIBLE = 1e-9
"""Probability that is left out at either end of a variable."""


def find_quantile_gain_ends(
    baseline: Floats,
    candidate: Floats,
    probability: float,
    sign: float,
    tail: float,
    *,
    relative: bool,
    guess: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, float]:
    """Return the ends of the gain of a quantile: the outermost gains with at least `tail` at or beyond them.

    Args:
        baseline: (n,) values of pairs that are clusters of their own, no NaN.
        candidate: (n,) values of the same pairs.
        probability: which quantile, 0.95 for P95: the inverse of the weighted distribution function.
        sign: +1 where higher is better, −1 where lower is better.
        tail: probability outside of each end.
        relative: divide by the size of the baseline's quantile; over 0 a change is infinite, and 0/0 is 0.
        guess: about where the ends lie; changes the time that it takes, not what is found.

    Returns:
        Both ends in the unit of the gain; an end may be infinite where the baseline's quantile may be 0.
    """
    quantiles = _Quantiles(_Run.of(baseline, probability), _Run.of(candidate, probability), probability)
    low = _Gains.of(quantiles, sign, relative=relative).find_lowest(tail, guess[0])
    # The other end is the lowest gain of the exchanged direction, so that turning the sign mirrors the ends exactly.
    return low, -_Gains.of(quantiles, -sign, relative=relative).find_lowest(tail, -guess[1])


@dataclass(frozen=True, slots=True)
class _Run:
    """The values of one run that its quantile takes with more than negligible probability, ascending."""

    values: Floats
    """(m,) different values."""
    at_most: Whole
    """(m,) pairs with at most that value."""
    place: Whole
    """(n,) of each pair: 0 below the first of these values, k + 1 at the k-th, m + 1 above the last."""

    @staticmethod
    def of(values: Floats, probability: float) -> _Run:
        """Keep the values around the quantile."""
        different, code, count = np.unique(values, return_inverse=True, return_counts=True)
        at_most = np.cumsum(count)
        reached = _weighs_enough(at_most, values.size, probability)
        first = int(np.searchsorted(reached, _NEGLIGIBLE))
        last = int(np.searchsorted(reached, 1.0 - _NEGLIGIBLE))
        kept = slice(first, last + 1)
        place = np.clip(code - first + 1, 0, last - first + 2)
        return _Run(different[kept], at_most[kept], place)


@dataclass(frozen=True, slots=True)
class _Gains:
    """The gains that two runs' quantiles can make, and how probable they are."""

    quantiles: _Quantiles
    values: Floats
    """(m, l) gain of each pair of quantiles, along the candidate's values ascending where it `rises`."""
    rises: bool

    @staticmethod
    def of(quantiles: _Quantiles, sign: float, *, relative: bool) -> _Gains:
        """Lay out the gains of all pairs of quantiles."""
        before, after = quantiles.before.values[:, None], quantiles.after.values[None, :]
        gains = sign * (after - before)
        if relative:
            with np.errstate(divide="ignore", invalid="ignore"):
                gains = gains / np.abs(before)
            gains = np.where(np.isnan(gains), 0.0, gains)
        return _Gains(quantiles, gains, sign > 0.0)

    def find_lowest(self, tail: float, guess: float) -> float:
        """Return the smallest gain that, with all below it, has a probability of at least `tail`."""
        atoms = np.unique(self.values)
        last = atoms.size - 1
        high = min(int(np.searchsorted(atoms, guess)), last)
        low, step = high, 1
        while low > 0 and self._at_most(float(atoms[low - 1])) >= tail:
            high, low, step = low - 1, max(low - step, 0), 2 * step
        while high < last and self._at_most(float(atoms[high])) < tail:
            low, high, step = high + 1, min(high + step, last), 2 * step
        while low < high:
            middle = (low + high) // 2
            if self._at_most(float(atoms[middle])) >= tail:
                high = middle
            else:
                low = middle + 1
        return float(atoms[low])

    def _at_most(self, limit: float) -> float:
        """Return the probability of a gain of at most `limit`."""
        good = (self.values <= limit).sum(axis=1)
        if self.rises:
            return float(self.quantiles.of_rows(good).sum())
        every = np.full(good.size, self.values.shape[1])
        return float((self.quantiles.of_rows(every) - self.quantiles.of_rows(every - good)).sum())


class _Quantiles:
    """Both runs' quantiles together: how probable it is that each is at most some value."""

    def __init__(self, before: _Run, after: _Run, probability: float) -> None:
        """Take the values that the quantiles can be, and which quantile it is."""
        self.before, self.after = before, after
        self._probability = probability
        table = np.zeros((before.values.size + 2, after.values.size + 2), dtype=np.int64)
        np.add.at(table, (before.place, after.place), 1)
        self._both = table.cumsum(axis=0).cumsum(axis=1)[1:-1, 1:-1]
        """(m, l) pairs with at most the i-th value in the baseline and at most the j-th in the candidate."""
        self._known = np.full(self._both.shape, np.nan)
        """(m, l) what was evaluated of G: each costs an integral."""
        self._size = before.place.size

    def of_rows(self, columns: Whole) -> Floats:
        """Return P(baseline's quantile is the i-th value, candidate's one of the first so many), for each i, (m,)."""
        rows = np.arange(self.before.values.size)
        reached = self._joint(rows, columns)
        reached[1:] -= self._joint(rows[:-1], columns[1:])
        return reached

    def _joint(self, rows: Whole, columns: Whole) -> Floats:
        """Return G(i, j) for rows i and the first so many columns; the last ones stand for all that lies above."""
        found = np.zeros(rows.size)
        some = columns > 0
        rows, columns = rows[some], columns[some] - 1
        new = np.isnan(self._known[rows, columns])
        if new.any():
            at = (rows[new], columns[new])
            self._known[at] = self._evaluate(*at)
        found[some] = self._known[rows, columns]
        return found

    def _evaluate(self, rows: Whole, columns: Whole) -> Floats:
        both = self._both[rows, columns]
        first, second = self.before.at_most[rows], self.after.at_most[columns]
        reached = np.empty(rows.size)
        last_row, last_column = rows == self._both.shape[0] - 1, columns == self._both.shape[1] - 1
        reached[last_row] = _weighs_enough(second[last_row], self._size, self._probability)
        reached[last_column] = _weighs_enough(first[last_column], self._size, self._probability)
        reached[last_row & last_column] = 1.0
        inner = ~(last_row | last_column)
        if inner.any():
            both, first, second = both[inner], first[inner], second[inner]
            reached[inner] = both_weigh_enough(
                both, first - both, second - both, self._size - first - second + both, self._probability
            )
        return reached


def both_weigh_enough(both: Whole, first: Whole, second: Whole, neither: Whole, probability: float) -> Floats:
    """Return P(w₁₁ + w₁₀ ≥ p and w₁₁ + w₀₁ ≥ p), (w₁₁, w₁₀, w₀₁, w₀₀) ~ Dirichlet(both, first, second, neither).

    Arrays of whole counts ≥ 0, shape (k,); `probability` p lies inside 0 … 1. Absolute error below 2e-7 for counts
    that add up to 20,000 at most (docs/statistics.md, section 6).
    """
    size = both + first + second + neither
    found = np.empty(size.size)
    nested = (first == 0) | (second == 0)  # one set holds the other, and the smaller one decides
    found[nested] = _weighs_enough(both[nested], size[nested], probability)
    for place in np.flatnonzero(~nested):
        counts = (int(both[place]), int(first[place]), int(second[place]), int(neither[place]))
        found[place] = _integrate(*counts, probability)
    return found


def _integrate(both: int, first: int, second: int, neither: int, probability: float) -> float:
    """Return the probability by the sets that weigh little: those outside of a high quantile, inside a low one."""
    if both > 0 and (probability >= 0.5 or neither == 0):
        return _weigh_little(neither, first, second, both, 1.0 - probability)
    # Both weigh enough unless one doesn't.
    reached = _weighs_enough(both + np.array([first, second]), both + first + second + neither, probability)
    little = _weigh_little(both, first, second, neither, probability) if neither > 0 else 0.0
    return float(max(reached.sum() - 1.0 + little, 0.0))


def _weigh_little(both: int, first: int, second: int, neither: int, most: float) -> float:
    """Return P(w₁₁ + w₁₀ ≤ most and w₁₁ + w₀₁ ≤ most) for counts of at least 1, `both` of at least 0."""
    if both > 0:
        outer, weight = _nodes_of_beta(both, first + second + neither, most)
    else:
        outer, weight = np.zeros(1), np.ones(1)
    room = (most - outer) / (1.0 - outer)
    nodes, shares = _rule(_INNER)
    least, highest = betaincinv(first, second + neither, [_NEGLIGIBLE, 1.0 - _NEGLIGIBLE])
    high = np.clip(room, least, highest)[:, None]
    inner = least + (high - least) * nodes
    density = np.exp(
        (first - 1) * np.log(inner)
        + (second + neither - 1) * np.log1p(-inner)
        - betaln(first, second + neither)
    )
    reached = betainc(second, neither, np.minimum(room[:, None] / (1.0 - inner), 1.0))
    return float(weight @ ((high - least)[:, 0] * ((density * reached) @ shares)))


def _nodes_of_beta(first: int, second: int, most: float) -> tuple[Floats, Floats]:
    """Return points of a Beta variable up to `most`, and their probabilities."""
    nodes, shares = _rule(_OUTER)
    least, highest = betaincinv(first, second, [_NEGLIGIBLE, 1.0 - _NEGLIGIBLE])
    high = min(max(most, least), highest)
    at = least + (high - least) * nodes
    density = np.exp((first - 1) * np.log(at) + (second - 1) * np.log1p(-at) - betaln(first, second))
    return at, (high - least) * shares * density


@lru_cache(maxsize=2)
def _rule(count: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss and Legendre on 0 … 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def _weighs_enough(count: Whole, size: int | Whole, probability: float) -> Floats:
    """Return P(a set of `count` of `size` pairs weighs at least p)."""
    count, size = np.broadcast_arrays(count, size)
    found = np.where(count >= size, 1.0, 0.0)
    some = (count > 0) & (count < size)
    found[some] = betainc(size[some] - count[some], count[some], 1.0 - probability)
    return found
