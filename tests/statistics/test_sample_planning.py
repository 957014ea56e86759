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
