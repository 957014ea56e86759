"""RAGChecker: its results with the metrics of each query, or the summary that it prints.

A metric of a query goes from 0 to 1, the same metric in the summary from 0 to 100. RAGChecker writes 0 where there
was nothing to divide by, as no claim could be taken from a text; that is no score here. Nothing here checks claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers._building import RunBuilder, describe, make_run_of_means
from gateline.readers._identity import identify_by
from gateline.readers._json_document import number_of, object_of, parse_document
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source
from gateline.samples import MetricFacts, Run

NAME = "ragchecker"
GROUPS = frozenset({"overall_metrics", "retriever_metrics", "generator_metrics"})
OLD_GROUPS = frozenset({"overall", "retriever", "generator"})

RESPONSE, REFERENCE, CONTEXT = "response_claims", "gt_answer_claims", "retrieved_context"
NEEDS: dict[str, frozenset[str]] = {
    "precision": frozenset({RESPONSE}),
    "recall": frozenset({REFERENCE}),
    "f1": frozenset({RESPONSE, REFERENCE}),
    "claim_recall": frozenset({REFERENCE}),
    "context_precision": frozenset({REFERENCE, CONTEXT}),
    "context_utilization": frozenset({REFERENCE}),
    "noise_sensitivity_in_relevant": frozenset({RESPONSE}),
    "noise_sensitivity_in_irrelevant": frozenset({RESPONSE}),
    "hallucination": frozenset({RESPONSE, CONTEXT}),
    "self_knowledge": frozenset({RESPONSE, CONTEXT}),
    "faithfulness": frozenset({RESPONSE}),
}
"""Metrics, and the lists of which none may be empty: else RAGChecker writes 0 without computing it (Ru et al. 2024,
section 3.3, and the code of 0.1.9)."""
_LOWER = frozenset({"noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination"})
_OWN = frozenset({"query_id", "query", "gt_answer", "response", RESPONSE, REFERENCE, CONTEXT, "metrics",
                  "answer2response", "response2answer", "retrieved2response", "retrieved2answer"})  # fmt: skip
_ROUNDED = 0.051
"""By how much a mean may differ from the summary, which has one decimal."""
_MEANS = "has only means of the whole run: nothing is known of single queries, so no change can be shown"

Record = dict[str, object]


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is an object with results of RAGChecker, or its summary."""
    shape = shape_of(head)
    if shape.kind != "object" or shape.goes_on:
        return False
    return {"query_id", "gt_answer"} <= shape.inner.get("results", frozenset()) or shape.keys >= GROUPS


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each query; of a summary alone, one record on the scale from 0 to 100.

    Raises InputError for a file in which no query has metrics: one that goes into RAGChecker, or a checkpoint.
    """
    value = object_of(parse_document(source))
    if "results" not in value:
        return _read_summary(source, value)
    results = value["results"]
    if not isinstance(results, list):
        raise InputError(f"'results' must be a list of objects, not {describe(results)}", source.name)
    odd = next((place for place, one in enumerate(results) if not isinstance(one, dict)), None)
    if odd is not None:
        raise InputError(
            f"'results' must be a list of objects, and number {odd + 1} in it is {describe(results[odd])}",
            source.name,
        )
    if results and not any(one.get("metrics") for one in results):
        raise InputError(
            "no query has metrics: this goes into RAGChecker, or is a checkpoint of a run that did not end",
            source.name,
            "let RAGChecker end, and give the file of --output_path",
        )
    undefined: Counter[str] = Counter()
    builder = RunBuilder(source, ReadOptions(), NAME)
    builder.add([_read_result(one, undefined) for one in results], np.zeros(len(results), dtype=np.int64))
    run = builder.finish()
    _refuse_other_means(source, run, results, value)
    run = replace(
        run,
        id_field="query_id",
        must_agree={"reference": "exactly"} if "reference" in run.fields else {},
        metric_facts={name: _facts(name, 1.0) for name in run.metrics if name in NEEDS},
        warnings=tuple(_tell_undefined(undefined)),
    )
    return run if options.id_field in (None, "id", "query_id") else identify_by(run, options.id_field)


def _read_result(result: Mapping[str, object], undefined: Counter[str]) -> Record:
    """Return the record of a query; metrics that RAGChecker wrote as 0 without computing them are counted."""
    response = result.get("response")
    is_unanswered = response is None or (isinstance(response, str) and not response.strip())
    metrics = result.get("metrics")
    scores: dict[str, object] = dict(metrics) if isinstance(metrics, dict) else {}
    for name, score in scores.items():
        if not score and any(result.get(part) == [] for part in NEEDS.get(name, frozenset())):
            scores[name] = None
            undefined[name] += not is_unanswered
    return {
        "id": result.get("query_id"),
        "metrics": scores,
        "question": result.get("query"),
        "answer": response,
        "reference": result.get("gt_answer"),
        "claims.response": _count(result.get(RESPONSE)),
        "claims.reference": _count(result.get(REFERENCE)),
        "retrieved": _document_ids(result.get(CONTEXT)),
        **({"error": "no_answer"} if is_unanswered else {}),
        **{name: item for name, item in result.items() if name not in _OWN},
    }


def _count(items: object) -> int | None:
    return len(items) if isinstance(items, list) else None


def _document_ids(context: object) -> list[str] | None:
    """Return the ids of the documents as retrieved; None where one has no id."""
    if not isinstance(context, list):
        return None
    ids = [one.get("doc_id") if isinstance(one, dict) else None for one in context]
    return None if None in ids else [str(one) for one in ids]


def _facts(name: str, full: float) -> MetricFacts:
    """Return which way a metric is better; what a model knows by itself is a diagnosis."""
    if name == "self_knowledge":
        return MetricFacts(None, (0.0, full))
    return MetricFacts("lower" if name in _LOWER else "higher", (0.0, full))


def _tell_undefined(undefined: Counter[str]) -> list[str]:
    if not +undefined:
        return []
    shown = name_some([f"{name} {times}x" for name, times in sorted((+undefined).items())], 4)
    what = "RAGChecker found no claim (or had no context) and wrote 0 without computing the metric"
    return [f"{what}; those are no scores here: {shown}"]


def _refuse_other_means(
    source: Source, run: Run, results: Sequence[Mapping[str, object]], value: Mapping[str, object]
) -> None:
    """Raise an InputError where means of the summary can't be those of the queries: some were changed or left out.

    A query without a number may have had any that is possible, so that only the rest binds the mean.
    """
    summary = _flatten(value.get("metrics"))
    found = []
    for name in run.metrics:
        numbers = [number_of(object_of(one.get("metrics")).get(name)) for one in results]
        known = [number for number in numbers if number is not None]
        missing = len(numbers) - len(known)
        if name not in summary or not known or (missing and name not in NEEDS):
            continue
        low, high = (100 * (sum(known) + more) / len(numbers) for more in (0, missing))
        told = summary[name]
        is_of_known = abs(100 * sum(known) / len(known) - told) <= _ROUNDED  # a query left out of the mean
        if not is_of_known and not low - _ROUNDED <= told <= high + _ROUNDED:
            by = f"{low:.1f}" if not missing else f"{low:.1f} to {high:.1f}"
            found.append(f"{name} ({told:g}, by its queries {by})")
    if found:
        raise InputError(
            f"the summary in the file is not that of its queries: {name_some(found, 4)}",
            source.name,
            "hand over the file as RAGChecker wrote it, whole and unchanged",
        )


def _read_summary(source: Source, value: Mapping[str, object]) -> Run:
    numbers = _flatten(value)
    if not numbers:
        raise InputError("has neither results nor a summary of RAGChecker", source.name)
    run = make_run_of_means(source, numbers, format_name="ragchecker-summary", unpaired=_MEANS)
    return replace(run, metric_facts={name: _facts(name, 100.0) for name in numbers if name in NEEDS})


def _flatten(summary: object) -> dict[str, float]:
    """Return the numbers of a summary's groups, of the new names and the old ones."""
    groups = [part for name, part in object_of(summary).items() if name in GROUPS | OLD_GROUPS]
    items = [item for part in groups for item in object_of(part).items()]
    return {name: number for name, item in items if (number := number_of(item)) is not None}
