"""Parquet files, one record a row (extra `parquet`).

Columns named `metrics` and `slices` that hold structs, or named `metrics.NAME` and `slices.NAME`, are the
sections of gateline's own format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers._building import SECTIONS, RunBuilder, refuse_two_values
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Run

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

NAME = "parquet"
GENERAL = True
MAGIC = b"PAR1"
ROW_NUMBERS = "__index_level_"
MOST_TIMES = 200
"""Times the size of the file to which its values unpack at most, beyond `FREE_BYTES`."""
FREE_BYTES = 512 << 20
"""Bytes to which the values of any file may unpack: a small file of few repeated labels does."""


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the file begins with Parquet's magic number."""
    return head.startswith(MAGIC)


def read(source: Source, options: ReadOptions) -> Run:
    """Return the rows of the file; an InputError where pyarrow is missing or cannot read it."""
    builder = RunBuilder(source, options, NAME)
    file = open_file(source)
    try:
        for batch in _batches(file, source):
            builder.add(_to_records(batch, source), np.zeros(batch.num_rows, dtype=np.int64))
    except _unreadable() as error:
        raise _refuse(source, error) from None
    return refuse_two_values(builder.finish())


def column_names(path: Path) -> list[str]:
    """Return the names of a file's columns; none where it can't be read, or pyarrow is missing."""
    try:
        import pyarrow
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        return []
    try:
        return list(pyarrow.parquet.read_schema(path).names)
    except (pyarrow.ArrowException, OSError, ValueError):  # ValueError: names that are no UTF-8
        return []


def read_table(source: Source) -> pyarrow.Table:
    """Return the file as a table of Arrow; an InputError where pyarrow is missing or cannot read it."""
    import pyarrow

    file = open_file(source)
    try:
        return pyarrow.Table.from_batches(_batches(file, source), file.schema_arrow)
    except _unreadable() as error:
        raise _refuse(source, error) from None


def _batches(file: pyarrow.parquet.ParquetFile, source: Source) -> Iterator[pyarrow.RecordBatch]:
    """Give the rows a few thousand at a time; an InputError where they unpack to far more than the file holds.

    Memory is not left to run out: where a native library meets its end first, the process is gone without a reason.
    """
    unpacked = 0
    most = max(FREE_BYTES, MOST_TIMES * len(source.data))
    for batch in file.iter_batches(batch_size=4096):
        unpacked += batch.nbytes
        if unpacked > most:
            raise InputError(
                f"unpacks to more than {most:,} bytes, {MOST_TIMES} times its size at least",
                source.name,
                "leave out columns that repeat long texts",
            )
        yield batch


def open_file(source: Source) -> pyarrow.parquet.ParquetFile:
    """Open the file; an InputError where pyarrow is missing or cannot read it, or a column stands twice."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "reading Parquet needs pyarrow",
            source.name,
            "pip install pyarrow (or gateline with its extra 'parquet')",
        ) from None
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(source.data))
        names = Counter(_names_in(file.schema_arrow))
    except _unreadable() as error:
        raise _refuse(source, error) from None
    repeated = [name for name, times in names.items() if times > 1]
    if repeated:
        raise InputError(
            f"columns stand twice: {name_some(repeated)}",
            source.name,
            "which of them counts? drop the others",
        )
    return file


def _names_in(schema: pyarrow.Schema) -> Iterator[str]:
    """Give the names of the columns, of a section that is a struct those of its parts."""
    import pyarrow

    for field in schema:
        if field.name in SECTIONS and pyarrow.types.is_struct(field.type):
            yield from (f"{field.name}.{part.name}" for part in field.type)
        else:
            yield field.name


def _unreadable() -> tuple[type[Exception], ...]:
    import pyarrow

    return (pyarrow.ArrowException, OSError, ValueError)  # ValueError: names or texts that are no UTF-8


def _refuse(source: Source, error: Exception) -> InputError:
    return InputError(f"is not a whole Parquet file: {_first_line(error)}", source.name)


def plain_list(column: Any, name: str, source: Source) -> list[Any]:
    """Return the values of a column of Arrow; an InputError names one that holds what Python can't hold as it is.

    Such are dates beyond the year 9999, durations beyond 2.7 million years, texts that are not UTF-8.
    """
    import pyarrow

    try:
        return _listed(column)
    except (ValueError, OverflowError, pyarrow.ArrowException) as error:
        raise InputError(
            f"column '{name}' can't be read as {column.type}: {_first_line(error)}", source.name
        ) from None


def _listed(column: Any) -> list[Any]:
    """Return the values of a column as Python's; categories are made once, and rows share them."""
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        return [value for chunk in column.chunks for value in _listed(chunk)]
    if not pyarrow.types.is_dictionary(column.type):
        return list(column.to_pylist())
    categories = column.dictionary.to_pylist()
    return [None if index is None else categories[index] for index in column.indices.to_pylist()]


def _to_records(batch: pyarrow.RecordBatch, source: Source) -> list[dict[str, object]]:
    """Return the rows as JSON would hold them, dotted sections as objects."""
    columns: dict[str, list[object]] = {}
    parts: dict[str, dict[str, list[object]]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name.startswith(ROW_NUMBERS):
            continue
        values = plain_list(column, name, source)
        if not _is_plain(column.type):
            values = [_to_plain(value) for value in values]
        section, dot, rest = name.partition(".")
        if section in SECTIONS and dot and rest:
            parts.setdefault(section, {})[rest] = values
        else:
            columns[name] = values
    for section, named in parts.items():
        objects = _as_objects(named)
        own = columns.get(section) or [None] * len(objects)
        columns[section] = [_merge(value, object_) for value, object_ in zip(own, objects, strict=True)]
    return _as_objects(columns) if columns else [{} for _ in range(batch.num_rows)]


def _as_objects(columns: dict[str, list[object]]) -> list[dict[str, object]]:
    """Return columns as records; a million rows are worth that no line of Python sees each value."""
    names = tuple(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _merge(own: object, parts: dict[str, object]) -> object:
    """Return a section of its own column with the parts of the dotted ones; what is no section stays as it is."""
    if own is None:
        return parts
    return {**own, **parts} if isinstance(own, dict) else own


def _is_plain(kind: pyarrow.DataType) -> bool:
    """Say whether Python holds the values of a type as JSON would."""
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
    )


def _to_plain(value: Any) -> object:
    """Return a value of Arrow as a JSON value: times, decimals of no number and bytes as text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple):  # an entry of a map
        return [_to_plain(item) for item in value]
    if isinstance(value, list):
        return [_to_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
