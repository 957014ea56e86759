"""Intervals from draws: how many are needed, which of them are the ends, and when more must be drawn.

It sees draws of a statistic. It must not know what is drawn nor what the limits mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateline.statistics.weights import CHUNK

Floats: TypeAlias = NDArray[np.float64]
DrawChunk: TypeAlias = Callable[[int], Floats]

MOST_DRAWS = 200_000
_IN_A_TAIL = 50
_MOST_WEIGHTS = 500_000_000
"""Weights (clusters times draws) that a second look at a limit may cost."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Two ends of an interval, the draws they rest on, and what a reader should know of them."""

    low: float
    high: float
    draws: int
    notes: tuple[str, ...] = ()


class Sample:
    """Draws of one statistic, grown chunk by chunk."""

    def __init__(self, draw_chunk: DrawChunk) -> None:
        self._draw_chunk = draw_chunk
        self._chunks: list[Floats] = []

    def first(self, draws: int) -> Floats:
        """Return the first draws, sorted, the rows of a chunk side by side: shape (rows · draws,)."""
        while len(self._chunks) * CHUNK < draws:
            self._chunks.append(self._draw_chunk(len(self._chunks)))
        return np.sort(np.concatenate(self._chunks, axis=1)[:, :draws], axis=None)


def find_drawn_ends(
    sample: Sample, tail: float, *, resamples: int, clusters: int, limits: Sequence[float] = ()
) -> Ends:
    """Return the quantiles of the draws at `tail` and 1 − `tail`.

    The draws rise so that each tail rests on at least 50 of them, up to 200,000, and again where an end
    lies within three Monte-Carlo standard errors of a limit. Where the cap leaves less than 50 in a tail, a
    more extreme draw is taken: three standard errors of the count further out, at the end the most extreme
    of all.

    Args:
        sample: where the draws come from.
        tail: the share of draws outside of each end, above 0 where a number can hold it.
        resamples: how many draws the policy asks for.
        clusters: how many weights a draw costs.
        limits: what the interval will be compared with.
    """
    most = max(resamples, MOST_DRAWS)
    draws = max(resamples, most if tail <= _IN_A_TAIL / most else math.ceil(_IN_A_TAIL / tail))
    ordered = sample.first(draws)
    notes: tuple[str, ...] = ()
    if draws * tail < _IN_A_TAIL * (1.0 - 1e-9):
        low, high = _guarded_ends(ordered, draws, tail)
        return Ends(low, high, draws, (_too_large(draws, draws * tail),))
    affordable = min(most, max(draws, _MOST_WEIGHTS // max(clusters, 1)))
    while (near := _nearest_limit(ordered, draws, tail, limits)) is not None and draws < affordable:
        draws = min(affordable, 8 * draws)
        notes = (
            f"the limit {near:.6g} lies within Monte-Carlo error of an end: drawn again with {draws:,} draws",
        )
        ordered = sample.first(draws)
    if near is not None:
        notes += (f"the limit {near:.6g} lies within Monte-Carlo error of an end even with {draws:,} draws",)
    return Ends(_quantile(ordered, tail), _quantile(ordered, 1.0 - tail), draws, notes)


def _too_large(draws: int, expected: float) -> str:
    which = "the most extreme draw" if expected - 3.0 * math.sqrt(expected) < 1.0 else "a more extreme draw"
    return (
        f"family too large for its size: {draws:,} draws leave {expected:.2g} in a tail, {which} is the bound"
    )


def _guarded_ends(ordered: Floats, draws: int, tail: float) -> tuple[float, float]:
    expected = draws * tail
    rows = ordered.size // draws
    rank = max(math.floor((expected - 3.0 * math.sqrt(expected)) * rows), 1)
    return float(ordered[rank - 1]), float(ordered[-rank])


def _nearest_limit(ordered: Floats, draws: int, tail: float, limits: Sequence[float]) -> float | None:
    """Return a limit within three standard errors of an end, counted in ranks: any distribution will do."""
    wide = 3.0 * math.sqrt(tail * (1.0 - tail) / draws)
    for limit in limits:
        for at in (tail, 1.0 - tail):
            if _quantile(ordered, max(at - wide, 0.0)) <= limit <= _quantile(ordered, min(at + wide, 1.0)):
                return limit
    return None


def _quantile(ordered: Floats, probability: float) -> float:
    """Return a quantile of sorted draws, linear between them (type 7 of Hyndman and Fan 1996)."""
    place = probability * (ordered.size - 1)
    below = min(math.floor(place), ordered.size - 1)
    above = min(below + 1, ordered.size - 1)
    low, high = float(ordered[below]), float(ordered[above])
    # Written so that equal neighbours, infinite ones too, give that value.
    return low if low == high else low + (place - below) * (high - low)
