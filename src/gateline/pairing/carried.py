"""Records of the candidate that are the baseline's: questions that were not answered again.

A system that is deterministic gives equal answers and scores, and that is no fault. Nothing measures the same time to
the last digit again, nor gives a run the same id; so only records that hold such a thing can tell. It finds and refuses
nothing: what follows is for the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import ndtr, pdtrc

from gateline.metric import TIME_FIELDS, Metric
from gateline.pairing.join import Codes, Side
from gateline.pairing.marks import Flags, flags
from gateline.samples import Column, Floats, Run, count_digits

_IDS_OF_RUNS = ("run_id", "trace_id")
"""Fields that name one execution, beside what a reader says."""
_DENSITY = 1.0 / (0.03 * math.sqrt(2.0 * math.pi))
"""How dense the ratio of two times of one question is about 1, where they lie within three hundredths (normal)."""
_TOO_UNLIKELY = float(ndtr(-4.0))
_LOOKED_AT = 1_000
"""Pairs at which the number of digits is looked at."""


def find_carried(baseline: Side, candidate: Side, metrics: dict[str, Metric]) -> list[int]:
    """Return the pairs (positions) whose record in the candidate is the baseline's, times or ids of runs and all.

    None where there are no more of them than chance explains: that a time comes again has a likelihood of 13 times the
    share that its last digit has of it, and too many are as many as a Poisson number has no oftener than a normal one
    lies beyond four standard errors. Fields that only one run has play no part, nor has a record that says it came
    from a cache (`cached`). Of several attempts the first is looked at.
    """
    rows = baseline.first, candidate.first
    same = np.zeros(len(rows[0]), dtype=bool)
    likely = np.ones(len(rows[0]))
    for before, after in _measured(baseline.run, candidate.run, rows, metrics):
        told = _compare(before, after)
        same |= told
        likely = np.minimum(likely, _likeliness(before))
    same &= ~flags(candidate.run, "cached")[rows[1]]
    found = [int(place) for place in np.flatnonzero(same)]
    if not _is_more_than_chance(len(found), float(likely.sum())):
        return []
    found = _keep_same(found, baseline, candidate)
    return found if _is_more_than_chance(len(found), float(likely.sum())) else []


def _is_more_than_chance(found: int, expected: float) -> bool:
    """Return whether a Poisson number of this expectation is hardly ever so large."""
    return found > 0 and float(pdtrc(found - 1, expected)) < _TOO_UNLIKELY


def _measured(
    baseline: Run, candidate: Run, rows: tuple[Codes, Codes], metrics: dict[str, Metric]
) -> Iterator[tuple[Column, Column]]:
    """Yield the columns (pairs each) of both runs that one execution alone can have given."""
    times = {
        metric.field or name
        for name, metric in metrics.items()
        if metric.ratio is None and metric.is_time(name)
    }
    ids = {*_IDS_OF_RUNS, baseline.handle, candidate.handle} - {"", baseline.id_field}
    for name in sorted({*times, *TIME_FIELDS, *ids}):
        first, second = baseline.find_column(name), candidate.find_column(name)
        if first is None or second is None:
            continue
        before, after = _take(first, rows[0]), _take(second, rows[1])
        is_usable = name in ids or (isinstance(before, np.ndarray) and isinstance(after, np.ndarray))
        if is_usable and _varies(before) and _varies(after):
            yield before, after


def _take(column: Column, rows: Codes) -> Column:
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows.tolist()]


def _varies(column: Column) -> bool:
    """Return whether most values differ: what is the same for many records tells no execution from another."""
    if isinstance(column, np.ndarray):
        values = column[~np.isnan(column)].tolist()
    else:
        values = [str(one) for one in column if one]
    return bool(values) and 2 * len(set(values)) > len(values)


def _compare(before: Column, after: Column) -> Flags:
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return np.asarray((before == after) & (before != 0), dtype=bool)
    told = (bool(one) and one == other for one, other in zip(before, after, strict=True))
    return np.fromiter(told, dtype=bool, count=len(before))


def _likeliness(column: Column) -> float:
    """Return how likely it is that a value comes again by chance: of numbers by their digits, of ids not at all."""
    if not isinstance(column, np.ndarray):
        return 0.0
    values = np.abs(column[np.isfinite(column) & (column != 0)])
    sizes = values[:: max(1, len(values) // _LOOKED_AT)]
    if not len(sizes):
        return 1.0
    return float(np.minimum(1.0, _DENSITY * _last_digits(sizes) / sizes).mean())


def _last_digits(sizes: Floats) -> Floats:
    """Return the step in which each number (n, above 0) was written: 0.001 for 0.812.

    A zero at the end may be chance: what most numbers of the column have counts, of digits in all or after the point.
    """
    digits = np.array([count_digits(size) for size in sizes.tolist()])
    above = np.floor(np.log10(sizes)) + 1
    last = above - digits
    usual = np.maximum(np.median(last), above - np.median(digits))
    steps: Floats = 10.0 ** np.minimum(last, usual)
    return steps


def _keep_same(found: Sequence[int], baseline: Side, candidate: Side) -> list[int]:
    """Return those pairs whose records are the same in all columns that both runs have."""
    rows = [(int(baseline.first[place]), int(candidate.first[place])) for place in found]
    kept = np.ones(len(rows), dtype=bool)
    for section in ("metrics", "slices", "fields"):
        first, second = getattr(baseline.run, section), getattr(candidate.run, section)
        for name in first.keys() & second.keys():
            pairs = ((first[name][a], second[name][b]) for a, b in rows)
            kept &= np.fromiter((_equal(one, other) for one, other in pairs), bool, len(rows))
    return [place for place, keep in zip(found, kept.tolist(), strict=True) if keep]


def _equal(one: object, other: object) -> bool:
    """Return whether two values are the same; NaN, which says that there is none, is as another."""
    both_nan = isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    return both_nan or one == other
