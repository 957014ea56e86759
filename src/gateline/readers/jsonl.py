"""JSON Lines, one record a line: gateline's own format, and the flat records of any other tool.

A line ends at a line feed and nowhere else: the other line separators of Unicode are data. orjson is
used where it is installed; what it refuses or would change (bare NaN, infinite numbers, integers beyond
64 bits) is read again with the standard library, so that the run is the same with and without it. A key
that stands twice in a record, in its metrics or in its slices is an error; deeper, the last value
counts. (With orjson a repeated key goes unseen if it is spelled with an escape one time and without the
other.)
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gateline.errors import InputError
from gateline.readers._building import SECTIONS, RunBuilder, describe, flatten
from gateline.readers._columns import Record
from gateline.readers._json_text import JsonProblemError, parse_value, repeated_key, skip_blanks
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.readers.records import WRAPPERS
from gateline.samples import Run

NAME = "jsonl"
GENERAL = True
SUFFIXES = frozenset({".jsonl", ".ndjson", ".jsonlines"})
VERSION = 1
BLOCK_BYTES = 1 << 20

_LONG_INTEGER = re.compile(rb"(?<![.\d])\d{19,}(?![.\deE])")
_DIGITS_TO_ZERO = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))
_Loads = Callable[[bytes], object]


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the first line is a JSON object that is a record, or a damaged one in a `.jsonl` file."""
    first, _, rest = without_mark(head).partition(b"\n")
    if not first.startswith(b"{"):
        return False
    named_so = path.suffix.lower() in SUFFIXES
    try:
        record = read_object(first)
    except JsonProblemError:
        return named_so and len(first.strip()) > 1  # a lone brace begins a JSON file printed over many lines
    if any(_is_list_of_objects(record.get(wrapper)) for wrapper in WRAPPERS) and not rest.strip():
        return False
    return (
        named_so
        or rest.lstrip().startswith(b"{")
        or not record.keys().isdisjoint({"id", "gateline", *SECTIONS})
    )


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def read(source: Source, options: ReadOptions) -> Run:
    """Return the records of the file; an InputError tells the first problems by line."""
    builder = RunBuilder(source, options, NAME)
    loads = _fast_loads()
    has_begun = False
    for block in _blocks(source):
        block.decode(loads, builder)
        for row, header, line in block.take_headers():
            if row or has_begun:
                builder.problems.add(
                    line, "a header line in the middle", "two files seem to have been joined"
                )
            else:
                _read_header(header, line, builder)
        has_begun = True
        builder.add(block.records, np.array(block.numbers, dtype=np.int64))
    if builder.provenance or builder.has_sections:
        builder.format = "gateline-jsonl"
    return builder.finish()


def _fast_loads() -> _Loads | None:
    try:
        import orjson
    except ImportError:
        return None
    return orjson.loads


@dataclass
class _Block:
    """Some lines of the file, and the records on them."""

    text: bytes
    first: int
    """Number of the first line."""
    is_last: bool

    def __post_init__(self) -> None:
        self.lines = self.text.split(b"\n")
        self.records: list[dict[str, object]] = []
        self.numbers: list[int] = []
        """Line of each record."""

    def take_headers(self) -> list[tuple[int, dict[str, object], int]]:
        """Take the header lines out of the records: row in the block, object and line."""
        if b"gateline" not in self.text:
            return []
        rows = [row for row, record in enumerate(self.records) if "gateline" in record]
        headers = [(row, self.records[row], self.numbers[row]) for row in rows]
        for row in reversed(rows):
            del self.records[row], self.numbers[row]
        return headers

    def decode(self, loads: _Loads | None, builder: RunBuilder) -> None:
        """Read the lines to `records`; problems go to the builder."""
        self.numbers = list(range(self.first, self.first + len(self.lines)))
        if loads is not None:
            try:
                records = list(map(loads, self.lines))
            except ValueError:
                pass  # blank lines among others; below each line is looked at
            else:
                if set(map(type, records)) == {dict}:
                    self.records = records  # type: ignore[assignment]
                    self._read_again(builder)
                    return
        lines, self.numbers = self.lines, []
        self.lines = []
        for number, line in enumerate(lines, self.first):
            if line.strip(b" \t\r"):
                record = self._decode_line(line, number, loads, builder)
                if record is not None:
                    self.lines.append(line)
                    self.records.append(record)
                    self.numbers.append(number)
        if loads is not None:
            self._read_again(builder)

    def _decode_line(
        self, line: bytes, number: int, loads: _Loads | None, builder: RunBuilder
    ) -> dict[str, object] | None:
        if loads is not None:
            try:
                record = loads(line)
            except ValueError:
                pass
            else:
                if isinstance(record, dict):
                    return record
        try:
            return read_object(line)
        except JsonProblemError as error:
            ends_here = self.is_last and number == self.first + self.text.rstrip().count(b"\n")
            if ends_here and error.position >= len(line.rstrip()):
                builder.problems.add(number, "is not complete JSON; the file ends in the middle of a record")
            else:
                builder.problems.add(number, str(error))
            return None

    def _read_again(self, builder: RunBuilder) -> None:
        """Read with the standard library what orjson may change: long integers, keys that stand twice."""
        doubtful: set[int] = set()
        if b"0" * 19 in self.text.translate(_DIGITS_TO_ZERO):
            doubtful.update(row for row, line in enumerate(self.lines) if _LONG_INTEGER.search(line))
        for key in repeated_keys(self.text, self.records):
            spelled = _spellings(key)
            doubtful.update(
                row
                for row, (line, record) in enumerate(zip(self.lines, self.records, strict=True))
                if sum(map(line.count, spelled)) != _count_key(record, key)
            )
        for row in sorted(doubtful):
            try:
                self.records[row] = read_object(self.lines[row])
            except JsonProblemError as error:
                builder.problems.add(self.numbers[row], str(error))


def _blocks(source: Source) -> Iterator[_Block]:
    data, start, first = source.data, source.text_start, 1
    size = len(data.rstrip())
    while start < size:
        end = data.find(b"\n", start + BLOCK_BYTES, size)
        end = size if end < 0 else end
        block = _Block(data[start:end], first, is_last=end == size)
        first += len(block.lines)
        start = end + 1
        yield block


def read_object(line: bytes) -> dict[str, object]:
    """Return the one JSON object on a line; a JsonProblemError says what else stands there."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonProblemError(f"byte 0x{line[error.start]:02x} at {error.start + 1} is not UTF-8") from None
    begin = skip_blanks(text, 0)
    try:
        value, end = parse_value(text, begin)
    except JsonProblemError as error:
        # Positions count characters here and bytes for the caller.
        position = len(text[: error.position].encode())
        if "nterminated string" in str(error):
            position = len(line)
        raise JsonProblemError(f"is not JSON at column {error.position + 1}: {error}", position) from None
    more = skip_blanks(text, end)
    if more < len(text):
        raise JsonProblemError(f"something else begins at column {more + 1}; one record a line")
    if not isinstance(value, dict):
        raise JsonProblemError(f"must be an object, not {describe(value)}")
    key = repeated_key(value, SECTIONS)
    if key:
        raise JsonProblemError(f"the key {key!r} stands twice in one object")
    return value


def _read_header(header: Record, line: int, builder: RunBuilder) -> None:
    version, run = header["gateline"], header.get("run")
    place = f"{builder.problems.file}:{line}"
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"format version {version!r} is not known; this gateline reads version {VERSION}", place
        )
    if run is not None and not isinstance(run, dict):
        raise InputError(f"'run' must be an object, not {describe(run)}", place)
    builder.provenance = flatten(run or {})


def repeated_keys(text: bytes, records: Sequence[Record]) -> list[str]:
    """Return the keys that may stand twice, as the text does not hold them as often as the records do.

    Counting in the text of a block costs next to nothing, and nearly always settles it.
    """
    expected: Counter[str] = Counter()
    for part in (records, *(_parts(records, section) for section in SECTIONS)):
        for shape, times in Counter(map(tuple, part)).items():
            for key in shape:
                expected[key] += times
    return [key for key, times in expected.items() if sum(map(text.count, _spellings(key))) != times]


def _parts(records: Sequence[Record], section: str) -> list[Record]:
    return [part for record in records if isinstance(part := record.get(section), dict)]


def _count_key(record: Record, key: str) -> int:
    return (key in record) + sum(key in part for section in SECTIONS for part in _parts([record], section))


def _spellings(key: str) -> set[bytes]:
    """Return how a key is written in JSON, with and without escapes for other than ASCII."""
    return {json.dumps(key).encode(), json.dumps(key, ensure_ascii=False).encode("utf-8", "replace")}
