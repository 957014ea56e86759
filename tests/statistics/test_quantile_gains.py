"""The evaluated distribution of a quantile's gain beside integration, plain draws and symmetry."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateline.statistics import Paired, Settings, Statistic, cluster_keys, gain_interval
from gateline.statistics.quantile_gains import find_quantile_gain_ends

DRAWS = 100_000
WEIGHTS = np.random.default_rng(11).exponential(size=(DRAWS, 60))


def drawn_gains(before, after, cluster, probability, sign, *, relative):
    """Return the gains under plain exponential weights of clusters: nothing of gateline's in it."""
    weights = WEIGHTS[:, cluster]
    picked = []
    for values in (before, after):
        order = np.argsort(values, kind="stable")
        sums = np.cumsum(weights[:, order], axis=1)
        rank = (sums < (1.0 - 1e-12) * probability * sums[:, -1:]).sum(axis=1)
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
    return before, after, draw(clusters(count, generator))


def clusters(count, generator):
    """Return clusters of one sample, of a few alike, of many sizes, or one that is as large as all others."""
    singles = np.arange(count)
    shared = np.unique(np.floor(count * generator.random(count) ** 2), return_inverse=True)[1]
    return st.sampled_from([singles, singles // 2, singles // 5, shared, np.maximum(singles - count // 2, 0)])


@settings(max_examples=30, deadline=None)
@given(
    pairs(),
    st.sampled_from([0.05, 0.5, 0.9, 0.95]),
    st.sampled_from([1.0, -1.0]),
    st.booleans(),
    st.sampled_from([0.2, 0.025, 0.003]),
)
def test_the_ends_are_where_draws_have_their_tails(both, probability, sign, relative, tail):
    gains = drawn_gains(*both, probability, sign, relative=relative)
    guess = tuple(np.quantile(gains, [tail, 1.0 - tail], method="lower"))
    low, high = find_quantile_gain_ends(*both, probability, sign, tail, relative=relative, guess=guess)
    slack = 5.0 * math.sqrt(tail / DRAWS)
    rounding = 1e-9 * (1.0 + np.abs(gains).max())
    assert np.mean(gains <= low + rounding) >= tail - slack
    assert np.mean(gains < low - rounding) <= tail + slack
    assert np.mean(gains >= high - rounding) >= tail - slack
    assert np.mean(gains > high + rounding) <= tail + slack


@settings(max_examples=8, deadline=None)
@given(pairs(), st.sampled_from([0.1, 0.5, 0.95]), st.booleans(), st.floats(-5, 5), st.floats(-5, 5))
def test_the_other_direction_mirrors_and_no_guess_changes_what_is_found(
    both, probability, relative, low, high
):
    ends = find_quantile_gain_ends(*both, probability, 1.0, 0.02, relative=relative)
    mirrored = find_quantile_gain_ends(*both, probability, -1.0, 0.02, relative=relative, guess=(low, high))
    assert ends == (-mirrored[1], -mirrored[0])


def test_a_baseline_that_may_be_zero_makes_a_relative_end_infinite_and_no_change_none():
    before, after = np.array([0.0] * 6 + [1.0]), np.array([1.0] * 4 + [0.0] * 3)
    low, high = find_quantile_gain_ends(before, after, np.arange(7), 0.5, 1.0, 0.2, relative=True)
    assert (low, high) == (0.0, math.inf)


def judged(paired: Paired, seed: int, limit: float | None, level: float = 0.95):
    limits = () if limit is None else (limit,)
    return gain_interval(
        paired, Statistic("quantile", 0.95), sign=-1.0, relative=False, level=level, width=None,
        settings=Settings(seed=seed, resamples=4_000), limits=limits,
    )  # fmt: skip


@settings(max_examples=6, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(50, 120),
    st.sampled_from(["single", "two", "mixed"]),
    st.floats(-0.004, 0.004),
)
def test_no_seed_turns_a_verdict_near_a_limit_and_the_interval_says_that_it_was_near(start, count, kind, off):
    generator = np.random.default_rng(start)
    sizes = {"single": 1, "two": 2, "mixed": generator.integers(1, 5, size=count)}[kind]
    cluster = np.repeat(np.arange(count), sizes)
    question = generator.normal(0.0, 0.4, size=count)[cluster]
    before, after = np.exp(question + generator.normal(0.0, 0.4, size=(2, cluster.size)))
    paired = Paired(before, after, None, None, cluster, cluster_keys([str(i) for i in range(count)]))
    tail = exact_tail(paired, 0.95)
    low, high = find_quantile_gain_ends(before, after, cluster, 0.95, -1.0, tail, relative=False)
    limit = low + off * (high - low)
    assume(limit != low)
    found = [judged(paired, seed, limit) for seed in range(3)]
    for interval in found:
        if interval.resamples is None:
            assert (interval.low, interval.high) == (low, high)
            assert [note.key for note in interval.notes] == ["note.limit-near-evaluated"]
        else:  # the draws put the end so far from the limit that there is no doubt
            assert interval.notes == ()
    assert len({interval.low >= limit for interval in found}) == 1


def exact_tail(paired: Paired, level: float) -> float:
    """Return the tail: Student's deviate at clusters - 1 (Hesterberg 2015), as docs/statistics.md has it."""
    from scipy import stats

    size = len(paired.clusters)
    return float(stats.norm.cdf(math.sqrt(size / (size - 1.0)) * stats.t.ppf(0.5 * (1.0 - level), size - 1)))


def test_a_deep_family_is_evaluated_and_needs_no_more_extreme_draw():
    generator = np.random.default_rng(5)
    before, after = generator.lognormal(size=(2, 80))
    paired = Paired(before, after, None, None, np.arange(80), cluster_keys([str(i) for i in range(80)]))
    level = 1.0 - 0.05 / 4_000
    found = judged(paired, 1, None, level)
    assert (found.resamples, found.notes) == (None, ())
    assert (found.low, found.high) == find_quantile_gain_ends(
        before, after, np.arange(80), 0.95, -1.0, exact_tail(paired, level), relative=False
    )
