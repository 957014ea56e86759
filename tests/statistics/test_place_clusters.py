"""Clusters of a slice stand in the order of their keys, whichever way they are found."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gateline.statistics import cluster_keys, order_clusters
from gateline.statistics.pairs import place_clusters


@given(
    known=st.integers(1, 200),
    drawn=st.lists(st.integers(0, 10**6), max_size=60),
    sort=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_clusters_stand_in_the_order_of_their_keys(
    known: int, drawn: list[int], sort: bool, seed: int
) -> None:
    """By dictionaries and sorting: few samples among many clusters and many among few, keys that repeat."""
    keys = np.random.default_rng(seed).integers(0, 50 * known, known).astype(np.uint64)
    if sort:
        keys.sort()
    cluster = np.array([one % known for one in drawn], dtype=np.int64)

    used, place = place_clusters(cluster, keys)

    expected = sorted(set(cluster.tolist()), key=lambda code: (int(keys[code]), code))
    assert used.tolist() == expected
    assert place.tolist() == [expected.index(code) for code in cluster.tolist()]


@given(st.lists(st.text(max_size=4), unique=True, max_size=40))
def test_names_keep_their_keys_when_put_in_order(names: list[str]) -> None:
    """A name has the key of its own hash, at the place that is told."""
    keys, place = order_clusters(names)
    assert sorted(keys.tolist()) == keys.tolist()
    assert keys[place].tolist() == cluster_keys(names).tolist()
