"""JUnit XML, as pytest, promptfoo and most test runners write it (extra `junit`).

A record is a test case. The file may come from anyone, so that a document type or an entity in it is refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.errors import InputError, count_of
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.samples import Run

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element  # for types; the parser is defusedxml's

NAME = "junit"
_ELEMENT = re.compile(rb"<([A-Za-z_][\w.-]*(?::[\w.-]+)?)")


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the first element of an XML file is a test suite."""
    begin = without_mark(head)
    if not begin.startswith(b"<"):
        return False
    first = _ELEMENT.search(begin)
    return first is not None and first[1].rpartition(b":")[2] in {b"testsuites", b"testsuite"}


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each test case.

    Raises InputError where defusedxml is missing or refuses the file, and where the file's own counts say that tests
    failed which look passed.
    """
    from gateline.readers._junit_cases import name_by_description, read_case, state, walk
    from gateline.readers._junit_sums import count_declared, hold_sums
    from gateline.readers._junit_tries import is_of_pytest, join_tries
    from gateline.readers._test_suites import Report, make_run

    root = _parse(source)
    found = list(walk(root))
    if not found:
        raise InputError("0 samples: no test case in the report", source.name)
    hold_sums(root, source.name)
    suites = {path for path, _, _ in found}
    written = [read_case(element, path) for path, element, _ in found]
    cases = join_tries(written, [suite if is_of_pytest(root, suite) else None for _, _, suite in found])
    report = Report(
        id_source="class and name",
        duration="time of the whole test, set-up and tear-down in it",
        declared=count_declared(root)
        if len(cases) == len(written)
        else None,  # pytest counts some of the tries
        facts=state(root),
    )
    if root.get("name") == "promptfoo":
        named = [name_by_description(case, several=len(suites) > 1) for case in cases]
        unnamed = sum(case is None for case in named)
        report = Report(
            id_source="description of the test",
            duration="time of the provider",
            declared=report.declared,
            unpaired=f"{count_of(unnamed, 'test of promptfoo has', 'tests of promptfoo have')} no "
            "description, and a number moves when a test is inserted; "
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
            "reading JUnit needs defusedxml",
            source.name,
            "pip install defusedxml (or gateline with its extra 'junit')",
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
