"""Intervals for a quantile of one run: ranks of order statistics, exact whatever the distribution is.

For independent samples the ranks are binomial (David and Nagaraja 2003, section 7.1). Where samples come in
clusters, the same inversion is done with the Bayesian bootstrap of the share below a value (Woodruff 1952).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, log_ndtr

from gateline.statistics.gamma_sums import log_lower_tail, merge_equal_rows
from gateline.statistics.pairs import Clusters

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QuantileEnds:
    """Ends of an interval for a quantile; None where the sample is too small to bound that side."""

    low: float | None
    high: float | None


def samples_needed_for_quantile(probability: float, level: float) -> tuple[int, int]:
    """Return how many samples an upper and a lower bound of a quantile need.

    Args:
        probability: of the quantile, 0.95 for P95.
        level: two-sided confidence; each side decides at half the rest.

    Returns:
        (for an upper bound, for a lower bound): the smallest n with probability**n ≤ (1 − level)/2, and the
        same of 1 − probability. P95 at 95 % needs 72 samples for an upper bound.
    """
    tail = 0.5 * (1.0 - level)
    return (_smallest_power(probability, tail), _smallest_power(1.0 - probability, tail))


def find_quantile_ends(values: Floats, probability: float, tail: float) -> QuantileEnds:
    """Return the interval of a quantile of independent samples.

    Args:
        values: (n,) values of one run, without NaN.
        probability: of the quantile.
        tail: the largest chance that the quantile lies beyond an end, for each side.
    """
    ordered = np.sort(values)
    low_rank, high_rank = quantile_ranks(ordered.size, probability, tail)
    return QuantileEnds(
        float(ordered[low_rank - 1]) if low_rank else None,
        float(ordered[high_rank - 1]) if high_rank else None,
    )


def quantile_ranks(size: int, probability: float, tail: float) -> tuple[int, int]:
    """Return the ranks (from 1) whose order statistics bound a quantile; 0 where no rank does.

    The lower rank is the largest l with P(Binomial ≤ l − 1) ≤ tail, the upper the smallest u with
    P(Binomial ≥ u) ≤ tail.
    """
    low = _last_true(lambda rank: bool(bdtr(rank - 1, size, probability) <= tail), size)
    high = 1 + _last_true(lambda rank: bool(bdtrc(rank - 1, size, probability) > tail), size)
    return low, high if high <= size else 0


def find_clustered_quantile_ends(
    values: Floats, clusters: Clusters, probability: float, deviate: float
) -> QuantileEnds:
    """Return the interval of a quantile of clustered samples.

    Under weights of clusters, the quantile lies at or below a value exactly when the weighted share of
    samples up to that value reaches `probability`. That share is a ratio of sums with an exact
    distribution, with end points at 0 and 1; the ends are the values where its tail crosses the level.

    Args:
        values: (n,) values of one run.
        clusters: of the same n samples.
        probability: of the quantile.
        deviate: normal deviate of one tail, already adjusted for the number of clusters.
    """
    distinct = np.unique(values)
    size = float(clusters.count.mean())
    shape = np.append(np.ones(len(clusters)), [0.5, 0.5])

    def log_chance(value: float, *, at_or_below: bool) -> float:
        """Return the log of P(quantile ≤ value), or of its complement."""
        share = np.bincount(clusters.member[values <= value], minlength=len(clusters)).astype(np.float64)
        numerator = np.append(share, [0.0, size])
        denominator = np.append(clusters.count, [size, size])
        sign = -1.0 if at_or_below else 1.0
        return log_lower_tail(merge_equal_rows(sign * numerator, denominator, shape), sign * probability)

    tail = float(log_ndtr(deviate))
    low = _last_true(
        lambda rank: log_chance(float(distinct[rank - 1]), at_or_below=True) < tail, distinct.size
    )
    high = _last_true(
        lambda rank: log_chance(float(distinct[rank - 1]), at_or_below=False) > tail, distinct.size
    )
    nothing_below = log_chance(-math.inf, at_or_below=True) >= tail
    return QuantileEnds(
        None if nothing_below or low == distinct.size else float(distinct[low]),
        None if high == distinct.size else float(distinct[high]),
    )


def _last_true(holds: Callable[[int], bool], last: int) -> int:
    """Return the last of 1 … last where a condition holds that holds up to some point; 0 where none does."""
    return bisect_left(range(1, last + 1), True, key=lambda rank: not holds(rank))


def _smallest_power(base: float, tail: float) -> int:
    """Return the smallest n with base**n ≤ tail."""
    return max(math.ceil(math.log(tail) / math.log(base) - 1e-9), 1)
