"""How single questions moved: the spread of paired differences, curves of times, the samples that changed most.

For people who look at a verdict; nothing here decides anything. Every number that a report draws is made here, so
that reports compute nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gateline import statistics
from gateline.comparison import Comparison
from gateline.findings import Finding, Status
from gateline.samples import Floats
from gateline.statistics import Statistic
from gateline.verdict import ChangedSample, Curve, Spread

MOST_METRICS = 40
"""Metrics that are drawn; a policy with more has other troubles."""
MOST_OF_ONE = 5
"""Samples on each side of one metric."""
BINS = 10
"""Bars on each side of zero."""
DRAWN_SHARE = 0.98
"""Share of the differences that decides how far the bars reach; the last bar holds what lies beyond."""
PROBABILITIES = (0.01, *(step / 20 for step in range(1, 20)), 0.99)


def find_spreads(findings: Sequence[Finding], comparison: Comparison) -> list[Spread]:
    """Return how the paired differences of each judged metric spread; empty in a first run."""
    spreads = []
    for finding, gains in _gains_of_metrics(findings, comparison):
        sizes = np.abs(gains[gains != 0])
        if not len(sizes):
            continue
        reach = float(np.partition(sizes, _rank(len(sizes)))[_rank(len(sizes))])
        spreads.append(
            Spread(
                metric=finding.metric,
                show_as=finding.show_as,
                unit=finding.unit,
                samples=len(gains),
                same=int((gains == 0).sum()),
                edges=[reach * step / BINS for step in range(BINS + 1)],
                worse=int((gains < 0).sum()),
                better=int((gains > 0).sum()),
                worse_bars=_count_sizes(-gains[gains < 0], reach),
                better_bars=_count_sizes(gains[gains > 0], reach),
                farthest_worse=float(gains.min()) if gains.min() < 0 else None,
                farthest_better=float(gains.max()) if gains.max() > 0 else None,
            )
        )
    return spreads


def find_curves(findings: Sequence[Finding], comparison: Comparison) -> list[Curve]:
    """Return the quantiles of both runs for each judged time; two metrics of one field make one curve.

    A quantile is a value that occurs, as it is where a rule judges it (Hyndman and Fan 1996, type 1).
    """
    curves: dict[tuple[str, str | None], Curve] = {}
    for finding in _first_of_each_metric(findings, comparison):
        metric = comparison.metrics[finding.metric]
        field = metric.field or finding.metric
        if metric.ratio is not None or not metric.is_time(finding.metric) or (field, metric.unit) in curves:
            continue
        rows = comparison.rows(finding.metric, None)
        if not len(rows):
            continue
        before, after = comparison.per_sample(finding.metric, rows)
        curves[field, metric.unit] = Curve(
            metric=finding.metric,
            field=field,
            unit=metric.unit,
            samples=len(rows),
            probabilities=list(PROBABILITIES),
            baseline=None if before is None else _quantiles(before),
            candidate=_quantiles(after),
        )
    return list(curves.values())


def find_changed(
    findings: Sequence[Finding], comparison: Comparison, *, with_excerpts: bool
) -> list[ChangedSample]:
    """Return the samples that changed most: of each judged metric a few on each side, the worst first."""
    pairs = comparison.pairs
    side = pairs.sides[-1]
    questions = side.run.texts("question") if with_excerpts else None
    changed = []
    for finding, gains in _gains_of_metrics(findings, comparison, keep_undefined=True):
        rows = comparison.rows(finding.metric, None)
        before, after = comparison.per_sample(finding.metric, rows)
        assert before is not None
        for place in _farthest(np.nan_to_num(gains)):
            row = int(rows[place])
            changed.append(
                ChangedSample(
                    id=pairs.ids[row],
                    metric=finding.metric,
                    baseline=float(before[place]),
                    candidate=float(after[place]),
                    gain=float(gains[place]),
                    question=questions[int(side.first[row])] if questions else None,
                )
            )
    return changed


def _gains_of_metrics(
    findings: Sequence[Finding], comparison: Comparison, *, keep_undefined: bool = False
) -> Iterator[tuple[Finding, Floats]]:
    """Yield a finding of each judged metric with the gains of all its pairs, undefined ones left out if not kept."""
    if comparison.pairs.first_run:
        return
    for finding in _first_of_each_metric(findings, comparison):
        gains = comparison.gains(finding.metric, comparison.rows(finding.metric, None))
        yield finding, gains if keep_undefined else gains[np.isfinite(gains)]


def _first_of_each_metric(findings: Sequence[Finding], comparison: Comparison) -> list[Finding]:
    """Return a finding of each metric that was judged, in the order of the findings.

    Metrics that differ only in how a run is summed up, such as P50 and P95, count as one.
    """
    first: dict[object, Finding] = {}
    for finding in findings:
        if finding.status is not Status.SKIPPED:
            metric = comparison.metrics[finding.metric]
            values = (metric.field or finding.metric, metric.ratio, metric.better, metric.applies_to)
            first.setdefault((*values, metric.worst_value, metric.unit), finding)
    return list(first.values())[:MOST_METRICS]


def _farthest(gains: Floats) -> list[int]:
    """Return the places of the samples that lost most, worst first, then of those that won most, best first."""
    return [*_lowest(gains), *_lowest(-gains)]


def _lowest(values: Floats) -> list[int]:
    """Return the places of the lowest values below zero, the lowest first and equal ones in their order."""
    if not len(values):
        return []
    last = min(MOST_OF_ONE, len(values)) - 1
    near = np.flatnonzero((values <= np.partition(values, last)[last]) & (values < 0))
    order = np.argsort(values[near], kind="stable")[:MOST_OF_ONE]
    return [int(place) for place in near[order]]


def _count_sizes(sizes: Floats, reach: float) -> list[int]:
    """Return how many sizes fall into each bar from zero outwards; the last one holds what lies beyond."""
    steps = np.ceil(sizes / (reach / BINS) - 1e-9).astype(int) - 1
    return [int(count) for count in np.bincount(np.clip(steps, 0, BINS - 1), minlength=BINS)]


def _rank(count: int) -> int:
    return max(int(np.ceil(count * DRAWN_SHARE - 1e-9)) - 1, 0)


def _quantiles(values: Floats) -> list[float]:
    return [statistics.evaluate(values, None, Statistic("quantile", share)) for share in PROBABILITIES]
