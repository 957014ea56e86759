"""A message counts one thing in the singular: a count with a plural beside it is made by `count_of`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gateline
from gateline.errors import count_of

ROOT = Path(gateline.__file__).parent
COUNTED = re.compile(r"\{(?!count_of)[^{}]*\} (of \{[^{}]*\} )?[a-z]+s (have|are|stand|were|do|say)\b")
THINGS = (
    "checks|clusters|copies|documents|files|groups|ids|labels|pairs|queries|questions|rankings|records|rows|samples|"
    "scores|tasks|values"
)
COUNT = re.compile(
    r"\{(?!count_of)(len\([^{}]*\)|[a-z_.]*(number|samples|questions|clusters|both|at_least|ids))(:,)?\} "
    rf"({THINGS})\b"
)
"""A number of things that may be one: a count by its name, right before a plural."""
NEVER_ONE = {
    "{len(one.sample)} samples": "one is said in its own words",
    "{samples:,} samples": "an interval needs more than one",
    "{len(judged)} checks": "of how many checks hold, and the reports say it in their own words",
    "{len(handles)} records": "the verb follows the first number: 1 of 30 records is",
    "{len(texts)} records": "the same",
    "{len(self)} values": "the heading of several problems, each a value",
    "{len(found)} files": "none and one are said in other words, or more are asked for",
}
MODULES = [
    path
    for path in sorted(ROOT.rglob("*.py"))
    if path.relative_to(ROOT).parts[0]
    not in ("texts", "statistics", "rules", "pairing", "doctor", "reduction")
]
"""Languages have forms of their own; the others say what they count by the catalogue."""


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "0 records have"), (1, "1 record has"), (2, "2 records have"), (11, "11 records have")],
)
def test_one_is_told_in_the_singular(number, told):
    assert count_of(number, "record has", "records have") == told


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.stem}.{path.stem}")
def test_no_message_has_a_plural_and_its_verb_beside_any_count(path):
    found = [match[0] for match in COUNTED.finditer(path.read_text(encoding="utf-8"))]
    assert [
        one for one in found if not one.startswith(("{MOST_", "{THIN}", "{left:,} bytes", *NEVER_ONE))
    ] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.stem}.{path.stem}")
def test_no_message_has_a_plural_right_after_a_count(path):
    found = [match[0] for match in COUNT.finditer(path.read_text(encoding="utf-8"))]
    assert [one for one in found if one not in NEVER_ONE] == []


def test_what_is_looked_for_would_be_found():
    assert COUNTED.search('f"{len(rows)} records have no id"')
    assert COUNTED.search('f"{lost} of {len(handles)} records are left out"')
    assert COUNT.search('f"wrote {len(run)} records to {file}"')
    assert COUNT.search('f"in {part.clusters:,} clusters"')
    assert not COUNT.search("f\"wrote {count_of(len(run), 'record', 'records')} to {file}\"")
    assert not COUNTED.search("f\"{count_of(lost, 'record has', 'records have')} no id\"")
