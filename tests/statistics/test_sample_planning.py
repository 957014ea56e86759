"""What a sample could show, and how many would settle it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, sem
from statistics_pairs import pair

from gateline.statistics import (
    Settings,
    Statistic,
    gain_interval,
    samples_needed,
    smallest_visible_change,
)
from gateline.statistics.end_points import adjusted_deviate


def visible(paired, statistic, *, relative=False, level=0.95, width=None):
    return smallest_visible_change(
        paired, statistic, relative=relative, level=level, width=width, settings=Settings()
    )


def test_it_is_about_2_8_standard_errors():
    generator = np.random.default_rng(0)
    before, after = generator.normal(size=(2, 2_000))
    expected = (norm.ppf(0.975) + norm.ppf(0.8)) * sem(after - before)
    assert expected / sem(after - before) == pytest.approx(2.80, abs=0.01)
    assert visible(pair(before, after), Statistic("mean")) == pytest.approx(expected, rel=0.01)
    assert visible(pair(before, after), Statistic("total")) == pytest.approx(2_000 * expected, rel=0.01)


def test_a_wider_level_and_clusters_need_a_larger_change():
    generator = np.random.default_rng(1)
    change = np.repeat(generator.normal(size=400), 8)
    apart = pair(np.zeros(3_200), change)
    together = pair(np.zeros(3_200), change, cluster=np.repeat(range(400), 8))
    mean = Statistic("mean")
    assert visible(together, mean) == pytest.approx(math.sqrt(8) * visible(apart, mean), rel=0.1)
    ratio = (norm.ppf(1 - 0.025 / 20) + norm.ppf(0.8)) / (norm.ppf(0.975) + norm.ppf(0.8))
    assert visible(apart, mean, level=1 - 0.05 / 20) == pytest.approx(ratio * visible(apart, mean), rel=0.02)


def test_a_ratio_by_the_delta_method():
    generator = np.random.default_rng(2)
    below, under = generator.integers(1, 6, size=(2, 4_000)).astype(float)
    parts, others = generator.binomial(below.astype(int), 0.3), generator.binomial(under.astype(int), 0.3)
    paired = pair(parts, others, baseline_weight=below, candidate_weight=under)
    # Independent pass/fail claims: the variance is that of two proportions.
    error = math.sqrt(0.3 * 0.7 * (1 / below.sum() + 1 / under.sum()))
    assert visible(paired, Statistic("ratio")) == pytest.approx(2.80 * error, rel=0.06)
    assert visible(paired, Statistic("ratio"), relative=True) == pytest.approx(
        2.80 * error / 0.3 * math.sqrt((1 + (others.sum() / under.sum() / 0.3) ** 2) / 2), rel=0.08
    )


@pytest.mark.parametrize("statistic", [Statistic("mean"), Statistic("quantile", 0.5)])
def test_it_goes_with_the_width_of_the_interval(statistic):
    generator = np.random.default_rng(3)
    before = generator.normal(size=300)
    paired = pair(before, before + 0.5 * generator.normal(size=300))
    found = gain_interval(
        paired,
        statistic,
        sign=1.0,
        relative=False,
        level=0.95,
        width=None,
        settings=Settings(),
    )
    half = 0.5 * (found.high - found.low)
    assert visible(paired, statistic) == pytest.approx(half * 2.80 / 1.96, rel=0.05)


def test_a_small_sample_without_a_difference_can_not_show_a_small_change():
    assert visible(pair(np.ones(12), np.ones(12)), Statistic("mean"), width=1.0) > 0.2
    assert visible(pair(np.zeros(12), np.zeros(12)), Statistic("mean")) is None
    assert visible(pair([1.0], [0.0]), Statistic("mean"), width=1.0) is None
    assert visible(pair([], []), Statistic("mean"), width=1.0) is None


def test_samples_needed_is_the_square_of_half_width_over_distance():
    assert samples_needed(-0.03, 0.04, -0.01, 200) == 800
    assert samples_needed(0.5, 0.1, 0.3, 100) == 25
    assert samples_needed(0.3, 0.1, 0.3, 100) is None
    assert samples_needed(0.3, 0.1, 0.3 + 1e-9, 100) is None
    assert samples_needed(0.3, math.inf, 0.2, 100) is None


def error_by_derivatives(paired, *, relative):
    """Return the standard error over clusters of a gain of ratios of sums, from its derivative by each weight."""
    clusters = paired.clusters

    def gain(weights):
        before = weights @ clusters.baseline / (weights @ clusters.baseline_weight)
        after = weights @ clusters.candidate / (weights @ clusters.candidate_weight)
        return (after - before) / (abs(before) if relative else 1.0)

    count = len(clusters)
    steps = 1e-6 * np.eye(count)
    pulls = [(gain(np.ones(count) + step) - gain(np.ones(count) - step)) / 2e-6 for step in steps]
    return math.sqrt(np.sum(np.square(pulls)) * count / (count - 1))


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("clusters", "differing"), [(2, 2), (9, 3), (9, 9), (12, 11), (40, 4)])
def test_end_points_are_counted_into_error_and_pull(clusters, differing, sign, relative):
    """Below ten differing clusters one at the range, which pulls too; else two at what was seen."""
    generator = np.random.default_rng([clusters, differing])
    cluster = np.repeat(np.arange(clusters), 2)
    before = sign * generator.uniform(0.2, 0.5, cluster.size)
    change = np.where(cluster < differing, generator.uniform(0.05, 0.3, cluster.size), 0.0)
    paired = pair(before, before + change, cluster=cluster)
    width, deviates = 0.8, float(norm.ppf(0.8)) - adjusted_deviate(0.9, clusters)
    if differing < 10:
        shape, reach, ends = 0.75, width, 1
    else:
        means = change.reshape(clusters, 2).mean(axis=1)
        shape, reach, ends = 0.5, np.abs(means - means.mean()).max(), 2
    unit = abs(before.mean()) if relative else 1.0
    spread = ends * shape * (reach / clusters / unit) ** 2
    pull = shape * reach / clusters / unit if ends == 1 else 0.0
    expected = (
        deviates * math.hypot(error_by_derivatives(paired, relative=relative), math.sqrt(spread)) + pull
    )
    found = visible(paired, Statistic("mean"), relative=relative, level=0.9, width=width)
    assert found == pytest.approx(expected, rel=1e-7)
    total = visible(paired, Statistic("total"), relative=relative, level=0.9, width=width)
    assert total == pytest.approx(expected * (1.0 if relative else 2.0 * clusters), rel=1e-7)


def test_denominators_below_one_are_denominators():
    generator = np.random.default_rng(4)
    below, under = generator.uniform(1e-4, 3e-3, size=(2, 30))
    paired = pair(
        below * generator.uniform(0.3, 0.5, 30),
        under * generator.uniform(0.3, 0.5, 30),
        baseline_weight=below,
        candidate_weight=under,
    )
    thousandfold = pair(
        1e3 * paired.baseline,
        1e3 * paired.candidate,
        baseline_weight=1e3 * below,
        candidate_weight=1e3 * under,
    )
    ratio = Statistic("ratio")
    assert visible(paired, ratio, width=1.0) == pytest.approx(
        visible(thousandfold, ratio, width=1.0), rel=1e-9
    )


def test_where_no_error_can_be_estimated_nothing_is_said():
    ones, none = np.ones(12), np.zeros(12)
    for weights in ((none, ones), (ones, none)):
        empty = pair(none, none, baseline_weight=weights[0], candidate_weight=weights[1])
        assert visible(empty, Statistic("ratio"), width=1.0) is None
    # of a baseline of 0 no part is known
    assert visible(pair(none, ones), Statistic("mean"), relative=True, width=1.0) is None
    assert visible(pair(none, ones), Statistic("mean"), width=1.0) is not None


def test_a_relative_quantile_is_told_as_a_part_of_the_baseline():
    generator = np.random.default_rng(5)
    before = generator.lognormal(6.0, 0.05, 400)
    paired = pair(before, before * generator.lognormal(0.0, 0.2, 400))
    median = Statistic("quantile", 0.5)
    absolute, relative = (visible(paired, median, relative=one) for one in (False, True))
    assert relative == pytest.approx(absolute / np.median(before), rel=0.05)


@pytest.mark.parametrize("zeros", [5, 7])
def test_a_quantile_without_an_end_shows_nothing(zeros):
    """Where some draws have a baseline of 0 the relative gain has no bound; a known end alone is no width."""
    before = np.where(np.arange(12) < zeros, 0.0, 2.0)
    paired, median = pair(before, before + 1.0), Statistic("quantile", 0.5)
    found = gain_interval(
        paired, median, sign=1.0, relative=True, level=0.95, width=None, settings=Settings()
    )
    assert found is None or found.high is None
    assert visible(paired, median, relative=True) is None
