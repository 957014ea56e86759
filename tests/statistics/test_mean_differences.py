"""Differences of two means: against Jeffreys' intervals, Welch's formula and closed moments of draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaincinv, ndtr

from gateline.statistics.end_points import adjusted_deviate
from gateline.statistics.mean_differences import ClusterMean, _effective_clusters, difference_ends
from gateline.statistics.merged_draws import MergedRows
from gateline.statistics.weights import CHUNK


def passes(passed, count, *, clusters=None):
    """Return the mean of pass/fail clusters, end points at 0 and 1; further clusters have no part in it."""
    total = np.zeros(clusters or count)
    total[:passed] = 1.0
    return ClusterMean(total, (np.arange(total.size) < count).astype(float), (0.0, 1.0))


def constant(value, count, *, weight=1.0):
    return ClusterMean(np.full(count, value * weight), np.full(count, weight), (value, value))


@pytest.mark.parametrize("value", [0.0, 0.1, -3.7])
@pytest.mark.parametrize(("passed", "count"), [(3, 8), (17, 20), (0, 15)])
def test_beside_a_mean_without_spread_the_ends_are_those_of_jeffreys(passed, count, value):
    """Clusters of 0.3 samples: their sums are no whole numbers, and the mean of equal ones is off by rounding."""
    deviate = adjusted_deviate(0.9, count)
    low, high = (
        betaincinv(passed + 0.5, count - passed + 0.5, share) for share in (ndtr(deviate), ndtr(-deviate))
    )
    still, moving = constant(value, 30, weight=0.3), passes(passed, count)
    after = difference_ends(still, moving, level=0.9, seed=1)
    before = difference_ends(moving, still, level=0.9, seed=1)
    assert (after.low, after.high) == pytest.approx((low - value, high - value), abs=2e-6)
    assert (before.low, before.high) == pytest.approx((value - high, value - low), abs=2e-6)
    assert after.draws == before.draws == 0


def test_two_means_without_spread_have_one_end():
    for first, second in ((0.1, 0.7), (0.0, 0.0)):
        found = difference_ends(constant(first, 12, weight=0.3), constant(second, 7), level=0.9, seed=1)
        assert (found.low, found.high) == pytest.approx((second - first, second - first), abs=1e-15)
        assert found.draws == 0


@pytest.mark.parametrize("scale", [1e-100, 1e-13, 1e9, 1e100])
@pytest.mark.parametrize("clusters", [4, 30])
def test_the_unit_of_the_values_is_free(scale, clusters):
    generator = np.random.default_rng(clusters)
    count = generator.integers(1, 5, (2, clusters)).astype(float)
    total = count * generator.normal(1.0, 0.3, (2, clusters))
    ends = [
        difference_ends(
            *(
                ClusterMean(unit * above, below, (0.0, 2.0 * unit))
                for above, below in zip(total, count, strict=True)
            ),
            level=0.9,
            seed=1,
        )
        for unit in (1.0, scale)
    ]
    assert ends[1].low / scale == pytest.approx(ends[0].low, rel=1e-6)
    assert ends[1].high / scale == pytest.approx(ends[0].high, rel=1e-6)


def test_the_level_is_that_of_the_degrees_of_freedom_of_welch():
    """Clusters of one size: the variance of a mean is Σ(x − x̄)²/m², and the end points' half clusters are in it."""
    generator = np.random.default_rng(5)
    for first_size, second_size, fitted in ((2, 2, 0), (3, 40, 0), (12, 5, 1), (2, 9, 1), (60, 50, 0)):
        parts, means = [], []
        for size, spread, lost in ((first_size, 0.01, fitted), (second_size, 0.03, 0)):
            values = generator.normal(0.5, spread, size)
            ends = (values.mean() - spread, values.mean() + 2.0 * spread)
            means.append(ClusterMean(7.0 * values, np.full(size, 7.0), ends, fitted=lost))
            squares = np.sum((values - values.mean()) ** 2) + 0.5 * (spread**2 + 4.0 * spread**2)
            parts.append((squares / size**2, max(size - 1 - lost, 1)))
            assert means[-1].variance() == pytest.approx(parts[-1][0], rel=1e-9)
            assert means[-1].freedom() == parts[-1][1]
        (one, one_freedom), (other, other_freedom) = parts
        freedom = (one + other) ** 2 / (one**2 / one_freedom + other**2 / other_freedom)
        assert _effective_clusters(*means) == math.floor(freedom) + 1


def test_the_degrees_of_freedom_are_those_of_scipy_where_its_variances_are_these():
    first = np.array([0.2, 0.4, 0.4, 0.5, 0.9])
    second = 3.0 * np.array([0.1, 0.2, 0.9, 0.8, 0.3])
    means = [ClusterMean(values, np.ones(5), (values.mean(), values.mean())) for values in (first, second)]
    expected = stats.ttest_ind(first, second, equal_var=False).df
    assert _effective_clusters(*means) == math.floor(expected) + 1


@pytest.mark.parametrize(("clusters", "drawn"), [(9, True), (10, False), (11, False)])
def test_ten_clusters_under_either_mean_are_enough_to_expand(clusters, drawn):
    few, many = passes(4, clusters, clusters=40), passes(25, 40)
    for pair in ((few, many), (many, few)):
        assert (difference_ends(*pair, level=0.9, seed=1).draws > 0) == drawn


def test_a_level_beyond_the_draws_is_noted():
    found = difference_ends(passes(4, 8, clusters=9), passes(5, 9), level=1.0 - 1e-7, seed=1)
    assert [note.key for note in found.notes] == ["note.family-takes-most-extreme"]
    assert found.draws == 200_000


@pytest.mark.parametrize("rows", [3, 128, 129, 300])
def test_weighted_sums_have_the_moments_of_gamma_sums(rows):
    """Σ G·x has the mean Σ shape·x and the covariance Σ shape·x·xᵀ, however many rows there are."""
    generator = np.random.default_rng(rows)
    columns = generator.normal(size=(rows, 2)) + 0.3
    ends = np.array([[5.0, 1.0], [-4.0, 2.0]])
    merged = MergedRows.of(np.concatenate([columns, columns[:1]]), ends)
    assert merged.shape.sum() == rows + 2
    every = np.concatenate([columns, columns[:1], ends])
    shape = np.append(np.ones(rows + 1), [0.5, 0.5])
    mean, covariance = shape @ every, (every.T * shape) @ every
    sums = np.concatenate([merged.draw(3, chunk) for chunk in range(4)], axis=1)
    assert sums.shape == (2, 4 * CHUNK)
    error = np.sqrt(np.diag(covariance) / sums.shape[1])
    assert np.all(np.abs(sums.mean(axis=1) - mean) < 4.5 * error)
    assert np.cov(sums) == pytest.approx(covariance, rel=0.1, abs=0.05 * covariance.max())


def test_each_chunk_of_each_seed_has_draws_of_its_own():
    merged = MergedRows.of(np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0]]))
    chunks = [merged.draw(seed, chunk)[0] for seed in (1, 2) for chunk in (0, 1, 2)]
    for place, one in enumerate(chunks):
        for other in chunks[:place]:
            assert np.intersect1d(one, other).size == 0
    assert np.array_equal(merged.draw(1, 1)[0], chunks[1])
