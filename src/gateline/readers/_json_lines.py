"""Lines of JSON to objects, a block of lines at a time, by orjson where it is installed.

orjson refuses or changes some of what tools write. Such lines are read again with the standard library,
so that the objects are the same with and without it. Nothing here knows what the objects mean, but that
sections lie in them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from gateline.readers._building import SECTIONS, Problems, describe
from gateline.readers._columns import Record
from gateline.readers._json_text import JsonProblemError, parse_value, repeated_key, skip_blanks
from gateline.readers._source import Source

BLOCK_BYTES = 1 << 20
JSON_BLANKS = b" \t\r"

_Object = dict[str, object]
Loads = Callable[[bytes], object]
"""A parser of one JSON text; ValueError for what is none."""


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


def orjson_loads() -> Loads | None:
    """Return orjson's parser, or None where it is not installed."""
    try:
        import orjson
    except ImportError:
        return None
    return orjson.loads


def read_blocks(source: Source, problems: Problems, loads: Loads | None) -> Iterator[Block]:
    """Give the lines of a file in blocks of about a megabyte; lines that are no object become problems."""
    data, start, first = source.data, source.text_start, 1
    size = len(data)
    while size > start and data[size - 1 : size].isspace():
        size -= 1
    while start < size:
        end = data.find(b"\n", start + BLOCK_BYTES, size)
        end = size if end < 0 else end
        block = Block(data[start:end], first, is_last=end == size)
        first += len(block.lines)
        start = end + 1
        block.decode(loads, problems)
        yield block


class Block:
    """Some lines of the file, and the objects on them."""

    def __init__(self, text: bytes, first: int, *, is_last: bool):
        """Take the lines without the last line feed, and the number of the first."""
        self.lines = text.split(b"\n")
        self.records: list[_Object] = []
        self.numbers: list[int] = []
        """Line of each record."""
        self._text = text
        self._first = first
        self._is_last = is_last
        self._may_hide_keys = False

    def take_first(self) -> tuple[_Object, int]:
        """Take the first record out, and return it with its line."""
        del self.lines[0]
        self._text = b"\n".join(self.lines)
        return self.records.pop(0), self.numbers.pop(0)

    def decode(self, loads: Loads | None, problems: Problems) -> None:
        """Read the lines to `records`."""
        if loads is None or not self._decode_all(loads):
            self._decode_each(loads, problems)
        self._may_hide_keys = loads is not None

    def find_repeated_keys(self, keys: int) -> Iterator[tuple[int, str]]:
        """Give line and message of the records in which a key stands twice; `keys` is how many they have.

        A text has as many quotation marks before a colon as keys, if no string in it holds them too: that is
        the quick proof that no key was lost. Else each key is counted by itself.
        """
        if not self._may_hide_keys or self._text.count(b'":') == keys or self._text.count(b'" :') == keys:
            return
        rows: set[int] = set()
        for key, times in _count_keys(self.records).items():
            spelled = _spellings(key)
            if sum(map(self._text.count, spelled)) != times:
                rows.update(
                    row
                    for row, line in enumerate(self.lines)
                    if sum(map(line.count, spelled)) != _count_keys(self.records[row : row + 1])[key]
                )
        for row in sorted(rows):
            try:
                read_object(self.lines[row])
            except JsonProblemError as error:
                yield self.numbers[row], str(error)

    def _decode_all(self, loads: Loads) -> bool:
        """Read the lines if each is an object."""
        try:
            records = list(map(loads, self.lines))
        except ValueError:  # a blank line, a bare NaN, a broken line: they must be looked at one by one
            return False
        if set(map(type, records)) != {dict}:
            return False
        self.records = records  # type: ignore[assignment]
        self.numbers = list(range(self._first, self._first + len(records)))
        return True

    def _decode_each(self, loads: Loads | None, problems: Problems) -> None:
        """Read line by line; `lines` then holds those of the records only."""
        lines, self.lines = self.lines, []
        for number, line in enumerate(lines, self._first):
            if not line.strip(JSON_BLANKS):
                continue
            try:
                record = _read_either_way(line, loads)
            except JsonProblemError as error:
                ends_here = self._is_last and line is lines[-1] and _is_cut(line.strip(JSON_BLANKS), error)
                cut = "is not complete JSON; the file ends in the middle of a record"
                problems.add(number, cut if ends_here else str(error))
                continue
            self.lines.append(line)
            self.records.append(record)
            self.numbers.append(number)


def _is_cut(line: bytes, error: JsonProblemError) -> bool:
    """Say whether an object begins on the line and does not end there."""
    return (
        line.startswith(b"{")
        and error.position > 0
        and (not line.endswith(b"}") or error.position >= len(line))
    )


def _read_either_way(line: bytes, loads: Loads | None) -> _Object:
    if loads is not None:
        try:
            record = loads(line)
        except ValueError:
            pass
        else:
            if isinstance(record, dict):
                return record
    return read_object(line)


def _count_keys(records: Sequence[Record]) -> Counter[str]:
    """Return how often each key stands in records and their sections."""
    counted: Counter[str] = Counter()
    sections = (
        [part for record in records if isinstance(part := record.get(name), dict)] for name in SECTIONS
    )
    for part in (records, *sections):
        for shape, times in Counter(map(tuple, part)).items():
            counted.update(dict.fromkeys(shape, times))
    return counted


def _spellings(key: str) -> set[bytes]:
    """Return how a key is written in JSON, with and without escapes for other than ASCII."""
    return {json.dumps(key).encode(), json.dumps(key, ensure_ascii=False).encode("utf-8", "replace")}
