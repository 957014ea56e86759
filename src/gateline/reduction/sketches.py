"""Sketches of values by group, and the intervals of quantiles that they allow.

A sketch counts values in bins whose width is a fixed share of their size (as HDR histograms do), so that sketches of
parts add up to that of the whole and both engines make the same one. It knows no file and no policy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from gateline.reduction.expressions import STEPS
from gateline.statistics import Interval, Note, Settings, cluster_keys, samples_needed_for_quantile
from gateline.statistics.drawn import Sample, find_drawn_ends
from gateline.statistics.end_points import adjusted_deviate
from gateline.statistics.gamma_sums import log_lower_tail, merge_equal_rows
from gateline.statistics.order_statistics import quantile_ranks
from gateline.statistics.weights import KeyedWeights, WeightSource, weighted_sums

Floats: TypeAlias = NDArray[np.float64]

ERROR = 1 / (2 * STEPS)
"""How far a sketched value may be off, as a share of itself."""
_SIGMAS = 8.0
_MANY_BEYOND = 100
"""Groups beyond a quantile from which on the draws of its gain are near normal."""
_HALVES = np.array([0.5, 0.5])


@dataclass(frozen=True)
class Sketch:
    """The values of one metric in one run and slice as counts of bins by group.

    `low` and `high` are the ends of the bins (b), ascending; `counts` is (groups, bins); `group` the number of each
    row. `beyond` values stand past the last bin (above 0) or before the first (below 0) at no known size.
    """

    low: Floats
    high: Floats
    counts: Floats
    group: NDArray[np.int64]
    beyond: float = 0.0

    @cached_property
    def totals(self) -> Floats:
        """Return the counts of the bins over all groups."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def size(self) -> float:
        """Return the number of values."""
        return float(self.totals.sum()) + abs(self.beyond)

    @property
    def middle(self) -> Floats:
        """Return the value that stands for a bin."""
        return 0.5 * (self.low + self.high)

    def rank_bin(self, rank: float) -> int:
        """Return the bin of the value of a rank, counted from 1; the number of bins where it lies beyond."""
        offset = -self.beyond if self.beyond < 0 else 0.0
        if rank <= offset:
            return -1
        return int(np.searchsorted(np.cumsum(self.totals), rank - offset - 1e-9))

    def quantile(self, probability: float) -> float:
        """Return the quantile, a middle of a bin; infinite where it lies beyond."""
        if self.size <= 0:
            return math.nan
        at = self.rank_bin(max(math.ceil(self.size * probability - 1e-9), 1))
        if at < 0 or at >= len(self.low):
            return -math.inf if at < 0 else math.inf
        return float(self.middle[at])


def sketch_interval(
    sketch: Sketch, probability: float, *, level: float, independent: bool
) -> Interval | None:
    """Return the interval of a quantile of one run, widened to the ends of the bins it falls on.

    `independent`: each question is its own cluster, so that order statistics with binomial ranks hold; else the
    weighted share up to a bin is evaluated, as for clustered samples (docs/statistics.md, section 5).
    """
    size = round(sketch.size)
    counts = {"samples": f"{size:,}", "clusters": f"{len(sketch.group):,}"}
    notes: tuple[Note, ...] = (Note("note.weighed-by-cluster", counts),)
    if len(sketch.group) < 2:
        return None
    if independent:
        low_rank, high_rank = quantile_ranks(size, probability, 0.5 * (1.0 - level))
        low = float(sketch.low[sketch.rank_bin(low_rank)]) if low_rank else None
        high = float(sketch.high[sketch.rank_bin(high_rank)]) if high_rank else None
        needed = samples_needed_for_quantile(probability, level)
        notes = tuple(
            Note(f"note.{name}-end-needs-samples", {"needed": f"{needed[at]:,}", "samples": f"{size:,}"})
            for name, end, at in (("upper", high, 0), ("lower", low, 1)) if end is None
        )  # fmt: skip
        return Interval(low, high, level, "order-statistic", None, notes)
    low, high = _clustered_ends(sketch, probability, adjusted_deviate(level, len(sketch.group)))
    return Interval(low, high, level, "bayesian", None, notes)


def _clustered_ends(sketch: Sketch, probability: float, deviate: float) -> tuple[float | None, float | None]:
    """Return the ends by inversion of the weighted share up to a bin (Woodruff 1952)."""
    count = sketch.counts.sum(axis=1)
    size, upto = float(count.mean()), np.cumsum(sketch.counts, axis=1)
    shape = np.append(np.ones(len(count)), _HALVES)
    tail = float(log_ndtr(deviate))

    def log_chance(at: int, *, at_or_below: bool) -> float:
        share = upto[:, at] if at >= 0 else np.zeros(len(count))
        numerator, denominator = np.append(share, [0.0, size]), np.append(count, [size, size])
        sign = -1.0 if at_or_below else 1.0
        return log_lower_tail(merge_equal_rows(sign * numerator, denominator, shape), sign * probability)

    bins = range(len(sketch.low))
    low = next((at for at in bins if log_chance(at, at_or_below=True) >= tail), len(bins))
    high = next((at for at in bins if log_chance(at, at_or_below=False) <= tail), len(bins))
    nothing_below = log_chance(-1, at_or_below=True) >= tail
    return (
        None if nothing_below or low == len(bins) else float(sketch.low[low]),
        None if high == len(bins) else float(sketch.high[high]),
    )


@dataclass(frozen=True)
class SketchGain:
    """Draws of the gain of a quantile from two sketches; rows of weights are groups of the one, then of the other."""

    sides: tuple[tuple[Floats, Floats], ...]
    """Of each run the sums up to each bin of a window (rows, bins + 1, all values last), and the bins' values."""
    probability: float
    sign: float
    relative: bool

    def draw(self, source: WeightSource, chunk: int) -> Floats:
        """Return one chunk of draws, shape (1, draws)."""
        found = []
        for columns, values in self.sides:
            sums = weighted_sums(columns, source, chunk)
            target = self.probability * sums[-1] * (1.0 - 1e-12)
            passed = (sums[:-1] < target).sum(axis=0)
            found.append(values[np.minimum(passed, len(values) - 1)])
        change: Floats = self.sign * (found[1] - found[0])
        if self.relative:
            with np.errstate(divide="ignore", invalid="ignore"):
                change = np.nan_to_num(change / np.abs(found[0]), nan=0.0, posinf=math.inf, neginf=-math.inf)
        return change[None, :]


def sketch_gain_interval(
    before: Sketch,
    after: Sketch,
    probability: float,
    *,
    paired: bool,
    sign: float,
    relative: bool,
    level: float,
    settings: Settings,
    limits: Sequence[float],
) -> Interval | None:
    """Return the interval of the gain of a quantile, each end moved out by what the sketches may be off."""
    if min(len(before.group), len(after.group)) < 2:
        return None
    names = [f"group {group}" for group in before.group.tolist()]
    others = [f"group {group}" if paired else f"other group {group}" for group in after.group.tolist()]
    row_of = {name: row for row, name in enumerate(dict.fromkeys([*names, *others]))}
    sides = tuple(
        _window(sketch, probability, np.array([row_of[name] for name in own]), len(row_of))
        for sketch, own in ((before, names), (after, others))
    )
    gain = SketchGain(sides, probability, sign, relative)
    weights = KeyedWeights(settings.seed, cluster_keys(list(row_of)))
    deviate = adjusted_deviate(level, min(len(before.group), len(after.group)))
    smooth = len(row_of) * min(probability, 1.0 - probability) >= _MANY_BEYOND
    ends = find_drawn_ends(
        Sample(lambda chunk: gain.draw(weights, chunk)), float(ndtr(deviate)),
        resamples=settings.resamples, clusters=len(row_of), limits=limits, smooth=smooth,
    )  # fmt: skip
    error = sketch_error(before.quantile(probability), after.quantile(probability), relative=relative)
    low, high = (end if math.isfinite(end) else None for end in (ends.low - error, ends.high + error))
    return Interval(low, high, level, "bayesian", ends.draws, ends.notes)


def sketch_error(before: float, after: float, *, relative: bool) -> float:
    """Return how far the gain of two sketched quantiles may be off."""
    if not relative:
        return ERROR * (abs(before) + abs(after))
    return abs(after / before) * 2 * ERROR / (1 - ERROR) if before else math.inf


def _window(sketch: Sketch, probability: float, rows: NDArray[np.int64], size: int) -> tuple[Floats, Floats]:
    """Return sums up to each bin near the quantile, by row of weights, all values last; and the bins' values."""
    share = np.cumsum(sketch.totals) / sketch.totals.sum()
    spread = _SIGMAS * math.sqrt(probability * (1.0 - probability) / len(sketch.group))
    first = int(np.searchsorted(share, probability - spread))
    last = min(int(np.searchsorted(share, probability + spread)), len(share) - 1)
    upto = np.cumsum(sketch.counts, axis=1)
    columns = np.zeros((size, last - first + 2))
    columns[rows] = np.column_stack([upto[:, first : last + 1], upto[:, -1]])
    return columns, sketch.middle[first : last + 1]
