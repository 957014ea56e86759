"""The expansion for differences of ratios, against draws and against the exact case."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from statistics_pairs import pair

from gateline.statistics import Statistic
from gateline.statistics.end_points import (
    EndPoints,
    adjusted_deviate,
    end_points_of_gain,
    ratio_rows_of_gain,
    rows_of_gain,
)
from gateline.statistics.gamma_sums import find_lower_end, find_upper_end
from gateline.statistics.ratio_gains import find_gain_end


def claims(count, seed, *, clusters=None):
    """Unsupported claims of all claims, with different claims in the two runs."""
    generator = np.random.default_rng([count, seed])
    before, after = generator.integers(1, 7, size=(2, count))
    return pair(
        generator.binomial(before, 0.25),
        generator.binomial(after, 0.3),
        baseline_weight=before,
        candidate_weight=after,
        cluster=None if clusters is None else generator.integers(0, clusters, size=count),
    )


def expand(paired, end_points, deviate, *, relative):
    return tuple(
        find_gain_end(
            ratio_rows_of_gain(paired, end_points, relative=relative, upper=upper), deviate, upper=upper
        )
        for upper in (False, True)
    )


def evaluate(paired, end_points, deviate, *, relative):
    lower, upper = (
        rows_of_gain(paired, 1.0, end_points, None, relative=relative, upper=upper) for upper in (False, True)
    )
    return find_lower_end(lower, deviate), find_upper_end(upper, deviate)


def draw_gains(paired, end_points, *, relative, upper, draws, seed=0):
    """Draw the gain with end points, from the definition."""
    reach = end_points.reach
    generator = np.random.default_rng(seed)
    sums = paired.clusters
    columns = np.stack([sums.baseline, sums.baseline_weight, sums.candidate, sums.candidate_weight])
    totals = np.zeros((4, draws))
    for column in columns.T:
        totals += column[:, None] * generator.standard_exponential(draws)
    shapes = end_points.shapes(upper=upper)
    down, up = (generator.standard_gamma(shape, size=draws) if shape else np.zeros(draws) for shape in shapes)
    before_all, after_all = columns[0].sum() / columns[1].sum(), columns[2].sum() / columns[3].sum()
    size, other_size = columns[1].mean(), columns[3].mean()
    if relative:
        worst = best = before_all
        better, worse = before_all + reach, before_all - reach
    else:
        middle = 0.5 * (before_all + after_all)
        worst, best = middle - 0.5 * reach, middle + 0.5 * reach
        better, worse = best, worst
    before = (totals[0] + size * (up * worst + down * best)) / (totals[1] + size * (up + down))
    after = (totals[2] + other_size * (up * better + down * worse)) / (totals[3] + other_size * (up + down))
    return (after - before) / np.abs(before) if relative else after - before


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("count", "clusters"), [(12, None), (25, None), (120, None), (60, 15)])
def test_the_expansion_agrees_with_draws(count, clusters, relative, apart):
    paired = claims(count, 1, clusters=clusters)
    end_points = replace(end_points_of_gain(paired, Statistic("ratio"), 1.0), apart=apart)
    lower, upper = (
        draw_gains(paired, end_points, relative=relative, upper=upper, draws=400_000)
        for upper in (False, True)
    )
    for level in (0.8, 0.95, 0.99):
        deviate = adjusted_deviate(level, len(paired.clusters))
        tail = 0.5 * math.erfc(-deviate / math.sqrt(2.0))
        found = expand(paired, end_points, deviate, relative=relative)
        expected = np.quantile(lower, tail), np.quantile(upper, 1.0 - tail)
        width = expected[1] - expected[0]
        # One Monte-Carlo standard error of an end is below half a percent of the width here.
        assert found == pytest.approx(tuple(expected), abs=0.02 * width)


@pytest.mark.parametrize("count", [5, 20, 300])
def test_with_equal_denominators_the_expansion_is_exact(count):
    generator = np.random.default_rng(count)
    weight = generator.integers(1, 7, size=count)
    paired = pair(
        generator.binomial(weight, 0.4),
        generator.binomial(weight, 0.5),
        baseline_weight=weight,
        candidate_weight=weight,
    )
    for deviate in (-0.9, -1.96, -3.0):
        expected = evaluate(paired, EndPoints(1.0), deviate, relative=False)
        found = expand(paired, EndPoints(1.0), deviate, relative=False)
        assert found == pytest.approx(expected, abs=1e-5 * (expected[1] - expected[0]))


def test_a_relative_gain_over_one_sign_is_exact():
    generator = np.random.default_rng(3)
    before = generator.lognormal(size=40)
    paired = pair(before, before * generator.lognormal(sigma=0.3, size=40))
    expected = evaluate(paired, EndPoints(2.0), -1.96, relative=True)
    found = expand(paired, EndPoints(2.0), -1.96, relative=True)
    assert found == pytest.approx(expected, abs=1e-5 * (expected[1] - expected[0]))


def test_a_baseline_that_may_be_zero_is_left_to_draws():
    generator = np.random.default_rng(4)
    paired = pair(generator.normal(0.05, 1.0, size=30), generator.normal(0.3, 1.0, size=30))
    assert expand(paired, EndPoints(1.0), -1.96, relative=True) == (None, None)
