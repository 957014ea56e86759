"""The facts of a result file: what the reader recognised, its numbers and labels, what is missing and why.

It judges no run and knows no policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError
from gateline.field_names import Better, Kind, guess_better_of_metric, guess_kind
from gateline.pairing.marks import find_errors
from gateline.pairing.provenance import state_facts
from gateline.samples import Floats, MetricFacts, Run

Rows = npt.NDArray[np.bool_]

NOT_MEASURED = frozenset({"attempt", "error", "cached"})
MOST_LABELS = 50
"""Different texts up to which a field is a label and not free text."""
LONGEST_LABEL = 80
"""Characters up to which a text is a label."""


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers."""

    name: str
    kind: Kind
    """What the numbers measure, by section and name."""
    better: Better | None
    """Which way is better, as the tool says it or guessed by the name."""
    values: int
    """Records whose value can be used."""
    missing: dict[str, int]
    """Records without a usable value, by cause: null, no_answer, error, cached, price_unknown."""
    low: float | None
    """Smallest value; None without values, as are the next ones."""
    mean: float | None
    median: float | None
    high: float | None
    p95: float | None
    deviation: float | None
    """Standard deviation with n - 1 in the denominator; None below two values."""
    is_pass_fail: bool
    """Whether all values are 0 or 1."""
    range: tuple[float, float] | None
    """The scale that the tool states, or that the values seem to be on, for scores."""
    refused: str
    """Why the column cannot be used as numbers; empty if it can."""
    is_stated: bool = False
    """Whether direction and range are what the tool says, and no guess."""
    is_diagnosis: bool = False
    """Whether the tool says that no way is better."""


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels."""

    name: str
    is_slice: bool
    """Whether the file keeps it as a slice."""
    different: int
    """Different labels."""
    blank: int
    """Records without one."""
    counts: dict[str, int]
    """Records by label, the most frequent first, all of them; a record with several counts at each."""


@dataclass(frozen=True)
class Inspection:
    """What is in a result file."""

    file: str
    sha256: str
    format: str
    format_version: str
    """Version of the format or of the tool that wrote it; empty where the file doesn't tell."""
    reader: str
    """Name by which `--read-as` forces the reader of the file; empty where that is not known."""
    samples: int
    """Records."""
    distinct_ids: int
    attempts: int
    """Most records of one id."""
    id_field: str
    """Field that holds the ids, or what they were made of."""
    made_ids: bool
    """Whether the reader made the ids, as no field holds them."""
    numbers: list[NumberColumn]
    labels: list[LabelColumn]
    texts: list[str]
    """Fields with free text or nested values."""
    provenance: dict[str, str]
    """How the run was made, as far as the file says so for the whole of it."""
    warnings: list[str]


def find_facts(run: Run, reader: str) -> Inspection:
    """Return what is in a run, without warnings; `reader` is the name of what read it."""
    repeats = Counter(run.ids)
    no_answer, error = find_errors(run)
    facts = state_facts(run)
    names = [*run.metrics, *(name for name in run.number_names() if name not in run.metrics)]
    names = [name for name in names if name not in NOT_MEASURED]
    labels, texts = _inspect_labels(run, {*names, *facts})
    return Inspection(
        file=run.file,
        sha256=run.sha256,
        format=run.format,
        format_version=run.format_version,
        reader=reader,
        samples=len(run),
        distinct_ids=len(repeats),
        attempts=max(repeats.values(), default=0),
        id_field=run.id_field,
        made_ids=run.made_ids,
        numbers=[_inspect_numbers(run, name, no_answer, error) for name in names],
        labels=labels,
        texts=texts,
        provenance=facts,
        warnings=[],
    )


def _inspect_numbers(run: Run, name: str, no_answer: Rows, error: Rows) -> NumberColumn:
    said = run.metric_facts.get(name)
    is_diagnosis = said is not None and said.better is None
    kind: Kind = "number" if is_diagnosis else guess_kind(name, is_metric=name in run.metrics)
    if said is not None and said.better is not None and kind == "number":
        kind = "score"
    refused = ""
    try:
        values = run.numbers(name)
    except InputError as problem:
        refused = problem.headline if len(problem.problems) > 1 else problem.problems[0].message
        values = np.full(len(run), np.nan)
    missing, usable = _settle_missing(run, kind, values, no_answer, error)
    kept = values[usable]
    return NumberColumn(
        name=name,
        kind=kind,
        better=_find_better(name, said),
        values=len(kept),
        missing={} if refused else missing,
        low=_compute(np.min, kept),
        mean=_compute(np.mean, kept),
        median=_compute(np.median, kept),
        high=_compute(np.max, kept),
        p95=_compute(lambda values: np.quantile(values, 0.95), kept),
        deviation=_compute(lambda values: np.std(values, ddof=1), kept) if len(kept) > 1 else None,
        is_pass_fail=bool(len(kept)) and bool(np.isin(kept, (0.0, 1.0)).all()),
        range=_find_range(kept, kind, said),
        refused=refused,
        is_stated=said is not None,
        is_diagnosis=is_diagnosis,
    )


def _find_better(name: str, said: MetricFacts | None) -> Better | None:
    return guess_better_of_metric(name) if said is None else said.better


def _find_range(values: Floats, kind: Kind, said: MetricFacts | None) -> tuple[float, float] | None:
    if said is not None and (said.range is not None or said.better is None):
        return said.range
    return _guess_range(values) if kind == "score" and len(values) else None


def _compute(summary: Callable[[Floats], np.floating[Any]], values: Floats) -> float | None:
    """Return a summary of finite values; None without values, or where it is beyond a double."""
    if not len(values):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        computed = float(summary(values))
    return computed if np.isfinite(computed) else None


def _settle_missing(
    run: Run, kind: Kind, values: Floats, no_answer: Rows, error: Rows
) -> tuple[dict[str, int], Rows]:
    """Return how many records lack a usable value, by cause, and which have one.

    The causes are those of pairing, which settles them again for the metrics of a policy.
    """
    cause = np.where(np.isnan(values), "null", "").astype("U16")
    if kind == "cost":
        cause[(np.isnan(values) | (values == 0)) & _spent_tokens(run)] = "price_unknown"
    if kind in {"cost", "time"}:
        cause[_is_cached(run)] = "cached"
    cause[error] = "error"
    cause[no_answer] = "no_answer"
    return dict(Counter(name for name in cause.tolist() if name)), cause == ""


def _is_cached(run: Run) -> Rows:
    texts = run.texts("cached") or [""] * len(run)
    return np.array([text.lower() in {"true", "1", "yes"} for text in texts], dtype=bool)


def _spent_tokens(run: Run) -> Rows:
    spent = np.zeros(len(run), dtype=bool)
    for name in run.number_names():
        if guess_kind(name, is_metric=False) == "tokens" and isinstance(run.find_column(name), np.ndarray):
            spent |= np.nan_to_num(run.numbers(name)) > 0
    return spent


def _guess_range(values: Floats) -> tuple[float, float] | None:
    """Return the scale that scores seem to be on: 0 to 1, 1 to 5 in whole points, 0 to 100, -1 to 1."""
    low, high = float(values.min()), float(values.max())
    slack = 1e-6
    if low >= -slack and high <= 1 + slack:
        return (0.0, 1.0)
    if low >= 1 and high <= 5 and bool((values == np.round(values)).all()):
        return (1.0, 5.0)
    if low >= 0 and high <= 100 and (values > 1).mean() > 0.5:
        return (0.0, 100.0)
    return (-1.0, 1.0) if low >= -1 - slack and high <= 1 + slack else None


def _inspect_labels(run: Run, without: set[str]) -> tuple[list[LabelColumn], list[str]]:
    """Return the columns that are labels, and the names of those with free text; numbers and facts are left out."""
    labels: list[LabelColumn] = []
    texts: list[str] = []
    for name in [*run.slices, *(name for name in run.fields if name not in run.slices)]:
        if name in without and name not in run.slices:
            continue
        values = run.labels(name) or []
        counts = Counter(text for found in values for text in found)
        repeats = len(counts) <= min(MOST_LABELS, max(2, len(run) / 2))
        is_short = all(len(text) <= LONGEST_LABEL for text in counts)
        if name not in run.slices and not (counts and repeats and is_short):
            texts.append(name)
            continue
        labels.append(
            LabelColumn(
                name=name,
                is_slice=name in run.slices,
                different=len(counts),
                blank=sum(not found for found in values),
                counts=dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
            )
        )
    return labels, texts
