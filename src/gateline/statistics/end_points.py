"""End points: what a small sample is told of values it has not seen; and the level for few clusters.

An end point is a pseudo-cluster at an end of what is possible, half an average cluster in size; two of them make
Jeffreys' interval of pass/fail data of one run (Brown, Cai and DasGupta 2001). While few clusters differ between the
runs, each end of a gain's interval has but the end point of its own side, three quarters of a cluster in size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from gateline.statistics.gamma_sums import GammaRows, merge_equal_rows
from gateline.statistics.notes import Note
from gateline.statistics.pairs import Floats, Paired, Side, Statistic
from gateline.statistics.ratio_gains import GainRows

ENOUGH_DIFFER = 10
_HALF, _THREE_QUARTERS = 0.5, 0.75
"""Three quarters hold 4 % a side at nominal 2.5 %, whatever the rate of losses: docs/statistics.md, section 9."""
MORE_TO_COME = 5.0
"""Chosen on log-normal costs, so that they miss at most 4 % a side at nominal 2.5 %: docs/statistics.md."""
_EQUAL = 1e-9
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class EndPoints:
    """How far the two end points of a gain lie from their centre, per sample, and a note where it is a guess.

    Where they are `apart`, the lower end of the interval is made with the lower end point alone, the upper end with
    the upper one.
    """

    reach: float
    notes: tuple[Note, ...] = ()
    centre: float = 0.0
    apart: bool = False

    @property
    def shape(self) -> float:
        """Return the shape of the gamma weight of one end point: its size in average clusters."""
        return _THREE_QUARTERS if self.apart else _HALF

    def shapes(self, *, upper: bool) -> Floats:
        """Return the shapes of the lower and the upper end point for one end of the interval, 0 for none."""
        if not self.apart:
            return np.array([self.shape, self.shape])
        return np.array([0.0, self.shape]) if upper else np.array([self.shape, 0.0])


def adjusted_deviate(level: float, clusters: int) -> float:
    """Return the normal deviate of one tail, widened for few clusters: √(n/(n−1))·t⁻¹(α; n−1).

    Hesterberg 2015, section 4.3 (the expanded percentile interval). `level` is two-sided, `clusters` at
    least 2.
    """
    freedom = clusters - 1
    return math.sqrt(clusters / freedom) * float(stdtrit(freedom, 0.5 * (1.0 - level)))


def end_points_of_gain(paired: Paired, statistic: Statistic, width: float | None) -> EndPoints:
    """Return where the end points of a gain lie.

    The width of the metric's range about 0, apart, while fewer than 10 clusters differ between the runs. After that,
    of a mean, the largest distance of a cluster from the gain seen, about that gain: about 0 they would pull it
    towards no change. Where all differences are equal, and for a ratio, the largest difference seen about 0. Without a
    range the largest difference seen and more; while fewer than 10 clusters differ at least the largest value seen, for
    a small difference in one of them tells no more of the others than none.
    """
    clusters = paired.clusters
    first = _ratios(clusters.baseline, clusters.baseline_weight)
    second = _ratios(clusters.candidate, clusters.candidate_weight)
    if statistic.kind == "ratio" and not paired.shares_weights:
        change = second - first
    else:
        change = _ratios(clusters.gain, clusters.baseline_weight)
    largest = float(np.nanmax(np.abs(np.concatenate([first, second])), initial=0.0))
    seen = float(np.nanmax(np.abs(change), initial=0.0)) if clusters.differing else 0.0
    if seen <= _ROUNDING * largest:  # differences within a cluster that cancel but for rounding
        seen = 0.0
    if width is not None:
        if clusters.differing < ENOUGH_DIFFER:
            return EndPoints(width, apart=True)
        if statistic.kind == "ratio":
            return EndPoints(min(seen, width))
        return _end_points_about_the_gain(change, clusters.baseline_weight, min(seen, width))
    reach = seen * (1.0 + MORE_TO_COME / math.sqrt(len(clusters)))
    if clusters.differing >= ENOUGH_DIFFER or reach > largest:
        return EndPoints(reach)
    if largest > 0.0:
        return EndPoints(largest, (Note("note.largest-for-range"),))
    return EndPoints(0.0, (Note("note.no-range"),))


def _end_points_about_the_gain(change: Floats, weight: Floats, largest: float) -> EndPoints:
    some = weight > 0.0
    centre = float(weight[some] @ change[some]) / float(weight[some].sum())
    distance = float(np.abs(change[some] - centre).max())
    if distance <= _EQUAL * largest:
        return EndPoints(largest, (Note("note.differences-equal"),))
    return EndPoints(distance, centre=centre)


def rows_of_gain(
    paired: Paired, sign: float, end_points: EndPoints, width: float | None, *, relative: bool, upper: bool
) -> GammaRows | None:
    """Return the rows of a gain that is one ratio of sums, for one end of its interval; None where it isn't one.

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
    ends = sign * end_points.centre + np.array([-end_points.reach, end_points.reach])
    if width is not None:
        ends = np.clip(ends, -width, width)
    return _with_end_points(numerator, denominator, ends * average, end_points.shapes(upper=upper))


def ratio_rows_of_gain(paired: Paired, end_points: EndPoints, *, relative: bool, upper: bool) -> GainRows:
    """Return the rows of a difference of two ratios (candidate − baseline), for one end of its interval.

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
    reach, shapes = end_points.reach, end_points.shapes(upper=upper)
    down, up = (0.0, reach) if relative else (0.5 * reach, 0.5 * reach)
    ends = np.array([[down, 1.0, -up, 1.0], [-down, 1.0, up, 1.0]])[shapes > 0.0]
    shape = np.concatenate([np.ones(len(clusters)), shapes[shapes > 0.0]])
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
    return _with_end_points(
        numerator, denominator, ends * float(denominator.mean()), np.array([_HALF, _HALF])
    )


def _with_end_points(numerator: Floats, denominator: Floats, ends: Floats, shapes: Floats) -> GammaRows:
    average, some = float(denominator.mean()), shapes > 0.0
    return merge_equal_rows(
        np.concatenate([numerator, ends[some]]),
        np.concatenate([denominator, np.full(int(some.sum()), average)]),
        np.concatenate([np.ones(numerator.size), shapes[some]]),
    )


def _ratios(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, NaN where the denominator is 0."""
    some = denominator > 0.0
    return np.where(some, numerator / np.where(some, denominator, 1.0), math.nan)
