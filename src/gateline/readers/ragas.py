"""Ragas: exports of `evaluate` (CSV, JSON, JSON Lines, Parquet) and results of experiments, old and new names.

The files have no ids: a record is identified by the text of its question. They have no errors either: a score that
is not there is the only sign. Cells that hold Python values as text are never evaluated.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers import jsonl, parquet, records, table
from gateline.readers._building import RunBuilder, make_run_of_means
from gateline.readers._json_text import JsonProblemError, parse_value, skip_blanks
from gateline.readers._ragas_names import INPUTS, QUESTIONS, is_frame, is_metric, shows_ragas
from gateline.readers._shape import Shape, shape_of
from gateline.readers._source import HEAD_BYTES, ReadOptions, Source, without_mark
from gateline.samples import MetricFacts, Run, read_number

NAME = "ragas"
WRAPPERS = ("per_question_results", "results", "scores", "samples", "details")
FOOTER_BYTES = 1 << 20
_PRINTED = re.compile(rb"\{'[A-Za-z_][^']*': ?(?:nan|[0-9.])")
_PRINTED_SCORE = re.compile(r"'((?:[^'\\]|\\.)*)': ?(nan|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)")
_MEANS = "has only means of the whole run: nothing is known of single questions, so no change can be shown"


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the columns, or the names of scores, are those of Ragas, or this is an experiment's file."""
    if head.startswith(parquet.MAGIC):
        return _is_parquet_frame(path)
    shape = shape_of(head)
    if shape.kind:
        return _is_json(shape, head) or (shape.goes_on and _is_experiment(path))
    return bool(head) and _is_table(without_mark(head), path)


def _is_json(shape: Shape, head: bytes) -> bool:
    names = shape.keys
    if "gateline" in names or "metrics" in shape.inner or "slices" in shape.inner:
        return False
    if is_frame(names):
        return True
    if shape.kind == "object" and not shape.goes_on:
        wrapped = [shape.inner.get(wrapper, frozenset()) for wrapper in WRAPPERS]
        if any(not inner.isdisjoint(QUESTIONS) and shows_ragas(inner) for inner in wrapped):
            return True
        is_text = (
            "results" in names and "results" not in shape.inner
        )  # not an object in which a log prints numbers
        if is_text and _PRINTED.search(head[:HEAD_BYTES]):
            return True
    bare = {name for name in names if is_metric(name)}
    return shows_ragas(names) and 2 * len(bare) > len(names) and "id" not in names


def _is_table(begin: bytes, path: Path) -> bool:
    first, _, rest = begin.partition(b"\n")
    line = first.decode("utf-8", "replace").strip()
    try:
        names = next(csv.reader([line], delimiter=table.find_delimiter(line)), [])
    except csv.Error:
        return False
    if [name.strip() for name in names] == ["metric", "score"]:
        return is_metric(rest.partition(b",")[0].decode("utf-8", "replace"))
    if "Named Scores" in names:  # promptfoo's, where a variable of the tests may be called as an input is
        return False
    return is_frame(names) or (len(names) > 1 and _is_experiment(path))


def _is_experiment(path: Path) -> bool:
    """Say whether the file lies where an experiment is written: `experiments/` beside `datasets/`."""
    folder = path.parent
    return folder.name == "experiments" and (folder.parent / "datasets").is_dir()


def _is_parquet_frame(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - FOOTER_BYTES))
            footer = stream.read()
    except OSError:
        return False
    others = (b"response", b"retrieved_contexts", b"reference")
    return b"(mode=" in footer or (b"user_input" in footer and any(name in footer for name in others))


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each evaluated sample; of files with means only, one record."""
    numbered = ReadOptions(numbered=True)
    begin = without_mark(source.head)
    provenance: dict[str, object] = {}
    if begin.startswith(parquet.MAGIC):
        run = parquet.read(source, numbered)
    elif not begin.startswith((b"{", b"[")):
        run = table.read(source, numbered)
        if set(run.fields) == {"metric", "score"}:
            return _read_means(
                source, dict(zip(run.texts("metric") or [], run.fields["score"], strict=True)), {}
            )
    elif begin.startswith(b"["):
        run = records.read(source, numbered)
    elif shape_of(source.head).goes_on:
        run = jsonl.read(source, numbered)
    else:
        value = _parse(source)
        found = _find_records(value)
        if found is None:
            return _read_means(source, *_find_means(value))
        run = _build(source, found)
        provenance = _state(value) if found and found[0] is not value else {}
    if not any(map(_is_known, run.fields)) and not _is_experiment(source.path):
        raise InputError(
            f"none of its columns is one that Ragas writes: found {name_some(run.fields, 8)}",
            source.name,
            "let gateline find the reader, or name another one",
        )
    if not looks_like(source.head, source.path):
        _refuse_others(source)
    from gateline.readers._ragas_frame import describe_frame

    return describe_frame(run, provenance, options.id_field)


def _refuse_others(source: Source) -> None:
    """Raise an InputError where the reader of another tool knows the file: `question` is a column of many."""
    from gateline.readers import find_tools

    tools = find_tools(source)
    if tools:
        raise InputError(
            f"is no file of Ragas: it looks like {name_some(tools)}",
            source.name,
            f"--read-as {tools[0]} reads it, or leave --read-as out",
        )


def _is_known(column: str) -> bool:
    """Say whether Ragas has an input or a metric of this name; a column of objects has dotted ones."""
    return column.partition(".")[0] in INPUTS or is_metric(column)


def _parse(source: Source) -> dict[str, object]:
    text = source.decode()
    try:
        value, end = parse_value(text, skip_blanks(text, 0))
    except JsonProblemError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"is not JSON: {error}", f"{source.name}:{line}") from None
    if not isinstance(value, dict) or text[end:].strip():
        raise InputError("is not one JSON object", source.name)
    return value


def _find_records(value: dict[str, object]) -> list[dict[str, object]] | None:
    """Return the samples in an object: itself, its columns turned to rows, or a list in it; None where it has none."""
    if all(isinstance(column, dict) for column in value.values()) and any(
        name in value for name in QUESTIONS
    ):
        return _turn(value)  # type: ignore[arg-type]
    if any(name in value for name in QUESTIONS):
        return [value]
    for wrapper in WRAPPERS:
        found = value.get(wrapper)
        if isinstance(found, list) and found and all(isinstance(item, dict) for item in found):
            return found
    return None


def _turn(columns: Mapping[str, Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the rows of `{column: {row: value}}`, as pandas writes a frame by default."""
    rows = dict.fromkeys(row for column in columns.values() for row in column)
    return [{name: column.get(row) for name, column in columns.items()} for row in rows]


def _build(source: Source, found: Sequence[dict[str, object]]) -> Run:
    builder = RunBuilder(source, ReadOptions(numbered=True), NAME)
    builder.add(found, np.zeros(len(found), dtype=np.int64))
    return builder.finish()


def _state(value: Mapping[str, object]) -> dict[str, object]:
    """Return what an object around the samples says of how the run was made."""
    from gateline.field_names import says_how_made, words_of

    return {
        name: item
        for name, item in value.items()
        if isinstance(item, str | int | float)
        and (says_how_made(name) or not words_of(name).isdisjoint({"llm", "evaluator", "embeddings"}))
    }


def _find_means(value: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return means and facts of an object without samples: numbers by name, or the text that Ragas prints."""
    for printed in value.values():
        if isinstance(printed, str) and _PRINTED.match(printed.encode()):
            return dict(_PRINTED_SCORE.findall(printed)), _state(value)
    return dict(value), {}


def _read_means(source: Source, means: Mapping[str, object], facts: Mapping[str, object]) -> Run:
    """Return one record with the means of a run."""
    numbers = {name: number for name, value in means.items() if (number := read_number(value)) is not None}
    if not any(map(is_metric, numbers)):
        raise InputError("has neither samples nor means of Ragas", source.name)
    known = {
        name: MetricFacts("lower" if "noise" in name else "higher") for name in numbers if is_metric(name)
    }
    run = make_run_of_means(source, numbers, format_name="ragas-means", unpaired=_MEANS)
    return replace(run, provenance=dict(facts), metric_facts=known)
