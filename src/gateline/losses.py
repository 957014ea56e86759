"""Which questions failed a hard rule or got worse, one by one: what `gateline harvest` keeps for ever after.

It decides nothing and keeps nothing; how much worse is much worse is for those who read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gateline.comparison import Comparison
from gateline.findings import Finding, Status
from gateline.lost_samples import Losses, LostSample
from gateline.pairing import Rows
from gateline.rules import Rule
from gateline.samples import Floats

MOST_METRICS = 40
"""Metrics that are looked at; a policy with more has other troubles."""
MOST_OF_A_RULE = 1000
"""Questions named of one hard rule."""
MOST_OF_A_METRIC = 100
"""Questions named of one metric."""


def find_losses(
    findings: Sequence[Finding], comparison: Comparison, rules: Mapping[str, Rule], *, with_excerpts: bool
) -> list[Losses]:
    """Return the questions that fail each hard rule on single samples, then those that got worse in each metric.

    Of metrics, only judged ones with a range that are no times and no costs: elsewhere nothing says what is much, and
    a slow answer is not a wrong one. A question whose value is not known in both runs did not get worse, as far as
    anybody knows.
    """
    place = _Places(comparison, with_excerpts=with_excerpts)
    return [
        *_failing(findings, comparison, rules, place),
        *_worse(findings, comparison, place),
    ]


def _failing(
    findings: Sequence[Finding], comparison: Comparison, rules: Mapping[str, Rule], place: _Places
) -> Iterator[Losses]:
    rows: dict[str, int] = {}
    for finding in findings:
        if finding.kind != "every" or not finding.hard or not finding.failing:
            continue
        rule = rules[finding.rule]
        estimate = comparison.estimate(
            finding.metric, finding.slice, candidate_alone=rule.looks_at_candidate_alone()
        )
        failing = rule.settle(comparison, estimate, 1).failing  # the finding names a few of them only
        rows = rows or {name: row for row, name in enumerate(comparison.pairs.ids)}
        named = np.array([rows[name] for name in failing[:MOST_OF_A_RULE]], dtype=np.int64)
        yield Losses(
            metric=finding.metric,
            rule=finding.rule,
            slice=finding.slice,
            width=comparison.metrics[finding.metric].width,
            number=len(failing),
            samples=place.tell(finding.metric, named),
        )


def _worse(findings: Sequence[Finding], comparison: Comparison, place: _Places) -> Iterator[Losses]:
    if comparison.pairs.first_run:
        return
    judged = dict.fromkeys(finding.metric for finding in findings if finding.status is not Status.SKIPPED)
    for name in list(judged)[:MOST_METRICS]:
        metric = comparison.metrics[name]
        if metric.width is None or metric.is_time(name) or metric.is_cost(name):
            continue
        rows = comparison.rows(name, None)
        gains = comparison.gains(name, rows)
        lost = np.flatnonzero(gains < 0)
        if len(lost):
            yield Losses(
                metric=name,
                rule=None,
                slice=None,
                width=metric.width,
                number=len(lost),
                samples=place.tell(name, rows[_worst_first(gains, lost)]),
            )


def _worst_first(gains: Floats, lost: Rows) -> Rows:
    """Return the places of the worst losses, equal ones in the order of their ids."""
    if len(lost) > MOST_OF_A_METRIC:
        last = np.partition(gains[lost], MOST_OF_A_METRIC - 1)[MOST_OF_A_METRIC - 1]
        lost = lost[gains[lost] <= last]
    return lost[np.argsort(gains[lost], kind="stable")][:MOST_OF_A_METRIC]


class _Places:
    """What is told of a question wherever it stands: its values, its slices and its text."""

    def __init__(self, comparison: Comparison, *, with_excerpts: bool):
        pairs = comparison.pairs
        side = pairs.sides[-1]
        self._comparison = comparison
        self._first = side.first
        self._questions = side.run.texts("question") if with_excerpts else None
        self._looked_at = list(pairs.facts.slices) if pairs.facts else []

    @cached_property
    def _members(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Whether each pair (n) is in a slice, by slice."""
        pairs = self._comparison.pairs
        members = {}
        for name in self._looked_at:
            members[name] = np.zeros(len(pairs.ids), dtype=bool)
            members[name][pairs.labels.rows(name)] = True
        return members

    def tell(self, metric: str, rows: Rows) -> list[LostSample]:
        """Return what is known of some pairs (rows), in their order."""
        ids = self._comparison.pairs.ids
        before, after = self._comparison.per_sample(metric, rows)
        gains = self._comparison.gains(metric, rows)
        return [
            LostSample(
                id=ids[row],
                baseline=None if before is None else _known(before[at]),
                candidate=_known(after[at]),
                gain=_known(gains[at]),
                slices=[name for name, members in self._members.items() if members[row]],
                question=self._questions[int(self._first[row])] if self._questions else None,
            )
            for at, row in enumerate(rows.tolist())
        ]


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
