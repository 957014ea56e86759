"""A message counts one thing in the singular: a count with a plural beside it is made by `count_of`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gateline
from gateline.errors import count_of

ROOT = Path(gateline.__file__).parent
COUNTED = re.compile(r"\{(?!count_of)[^{}]*\} (of \{[^{}]*\} )?[a-z]+s (have|are|stand|were|do|say)\b")
MODULES = sorted([*(ROOT / "readers").glob("*.py"), *(ROOT / "inspection").glob("*.py")])


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "0 records have"), (1, "1 record has"), (2, "2 records have"), (11, "11 records have")],
)
def test_one_is_told_in_the_singular(number, told):
    assert count_of(number, "record has", "records have") == told


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_message_of_a_reader_has_a_plural_beside_any_count(path):
    assert [match[0] for match in COUNTED.finditer(path.read_text(encoding="utf-8"))] == []


def test_what_is_looked_for_would_be_found():
    assert COUNTED.search('f"{len(rows)} records have no id"')
    assert COUNTED.search('f"{lost} of {len(handles)} records are left out"')
    assert not COUNTED.search("f\"{count_of(lost, 'record has', 'records have')} no id\"")
