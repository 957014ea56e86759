"""Draws of any function of weighted sums, where equal clusters have been merged.

Clusters with the same row of sums share one gamma weight whose shape is their number, so a confusion table of a
million answers is a handful of rows. It knows rows, shapes and a seed. It must not know what a cluster or a label
is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gateline.statistics.drawn import Ends, Sample, find_drawn_ends
from gateline.statistics.weights import CHUNK

Floats: TypeAlias = NDArray[np.float64]
Formula: TypeAlias = Callable[[Floats], Floats]
"""Takes weighted sums (columns, draws); returns (1, draws), or (2, draws) where a draw counts as two."""

DRAWS = 20_000
_BLOCK = 128
"""Rows that are drawn together: 10 MB."""
_STREAM = 0x6175646974
"""Keeps these weights apart from those of clusters, which have the hash of a name for a key."""


@dataclass(frozen=True, slots=True)
class MergedRows:
    """Different rows of sums, (rows, columns), in a canonical order, and the shape of the weight of each."""

    columns: Floats
    shape: Floats

    @staticmethod
    def of(columns: Floats, ends: Floats, shape_of_end: float = 0.5) -> MergedRows:
        """Merge the rows of clusters, weight Gamma(1) each; add end points, weight Gamma(`shape_of_end`) each."""
        rows, place = np.unique(columns, axis=0, return_inverse=True)
        counts = np.bincount(place.ravel(), minlength=len(rows)).astype(np.float64)
        shape = np.concatenate([counts, np.full(len(ends), shape_of_end)])
        return MergedRows(np.concatenate([rows, ends]), shape)

    def draw(self, seed: int, chunk: int) -> Floats:
        """Return one chunk of weighted sums, shape (columns, CHUNK)."""
        bits = np.random.Philox(key=[seed, _STREAM], counter=[0, 0, chunk, 0])
        generator = np.random.Generator(bits)
        total = np.zeros((self.columns.shape[1], CHUNK))
        for first in range(0, len(self.shape), _BLOCK):
            shape = self.shape[first : first + _BLOCK]
            weights = generator.standard_gamma(shape[:, None], size=(shape.size, CHUNK))
            total += self.columns[first : first + _BLOCK].T @ weights
        return total


def draw_ends(rows: MergedRows, formula: Formula, deviate: float, *, seed: int) -> Ends:
    """Return the quantiles of a function of weighted sums at Φ(deviate) and 1 − Φ(deviate)."""
    sample = Sample(lambda chunk: np.atleast_2d(formula(rows.draw(seed, chunk))))
    return find_drawn_ends(sample, float(ndtr(deviate)), resamples=DRAWS, clusters=len(rows.shape))
