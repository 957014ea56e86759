"""JUnit XML, as pytest, promptfoo and most test runners write it (extra `junit`).

A record is a test case. The file may come from anyone, so that a document type or an entity in it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.errors import InputError
from gateline.readers._json_document import measure
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.readers._test_suites import Case, Outcome, Report, make_run
from gateline.samples import Run, read_number

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element  # for types; the parser is defusedxml's

NAME = "junit"
MOST_FACTS = 50
"""Properties of a suite beyond which they are those of the machine, and say nothing of the run."""
_SECOND = 1000.0
_ELEMENT = re.compile(rb"<([A-Za-z_][\w.-]*(?::[\w.-]+)?)")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_NUMBERED = re.compile(r"test [0-9]+(?:: (.*))?", re.DOTALL)
_AGAIN = ("flakyFailure", "flakyError", "rerunFailure", "rerunError")


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the first element of an XML file is a test suite."""
    begin = without_mark(head)
    if not begin.startswith(b"<"):
        return False
    first = _ELEMENT.search(begin)
    return first is not None and first[1].rpartition(b":")[2] in {b"testsuites", b"testsuite"}


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each test case; an InputError where defusedxml is missing or refuses the file."""
    root = _parse(source)
    is_promptfoo = root.get("name") == "promptfoo"
    found = list(_walk(root))
    if not found:
        raise InputError("0 samples: no test case in the report", source.name)
    suites = {path for path, _ in found}
    cases = [_read_case(element, path) for path, element in found]
    report = Report(
        id_source="class and name",
        duration="time of the whole test, set-up and tear-down in it",
        declared=_declared(root),
        facts=_state(root),
    )
    if is_promptfoo:
        named = [_name_by_description(case, several=len(suites) > 1) for case in cases]
        unnamed = sum(case is None for case in named)
        report = Report(
            id_source="description of the test",
            duration="time of the provider",
            declared=report.declared,
            unpaired=f"{unnamed} tests of promptfoo have no description, and a number moves when a test is inserted; "
            "hand over its JSON" if unnamed else "",
        )  # fmt: skip
        cases = [case if one is None else one for case, one in zip(cases, named, strict=True)]
    return make_run(source, NAME, cases, report)


def _parse(source: Source) -> Element:
    try:
        from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
        from defusedxml.ElementTree import ParseError, fromstring  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            "reading JUnit needs defusedxml", source.name, "pip install 'gateline[junit]'"
        ) from None
    try:
        root: Element = fromstring(source.data, forbid_dtd=True)
    except DefusedXmlException:
        raise InputError(
            "has a document type or entities, which a test report has no use for",
            source.name,
            "write it without",
        ) from None
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(": line")[0]
        raise InputError(
            f"is not whole XML at column {column + 1}: {reason}", f"{source.name}:{line}"
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise InputError(f"is not XML that can be read: {error}", source.name, "save it as UTF-8") from None
    return root


def _tag(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _walk(root: Element) -> Iterator[tuple[str, Element]]:
    """Give each test case with the names of the suites around it, in the order of the file."""
    stack: list[tuple[str, Element]] = [("", root)]
    while stack:
        path, element = stack.pop()
        kind = _tag(element)
        if kind == "testcase":
            yield path, element
        elif kind in {"testsuite", "testsuites"}:
            name = (element.get("name") or "").strip() if kind == "testsuite" else ""
            inside = " / ".join(part for part in (path, name) if part)
            stack += [(inside, child) for child in reversed(element)]


def _read_case(element: Element, path: str) -> Case:
    name, owner = (element.get("name") or "").strip(), (element.get("classname") or "").strip()
    children = {_tag(child): child for child in reversed(element)}
    outcome, message = _find_outcome(children)
    return Case(
        name="::".join(part for part in (owner or path, name) if part) or "(no name)",
        outcome=outcome,
        message=message,
        duration_ms=_read_time(element.get("time")),
        labels={"suite": path or None, "class": owner or None, "file": element.get("file")},
        recorded=_properties(element),
        retries=sum(_tag(child) in _AGAIN for child in element) or None,
    )


def _find_outcome(children: Mapping[str, Element]) -> tuple[Outcome, str]:
    """Return how a test ended: a failure counts before an error, which came with taking down."""
    kinds: tuple[tuple[str, Outcome], ...] = (
        ("failure", "failed"),
        ("error", "error"),
        ("skipped", "skipped"),
    )
    for kind, outcome in kinds:
        if kind in children:
            child = children[kind]
            return outcome, (child.get("message") or child.text or child.get("type") or "").strip()
    return "passed", ""


def _read_time(text: str | None) -> float | None:
    """Return seconds as milliseconds; some writers put marks between thousands."""
    stripped = (text or "").strip()
    if _THOUSANDS.fullmatch(stripped):
        stripped = stripped.replace(",", "")
    return measure(read_number(stripped), _SECOND)


def _properties(element: Element) -> dict[str, object]:
    """Return the properties of a test or suite; one that stands several times is a list."""
    found: dict[str, list[str]] = {}
    for child in element:
        if _tag(child) == "properties":
            for one in child:
                name = (one.get("name") or "").strip()
                value = one.get("value")
                if name and _tag(one) == "property":
                    found.setdefault(name, []).append(
                        value if value is not None else (one.text or "").strip()
                    )
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _declared(root: Element) -> int | None:
    """Return how many tests the report says that it has; None where it does not say."""
    told = root.get("tests")
    counts = (
        [told] if told is not None else [child.get("tests") for child in root if _tag(child) == "testsuite"]
    )
    numbers = [int(count) for count in counts if count is not None and count.isascii() and count.isdigit()]
    return sum(numbers) if numbers and len(numbers) == len(counts) else None


def _state(root: Element) -> dict[str, object]:
    """Return what the suites' properties say of how the run was made, where they all say the same."""
    from gateline.field_names import says_how_made

    suites = [root, *(child for child in root if _tag(child) == "testsuite")]
    told = [properties for suite in suites if (properties := _properties(suite))]
    if not told or any(len(properties) > MOST_FACTS for properties in told):
        return {}
    return {
        name: value
        for name, value in told[0].items()
        if says_how_made(name) and all(other.get(name) == value for other in told)
    }


def _name_by_description(case: Case, *, several: bool) -> Case | None:
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
