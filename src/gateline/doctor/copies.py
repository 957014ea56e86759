"""Copies of two paired runs: nothing changed, or a known drop was put in.

Whatever holds two runs apart but the question is taken away by swapping their sides at random, cluster by cluster:
under "nothing changed" the sides are exchangeable. It judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gateline.metric import Metric
from gateline.pairing import MetricValues, Pairs, Rows, SideValues
from gateline.samples import Floats

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Change:
    """A drop of one metric in one slice that is put into a copy."""

    metric: str
    slice: str | None
    size: float
    """Above 0: a share of the metric's range, or of the candidate's own values where the metric has none."""


def swap_sides(pairs: Pairs, generator: np.random.Generator) -> Pairs:
    """Return the pairs with baseline and candidate exchanged in each cluster with chance one half."""
    swapped = (generator.random(len(pairs.cluster_names)) < 0.5)[pairs.cluster]
    metrics = {}
    for name, values in pairs.metrics.items():
        assert values.baseline is not None
        metrics[name] = MetricValues(
            _mix(values.baseline, values.candidate, swapped),
            _mix(values.candidate, values.baseline, swapped),
            values.expected,
        )
    return replace(pairs, metrics=metrics, identical=False)


def differ(pairs: Pairs) -> bool:
    """Return whether the two runs differ in any value, so that swapping their sides changes something."""
    for values in pairs.metrics.values():
        before, after = values.baseline, values.candidate
        if before is None:
            continue
        columns = [(before.value, after.value), (before.usable, after.usable), (before.cause, after.cause)]
        if before.weight is not None and after.weight is not None:
            columns.append((before.weight, after.weight))
        if not all(np.array_equal(*both, equal_nan=both[0].dtype.kind == "f") for both in columns):
            return True
    return False


def redo_answers(pairs: Pairs, share: float, generator: np.random.Generator) -> Pairs:
    """Return one run against itself, with a share of the candidate's answers made anew.

    An answer that is made anew has the values of another question, the same one for all metrics that are known of
    both: an assumption about noise for who has but one run. A metric that is not known of that question takes the
    value of one of which it is, so that no metric of a part of the questions has less noise than was asked for. What
    is missing stays missing. `pairs` holds the run on both sides.
    """
    count = len(pairs.ids)
    other = generator.integers(0, count, size=count)
    redone = generator.random(count) < share
    metrics = {}
    for name, values in pairs.metrics.items():
        side = values.candidate
        source, usable = other.copy(), np.flatnonzero(side.usable)
        unknown = np.flatnonzero(redone & side.usable & ~side.usable[other])
        if len(unknown):
            source[unknown] = usable[generator.integers(0, len(usable), size=len(unknown))]
        from_other = replace(
            side,
            value=side.value[source],
            weight=None if side.weight is None else side.weight[source],
            usable=side.usable[source],
            cause=side.cause[source],
            lost=side.lost[source],
        )
        metrics[name] = MetricValues(side, _mix(side, from_other, redone & side.usable), values.expected)
    return replace(pairs, metrics=metrics, identical=False)


def put_in(change: Change, pairs: Pairs, metric: Metric, chances: Floats) -> Pairs | None:
    """Return the pairs with a drop in the candidate; None where the metric has not so far to fall.

    With a range, single answers become as bad as can be, so many that the mean falls by the drop on average: those
    whose chance (pairs, uniform from 0 to 1) is lowest, so that a larger drop breaks the same answers and more.
    Without a range, all values of the slice become worse by the drop, as a share of themselves.
    """
    values = pairs.metrics[change.metric]
    side = values.candidate
    rows = _rows(change, pairs, values)
    changed = side.value.copy()
    if metric.range is None:
        worse = 1.0 - change.size if metric.better == "higher" else 1.0 + change.size
        changed[rows] *= np.where(changed[rows] < 0.0, 2.0 - worse, worse)
    else:
        weight = np.ones(len(side.value)) if side.weight is None else side.weight
        worst = (metric.range[0] if metric.better == "higher" else metric.range[1]) * weight
        room = float(np.abs(side.value - worst)[rows].sum())
        wanted = change.size * (metric.range[1] - metric.range[0]) * float(weight[rows].sum())
        if wanted > room + 1e-12 or not len(rows):
            return None
        broken = rows[chances[rows] < wanted / room] if room else rows[:0]
        changed[broken] = worst[broken]
    metrics = {**pairs.metrics, change.metric: replace(values, candidate=replace(side, value=changed))}
    return replace(pairs, metrics=metrics)


def _rows(change: Change, pairs: Pairs, values: MetricValues) -> Rows:
    rows = pairs.labels.rows(change.slice)
    return rows[values.candidate.usable[rows]]


def _mix(kept: SideValues, other: SideValues, from_other: Flags) -> SideValues:
    weight = None
    if kept.weight is not None and other.weight is not None:
        weight = np.where(from_other, other.weight, kept.weight)
    return SideValues(
        np.where(from_other, other.value, kept.value),
        weight,
        np.where(from_other, other.usable, kept.usable),
        np.where(from_other, other.cause, kept.cause),
        np.where(from_other, other.lost, kept.lost),
    )
