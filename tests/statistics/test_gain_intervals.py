"""Intervals of gains: against draws from the definition, and the properties that hold for any data."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv, ndtr, stdtrit
from scipy.stats import binom
from statistics_pairs import interval_of, pair, take

from gateline.statistics import Note, Paired, Settings, Statistic, cluster_keys, gain
from gateline.statistics.draws import Grouping, WeightedQuantile
from gateline.statistics.weights import CHUNK, KeyedWeights, weighted_sums

MEAN, RATIO, TOTAL, MEDIAN = (
    Statistic("mean"),
    Statistic("ratio"),
    Statistic("total"),
    Statistic("quantile", 0.5),
)
P95 = Statistic("quantile", 0.95)


def adjusted_tail(level, clusters):
    """Step 4 of the method, written out again."""
    return ndtr(math.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, 0.5 * (1.0 - level)))


# --- against oracles ---


@pytest.mark.parametrize(("count", "lost"), [(12, 0), (20, 1), (40, 3), (150, 7)])
def test_losses_alone_have_a_closed_form_with_one_end_point_per_side(count, lost):
    # The lower end knows one end point, at −1 with weight 3/4: a Beta. The upper end has one at +1: drawn here.
    generator = np.random.default_rng(count)
    baseline, candidate = np.ones(count), np.concatenate([np.zeros(lost), np.ones(count - lost)])
    loses = generator.standard_gamma(lost, size=1_000_000) if lost else np.zeros(1_000_000)
    same = generator.standard_gamma(count - lost, size=1_000_000)
    up = generator.standard_gamma(0.75, size=1_000_000)
    tail = adjusted_tail(0.95, count)
    low = -betaincinv(lost + 0.75, count - lost, 1.0 - tail)
    high = np.quantile((up - loses) / (loses + same + up), 1.0 - tail)
    found = interval_of(pair(baseline, candidate), MEAN, width=1.0)
    assert found.low == pytest.approx(low, rel=1e-6)
    assert found.high == pytest.approx(max(high, -lost / count), abs=0.02 * (high - low))
    assert found.resamples is None
    assert found.method == "bayesian"


@pytest.mark.parametrize("count", [20, 50, 100, 200, 500])
def test_whatever_the_rate_of_losses_the_lower_end_misses_at_most_four_percent(count):
    # Exact: for each possible number of losses the lower end, and then the chance of those it misses the truth for.
    most = min(count, math.ceil(0.3 * count) + 12)
    lows = np.array(
        [
            interval_of(pair(np.ones(count), np.arange(count) >= lost), MEAN, width=1.0).low
            for lost in range(most + 1)
        ]
    )
    worst = 0.0
    for rate in np.linspace(0.002, 0.3, 600):
        chance = binom.pmf(np.arange(most + 1), count, rate)
        worst = max(worst, float(chance[lows > -rate + 1e-12].sum()))
    assert 0.025 < worst < 0.0415


@pytest.mark.parametrize(("count", "lost", "gained"), [(6, 1, 0), (9, 3, 2), (9, 0, 0)])
def test_ratios_of_few_clusters_are_drawn_with_one_end_point_per_side(count, lost, gained):
    generator = np.random.default_rng(count)
    weight = np.array([generator.permutation([1, 2, 3])[0] for _ in range(count)], dtype=float)
    before, after = weight.copy(), weight + 1.0
    after[:lost] -= 1.0
    baseline, candidate = before * 0.5, after * 0.5
    candidate[:lost] -= 0.5
    candidate[lost : lost + gained] += 0.5
    paired = pair(baseline, candidate, baseline_weight=before, candidate_weight=after)
    found = interval_of(paired, RATIO, width=1.0, chosen=Settings())
    draws = 400_000
    weights = generator.standard_exponential((count, draws))
    point = generator.standard_gamma(0.75, size=draws)
    middle = 0.5 * (baseline.sum() / before.sum() + candidate.sum() / after.sum())
    drawn = []
    for side in (-0.5, 0.5):
        first = (baseline @ weights + before.mean() * point * (middle - side)) / (
            before @ weights + before.mean() * point
        )
        second = (candidate @ weights + after.mean() * point * (middle + side)) / (
            after @ weights + after.mean() * point
        )
        drawn.append(second - first)
    tail = adjusted_tail(0.95, count)
    expected = np.quantile(drawn[0], tail), np.quantile(drawn[1], 1.0 - tail)
    spread = expected[1] - expected[0]
    assert found.resamples is not None
    assert (found.low, found.high) == pytest.approx(expected, abs=0.03 * spread)


@pytest.mark.parametrize("worse", range(1, 10))
@pytest.mark.parametrize("count", [7, 20, 200])
def test_without_a_range_a_few_that_got_worse_make_nothing_surer(count, worse):
    before = np.random.default_rng(count).lognormal(size=count)
    unchanged = interval_of(pair(before, before), MEAN)
    after = before - 0.01 * (np.arange(count) < worse)
    assert interval_of(pair(before, after), MEAN).low < unchanged.low


@pytest.mark.parametrize(
    ("statistic", "relative"), [(MEAN, False), (TOTAL, False), (MEAN, True), (TOTAL, True)]
)
def test_clusters_and_repeats_weigh_as_wholes(statistic, relative):
    generator = np.random.default_rng(7)
    cluster = np.sort(generator.integers(0, 25, size=90))
    baseline = generator.lognormal(size=90)
    paired = pair(baseline, baseline * generator.lognormal(sigma=0.4, size=90), cluster=cluster)
    codes, counts = np.unique(cluster, return_counts=True)
    changes = np.array([(paired.candidate - paired.baseline)[cluster == code].sum() for code in codes])
    before = np.array([baseline[cluster == code].sum() for code in codes])
    draws = 400_000
    weights = generator.standard_exponential((codes.size, draws))
    up, down = generator.standard_gamma(0.5, size=(2, draws))
    reach = np.abs(changes / counts).max() * (1.0 + 5.0 / math.sqrt(codes.size))
    above = changes @ weights + counts.mean() * reach * (up - down)
    if relative:
        drawn = above / (before @ weights + before.mean() * (up + down))
    else:
        drawn = above / (counts @ weights + counts.mean() * (up + down))
    drawn *= 90 if statistic is TOTAL and not relative else 1
    tail = adjusted_tail(0.95, codes.size)
    expected = np.quantile(drawn, [tail, 1.0 - tail])
    found = interval_of(paired, statistic, relative=relative)
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.02 * (expected[1] - expected[0]))


@pytest.mark.parametrize("probability", [0.05, 0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(("count", "clusters"), [(2, 2), (30, 30), (30, 8), (3_000, 3_000), (3_000, 40)])
def test_weighted_quantiles_are_those_of_the_whole_sample(count, clusters, probability):
    generator = np.random.default_rng([count, clusters])
    cluster = np.append(np.arange(clusters), generator.integers(0, clusters, size=count - clusters))
    values = np.round(generator.lognormal(size=count), 1)
    paired = pair(values, values, cluster=cluster)
    grouping = Grouping.of(paired)
    source = KeyedWeights(3, grouping.keys)
    quantile = WeightedQuantile.of(paired, grouping, "baseline", probability)
    counts = np.column_stack([quantile.below, paired.clusters.count])
    picked = quantile.pick(source, 0, *weighted_sums(counts, source, 0))
    order = np.argsort(values, kind="stable")
    some = np.arange(0, CHUNK, 97)
    weights = np.stack([source.row(group, 0)[some] for group in paired.clusters.member[order]]).astype(float)
    reached = np.cumsum(weights, axis=0) >= probability * weights.sum(axis=0) * (1.0 - 1e-12)
    assert np.array_equal(picked[some], values[order][reached.argmax(axis=0)])


def test_the_gain_of_a_median_of_three_is_that_of_all_orderings():
    # Weights of three samples: the weighted median is the middle value unless one weight exceeds the other two,
    # which has chance 1/4 for each (broken stick). Gain: candidate − baseline with the same weights.
    paired = pair([1.0, 2.0, 3.0], [1.0, 2.0, 30.0])
    source = KeyedWeights(1, Grouping.of(paired).keys)
    grouping = Grouping.of(paired)
    quantile = WeightedQuantile.of(paired, grouping, "candidate", 0.5)
    picked = np.concatenate(
        [
            quantile.pick(
                source,
                chunk,
                *weighted_sums(np.column_stack([quantile.below, np.ones(3)]), source, chunk),
            )
            for chunk in range(4)
        ]
    )
    for value, chance in ((1.0, 0.25), (2.0, 0.5), (30.0, 0.25)):
        assert np.mean(picked == value) == pytest.approx(chance, abs=5.0 * math.sqrt(0.25 / picked.size))


# --- what is said and refused ---


def test_fewer_than_two_clusters_have_no_interval():
    assert interval_of(pair([1.0], [0.0]), MEAN, width=1.0) is None
    assert interval_of(pair([1.0, 0.5], [0.0, 1.0], cluster=[0, 0]), MEAN, width=1.0) is None
    assert interval_of(pair([], []), MEAN, width=1.0) is None


def test_a_gain_without_a_value_has_no_interval():
    assert interval_of(pair([0.0, 0.0], [1.0, 1.0]), MEAN, relative=True) is None
    empty = pair([0.0, 0.0], [0.0, 0.0], baseline_weight=[0.0, 0.0], candidate_weight=[1.0, 2.0])
    assert interval_of(empty, RATIO, width=1.0) is None


def test_twelve_of_twelve_passed_twice_is_still_a_sample_of_twelve():
    found = interval_of(pair(np.ones(12), np.ones(12)), MEAN, width=1.0)
    assert found.low == pytest.approx(-found.high)
    assert 0.15 < found.high < 0.4


def test_without_a_range_and_a_difference_the_interval_says_what_it_rests_on():
    found = interval_of(pair(np.full(20, 3.0), np.full(20, 3.0)), MEAN)
    assert found.low < 0.0 < found.high
    assert found.notes == (Note("note.largest-for-range"),)
    assert interval_of(pair(np.full(20, 3.0), [3.1, *[3.0] * 19]), MEAN).notes == found.notes
    nothing = interval_of(pair(np.zeros(20), np.zeros(20)), MEAN)
    assert (nothing.low, nothing.high) == (0.0, 0.0)
    assert nothing.notes == (Note("note.no-range"),)


@pytest.mark.parametrize(
    ("probability", "needed"), [(0.5, 4), (0.9, 20), (0.95, 40), (0.99, 200), (0.05, 40)]
)
def test_a_quantile_that_too_few_lie_beyond_has_no_ends(probability, needed):
    generator = np.random.default_rng(2)
    before, after = generator.lognormal(size=(2, needed))
    quantile = Statistic("quantile", probability)
    enough = interval_of(pair(before, after), quantile)
    assert enough.low is not None
    assert enough.high is not None
    too_few = interval_of(pair(before[1:], after[1:]), quantile)
    assert (too_few.low, too_few.high) == (None, None)
    assert [(note.key, note.values) for note in too_few.notes] == [
        ("note.quantile-gain-needs", {"needed": str(needed), "samples": str(needed - 1)})
    ]


def few_ratios(seed):
    """Return ratios of sums of eight clusters, whose gain can only be drawn."""
    generator = np.random.default_rng(seed)
    weights = generator.integers(1, 5, size=(2, 8)).astype(float)
    values = generator.lognormal(size=(2, 8))
    return pair(*values, baseline_weight=weights[0], candidate_weight=weights[1])


def test_a_family_too_deep_for_draws_takes_an_extreme_draw_and_says_so():
    found = interval_of(few_ratios(2), RATIO, level=1.0 - 0.05 / 200)
    assert found.resamples == 200_000
    assert any(note.key.startswith("note.family-takes-") for note in found.notes)


def test_each_tail_rests_on_fifty_draws():
    level = 0.975
    found = interval_of(few_ratios(2), RATIO, level=level)
    assert found.resamples == math.ceil(50 / adjusted_tail(level, 8))


def test_a_limit_near_an_end_is_looked_at_with_more_draws():
    paired = few_ratios(5)
    plain = interval_of(paired, RATIO, chosen=Settings())
    near = interval_of(paired, RATIO, chosen=Settings(), limits=(plain.low,))
    assert near.resamples > plain.resamples == 10_000
    assert any(note.key.startswith("note.limit-") for note in near.notes)
    far = interval_of(paired, RATIO, chosen=Settings(), limits=(plain.low - 10.0,))
    assert far == plain


def test_another_seed_hardly_moves_the_ends_of_few_clusters_near_a_limit():
    paired = few_ratios(5)
    plain = interval_of(paired, RATIO, chosen=Settings(resamples=1_000_000))
    half = 0.5 * (plain.high - plain.low)
    found = [interval_of(paired, RATIO, chosen=Settings(seed=seed), limits=(plain.low,)) for seed in range(4)]
    assert {interval.resamples for interval in found} == {4_000_000}
    assert max(abs(interval.low - plain.low) for interval in found) < 0.01 * half


def test_the_first_draws_stay_when_more_are_made():
    generator = np.random.default_rng(5)
    paired = pair(generator.lognormal(size=30), generator.lognormal(size=30))
    a = interval_of(paired, MEDIAN, chosen=Settings(resamples=40_000))
    b = interval_of(paired, MEDIAN, chosen=Settings(resamples=10_000))
    assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=0.1 * (b.high - b.low))
    assert a != b


@pytest.mark.parametrize("statistic", [MEAN, MEDIAN])
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_very_small_and_very_large_numbers_take_the_same_path(statistic, scale):
    generator = np.random.default_rng(9)
    before, after = generator.normal(size=(2, 40))
    plain = interval_of(pair(before, after), statistic)
    scaled = interval_of(pair(scale * before, scale * after), statistic)
    assert (scaled.low / scale, scaled.high / scale) == pytest.approx((plain.low, plain.high), rel=1e-9)


def test_very_many_clusters_are_drawn_in_groups_with_nearly_the_same_width():
    generator = np.random.default_rng(1)
    count = 12_000
    before = generator.normal(size=count)
    paired = pair(before, before + generator.normal(size=count))
    found = interval_of(paired, MEDIAN, chosen=Settings())
    assert Grouping.of(paired).size == 4_096 or Grouping.of(paired).size > 3_800
    # Theory for the difference of two medians of one sample: the influence functions, with normal densities.
    densities = np.array([1.0, 1.0 / math.sqrt(2.0)]) / math.sqrt(2.0 * math.pi)
    share_both = 0.25 + math.asin(1.0 / math.sqrt(2.0)) / (2.0 * math.pi)
    variance = 0.25 / densities[0] ** 2 + 0.25 / densities[1] ** 2
    variance -= 2.0 * (share_both - 0.25) / densities.prod()
    expected = 2.0 * 1.96 * math.sqrt(variance / count)
    assert found.high - found.low == pytest.approx(expected, rel=0.1)


# --- properties ---

steps = st.integers(-8, 8).map(lambda step: step / 8)


@st.composite
def paired_values(draw, *, least=2, most=25, positive=False):
    count = draw(st.integers(least, most))
    lists = st.lists(steps, min_size=count, max_size=count)
    baseline, candidate = np.array(draw(lists)), np.array(draw(lists))
    if positive:
        baseline, candidate = baseline + 1.125, candidate + 1.125
    clusters = draw(st.integers(2, count))
    cluster = np.array(draw(st.lists(st.integers(0, clusters - 1), min_size=count, max_size=count)))
    return pair(baseline, candidate, cluster=cluster, names=[f"cluster {code}" for code in range(clusters)])


@st.composite
def paired_ratios(draw, *, least=2, most=25):
    count = draw(st.integers(least, most))
    amounts = st.lists(st.integers(0, 6), min_size=count, max_size=count)
    parts = np.array([draw(amounts) for _ in range(2)], dtype=float)
    wholes = parts + np.array([draw(amounts) for _ in range(2)])
    assume((wholes.sum(axis=1) > 0).all())
    return pair(parts[0], parts[1], baseline_weight=wholes[0], candidate_weight=wholes[1])


def swapped(paired):
    return Paired(
        paired.candidate,
        paired.baseline,
        paired.candidate_weight,
        paired.baseline_weight,
        paired.cluster,
        paired.keys,
    )


def ends(interval):
    return None if interval is None else (interval.low, interval.high)


def close(first, second, *, scale=1.0, tolerance=1e-9):
    if first is None or second is None:
        return first is second
    size = max(abs(end) for end in (*first, *second) if end is not None) if any(first) or any(second) else 1.0
    return all(
        (a is None) == (b is None) and (a is None or abs(scale * a - b) <= tolerance * max(size, 1e-300))
        for a, b in zip(first, second, strict=True)
    )


ANY = st.one_of(
    st.tuples(paired_values(), st.sampled_from([MEAN, TOTAL, MEDIAN, P95])),
    st.tuples(paired_ratios(), st.just(RATIO)),
)
WIDTH = st.sampled_from([None, 2.0])


@settings(deadline=None, max_examples=80)
@given(data=ANY, width=WIDTH)
def test_swapping_the_runs_mirrors_everything(data, width):
    paired, statistic = data
    there = interval_of(paired, statistic, width=width)
    back = interval_of(swapped(paired), statistic, width=width)
    turned = interval_of(paired, statistic, width=width, sign=-1.0)
    assert gain(paired, statistic, 1.0) == pytest.approx(-gain(swapped(paired), statistic, 1.0), abs=1e-12)
    if there is None:
        assert back is None
        return
    mirrored = tuple(None if end is None else -end for end in (there.high, there.low))
    assert close(mirrored, ends(back))
    assert close(mirrored, ends(turned))


@settings(deadline=None, max_examples=60)
@given(data=ANY, width=WIDTH, factor=st.sampled_from([1e-6, 0.125, 3.0, 1e9]))
def test_another_unit_scales_the_interval(data, width, factor):
    paired, statistic = data
    other = Paired(
        factor * paired.baseline,
        factor * paired.candidate,
        paired.baseline_weight,
        paired.candidate_weight,
        paired.cluster,
        paired.keys,
    )
    plain = ends(interval_of(paired, statistic, width=width))
    scaled = ends(interval_of(other, statistic, width=None if width is None else factor * width))
    assert (plain is None) == (scaled is None)
    if plain is not None:
        expected = tuple(None if end is None else factor * end for end in plain)
        dust = all(end is not None and abs(end) <= 1e-14 * factor for end in (*expected, *scaled))
        assert dust or close(expected, scaled, tolerance=1e-8)


@settings(deadline=None, max_examples=60)
@given(paired=paired_values(), statistic=st.sampled_from([MEAN, TOTAL, MEDIAN, P95]), shift=steps)
def test_a_constant_in_both_runs_changes_no_absolute_gain(paired, statistic, shift):
    moved = Paired(
        paired.baseline + shift,
        paired.candidate + shift,
        None,
        None,
        paired.cluster,
        paired.keys,
    )
    assume(paired.clusters.differing > 0)
    assert close(
        ends(interval_of(paired, statistic, width=2.0)), ends(interval_of(moved, statistic, width=2.0))
    )


@settings(deadline=None, max_examples=60)
@given(data=ANY, width=WIDTH, relative=st.booleans(), order=st.randoms(use_true_random=False))
def test_the_order_of_rows_and_other_clusters_change_nothing(data, width, relative, order):
    paired, statistic = data
    rows = list(range(len(paired)))
    order.shuffle(rows)
    shuffled = take(paired, np.array(rows))
    more = cluster_keys([f"stranger {number}" for number in range(5)])
    surrounded = Paired(
        shuffled.baseline,
        shuffled.candidate,
        shuffled.baseline_weight,
        shuffled.candidate_weight,
        shuffled.cluster + 5,
        np.concatenate([more, shuffled.keys]),
    )
    plain = ends(interval_of(paired, statistic, width=width, relative=relative))
    other = ends(interval_of(surrounded, statistic, width=width, relative=relative))
    # Sums in another order differ in the last digits; so do values divided by a sum near 0.
    assert close(plain, other, tolerance=1e-7 if relative else 1e-9)


@settings(deadline=None, max_examples=60)
@given(data=ANY, width=WIDTH, relative=st.booleans())
def test_a_wider_level_holds_a_narrower_one_and_the_estimate(data, width, relative):
    paired, statistic = data
    estimate = gain(paired, statistic, 1.0, relative=relative)
    found = [
        interval_of(paired, statistic, width=width, relative=relative, level=level)
        for level in (0.6, 0.8, 0.95, 0.998)
    ]
    if found[0] is None:
        assert all(interval is None for interval in found)
        return
    lows = [estimate, *(-math.inf if each.low is None else each.low for each in found)]
    highs = [estimate, *(math.inf if each.high is None else each.high for each in found)]
    slack = 1e-6 * max(1.0, *(abs(end) for end in lows + highs if math.isfinite(end)))
    assert all(after <= before + slack for before, after in itertools.pairwise(lows))
    assert all(after >= before - slack for before, after in itertools.pairwise(highs))


@settings(deadline=None, max_examples=40)
@given(paired=paired_values(least=4, positive=True), statistic=st.sampled_from([MEAN, TOTAL, MEDIAN]))
def test_a_relative_gain_has_no_unit(paired, statistic):
    other = Paired(1e4 * paired.baseline, 1e4 * paired.candidate, None, None, paired.cluster, paired.keys)
    plain = interval_of(paired, statistic, relative=True)
    scaled = interval_of(other, statistic, relative=True)
    assert close(ends(plain), ends(scaled), tolerance=1e-8)


@settings(deadline=None, max_examples=60)
@given(passed=st.integers(0, 60), count=st.integers(2, 60))
def test_a_run_against_a_run_that_failed_everywhere_is_a_beta_of_one_end_point(passed, count):
    # The gain over zeros is the pass rate; its upper end knows an end point at 1 of weight 3/4 and no other.
    passed = min(passed, count)
    assume(passed < 10)
    candidate = np.concatenate([np.ones(passed), np.zeros(count - passed)])
    found = interval_of(pair(np.zeros(count), candidate), MEAN, width=1.0)
    if passed == count:
        assert found.high == pytest.approx(1.0)
    else:
        beta = betaincinv(passed + 0.75, count - passed, 1.0 - adjusted_tail(0.95, count))
        assert found.high == pytest.approx(max(beta, passed / count), rel=1e-5)
    assert found.low >= -1.0
