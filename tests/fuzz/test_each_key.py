"""Whatever key of a report is missing everywhere, or holds what does not belong there: read or refused."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from damage import unpack
from targets import GROUPS, Fixture, fixtures, lay_out, read_or_refused

from tries import EXAMPLES

LONGEST = 3
"""Items of a list, and lines, that are kept: the others are alike."""
GONE = object()
INSTEAD = (GONE, 10**400, 0.5, [], *(({}, None, "", "x", True, [[]], {"a": None}) if EXAMPLES else ()))


def parse(content: bytes) -> list[Any] | None:
    """Return the JSON values of a file, one of a JSON file and one a line of JSON Lines; None for another format."""
    try:
        return [shorten(json.loads(content))]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in content.split(b"\n")[: LONGEST + 1] if line.strip()]
    except ValueError:
        return None


def shorten(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shorten(item) for name, item in value.items()}
    return [shorten(item) for item in value[:LONGEST]] if isinstance(value, list) else value


def keys_of(value: Any) -> set[str]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (set(value) if isinstance(value, dict) else set()).union(*map(keys_of, items))


def change(value: Any, key: str, instead: Any) -> Any:
    """Return a copy in which a key is gone, or holds something else, wherever it stands."""
    if isinstance(value, list):
        return [change(item, key, instead) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: instead if name == key else change(item, key, instead)
        for name, item in value.items()
        if not (name == key and instead is GONE)
    }


def write(values: list[Any]) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values) + b"\n"


def small_files(group: str) -> Iterator[Fixture]:
    """Give a file for each set of keys: names that are data (ids of documents) are left out by their number."""
    seen: set[frozenset[str]] = set()
    for fixture in fixtures(group):
        content = fixture.part.read_bytes()
        values = [*unpack(content).values()] if content.startswith(b"PK") else [content]
        parsed = [one for value in values[:4] if (one := parse(value)) is not None]
        keys = frozenset(keys_of(parsed))
        if parsed and keys not in seen and len(keys) < 150:
            seen.add(keys)
            yield fixture


def versions(fixture: Fixture, done: set[str]) -> Iterator[tuple[str, bytes]]:
    """Give the file with each key changed in each way, but for the keys that are done."""
    content = fixture.part.read_bytes()
    if not content.startswith(b"PK"):
        values = parse(content)
        assert values is not None
        for key in sorted(keys_of(values) - done):
            for instead in INSTEAD:
                yield key, write([change(value, key, instead) for value in values])
        return
    members = {name: parse(member) for name, member in list(unpack(content).items())}
    for key in sorted(keys_of(list(members.values())) - done):
        for instead in INSTEAD:
            stream = io.BytesIO()
            with zipfile.ZipFile(stream, "w") as archive:
                for name, values in members.items():
                    archive.writestr(name, write([change(value, key, instead) for value in values or []]))
            yield key, stream.getvalue()


@pytest.mark.parametrize("group", [group for group in GROUPS if group not in ("csv", "parquet")])
def test_any_key_may_be_missing_or_hold_a_number(group: str, tmp_path: Path) -> None:
    """A key that several files of a tool have is tried in the first of them; in all with many examples."""
    count = 0
    done: set[str] = set()
    for place, fixture in enumerate(small_files(group)):
        home = tmp_path / str(place)
        home.mkdir()
        named, part = lay_out(fixture, home)
        tried = set()
        for key, content in versions(fixture, done):
            tried.add(key)
            part.write_bytes(content)
            read_or_refused(named, key)
            count += 1
        if not EXAMPLES:
            done |= tried
    assert count > 20
