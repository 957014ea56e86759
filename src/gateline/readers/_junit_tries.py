"""Entries of one test in a suite of pytest as one: its tries, of which only the last is marked where it failed.

pytest-rerunfailures writes an entry for each try and leaves those before the last as they would be had they passed.
Nothing here parses XML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gateline.readers._test_suites import WORST_FIRST, Case

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element  # for types; the parser is defusedxml's

_SUITE, _ROOT = "pytest", "pytest tests"


def is_of_pytest(root: Element, suite: Element) -> bool:
    """Say whether pytest wrote a suite, as far as its usual names tell: that of the root is there since pytest 8.3."""
    return suite.get("name") == _SUITE or root.get("name") == _ROOT


def join_tries(cases: Sequence[Case], suites: Sequence[object]) -> list[Case]:
    """Return each test of a suite once, as the worst of its entries and the last of equal ones.

    `suites` says of each case (n) in which of pytest's suites it stands, None for one of another runner, whose cases
    stay as they are. Suites that were put into one file are runs of their own, and their tests attempts.
    """
    entries: dict[object, list[Case]] = {}
    for place, (case, suite) in enumerate(zip(cases, suites, strict=True)):
        entries.setdefault((None, place) if suite is None else (suite, case.name), []).append(case)
    return [found[0] if len(found) == 1 else _join(found) for found in entries.values()]


def _join(found: Sequence[Case]) -> Case:
    """Return one test; it was tried again as often as an entry without a word stands before another one."""
    chosen = min(reversed(found), key=lambda case: WORST_FIRST.index(case.outcome))
    unmarked = sum(case.outcome == "passed" for case in found[:-1])
    return replace(chosen, retries=float(unmarked) if unmarked and chosen.outcome != "error" else None)
