"""Records with their metrics as one run: what was computed, beside what the outputs and the golden set say anyway.

Labels that metrics were computed from, and long texts in lists, are left out; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gateline.errors import count_of, name_some
from gateline.golden.questions import NAMES, SLICES
from gateline.samples import Column, MetricFacts, Run
from gateline.scoring._definitions import Definition, Measured
from gateline.scoring._material import OUTPUTS, Material, Rows
from gateline.scoring.context import read_sent_ids
from gateline.scoring.retrieval import read_retrieved

LABELS = frozenset(name for names in (*NAMES.values(), *OUTPUTS.values()) for name in names)
KEPT = frozenset({"question", "split", "source_snapshot"})
"""Labels that stay in the result."""
VERSIONS = ("golden_set.version", "version")
Computed = Sequence[tuple[str, int, Definition, Measured]]
"""Name, cut-off, definition and values of each metric."""


def make_run(material: Material, computed: Computed, noticed: Sequence[str] = ()) -> Run:
    """Return the records as a run; questions without an output have `error: no_answer` unless only ids are known."""
    metrics: dict[str, Column] = {
        name: _pick(column, material.output) for name, column in material.outputs.metrics.items()
    }
    replaced = [name for name, _, _, _ in computed if name in metrics]
    reasons: dict[str, Column] = {}
    for name, cutoff, definition, measured in computed:
        if definition.summary == "spread":
            continue  # stays among the fields as it was recorded
        if definition.summary != "ratio":
            metrics[name] = measured.value
        said = measured.reasons()
        if any(said):
            reasons[f"undefined.{name}"] = list(said)
        for count, values in zip(
            definition.counts or (), (measured.numerator, measured.denominator), strict=False
        ):
            metrics[definition.named(count, cutoff)] = values
    return replace(
        material.outputs,
        ids=material.ids,
        lines=np.where(material.has_output, material.outputs.lines[np.maximum(material.output, 0)], 0),
        metrics=metrics,
        slices=_collect_slices(material),
        fields={**_collect_fields(material), **reasons},
        written={},
        provenance=_tell_provenance(material, computed),
        id_field="id",
        origins=[],
        metric_facts={**material.outputs.metric_facts, **_tell_facts(computed)},
        warnings=(*material.outputs.warnings, *noticed, *_warn(material, replaced)),
    )


def _tell_facts(computed: Computed) -> dict[str, MetricFacts]:
    """Return direction and range of each metric; a count is neither better high nor low."""
    facts: dict[str, MetricFacts] = {}
    for name, cutoff, definition, _ in computed:
        for count in definition.counts or ():
            facts[definition.named(count, cutoff)] = MetricFacts(None)
        if definition.summary != "ratio":
            ends = None if definition.unit else (0.0, 1.0)
            facts[name] = MetricFacts(definition.better, ends, definition.weights)
    return facts


def _pick(column: Column, rows: Rows) -> Column:
    """Return the values of rows, NaN or None for a row of -1."""
    if isinstance(column, np.ndarray):
        return np.where(rows >= 0, column[np.maximum(rows, 0)], np.nan)
    return [None if row < 0 else column[row] for row in rows.tolist()]


def _collect_slices(material: Material) -> dict[str, Column]:
    """Return the labels of the golden set, then those of the outputs that it doesn't have."""
    golden = material.golden.run
    slices = {name: _pick(column, material.question) for name, column in golden.slices.items()}
    for name in SLICES:
        column = golden.find_label(name)
        if column is not None and name not in slices:
            slices[name] = _pick(column, material.question)
    if material.golden.answerable:
        words = {True: "true", False: "false", None: None}
        slices["answerable"] = [words[one] for one in material.of_question(material.golden.answerable)]
    for name, column in material.outputs.slices.items():
        slices.setdefault(name, _pick(column, material.output))
    return slices


def _collect_fields(material: Material) -> dict[str, Column]:
    """Return the plain fields of the outputs, then those of the golden set that they don't have."""
    fields: dict[str, Column] = {}
    sources: tuple[tuple[Run, Rows], ...] = (
        (material.outputs, material.output), (material.golden.run, material.question))  # fmt: skip
    for run, rows in sources:
        for name, column in _plain_fields(run).items():
            fields.setdefault(name, _pick(column, rows))
    if material.golden.questions and "question" not in fields:
        fields["question"] = list(material.of_question(material.golden.questions))
    absent = ~material.has_output
    if absent.any() and material.outputs.format != "trec-run":
        errors = fields.get("error", [None] * len(material))
        if isinstance(errors, np.ndarray):
            errors = [None if np.isnan(value) else value for value in errors.tolist()]
        fields["error"] = [
            "no_answer" if gone else value for gone, value in zip(absent.tolist(), errors, strict=True)
        ]
    return fields


def _plain_fields(run: Run) -> Mapping[str, Column]:
    """Return the fields that hold numbers, texts or truth values."""
    skipped = {*SLICES, "answerable", *(LABELS - KEPT)}
    plain: dict[str, Column] = {}
    for name, column in run.fields.items():
        if name in skipped or name.partition(".")[0] in LABELS - KEPT:
            continue
        if isinstance(column, np.ndarray) or all(
            value is None or isinstance(value, str | bool | int | float) for value in column
        ):
            plain[name] = run.written.get(name, column)
    return plain


def _tell_provenance(material: Material, computed: Computed) -> dict[str, object]:
    """Return how the run was made: other labels give other numbers, so the golden set's digest is part of it."""
    golden, provenance = material.golden.run, dict(material.outputs.provenance)
    for name in VERSIONS:
        values = [golden.provenance.get(name), *set(golden.texts(name) or [])]
        version = next((value for value in values if value), None)
        if version is not None and len(set(golden.texts(name) or [])) <= 1:
            provenance.setdefault("golden_set.version", version)
    provenance["golden_set.sha256"] = golden.sha256
    for name, _, definition, _ in computed:
        if definition.weights:
            provenance[f"scoring.{name}"] = definition.weights
    return provenance


def _warn(material: Material, replaced: Sequence[str]) -> list[str]:
    warnings = []
    absent = [name for name, gone in zip(material.ids, (~material.has_output).tolist(), strict=True) if gone]
    if absent:
        counted = (
            "counted as 0 retrieved" if material.outputs.format == "trec-run" else "counted as not answered"
        )
        warnings.append(
            f"no results for {len(absent)} of {count_of(len(material.golden), 'question', 'questions')} of the golden "
            f"set, {counted}: {name_some(absent, 10)}"
        )
    if material.unasked:
        one = len(material.unasked) == 1
        told = count_of(len(material.unasked), "question is", "questions are")
        warnings.append(
            f"{told} not in the golden set and {'is' if one else 'are'} left out: "
            f"{name_some(material.unasked, 10)}"
        )
    warnings += _warn_of_other_ids(material)
    if replaced:
        warnings.append(f"computed anew from the labels: {name_some(replaced, 10)}")
    return warnings


def _warn_of_other_ids(material: Material) -> list[str]:
    """Return a sentence for each list of ids that has none in common with the labels: they may be ids of another kind.

    Scores of 0 throughout then say nothing of the system, and as a baseline anything would be better than them.
    """
    labelled = dict.fromkeys(name for grades in material.golden.relevant or [] for name in grades or ())
    if not labelled:
        return []
    lists = {"retrieved": read_retrieved(material), "sent to the model": read_sent_ids(material)}
    warnings = []
    for what, rankings in lists.items():
        found = dict.fromkeys(name for ranking in rankings or [] for name in sorted(ranking or ()))
        if found and labelled.keys().isdisjoint(found):
            warnings.append(
                f"none of the ids {what} ({name_some(found, 3)}) is labelled in the golden set "
                f"({name_some(labelled, 3)}): are they ids of the same kind?"
            )
    return warnings
