"""Weights belong to clusters: to the seed and the key, and to nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from gateline.statistics import cluster_keys
from gateline.statistics.weights import CHUNK, AllButOne, KeyedWeights, ResampledCounts, weighted_sums


def row_of(name, *, seed=1, chunk=0, others=()):
    keys = cluster_keys([*others, name])
    return KeyedWeights(seed, keys).row(len(others), chunk)


def test_other_clusters_change_nothing():
    assert np.array_equal(row_of("a"), row_of("a", others=["b", "c"]))


def test_seed_name_and_chunk_change_everything():
    weights = row_of("a")
    for other in (row_of("b"), row_of("a", seed=2), row_of("a", chunk=1)):
        assert not np.any(weights[:100] == other[:100])
        assert abs(np.corrcoef(weights, other)[0, 1]) < 5.0 / np.sqrt(CHUNK)


def test_asking_again_and_in_another_order_gives_the_same_weights():
    first = [row_of("x", seed=9, chunk=chunk).copy() for chunk in (0, 1, 2)]
    again = [row_of("x", seed=9, chunk=chunk) for chunk in (2, 1, 0)]
    for before, after in zip(first, reversed(again), strict=True):
        assert np.array_equal(before, after)


@pytest.mark.parametrize("shape", [0.5, 0.75])
def test_weights_are_exponential_and_end_points_are_gamma_of_their_shape(shape):
    assert kstest(row_of("a"), "expon").pvalue > 1e-4
    for weights in KeyedWeights(1, cluster_keys(["a"])).end_points(0, shape):
        assert kstest(weights, "gamma", args=(shape,)).pvalue > 1e-4


def test_across_clusters_the_weights_of_one_draw_are_exponential_too():
    source = KeyedWeights(1, cluster_keys([str(number) for number in range(2_000)]))
    column = np.array([source.row(cluster, 0)[17] for cluster in range(2_000)])
    assert kstest(column, "expon").pvalue > 1e-4


def test_keys_are_the_hashes_of_the_names():
    keys = cluster_keys(["", "a", "ä", "\ud800", "a" * 10_000])
    assert keys.dtype == np.uint64
    assert len(set(keys.tolist())) == 5
    # blake2b with 8 bytes, little-endian (b2sum -l 64): fixed, so that files of other machines fit.
    assert int(keys[1]) == 0x2F42665B399EF840


@pytest.mark.parametrize("clusters", [1, 31, 32, 33, 100])
def test_sums_by_block_are_the_matrix_product(clusters):
    source = KeyedWeights(1, cluster_keys([str(number) for number in range(clusters)]))
    columns = np.random.default_rng(0).normal(size=(clusters, 3))
    every = np.stack([source.row(cluster, 0) for cluster in range(clusters)]).astype(float)
    assert weighted_sums(columns, source, 0) == pytest.approx(columns.T @ every, rel=1e-9, abs=1e-12)


def test_resampled_counts_are_multinomial():
    source = ResampledCounts(5, 12)
    counts = np.stack([source.row(cluster, 1) for cluster in range(12)])
    assert (counts.sum(axis=0) == 12).all()
    assert counts.mean(axis=1) == pytest.approx(np.ones(12), abs=5.0 * np.sqrt(11 / 12 / CHUNK))
    assert counts.var(axis=1) == pytest.approx(np.full(12, 11 / 12), rel=0.1)


def test_the_jackknife_leaves_one_out():
    source = AllButOne(4)
    assert np.array_equal(np.stack([source.row(c, 0)[:4] for c in range(4)]), 1.0 - np.eye(4))
