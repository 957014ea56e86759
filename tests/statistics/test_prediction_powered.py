"""Prediction-powered estimates: against draws, normal theory, the formula of PPI++ and its authors' package."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statistics_pairs import pair

from gateline.statistics import Settings, Statistic, cluster_keys, gain_interval, value_interval
from gateline.statistics.mean_differences import ClusterMean, difference_ends
from gateline.statistics.prediction_powered import (
    ENOUGH_TO_TUNE,
    JudgedSamples,
    _ends_of_judge,
    prediction_powered_gain,
    prediction_powered_mean,
    tune_trust,
)

MEAN = Statistic("mean")


def judged(judge, human, cluster=None):
    """Build samples; None among the labels is no label."""
    judge = np.asarray(judge, dtype=float)
    human = np.array([math.nan if one is None else one for one in human], dtype=float)
    codes = np.arange(judge.size) if cluster is None else np.asarray(cluster)
    return JudgedSamples(
        judge, human, codes, cluster_keys([f"q{code}" for code in range(int(codes.max()) + 1)])
    )


def mean(samples, *, bounds=(0.0, 1.0), level=0.95, **options):
    return prediction_powered_mean(samples, level=level, bounds=bounds, settings=Settings(), **options)


def gain(samples, *, width=1.0, level=0.95, **options):
    return prediction_powered_gain(samples, level=level, width=width, settings=Settings(), **options)


def pass_fail(generator, *, samples, labelled, sensitivity=0.9, false_positives=0.1, rate=0.6):
    truth = (generator.random(samples) < rate).astype(float)
    said = np.where(
        truth == 1, generator.random(samples) < sensitivity, generator.random(samples) < false_positives
    )
    human = truth.copy()
    human[labelled:] = math.nan
    return judged(said, human)


def test_the_worked_example_by_hand():
    """Judge 0.5 over all ten, 0.6 over the five labelled; people 0.4 there; full trust takes 0.2 off."""
    samples = judged([1, 1, 1, 0, 0, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, *[None] * 5])
    found = mean(samples, trust=1.0)
    assert found.judge == 0.5
    assert found.human == 0.4
    assert found.rectifier == pytest.approx(0.4 - 0.6)
    assert found.value == pytest.approx(0.5 + 0.4 - 0.6)
    assert mean(samples, trust=0.5).value == pytest.approx(0.4 + 0.5 * (0.5 - 0.6))
    assert (found.samples, found.labelled, found.labelled_clusters) == (10, 5, 5)


@pytest.mark.parametrize("labelled", [8, 12, 40])
@pytest.mark.parametrize("spread", [0.02, 0.4])
def test_the_ends_of_a_difference_of_means_against_draws(labelled, spread):
    """200,000 draws of the weights, both parts sharing those of the labelled clusters."""
    generator = np.random.default_rng([labelled, int(spread * 100)])
    clusters = 60
    size = generator.integers(1, 4, clusters).astype(float)
    some = np.where(np.arange(clusters) < labelled, np.minimum(size, 2.0), 0.0)
    first = ClusterMean(some * generator.normal(0.3, spread, clusters), some, (-1.0, 0.7), fitted=1)
    second = ClusterMean(size * generator.beta(2, 3, clusters), size, (0.0, 1.0))
    level = 0.9
    found = difference_ends(first, second, level=level, seed=3)
    from scipy.special import ndtr

    from gateline.statistics.end_points import adjusted_deviate
    from gateline.statistics.mean_differences import _effective_clusters

    tail = ndtr(adjusted_deviate(level, _effective_clusters(first, second)))
    draws = []
    for _ in range(20):
        weights = generator.standard_exponential((clusters, 10_000))
        ends = generator.standard_gamma(0.5, (4, 10_000))
        means = []
        for one, (low, high), own in ((first, first.ends, ends[:2]), (second, second.ends, ends[2:])):
            above = one.total @ weights + one.size * (low * own[0] + high * own[1])
            means.append(above / (one.count @ weights + one.size * own.sum(axis=0)))
        draws.append(means[1] - means[0])
    expected = np.quantile(np.concatenate(draws), [tail, 1 - tail])
    width = expected[1] - expected[0]
    allowed = 0.03 if labelled < 10 else 0.015  # below 10 labelled clusters 20,000 draws decide
    assert [found.low, found.high] == pytest.approx(expected, abs=allowed * width)
    assert (found.draws > 0) == (labelled < 10)


def test_the_width_is_that_of_the_normal_theory_in_large_samples():
    """Var = Var(Y − λf)/n + λ²·Var(f)/N + 2λ·Cov(Y − λf, f)/N, the labelled samples among the N."""
    samples = pass_fail(np.random.default_rng(2), samples=20_000, labelled=4_000)
    found = mean(samples)
    known = samples.has_label
    rest = samples.human[known] - found.trust * samples.judge[known]
    together = np.cov(rest, samples.judge[known])[0, 1]
    variance = (
        rest.var() / known.sum()
        + found.trust**2 * samples.judge.var() / known.size
        + 2 * found.trust * together / known.size
    )
    assert found.interval.high - found.interval.low == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.01)


def test_the_weight_is_the_plug_in_of_ppi_plus_plus():
    """Their λ weighs the mean of the unlabelled alone: Cov(Y, f) / ((1 + n/m)·Var f) with n labelled, m not."""
    samples = pass_fail(np.random.default_rng(3), samples=900, labelled=300)
    known = samples.has_label
    human, judge = samples.human[known], samples.judge[known]
    trust = tune_trust(samples)
    theirs = np.cov(human, judge)[0, 1] / ((1 + 300 / 600) * judge.var(ddof=1))
    assert trust * 600 / 900 == pytest.approx(theirs, rel=1e-12)
    unlabelled = samples.judge[~known]
    assert mean(samples).value == pytest.approx(
        human.mean() + theirs * (unlabelled.mean() - judge.mean()), rel=1e-12
    )


def test_against_the_package_of_the_authors():
    ppi = pytest.importorskip("ppi_py")
    samples = pass_fail(np.random.default_rng(4), samples=2_400, labelled=600)
    known = samples.has_label
    found = mean(samples)
    given_to = (samples.human[known], samples.judge[known], samples.judge[~known])
    weight = found.trust * (~known).sum() / known.size
    assert found.value == pytest.approx(
        float(ppi.ppi_mean_pointestimate(*given_to, lam=weight).item()), rel=1e-9
    )
    low, high = (float(np.ravel(end)[0]) for end in ppi.ppi_mean_ci(*given_to, alpha=0.05, lam=weight))
    assert found.interval.low == pytest.approx(low, abs=0.02 * (high - low))
    assert found.interval.high == pytest.approx(high, abs=0.02 * (high - low))
    tuned = float(
        np.ravel(ppi.ppi_mean_pointestimate(*given_to))[0]
    )  # their own tuning, variance over both parts
    assert found.value == pytest.approx(tuned, abs=0.05 * (high - low))


@pytest.mark.parametrize("samples", [60, 400])
def test_a_perfect_judge_is_taken_at_its_word(samples):
    generator = np.random.default_rng(samples)
    said = (generator.random(samples) < 0.7).astype(float)
    human = np.where(np.arange(samples) < samples // 2, said, math.nan)
    found = mean(judged(said, human))
    assert found.trust == 1.0
    assert found.value == pytest.approx(said.mean(), rel=1e-12)
    alone = value_interval(
        pair(said, said), "candidate", MEAN, level=0.95, bounds=(0.0, 1.0), settings=Settings()
    )
    # An error that has not been seen yet is still possible: a little wider, the less the more was labelled.
    width, plain = (one.high - one.low for one in (found.interval, alone))
    assert found.interval.low <= alone.low
    assert found.interval.high >= alone.high
    assert width / plain == pytest.approx(1.0, abs=8.0 / math.sqrt(samples) ** 1.5)


def test_a_judge_that_knows_nothing_leaves_what_people_say():
    human = [1, 0] * 20 + [None] * 200
    said = [1, 1, 0, 0] * 10 + [1, 0] * 100
    found = mean(judged(said, human))
    assert found.trust == 0.0
    assert found.value == found.human == 0.5
    alone = value_interval(
        pair([1, 0] * 20, [1, 0] * 20), "candidate", MEAN, level=0.95, bounds=(0.0, 1.0), settings=Settings()
    )
    assert (found.interval.low, found.interval.high) == pytest.approx((alone.low, alone.high), rel=1e-9)


def test_a_judge_that_says_the_opposite_gets_no_weight():
    human = [1, 0] * 20 + [None] * 200
    said = [0, 1] * 20 + [1, 0] * 100
    assert tune_trust(judged(said, human)) == 0.0


def test_few_labels_do_not_tune():
    human = [1.0, 0.0] * 4 + [None] * 30
    assert ENOUGH_TO_TUNE > 8
    found = mean(judged([1, 0] * 19, human))
    assert found.trust == 0.0
    assert found.value == found.human


def test_where_people_have_seen_all_they_decide_alone():
    found = mean(judged([1, 1, 0, 0] * 5, [1, 0] * 10))
    assert found.trust == 0.0
    assert found.value == 0.5


@pytest.mark.parametrize("bounds", [(0.0, 1.0), None])
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0, None])
def test_an_interval_without_spread_does_not_collapse(bounds, weight):
    samples = judged([1.0] * 40, [1.0] * 15 + [None] * 25)
    for found in (
        mean(samples, bounds=bounds, trust=weight),
        gain(
            judged([0.0] * 39 + [1.0], [0.0] * 15 + [None] * 25), width=1.0 if bounds else None, trust=weight
        ),
    ):
        assert found.interval.high - found.interval.low > 0.05
        assert found.interval.low <= found.value <= found.interval.high


def test_no_label_is_no_estimate_and_one_cluster_no_interval():
    nobody = mean(judged([1, 0, 1], [None] * 3))
    assert (nobody.value, nobody.interval, nobody.human, nobody.rectifier) == (None, None, None, None)
    assert nobody.judge == pytest.approx(2 / 3)
    alone = mean(judged([1, 0, 1], [1, None, None]))
    assert alone.value == 1.0
    assert alone.interval is None
    nothing = JudgedSamples(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64), cluster_keys([]))
    assert mean(nothing).value is None
    with pytest.raises(ValueError, match="without a judge's value"):
        judged([math.nan], [1.0])


def test_samples_that_answer_as_one_are_one():
    """Five copies of each sample in a cluster of its own leave the interval of the samples themselves."""
    once = pass_fail(np.random.default_rng(6), samples=150, labelled=40)
    copies = judged(np.repeat(once.judge, 5), np.repeat(once.human, 5), np.repeat(np.arange(150), 5))
    first, second = mean(once), mean(copies)
    assert second.value == pytest.approx(first.value, rel=1e-12)
    assert (second.interval.low, second.interval.high) == pytest.approx(
        (first.interval.low, first.interval.high), rel=1e-6
    )


def test_a_cluster_may_hold_samples_with_and_without_a_label():
    generator = np.random.default_rng(7)
    samples = pass_fail(generator, samples=200, labelled=60)
    order = generator.permutation(200)
    mixed = judged(samples.judge[order], samples.human[order], np.arange(200) // 2)
    found = mean(mixed)
    assert 0 < found.labelled_clusters < 60
    assert found.interval.low < found.value < found.interval.high


SMALL = st.integers(min_value=0, max_value=10_000)


@given(SMALL)
@settings(max_examples=25, deadline=None)
def test_the_order_of_samples_and_the_codes_of_clusters_leave_no_trace(seed):
    generator = np.random.default_rng(seed)
    samples = pass_fail(generator, samples=80, labelled=30)
    order = generator.permutation(80)
    codes = generator.permutation(80)
    keys = np.empty_like(samples.keys)
    keys[codes] = samples.keys
    moved = JudgedSamples(samples.judge[order], samples.human[order], codes[samples.cluster[order]], keys)
    first, second = mean(samples), mean(moved)
    assert second.value == pytest.approx(first.value, rel=1e-12)
    assert (second.interval.low, second.interval.high) == pytest.approx(
        (first.interval.low, first.interval.high), rel=1e-7
    )


@given(SMALL)
@settings(max_examples=25, deadline=None)
def test_turning_pass_and_fail_round_mirrors_the_estimate(seed):
    samples = pass_fail(np.random.default_rng(seed), samples=90, labelled=30)
    turned = JudgedSamples(1.0 - samples.judge, 1.0 - samples.human, samples.cluster, samples.keys)
    first, second = mean(samples), mean(turned)
    assert second.value == pytest.approx(1.0 - first.value, abs=1e-9)
    assert (second.interval.low, second.interval.high) == pytest.approx(
        (1.0 - first.interval.high, 1.0 - first.interval.low), abs=1e-5
    )


@given(SMALL, st.floats(min_value=-0.3, max_value=0.3))
@settings(max_examples=25, deadline=None)
def test_a_constant_error_of_the_judge_does_no_harm(seed, shift):
    generator = np.random.default_rng(seed)
    truth = generator.normal(0.05, 0.2, 60)
    said = truth + generator.normal(0.0, 0.1, 60)
    human = np.where(np.arange(60) < 20, truth, math.nan)
    first, second = (gain(judged(values, human), width=None) for values in (said, said + shift))
    assert second.trust == pytest.approx(first.trust, abs=1e-9)
    assert second.value == pytest.approx(first.value, abs=1e-9)


@given(SMALL)
@settings(max_examples=25, deadline=None)
def test_a_gain_turned_round_is_a_loss(seed):
    generator = np.random.default_rng(seed)
    truth = generator.choice([-1.0, 0.0, 0.0, 0.0, 1.0], 70)
    said = np.where(generator.random(70) < 0.8, truth, 0.0)
    human = np.where(np.arange(70) < 25, truth, math.nan)
    first, second = gain(judged(said, human)), gain(judged(-said, -human))
    assert second.value == pytest.approx(-first.value, abs=1e-12)
    assert (second.interval.low, second.interval.high) == pytest.approx(
        (-first.interval.high, -first.interval.low), abs=1e-5
    )


def test_the_gain_of_people_alone_is_that_of_the_gate_where_a_tenth_differs():
    """With a weight of 0 the interval is close to `gain_interval` of the labelled pairs."""
    generator = np.random.default_rng(8)
    human = generator.choice([-1.0, 0.0, 1.0], 200, p=[0.15, 0.8, 0.05])
    samples = judged(np.zeros(300), [*human, *[None] * 100])
    found = gain(samples, trust=0.0)
    plain = gain_interval(
        pair(np.zeros(200), human), MEAN, sign=1.0, relative=False, level=0.95, width=1.0, settings=Settings()
    )
    assert (found.interval.low, found.interval.high) == pytest.approx((plain.low, plain.high), abs=0.01)


@pytest.mark.parametrize(
    ("labelled", "sensitivity", "false_positives"), [(30, 0.9, 0.1), (60, 0.97, 0.02), (100, 0.6, 0.3)]
)
def test_it_covers_at_its_nominal_rate(labelled, sensitivity, false_positives):
    """300 data sets; at 95 % and a standard error of 1.3 % less than 91 % would be a finding."""
    generator = np.random.default_rng([labelled, 1])
    covered, narrower = 0, []
    for _ in range(300):
        samples = pass_fail(
            generator,
            samples=300,
            labelled=labelled,
            sensitivity=sensitivity,
            false_positives=false_positives,
        )
        found = mean(samples)
        covered += found.interval.low <= 0.6 <= found.interval.high
        alone = mean(samples, trust=0.0)
        narrower.append(
            (found.interval.high - found.interval.low) / (alone.interval.high - alone.interval.low)
        )
    assert covered / 300 > 0.91
    assert np.mean(narrower) < 0.98


# --- what the end points and the interval are made of ---


def end_points_of_judge(judge, weight=0.5, bounds=(-1.0, 1.0), *, of_gain=True):
    samples = judged(judge, judge)
    seen = (samples.judge, samples.human)
    return _ends_of_judge(samples.sums, weight, bounds, seen, of_gain=of_gain)


def test_the_end_points_of_the_judge_are_those_of_a_gain_or_of_a_value():
    spread = np.concatenate([np.linspace(0.2, 0.5, 12), np.zeros(3)])
    centre = spread.mean()
    distance = max(0.5 - centre, centre)
    found = end_points_of_judge(spread)
    assert found == pytest.approx((0.5 * (centre - distance), 0.5 * (centre + distance)))
    far = np.concatenate([np.full(11, 0.9), [-0.4]])  # the end point above would lie past the range
    centre = far.mean()
    assert end_points_of_judge(far) == pytest.approx((0.5 * -0.4, 0.5 * 1.0))
    assert 2.0 * centre + 0.4 > 1.0
    few = np.concatenate([np.linspace(0.2, 0.5, 9), np.zeros(6)])
    assert end_points_of_judge(few) == (-0.5, 0.5)
    assert end_points_of_judge(np.full(15, 0.3)) == (-0.5, 0.5)  # nothing is known of how they vary
    assert end_points_of_judge(spread, bounds=(0.0, 1.0), of_gain=False) == (0.0, 0.5)
    assert end_points_of_judge(spread, weight=0.0) == (0.0, 0.0)


def test_without_a_range_the_end_points_lie_further_out_than_what_was_seen():
    spread = np.linspace(2.0, 6.0, 25)
    reach = 2.0 * (1.0 + 5.0 / math.sqrt(25))
    assert end_points_of_judge(spread, 1.0, None) == pytest.approx((4.0 - reach, 4.0 + reach))
    assert end_points_of_judge(np.full(25, 3.0), 1.0, None) == pytest.approx((0.0, 6.0))


def test_without_a_sample_there_is_no_estimate_and_nothing_is_counted():
    nothing = JudgedSamples(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64), cluster_keys([]))
    found = gain(nothing)
    assert (found.value, found.interval, found.human, found.rectifier) == (None, None, None, None)
    assert math.isnan(found.judge)
    assert (found.samples, found.labelled, found.labelled_clusters, found.trust) == (0, 0, 0, 0.0)


@pytest.mark.parametrize("labelled", [8, 30])
def test_the_interval_says_how_many_draws_it_took(labelled):
    generator = np.random.default_rng(5)
    judge = generator.beta(2, 2, size=60)
    human = np.where(np.arange(60) < labelled, np.clip(judge + generator.normal(0, 0.1, 60), 0, 1), math.nan)
    interval = mean(judged(judge, human), trust=0.7).interval
    assert interval.method == "bayesian"
    assert interval.level == 0.95
    assert (interval.resamples is None) == (labelled >= 10)
    assert interval.resamples is None or interval.resamples >= 10_000


@pytest.mark.parametrize("turned", [False, True])
def test_a_mean_is_cut_off_at_the_range_at_either_end(turned):
    # The judge passes nine of ten that people fail: what is taken off it is as large as what it says.
    judge = np.concatenate([np.ones(9), np.zeros(1), np.ones(27), np.zeros(3)])
    human = [0.0] * 10 + [None] * 30
    if turned:
        judge, human = 1.0 - judge, [None if one is None else 1.0 - one for one in human]
    samples = judged(judge, human)
    found = mean(samples, trust=1.0)
    free = gain(samples, trust=1.0)  # a gain is not cut off at 0
    assert found.value == pytest.approx(1.0 if turned else 0.0)
    if turned:
        assert free.interval.high > 1.0
        assert found.interval.high == 1.0
        assert found.interval.low > 0.0
    else:
        assert free.interval.low < 0.0
        assert found.interval.low == 0.0
        assert found.interval.high < 1.0


def test_the_end_points_of_both_parts_reach_the_interval():
    """The interval is that of the difference whose two parts have the end points said here."""
    generator = np.random.default_rng(9)
    judge = np.where(
        np.arange(40) < 6, generator.choice([-0.5, 0.5], 40), 0.0
    )  # few differ: the range about 0
    human = np.where(np.arange(40) < 20, np.clip(judge + generator.normal(0, 0.2, 40), -1, 1), math.nan)
    samples = judged(judge, human)
    found = gain(samples, trust=0.5)
    sums = samples.sums
    excess = (0.5 * judge - human)[:20]
    distance = np.abs(excess - excess.mean()).max()
    ends = (max(excess.mean() - distance, -1.5), min(excess.mean() + distance, 1.5))
    parts = (
        ClusterMean(0.5 * sums.judge_labelled - sums.human, sums.labelled, ends),
        ClusterMean(0.5 * sums.judge, sums.count, (-0.5, 0.5)),
    )
    expected = difference_ends(*parts, level=0.95, seed=Settings().seed)
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
