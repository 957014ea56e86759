"""pytest's outcomes in JSON, as the plug-in pytest-json-report writes them.

A record is a test. Unlike JUnit, the file keeps the types of what tests record, and the time of the call alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.errors import InputError, count_of, name_some
from gateline.readers._building import describe
from gateline.readers._json_document import measure, number_of, object_of, objects_of, parse_document, text_of
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Run

if TYPE_CHECKING:
    from gateline.readers._test_suites import Case, Outcome

NAME = "pytest-json-report"
_SECOND = 1000.0
_OUTCOMES: dict[str, Outcome] = {
    "passed": "passed", "failed": "failed", "error": "error", "skipped": "skipped", "xfailed": "skipped",
    "xpassed": "passed", "rerun": "passed",
}  # fmt: skip
"""A test that was expected to fail and did says nothing; one that passed, passed. So has pytest's own JUnit. `rerun` is
what is left of a test that pytest-rerunfailures tried again until it passed."""
_STAGES = ("setup", "call", "teardown")
_EXITS = {2: "was interrupted", 3: "ended with an internal error", 4: "was called wrongly", 5: "ran no tests"}
"""pytest's exit codes beyond 0, all passed, and 1, some failed."""


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a JSON object with pytest's exit code and a summary."""
    shape = shape_of(head)
    return shape.kind == "object" and {"created", "exitcode", "summary"} <= shape.keys


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each test.

    Raises InputError where a test has no node id or an unknown outcome, where pytest did not come to its end, and where
    the report counts failures that its tests do not show.
    """
    from gateline.readers._test_suites import Report, make_run

    document = object_of(parse_document(source))
    tests = objects_of(document.get("tests"))
    if not tests:
        raise InputError(
            "0 samples: no test in the report",
            source.name,
            "a report with --json-report-omit=tests or a summary alone has none",
        )
    _refuse_broken(document, source.name)
    _hold_sums(document, tests, source.name)
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


def _refuse_broken(document: Mapping[str, object], file: str) -> None:
    """Raise an InputError where pytest ended before it had run all tests, or could not load some of them."""
    unloaded = [
        text_of(one.get("nodeid")) or "(no name)"
        for one in objects_of(document.get("collectors"))
        if one.get("outcome") not in ("passed", "skipped", None)
    ]
    if unloaded:
        raise InputError(
            f"pytest could not load {count_of(len(unloaded), 'file or class', 'files or classes')}, whose "
            "tests are not in the report: "
            f"{name_some(unloaded, 3)}",
            file,
            "mend what broke while the tests were collected, and run them again",
        )
    ended = _EXITS.get(int(number_of(document.get("exitcode")) or 0))
    if ended:
        raise InputError(
            f"pytest {ended} (exit code {document.get('exitcode')}), so not all tests are in the report",
            file,
            "run the tests again to their end",
        )


def _hold_sums(document: Mapping[str, object], tests: Sequence[Mapping[str, object]], file: str) -> None:
    """Raise an InputError where summary or exit code know of failures that the tests do not show."""
    from gateline.readers._told_sums import refuse_additional, refuse_hidden

    summary = object_of(document.get("summary"))
    shown = Counter(str(test.get("outcome")) for test in tests)
    stated = {name: number_of(summary.get(name)) for name in ("total", *_OUTCOMES)}
    for name in ("failed", "error"):
        refuse_hidden(file, "the summary", name, stated[name], shown[name])
    for name in ("passed", "xpassed", "rerun"):
        refuse_additional(file, "the summary", name, stated[name], shown[name])
    if len(tests) >= (stated["total"] or 0):
        for name in ("skipped", "xfailed"):
            refuse_hidden(file, "the summary", name, stated[name], shown[name])
    if number_of(document.get("exitcode")) == 1 and not shown["failed"] + shown["error"]:
        raise InputError(
            "pytest's exit code is 1, some tests failed, and none of the tests in the report did",
            file,
            "where a plug-in set it, such as one with a limit on coverage, run the tests without",
        )


def _pytest_version(environment: Mapping[str, object]) -> str:
    return text_of(object_of(environment.get("Packages")).get("pytest"))


def _read_test(test: Mapping[str, object], number: int, source: Source) -> Case:
    from gateline.readers._copies import trace_of
    from gateline.readers._test_suites import Case

    name, outcome = text_of(test.get("nodeid")), test.get("outcome")
    if not name:
        raise InputError(f"test {number} has no nodeid but {describe(test.get('nodeid'))}", source.name)
    if not isinstance(outcome, str) or outcome not in _OUTCOMES:
        raise InputError(
            f"the outcome of '{name}' must be {', '.join(_OUTCOMES)}, not {describe(outcome)}", source.name
        )
    stages = [object_of(test.get(stage)) for stage in _STAGES]
    broken = [
        name for name, one in zip(_STAGES, stages, strict=True) if one.get("outcome") in ("failed", "error")
    ]
    if _OUTCOMES[outcome] == "passed" and broken:
        raise InputError(
            f"the outcome of '{name}' is {outcome}, and its {broken[0]} failed",
            source.name,
            "hand over the report as pytest wrote it",
        )
    crashes = [text_of(object_of(stage.get("crash")).get("message")) for stage in stages]
    reasons = [text_of(stage.get("longrepr")) for stage in stages if stage.get("outcome") != "passed"]
    recorded = {**_read_properties(test), **object_of(test.get("metadata"))}
    return Case(
        name=name,
        # a failure counts before a tear-down that broke as well, of which pytest's word for the whole test tells
        outcome="failed"
        if outcome == "error" and stages[1].get("outcome") == "failed"
        else _OUTCOMES[outcome],
        message=next((text for text in (*crashes, *reasons) if text), "") if outcome != "passed" else "",
        duration_ms=measure(stages[1].get("duration"), _SECOND),
        labels={"file": name.partition("::")[0]},
        recorded=recorded,
        retries=1.0 if outcome == "rerun" else None,
        trace=trace_of(test, [stage.get("duration") for stage in stages]),
    )


def _read_properties(test: Mapping[str, object]) -> dict[str, object]:
    """Return what a test recorded; of a property that it recorded several times all values, as none is the one."""
    found: dict[str, list[object]] = {}
    for properties in objects_of(test.get("user_properties")):
        for name, value in properties.items():
            found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}
