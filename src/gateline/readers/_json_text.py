"""JSON as evaluation tools write it: NaN and Infinity bare, numbers of any length, a key now and then twice.

It must not know records or metrics.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

HALF_OF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class JsonProblemError(ValueError):
    """A text that is no JSON, or cannot be kept as such."""

    def __init__(self, message: str, position: int = 0):
        """Take what is wrong and where in the text (characters)."""
        super().__init__(message)
        self.position = position


class RepeatedKeyError(JsonProblemError):
    """A JSON text in which a key stands twice in one object, so that nobody can say which value counts."""


class TwiceKeyed(dict[str, object]):
    """An object in which a key stood twice; it has the last value."""

    repeated: str = ""
    made = 0
    """How many there have been: a parse that made none needs no search."""


def _collect(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    collected = dict(pairs)
    if len(collected) == len(pairs):
        return collected
    seen: set[str] = set()
    marked = TwiceKeyed(collected)
    marked.repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    TwiceKeyed.made += 1
    return marked


_decoder = json.JSONDecoder(object_pairs_hook=_collect)
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]', re.DOTALL)


def parse_value(text: str, start: int = 0, *, repeats: list[str] | None = None) -> tuple[object, int]:
    """Return the JSON value that begins exactly at `start`, and where it ends.

    NaN and Infinity, bare, are numbers, as is 1e400 (infinite). Half of a surrogate pair becomes U+FFFD, as
    it could not be written again. A JsonProblemError says what is wrong; a RepeatedKeyError that a key stands twice
    in an object, at any depth. Where `repeats` is given, the first such key goes there, and the objects are
    `TwiceKeyed`.
    """
    made = TwiceKeyed.made
    try:
        value, end = _decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise JsonProblemError(error.msg[:1].lower() + error.msg[1:], error.pos) from None
    except RecursionError:
        raise JsonProblemError("nested too deeply", start) from None
    except ValueError as error:  # an integer of more than 4,300 digits
        raise JsonProblemError(str(error), start) from None
    if TwiceKeyed.made != made:
        key, position = _find_repeated(text, start, end)
        if repeats is None:
            raise RepeatedKeyError(f"the key {key!r} stands twice in one object", position)
        repeats.append(key)
    if HALF_OF_A_PAIR.search(text, start, end):
        try:
            value = _mend(value)
        except RecursionError:
            raise JsonProblemError("nested too deeply", start) from None
    return value, end


def _find_repeated(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the first key that stands twice in its object, and where it stands for the second time."""
    opened: list[set[str]] = []
    name: re.Match[str] | None = None
    for match in _TOKENS.finditer(text, start, end):
        token = match[0]
        if token in "{[":
            opened.append(set())
        elif token in "}]":
            opened.pop()
        elif token != ":":
            name = match
        elif name is not None:
            key = str(json.loads(name[0]))
            if key in opened[-1]:
                return key, name.start()
            opened[-1].add(key)
    raise AssertionError("a key that the parser saw twice stands twice")


def skip_blanks(text: str, start: int) -> int:
    """Return where the next character stands that is no JSON blank."""
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    return start


def _mend(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mend(item) for item in value]
    if not isinstance(value, dict):
        return value
    mended = {str(_mend(key)): _mend(item) for key, item in value.items()}
    if isinstance(value, TwiceKeyed):
        repeated, mended = value.repeated, TwiceKeyed(mended)
        mended.repeated = repeated
    return mended
