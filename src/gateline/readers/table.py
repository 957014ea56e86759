"""Tables as text, one record a row: CSV, TSV and semicolon-separated files with a header line.

A column of numbers also keeps its texts, so that as a label each keeps every digit (`007`, `1e3`). Columns
named `metrics.NAME` and `slices.NAME` are the sections of gateline's own format.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, name_some
from gateline.readers._building import SECTIONS, Problems, missing_id, refuse_two_values
from gateline.readers._columns import MOST_NAMES
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.samples import Column, Run, read_numbers, reads_as_numbers

NAME = "csv"
GENERAL = True
SUFFIXES = frozenset({".csv", ".tsv", ".tab"})
DELIMITERS = ("\t", ";", ",")
BLOCK_ROWS = 8192
LONGEST_CELL = 1 << 30


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the file is named as a table, or has a header line with a column that ends in `id`."""
    begin = without_mark(head)
    if begin[:1] in {b"{", b"["}:
        return False
    if path.suffix.lower() in SUFFIXES:
        return bool(begin)
    first, _, rest = begin.partition(b"\n")
    line = first.decode("utf-8", "replace").rstrip("\r")
    delimiter = find_delimiter(line)
    names = [name.strip().strip('"').lower() for name in line.split(delimiter)]
    return (
        len(names) > 1
        and all(names)
        and bool(rest)
        and any(name == "id" or name.endswith("_id") for name in names)
    )


def find_delimiter(header: str) -> str:
    """Return what separates a header's cells: the most frequent of tab, semicolon, comma outside quotes."""
    counts = Counter(
        part for quoted, text in enumerate(header.split('"')) if quoted % 2 == 0 for part in text
    )
    return max(DELIMITERS, key=lambda delimiter: counts[delimiter])


def read(source: Source, options: ReadOptions) -> Run:
    """Return the rows of the table; an InputError names what is wrong with the header or first bad rows."""
    text = source.decode()
    if "\0" in text:
        raise InputError(
            "holds a zero byte and is no text",
            f"{source.name}:{text.count(chr(10), 0, text.index(chr(0))) + 1}",
        )
    stream = io.StringIO(text, newline="")
    first = text.lstrip("\r\n").partition("\n")[0].rstrip("\r")
    if text.lower().startswith("sep=") and len(first) == 5:  # what Excel reads as the delimiter
        delimiter, skipped = first[4], 1
        stream.readline()
    else:
        delimiter, skipped = find_delimiter(first), 0
    problems = Problems(source.name)
    rows = _Rows(stream, delimiter, skipped, problems)
    names = _read_header(rows, source.name)
    columns, lines = _read_columns(rows, names)
    problems.raise_any()
    return refuse_two_values(_make_run(source, options, delimiter, columns, lines))


class _Rows:
    """The rows of a table with their lines; rows of a wrong length become problems."""

    def __init__(self, stream: io.StringIO, delimiter: str, skipped: int, problems: Problems):
        # Of the whole process; csv's own limit of 131,072 characters is less than a cell with contexts holds.
        csv.field_size_limit(LONGEST_CELL)
        self._reader = csv.reader(stream, delimiter=delimiter, strict=True)
        self._skipped = skipped
        self._problems = problems
        self.header: list[str] = []

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Give line and cells of each row that is not blank."""
        while True:
            line = self._skipped + self._reader.line_num + 1
            try:
                cells = next(self._reader, None)
            except csv.Error as error:
                self._problems.add(
                    line, f"is not CSV: {error}", "quotation marks must be closed, and doubled inside a cell"
                )
                self._problems.raise_any()
            if cells is None:
                return
            if cells and (len(cells) > 1 or cells[0].strip() or len(self.header) == 1):
                if self.header and len(cells) != len(self.header):
                    self._problems.add(
                        line, f"cells: {len(cells)}; columns in the header: {len(self.header)}"
                    )
                else:
                    yield line, cells


def _read_header(rows: _Rows, file: str) -> list[str]:
    line, cells = next(iter(rows), (1, []))
    names = [cell.strip() for cell in cells]
    if len(names) > MOST_NAMES:  # else each would be looked at on its own, which takes minutes
        raise InputError(
            f"{len(names)} columns in the header, more than {MOST_NAMES}; their names seem to be data",
            f"{file}:{line}",
            "is this a table of values without a header, or one whose rows and columns are swapped?",
        )
    repeated = [name for name, times in Counter(names).items() if times > 1 and name]
    if repeated:
        raise InputError(f"columns stand twice in the header: {name_some(repeated)}", f"{file}:{line}")
    if "" in names[1:]:
        raise InputError(f"column {names.index('', 1) + 1} has no name in the header", f"{file}:{line}")
    if not any(names):
        raise InputError("has no header line with the names of the columns", f"{file}:{line}")
    rows.header = names
    return names


def _read_columns(rows: _Rows, names: list[str]) -> tuple[dict[str, list[object]], npt.NDArray[np.int64]]:
    """Return the columns, None where a cell is empty, and the line on which each row begins (n)."""
    columns: dict[str, list[object]] = {name: [] for name in names}
    shared: dict[str, dict[str, str]] = {name: {} for name in names}
    lines: list[npt.NDArray[np.int64]] = []
    stream = iter(rows)
    while block := list(islice(stream, BLOCK_ROWS)):
        lines.append(np.array([line for line, _ in block], dtype=np.int64))
        for name, cells in zip(names, zip(*(cells for _, cells in block), strict=True), strict=True):
            known = shared[name]
            if len(known) > 10_000:  # texts that don't repeat
                columns[name] += [cell or None for cell in cells]
            else:
                columns[name] += [known.setdefault(cell, cell) if cell else None for cell in cells]
    columns.pop("", None)  # the row numbers that a data frame wrote
    return columns, np.concatenate(lines) if lines else np.zeros(0, np.int64)


def _make_run(
    source: Source,
    options: ReadOptions,
    delimiter: str,
    columns: dict[str, list[object]],
    lines: npt.NDArray[np.int64],
) -> Run:
    id_field = options.id_field or "id"
    if options.numbered:
        id_field = ""
        ids: list[object] = [str(number) for number in range(1, len(lines) + 1)]
    elif id_field not in columns:
        raise InputError(*_at(source.name, missing_id(id_field, list(columns))))
    else:
        ids = columns.pop(id_field)
    problems = Problems(source.name)
    for line, cell in zip(lines.tolist(), ids, strict=True):
        if cell is None or not str(cell).strip():
            problems.add(line, f"the cell of '{id_field}' is empty")
    problems.raise_any()
    sections: dict[str, dict[str, Column]] = {"metrics": {}, "slices": {}, "": {}}
    written: dict[str, list[object]] = {}
    for name, column in columns.items():
        section, dot, rest = name.partition(".")
        if not dot or not rest or section not in SECTIONS:
            section, rest = "", name
        sections[section][rest] = column
        if section != "slices" and reads_as_numbers(column):
            sections[section][rest] = read_numbers(column, [])
            if section == "":
                written[name] = column
    return Run(
        file=source.name,
        sha256=source.sha256,
        format="tsv" if delimiter == "\t" else "csv",
        ids=[str(cell) for cell in ids],
        lines=lines,
        metrics=sections["metrics"],
        slices=sections["slices"],
        fields=sections[""],
        written=written,
        id_field=id_field,
    )


def _at(file: str, problem: tuple[str, str]) -> tuple[str, str, str]:
    message, hint = problem
    return message, file, hint
