"""A file that is one JSON value, and careful looks into values of which nothing is sure.

It must not know a format.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gateline.errors import InputError
from gateline.readers._columns import DEEPEST, is_shallow
from gateline.readers._json_text import JsonProblemError, RepeatedKeyError, parse_value, skip_blanks
from gateline.readers._source import Source

ONE_VALUE = "which of its values counts? leave one"


def parse_document(source: Source) -> object:
    """Return the JSON value that a file holds; an InputError names the line where it is none.

    A key that stands twice in an object is one too, at any depth: every parser keeps another of its values.
    """
    text = source.decode()
    try:
        value, end = parse_value(text, skip_blanks(text, 0))
    except RepeatedKeyError as error:
        raise InputError(str(error), _place(source, text, error.position), ONE_VALUE) from None
    except JsonProblemError as error:
        is_cut = error.position >= len(text.rstrip()) or "nterminated string" in str(error)
        reason = "the file ends in the middle of it" if is_cut else str(error)
        raise InputError(f"is not JSON: {reason}", _place(source, text, error.position)) from None
    end = skip_blanks(text, end)
    if end < len(text):
        raise InputError("something else begins behind the end", _place(source, text, end))
    if not is_shallow(value):
        raise InputError(f"is nested more than {DEEPEST} levels deep", source.name)
    return value


def _place(source: Source, text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"{source.name}:{line}"


def object_of(value: object) -> Mapping[str, object]:
    """Return a value that is an object, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[Mapping[str, object]]:
    """Return the objects in a list; none where the value is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text without blanks around it; "" for what is no text."""
    return value.strip() if isinstance(value, str) else ""


def number_of(value: object) -> float | None:
    """Return a finite number; None for anything else, truth values and NaN among that."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the range of a double
        return None
    return number if math.isfinite(number) else None


def measure(value: object, factor: float = 1.0) -> float | None:
    """Return a measured time, cost or count times `factor`; None for what is no number of 0 or more."""
    number = number_of(value)
    return None if number is None or number < 0 else number * factor


def first_line(text: str, most: int = 120) -> str:
    """Return the first line of a message, cut to `most` characters."""
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= most else line[: most - 1] + "…"
