"""The evaluated distribution of a quantile's gain beside integration, plain draws and symmetry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateline.statistics import Paired, Settings, Statistic, cluster_keys, gain_interval
from gateline.statistics.quantile_gains import both_weigh_enough, find_quantile_gain_ends

DRAWS = 100_000
WEIGHTS = np.random.default_rng(11).exponential(size=(DRAWS, 60))


def weigh(counts: tuple[int, int, int, int], probability: float) -> float:
    return float(both_weigh_enough(*(np.array([count]) for count in counts), probability)[0])


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_the_probability_of_four_single_pairs_is_a_volume_of_the_simplex(probability):
    """Uniform on the simplex: both complements weigh at most q with probability 6 ∫ (q − u)² du = 2 q³, q ≤ 1/2."""
    if probability >= 0.5:
        expected = 2.0 * (1.0 - probability) ** 3
    else:
        one_little = 3.0 * probability**2 - 2.0 * probability**3  # Beta(2, 2)
        expected = 1.0 - 2.0 * one_little + 2.0 * probability**3
    assert weigh((1, 1, 1, 1), probability) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("counts", "probability"),
    [
        ((180, 8, 7, 5), 0.95),
        ((0, 3, 4, 2), 0.5),
        ((0, 3, 4, 2), 0.4),
        ((0, 3, 4, 0), 0.4),
        ((30, 5, 5, 0), 0.9),
        ((5, 0, 3, 2), 0.6),
        ((5, 3, 0, 2), 0.6),
        ((5, 0, 0, 2), 0.6),
        ((90, 10, 20, 80), 0.5),
        ((3, 2, 5, 100), 0.05),
        ((1715, 276, 294, 1715), 0.5),
        ((67, 933, 920, 18080), 0.05),
    ],
)
def test_the_probability_of_two_overlapping_sets_is_that_of_drawn_weights(counts, probability):
    draws = 400_000
    weights = np.random.default_rng(3).standard_gamma(np.array(counts, dtype=float), size=(draws, 4))
    weights /= weights.sum(axis=1, keepdims=True)
    seen = np.mean(np.minimum(weights[:, 1], weights[:, 2]) + weights[:, 0] >= probability)
    found = weigh(counts, probability)
    assert abs(found - seen) <= 5.0 * math.sqrt(max(found * (1.0 - found), 1e-6) / draws)


def drawn_gains(before, after, probability, sign, *, relative):
    """Return the gains under plain exponential weights: nothing of gateline's in it."""
    weights = WEIGHTS[:, : before.size]
    picked = []
    for values in (before, after):
        order = np.argsort(values, kind="stable")
        sums = np.cumsum(weights[:, order], axis=1)
        rank = (sums < probability * sums[:, -1:]).sum(axis=1)
        picked.append(values[order][np.minimum(rank, values.size - 1)])
    gains = sign * (picked[1] - picked[0])
    return gains / np.abs(picked[0]) if relative else gains


@st.composite
def pairs(draw):
    count = draw(st.integers(2, 60))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    before = np.exp(generator.normal(size=count))
    after = before ** draw(st.sampled_from([0.0, 0.5, 1.0])) * np.exp(generator.normal(0.1, 0.5, size=count))
    if draw(st.booleans()):  # with ties
        before, after = np.ceil(2.0 * before), np.ceil(2.0 * after)
    return before, after


@settings(max_examples=60, deadline=None)
@given(
    pairs(),
    st.sampled_from([0.05, 0.5, 0.9, 0.95]),
    st.sampled_from([1.0, -1.0]),
    st.booleans(),
    st.sampled_from([0.2, 0.025, 0.003]),
)
def test_the_ends_are_where_draws_have_their_tails(both, probability, sign, relative, tail):
    before, after = both
    low, high = find_quantile_gain_ends(before, after, probability, sign, tail, relative=relative)
    gains = drawn_gains(before, after, probability, sign, relative=relative)
    slack = 5.0 * math.sqrt(tail / DRAWS)
    rounding = 1e-9 * (1.0 + np.abs(gains).max())
    assert np.mean(gains <= low + rounding) >= tail - slack
    assert np.mean(gains < low - rounding) <= tail + slack
    assert np.mean(gains >= high - rounding) >= tail - slack
    assert np.mean(gains > high + rounding) <= tail + slack


@settings(max_examples=40, deadline=None)
@given(pairs(), st.sampled_from([0.1, 0.5, 0.95]), st.booleans(), st.floats(-5, 5), st.floats(-5, 5))
def test_the_other_direction_mirrors_and_no_guess_changes_what_is_found(
    both, probability, relative, low, high
):
    before, after = both
    ends = find_quantile_gain_ends(before, after, probability, 1.0, 0.02, relative=relative)
    mirrored = find_quantile_gain_ends(
        before, after, probability, -1.0, 0.02, relative=relative, guess=(low, high)
    )
    assert ends == (-mirrored[1], -mirrored[0])


def test_a_baseline_that_may_be_zero_makes_a_relative_end_infinite_and_no_change_none():
    before, after = np.array([0.0] * 6 + [1.0]), np.array([1.0] * 4 + [0.0] * 3)
    low, high = find_quantile_gain_ends(before, after, 0.5, 1.0, 0.2, relative=True)
    assert (low, high) == (0.0, math.inf)


def judged(paired: Paired, seed: int, limit: float | None, level: float = 0.95):
    limits = () if limit is None else (limit,)
    return gain_interval(
        paired, Statistic("quantile", 0.95), sign=-1.0, relative=False, level=level, width=None,
        settings=Settings(seed=seed, resamples=4_000), limits=limits,
    )  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(50, 120), st.floats(-0.004, 0.004))
def test_no_seed_turns_a_verdict_near_a_limit_and_the_interval_says_that_it_was_near(start, count, off):
    generator = np.random.default_rng(start)
    question = generator.normal(0.0, 0.4, size=count)
    before, after = np.exp(question + generator.normal(0.0, 0.4, size=(2, count)))
    paired = Paired(before, after, None, None, np.arange(count), cluster_keys([str(i) for i in range(count)]))
    low, high = find_quantile_gain_ends(before, after, 0.95, -1.0, exact_tail(paired, 0.95), relative=False)
    limit = low + off * (high - low)
    assume(limit != low)
    found = [judged(paired, seed, limit) for seed in range(5)]
    for interval in found:
        if interval.resamples is None:
            assert (interval.low, interval.high) == (low, high)
            assert [note.key for note in interval.notes] == ["note.limit-near-evaluated"]
        else:  # the draws put the end so far from the limit that there is no doubt
            assert interval.notes == ()
    assert len({interval.low >= limit for interval in found}) == 1


def exact_tail(paired: Paired, level: float) -> float:
    """Return the tail of the interval: Student's deviate at n - 1 (Hesterberg 2015), as docs/statistics.md has it."""
    from scipy import stats

    size = len(paired)
    return float(stats.norm.cdf(math.sqrt(size / (size - 1.0)) * stats.t.ppf(0.5 * (1.0 - level), size - 1)))


def test_a_deep_family_is_evaluated_and_needs_no_more_extreme_draw():
    generator = np.random.default_rng(5)
    before, after = generator.lognormal(size=(2, 80))
    paired = Paired(before, after, None, None, np.arange(80), cluster_keys([str(i) for i in range(80)]))
    level = 1.0 - 0.05 / 4_000
    found = judged(paired, 1, None, level)
    assert (found.resamples, found.notes) == (None, ())
    assert (found.low, found.high) == find_quantile_gain_ends(
        before, after, 0.95, -1.0, exact_tail(paired, level), relative=False
    )
