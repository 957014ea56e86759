"""Kappa, correlations and the correction of Rogan and Gladen, against statsmodels, scipy, algebra and simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa as kappa_of_statsmodels

from gateline.statistics import cluster_keys
from gateline.statistics.correlation import correlate
from gateline.statistics.kappa import cohens_kappa, kappa_interval
from gateline.statistics.prediction_powered import JudgedSamples
from gateline.statistics.rogan_gladen import (
    correct_rate,
    corrected_rate,
    expected_judge_rate,
    measure_separation,
)

TABLES = st.integers(2, 5).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 40), min_size=size, max_size=size), min_size=size, max_size=size
    )
)


def judged(judge, human):
    judge, human = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
    return JudgedSamples(
        judge, human, np.arange(judge.size), cluster_keys([str(row) for row in range(judge.size)])
    )


def labels_of(table):
    """Return the labels that make a table of counts."""
    table = np.asarray(table, dtype=int)
    pairs = [(row, column) for row, column in np.ndindex(table.shape) for _ in range(table[row, column])]
    human, judge = np.array(pairs).T
    return human, judge


@given(TABLES)
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("weighted", [False, True])
def test_kappa_equals_that_of_statsmodels(weighted, counts):
    table = np.array(counts, dtype=float)
    found = cohens_kappa(table, weighted=weighted)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if table.sum() == 0 or (
        rows.max() == table.sum() and columns.argmax() == rows.argmax() and columns.max() == table.sum()
    ):
        assert found is None
        return
    expected = kappa_of_statsmodels(table, wt="quadratic" if weighted else None, return_results=False)
    assert found == pytest.approx(float(np.ravel(expected)[0]), abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_interval_of_kappa_is_near_the_asymptotic_one_in_large_samples(weighted):
    table = np.array([[300, 40, 10], [30, 250, 40], [5, 35, 290]])
    human, judge = labels_of(table)
    found = kappa_interval(
        human, judge, np.arange(human.size), categories=3, level=0.95, seed=1, weighted=weighted
    )
    expected = kappa_of_statsmodels(table, wt="quadratic" if weighted else None)
    width = expected.kappa_upp - expected.kappa_low
    assert found.low == pytest.approx(expected.kappa_low, abs=0.06 * width)
    assert found.high == pytest.approx(expected.kappa_upp, abs=0.06 * width)


def test_twenty_labels_without_a_disagreement_leave_room_for_one():
    codes = np.arange(20) % 2
    found = kappa_interval(codes, codes, np.arange(20), categories=2, level=0.95, seed=1)
    assert found.high == 1.0
    assert 0.5 < found.low < 0.85


def test_kappa_counts_clusters():
    human, judge = labels_of([[20, 5], [5, 20]])
    once = kappa_interval(human, judge, np.arange(50), categories=2, level=0.95, seed=1)
    copies = kappa_interval(
        np.repeat(human, 4),
        np.repeat(judge, 4),
        np.repeat(np.arange(50), 4),
        categories=2,
        level=0.95,
        seed=1,
    )
    assert (copies.low, copies.high) == pytest.approx((once.low, once.high), abs=0.01)
    assert kappa_interval(human, judge, np.zeros(50, dtype=int), categories=2, level=0.95, seed=1) is None


def test_the_interval_of_kappa_covers():
    """Kappa 0.6 by construction; 300 tables of 60 labels in two categories."""
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(300):
        human = (generator.random(60) < 0.5).astype(int)
        judge = np.where(generator.random(60) < 0.6, human, (generator.random(60) < 0.5).astype(int))
        found = kappa_interval(human, judge, np.arange(60), categories=2, level=0.95, seed=1)
        covered += found.low <= 0.6 <= found.high
    assert covered / 300 > 0.91


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=40),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_correlations_equal_those_of_scipy(pairs, ranks):
    first, second = np.array(pairs, dtype=float).T
    found = correlate(first, second, np.arange(first.size), level=0.95, ranks=ranks)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert found.value is None
        return
    expected = (stats.spearmanr if ranks else stats.pearsonr)(first, second).statistic
    assert found.value == pytest.approx(float(expected), abs=1e-9)
    if first.size > 4:
        assert -1.0 <= found.interval.low <= found.value <= found.interval.high <= 1.0
        assert found.interval.high - found.interval.low > 0.01


@pytest.mark.parametrize("ranks", [False, True])
@pytest.mark.parametrize("samples", [20, 80])
def test_the_interval_of_a_correlation_covers(samples, ranks):
    """Normal data of correlation 0.6, whose Spearman is 6/π·asin(0.3); 400 data sets."""
    generator = np.random.default_rng([samples, ranks])
    target = 6.0 / math.pi * math.asin(0.3) if ranks else 0.6
    covered = 0
    for _ in range(400):
        first = generator.normal(size=samples)
        second = 0.6 * first + 0.8 * generator.normal(size=samples)
        found = correlate(first, second, np.arange(samples), level=0.95, ranks=ranks)
        covered += found.interval.low <= target <= found.interval.high
    assert covered / 400 > 0.92


@pytest.mark.parametrize("ranks", [False, True])
def test_the_error_of_a_correlation_is_that_of_the_bootstrap(ranks):
    generator = np.random.default_rng(9)
    first = generator.gamma(1.0, size=300)
    second = np.round(first + generator.gamma(1.0, size=300))
    found = correlate(first, second, np.arange(300), level=0.95, ranks=ranks)
    measure = stats.spearmanr if ranks else stats.pearsonr
    draws = []
    for _ in range(1500):
        rows = generator.integers(0, 300, 300)
        draws.append(math.atanh(measure(first[rows], second[rows]).statistic))
    width = math.atanh(found.interval.high) - math.atanh(found.interval.low)
    assert width / (2 * 1.97) == pytest.approx(np.std(draws), rel=0.12)


def test_a_perfect_correlation_of_ten_is_not_certain():
    found = correlate(np.arange(10.0), np.arange(10.0), np.arange(10), level=0.95, ranks=True)
    assert found.value == 1.0
    assert 0.0 < found.interval.low < 0.8
    assert correlate(np.arange(4.0), np.arange(4.0), np.arange(4), level=0.95, ranks=True).interval is None


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_correction_undoes_what_the_judge_does(rate, sensitivity, false_positives):
    seen = expected_judge_rate(rate, sensitivity, false_positives)
    found = corrected_rate(seen, sensitivity, false_positives)
    if abs(sensitivity - false_positives) < 1e-6:
        assert found is None or sensitivity != false_positives
        return
    assert found == pytest.approx(rate, abs=1e-6)


def test_the_worked_example_of_the_correction():
    assert expected_judge_rate(0.5, 1.0, 0.5) == 0.75
    assert corrected_rate(0.75, 1.0, 0.5) == 0.5
    assert corrected_rate(0.6, 0.3, 0.3) is None


def test_on_labelled_samples_alone_the_correction_is_what_people_say():
    """b + (a − b)·f holds exactly in the sample that a and b come from."""
    human, judge = labels_of([[60, 10], [5, 40]])
    found = correct_rate(judged(judge, human), level=0.95, seed=1)
    assert found.value == pytest.approx(human.mean(), rel=1e-12)
    assert found.interval.low < found.value < found.interval.high


@pytest.mark.parametrize(("table", "reason"), [
    ([[20, 20], [20, 20]], "the judge is not shown to be better than chance"),
    ([[5, 30], [30, 5]], "the judge is not shown to be better than chance"),
    ([[20, 20], [0, 0]], "no sample with the human label 1"),
    ([[0, 0], [20, 20]], "no sample with the human label 0"),
])  # fmt: skip
def test_nothing_is_corrected_where_nothing_can_be(table, reason):
    human, judge = labels_of(table)
    found = correct_rate(judged(judge, human), level=0.95, seed=1)
    assert (found.value, found.interval, found.reason) == (None, None, reason)


def test_a_correction_beyond_the_range_is_cut_off_and_says_so():
    human, judge = labels_of([[40, 10], [10, 40]])
    said = np.append(judge, np.arange(400) % 10 == 0)
    more = judged(said, np.append(human, np.full(400, math.nan)))
    found = correct_rate(more, level=0.95, seed=1)
    assert said.mean() < 0.2  # fewer than its false-positive rate alone would give
    assert (found.value, found.cut_off) == (0.0, True)
    assert found.interval.low == 0.0
    assert found.interval.high > 0.02


def test_error_rates_that_do_not_hold_elsewhere_correct_nothing():
    human, judge = labels_of([[40, 10], [10, 40]])
    for constant in (0.0, 1.0):
        more = judged(np.append(judge, np.full(900, constant)), np.append(human, np.full(900, math.nan)))
        found = correct_rate(more, level=0.95, seed=1)
        assert (found.value, found.interval) == (None, None)
        assert "no rate from 0 to 1" in found.reason


def test_the_corrected_rate_covers():
    generator = np.random.default_rng(11)
    covered = 0
    for _ in range(150):
        truth = (generator.random(500) < 0.3).astype(float)
        said = (generator.random(500) < np.where(truth == 1, 0.85, 0.15)).astype(float)
        human = np.where(np.arange(500) < 120, truth, math.nan)
        found = correct_rate(judged(said, human), level=0.95, seed=1)
        covered += found.interval.low <= 0.3 <= found.interval.high
    assert covered / 150 > 0.9


def test_separation_is_the_difference_of_two_independent_rates():
    """Its error is that of the two rates together, in a sample large enough for the normal theory."""
    human, judge = labels_of([[450, 150], [100, 300]])
    found = measure_separation(judged(judge, human), level=0.95, seed=1)
    error = math.sqrt(0.75 * 0.25 / 400 + 0.25 * 0.75 / 600)
    assert found.value == pytest.approx(0.5)
    assert found.interval.high - found.interval.low == pytest.approx(2 * 1.96 * error, rel=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_swapping_pass_and_fail_leaves_separation(seed):
    generator = np.random.default_rng(seed)
    human = (generator.random(60) < 0.4).astype(float)
    judge = np.where(generator.random(60) < 0.8, human, 1 - human)
    first = measure_separation(judged(judge, human), level=0.9, seed=1)
    second = measure_separation(judged(1 - judge, 1 - human), level=0.9, seed=1)
    assert second.value == pytest.approx(first.value, abs=1e-12)
    assert (second.interval.low, second.interval.high) == pytest.approx(
        (first.interval.low, first.interval.high), abs=1e-6
    )


def test_the_order_of_samples_leaves_no_trace():
    human, judge = labels_of([[30, 6], [4, 20]])
    order = np.random.default_rng(1).permutation(60)
    for one in (
        lambda rows: kappa_interval(
            human[rows], judge[rows], np.arange(60)[rows], categories=2, level=0.95, seed=1
        ),
        lambda rows: correct_rate(judged(judge[rows], human[rows]), level=0.95, seed=1).interval,
    ):
        first, second = one(np.arange(60)), one(order)
        assert (second.low, second.high) == pytest.approx((first.low, first.high), rel=1e-12)


def test_kappa_of_all_small_tables_is_at_most_the_agreement():
    """1 − (1 − p)/(1 − e) ≤ p for every chance agreement e; exact over all tables of four labels."""
    for cells in itertools.product(range(5), repeat=4):
        if sum(cells) != 4:
            continue
        found = cohens_kappa(np.array(cells, dtype=float).reshape(2, 2))
        assert found is None or found <= (cells[0] + cells[3]) / 4 + 1e-12
