"""The elements of a JUnit report as tests: how each ended, what it recorded, how long it took.

Nothing here parses XML or holds sums against tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateline.readers._json_document import measure
from gateline.readers._test_suites import WORST_FIRST, Case, Outcome
from gateline.samples import read_number

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element  # for types; the parser is defusedxml's

MOST_FACTS = 50
"""Properties of a suite beyond which they are those of the machine, and say nothing of the run."""
_SECOND = 1000.0
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_NUMBERED = re.compile(r"test [0-9]+(?:: (.*))?", re.DOTALL)
_AGAIN = ("flakyFailure", "flakyError", "rerunFailure", "rerunError")
_ENDS: dict[str, Outcome] = {
    **dict.fromkeys(("failure", "failed", "fail"), "failed"),
    **dict.fromkeys(("error", "errored", "broken", "aborted", "cancelled", "canceled", "timeout", "crashed"), "error"),
    **dict.fromkeys(
        ("skipped", "skip", "notrun", "disabled", "suppressed", "ignored", "pending", "untested", "filtered", "xfail",
         "xfailed", "expectedfailure"), "skipped"
    ),
    **dict.fromkeys(("passed", "pass", "ok", "success", "successful", "run", "ran", "completed", "executed", "expected",
                     "fixed", "xpass", "xpassed", "flaky"), "passed"),
}  # fmt: skip
"""What the elements within a test case, and its attributes `status` and `result`, say of its end, in small letters
and without other signs. `run` and `completed` are GoogleTest's and CTest's, and may stand beside a failure."""
_BAD_SIGNS = ("fail", "error", "abort", "timeout", "crash", "broke", "cancel")
"""What an unknown element is called that is no mere mark, even where nothing stands in it."""
_SILENT = frozenset(
    ["properties", "systemout", "systemerr", "stdout", "stderr", "output", "log", "logs", "attachments", "attachment",
     "description", "tags", "comment", "steps", "assertions", "stacktrace",
     "metadata", "traits", "parameters", "links", "rerun", "warning", *(name.lower() for name in _AGAIN)]
)  # fmt: skip
"""Elements within a test case that say nothing of its end."""


def tag(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def plain_word(name: str) -> str:
    """Return a name in small letters and without other signs: `not_run` and `NotRun` are one word."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def walk(root: Element) -> Iterator[tuple[str, Element, Element]]:
    """Give each test case with the names of the suites around it and the nearest of these, in the order of the file."""
    stack: list[tuple[str, Element, Element]] = [("", root, root)]
    while stack:
        path, element, suite = stack.pop()
        kind = tag(element)
        if kind == "testcase":
            yield path, element, suite
        elif kind in {"testsuite", "testsuites"}:
            name = (element.get("name") or "").strip() if kind == "testsuite" else ""
            inside = " / ".join(part for part in (path, name) if part)
            stack += [(inside, child, element) for child in reversed(element)]


def read_case(element: Element, path: str) -> Case:
    """Return a test case, within the suites `path`, as a test; times in milliseconds, None where not stated."""
    name, owner = (element.get("name") or "").strip(), (element.get("classname") or "").strip()
    outcome, message = find_outcome(element)
    return Case(
        name="::".join(part for part in (owner or path, name) if part) or "(no name)",
        outcome=outcome,
        message=message,
        duration_ms=_read_time(element.get("time")),
        labels={"suite": path or None, "class": owner or None, "file": element.get("file")},
        recorded=read_properties(element),
        retries=sum(tag(child) in _AGAIN for child in element) or None,
    )


def find_outcome(element: Element) -> tuple[Outcome, str]:
    """Return how a test ended, and what is said of it: the worst of what its elements and its attributes say."""
    found: dict[Outcome, str] = {}
    for child in element:
        word = plain_word(tag(child))
        if word and word not in _SILENT:
            end = _ENDS.get(word, "unknown")
            said = said_by(child)
            is_bare = not said and not len(child) and not any(sign in word for sign in _BAD_SIGNS)
            if end != "unknown" or not is_bare:
                found.setdefault(end, f"<{tag(child)}>" if end == "unknown" else said)
    for name in ("status", "result"):
        word = plain_word(element.get(name) or "")
        if word:
            end = _ENDS.get(word, "unknown")
            found.setdefault(end, f'{name}="{(element.get(name) or "").strip()}"')
    for name in ("success", "passed"):
        if plain_word(element.get(name) or "") == "false":
            found.setdefault("failed", f'{name}="{(element.get(name) or "").strip()}"')
    nothing: Outcome = "passed"
    outcome = next((end for end in WORST_FIRST if end in found), nothing)
    return outcome, "" if outcome == "passed" else found[outcome]


def said_by(element: Element) -> str:
    """Return what an element says of a failure; "" where it says nothing."""
    return (element.get("message") or element.text or element.get("type") or "").strip()


def _read_time(text: str | None) -> float | None:
    """Return seconds as milliseconds; some writers put marks between thousands."""
    stripped = (text or "").strip()
    if _THOUSANDS.fullmatch(stripped):
        stripped = stripped.replace(",", "")
    return measure(read_number(stripped), _SECOND)


def read_properties(element: Element) -> dict[str, object]:
    """Return the properties of a test or suite; one that stands several times is a list."""
    found: dict[str, list[str]] = {}
    for child in element:
        if tag(child) == "properties":
            for one in child:
                name = (one.get("name") or "").strip()
                value = one.get("value")
                if name and tag(one) == "property":
                    found.setdefault(name, []).append(
                        value if value is not None else (one.text or "").strip()
                    )
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def state(root: Element) -> dict[str, object]:
    """Return what the suites' properties say of how the run was made, where they all say the same."""
    from gateline.field_names import says_how_made

    suites = [root, *(child for child in root if tag(child) == "testsuite")]
    told = [properties for suite in suites if (properties := read_properties(suite))]
    if not told or any(len(properties) > MOST_FACTS for properties in told):
        return {}
    return {
        name: value
        for name, value in told[0].items()
        if says_how_made(name) and all(other.get(name) == value for other in told)
    }


def name_by_description(case: Case, *, several: bool) -> Case | None:
    """Return a test of promptfoo by its description, with its error as the provider's; None without a description."""
    owner = str(case.labels["class"] or "")
    match = _NUMBERED.fullmatch(case.name.removeprefix(f"{owner}::"))
    described = (match[1] or "").strip() if match else ""
    if not described:
        return None
    return Case(
        name=f"{described} | {owner}" if several else described,
        outcome=case.outcome,
        message=case.message,
        duration_ms=case.duration_ms,
        labels=case.labels if several else {},
        is_unanswered=case.outcome == "error",
    )
