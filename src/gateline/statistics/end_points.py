"""End points: what a small sample is told of values it has not seen; and the level for few clusters.

Each end point is a pseudo-cluster of half an average cluster's size at an end of what is possible. For
pass/fail data of one run they make Jeffreys' interval (Brown, Cai and DasGupta 2001).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from gateline.statistics.gamma_sums import GammaRows, merge_equal_rows
from gateline.statistics.pairs import Floats, Paired, Side, Statistic
from gateline.statistics.ratio_gains import GainRows

_ENOUGH_DIFFER = 10
_MORE_TO_COME = 3.0
"""Chosen on log-normal costs, so that they miss at most 4 % a side at nominal 2.5 %: docs/statistics.md."""
_HALVES = np.array([0.5, 0.5])


@dataclass(frozen=True, slots=True)
class Reach:
    """The gain R of the end points, at +R and −R, per sample, and a note where it is a guess."""

    reach: float
    notes: tuple[str, ...] = ()


def adjusted_deviate(level: float, clusters: int) -> float:
    """Return the normal deviate of one tail, widened for few clusters: √(n/(n−1))·t⁻¹(α; n−1).

    Hesterberg 2015, section 4.3 (the expanded percentile interval). `level` is two-sided, `clusters` at
    least 2.
    """
    freedom = clusters - 1
    return math.sqrt(clusters / freedom) * float(stdtrit(freedom, 0.5 * (1.0 - level)))


def reach_of_gain(paired: Paired, statistic: Statistic, width: float | None) -> Reach:
    """Return how far the end points of a gain lie from 0.

    The width of the metric's range while fewer than 10 clusters differ between the runs; then the largest
    mean difference of a cluster seen. Without a range the largest difference seen, and where nothing
    differs the largest value seen.
    """
    clusters = paired.clusters
    first = _ratios(clusters.baseline, clusters.baseline_weight)
    second = _ratios(clusters.candidate, clusters.candidate_weight)
    if statistic.kind == "ratio" and not paired.shares_weights:
        change = second - first
    else:
        change = _ratios(clusters.gain, clusters.baseline_weight)
    seen = float(np.nanmax(np.abs(change), initial=0.0)) if clusters.differing else 0.0
    if width is not None:
        return Reach(width if clusters.differing < _ENOUGH_DIFFER else min(seen, width))
    if seen > 0.0:
        return Reach(seen * (1.0 + _MORE_TO_COME / math.sqrt(len(clusters))))
    largest = float(np.nanmax(np.abs(np.concatenate([first, second])), initial=0.0))
    if largest > 0.0:
        return Reach(
            largest, ("nothing differs and no range is declared: the largest value stands for the range",)
        )
    return Reach(0.0, ("nothing differs and no range is declared",))


def rows_of_gain(paired: Paired, sign: float, reach: float, *, relative: bool) -> GammaRows | None:
    """Return the rows of a gain that is one ratio of sums; None where it isn't one.

    That is: the denominators are the same in both runs, and for a relative gain the baseline has one sign.
    """
    if not paired.shares_weights:
        return None
    clusters = paired.clusters
    numerator, denominator = sign * clusters.gain, clusters.baseline_weight
    average = float(denominator.mean())
    if relative:
        denominator = clusters.baseline
        if (denominator < 0.0).any():
            denominator = -denominator
        if (denominator < 0.0).any():
            return None
    ends = np.array([-reach, reach]) * average
    return _with_end_points(numerator, denominator, ends)


def ratio_rows_of_gain(paired: Paired, reach: float, *, relative: bool) -> GainRows:
    """Return the rows of a gain that is a difference of two ratios (candidate − baseline), with end points.

    An end point is a cluster of average denominators, best in one run and worst in the other; for a relative gain
    it carries the average baseline.
    """
    clusters = paired.clusters
    before = float(clusters.baseline.sum() / clusters.baseline_weight.sum())
    after = float(clusters.candidate.sum() / clusters.candidate_weight.sum())
    middle = before if relative else 0.5 * (before + after)
    size, other_size = float(clusters.baseline_weight.mean()), float(clusters.candidate_weight.mean())
    columns = np.column_stack(
        [
            (clusters.baseline - middle * clusters.baseline_weight) / size,
            clusters.baseline_weight / size,
            (clusters.candidate - middle * clusters.candidate_weight) / other_size,
            clusters.candidate_weight / other_size,
        ]
    )
    down, up = (0.0, reach) if relative else (0.5 * reach, 0.5 * reach)
    ends = np.array([[-down, 1.0, up, 1.0], [down, 1.0, -up, 1.0]])
    shape = np.concatenate([np.ones(len(clusters)), _HALVES])
    return GainRows(np.concatenate([columns, ends]), shape, middle, relative)


def rows_of_value(paired: Paired, side: Side, bounds: tuple[float | None, float | None] | None) -> GammaRows:
    """Return the rows of one run's mean or ratio, with end points at the ends of its range.

    An end that is not declared is the smallest or largest value seen.
    """
    clusters = paired.clusters
    before = side == "baseline"
    numerator = clusters.baseline if before else clusters.candidate
    denominator = clusters.baseline_weight if before else clusters.candidate_weight
    seen = paired.values(side)
    if paired.weights(side) is not None:
        seen = _ratios(numerator, denominator)
    low, high = bounds if bounds is not None else (None, None)
    ends = np.array(
        [float(np.nanmin(seen)) if low is None else low, float(np.nanmax(seen)) if high is None else high]
    )
    return _with_end_points(numerator, denominator, ends * float(denominator.mean()))


def _with_end_points(numerator: Floats, denominator: Floats, ends: Floats) -> GammaRows:
    average = float(denominator.mean())
    return merge_equal_rows(
        np.concatenate([numerator, ends]),
        np.concatenate([denominator, [average, average]]),
        np.concatenate([np.ones(numerator.size), _HALVES]),
    )


def _ratios(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, NaN where the denominator is 0."""
    some = denominator > 0.0
    return np.where(some, numerator / np.where(some, denominator, 1.0), math.nan)
