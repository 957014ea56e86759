"""The classical intervals, against scipy's bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap
from statistics_pairs import pair, take

from gateline.statistics import Note, Settings, Statistic, gain_interval, value_interval

DRAWS = 40_000


def ours(paired, statistic, method, *, relative=False, level=0.95, seed=1):
    return gain_interval(
        paired,
        statistic,
        sign=1.0,
        relative=relative,
        level=level,
        width=None,
        settings=Settings(method=method, resamples=DRAWS, seed=seed),
    )


def scipys(columns, function, method, *, level=0.95):
    """Resample rows of columns together."""
    found = bootstrap(
        tuple(columns),
        function,
        paired=True,
        vectorized=True,
        n_resamples=DRAWS,
        confidence_level=level,
        method={"percentile": "percentile", "bca": "BCa"}[method],
        rng=np.random.default_rng(0),
    )
    return found.confidence_interval.low, found.confidence_interval.high


def agrees(found, expected):
    # Two Monte-Carlo errors of 40,000 draws, each under one percent of the width.
    width = expected[1] - expected[0]
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.04 * width)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_gain_of_a_mean(method, level):
    generator = np.random.default_rng(1)
    before = generator.lognormal(size=45)
    after = before + generator.standard_t(3, size=45)
    expected = scipys([after - before], lambda x, axis: x.mean(axis), method, level=level)
    agrees(ours(pair(before, after), Statistic("mean"), method, level=level), expected)
    total = ours(pair(before, after), Statistic("total"), method, level=level)
    agrees(total, (45 * expected[0], 45 * expected[1]))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_relative_gain_and_a_ratio(method):
    generator = np.random.default_rng(2)
    before, after = generator.lognormal(size=(2, 40))
    below, under = generator.integers(1, 5, size=(2, 40)).astype(float)
    expected = scipys([before, after], lambda x, y, axis: y.mean(axis) / x.mean(axis) - 1.0, method)
    agrees(ours(pair(before, after), Statistic("mean"), method, relative=True), expected)
    expected = scipys(
        [before, below, after, under],
        lambda a, b, c, d, axis: c.sum(axis) / d.sum(axis) - a.sum(axis) / b.sum(axis),
        method,
    )
    paired = pair(before, after, baseline_weight=below, candidate_weight=under)
    agrees(ours(paired, Statistic("ratio"), method), expected)


def test_the_gain_of_a_median_by_percentiles():
    generator = np.random.default_rng(3)
    before, after = generator.lognormal(size=(2, 101))
    expected = scipys(
        [before, after],
        lambda x, y, axis: (
            np.quantile(y, 0.5, axis=axis, method="inverted_cdf")
            - np.quantile(x, 0.5, axis=axis, method="inverted_cdf")
        ),
        "percentile",
    )
    agrees(ours(pair(before, after), Statistic("quantile", 0.5), "percentile"), expected)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_whole_clusters_are_drawn(method):
    generator = np.random.default_rng(4)
    cluster = np.repeat(np.arange(15), generator.integers(1, 6, size=15))
    change = generator.normal(size=15)[cluster] + 0.2 * generator.normal(size=cluster.size)
    sums = np.bincount(cluster, change)
    counts = np.bincount(cluster).astype(float)
    expected = scipys([sums, counts], lambda s, c, axis: s.sum(axis) / c.sum(axis), method)
    agrees(ours(pair(np.zeros(cluster.size), change, cluster=cluster), Statistic("mean"), method), expected)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_value_of_one_run(method):
    generator = np.random.default_rng(5)
    values = generator.gamma(1.5, size=50)
    found = value_interval(
        pair(values, values),
        "baseline",
        Statistic("mean"),
        level=0.9,
        bounds=None,
        settings=Settings(method=method, resamples=DRAWS),
    )
    agrees(found, scipys([values], lambda x, axis: x.mean(axis), method, level=0.9))
    assert (found.method, found.resamples) == (method, DRAWS)


def test_bca_of_equal_differences_is_the_difference():
    # scipy returns NaN here.
    found = ours(pair(np.zeros(20), np.full(20, 0.25)), Statistic("mean"), "bca")
    assert (found.low, found.high) == (0.25, 0.25)
    assert found.notes == (Note("note.draws-equal"),)


def test_the_order_of_rows_changes_nothing():
    generator = np.random.default_rng(6)
    paired = pair(*generator.normal(size=(2, 30)))
    for method in ("percentile", "bca"):
        plain = ours(paired, Statistic("mean"), method)
        other = ours(take(paired, generator.permutation(30)), Statistic("mean"), method)
        assert (other.low, other.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_a_family_raises_the_draws():
    generator = np.random.default_rng(7)
    paired = pair(*generator.normal(size=(2, 30)))
    found = ours(paired, Statistic("mean"), "percentile", level=1.0 - 0.05 / 50)
    assert found.resamples == 100_000
