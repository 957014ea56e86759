"""The numbers of each metric for the paired questions; the one place where a missing value is settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, NotComparable, Problem
from gateline.metric import Metric
from gateline.pairing.attempts import ask_attempts
from gateline.pairing.join import Side
from gateline.pairing.labels import Labels, Rows
from gateline.pairing.marks import Flags, find_errors, flags, spent_tokens
from gateline.pairing.plausible import (
    can_be_no_zero,
    check_measured,
    check_positive,
    check_range,
    check_scale,
    check_unit,
    check_weights,
    known_range,
)
from gateline.pairing.settings import Terms
from gateline.remark import list_some, said, suggest
from gateline.samples import Floats, Run

Causes = npt.NDArray[np.int8]

OK, NO_ANSWER, NO_SCORE, CACHED, PRICE_UNKNOWN, COUNTED_WORST, UNDEFINED = range(7)
CAUSE_NAMES = {
    NO_ANSWER: "no_answer",
    NO_SCORE: "no_score",
    CACHED: "cached",
    PRICE_UNKNOWN: "price_unknown",
    COUNTED_WORST: "no_answer",
    UNDEFINED: "no_score",
}
CAUSE_KEYS = {
    NO_ANSWER: "lost.no-answer",
    NO_SCORE: "lost.no-score",
    CACHED: "lost.cached",
    PRICE_UNKNOWN: "lost.price-unknown",
    UNDEFINED: "lost.undefined",
}
"""Cause -> key of the text that counts what was lost by it."""


@dataclass(frozen=True)
class SideValues:
    """One metric of one run for each pair."""

    value: Floats
    """The value, or the numerator of a ratio (pairs); NaN where it can't be used. Attempts are averaged."""
    weight: Floats | None
    """The denominator of a ratio (pairs), else None."""
    usable: Flags
    """Whether the value can be used (pairs)."""
    cause: Causes
    """Why not, or that it counts as the worst (pairs); of several attempts the first that is missing."""
    lost: Floats
    """Share of the attempts that are left out or not there (pairs), 0 to 1."""
    failed: Floats | None = None
    """Share of what the values are means of that failed and isn't in them (pairs), 0 to 1; None where nothing did."""

    @property
    def missing(self) -> Floats:
        """Return the share that is lost or failed within a mean (pairs), 0 to 1."""
        return self.lost if self.failed is None else 1 - (1 - self.lost) * (1 - self.failed)


@dataclass(frozen=True)
class MetricValues:
    """One metric of both runs."""

    baseline: SideValues | None
    """None in a first run."""
    candidate: SideValues
    expected: Rows
    """Pairs for which the metric is defined."""

    def expected_in(self, rows: Rows) -> Rows:
        """Return those of some pairs for which the metric is defined."""
        return rows[self._is_expected[rows]]

    @cached_property
    def _is_expected(self) -> Flags:
        found = np.zeros(len(self.candidate.usable), dtype=bool)
        found[self.expected] = True
        return found

    @property
    def sides(self) -> list[SideValues]:
        """Return the values of the baseline, where there is one, and of the candidate."""
        return [self.candidate] if self.baseline is None else [self.baseline, self.candidate]

    @property
    def usable(self) -> Flags:
        """Return whether a pair has a value in both runs (pairs)."""
        return (
            self.candidate.usable if self.baseline is None else self.baseline.usable & self.candidate.usable
        )


def settle(name: str, metric: Metric, sides: Sequence[Side], labels: Labels, terms: Terms) -> MetricValues:
    """Read a metric from both runs and settle what each missing value means.

    Raises InputError where a run has no such field, or a value is no number or outside the range of the policy or the
    tool, and NotComparable where the two ranges or the scales of the runs differ, or the policy refuses missing values.
    """
    expected = labels.rows(metric.applies_to) if metric.applies_to else labels.rows(None)
    wanted = np.zeros(len(labels.ids), dtype=bool)
    wanted[expected] = True
    asked = ask_attempts(sides, any_number=terms.samples.uneven_attempts == "allow")
    ends = known_range(name, metric, [side.run for side in sides])
    read = [
        _read_side(name, metric, ends, side, wanted, terms, times)
        for side, times in zip(sides, asked, strict=True)
    ]
    values = MetricValues(read[0] if len(read) > 1 else None, read[-1], expected)
    if values.baseline is not None:
        both = values.usable
        pair = values.baseline.value[both], values.candidate.value[both]
        _check_alike(name, metric, pair, sides[-1].run.file, has_range=ends is not None)
    _check_refused(name, values, labels, sides, terms)
    return values


def _check_alike(
    name: str, metric: Metric, pair: tuple[Floats, Floats], file: str, *, has_range: bool
) -> None:
    """Raise NotComparable where the values of both runs (pairs) are of two scales or units, or one has none at all."""
    if can_be_no_zero(name, metric):
        check_measured(name, *pair, file, is_cost=metric.is_cost(name))
    if has_range or metric.ratio or metric.is_cost(name):
        return
    if metric.is_time(name):
        check_unit(name, *pair, file)
    else:
        check_scale(name, *pair, file, fewer_is_better=metric.better == "lower")


def check_fields(metrics: dict[str, Metric], sides: Sequence[Side]) -> None:
    """Raise InputError for each metric whose field stands in no record of a run: a typing slip, not a skip."""
    problems = []
    for name, metric in metrics.items():
        for source in metric.ratio or (metric.field or name,):
            for side in sides:
                if side.run.find_column(source) is None:
                    what = said("problem.no-field", field=source)
                    if source != name:
                        what = said("problem.no-field-of-metric", field=source, metric=name)
                    hint = suggest(source, _numeric_names(side.run))
                    problems.append(Problem(what, side.run.file, hint))
    if problems:
        raise InputError("a metric of the policy is not in the data", problems=problems)


def _numeric_names(run: Run) -> list[str]:
    return [*run.metrics, *(name for name in run.fields if name != run.id_field)]


def _read_side(
    name: str,
    metric: Metric,
    ends: tuple[float, float] | None,
    side: Side,
    wanted: Flags,
    terms: Terms,
    asked: Floats,
) -> SideValues:
    run, records = side.run, len(side.run)
    compared = (side.code >= 0) & wanted[np.maximum(side.code, 0)]
    cause = np.zeros(records, dtype=np.int8)
    field, weight = metric.field or name, None
    if metric.ratio:
        field, weight = metric.ratio[0], run.numbers(metric.ratio[1]).copy()
        check_weights(name, metric.ratio[1], run, weight)
        cause[np.isnan(weight)] = NO_SCORE
    value = run.numbers(field).copy()
    cause[np.isnan(value)] = NO_SCORE
    if metric.is_cost(name) and not metric.free:
        cause[(np.isnan(value) | (value == 0)) & spent_tokens(run)] = PRICE_UNKNOWN
    no_answer, other_error = find_errors(run)
    if metric.is_cost(name) or metric.is_time(name):
        cause[flags(run, "cached")] = CACHED
        if metric.range is None:
            cause[no_answer & (value < 0)] = NO_ANSWER
            check_positive(name, field, run, value, (cause == OK) & compared)
        _count_failed(metric, value, cause, no_answer, terms)
    else:
        cause[other_error] = NO_SCORE
        cause[no_answer] = NO_ANSWER
    if ends:
        with np.errstate(invalid="ignore", divide="ignore"):
            single = value if weight is None else np.where(weight > 0, value / weight, np.nan)
        check_range(name, ends, run, single, (cause == OK) & compared)
        if weight is None:
            value = np.clip(value, *ends)
    _apply_worst(metric, value, cause, terms)
    read = _by_question(side, value, weight, cause, compared, asked)
    return _void_undefined(replace(read, failed=_share_failed(side, field, compared)))


def _share_failed(side: Side, field: str, compared: Flags) -> Floats | None:
    """Return which share of what the values of a field are means of failed (pairs); where it is unknown, none."""
    facts = side.run.find_facts(field)
    if facts is None or side.run.find_column(facts.failed) is None:
        return None
    failed = np.nan_to_num(np.clip(side.run.numbers(facts.failed), 0, 1))[compared]
    code, pairs = side.code[compared], len(side.first)
    total = np.bincount(code, weights=failed, minlength=pairs)
    return total / np.maximum(np.bincount(code, minlength=pairs), 1) if total.any() else None


def _count_failed(metric: Metric, value: Floats, cause: Causes, no_answer: Flags, terms: Terms) -> None:
    """Settle the times and costs of failed samples: they are measured, not judged, so an error does not void them.

    A judge's failure leaves them as they are. A request without an answer counts at least as much as the worst that
    was answered, so that neither a time-out nor a quick crash can look fast; where nothing was recorded, it is left
    out.
    """
    recorded = no_answer & (cause == OK)
    if terms.missing.no_answer != "worst" or metric.worst_value is not None:
        cause[no_answer] = NO_ANSWER
        return
    cause[no_answer & ~recorded] = NO_ANSWER
    if recorded.any():
        worse = np.maximum if metric.better == "lower" else np.minimum
        answered = value[(cause == OK) & ~no_answer]
        worst = worse.reduce(answered if answered.size else value[recorded])
        value[recorded] = worse(value[recorded], worst)
        cause[recorded] = COUNTED_WORST


def _apply_worst(metric: Metric, value: Floats, cause: Causes, terms: Terms) -> None:
    worst = metric.worst_value
    if worst is None:
        return
    counted = np.zeros(len(cause), dtype=bool)
    if terms.missing.no_answer == "worst":
        counted |= cause == NO_ANSWER
    if terms.missing.no_score == "worst":
        counted |= (cause != OK) & (cause != NO_ANSWER)
    value[counted] = worst
    cause[counted] = COUNTED_WORST


def _by_question(
    side: Side, value: Floats, weight: Floats | None, cause: Causes, compared: Flags, asked: Floats
) -> SideValues:
    """Average the usable attempts at each question."""
    pairs = len(side.first)
    code = np.where(compared, side.code, -1)
    used = (code >= 0) & ((cause == OK) | (cause == COUNTED_WORST))
    attempts = np.bincount(code[code >= 0], minlength=pairs)
    number = np.bincount(code[used], minlength=pairs)

    def mean(column: Floats) -> Floats:
        total = np.bincount(code[used], weights=column[used], minlength=pairs)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(number > 0, total / number, np.nan)

    causes = np.zeros(pairs, dtype=np.int8)
    rows = np.flatnonzero((code >= 0) & (cause != OK))[::-1]
    causes[code[rows]] = cause[rows]
    lost = np.where(attempts > 0, (asked - number) / np.maximum(asked, 1), 0.0)
    return SideValues(mean(value), None if weight is None else mean(weight), number > 0, causes, lost)


def _void_undefined(read: SideValues) -> SideValues:
    """Return the values as missing where the denominators add up to 0: then a ratio has no value at all."""
    if read.weight is None or not read.usable.any() or read.weight[read.usable].any():
        return read
    return replace(
        read,
        usable=np.zeros_like(read.usable),
        cause=np.where(read.usable, UNDEFINED, read.cause).astype(np.int8),
        lost=np.where(read.usable, 1.0, read.lost),
    )


def _check_refused(
    name: str, values: MetricValues, labels: Labels, sides: Sequence[Side], terms: Terms
) -> None:
    causes: dict[Literal["no_answer", "no_score"], list[int]] = {
        "no_answer": [NO_ANSWER],
        "no_score": [NO_SCORE, CACHED, PRICE_UNKNOWN, UNDEFINED],
    }
    for word, refused in causes.items():
        if getattr(terms.missing, word) != "refuse":
            continue
        for side, read in zip(sides, values.sides, strict=True):
            rows = np.flatnonzero(np.isin(read.cause, refused))
            if len(rows):
                raise NotComparable(
                    said(
                        "problem.refused",
                        missing=len(rows),
                        asked=len(values.expected),
                        metric=name,
                        setting=word,
                        ids=list_some([labels.ids[int(row)] for row in rows]),
                    ),
                    side.run.file,
                    said("hint.refused", setting=word),
                )
