"""JSON files with a list of records, bare or under `results`, `records`, `samples` or `data`; a data frame by columns.

The records are read like lines of JSON Lines. A JSON file that is made otherwise belongs to another reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError
from gateline.readers._building import Problems, RunBuilder, describe, refuse_two_values
from gateline.readers._columns import Record
from gateline.readers._json_columns import UnevenColumnsError, begins_a_column, turn_columns
from gateline.readers._json_text import JsonProblemError, parse_value, skip_blanks
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.samples import Run

NAME = "json"
GENERAL = True
WRAPPERS = ("results", "records", "samples", "data")
BLOCK_RECORDS = 4096
_COLUMN = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(\{\s*"0"\s*:|\[\s*["\d-])')
"""The beginning of an object of columns of which the first is longer than the head of the file."""


class Taker(Protocol):
    """What takes the records of a file, a block at a time."""

    problems: Problems

    def add(self, records: Sequence[Record], lines: npt.NDArray[np.int64]) -> object:
        """Take records and their lines (n)."""

    def take_provenance(self, run: Mapping[str, object], line: int) -> None:
        """Take what the file says of the whole run."""


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the file is a list of objects, an object with such a list near its beginning, or one of columns."""
    begin = without_mark(head)
    if begin.startswith(b"["):
        return begin[1:].lstrip()[:1] in {b"{", b"]"}
    if not begin.startswith(b"{"):
        return False
    scanner = _Scanner(begin.decode("utf-8", "replace"))
    columns = 0
    try:
        for name in scanner.members():
            if name in WRAPPERS and scanner.is_at_records():
                return not _goes_on(scanner, path)
            columns = columns + 1 if begins_a_column(scanner.value()) and columns >= 0 else -1
        return columns > 1 and not scanner.peek()
    except JsonProblemError:  # the head ends, or this is no JSON
        return columns > 0 or (columns == 0 and _COLUMN.match(begin) is not None)


def _goes_on(scanner: _Scanner, path: Path) -> bool:
    """Say whether this object is only the first line of JSON Lines."""
    try:
        scanner.value()
        for _ in scanner.members(inside=True):
            scanner.value()
    except JsonProblemError:
        return False
    return scanner.peek() == "{"


def read(source: Source, options: ReadOptions) -> Run:
    """Return the records of the list, with the line on which each begins."""
    builder = RunBuilder(source, options, NAME)
    read_into(source, builder)
    return refuse_two_values(builder.finish())


def read_into(source: Source, builder: Taker) -> None:
    """Give the records of the file to what takes them; an InputError says where it is no JSON."""
    scanner = _Scanner(source.decode())
    try:
        _read_file(scanner, builder)
    except JsonProblemError as error:
        line, column = scanner.place(error.position)
        is_cut = error.position >= len(scanner.text.rstrip()) or "nterminated string" in str(error)
        reason = "the file ends in the middle of it" if is_cut else str(error)
        raise InputError(f"is not JSON at column {column}: {reason}", f"{source.name}:{line}") from None


def _read_file(scanner: _Scanner, builder: Taker) -> None:
    if scanner.peek() == "[":
        _read_records(scanner, builder)
    else:
        found = ""
        others: dict[str, object] = {}
        names: set[str] = set()
        for name in scanner.members():
            if name in names and name != found:
                raise InputError(
                    f"the key '{name}' stands twice", f"{builder.problems.file}:{scanner.line()}"
                )
            names.add(name)
            if name in WRAPPERS and scanner.is_at_records():
                if found:
                    both = f"both '{found}' and '{name}' are lists of records"
                    raise InputError(both, builder.problems.file)
                found = name
                _read_records(scanner, builder)
                continue
            value = scanner.value()
            if name == "run" and isinstance(value, dict):
                builder.take_provenance(value, scanner.line())
            if not found:
                others[name] = value
        if not found and not _read_columns(others, builder):
            raise InputError(
                f"has no list of records under any of {', '.join(WRAPPERS)}", builder.problems.file
            )
    while scanner.repeats:
        builder.problems.add(0, f"the key {scanner.repeats.pop()!r} stands twice in one object")
    if scanner.peek():
        raise JsonProblemError("something else begins behind the end", scanner.position)


def _read_columns(value: Mapping[str, object], builder: Taker) -> bool:
    """Give the rows of an object of columns to the builder; return whether it is one."""
    try:
        rows = turn_columns(value)
    except UnevenColumnsError as error:
        raise InputError(f"is no table by columns: {error}", builder.problems.file) from None
    for start in range(0, len(rows or []), BLOCK_RECORDS):
        block = (rows or [])[start : start + BLOCK_RECORDS]
        builder.add(block, np.zeros(len(block), dtype=np.int64))
    return rows is not None


def _read_records(scanner: _Scanner, builder: Taker) -> None:
    records: list[dict[str, object]] = []
    lines: list[int] = []
    for line in scanner.items():
        value = scanner.value()
        if not isinstance(value, dict):
            builder.problems.add(line, f"a record must be an object, not {describe(value)}")
            continue
        while scanner.repeats:
            builder.problems.add(line, f"the key {scanner.repeats.pop()!r} stands twice in one object")
        records.append(value)
        lines.append(line)
        if len(records) == BLOCK_RECORDS:
            builder.add(records, np.array(lines, dtype=np.int64))
            records, lines = [], []
    builder.add(records, np.array(lines, dtype=np.int64))


class _Scanner:
    """A place in a JSON text, which moves value by value, so that each record's line is known."""

    def __init__(self, text: str):
        self.text = text
        self.position = 0
        self._counted = 0
        self._line = 1
        self.repeats: list[str] = []
        """Keys that stood twice in an object, of the values since this was last emptied."""

    def peek(self) -> str:
        """Move past blanks and return the next character; empty at the end."""
        self.position = skip_blanks(self.text, self.position)
        return self.text[self.position : self.position + 1]

    def take(self, expected: str) -> None:
        """Move past the one character expected next."""
        if self.peek() != expected:
            raise JsonProblemError(f"expecting '{expected}'", self.position)
        self.position += 1

    def value(self) -> object:
        """Move past the next value and return it."""
        self.peek()
        value, self.position = parse_value(self.text, self.position, repeats=self.repeats)
        return value

    def members(self, *, inside: bool = False) -> Iterator[str]:
        """Give each key of an object; the caller must move past its value (`inside`: one is behind us)."""
        if not inside:
            self.take("{")
            if self.peek() == "}":
                self.position += 1
                return
        while True:
            if inside:
                if self.peek() != ",":
                    break
                self.position += 1
            inside = True
            name = self.value()
            if not isinstance(name, str):
                raise JsonProblemError("expecting a key in quotation marks", self.position)
            self.take(":")
            self.peek()
            yield name
        self.take("}")

    def items(self) -> Iterator[int]:
        """Give the line of each item of a list; the caller must move past the item."""
        self.take("[")
        if self.peek() == "]":
            self.position += 1
            return
        while True:
            self.peek()
            yield self.line()
            if self.peek() != ",":
                break
            self.position += 1
        self.take("]")

    def is_at_records(self) -> bool:
        """Say whether a list of objects begins here; an empty list is one."""
        if self.peek() != "[":
            return False
        inside = skip_blanks(self.text, self.position + 1)
        return self.text[inside : inside + 1] in {"{", "]"}

    def line(self) -> int:
        """Return the line of this place, counted from 1."""
        self._line += self.text.count("\n", self._counted, self.position)
        self._counted = self.position
        return self._line

    def place(self, position: int) -> tuple[int, int]:
        """Return line and column of a position, both counted from 1."""
        line_start = self.text.rfind("\n", 0, position) + 1
        return self.text.count("\n", 0, position) + 1, position - line_start + 1
