"""Draws of a statistic under weights of clusters, for what has no distribution in closed form.

Gains of ratios with different denominators, gains of quantiles, and everything the classical bootstrap is
asked for. A formula turns one chunk of weights into draws; it does not know where the weights come from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateline.statistics.pairs import Paired, Side, Statistic
from gateline.statistics.weights import CHUNK, WeightSource, weighted_sums

Floats: TypeAlias = NDArray[np.float64]

MOST_GROUPS = 4_096
"""Comparisons of more clusters draw them in as many groups, by key: the width is off by about 1/√(2·4096) =
1.1 %."""

_SIGMAS = 8.0


class Formula(Protocol):
    """A statistic that can be drawn."""

    def draw(self, source: WeightSource, chunk: int, end_points: Floats | None) -> Floats:
        """Return one chunk of draws, shape (1, CHUNK), or (2, CHUNK) with the end points used both ways."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which row of weights each cluster, and through it each pair, takes."""

    keys: NDArray[np.uint64]
    of_cluster: NDArray[np.int64]

    @staticmethod
    def of(paired: Paired) -> Grouping:
        """Give each cluster a row of its own; in a very large comparison each group of clusters."""
        keys = paired.clusters.keys
        if paired.keys.size <= MOST_GROUPS:
            return Grouping(keys, np.arange(keys.size))
        groups, of_cluster = np.unique(keys % MOST_GROUPS, return_inverse=True)
        return Grouping(groups.astype(np.uint64), of_cluster)

    @property
    def size(self) -> int:
        """How many rows of weights there are."""
        return int(self.keys.size)

    def total(self, values: Floats) -> Floats:
        """Sum a column of clusters by group."""
        return np.bincount(self.of_cluster, values, minlength=self.size).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Fraction:
    """Σ w·numerator / Σ w·denominator of one run, or of the difference of two."""

    columns: Floats

    @staticmethod
    def of(grouping: Grouping, numerator: Floats, denominator: Floats) -> Fraction:
        """Take sums per cluster."""
        return Fraction(np.column_stack([grouping.total(numerator), grouping.total(denominator)]))

    def draw(self, source: WeightSource, chunk: int, end_points: Floats | None) -> Floats:
        """Return one chunk of draws, shape (1, CHUNK); it has no end points."""
        numerator, denominator = weighted_sums(self.columns, source, chunk)
        return _divide(numerator, denominator)[None, :]


@dataclass(frozen=True, slots=True)
class RatioGain:
    """The gain of a ratio of sums (of a mean, with counts for denominators), absolute or relative.

    `reach` is the gain of an end point, 0 for none. Where the end points are `apart`, the first row of draws has
    but the one at −reach and the second row the one at +reach.
    """

    columns: Floats  # numerator − middle·denominator and denominator, of the baseline, then of the candidate
    sign: float
    relative: bool
    reach: float
    middle: float
    apart: bool = False

    @staticmethod
    def of(
        paired: Paired, grouping: Grouping, sign: float, *, relative: bool, reach: float, apart: bool = False
    ) -> RatioGain:
        """Take the sums of the clusters, as deviations from a middle between the runs."""
        sums = paired.clusters
        before = sums.baseline.sum() / sums.baseline_weight.sum()
        after = sums.candidate.sum() / sums.candidate_weight.sum()
        # A relative gain leaves the baseline of an end point at its average.
        middle = float(before if relative else 0.5 * (before + after))
        columns = (
            sums.baseline - middle * sums.baseline_weight,
            sums.baseline_weight,
            sums.candidate - middle * sums.candidate_weight,
            sums.candidate_weight,
        )
        stacked = np.column_stack([grouping.total(column) for column in columns])
        return RatioGain(stacked, sign, relative, reach, middle, apart)

    def draw(self, source: WeightSource, chunk: int, end_points: Floats | None) -> Floats:
        """Return one chunk of draws, shape (2, CHUNK) with end points and (1, CHUNK) without.

        An end point is a cluster of average denominators, best in one run and worst in the other. Each draw
        uses the two weights of the end points both ways round (of end points that are apart the first weight, on
        either side), so that swapping the runs mirrors the draws exactly.
        """
        sums = weighted_sums(self.columns, source, chunk)
        if end_points is None or self.reach == 0.0:
            return self._combine(sums, None)[None, :]
        if self.apart:
            up = np.stack([end_points[0], np.zeros(CHUNK)])
            worse, better = (up[::-1], up) if self.sign > 0.0 else (up, up[::-1])
            return np.stack([self._combine(sums, worse), self._combine(sums, better)])
        return np.stack([self._combine(sums, end_points), self._combine(sums, end_points[::-1])])

    def _combine(self, sums: Floats, end_points: Floats | None) -> Floats:
        before, below, after, under = sums
        if end_points is not None:
            both, tilt = end_points[0] + end_points[1], end_points[0] - end_points[1]
            down, up = (0.0, self.reach) if self.relative else (0.5 * self.reach, 0.5 * self.reach)
            size, other_size = self.columns[:, 1].mean(), self.columns[:, 3].mean()
            before, below = before - size * down * tilt, below + size * both
            after, under = after + other_size * up * tilt, under + other_size * both
        first = _divide(before, below)
        change = self.sign * (_divide(after, under) - first)
        return _divide(change, np.abs(self.middle + first)) if self.relative else change


@dataclass(frozen=True, slots=True)
class WeightedQuantile:
    """The quantile of one run under weights of clusters: the inverse of the weighted distribution function.

    Only the values whose ranks lie near the quantile are looked at one by one; those below are one sum.
    """

    probability: float
    values: Floats  # sorted
    group: NDArray[np.int64]  # of each value, in the same order
    first: int
    last: int
    below: Floats  # counts per group below the window

    @staticmethod
    def of(paired: Paired, grouping: Grouping, side: Side, probability: float) -> WeightedQuantile:
        """Sort the values of one run and choose the window."""
        member = grouping.of_cluster[paired.clusters.member]
        order = np.lexsort((member, paired.values(side)))
        values, group = paired.values(side)[order], member[order]
        size = values.size
        spread = math.sqrt(size * probability * (1.0 - probability) * max(1.0, size / grouping.size))
        first = max(0, math.floor(size * probability - _SIGMAS * spread) - 4)
        last = min(size, math.ceil(size * probability + _SIGMAS * spread) + 4)
        below = np.bincount(group[:first], minlength=grouping.size).astype(np.float64)
        return WeightedQuantile(probability, values, group, first, last, below)

    def pick(self, source: WeightSource, chunk: int, below: Floats, every: Floats) -> Floats:
        """Return the weighted quantiles of one chunk of draws, shape (CHUNK,).

        `below` and `every` are the weights below the window and of all values.
        """
        # Float sums in another order may differ in the last digits; a draw must not jump a rank for that.
        target = self.probability * every * (1.0 - 1e-12)
        passed = np.full(CHUNK, self.first)
        sum_so_far = np.array(below)
        for group in self.group[self.first : self.last].tolist():
            sum_so_far += source.row(group, chunk)
            passed += sum_so_far < target
        left = (below >= target) & (self.first > 0) | (passed >= self.last) & (self.last < self.values.size)
        if left.any():
            passed[left] = self._pass_all(source, chunk, left, target[left])
        picked: Floats = self.values[np.minimum(passed, self.values.size - 1)]
        return picked

    def _pass_all(
        self, source: WeightSource, chunk: int, left: NDArray[np.bool_], target: Floats
    ) -> NDArray[np.int64]:
        """Count the values below the target over the whole sample, for draws that leave the window."""
        passed = np.zeros(target.size, dtype=np.int64)
        sum_so_far = np.zeros(target.size)
        rows = [source.row(group, chunk)[left] for group in range(source.size)]
        for group in self.group.tolist():
            sum_so_far += rows[group]
            passed += sum_so_far < target
        return passed


@dataclass(frozen=True, slots=True)
class QuantileGain:
    """The gain of a quantile, absolute or relative. It has no end points."""

    before: WeightedQuantile
    after: WeightedQuantile
    every: Floats  # counts per group
    sign: float
    relative: bool

    @staticmethod
    def of(
        paired: Paired, grouping: Grouping, statistic: Statistic, sign: float, *, relative: bool
    ) -> QuantileGain:
        """Prepare both runs."""
        probability = statistic.share_below()
        before = WeightedQuantile.of(paired, grouping, "baseline", probability)
        after = WeightedQuantile.of(paired, grouping, "candidate", probability)
        return QuantileGain(before, after, grouping.total(paired.clusters.count), sign, relative)

    def draw(self, source: WeightSource, chunk: int, end_points: Floats | None) -> Floats:
        """Return one chunk of draws, shape (1, CHUNK)."""
        columns = np.column_stack([self.before.below, self.after.below, self.every])
        below_before, below_after, every = weighted_sums(columns, source, chunk)
        before = self.before.pick(source, chunk, below_before, every)
        change = self.sign * (self.after.pick(source, chunk, below_after, every) - before)
        return (_divide(change, np.abs(before)) if self.relative else change)[None, :]


def _divide(above: Floats, below: Floats) -> Floats:
    """Divide; 0/0 is 0 (nothing changed), anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Floats = above / below
    return np.where(np.isnan(quotient), 0.0, quotient)
