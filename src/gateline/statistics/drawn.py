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
from scipy.special import ndtri

from gateline.statistics.notes import Note
from gateline.statistics.weights import CHUNK

Floats: TypeAlias = NDArray[np.float64]
DrawChunk: TypeAlias = Callable[[int], Floats]
Evaluate: TypeAlias = Callable[[float, float, float], tuple[float, float]]
"""Of a tail and of about where the ends lie: the ends without error of drawing."""

MOST_DRAWS = 200_000
_MOST_DRAWS_OF_FEW = 4_000_000
"""Draws that a second look at a limit may take of few clusters: the next seed moves an end by 0.1 % of its reach."""
_IN_A_TAIL = 50
_MOST_WEIGHTS = 500_000_000
"""Weights (clusters times draws) that a second look at a limit may cost."""
_MOST_WEIGHTS_OF_FEW = 40_000_000
"""The same where it takes more than `MOST_DRAWS`: a second or two."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Two ends of an interval, the draws they rest on, and what a reader should know of them."""

    low: float
    high: float
    draws: int
    """0 where the ends were evaluated."""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Draws:
    """Sorted draws: those that the lower end is taken from, and those for the upper end; often the same."""

    lower: Floats
    upper: Floats


class Sample:
    """Draws of one statistic, grown chunk by chunk.

    Where each end has draws of its own (`apart`), the first row of a chunk is for the lower end and the second row
    for the upper one; else all rows serve both.
    """

    def __init__(self, draw_chunk: DrawChunk, *, apart: bool = False) -> None:
        self._draw_chunk = draw_chunk
        self._apart = apart
        self._chunks: list[Floats] = []

    def first(self, draws: int) -> Draws:
        """Return the first draws, sorted."""
        while len(self._chunks) * CHUNK < draws:
            self._chunks.append(self._draw_chunk(len(self._chunks)))
        rows = np.concatenate(self._chunks, axis=1)[:, :draws]
        if self._apart:
            return Draws(np.sort(rows[0]), np.sort(rows[1]))
        every = np.sort(rows, axis=None)
        return Draws(every, every)


def find_drawn_ends(
    sample: Sample,
    tail: float,
    *,
    resamples: int,
    clusters: int,
    limits: Sequence[float] = (),
    smooth: bool = False,
    evaluate: Evaluate | None = None,
) -> Ends:
    """Return the quantiles of the draws at `tail` and 1 − `tail`.

    Where a tail would rest on less than 50 draws, or an end lies within three Monte-Carlo standard errors of a
    limit, the ends are evaluated if there is a way to. Else the draws rise, up to 200,000 (near a limit, of few
    clusters, up to 4,000,000); where this cap leaves less than 50 in a tail, a more extreme draw is taken: three
    standard errors of the count further out, in the end the most extreme of all.

    Args:
        sample: where the draws come from.
        tail: the share of draws outside of each end; 0 where it is too small for a number.
        resamples: how many draws the policy asks for.
        clusters: how many weights a draw costs.
        limits: what the interval will be compared with.
        smooth: the draws are many and near normal: a tail that needs more than `resamples` draws is continued
            from the point that 50 of them lie beyond, as a normal tail would.
        evaluate: finds the ends without draws, at a price; None where they can only be drawn.
    """
    continued = smooth and tail * resamples < _IN_A_TAIL
    if evaluate is not None:
        ordered = sample.first(resamples)
        drawn = (_end(ordered, resamples, tail, upper=False), _end(ordered, resamples, tail, upper=True))
        near = _nearest_limit(ordered, resamples, tail, limits)
        if near is not None:
            return Ends(*evaluate(tail, *drawn), 0, (Note("note.limit-near-evaluated", _shown(near)),))
        if continued or tail * resamples >= _IN_A_TAIL:
            return Ends(*drawn, resamples)
        return Ends(*evaluate(tail, *drawn), 0)
    most = max(resamples, MOST_DRAWS)
    draws = resamples
    if not continued:
        draws = max(resamples, most if tail <= _IN_A_TAIL / most else math.ceil(_IN_A_TAIL / tail))
    ordered = sample.first(draws)
    if not continued and draws * tail < _IN_A_TAIL * (1.0 - 1e-9):
        low, high = _guarded_ends(ordered, draws, tail)
        return Ends(low, high, draws, (_too_large(draws, draws * tail),))
    notes: tuple[Note, ...] = ()
    affordable = max(draws, _affordable_near_a_limit(most, max(clusters, 1)))
    while (near := _nearest_limit(ordered, draws, tail, limits)) is not None and draws < affordable:
        draws = min(affordable, 8 * draws)
        ordered = sample.first(draws)
        notes = (_near_limit("note.limit-near-end", near, draws),)
    if near is not None and notes:
        notes = (_near_limit("note.limit-still-near-end", near, draws),)
    return Ends(_end(ordered, draws, tail, upper=False), _end(ordered, draws, tail, upper=True), draws, notes)


def _affordable_near_a_limit(most: int, clusters: int) -> int:
    of_few = min(_MOST_DRAWS_OF_FEW, _MOST_WEIGHTS_OF_FEW // clusters)
    return max(of_few, min(most, _MOST_WEIGHTS // clusters))


def _near_limit(key: str, limit: float, draws: int) -> Note:
    return Note(key, {**_shown(limit), "draws": f"{draws:,}"})


def _shown(limit: float) -> dict[str, str]:
    return {"limit": f"{limit:.6g}"}


def _too_large(draws: int, expected: float) -> Note:
    most_extreme = expected - 3.0 * math.sqrt(expected) < 1.0
    key = "note.family-takes-most-extreme" if most_extreme else "note.family-takes-more-extreme"
    return Note(key, {"draws": f"{draws:,}", "left": f"{expected:.2g}"})


def _guarded_ends(ordered: Draws, draws: int, tail: float) -> tuple[float, float]:
    expected = draws * tail
    rows = ordered.lower.size // draws
    rank = max(math.floor((expected - 3.0 * math.sqrt(expected)) * rows), 1)
    return float(ordered.lower[rank - 1]), float(ordered.upper[-rank])


def _nearest_limit(ordered: Draws, draws: int, tail: float, limits: Sequence[float]) -> float | None:
    """Return a limit within three standard errors of an end, counted in ranks: any distribution will do."""
    share = 3.0 * math.sqrt(tail * (1.0 - tail) / draws)
    inner, outer = min(tail + share, 0.5), max(tail - share, 0.0)
    if tail * draws < _IN_A_TAIL:
        # A continued tail is as uncertain as the point it is continued from.
        inner, outer = tail * (1.0 + 3.0 / math.sqrt(_IN_A_TAIL)), tail * (1.0 - 3.0 / math.sqrt(_IN_A_TAIL))
    for limit in limits:
        for upper in (False, True):
            near, far = (_end(ordered, draws, at, upper=upper) for at in (inner, outer))
            if min(near, far) <= limit <= max(near, far):
                return limit
    return None


def _end(draws_of_ends: Draws, draws: int, tail: float, *, upper: bool) -> float:
    """Return the end that leaves a share of `tail` beyond it, continued where less than 50 draws would."""
    ordered = draws_of_ends.upper if upper else draws_of_ends.lower
    least = _IN_A_TAIL / draws
    if tail >= least * (1.0 - 1e-9) or tail == 0.0:
        return _quantile(ordered, 1.0 - tail if upper else tail)
    middle = _quantile(ordered, 0.5)
    known = _quantile(ordered, 1.0 - least if upper else least)
    return middle + (known - middle) * float(ndtri(tail) / ndtri(least))


def _quantile(ordered: Floats, probability: float) -> float:
    """Return a quantile of sorted draws, linear between them (type 7 of Hyndman and Fan 1996)."""
    place = probability * (ordered.size - 1)
    below = min(math.floor(place), ordered.size - 1)
    above = min(below + 1, ordered.size - 1)
    low, high = float(ordered[below]), float(ordered[above])
    # Written so that equal neighbours, infinite ones too, give that value.
    return low if low == high else low + (place - below) * (high - low)
