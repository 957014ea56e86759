"""Weights of clusters for the intervals that have to be drawn.

A source of weights has `size` rows, one a cluster, and any number of columns, one a draw, in chunks of
`CHUNK`. The keyed weights are a function of (seed, cluster key, draw) alone: other clusters, other metrics
and the number of draws change nothing. Nothing here knows what is weighted.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Keys: TypeAlias = NDArray[np.uint64]

CHUNK = 10_000
_BLOCK = 32
"""Rows taken together: as many as fit a processor's second cache."""
_KEPT_ROWS = 8_192
"""Rows of 40 kB that are kept: 330 MB at most, and only where that many clusters are drawn."""
_END_POINT = 2**64 - 1
"""The key of the end points; no name hashes to it but by a chance of 1 in 2^64."""


class WeightSource(Protocol):
    """Weights of `size` clusters, chunk by chunk."""

    @property
    def size(self) -> int:
        """How many clusters there are."""

    def row(self, cluster: int, chunk: int) -> NDArray[np.floating]:
        """Return the weights of one cluster in one chunk of draws, shape (CHUNK,)."""


class KeyedWeights:
    """Exponential weights by cluster key (Rubin 1981), counter-based (Philox: Salmon et al. 2011)."""

    def __init__(self, seed: int, keys: Keys) -> None:
        self._stream = _stream_of(seed)
        self._keys = [int(key) for key in keys]

    @property
    def size(self) -> int:
        """How many clusters there are."""
        return len(self._keys)

    def row(self, cluster: int, chunk: int) -> NDArray[np.float32]:
        """Return the weights of one cluster in one chunk of draws, shape (CHUNK,)."""
        return self._stream.exponentials(self._keys[cluster], chunk)

    def end_points(self, chunk: int, shape: float) -> Floats:
        """Return gamma weights of a shape for two end points in one chunk of draws, shape (2, CHUNK)."""
        return self._stream.gammas(chunk, shape)


class ResampledCounts:
    """How often each cluster is drawn, with replacement, in each draw of the classical bootstrap."""

    def __init__(self, seed: int, size: int) -> None:
        self._seed = seed
        self._size = size
        self._chunk = -1
        self._counts: NDArray[np.float32] = np.empty((0, 0), dtype=np.float32)

    @property
    def size(self) -> int:
        """How many clusters there are."""
        return self._size

    def row(self, cluster: int, chunk: int) -> NDArray[np.float32]:
        """Return the counts of one cluster in one chunk of draws, shape (CHUNK,)."""
        if chunk != self._chunk:
            generator = np.random.default_rng([self._seed, chunk])
            counts = np.empty((self._size, CHUNK), dtype=np.float32)
            step = max(1, 1_000_000 // self._size)
            for first in range(0, CHUNK, step):
                draws = min(step, CHUNK - first)
                picks = generator.integers(0, self._size, size=(draws, self._size))
                picks += np.arange(draws)[:, None] * self._size
                counts[:, first : first + draws] = (
                    np.bincount(picks.ravel(), minlength=draws * self._size).reshape(draws, self._size).T
                )
            self._counts, self._chunk = counts, chunk
        row: NDArray[np.float32] = self._counts[cluster]
        return row


class AllButOne:
    """Weights of the jackknife: draw k leaves cluster k out."""

    def __init__(self, size: int) -> None:
        self._size = size

    @property
    def size(self) -> int:
        """How many clusters there are, and how many draws."""
        return self._size

    def row(self, cluster: int, chunk: int) -> NDArray[np.float32]:
        """Return 1, and 0 in the draw that leaves this cluster out, shape (CHUNK,)."""
        weights = np.ones(CHUNK, dtype=np.float32)
        if cluster // CHUNK == chunk:
            weights[cluster % CHUNK] = 0.0
        return weights


def weighted_sums(columns: Floats, source: WeightSource, chunk: int) -> Floats:
    """Return Σ weight·column over the clusters, shape (columns, CHUNK); `columns` is (clusters, columns).

    The clusters are taken in blocks, so that the memory does not grow with their number.
    """
    total = np.zeros((columns.shape[1], CHUNK))
    block = np.empty((min(_BLOCK, source.size), CHUNK))
    for first in range(0, source.size, _BLOCK):
        last = min(first + _BLOCK, source.size)
        for cluster in range(first, last):
            block[cluster - first] = source.row(cluster, chunk)
        total += columns[first:last].T @ block[: last - first]
    return total


class _Stream:
    """The generator of one seed: jumps to (key, chunk), and keeps the rows it made first."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._bits = np.random.Philox(key=[seed, 0])
        self._generator = np.random.Generator(self._bits)
        self._kept: dict[tuple[int, int], NDArray[np.float32]] = {}

    def _jump(self, key: int, chunk: int) -> np.random.Generator:
        # A counter of its own for each chunk: a longer run has the same beginning.
        self._bits.state = {
            "bit_generator": "Philox",
            "state": {
                "counter": np.array([0, 0, chunk, 0], dtype=np.uint64),
                "key": np.array([self._seed, key], dtype=np.uint64),
            },
            "buffer": np.zeros(4, dtype=np.uint64),
            "buffer_pos": 4,
            "has_uint32": 0,
            "uinteger": 0,
        }
        return self._generator

    def exponentials(self, key: int, chunk: int) -> NDArray[np.float32]:
        kept = self._kept.get((key, chunk))
        if kept is None:
            kept = self._jump(key, chunk).standard_exponential(CHUNK, dtype=np.float32)
            if len(self._kept) < _KEPT_ROWS:
                self._kept[key, chunk] = kept
        return kept

    def gammas(self, chunk: int, shape: float) -> Floats:
        return self._jump(_END_POINT, chunk).standard_gamma(shape, size=(2, CHUNK))


@lru_cache(maxsize=1)
def _stream_of(seed: int) -> _Stream:
    return _Stream(seed)
