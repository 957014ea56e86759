"""Intervals of one run: Jeffreys, binomial ranks, and quantiles of clustered samples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv, ndtr, stdtrit
from scipy.stats import beta, binom
from statistics_pairs import pair

from gateline.statistics import (
    Note,
    Settings,
    Statistic,
    evaluate,
    samples_needed_for_quantile,
    value_interval,
)
from gateline.statistics.order_statistics import find_clustered_quantile_ends, quantile_ranks

MEAN, RATIO, TOTAL = Statistic("mean"), Statistic("ratio"), Statistic("total")


def interval_of(
    values, statistic, *, level=0.95, bounds=(0.0, 1.0), weight=None, cluster=None, side="candidate"
):
    values = np.asarray(values, dtype=float)
    other = np.zeros(values.size)
    paired = pair(
        other if side == "candidate" else values,
        values if side == "candidate" else other,
        baseline_weight=weight,
        candidate_weight=weight,
        cluster=cluster,
    )
    return value_interval(paired, side, statistic, level=level, bounds=bounds, settings=Settings())


def adjusted_tail(level, clusters):
    return ndtr(math.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, 0.5 * (1.0 - level)))


@pytest.mark.parametrize("side", ["baseline", "candidate"])
@pytest.mark.parametrize(("count", "passed"), [(2, 1), (12, 12), (12, 11), (50, 0), (50, 45), (1_000, 993)])
def test_a_pass_rate_has_the_interval_of_jeffreys_widened_for_few_samples(count, passed, side):
    values = np.concatenate([np.ones(passed), np.zeros(count - passed)])
    tail = adjusted_tail(0.95, count)
    low = 0.0 if passed == 0 else betaincinv(passed + 0.5, count - passed + 0.5, tail)
    high = 1.0 if passed == count else 1.0 - betaincinv(count - passed + 0.5, passed + 0.5, tail)
    found = interval_of(values, MEAN, side=side)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)
    total = interval_of(values, TOTAL, side=side)
    assert (total.low, total.high) == pytest.approx((count * low, count * high), abs=1e-6 * count)


def test_a_ratio_of_sums_agrees_with_draws():
    generator = np.random.default_rng(3)
    weight = generator.integers(0, 6, size=40)
    values = generator.binomial(weight, 0.2)
    draws = 400_000
    weights = generator.standard_exponential((40, draws))
    up, down = generator.standard_gamma(0.5, size=(2, draws))
    drawn = (values @ weights + weight.mean() * up) / (weight @ weights + weight.mean() * (up + down))
    tail = adjusted_tail(0.9, 40)
    expected = np.quantile(drawn, [tail, 1.0 - tail])
    found = interval_of(values, RATIO, weight=weight, level=0.9)
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.01 * (expected[1] - expected[0]))


def test_without_a_range_the_values_seen_are_the_range():
    values = [2.0, 3.0, 3.0, 7.0, 4.0, 2.5]
    found = interval_of(values, MEAN, bounds=None)
    assert found == interval_of(values, MEAN, bounds=(2.0, 7.0))
    assert interval_of(values, MEAN, bounds=(0.0, None)) == interval_of(values, MEAN, bounds=(0.0, 7.0))
    assert found.low > interval_of(values, MEAN, bounds=(0.0, None)).low


def test_a_constant_without_a_range_has_no_width():
    found = interval_of([5.0] * 9, MEAN, bounds=None)
    assert (found.low, found.high) == (5.0, 5.0)


def test_one_cluster_or_no_value_has_no_interval():
    assert interval_of([1.0], MEAN) is None
    assert interval_of([1.0, 0.0], MEAN, cluster=[0, 0]) is None
    assert interval_of([0.0, 0.0], RATIO, weight=[0.0, 0.0]) is None


# --- quantiles ---


@settings(deadline=None, max_examples=150)
@given(
    count=st.integers(1, 2_000), probability=st.sampled_from([0.01, 0.25, 0.5, 0.9, 0.95, 0.99]),
    tail=st.sampled_from([0.1, 0.025, 0.0005]),
)  # fmt: skip
def test_ranks_are_the_tightest_whose_binomial_tails_hold(count, probability, tail):
    low, high = quantile_ranks(count, probability, tail)
    if low:
        assert binom.cdf(low - 1, count, probability) <= tail
    assert low == count or binom.cdf(low, count, probability) > tail
    if high:
        assert binom.sf(high - 1, count, probability) <= tail
        assert high == 1 or binom.sf(high - 2, count, probability) > tail
    else:
        assert binom.sf(count - 1, count, probability) > tail


def test_the_coverage_of_ranks_is_exact_for_a_small_sample():
    # All orders of below/above the quantile of five samples, enumerated.
    probability, tail = 0.5, 0.05
    low, high = quantile_ranks(5, probability, tail)
    missed_low = missed_high = 0.0
    for below in itertools.product([True, False], repeat=5):
        chance = math.prod(probability if one else 1.0 - probability for one in below)
        missed_low += chance * (sum(below) < low)
        missed_high += chance * (sum(below) >= high)
    assert (low, high) == (1, 5)
    assert missed_low == pytest.approx(1 / 32)
    assert missed_high == pytest.approx(1 / 32)


def test_p95_needs_72_samples_for_an_upper_bound():
    assert samples_needed_for_quantile(0.95, 0.95) == (72, 2)
    assert samples_needed_for_quantile(0.5, 0.95) == (6, 6)
    assert samples_needed_for_quantile(0.99, 0.95) == (368, 1)
    assert samples_needed_for_quantile(0.05, 0.95) == (2, 72)


@pytest.mark.parametrize("probability", [0.05, 0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("level", [0.6, 0.95, 0.998])
def test_what_a_bound_needs_is_what_the_ranks_say(probability, level):
    upper, lower = samples_needed_for_quantile(probability, level)
    tail = 0.5 * (1.0 - level)
    assert quantile_ranks(upper, probability, tail)[1] > 0
    assert upper == 1 or quantile_ranks(upper - 1, probability, tail)[1] == 0
    assert quantile_ranks(lower, probability, tail)[0] > 0
    assert lower == 1 or quantile_ranks(lower - 1, probability, tail)[0] == 0


def test_an_upper_end_that_can_not_be_had_says_what_it_needs():
    found = interval_of(np.arange(40.0), Statistic("quantile", 0.95), bounds=None)
    assert found.high is None
    assert found.low == 34.0
    assert found.method == "order-statistic"
    assert found.notes == (Note("note.upper-end-needs-samples", {"needed": "72", "samples": "40"}),)
    enough = interval_of(np.arange(72.0), Statistic("quantile", 0.95), bounds=None)
    assert enough.high == 71.0
    assert enough.notes == ()


def test_clusters_of_one_weigh_shares_as_beta():
    generator = np.random.default_rng(0)
    values = generator.lognormal(size=60)
    paired = pair(values, values)
    for probability, deviate in itertools.product((0.3, 0.5, 0.9), (-1.5, -2.5)):
        ends = find_clustered_quantile_ends(values, paired.clusters, probability, deviate)
        ordered = np.sort(values)
        # The share up to the k-th value is Beta(k + 1/2, n − k + 1/2).
        rank = np.arange(1, 61)
        reached = beta.sf(probability, rank + 0.5, 60 - rank + 0.5)
        assert ends.low == ordered[np.argmax(reached >= ndtr(deviate))]
        high = reached >= 1.0 - ndtr(deviate)
        assert ends.high == (ordered[np.argmax(high)] if high.any() else None)


def test_clustered_samples_have_a_wider_interval_than_independent_ones():
    generator = np.random.default_rng(1)
    cluster = np.repeat(np.arange(40), 10)
    values = np.repeat(generator.normal(size=40), 10) + 0.1 * generator.normal(size=400)
    apart = interval_of(values, Statistic("quantile", 0.5), bounds=None)
    together = interval_of(values, Statistic("quantile", 0.5), bounds=None, cluster=cluster)
    assert together.high - together.low > 2.0 * (apart.high - apart.low)
    assert together.method == "bayesian"
    assert together.notes[0] == Note("note.weighed-by-cluster", {"samples": "400", "clusters": "40"})
    few = interval_of(values[:50], Statistic("quantile", 0.95), bounds=None, cluster=cluster[:50])
    assert few.high is None
    assert few.notes[-1] == Note("note.upper-end-needs-clusters")


@settings(deadline=None, max_examples=100)
@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=40), probability=st.floats(0.01, 0.99))
def test_the_plain_quantile_is_the_inverse_of_the_distribution_function(values, probability):
    values = np.array(values, dtype=float)
    found = evaluate(values, None, Statistic("quantile", probability))
    assert found == np.quantile(values, probability, method="inverted_cdf")


def test_plain_statistics():
    values, weights = np.array([1.0, 2.0, 6.0]), np.array([2.0, 2.0, 5.0])
    assert evaluate(values, None, MEAN) == 3.0
    assert evaluate(values, None, TOTAL) == 9.0
    assert evaluate(values, weights, RATIO) == 1.0
    assert math.isnan(evaluate(values[:0], None, MEAN))
    assert math.isnan(evaluate(values, np.zeros(3), RATIO))


def test_a_statistic_that_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        Statistic("quantile", 1.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Statistic("quantile")
    with pytest.raises(ValueError, match="only a quantile"):
        Statistic("mean", 0.5)
    with pytest.raises(ValueError, match="needs denominators"):
        evaluate(np.ones(2), None, RATIO)
