"""The audit of a judge: all samples, each slice, and whether the judge is better than chance.

It puts together what `measures` and `correction` find. It must not format anything for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gateline.audit.correction import Correction, correct
from gateline.audit.kinds import Kind
from gateline.audit.matching import Matched, Question, match
from gateline.audit.measures import (
    Confusion,
    Level,
    Measured,
    count_confusion,
    count_table,
    measure_agreement,
    measure_graded,
    measure_pass_fail,
)
from gateline.statistics import Settings

Chance = Literal["better", "not shown", "worse"]

DECIDES: dict[Kind, str] = {"pass/fail": "separation", "graded": "spearman", "categories": "kappa"}
"""The number of each kind that is 0 for a judge that knows nothing."""


@dataclass(frozen=True)
class Part:
    """What was found over all samples, or in one slice."""

    label: str
    """Name of the label; empty for all samples."""
    value: str
    samples: int
    """Samples that the judge was asked about."""
    both: int
    """Samples with both labels: what the measures rest on."""
    clusters: int
    """Clusters among these."""
    missing: dict[str, int]
    """The judge's missing labels by cause."""
    human_where_missing: float | None
    """Mean of people's labels where the judge has none: failures are seldom random. None where nobody knows."""
    without_human: int
    """Samples that the judge has a label for and people have not."""
    confusion: Confusion | None
    """Of pass/fail labels."""
    table: list[list[int]] | None
    """Of categories: a row for each label of people, a column for each of the judge."""
    measures: dict[str, Measured]
    better_than_chance: Chance
    correction: Correction | None
    """None of categories, and where nothing has both labels."""


@dataclass(frozen=True)
class Audit:
    """A judge held against people."""

    human: str
    judge: str
    human_metric: str
    judge_metric: str
    kind: Kind
    categories: tuple[str, ...]
    confidence: float
    overall: Part
    slices: list[Part]
    warnings: list[str]

    @property
    def is_better_than_chance(self) -> bool:
        """Whether the judge is shown to be better than chance over all samples."""
        return self.overall.better_than_chance == "better"


def review_judge(question: Question, settings: Settings | None = None) -> Audit:
    """Hold a judge against people.

    Args:
        question: the two files and how to read them.
        settings: confidence (two-sided, of each interval by itself) and seed.

    Returns:
        The audit. An InputError says what is wrong with the files, among that different ids.
    """
    settings = settings or Settings()
    matched = match(question)
    level = Level(settings.confidence, settings)
    everything = np.ones(len(matched.ids), dtype=bool)
    warnings = list(matched.warnings)
    overall = _look_at(matched, "", "", everything, level)
    if overall.correction is not None and overall.correction.unlike:
        warnings.append(overall.correction.unlike)
    return Audit(
        human=matched.human_file.run.file,
        judge=matched.judge_file.run.file,
        human_metric=matched.human_file.name,
        judge_metric=matched.judge_file.name,
        kind=matched.kind,
        categories=matched.categories,
        confidence=settings.confidence,
        overall=overall,
        slices=_look_at_slices(matched, level),
        warnings=warnings,
    )


def _look_at_slices(matched: Matched, level: Level) -> list[Part]:
    parts = []
    for label, texts in matched.slices.items():
        for value in sorted({text for values in texts for text in values}):
            rows = np.array([value in values for values in texts])
            parts.append(_look_at(matched, label, value, rows, level))
    return parts


def _look_at(matched: Matched, label: str, value: str, rows: NDArray[np.bool_], level: Level) -> Part:
    both, judged = rows & matched.both, rows & matched.judged
    samples = matched.take(both)
    confusion: Confusion | None = None
    table: list[list[int]] | None = None
    correction: Correction | None = None
    measures: dict[str, Measured] = {}
    if not both.any():
        pass
    elif matched.kind == "pass/fail":
        measures, confusion = measure_pass_fail(samples, level), count_confusion(samples)
    elif matched.kind == "graded":
        measures = measure_graded(samples, matched.bounds, level)
    else:
        measures = measure_agreement(samples, len(matched.categories), level)
        table = count_table(samples, len(matched.categories))
    of_all = matched.take_by_chance(judged)
    if measures and matched.kind != "categories" and of_all.has_label.any():
        pass_fail = matched.kind == "pass/fail"
        correction = correct(of_all, matched.bounds, level, pass_fail=pass_fail)
    return Part(
        label=label,
        value=value,
        samples=int(rows.sum()),
        both=int(both.sum()),
        clusters=int(np.unique(matched.cluster[both]).size),
        missing=matched.missing(rows),
        human_where_missing=_mean_where_missing(matched, rows & ~matched.judged),
        without_human=int((judged & ~both).sum()),
        confusion=confusion,
        table=table,
        measures=measures,
        better_than_chance=_compare_with_chance(measures.get(DECIDES[matched.kind])),
        correction=correction,
    )


def _mean_where_missing(matched: Matched, rows: NDArray[np.bool_]) -> float | None:
    known = matched.human[rows & ~np.isnan(matched.human)]
    return float(known.mean()) if known.size and matched.kind != "categories" else None


def _compare_with_chance(found: Measured | None) -> Chance:
    if found is None:
        return "not shown"
    if found.low is not None and found.low > 0.0:
        return "better"
    if found.high is not None and found.high < 0.0:
        return "worse"
    return "not shown"
