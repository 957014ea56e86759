"""The distribution of a quantile's gain under Bayesian bootstrap weights, evaluated and not drawn.

With one exponential weight a cluster (Rubin 1981), the weighted quantile of a run is at most a value v where the
samples with values up to v weigh at least a share p of all. So the joint distribution of both runs' quantiles is

    G(i, j) = P(both sets weigh at least p),

of the samples with at most the i-th value in the baseline and those with at most the j-th in the candidate.
`dirichlet_tails` evaluates it for single samples, `joint_tails` for clusters of any sizes. The gain takes only the
values that one baseline value and one candidate value make; its distribution is a sum of G along a staircase. No seed,
no draws.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateline.statistics.dirichlet_tails import both_weigh_enough, weighs_enough
from gateline.statistics.gamma_sums import log_lower_tail, merge_equal_rows
from gateline.statistics.joint_tails import JointTail

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_NEGLIGIBLE = 1e-9
"""Probability of a run's quantile that is left out at either end."""
_UNSURE = 2e-7
"""What a probability may be off by: an end is taken so far out that it holds all the same."""
_MOST_SINGLES = 20_000
"""Samples that are clusters of their own up to which the integral by counts is the faster one."""
_PROBES = 9
"""Places along both runs' values where it is looked which nodes of the integral have a say."""


def find_quantile_gain_ends(
    baseline: Floats,
    candidate: Floats,
    cluster: Whole,
    probability: float,
    sign: float,
    tail: float,
    *,
    relative: bool,
    guess: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, float]:
    """Return the ends of the gain of a quantile: the outermost gains with at least `tail` at or beyond them.

    Args:
        baseline: (n,) values, no NaN.
        candidate: (n,) values of the same samples.
        cluster: (n,) which cluster each sample is of: 0 … m − 1, each at least once.
        probability: which quantile, 0.95 for P95: the inverse of the weighted distribution function.
        sign: +1 where higher is better, −1 where lower is better.
        tail: probability outside of each end.
        relative: divide by the size of the baseline's quantile; over 0 a change is infinite, and 0/0 is 0.
        guess: about where the ends lie; changes the time that it takes, not what is found.

    Returns:
        Both ends in the unit of the gain; an end may be infinite where the baseline's quantile may be 0.
    """
    before, after = (_Run.of(values, cluster, probability) for values in (baseline, candidate))
    quantiles = _Quantiles.of(before, after, probability)
    low = _Gains.of(quantiles, sign, relative=relative).find_lowest(tail, guess[0])
    # The other end is the lowest gain of the exchanged direction, so that turning the sign mirrors the ends exactly.
    return low, -_Gains.of(quantiles, -sign, relative=relative).find_lowest(tail, -guess[1])


@dataclass(frozen=True, slots=True)
class _Run:
    """The values of one run that its quantile takes with more than negligible probability, ascending."""

    values: Floats
    """(k,) different values."""
    below: Whole
    """(m,) samples of each cluster below the first of these values."""
    joining: list[list[int]]
    """(k,) the clusters of the samples at each value, one for each sample."""
    size: Whole
    """(m,) samples of each cluster."""

    @staticmethod
    def of(values: Floats, cluster: Whole, probability: float) -> _Run:
        """Keep the values around the quantile."""
        different, code = np.unique(values, return_inverse=True)
        size = np.bincount(cluster)
        if (size == 1).all():
            reached = weighs_enough(np.bincount(code).cumsum(), size.size, probability)
            first, last = np.searchsorted(reached, [_NEGLIGIBLE, 1.0 - _NEGLIGIBLE]).tolist()
        else:
            first, last = _find_window(code, cluster, size, probability)
        order = np.argsort(code, kind="stable")
        starts = np.searchsorted(code[order], np.arange(first, last + 2))
        return _Run(
            different[first : last + 1],
            np.bincount(cluster[order[: starts[0]]], minlength=size.size),
            [cluster[order[start:end]].tolist() for start, end in pairwise(starts.tolist())],
            size,
        )

    def places(self) -> Whole:
        """Return of each single sample 0 below the first of the values, i + 1 at the i-th, and more above, (m,)."""
        place = np.full(self.size.size, len(self.joining) + 1)
        place[self.below > 0] = 0
        for value, clusters in enumerate(self.joining):
            place[clusters] = value + 1
        return place

    def at_most(self, place: int) -> Whole:
        """Return the samples of each cluster with at most the value at this place, (m,)."""
        joined = [cluster for clusters in self.joining[: place + 1] for cluster in clusters]
        return self.below + np.bincount(np.array(joined, dtype=np.int64), minlength=self.size.size)


def _find_window(code: Whole, cluster: Whole, size: Whole, probability: float) -> tuple[int, int]:
    """Return the first and the last place of values that the quantile takes with more than negligible probability."""

    def log_reached(place: int) -> float:
        """Return the log of P(quantile ≤ the value at this place)."""
        at_most = np.bincount(cluster[code <= place], minlength=size.size)
        rows = merge_equal_rows(-at_most.astype(np.float64), size.astype(np.float64), np.ones(size.size))
        return log_lower_tail(rows, -probability * (1.0 - 1e-12))

    reached = (math.log(_NEGLIGIBLE), math.log1p(-_NEGLIGIBLE))
    first, last = (bisect_left(range(int(code.max())), wanted, key=log_reached) for wanted in reached)
    return first, last


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
        atoms, wanted = np.unique(self.values), tail - _UNSURE
        last = atoms.size - 1
        high = min(int(np.searchsorted(atoms, guess)), last)
        low, step = high, 1
        while low > 0 and self._at_most(float(atoms[low - 1])) >= wanted:
            high, low, step = low - 1, max(low - step, 0), 2 * step
        while high < last and self._at_most(float(atoms[high])) < wanted:
            low, high, step = high + 1, min(high + step, last), 2 * step
        while low < high:
            middle = (low + high) // 2
            if self._at_most(float(atoms[middle])) >= wanted:
                high = middle
            else:
                low = middle + 1
        return float(atoms[low])

    def _at_most(self, limit: float) -> float:
        """Return the probability of a gain of at most `limit`."""
        good = (self.values <= limit).sum(axis=1)
        if self.rises:
            return self.quantiles.probability_of(good)
        return 1.0 - self.quantiles.probability_of(self.values.shape[1] - good)


class Chances(Protocol):
    """Evaluates G(i, j) = P(baseline's quantile is at most the i-th value, and candidate's at most the j-th)."""

    def of(self, rows: Whole, columns: Whole) -> Floats:
        """Return G of each pair; they stand in the order of rows, then of columns."""


class _Quantiles:
    """Both runs' quantiles together: how probable it is that each is at most some value."""

    def __init__(self, before: _Run, after: _Run, chances: Chances) -> None:
        """Take the values that the quantiles can be, and what tells how probable they are."""
        self.before, self.after = before, after
        self._chances = chances
        self._known = np.full((before.values.size, after.values.size + 1), np.nan)
        """(k, l + 1) what was evaluated of G, by the number of columns: it costs an integral, and searches share it."""
        self._known[:, 0] = 0.0

    @staticmethod
    def of(before: _Run, after: _Run, probability: float) -> _Quantiles:
        """Choose how the chances are evaluated."""
        single = bool((before.size == 1).all()) and before.size.size <= _MOST_SINGLES
        chances = (_OfSingles if single else _OfClusters)(before, after, probability)
        return _Quantiles(before, after, chances)

    def probability_of(self, columns: Whole) -> float:
        """Return P(baseline's quantile is the i-th value, candidate's one of the first columns[i]), summed over i."""
        rows = np.arange(columns.size)
        self._evaluate(np.append(rows, rows[:-1]), np.append(columns, columns[1:]))
        return float(self._known[rows, columns].sum() - self._known[rows[:-1], columns[1:]].sum())

    def _evaluate(self, rows: Whole, columns: Whole) -> None:
        """Evaluate what is not known yet, in the order of a walk."""
        new = np.isnan(self._known[rows, columns])
        if new.any():
            rows, columns = np.unique(np.stack([rows[new], columns[new]]), axis=1)
            self._known[rows, columns] = self._chances.of(rows, columns - 1)


class _OfSingles:
    """Chances where each sample is a cluster of its own."""

    def __init__(self, before: _Run, after: _Run, probability: float) -> None:
        """Count the samples up to each value."""
        self._probability = probability
        self._size = before.size.size
        places = np.stack([run.places() for run in (before, after)])
        table = np.zeros((len(before.joining) + 2, len(after.joining) + 2), dtype=np.int64)
        np.add.at(table, tuple(places), 1)
        self._both = table.cumsum(axis=0).cumsum(axis=1)[1:-1, 1:-1]
        """(k, l) samples with at most the i-th value in the baseline and at most the j-th in the candidate."""
        self._before, self._after = (
            np.bincount(place, minlength=len(run.joining) + 2).cumsum()[1:-1]
            for place, run in zip(places, (before, after), strict=True)
        )

    def of(self, rows: Whole, columns: Whole) -> Floats:
        """Return G of each pair."""
        both, first, second = self._both[rows, columns], self._before[rows], self._after[columns]
        neither = self._size - first - second + both
        return both_weigh_enough(both, first - both, second - both, neither, self._probability)


class _OfClusters:
    """Chances of clusters of any sizes, on a walk from one pair of values to the next."""

    def __init__(self, before: _Run, after: _Run, probability: float) -> None:
        """Look along both runs' values what the walk will meet."""
        self._before, self._after = before, after
        ends = np.array([len(before.joining), len(after.joining)]) - 1
        along = [(-1, -1), *np.rint(np.outer(np.linspace(0.0, 1.0, _PROBES), ends)).astype(int).tolist()]
        sets = [(before.at_most(row), after.at_most(column)) for row, column in along]
        self._tail = JointTail(before.size, sets, probability)
        self._row = self._column = -1

    def of(self, rows: Whole, columns: Whole) -> Floats:
        """Return G of each pair."""
        found = np.empty(rows.size)
        # Each walk ends where the next one may begin.
        step = 1 if self._row < len(self._before.joining) // 2 else -1
        for place in range(rows.size)[::step]:
            self._go_to(int(rows[place]), int(columns[place]))
            found[place] = self._tail.chance()
        return found

    def _go_to(self, row: int, column: int) -> None:
        for place, step in _steps(self._row, row):
            self._tail.move(self._before.joining[place], first=step)
        for place, step in _steps(self._column, column):
            self._tail.move(self._after.joining[place], second=step)
        self._row, self._column = row, column


def _steps(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return the places that are passed on the way, and whether they join (+1) or leave (−1)."""
    if end > start:
        return ((place, 1) for place in range(start + 1, end + 1))
    return ((place, -1) for place in range(start, end, -1))
