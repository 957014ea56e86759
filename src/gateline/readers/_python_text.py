"""Cells in which a tool wrote a Python value as text: lists, messages, results of metrics.

They are taken apart by their quotation marks and never evaluated. What can't be read so stays a text.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise

_STRING = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ITEM = re.compile(rf"(?:np\.str_\()?({_STRING}|-?[0-9][0-9.eE+-]*|nan|None|True|False)\)?", re.DOTALL)
_BETWEEN = re.compile(r"[\s,]*")
_STRINGS = re.compile(_STRING, re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_FOLLOWED = re.compile(r"\s*:")
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_RESULT = re.compile(r"MetricResult\(value=(.*?)(?:, reason=.*)?\)", re.DOTALL)


def read_list(text: str) -> list[str] | None:
    """Return the items of a list as Python, numpy or JSON write it, or None where the text is none.

    numpy writes no commas, so that a parser of Python would join the items to one. An array that numpy cut short
    with `...` is none.
    """
    inside = text.strip()
    if not (inside.startswith("[") and inside.endswith("]")):
        return None
    try:
        value = json.loads(inside)
    except RecursionError:  # nested beyond reason
        return None
    except ValueError:
        return _read_items(inside[1:-1])
    return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value]


def _read_items(inside: str) -> list[str] | None:
    items, place = [], _skip(inside, 0)
    while place < len(inside):
        match = _ITEM.match(inside, place)
        if match is None:
            return None
        items.append(unquote(match[1]))
        place = _skip(inside, match.end())
    return items


def _skip(text: str, place: int) -> int:
    match = _BETWEEN.match(text, place)
    return match.end() if match else place


def unquote(literal: str) -> str:
    """Return the text of a Python string literal; anything else as it is."""
    if literal[:1] not in {"'", '"'}:
        return literal
    return _ESCAPE.sub(_unescape, literal[1:-1])


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return _PLAIN_ESCAPES.get(match[4], match[4] if match[4] in "\\'\"" else match[0])
    number = int(code, 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def read_turns(text: str) -> list[tuple[str, str]]:
    """Return type and content of each message in a list of messages written as Python text."""
    turns: list[tuple[str, str]] = []
    strings = [(match.end(), unquote(match[0])) for match in _STRINGS.finditer(text)]
    content = None
    for (end, key), (_, value) in pairwise(strings):
        if not _FOLLOWED.match(text, end):
            continue
        if key == "content":
            content = value
        elif key == "type" and content is not None:
            turns.append((value, content))
            content = None
    return turns


def read_result(text: str) -> str:
    """Return the value in the text of a Ragas `MetricResult`; any other text as it is."""
    match = _RESULT.fullmatch(text.strip())
    return unquote(match[1]) if match else text
