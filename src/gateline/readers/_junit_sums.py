"""What the suites of a JUnit report say in their attributes, held against the test cases in them.

A suite that says that tests failed, and whose tests all look passed, was changed, cut or put together wrongly; so was
one that failed itself. Nothing here makes a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateline.errors import InputError
from gateline.readers._json_document import first_line
from gateline.readers._junit_cases import find_outcome, said_by, tag
from gateline.readers._told_sums import read_count, refuse_hidden

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element  # for types; the parser is defusedxml's

_BAD, _SKIPPED = ("failures", "errors"), ("skipped", "disabled", "skip", "ignored")


@dataclass
class _Counted:
    """What a suite's test cases show, those of the suites in it included."""

    suite: Element
    outer: int
    """Number of the suite around it; -1 for the root."""
    tests: int = 0
    bad: int = 0
    """Failures and errors, as elements or as attributes: some writers count elements, others tests."""
    skipped: int = 0


def hold_sums(root: Element, file: str) -> None:
    """Raise an InputError for a suite whose attributes count more failures, errors or skips than its tests show.

    Failures and errors are held together, as writers differ in which is which. Skips are only held where no test is
    missing: some writers leave skipped tests out. A suite with a failure of its own is refused too.
    """
    suites = _count(root, file)
    for place in range(len(suites) - 1, -1, -1):  # inner suites stand behind the outer ones
        found = suites[place]
        whose = (
            f"suite '{found.suite.get('name') or ''}'" if tag(found.suite) == "testsuite" else "the report"
        )
        stated = {name: read_count(found.suite.get(name)) for name in ("tests", *_BAD, *_SKIPPED)}
        known = [name for name in _BAD if stated[name]]
        bad = sum(stated[name] or 0 for name in _BAD)
        refuse_hidden(file, whose, " and ".join(known), bad, found.bad)
        skipped = max(
            stated[name] or 0 for name in _SKIPPED
        )  # one test may be counted under two of the names
        if found.tests >= (stated["tests"] or 0):
            refuse_hidden(file, whose, "skipped tests", skipped, found.skipped)
        if found.outer >= 0:
            outer = suites[found.outer]
            outer.tests, outer.bad = outer.tests + found.tests, outer.bad + found.bad
            outer.skipped += found.skipped


def _count(root: Element, file: str) -> list[_Counted]:
    """Return the suites with what stands directly in them, each behind the suite around it."""
    suites: list[_Counted] = []
    stack = [(root, -1)]
    while stack:
        element, outer = stack.pop()
        kind = tag(element)
        if kind in {"testsuite", "testsuites"}:
            suites.append(_Counted(element, outer))
            stack += [(child, len(suites) - 1) for child in element]
        elif kind == "testcase":
            _take(element, suites[outer])
        elif kind in {"failure", "error"}:
            name = suites[outer].suite.get("name") or ""
            said = first_line(said_by(element) or "no reason is given")
            raise InputError(
                f"suite '{name}' itself failed, so not all of its tests may be there: {said}",
                file,
                "mend what broke outside the tests, and run them again",
            )
    return suites


def _take(element: Element, suite: _Counted) -> None:
    outcome, _ = find_outcome(element)
    elements = sum(tag(child).lower() in {"failure", "error"} for child in element)
    suite.tests += 1
    suite.bad += max(elements, outcome in ("failed", "error", "unknown"))
    suite.skipped += outcome in ("skipped", "unknown")


def count_declared(root: Element) -> int | None:
    """Return how many tests the report says that it has; None where it does not say."""
    told = root.get("tests")
    counts = (
        [told] if told is not None else [child.get("tests") for child in root if tag(child) == "testsuite"]
    )
    numbers = [read_count(count) for count in counts]
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(counts) else None
