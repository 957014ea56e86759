"""Lines of JSON to objects, a block of lines at a time, by orjson where it is installed.

orjson refuses or changes some of what tools write. Such lines are read again with the standard library,
so that the objects are the same with and without it. Nothing here knows what the objects mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gateline.readers._building import Problems, describe
from gateline.readers._json_text import JsonProblemError, RepeatedKeyError, parse_value, skip_blanks
from gateline.readers._source import Source

BLOCK_BYTES = 1 << 20
JSON_BLANKS = b" \t\r"
_FAR = (b'"  ', b'"\t', b'" \t', b'"\r', b'" \r')
"""How blanks between a key and its colon begin where they are more than one space."""

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
    except RepeatedKeyError:
        raise
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

    def find_repeated_keys(self, keys: int = -1) -> Iterator[tuple[int, str]]:
        """Give line and message of the records in which a key stands twice, at any depth.

        `keys` is how many keys the records and the objects directly in them have, where that is known: the quick proof
        that none was lost.
        """
        text = self._text
        if not self._may_hide_keys or (
            text.count(b'":') + text.count(b'" :') == keys and not any(far in text for far in _FAR)
        ):
            return
        for line, record, number in zip(self.lines, self.records, self.numbers, strict=True):
            if holds_all_keys(line, record):
                continue
            try:
                read_object(line)
            except JsonProblemError as error:
                yield number, str(error)

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


def holds_all_keys(text: bytes, value: object) -> bool:
    """Say whether a value has all keys of its JSON text, as a parser keeps but one of two equal keys.

    Quotation marks before a colon are counted: they end keys. Those inside a text have a backslash before them. What is
    miscounted is counted too often, so that True is certain, and False means that the text must be read again with
    `parse_value` to know: a text such as ":)" begins with a mark before a colon.
    """
    written = sum(
        text.count(end) - text.count(b"\\" + end) + text.count(b"\\\\" + end) for end in (b'":', b'" :')
    )
    return written + len(_FAR_COLON.findall(text)) == _count_keys(value)


_FAR_COLON = re.compile(rb'"(?:[\t\r\n]| [ \t\r\n])[ \t\r\n]*:')


def _count_keys(value: object) -> int:
    """Return how many keys the objects in a value have, at all depths."""
    counted, todo = 0, [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            counted += len(one)
            todo += [item for item in one.values() if type(item) in _NESTED]
        elif isinstance(one, list):
            todo += [item for item in one if type(item) in _NESTED]
    return counted


_NESTED = frozenset({dict, list})
