"""The interval of a difference of two means over the same clusters, each with end points of its own.

Unlike the gain of a ratio, either mean may rest on a few of the clusters only: its end points then have the size
of one of those, so that ten labelled samples among a thousand are not taken for a thousand. It knows sums of
clusters. It must not know what they are sums of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateline.statistics.drawn import Ends
from gateline.statistics.end_points import adjusted_deviate
from gateline.statistics.gamma_sums import find_ends, merge_equal_rows
from gateline.statistics.merged_draws import MergedRows, draw_ends
from gateline.statistics.ratio_gains import GainRows, find_gain_ends

Floats: TypeAlias = NDArray[np.float64]

_ENOUGH_TO_EXPAND = 10
"""Clusters under either mean from which on the expansion of `ratio_gains` is better than draws."""
_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class ClusterMean:
    """A mean Σ total / Σ count over clusters (m), and where its two end points lie.

    `count` is 0 in clusters that have no part in it. `fitted` is how many numbers beside the mean were estimated
    from the same clusters.
    """

    total: Floats
    count: Floats
    ends: tuple[float, float]
    fitted: int = 0

    @property
    def value(self) -> float:
        """Return the mean."""
        return float(self.total.sum()) / float(self.count.sum())

    @property
    def clusters(self) -> int:
        """Return how many clusters have a part in it."""
        return int(np.count_nonzero(self.count))

    @property
    def size(self) -> float:
        """Return the average count of a cluster that has a part in it."""
        return float(self.count.sum()) / self.clusters

    def centred(self) -> Floats:
        """Return numerators and denominators (m, 2) in units of an average cluster, about the mean."""
        return np.column_stack([self.total - self.value * self.count, self.count]) / self.size

    def end_rows(self) -> Floats:
        """Return the two end points (2, 2) in the units of `centred`."""
        return np.array([[end - self.value, 1.0] for end in self.ends])

    def variance(self) -> float:
        """Return the linearised variance of the mean over clusters, end points counted in."""
        residuals = self.total - self.value * self.count
        reach = 0.5 * float(((np.array(self.ends) - self.value) ** 2).sum()) * self.size**2
        return (float(residuals @ residuals) + reach) / float(self.count.sum()) ** 2

    def freedom(self) -> int:
        """Return the degrees of freedom, at least 1."""
        return max(self.clusters - 1 - self.fitted, 1)


def difference_ends(first: ClusterMean, second: ClusterMean, *, level: float, seed: int) -> Ends:
    """Return the ends of the interval of `second` − `first`.

    Both means must have at least 2 clusters. The level is widened for few clusters with the degrees of freedom of
    Welch 1938, over the two parts. Where one mean has no spread the other's distribution is evaluated exactly; else
    by the expansion of `ratio_gains`, and where that does not hold, or below 10 clusters, by draws.
    """
    deviate = adjusted_deviate(level, _effective_clusters(first, second))
    shift = second.value - first.value
    for fixed, other, sign in ((first, second, 1.0), (second, first, -1.0)):
        if _has_no_spread(fixed):
            rows = np.concatenate([other.centred(), other.end_rows()])
            shape = np.concatenate([np.ones(len(other.count)), [0.5, 0.5]])
            low, high = find_ends(merge_equal_rows(sign * rows[:, 0], rows[:, 1], shape), deviate)
            return Ends(shift + low, shift + high, 0)
    merged = _merged(first, second)
    found = None
    if min(first.clusters, second.clusters) >= _ENOUGH_TO_EXPAND:
        found = find_gain_ends(GainRows(merged.columns, merged.shape, 0.0, relative=False), deviate)
    if found is not None:
        return Ends(shift + found[0], shift + found[1], 0)
    drawn = draw_ends(merged, lambda sums: sums[2] / sums[3] - sums[0] / sums[1], deviate, seed=seed)
    return Ends(shift + drawn.low, shift + drawn.high, drawn.draws, drawn.notes)


def _merged(first: ClusterMean, second: ClusterMean) -> MergedRows:
    nothing = np.zeros((2, 2))
    ends = np.concatenate(
        [np.column_stack([first.end_rows(), nothing]), np.column_stack([nothing, second.end_rows()])]
    )
    return MergedRows.of(np.column_stack([first.centred(), second.centred()]), ends)


def _has_no_spread(mean: ClusterMean) -> bool:
    rows = np.concatenate([mean.centred(), mean.end_rows()])[:, 0]
    return float(np.abs(rows).max()) <= _NO_SPREAD * float(np.abs(mean.total).max()) / mean.size


def _effective_clusters(first: ClusterMean, second: ClusterMean) -> int:
    """Return one more than the degrees of freedom that a variance of two parts has (Welch 1938), rounded down."""
    parts = [(mean.variance(), mean.freedom()) for mean in (first, second)]
    total = sum(variance for variance, _ in parts)
    if total <= 0.0:
        return min(first.freedom(), second.freedom()) + 1
    # Of shares: a square of a variance of 1e-200 or 1e200 is no number.
    freedom = 1.0 / sum((variance / total) ** 2 / freedom for variance, freedom in parts)
    return max(math.floor(freedom * (1.0 + 1e-9)), 1) + 1
