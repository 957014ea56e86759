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


class TwiceKeyed(dict[str, object]):
    """An object in which a key stood twice; the last value counts, as with every parser."""

    repeated: str = ""


def _collect(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    collected = dict(pairs)
    if len(collected) == len(pairs):
        return collected
    seen: set[str] = set()
    marked = TwiceKeyed(collected)
    marked.repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return marked


_decoder = json.JSONDecoder(object_pairs_hook=_collect)


def parse_value(text: str, start: int = 0) -> tuple[object, int]:
    """Return the JSON value that begins exactly at `start`, and where it ends.

    NaN and Infinity, bare, are numbers, as is 1e400 (infinite). Half of a surrogate pair becomes U+FFFD, as
    it could not be written again. A JsonProblemError says what is wrong.
    """
    try:
        value, end = _decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise JsonProblemError(error.msg[:1].lower() + error.msg[1:], error.pos) from None
    except RecursionError:
        raise JsonProblemError("nested too deeply", start) from None
    except ValueError as error:  # an integer of more than 4,300 digits
        raise JsonProblemError(str(error), start) from None
    if HALF_OF_A_PAIR.search(text, start, end):
        try:
            value = _mend(value)
        except RecursionError:
            raise JsonProblemError("nested too deeply", start) from None
    return value, end


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


def repeated_key(record: dict[str, object], sections: Sequence[str]) -> str:
    """Return the key that stands twice in a record or in one of its sections; empty if none."""
    if isinstance(record, TwiceKeyed):
        return record.repeated
    parts = (record.get(section) for section in sections)
    return next((part.repeated for part in parts if isinstance(part, TwiceKeyed)), "")
