"""Damage done to a file: as a disk, an editor, a spreadsheet, a broken export or an attacker would do it.

A file is bytes, or a zip archive or a Parquet file that is unpacked, damaged inside and packed again, so that the
damage gets past the checksums. The same damage of the same bytes gives the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from gateline.readers._source import Source
from gateline.readers._zip_members import ZipMembers

FULL = 2**32
PIECES = (
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\r\n", b"\r", b"\t", b";", b"'", b"<", b"&", b"-", b"\x00",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\xe2\x80\xa8", b'"\\ud800"', b"null", b"NaN",
    b"-Infinity",
    b"1e999", b"-1e-999", b"9" * 400, b"9" * 5000, b"[" * 3000, b'{"a":' * 300, b"true", b'""', b"[]", b"{}",
    b"- &a [*a, *a]",
    b"!!python/object:os.system", b"<<: *a", b"---\n", b"? [a]\n", b"version: 1\n", b"sep=;\n", b"PK\x03\x04", b"PAR1",
    b'"id": 1, "id": 2', b"<!DOCTYPE a [<!ENTITY b 'c'>]>&b;", b"]]>", b"-0.0", b"0x10", b"1_000", b"1,5", b"007",
    b" " * 300, b'"x"' * 100, b"None", b"nan", b"2026-13-45T99:99:99Z", b"1e308", b"18446744073709551616",
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 0.5, -0.0, 2**53 + 1, 2**64, -(2**70), 10**400, 1e308, 5e-324, float("nan"),
    float("inf"),
    float("-inf"), "", " ", "0", "1", "NaN", "null", "true", "no_answer", "1e999", "1,5", "\0", "\ud800",
    "\u202e", "x" * 300,
    [], {}, [[]], [{}], {"": {}}, {"a": {"b": {"c": [1]}}}, [None], [0.5, "x"], {"score": None}, {"value": "0.5"},
    "{}", "[", "['a', 'b']", "{'a': 1}", "2026-06-01T00:00:00Z", "9999999999-01-01", "../x", "a\nb", "id", "metrics",
)  # fmt: skip


@dataclass(frozen=True)
class Damage:
    """One thing done to a file; the numbers, of 0 to 2^32, say where and with what."""

    kind: str
    place: int
    other: int
    size: int
    what: int


KINDS: dict[str, Callable[[bytes, Damage], bytes]] = {}


def _kind(function: Callable[[bytes, Damage], bytes]) -> Callable[[bytes, Damage], bytes]:
    KINDS[function.__name__.strip("_")] = function
    return function


def _kind_of_table(
    function: Callable[[list[list[str]], Damage], list[list[str]]],
) -> Callable[[list[list[str]], Damage], list[list[str]]]:
    """Register what is done to the rows of a table; a file that is no table stays as it is."""

    def change(data: bytes, done: Damage) -> bytes:
        table = _table(data)
        if table is None or not table[0]:
            return data
        rows, delimiter = table
        return _write_table(function(rows, done), delimiter)

    KINDS[function.__name__] = change
    return function


def damages(most: int = 3) -> st.SearchStrategy[list[Damage]]:
    """Draw what is done to a file, one after the other."""
    number = st.integers(0, FULL)
    return st.lists(
        st.builds(Damage, st.sampled_from(list(KINDS)), number, number, number, number),
        min_size=1,
        max_size=most,
    )


def damage(data: bytes, done: list[Damage]) -> bytes:
    """Return the file after all that is done to it."""
    for one in done:
        data = KINDS[one.kind](data, one)
    return data


def _at(number: int, length: int) -> int:
    return number * length // (FULL + 1)


def _pick(number: int, choices: Any) -> Any:
    return choices[_at(number, len(choices))]


def _span(data: bytes, done: Damage, most: int = 200) -> tuple[int, int]:
    start = _at(done.place, len(data) + 1)
    return start, min(len(data), start + _at(done.size, most))


# ---- bytes


@_kind
def truncated(data: bytes, done: Damage) -> bytes:
    return data[: _at(done.place, len(data))]


@_kind
def flipped(data: bytes, done: Damage) -> bytes:
    if not data:
        return data
    place = _at(done.place, len(data))
    return data[:place] + bytes([data[place] ^ (1 << _at(done.other, 8))]) + data[place + 1 :]


@_kind
def inserted(data: bytes, done: Damage) -> bytes:
    start = _at(done.place, len(data) + 1)
    return data[:start] + _pick(done.what, PIECES) + data[start:]


@_kind
def replaced(data: bytes, done: Damage) -> bytes:
    start, end = _span(data, done, 30)
    return data[:start] + _pick(done.what, PIECES) + data[end:]


@_kind
def cut_out(data: bytes, done: Damage) -> bytes:
    start, end = _span(data, done)
    return data[:start] + data[end:]


@_kind
def repeated(data: bytes, done: Damage) -> bytes:
    start, end = _span(data, done)
    return data[:end] + data[start:end] + data[end:]


@_kind
def moved(data: bytes, done: Damage) -> bytes:
    start, end = _span(data, done)
    piece, rest = data[start:end], data[:start] + data[end:]
    place = _at(done.other, len(rest) + 1)
    return rest[:place] + piece + rest[place:]


@_kind
def number_changed(data: bytes, done: Damage) -> bytes:
    """Put an odd number where digits stand."""
    places = [place for place in range(1, len(data)) if data[place : place + 1].isdigit()]
    if not places:
        return data
    start = end = _pick(done.place, places)
    while end < len(data) and data[end : end + 1].isdigit():
        end += 1
    return data[:start] + _pick(done.what, PIECES) + data[end:]


# ---- lines and tables


@_kind
def line_repeated(data: bytes, done: Damage) -> bytes:
    lines = data.split(b"\n")
    lines.insert(_at(done.other, len(lines)), _pick(done.place, lines))
    return b"\n".join(lines)


@_kind
def line_lost(data: bytes, done: Damage) -> bytes:
    lines = data.split(b"\n")
    del lines[_at(done.place, len(lines))]
    return b"\n".join(lines)


@_kind
def lines_swapped(data: bytes, done: Damage) -> bytes:
    lines = data.split(b"\n")
    one, two = _at(done.place, len(lines)), _at(done.other, len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def _table(data: bytes) -> tuple[list[list[str]], str] | None:
    try:
        text = data.decode("utf-8")
        delimiter = max("\t,; ", key=text.partition("\n")[0].count)
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)), delimiter
    except (ValueError, csv.Error):
        return None


def _write_table(rows: list[list[str]], delimiter: str) -> bytes:
    stream = io.StringIO(newline="")
    try:
        csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
    except csv.Error:
        return b""
    return stream.getvalue().encode("utf-8", "replace")


@_kind_of_table
def columns_swapped(rows: list[list[str]], done: Damage) -> list[list[str]]:
    """Swap two columns, the header with them or not."""
    width = max(map(len, rows))
    one, two = _at(done.place, width), _at(done.other, width)
    for row in rows[_at(done.what, 2) :]:
        if max(one, two) < len(row):
            row[one], row[two] = row[two], row[one]
    return rows


@_kind_of_table
def cell_changed(rows: list[list[str]], done: Damage) -> list[list[str]]:
    """Put something odd in one cell, or in all cells of a column."""
    row, value = _at(done.place, len(rows)), str(_pick(done.what, ODD))
    if not rows[row]:
        return rows
    column = _at(done.other, len(rows[row]))
    for cells in rows[1:] if done.size % 2 else [rows[row]]:
        if column < len(cells):
            cells[column] = value
    return rows


@_kind_of_table
def column_lost(rows: list[list[str]], done: Damage) -> list[list[str]]:
    column = _at(done.place, max(map(len, rows)) or 1)
    return [row[:column] + row[column + 1 :] for row in rows]


# ---- JSON


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if len(found) > 20_000:
            break
        found += _places(item, (*path, key))
    return found


def _change_json(value: Any, done: Damage) -> Any:
    """Change one value of a JSON document: to another, away, under another key, twice, or deeper."""
    path = _pick(done.place, _places(value))
    if not path:
        return _pick(done.what, ODD)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    key, way = path[-1], _at(done.size, 8)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[str(_pick(done.what, ODD))] = holder.pop(key)
    elif way == 2:
        other = _pick(done.other, _places(value))
        found = value
        for part in other:
            found = found[part]
        if path[: len(other)] != other:  # no value inside itself
            holder[key] = json.loads(json.dumps(found))
    elif way == 3:
        deep: Any = holder[key]
        for _ in range(_at(done.other, 120)):
            deep = {"a": deep} if done.what % 2 else [deep]
        holder[key] = deep
    elif way == 4 and isinstance(holder, list):
        holder[:] = holder[: _at(done.other, len(holder) + 1)]
    else:
        holder[key] = _pick(done.what, ODD)
    return value


def _json_changed(text: bytes, done: Damage) -> bytes | None:
    try:
        value = json.loads(text)
        return json.dumps(_change_json(value, done)).encode()
    except (ValueError, RecursionError):
        return None


@_kind
def json_changed(data: bytes, done: Damage) -> bytes:
    """Change a value of a JSON file, or of one line of a JSON Lines file."""
    whole = _json_changed(data, done)
    if whole is not None:
        return whole
    lines = data.split(b"\n")
    row = _at(done.other, len(lines))
    line = _json_changed(lines[row], done)
    if line is None:
        return data
    return b"\n".join([*lines[:row], line, *lines[row + 1 :]])


@_kind
def json_changed_again(data: bytes, done: Damage) -> bytes:
    """Do it more often than the others: most formats are JSON."""
    return json_changed(data, done)


@_kind
def column_of_json_changed(data: bytes, done: Damage) -> bytes:
    """Change what stands under one key to the same odd value, everywhere."""
    try:
        value = json.loads(data)
        rows = [value]
    except (ValueError, RecursionError):
        try:
            rows = [json.loads(line) for line in data.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return data
    keys = sorted({key for path in _places(rows) for key in path if isinstance(key, str)})
    if not keys:
        return data
    _put_everywhere(rows, _pick(done.place, keys), _pick(done.what, ODD))
    return b"\n".join(json.dumps(row).encode() for row in rows)


def _put_everywhere(value: Any, key: str, odd: Any) -> None:
    if isinstance(value, dict):
        if key in value:
            value[key] = odd
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        _put_everywhere(item, key, odd)


# ---- archives and columns


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive, also those packed by zstandard, which Python's own reader does not know."""
    source = Source("archive.zip")
    source.__dict__["data"] = data
    archive = ZipMembers(source)
    return {name: archive.read(name) for name in archive.names}


def damage_zip(data: bytes, done: list[Damage]) -> bytes:
    """Damage members of an archive, and sometimes its names; the archive itself stays whole."""
    members = unpack(data)
    for one in done:
        name = _pick(one.other, sorted(members))
        way = _at(one.size, 10)
        if way == 0:
            del members[name]
        elif way == 1:
            members[_pick(one.place, [*members, "x", "../x", "samples/x.json", "_journal/x.json"])] = members[
                name
            ]
        else:
            members[name] = damage(members[name], [one])
        if not members:
            break
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def damage_parquet(data: bytes, done: list[Damage]) -> bytes:
    """Damage columns of a Parquet file: gone, empty, of another type or name, and rows repeated or lost."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(data))
    for one in done:
        if not table.num_columns:
            break
        table = _damage_table(table, one, pa)
    stream = io.BytesIO()
    try:
        pq.write_table(table, stream)
    except pa.ArrowException:  # Parquet does not hold everything that Arrow does
        return data
    return stream.getvalue()


def _damage_table(table: Any, done: Damage, pa: Any) -> Any:
    column, rows = _at(done.place, table.num_columns), table.num_rows
    name, values = table.column_names[column], table.column(column)
    odd: dict[str, Callable[[], Any]] = {
        "nulls": lambda: pa.nulls(rows),
        "typed nulls": lambda: pa.nulls(rows, pa.float64()),
        "texts": lambda: pa.array([None if value is None else str(value) for value in values.to_pylist()]),
        "bytes": lambda: pa.array([b"\xff\x00"] * rows),
        "dictionary": lambda: values.combine_chunks().dictionary_encode(),
        "nan": lambda: pa.array([float("nan")] * rows),
        "infinite": lambda: pa.array([float("inf")] * rows, pa.float32()),
        "large": lambda: pa.array([2**64 - 1] * rows, pa.uint64()),
        "decimals": lambda: pa.array([1] * rows).cast(pa.decimal128(38, 10)),
        "far times": lambda: pa.array([2**62] * rows, pa.timestamp("s")),
        "durations": lambda: pa.array([2**62] * rows, pa.duration("s")),
        "dates": lambda: pa.array([2**31 - 1] * rows, pa.date32()),
        "structs": lambda: pa.array([{"a": None, "b": [1.5]}] * rows),
        "maps": lambda: pa.array([[("a", 1)]] * rows, pa.map_(pa.string(), pa.int64())),
        "lists": lambda: pa.array([[[0.5], None]] * rows),
        "half floats": lambda: pa.array([0.5] * rows).cast(pa.float16()),
    }
    ways = [*odd, "lost", "renamed", "named twice", "no rows", "rows twice", "order"]
    way = _pick(done.size, ways)
    if way in odd:
        try:
            return table.set_column(column, name, odd[way]())
        except pa.ArrowException:
            return table
    if way == "lost":
        return table.remove_column(column)
    if way == "renamed":
        names = list(table.column_names)
        names[column] = str(
            _pick(done.what, ["", "id", "metrics", "slices.x", "metrics.", "error", "attempt", "a.b", "\0"])
        )
        return table.rename_columns(names)
    if way == "named twice":
        return table.append_column(name, values)
    if way == "no rows":
        return table.slice(0, 0)
    if way == "rows twice":
        return pa.concat_tables([table, table])
    return (
        table.select(sorted(table.column_names))
        if len(set(table.column_names)) == table.num_columns
        else table
    )


def damage_file(data: bytes, done: list[Damage]) -> bytes:
    """Damage a file, inside where it is packed and the first damage says so."""
    if done and done[0].what % 4 and len(data) > 4:
        if data.startswith(b"PK\x03\x04"):
            return damage_zip(data, done)
        if data.startswith(b"PAR1"):
            return damage_parquet(data, done)
    return damage(data, done)
