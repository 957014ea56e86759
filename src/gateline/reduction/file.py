"""The reduced file: sums by group and slice, with what they are sums of, as JSON or Parquet.

The same sums are the same bytes. It computes nothing and compares nothing.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gateline.errors import InputError
from gateline.files import is_special, is_there

FORMAT = "gateline-reduced"
MARK = "gateline.reduced"
_JSON_BEGINS = b'{"gateline.reduced":'
_MOST_FOOTER = 64 << 20
_KEYS = ("place", "sketch", "grp", "bin")


@dataclass(frozen=True)
class Reduced:
    """One run as sums."""

    file: str
    sha256: str
    statement: dict[str, Any]
    """What was summed up, as the plan says it, with `digest`, and of the run `records` and `provenance`."""
    columns: dict[str, list[Any]]
    """The rows of the statement by column, sorted by place, sketch, group and bin."""

    def array(self, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return a column of numbers as float64, NaN where there is none."""
        return np.array(
            [math.nan if value is None else value for value in self.columns[name]], dtype=np.float64
        )


def sort_rows(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows of an engine as columns in the one order that the file has."""
    at = [names.index(key) for key in _KEYS]
    ordered = sorted(rows, key=lambda row: tuple(row[position] for position in at))
    by_name = list(zip(*ordered, strict=True)) if ordered else [()] * len(names)
    return {name: [_plain(value) for value in column] for name, column in zip(names, by_name, strict=True)}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    return value


def to_bytes(statement: Mapping[str, Any], columns: Mapping[str, Sequence[Any]], path: Path) -> bytes:
    """Return the file's content: Parquet where its name ends so, else JSON."""
    if path.suffix == ".parquet":
        return _to_parquet(statement, columns)
    return _dump({MARK: statement, "columns": columns})


def _dump(data: object) -> bytes:
    return (json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n").encode()


def _to_parquet(statement: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]) -> bytes:
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "writing Parquet needs pyarrow", hint="pip install 'gateline[reduce]', or --output NAME.json"
        ) from None
    fields = [pyarrow.field(name, _arrow_type(column)) for name, column in columns.items()]
    schema = pyarrow.schema(fields, metadata={MARK: _dump(statement)})
    arrays = [
        pyarrow.array(column, type=one.type) for column, one in zip(columns.values(), fields, strict=True)
    ]
    sink = io.BytesIO()
    parquet.write_table(
        pyarrow.Table.from_arrays(arrays, schema=schema), sink, compression="zstd", store_schema=False
    )
    return sink.getvalue()


def _arrow_type(column: Sequence[Any]) -> Any:
    import pyarrow

    known = next((value for value in column if value is not None), 0.0)
    if isinstance(known, str):
        return pyarrow.string()
    if any(isinstance(value, float) for value in column) or isinstance(known, float):
        return pyarrow.float64()
    return pyarrow.int64()


def is_reduced(path: object) -> bool:
    """Say whether a file is a reduced one, by its content; what can't be read is none."""
    file = str(path)
    if "\n" in file or not is_there(file) or is_special(file):
        return False
    try:
        with Path(file).open("rb") as stream:
            head = stream.read(32)
            if head.startswith(_JSON_BEGINS):
                return True
            if not head.startswith(b"PAR1"):
                return False
            stream.seek(-8, io.SEEK_END)
            size = int.from_bytes(stream.read(4), "little")
            if size > _MOST_FOOTER:
                return False
            stream.seek(-8 - size, io.SEEK_END)
            return MARK.encode() in stream.read(size)
    except OSError:
        return False


def read_reduced(file: str) -> Reduced:
    """Read a reduced file; an InputError says what is wrong with one that is damaged or of another version."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", file) from None
    statement, columns = _from_parquet(data, file) if data.startswith(b"PAR1") else _from_json(data, file)
    if not isinstance(statement, dict) or statement.get("version") != 1:
        raise InputError("is a reduced file of another version of gateline", file, "reduce the log again")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or not lengths.pop():
        raise InputError("is a damaged reduced file: its columns are not alike", file, "reduce the log again")
    return Reduced(file, hashlib.sha256(data).hexdigest(), statement, columns)


def _from_json(data: bytes, file: str) -> tuple[Any, dict[str, list[Any]]]:
    try:
        found = json.loads(data)
        statement, columns = found[MARK], found["columns"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError("is a damaged reduced file", file, "reduce the log again") from None
    if not isinstance(columns, dict) or not all(isinstance(column, list) for column in columns.values()):
        raise InputError("is a damaged reduced file", file, "reduce the log again")
    return statement, columns


def _from_parquet(data: bytes, file: str) -> tuple[Any, dict[str, list[Any]]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError("reading Parquet needs pyarrow", file, "pip install 'gateline[parquet]'") from None
    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
        statement = json.loads((table.schema.metadata or {})[MARK.encode()])
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise InputError(
            f"is a damaged reduced file: {str(error)[:100]}", file, "reduce the log again"
        ) from None
    return statement, {name: table.column(name).to_pylist() for name in table.column_names}
