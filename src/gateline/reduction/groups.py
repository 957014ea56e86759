"""Sums of groups in the shape that the statistics take: a group is a cluster that is never looked into.

The same code that makes intervals of samples makes them of groups. Sketches of quantiles have draws of their own. It
knows no file and no policy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateline.statistics import (
    Interval,
    Paired,
    Settings,
    Statistic,
    cluster_keys,
)
from gateline.statistics.end_points import adjusted_deviate
from gateline.statistics.mean_differences import ClusterMean, difference_ends
from gateline.statistics.pairs import Clusters
from gateline.statistics.ratio_gains import GainRows, find_gain_ends

Floats: TypeAlias = NDArray[np.float64]

_SAME = 1e-12
_HALVES = np.array([0.5, 0.5])


@dataclass(frozen=True)
class GroupSums:
    """One metric of one run in one slice: sums of each group (m), in the order of the groups' numbers."""

    group: NDArray[np.int64]
    used: Floats
    """Usable questions."""
    value: Floats
    """Sums of values, or of numerators."""
    weight: Floats | None
    """Sums of denominators, None where the metric is no ratio."""
    least: float
    """The smallest value of a question; NaN without one."""
    most: float

    @property
    def size(self) -> float:
        """Return the number of usable questions."""
        return float(self.used.sum())

    @property
    def below(self) -> Floats:
        """Return what the sums of values are divided by."""
        return self.used if self.weight is None else self.weight

    def at(self, groups: NDArray[np.int64]) -> GroupSums:
        """Return the sums of some groups (k), 0 for those that have nothing here."""
        place = {group: row for row, group in enumerate(self.group.tolist())}
        rows = np.array([place.get(group, -1) for group in groups.tolist()], dtype=np.int64)

        def pick(column: Floats) -> Floats:
            return np.where(rows >= 0, column[rows], 0.0) if column.size else np.zeros(len(groups))

        weight = None if self.weight is None else pick(self.weight)
        return replace(self, group=groups, used=pick(self.used), value=pick(self.value), weight=weight)

    def summary(self, statistic: Statistic) -> float:
        """Return the mean, ratio or total; NaN where there is none."""
        total = math.fsum(self.value)
        if statistic.kind == "total":
            return total
        below = math.fsum(self.below)
        return total / below if below > 0.0 else math.nan


@dataclass(frozen=True)
class GroupedPairs(Paired):
    """Groups as pairs: one row a group, scaled so that plain statistics of the rows are those of the questions."""

    sums: Clusters | None = None
    number: float = 0.0

    def __len__(self) -> int:
        return int(self.number)

    @cached_property
    def clusters(self) -> Clusters:
        """The sums of each group."""
        assert self.sums is not None
        return self.sums


def pair_groups(before: GroupSums, after: GroupSums, statistic: Statistic) -> tuple[GroupedPairs, Statistic]:
    """Return groups as pairs, and the statistic of them.

    Where different numbers of questions are usable in the two runs, a mean (and what a total is a multiple of) is a
    ratio of sums with the counts for denominators.
    """
    groups = np.union1d(before.group[before.used > 0], after.group[after.used > 0])
    before, after = before.at(groups), after.at(groups)
    if statistic.kind != "ratio" and not np.array_equal(before.used, after.used):
        statistic = Statistic("ratio")
    scale = len(groups) / before.size if statistic.kind == "mean" else 1.0
    as_ratio = statistic.kind == "ratio"
    keys = cluster_keys([f"group {group}" for group in groups.tolist()])
    order = np.argsort(keys, kind="stable")
    change = after.value - before.value
    size = max(float(np.abs(before.value).max(initial=0.0)), float(np.abs(after.value).max(initial=0.0)))
    change = np.where(np.abs(change) <= _SAME * size, 0.0, change)
    differs = (change != 0.0) | (before.below != after.below)
    clusters = Clusters(
        keys=keys[order],
        member=np.argsort(order),
        count=after.used[order],
        baseline=before.value[order],
        candidate=after.value[order],
        gain=change[order],
        baseline_weight=before.below[order],
        candidate_weight=after.below[order],
        differing=int(differs.sum()),
    )
    paired = GroupedPairs(
        baseline=before.value * scale,
        candidate=after.value * scale,
        baseline_weight=before.below if as_ratio else None,
        candidate_weight=after.below if as_ratio else None,
        cluster=np.arange(len(groups)),
        keys=keys,
        sums=clusters,
        number=after.size,
    )
    return paired, statistic


def independent_interval(
    before: GroupSums,
    after: GroupSums,
    *,
    sign: float,
    relative: bool,
    level: float,
    bounds: tuple[float, float] | None,
    settings: Settings,
) -> Interval | None:
    """Return the interval of the gain of a mean or a ratio over other questions; None where there is none.

    Each run has end points of its own, at the ends of the metric's range or of what was seen.
    """
    before, after = (one.at(one.group[one.below > 0]) for one in (before, after))
    m, n = len(before.group), len(after.group)
    if min(m, n) < 2:
        return None
    first = ClusterMean(
        np.append(before.value, np.zeros(n)), np.append(before.below, np.zeros(n)), _ends(before, bounds)
    )
    second = ClusterMean(
        np.append(np.zeros(m), after.value), np.append(np.zeros(m), after.below), _ends(after, bounds)
    )
    if not relative:
        found = difference_ends(first, second, level=level, seed=settings.seed)
        low, high, draws, notes = found.low, found.high, found.draws or None, found.notes
    else:
        nothing = np.zeros((2, 2))
        rows = np.concatenate([np.column_stack([first.centred(), second.centred()]),
                               np.column_stack([first.end_rows(), nothing]),
                               np.column_stack([nothing, second.end_rows()])])  # fmt: skip
        # Both are told as deviations from the baseline.
        rows[:, 2] += (second.value - first.value) * rows[:, 3]
        shape = np.concatenate([np.ones(m + n), _HALVES, _HALVES])
        expanded = find_gain_ends(
            GainRows(rows, shape, first.value, relative=True), adjusted_deviate(level, min(m, n))
        )
        if expanded is None:
            return None
        low, high, draws, notes = *expanded, None, ()
    if sign < 0.0:
        low, high = -high, -low
    return Interval(low, high, level, "bayesian", draws, notes)


def _ends(one: GroupSums, bounds: tuple[float, float] | None) -> tuple[float, float]:
    if bounds is not None:
        return bounds
    if one.weight is None:
        return one.least, one.most
    ratios = one.value / one.below
    return float(ratios.min()), float(ratios.max())
