"""Langfuse: exports of scores, traces and dataset run items (CSV, JSON, JSON Lines), alone or together as one run.

A trace gets another id in each run. The item of the data set that it answers stands in the export of dataset run
items only; without that, a trace is identified by the text of its input.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers import _langfuse_scores, _langfuse_traces
from gateline.readers._building import RunBuilder
from gateline.readers._identity import identify_questions, tell_repeated
from gateline.readers._rows import Row, Rows, column_names, read_rows, take_ids
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Run

NAME = "langfuse"
ITEM, TRACE = "datasetItemId", "traceId"
_SCORES = frozenset({TRACE, "dataType", "name"})
_ITEMS = frozenset({ITEM, TRACE})
_TRACES = frozenset({"observationCount", "defaultCount"})
_OBSERVATIONS = frozenset({TRACE, "startTime", "endTime"})
_BESIDE = "give the export of dataset run items beside it, both as files of one run"


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the columns are those of an export of scores, traces, dataset run items or observations."""
    del path
    names = column_names(head)
    return any(names >= wanted for wanted in (_SCORES, _ITEMS, _TRACES, _OBSERVATIONS))


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each trace, or item of a data set.

    An InputError tells an export that has no trace as a row, or a trace twice.
    """
    del options  # the traces' own field of identity is looked up when the run is made
    rows = read_rows(source)
    names = set(rows.names)
    if names >= _SCORES:
        return _read_scores(source, rows)
    if names >= _ITEMS:
        return _read_items(source, rows)
    if names >= _TRACES:
        return _read_traces(source, rows)
    if names >= _OBSERVATIONS:
        raise InputError(
            "is an export of observations, of which a trace has several",
            source.name,
            "export the table of traces, or scores and dataset run items",
        )
    raise InputError(
        f"is no export of scores, traces or dataset run items: found {name_some(rows.names, 12)}", source.name
    )


def _build(source: Source, kind: str, records: list[Row], lines: object) -> Run:
    builder = RunBuilder(source, ReadOptions(), NAME)
    builder.add(records, np.asarray(lines, dtype=np.int64))
    return replace(builder.finish(), format_version=kind, handle=TRACE, id_field=TRACE)


def _read_scores(source: Source, rows: Rows) -> Run:
    records, lines, warnings = _langfuse_scores.make_records(rows, source.name)
    run = _build(source, "scores", records, lines)
    sources = [name for name in run.fields if name.startswith(_langfuse_scores.SOURCE)]
    return replace(
        run,
        aliases=_name_labels(run),
        must_agree=dict.fromkeys(sources, "exactly"),
        warnings=tuple(warnings),
        unpaired=f"its scores are those of traces, and a trace gets another id in each run; {_BESIDE}",
    )


def _read_items(source: Source, rows: Rows) -> Run:
    ids, traces = (take_ids(rows, name, source.name) for name in (ITEM, TRACE))
    _refuse_repeated(source, ids, ITEM, "export the items of one run only")
    _refuse_repeated(source, traces, TRACE, "one trace can't answer two items")
    datasets = rows.column("datasetName")
    records: list[Row] = [
        {"id": item, TRACE: trace, "dataset": dataset}
        for item, trace, dataset in zip(ids, traces, datasets, strict=True)
    ]
    run = _build(source, "dataset run items", records, rows.lines)
    return replace(run, id_field=ITEM, must_agree={"dataset": "exactly"})


def _read_traces(source: Source, rows: Rows) -> Run:
    traces = take_ids(rows, "id", source.name)
    _refuse_repeated(source, traces, "id", "two exports seem to have been joined")
    records, warnings = _langfuse_traces.make_records(rows, source.name)
    texts = [str(record.get("question") or "") for record in records]
    blank = texts.count("")
    ids, repeated = identify_questions(texts, [""] * len(texts))
    warning = "the traces are matched by the text of their input"
    if repeated:
        warning += f"; {tell_repeated(len(repeated))}"
    for record, name, trace in zip(records, ids, traces, strict=True):
        record["id"] = trace if blank else name
    run = _build(source, "traces", records, rows.lines)
    return replace(
        run,
        id_field="text of the input",
        made_ids=True,
        aliases=_name_labels(run),
        warnings=(*(() if blank else (warning,)), *warnings),
        unpaired=f"{blank} of its traces have no input, so nothing identifies them; {_BESIDE}"
        if blank
        else "",
    )


def _name_labels(run: Run) -> dict[str, str]:
    """Return the names of scores that are words as other names of their fields."""
    begin = _langfuse_scores.LABEL
    return {name.removeprefix(begin): name for name in run.fields if name.startswith(begin)}


def _refuse_repeated(source: Source, names: list[str], field: str, hint: str) -> None:
    if len(set(names)) == len(names):
        return
    repeated = list(dict.fromkeys(f"'{name}'" for name in names if names.count(name) > 1))
    raise InputError(f"{field} stands more than once: {name_some(repeated, 3)}", source.name, hint)
