"""The expansion for differences of ratios, against draws and against the exact case."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statistics_pairs import pair

from gateline.statistics import Statistic
from gateline.statistics.end_points import (
    Reach,
    adjusted_deviate,
    ratio_rows_of_gain,
    reach_of_gain,
    rows_of_gain,
)
from gateline.statistics.gamma_sums import find_ends
from gateline.statistics.ratio_gains import find_gain_ends


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


def draw_gains(paired, reach, *, relative, draws, seed=0):
    """Draw the gain with end points, from the definition."""
    generator = np.random.default_rng(seed)
    sums = paired.clusters
    columns = np.stack([sums.baseline, sums.baseline_weight, sums.candidate, sums.candidate_weight])
    totals = np.zeros((4, draws))
    for column in columns.T:
        totals += column[:, None] * generator.standard_exponential(draws)
    up, down = generator.standard_gamma(0.5, size=(2, draws))
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
@pytest.mark.parametrize(("count", "clusters"), [(12, None), (25, None), (120, None), (60, 15)])
def test_the_expansion_agrees_with_draws(count, clusters, relative):
    paired = claims(count, 1, clusters=clusters)
    reach = reach_of_gain(paired, Statistic("ratio"), 1.0).reach
    drawn = draw_gains(paired, reach, relative=relative, draws=400_000)
    for level in (0.8, 0.95, 0.99):
        deviate = adjusted_deviate(level, len(paired.clusters))
        tail = 0.5 * math.erfc(-deviate / math.sqrt(2.0))
        found = find_gain_ends(ratio_rows_of_gain(paired, reach, relative=relative), deviate)
        expected = np.quantile(drawn, [tail, 1.0 - tail])
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
        expected = find_ends(rows_of_gain(paired, 1.0, Reach(1.0), None, relative=False), deviate)
        found = find_gain_ends(ratio_rows_of_gain(paired, 1.0, relative=False), deviate)
        assert found == pytest.approx(expected, abs=1e-5 * (expected[1] - expected[0]))


def test_a_relative_gain_over_one_sign_is_exact():
    generator = np.random.default_rng(3)
    before = generator.lognormal(size=40)
    paired = pair(before, before * generator.lognormal(sigma=0.3, size=40))
    expected = find_ends(rows_of_gain(paired, 1.0, Reach(2.0), None, relative=True), -1.96)
    found = find_gain_ends(ratio_rows_of_gain(paired, 2.0, relative=True), -1.96)
    assert found == pytest.approx(expected, abs=1e-5 * (expected[1] - expected[0]))


def test_a_baseline_that_may_be_zero_is_left_to_draws():
    generator = np.random.default_rng(4)
    paired = pair(generator.normal(0.05, 1.0, size=30), generator.normal(0.3, 1.0, size=30))
    assert find_gain_ends(ratio_rows_of_gain(paired, 1.0, relative=True), -1.96) is None
