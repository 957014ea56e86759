"""pytest's outcomes in JSON, as the plug-in pytest-json-report writes them.

A record is a test. Unlike JUnit, the file keeps the types of what tests record, and the time of the call alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gateline.errors import InputError
from gateline.readers._building import describe
from gateline.readers._copies import trace_of
from gateline.readers._json_document import measure, number_of, object_of, objects_of, parse_document, text_of
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source
from gateline.readers._test_suites import Case, Outcome, Report, make_run
from gateline.samples import Run

NAME = "pytest-json-report"
_SECOND = 1000.0
_OUTCOMES: dict[str, Outcome] = {
    "passed": "passed", "failed": "failed", "error": "error", "skipped": "skipped", "xfailed": "skipped",
    "xpassed": "passed",
}  # fmt: skip
"""A test that was expected to fail and did says nothing; one that passed, passed. So has pytest's own JUnit."""
_STAGES = ("setup", "call", "teardown")


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a JSON object with pytest's exit code and a summary."""
    shape = shape_of(head)
    return shape.kind == "object" and {"created", "exitcode", "summary"} <= shape.keys


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each test; an InputError where a test has no node id or an unknown outcome."""
    document = object_of(parse_document(source))
    tests = objects_of(document.get("tests"))
    if not tests:
        raise InputError(
            "0 samples: no test in the report",
            source.name,
            "a report with --json-report-omit=tests or a summary alone has none",
        )
    total = number_of(object_of(document.get("summary")).get("total"))
    environment = object_of(document.get("environment"))
    report = Report(
        id_source="nodeid",
        duration="time of the test's call",
        declared=None if total is None else int(total),
        facts={"python": text_of(environment.get("Python")), "pytest": _pytest_version(environment)},
    )
    return make_run(
        source, NAME, [_read_test(test, number, source) for number, test in enumerate(tests, 1)], report
    )


def _pytest_version(environment: Mapping[str, object]) -> str:
    return text_of(object_of(environment.get("Packages")).get("pytest"))


def _read_test(test: Mapping[str, object], number: int, source: Source) -> Case:
    name, outcome = text_of(test.get("nodeid")), test.get("outcome")
    if not name:
        raise InputError(f"test {number} has no nodeid but {describe(test.get('nodeid'))}", source.name)
    if not isinstance(outcome, str) or outcome not in _OUTCOMES:
        raise InputError(
            f"the outcome of '{name}' must be {', '.join(_OUTCOMES)}, not {describe(outcome)}", source.name
        )
    stages = [object_of(test.get(stage)) for stage in _STAGES]
    crashes = [text_of(object_of(stage.get("crash")).get("message")) for stage in stages]
    reasons = [text_of(stage.get("longrepr")) for stage in stages if stage.get("outcome") != "passed"]
    recorded: dict[str, object] = {}
    for properties in objects_of(test.get("user_properties")):
        recorded |= properties
    recorded |= object_of(test.get("metadata"))
    return Case(
        name=name,
        outcome=_OUTCOMES[str(outcome)],
        message=next((text for text in (*crashes, *reasons) if text), "") if outcome != "passed" else "",
        duration_ms=measure(stages[1].get("duration"), _SECOND),
        labels={"file": name.partition("::")[0]},
        recorded=recorded,
        trace=trace_of(test, [stage.get("duration") for stage in stages]),
    )
