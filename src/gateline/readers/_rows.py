"""The rows of a table that a tracing tool exported, whichever way: CSV, a JSON list, JSON Lines, JSON by columns.

It must not know a tool. What such tools share is read here too: scores as numbers, truth values or words, and the
text of an input.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, name_some
from gateline.readers import records, table
from gateline.readers._building import Problems, describe
from gateline.readers._columns import DEEPEST, Record, is_shallow, plain_values
from gateline.readers._identity import normalise
from gateline.readers._json_lines import read_blocks
from gateline.readers._json_text import JsonProblemError, parse_value
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.samples import label_texts, read_number

Row = dict[str, object]
Lines = npt.NDArray[np.int64]

WORDS = {"pass": 1.0, "passed": 1.0, "true": 1.0, "fail": 0.0, "failed": 0.0, "false": 0.0}
"""Results in words that are a score."""


@dataclass
class Rows:
    """The rows of a file as they stand there; a cell of a table is a text, or None where it is empty."""

    rows: list[Row] = field(default_factory=list)
    lines: Lines = field(default_factory=lambda: np.zeros(0, np.int64))
    """Line of each row (n), 0 where the format has none."""

    @property
    def names(self) -> list[str]:
        """Return the names of all columns, in the order of their appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def column(self, name: str) -> list[object]:
        """Return the values of a column, None where a row has none."""
        return [row.get(name) for row in self.rows]


class _Kept:
    """Keeps the records of a file as they are."""

    def __init__(self, file: str):
        self.problems = Problems(file)
        self.rows: list[Row] = []
        self.lines: list[Lines] = []

    def add(self, records: Sequence[Record], lines: Lines) -> None:
        for record, line in zip(records, lines.tolist(), strict=True):
            deep = next((name for name, value in record.items() if not is_shallow(value)), None)
            if deep is not None:
                self.problems.add(line, f"{deep} is nested more than {DEEPEST} levels deep")
        self.rows += [dict(record) for record in records]
        self.lines.append(lines)

    def take_provenance(self, run: Mapping[str, object], line: int) -> None:
        """Leave it: exports of tools have no header."""


def column_names(head: bytes) -> frozenset[str]:
    """Return the names of a file's columns by its beginning: its header, or the keys of its first record."""
    shape = shape_of(head)
    if shape.kind:
        return shape.keys
    line = without_mark(head).partition(b"\n")[0].decode("utf-8", "replace").strip()
    try:
        return frozenset(next(csv.reader([line], delimiter=table.find_delimiter(line)), []))
    except csv.Error:
        return frozenset()


def read_rows(source: Source) -> Rows:
    """Return the rows of a file; an InputError says what is wrong with it."""
    begin = without_mark(source.head)
    if not begin.startswith((b"{", b"[")):
        return _read_table(source)
    kept = _Kept(source.name)
    if begin.startswith(b"{") and shape_of(source.head).goes_on:
        for block in read_blocks(source, kept.problems, None):
            kept.add(block.records, np.array(block.numbers, dtype=np.int64))
    else:
        records.read_into(source, kept)
    kept.problems.raise_any()
    return Rows(kept.rows, np.concatenate(kept.lines) if kept.lines else np.zeros(0, np.int64))


def _read_table(source: Source) -> Rows:
    run = table.read(source, ReadOptions(numbered=True))
    columns = {name: run.written.get(name) or plain_values(column) for name, column in run.fields.items()}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return Rows(rows, run.lines)


def parse_cell(value: object) -> object:
    """Return the object or list that a cell holds as JSON text; anything else, also what nests too deep, as it is."""
    if not isinstance(value, str) or value.strip()[:1] not in {"{", "["}:
        return value
    text = value.strip()
    try:
        parsed, end = parse_value(text)
    except JsonProblemError:
        return value
    return parsed if end == len(text) and is_shallow(parsed) else value


def read_scores(values: Sequence[object]) -> list[float] | None:
    """Return values as scores, NaN where there is none; None where one is no score, or all are missing.

    Truth values and the words pass and fail are 1 and 0.
    """
    scores = [_read_score(value) for value in values]
    if None in scores or all(score is not None and math.isnan(score) for score in scores):
        return None
    return scores  # type: ignore[return-value]


def _read_score(value: object) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = WORDS.get(value.strip().lower())
        return read_number(value) if word is None else word
    return read_number(value)


def input_text(value: object) -> str:
    """Return the normalised text of an input: of an object with one entry that entry, of another all of them."""
    value = parse_cell(value)
    if isinstance(value, Mapping):
        filled = {str(name): item for name, item in value.items() if item is not None}
        if len(filled) == 1:
            return input_text(next(iter(filled.values())))
        value = json.dumps(filled, ensure_ascii=False, sort_keys=True) if filled else ""
    if isinstance(value, list):
        value = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return normalise(", ".join(label_texts(value)))


def is_blank(value: object) -> bool:
    """Say whether a value says nothing: null, a blank text, or an object or list of such."""
    if isinstance(value, Mapping):
        return all(map(is_blank, value.values()))
    if isinstance(value, list):
        return all(map(is_blank, value))
    return value is None or (isinstance(value, str) and not value.strip())


def first_line(value: object) -> str | None:
    """Return the first line of an error's text; a traceback behind it is for another place."""
    text = "" if value is None else str(value).strip()
    return text.partition("\n")[0].strip() or None


def number_attempts(ids: Sequence[str]) -> list[object] | None:
    """Return the number of each attempt at its question (n), or None where no id stands twice."""
    if len(set(ids)) == len(ids):
        return None
    seen: Counter[str] = Counter()
    numbers: list[object] = []
    for name in ids:
        seen[name] += 1
        numbers.append(seen[name])
    return numbers


def take_ids(rows: Rows, name: str, file: str) -> list[str]:
    """Return the column `name` as ids (n); an InputError names the rows that have none."""
    texts = [", ".join(label_texts(value)) for value in rows.column(name)]
    blank = [line for text, line in zip(texts, rows.lines.tolist(), strict=True) if not text]
    if blank:
        where = f": line{'s' if len(blank) > 1 else ''} {name_some(map(str, blank), 3)}" if any(blank) else ""
        has = "has" if len(blank) == 1 else "have"
        raise InputError(f"{len(blank)} of {len(texts)} records {has} no {name}{where}", file)
    return texts


def take_number(row: Row, name: str, file: str, line: int, factor: float = 1.0) -> float | None:
    """Return a number of a row times `factor`, None where there is none; an InputError for what is no number."""
    number = read_number(row.get(name))
    if number is None:
        place = f"{file}:{line}" if line else file
        raise InputError(f"{name} must be a number, not {describe(row.get(name))}", place)
    return None if math.isnan(number) else number * factor


def drop_empty(records: Sequence[Row], names: Iterable[str]) -> None:
    """Take those of the fields away that no record fills, so that they are no columns."""
    for name in names:
        if all(record.get(name) is None for record in records):
            for record in records:
                record.pop(name, None)


def places(rows: Rows) -> Iterator[tuple[int, Row]]:
    """Give line and content of each row."""
    yield from zip(rows.lines.tolist(), rows.rows, strict=True)
