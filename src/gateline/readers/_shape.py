"""The keys at the beginning of a JSON text, so that a reader can know a file without reading all of it.

It must not know a format, and reads no values.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from gateline.files import is_special
from gateline.readers._source import HEAD_BYTES, without_mark

_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)


@dataclass(frozen=True)
class Shape:
    """What the beginning of a JSON text is made of."""

    kind: str
    """`object` or `list`; empty for anything else."""
    keys: frozenset[str] = frozenset()
    """Keys of the object, or of the first object in the list, as far as the beginning goes."""
    inner: dict[str, frozenset[str]] = field(default_factory=dict)
    """Of each key: the keys of the object that is its value, or of the first object in the list that is."""
    goes_on: bool = False
    """Whether another object begins behind the first: JSON Lines."""


def shape_of(head: bytes) -> Shape:
    """Return the shape of a JSON text by its first bytes."""
    return _find_shape(bytes(head[:HEAD_BYTES]))


def shape_of_file(path: Path) -> Shape:
    """Return the shape of a file by its first bytes; an empty one where it can't be read."""
    try:
        if is_special(path):  # opening a pipe would wait for a writer
            return Shape("")
        with path.open("rb") as stream:
            return _find_shape(stream.read(HEAD_BYTES))
    except OSError:
        return Shape("")


@lru_cache(maxsize=64)
def _find_shape(head: bytes) -> Shape:
    begin = without_mark(head)
    if begin[:1] not in {b"{", b"["}:
        return Shape("")
    keys, inner, goes_on = _walk(begin)
    return Shape(
        "object" if begin.startswith(b"{") else "list",
        frozenset(keys),
        {name: frozenset(names) for name, names in inner.items()},
        goes_on,
    )


def _walk(begin: bytes) -> tuple[set[str], dict[str, set[str]], bool]:
    """Return the keys of the first record, those one level deeper, and whether another object follows."""
    keys: set[str] = set()
    inner: dict[str, set[str]] = {}
    is_list = begin.startswith(b"[")
    path = ""  # the open brackets
    record = "[{" if is_list else "{"
    closed: set[str] = set()  # keys of whose list the first item is behind us
    text, name = b"", ""
    for match in _TOKENS.finditer(begin):
        token = match[0]
        if token.startswith(b'"'):
            text = token
        elif token == b":":
            if path == record:
                name = _unquote(text)
                keys.add(name)
            elif path == record + "{" or (path == record + "[{" and name not in closed):
                inner.setdefault(name, set()).add(_unquote(text))
        elif token in {b"{", b"["}:
            if not path and keys:
                return keys, inner, token == b"{"
            path += token.decode()
        elif token in {b"}", b"]"} and path:
            if path == record + "[{":
                closed.add(name)
            path = path[:-1]
            if is_list and keys and len(path) == 1:  # the first record of a list is enough
                break
    return keys, inner, False


def _unquote(text: bytes) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1].decode("utf-8", "replace")
