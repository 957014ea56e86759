"""The classical intervals: percentile and BCa bootstrap over clusters.

Efron 1987; Davison and Hinkley 1997, chapter 5. Kept for comparison with other tools. They can't imagine a
failure that the sample does not hold, see docs/statistics.md; nothing here repairs that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from gateline.statistics.drawn import Ends, Sample, find_drawn_ends
from gateline.statistics.draws import Formula
from gateline.statistics.notes import Note
from gateline.statistics.weights import CHUNK, AllButOne, ResampledCounts

Floats: TypeAlias = NDArray[np.float64]


def find_percentile_ends(
    formula: Formula,
    clusters: int,
    *,
    level: float,
    resamples: int,
    seed: int,
    limits: Sequence[float] = (),
) -> Ends:
    """Return the percentile interval of a statistic over resampled clusters."""
    sample = _sample(formula, clusters, seed)
    return find_drawn_ends(sample, 0.5 * (1.0 - level), resamples=resamples, clusters=clusters, limits=limits)


def find_bca_ends(
    formula: Formula, clusters: int, *, estimate: float, level: float, resamples: int, seed: int
) -> Ends:
    """Return the bias-corrected and accelerated interval of a statistic over resampled clusters.

    Where all draws are equal to the estimate the formula has no value; the interval is the estimate. Where
    all lie on one side of it there is no bias correction, and the percentile interval stands in.
    """
    sample = _sample(formula, clusters, seed)
    plain = find_drawn_ends(sample, 0.5 * (1.0 - level), resamples=resamples, clusters=clusters)
    ordered = sample.first(plain.draws).lower
    if ordered[0] == ordered[-1]:
        return Ends(float(ordered[0]), float(ordered[0]), plain.draws, (Note("note.draws-equal"),))
    # Sums in another order differ in the last digits; a draw equal to the estimate must count as equal.
    slack = 1e-12 * max(abs(estimate), float(ordered[-1] - ordered[0]))
    below = np.searchsorted(ordered, [estimate - slack, estimate + slack], side="left").mean() / ordered.size
    if not 0.0 < below < 1.0:
        return Ends(plain.low, plain.high, plain.draws, (*plain.notes, Note("note.no-bias-correction")))
    bias = float(ndtri(below))
    acceleration = _acceleration(formula, clusters)
    deviate = float(ndtri(0.5 * (1.0 - level)))
    low, high = (
        float(np.quantile(ordered, float(ndtr(bias + (bias + z) / (1.0 - acceleration * (bias + z))))))
        for z in (deviate, -deviate)
    )
    return Ends(low, high, plain.draws, plain.notes)


def _sample(formula: Formula, clusters: int, seed: int) -> Sample:
    source = ResampledCounts(seed, clusters)
    return Sample(lambda chunk: formula.draw(source, chunk, None))


def _acceleration(formula: Formula, clusters: int) -> float:
    """Return the acceleration from the jackknife over clusters (Efron 1987, equation 6.6)."""
    source = AllButOne(clusters)
    chunks = [formula.draw(source, chunk, None) for chunk in range(math.ceil(clusters / CHUNK))]
    left_out = np.concatenate(chunks, axis=1)[0, :clusters]
    influence = left_out.mean() - left_out
    size = float((influence**2).sum())
    return float((influence**3).sum()) / (6.0 * size**1.5) if size > 0.0 else 0.0
