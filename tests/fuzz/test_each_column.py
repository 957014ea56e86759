"""Whatever columns of a table hold the same nothing in every row: read or refused.

A reader that leaves out what no row has must not look it up afterwards.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from targets import GROUPS, Fixture, fixtures, lay_out, read_or_refused

from tries import EXAMPLES

NOTHING = ("", "{}", "null", *(("[]", "nan", "' '", "{") if EXAMPLES else ()))
NOTHING_IN_TWO = ("", *(("{}", "null") if EXAMPLES else ()))
LONGEST = 3


def table_of(fixture: Fixture) -> list[list[str]] | None:
    """Return the header and some rows of a table in text, None for another file."""
    if fixture.part.suffix not in (".csv", ".tsv"):
        return None
    text = fixture.part.read_text(encoding="utf-8-sig")
    dialect = "excel-tab" if fixture.part.suffix == ".tsv" else "excel"
    return list(csv.reader(io.StringIO(text), dialect))[: LONGEST + 1]


def write(rows: list[list[str]], suffix: str) -> str:
    stream = io.StringIO()
    csv.writer(stream, "excel-tab" if suffix == ".tsv" else "excel").writerows(rows)
    return stream.getvalue()


def tables() -> list[Fixture]:
    """Give one table of each header."""
    seen: set[tuple[str, ...]] = set()
    found = []
    for group in GROUPS:
        for fixture in fixtures(group):
            rows = table_of(fixture)
            if rows and tuple(rows[0]) not in seen:
                seen.add(tuple(rows[0]))
                found.append(fixture)
    return found


def test_there_are_tables_of_several_tools() -> None:
    assert len({fixture.group for fixture in tables()}) >= 4


def changed_tables(rows: list[list[str]]) -> Iterator[list[list[str]]]:
    """Give the table with any one column, and any two, without a value."""
    columns = range(len(rows[0]))
    places = [((column,), nothing) for column in columns for nothing in NOTHING]
    places += [(two, nothing) for two in combinations(columns, 2) for nothing in NOTHING_IN_TWO]
    for chosen, nothing in places:
        yield [
            rows[0],
            *([nothing if place in chosen else cell for place, cell in enumerate(row)] for row in rows[1:]),
        ]


@pytest.mark.parametrize("fixture", tables(), ids=lambda fixture: f"{fixture.group}-{fixture.part.name}")
def test_columns_may_hold_nothing_in_every_row(fixture: Fixture, tmp_path: Path) -> None:
    rows = table_of(fixture)
    assert rows is not None
    named, part = lay_out(fixture, tmp_path)
    tried = 0
    for changed in changed_tables(rows):
        part.write_text(write(changed, part.suffix), encoding="utf-8")
        read_or_refused(named, changed)
        tried += 1
    assert tried >= len(NOTHING) * len(rows[0])
