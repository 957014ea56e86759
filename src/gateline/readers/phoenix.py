"""Arize Phoenix: experiments as the server exports them, CSV or JSON.

The tool's evaluators also judge a task that failed, so its error is looked at before its scores; where an evaluator
failed itself there is no score. It says nothing of metrics: neither which way is better nor a range.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gateline.errors import InputError, name_some
from gateline.readers._building import Problems, RunBuilder, flatten
from gateline.readers._copies import refuse_copies, trace_of
from gateline.readers._identity import identify_by
from gateline.readers._rows import (
    Row,
    Rows,
    column_names,
    drop_empty,
    first_line,
    input_text,
    is_blank,
    number_attempts,
    parse_cell,
    places,
    read_rows,
    read_scores,
    take_ids,
    take_number,
)
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Run

NAME = "phoenix"
EXAMPLE, REPETITION = "example_id", "repetition_number"
_SCORE = re.compile(r"annotation_(.+)_score")
_PARTS = ("label", "score", "annotator_kind", "error")
_OBJECTS = ("input", "output", "reference_output")
_TOKENS = {"tokens.input": "prompt_token_count", "tokens.output": "completion_token_count"}

Annotation = Mapping[str, object]


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the columns are those of an experiment: examples with their repetition and annotations."""
    del path
    names = column_names(head)
    return EXAMPLE in names and (
        REPETITION in names or "annotations" in names or any(map(_SCORE.fullmatch, names))
    )


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each run of an example; repetitions are attempts at it.

    A run with an error and no output is one without an answer. An InputError tells a file without scores.
    """
    rows = read_rows(source)
    if not rows.rows:
        raise InputError("0 samples: the file has no row", source.name)
    annotations = _read_annotations(source, rows)
    scores = _read_all_scores(annotations)
    if not scores:
        names = dict.fromkeys(name for row in annotations for name in row)
        found = f"no evaluator gave a number: {name_some(names, 8)}" if names else "no evaluator has run"
        raise InputError(
            f"has no scores: {found}", source.name, "export the experiment when its evaluators are through"
        )
    ids = take_ids(rows, EXAMPLE, source.name)
    traces = [row.get("trace_id") or trace_of(row, [row.get("latency_ms")]) for row in rows.rows]
    refuse_copies(source.name, ids, [None if trace is None else str(trace) for trace in traces])
    attempts = _read_attempts(rows, ids)
    records = _make_records(source, rows, annotations, scores)
    for record, name, attempt in zip(records, ids, attempts, strict=True):
        record |= {"id": name, "attempt": attempt}
    drop_empty(records, [name for name in records[0] if name not in {"metrics", "slices", "error"}])
    if "error" not in scores:  # a score `error` is no error
        drop_empty(records, ["error"])
    builder = RunBuilder(source, ReadOptions(), NAME)
    builder.add(records, rows.lines)
    run = _describe(builder.finish())
    return run if options.id_field in (None, "id", EXAMPLE) else identify_by(run, str(options.id_field))


def _read_annotations(source: Source, rows: Rows) -> list[dict[str, Annotation]]:
    """Return the annotations of each row (n) by the name of their evaluator."""
    names = [match[1] for name in rows.names if (match := _SCORE.fullmatch(name))]
    problems = Problems(source.name)
    found: list[dict[str, Annotation]] = []
    for line, row in places(rows):
        of_row: dict[str, Annotation] = {
            name: {part: row.get(f"annotation_{name}_{part}") for part in _PARTS} for name in names
        }
        listed = row.get("annotations") or []
        for one in listed if isinstance(listed, list) else []:
            name = str(one.get("name")) if isinstance(one, dict) and one.get("name") else ""
            if not name or name in of_row:
                told = f"has the annotation '{name}' twice" if name else "has an annotation without a name"
                problems.add(line, f"example '{row.get(EXAMPLE)}' {told}")
            else:
                of_row[name] = one
        found.append(of_row)
    problems.raise_any()
    return found


def _read_all_scores(annotations: Sequence[Mapping[str, Annotation]]) -> dict[str, list[float]]:
    """Return the scores by evaluator (n each), of those that gave numbers."""
    scores = {}
    for name in dict.fromkeys(name for row in annotations for name in row):
        values = read_scores([_score(row.get(name, {})) for row in annotations])
        if values is not None:
            scores[name] = values
    return scores


def _score(annotation: Annotation) -> object:
    return annotation.get("score") if is_blank(annotation.get("error")) else None


def _read_attempts(rows: Rows, ids: Sequence[str]) -> list[object]:
    """Return the number of each repetition, None where no example was repeated."""
    counted = number_attempts(ids)
    if counted is None:
        return [None] * len(ids)
    numbers = rows.column(REPETITION)
    return counted if any(map(is_blank, numbers)) else numbers


def _make_records(
    source: Source,
    rows: Rows,
    annotations: Sequence[Mapping[str, Annotation]],
    scores: Mapping[str, Sequence[float]],
) -> list[Row]:
    has_answers = not all(is_blank(parse_cell(row.get("output"))) for row in rows.rows)
    records: list[Row] = []
    for place, (line, row) in enumerate(places(rows)):
        error = first_line(row.get("error"))
        is_blank_answer = is_blank(parse_cell(row.get("output")))
        record: Row = {
            "metrics": {name: values[place] for name, values in scores.items()},
            "slices": _read_labels(row),
            "question": input_text(row.get("input")) or None,
            "latency_ms": take_number(row, "latency_ms", source.name, line),
            "error": "no_answer" if is_blank_answer and (error or has_answers) else error,
            "error_message": error,
            "trace_id": row.get("trace_id"),
        }
        record |= {ours: take_number(row, theirs, source.name, line) for ours, theirs in _TOKENS.items()}
        for name in _OBJECTS:
            value = parse_cell(row.get(name))
            record |= flatten({name: value}) if isinstance(value, dict) else {name: value}
        for name, annotation in annotations[place].items():
            if name not in scores:  # beside a score its label says nothing more
                record[f"annotation_{name}_label"] = annotation.get("label")
            record[_kind(name)] = annotation.get("annotator_kind")
            record[f"annotation_{name}_error"] = first_line(annotation.get("error"))
        records.append(record)
    names = dict.fromkeys(name for record in records for name in record)
    return [{name: record.get(name) for name in names} for record in records]


def _read_labels(row: Row) -> dict[str, object]:
    """Return the metadata of the example, which only the CSV has; nested ones by dotted names."""
    metadata = parse_cell(row.get("metadata"))
    return flatten(metadata) if isinstance(metadata, dict) else {}


def _kind(name: str) -> str:
    """Return the field that says whether a model, code or a person gave the scores of an evaluator."""
    return f"annotation_{name}_annotator_kind"


def _describe(run: Run) -> Run:
    references = [name for name in run.fields if name.partition(".")[0] == "reference_output"]
    judges = [_kind(name) for name in run.metrics if _kind(name) in run.fields]
    return replace(
        run,
        id_field=EXAMPLE,
        aliases={f"annotation_{name}_score": name for name in run.metrics},
        must_agree=dict.fromkeys([*references, *judges], "exactly"),
    )
