"""How two numeric ratings go together: the correlations of Pearson and of Spearman, with intervals over clusters.

The standard error is that of the influence of each sample (the infinitesimal jackknife: Efron 1982, The Jackknife,
the Bootstrap and Other Resampling Plans, chapter 6), summed by cluster; for Spearman's the influence on the ranks is
in it. The interval is made on the scale of Fisher's z. Nothing is drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from gateline.statistics.interval import Interval
from gateline.statistics.mean_differences import Floats

_CORNERS = ((0, 0), (1, 1), (0, 1), (1, 0))
_CORNER_WEIGHT = 0.25
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation, −1 to 1, and its interval; None where one of the two ratings never changes."""

    value: float | None
    interval: Interval | None


def correlate(
    first: Floats, second: Floats, cluster: NDArray[np.int64], *, level: float, ranks: bool
) -> Correlation:
    """Return Pearson's correlation, or with `ranks` Spearman's (ties get the middle of their ranks).

    Args:
        first: (n,) numbers without NaN.
        second: (n,) likewise.
        cluster: code of the cluster of each sample (n).
        level: two-sided confidence, above 0.5.
        ranks: correlate the ranks.

    Returns:
        The value; the interval is None with fewer than 5 clusters. The error is at least Fisher's 1/√(n − 3), and
        where the value is within 1/n of perfect, the four corners of what was seen count as a quarter of a sample
        each: a perfect correlation of a few samples is not taken for certain.
    """
    ones = np.ones(first.size)
    value = _weighted(first, second, ones, ranks=ranks)
    if value is None:
        return Correlation(None, None)
    used, member = np.unique(cluster, return_inverse=True)
    if used.size < 5:
        return Correlation(value, None)
    ends = [(values.min(), values.max()) for values in (first, second)]
    one = np.append(first, [ends[0][at] for at, _ in _CORNERS])
    other = np.append(second, [ends[1][at] for _, at in _CORNERS])
    near_perfect = abs(value) > 1.0 - 1.0 / first.size
    weights = np.append(ones, np.full(len(_CORNERS), _CORNER_WEIGHT if near_perfect else 0.0))
    middle = _weighted(one, other, weights, ranks=ranks)
    if middle is None or abs(middle) >= 1.0:
        return Correlation(value, None)
    influence = _influence(one, other, weights, middle, ranks=ranks)
    by_cluster = np.bincount(member, influence[: first.size])
    squares = float(by_cluster @ by_cluster) * used.size / (used.size - 1)
    error = math.sqrt(squares) / float(weights.sum()) / (1.0 - middle**2)
    error = max(error, 1.0 / math.sqrt(first.size - 3))
    reach = -float(stdtrit(used.size - 2, 0.5 * (1.0 - level))) * error
    low, high = (math.tanh(math.atanh(middle) + side * reach) for side in (-1.0, 1.0))
    return Correlation(value, Interval(min(low, value), max(high, value), level, "influence", None))


def _weighted(first: Floats, second: Floats, weights: Floats, *, ranks: bool) -> float | None:
    if ranks:
        first, second = _ranks(first, weights), _ranks(second, weights)
    one, other = _standardised(first, weights), _standardised(second, weights)
    if one is None or other is None:
        return None
    return min(max(float(weights @ (one * other)) / float(weights.sum()), -1.0), 1.0)


def _influence(first: Floats, second: Floats, weights: Floats, value: float, *, ranks: bool) -> Floats:
    """Return how much each sample pulls at the correlation, per unit of its weight."""
    values = (first, second)
    scores = [_ranks(one, weights) for one in values] if ranks else list(values)
    standard = [_standardised(one, weights) for one in scores]
    one, other = standard
    if one is None or other is None:
        return np.zeros(first.size)
    pull = one * other - 0.5 * value * (one**2 + other**2)
    if not ranks:
        return pull
    total = float(weights.sum())
    for own, its, rest in ((0, one, other), (1, other, one)):
        # What a sample adds to the ranks of larger values; Σ slope·rank, which it takes off all, is 0.
        slope = weights * (rest - value * its) / _spread(scores[own], weights) / total
        pull = pull + _sum_above(values[own], slope)
    return pull


def _ranks(values: Floats, weights: Floats) -> Floats:
    """Return the share of weight below each value, half of its own counted in (n)."""
    _, place = np.unique(values, return_inverse=True)
    held = np.bincount(place, weights)
    below = np.cumsum(held) - 0.5 * held
    ranks: Floats = (below / float(weights.sum()))[place]
    return ranks


def _sum_above(values: Floats, amounts: Floats) -> Floats:
    """Return for each value the sum of the amounts of larger ones, and half of those of equal ones (n)."""
    _, place = np.unique(values, return_inverse=True)
    held = np.bincount(place, amounts)
    above = np.cumsum(held[::-1])[::-1] - 0.5 * held
    sums: Floats = above[place]
    return sums


def _spread(values: Floats, weights: Floats) -> float:
    mean = float(weights @ values) / float(weights.sum())
    return math.sqrt(float(weights @ (values - mean) ** 2) / float(weights.sum()))


def _standardised(values: Floats, weights: Floats) -> Floats | None:
    spread = _spread(values, weights)
    if spread <= _SAME * float(np.abs(values).max(initial=0.0)):
        return None
    centred: Floats = (values - float(weights @ values) / float(weights.sum())) / spread
    return centred
