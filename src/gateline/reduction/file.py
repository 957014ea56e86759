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

from gateline.errors import InputError
from gateline.reduced_mark import MARK

FORMAT = "gateline-reduced"
VERSION = 2
SKETCH_COLUMNS = ("place", "sketch", "grp", "bin", "questions")


@dataclass(frozen=True)
class Reduced:
    """One run as sums."""

    file: str
    sha256: str
    statement: dict[str, Any]
    """What was summed up, as the plan says it, with `digest`, and of the run `records` and `provenance`."""
    columns: dict[str, list[Any]]
    """Sums, a row for each slice and group, sorted by both."""
    sketches: dict[str, list[Any]]
    """Counts of the bins of sketches, sorted by slice, sketch, group and bin."""


def sort_rows(
    names: Sequence[str], rows: Sequence[Sequence[Any]], keys: Sequence[str]
) -> dict[str, list[Any]]:
    """Return rows of an engine as columns in the one order that the file has: by `keys`, which come first."""
    at = [names.index(key) for key in keys]
    order = [*at, *(position for position in range(len(names)) if position not in at)]
    ordered = sorted(rows, key=lambda row: tuple(row[position] for position in at))
    return {names[position]: [_plain(row[position]) for row in ordered] for position in order}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    return value


def to_bytes(
    statement: Mapping[str, Any],
    columns: Mapping[str, Sequence[Any]],
    sketches: Mapping[str, Sequence[Any]],
    path: Path,
) -> bytes:
    """Return the file's content, with checksums: Parquet where its name ends so, else JSON."""
    statement = _seal(statement, columns, sketches)
    if path.suffix == ".parquet":
        return _to_parquet(statement, columns, sketches)
    return _dump({MARK: statement, "columns": columns, "sketches": sketches})


def _seal(
    statement: Mapping[str, Any], columns: Mapping[str, Sequence[Any]], sketches: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """Return the statement with a checksum of each column and one of the statement itself."""
    tables = {"columns": columns, "sketches": sketches}
    sums = {name: {key: _checksum(column) for key, column in table.items()} for name, table in tables.items()}
    sealed = {**statement, "checksums": sums}
    return sealed | {"checksum": _checksum(sealed)}


def _checksum(data: object) -> str:
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _refuse_changed(statement: dict[str, Any], tables: Mapping[str, dict[str, list[Any]]], file: str) -> None:
    """Raise InputError, which names the column, where a file does not hold what was written."""
    rest = {key: value for key, value in statement.items() if key != "checksum"}
    sums = statement.get("checksums")
    if statement.get("checksum") == _checksum(rest) and isinstance(sums, dict):
        changed = [
            one for name, table in tables.items() for one in _changed_columns(name, table, sums.get(name))
        ]
    else:
        changed = ["what it says of itself"]
    if changed:
        what = ", ".join(changed[:5])
        raise InputError(
            f"is a damaged reduced file: {what} is not what was written (by its checksum)",
            file, "reduce the log again",
        )  # fmt: skip


def _changed_columns(name: str, table: dict[str, list[Any]], known: object) -> list[str]:
    sums = known if isinstance(known, dict) else {}
    columns = dict.fromkeys([*sums, *table])
    return [f"{name}.{key}" for key in columns if key not in table or sums.get(key) != _checksum(table[key])]


def _dump(data: object) -> bytes:
    return (json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n").encode()


def _to_parquet(
    statement: Mapping[str, Any], columns: Mapping[str, Sequence[Any]], sketches: Mapping[str, Sequence[Any]]
) -> bytes:
    """Write one table: the rows of sums, whose sketch is -1, then those of sketches, which have counts only."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError:
        hint = "pip install pyarrow (or gateline with its extra 'reduce'), or --output NAME.json"
        raise InputError("writing Parquet needs pyarrow", hint=hint) from None
    number = len(columns["grp"])
    whole = {
        "place": columns["place"],
        "sketch": [-1] * number,
        "grp": columns["grp"],
        "bin": [0] * number,
        **columns,
    }
    arrays = []
    for name, column in whole.items():
        first = pyarrow.array(column, type=_arrow_type(column))
        rest = pyarrow.array(sketches[name], type=first.type) if name in sketches else None
        if rest is None:
            rest = pyarrow.nulls(len(sketches["grp"]), type=first.type)
        arrays.append(pyarrow.concat_arrays([first, rest]))
    table = pyarrow.Table.from_arrays(arrays, names=list(whole)).replace_schema_metadata(
        {MARK: _dump(statement)}
    )
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _arrow_type(column: Sequence[Any]) -> Any:
    import pyarrow

    known = next((value for value in column if value is not None), 0.0)
    if isinstance(known, str):
        return pyarrow.string()
    if any(isinstance(value, float) for value in column) or isinstance(known, float):
        return pyarrow.float64()
    return pyarrow.int64()


def read_reduced(file: str) -> Reduced:
    """Read a reduced file; an InputError says what is wrong with one that is damaged or of another version."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", file) from None
    read = _from_parquet if data.startswith(b"PAR1") else _from_json
    statement, columns, sketches = read(data, file)
    version = statement.get("version") if isinstance(statement, dict) else None
    if type(version) is not int or version != VERSION:
        raise InputError("is a reduced file of another version of gateline", file, "reduce the log again")
    for table in (columns, sketches):
        if len({len(column) for column in table.values()}) != 1:
            raise InputError(
                "is a damaged reduced file: its columns are not alike", file, "reduce the log again"
            )
    _refuse_changed(statement, {"columns": columns, "sketches": sketches}, file)
    return Reduced(file, hashlib.sha256(data).hexdigest(), statement, columns, sketches)


def _from_json(data: bytes, file: str) -> tuple[Any, dict[str, list[Any]], dict[str, list[Any]]]:
    damaged = InputError("is a damaged reduced file", file, "reduce the log again")
    try:
        found = json.loads(data)
        statement, columns, sketches = found[MARK], found["columns"], found["sketches"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise damaged from None
    for table in (columns, sketches):
        if not isinstance(table, dict) or not all(isinstance(column, list) for column in table.values()):
            raise damaged
    if not set(SKETCH_COLUMNS) <= sketches.keys():
        raise damaged
    return statement, columns, sketches


def _from_parquet(data: bytes, file: str) -> tuple[Any, dict[str, list[Any]], dict[str, list[Any]]]:
    try:
        import pyarrow
        from pyarrow import compute, parquet
    except ImportError:
        raise InputError(
            "reading Parquet needs pyarrow",
            file,
            "pip install pyarrow (or gateline with its extra 'parquet')",
        ) from None
    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
        statement = json.loads((table.schema.metadata or {})[MARK.encode()])
        is_sum = compute.less(table.column("sketch"), 0)
        sums = table.filter(is_sum).drop_columns(["sketch", "bin"])
        bins = table.select(list(SKETCH_COLUMNS)).filter(compute.invert(is_sum))
        return statement, sums.to_pydict(), bins.to_pydict()
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        what = f"is a damaged reduced file: {str(error)[:100]}"
        raise InputError(what, file, "reduce the log again") from None
