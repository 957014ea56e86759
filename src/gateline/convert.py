"""A run as gateline's own JSON Lines: a header line, then one record a line.

What is written is strict JSON and reads back as the same run; what would not is refused. It must not write files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np

from gateline.errors import InputError, Problem
from gateline.readers._building import find_two_values
from gateline.readers._header import write_statements
from gateline.readers.jsonl import VERSION
from gateline.samples import EXACT_INTEGERS, Column, Run, label_texts, number_text

RESERVED = frozenset({"id", "metrics", "slices", "gateline"})
"""Names that mean something in a record; a field of another tool with such a name gets `field.` before it."""


def write_jsonl(run: Run) -> Iterator[str]:
    """Give the lines of a run, each with its line feed.

    A metric without a value is null. Another field without a value is left out, unless no record has one:
    then it is null throughout, so that the column stays known. An infinite number becomes the text
    `Infinity`, which no metric accepts. Numbers of a table whose digits a number would lose (`007`) are
    written as texts. A field that says another value than the metric or label of its name gets `field.` before it.
    Raises InputError where one of several files does not say a fact that another states: written for the whole run, it
    would be claimed of records of which nobody knows it.
    """
    _refuse_half_stated(run)
    header: dict[str, object] = {
        "gateline": VERSION,
        "run": {name: _strict(value) for name, value in run.provenance.items()},
    }
    if run.warnings:
        header["warnings"] = list(run.warnings)
    header |= write_statements(run)
    yield _line(header)
    slices = {name: _values(column) for name, column in run.slices.items()}
    metrics = {name: _values(column) for name, column in run.metrics.items()}
    fields = {free: _field_values(run, name) for name, free in _free_names(run).items()}
    always = [_find_empty(columns) for columns in (slices, fields)]
    for row, identity in enumerate(run.ids):
        record: dict[str, object] = {"id": identity}
        if slices:
            record["slices"] = _filled(slices, row, always[0])
        if metrics:
            record["metrics"] = {name: values[row] for name, values in metrics.items()}
        record.update(_filled(fields, row, always[1]))
        yield _line(record)


def _find_empty(columns: dict[str, list[object]]) -> set[str]:
    """Return the names of the columns in which no record has a value."""
    return {name for name, values in columns.items() if all(value is None for value in values)}


def _filled(columns: dict[str, list[object]], row: int, always: set[str]) -> dict[str, object]:
    """Return the values of a record, those of `always` also where they are None."""
    return {
        name: values[row] for name, values in columns.items() if values[row] is not None or name in always
    }


def _line(record: dict[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(", ", ": ")) + "\n"


def _refuse_half_stated(run: Run) -> None:
    problems = [
        Problem(
            f"{name} is not said here, and is '{', '.join(label_texts(run.provenance[name]))}' in another file",
            part.file,
            "let the file say it, or convert each file by itself",
        )
        for part in run.parts
        for name in sorted(part.silent & run.provenance.keys())
    ]
    if problems:
        raise InputError("the files don't say the same of their records", problems=problems)


def _free_names(run: Run) -> dict[str, str]:
    """Return the names under which fields are written, no two alike."""
    taken = {name for _, name, _ in find_two_values(run)} | RESERVED
    free: dict[str, str] = {name: name for name in run.fields if name not in taken}
    used = {*free, *run.metrics, *run.slices, *RESERVED}
    for name in run.fields:
        if name not in free:
            other = f"field.{name}"
            while other in used:
                other = f"field.{other}"
            used.add(other)
            free[name] = other
    return {name: free[name] for name in run.fields}


def _field_values(run: Run, name: str) -> list[object]:
    """Return a field's numbers, or its texts where a number would lose digits."""
    column = run.fields[name]
    written = run.written.get(name)
    if written is None or not isinstance(column, np.ndarray):
        return _values(column)
    kept = all(
        text == number_text(number)
        for text, number in zip(written, column.tolist(), strict=True)
        if text is not None
    )
    return _values(column) if kept else _values(written)


def _values(column: Column) -> list[object]:
    values: list[object] = column.tolist() if isinstance(column, np.ndarray) else column
    return [_strict(value) for value in values]


def _strict(value: object) -> object:
    """Return a value that strict JSON can hold, whole numbers without a decimal point."""
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return int(value) if value.is_integer() and abs(value) < EXACT_INTEGERS else value
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    return value if value is None or isinstance(value, str | bool | int) else str(value)
