"""CTRF, the common test report format in JSON, of whatever test runner.

A record is a test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.errors import InputError
from gateline.readers._building import describe, flatten
from gateline.readers._json_document import measure, number_of, object_of, objects_of, parse_document, text_of
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Run

if TYPE_CHECKING:
    from gateline.readers._test_suites import Case, Outcome

NAME = "ctrf"
_OUTCOMES: dict[str, Outcome] = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "skipped",
    "pending": "skipped",
}
_BROKEN = frozenset({"setup_failed", "teardown_failed", "error", "broken"})
"""What test runners call a test that did not come to its checks; CTRF itself only has `failed`."""
_FAILED = frozenset({"failed", "fail", "failure", "timedout", "timeout", "interrupted", "crashed"})
"""What test runners call a test that failed."""
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]")
_FACTS = ("appName", "appVersion", "buildName", "buildNumber", "commit", "branchName", "testEnvironment")


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a JSON object with the results of a test tool."""
    shape = shape_of(head)
    inner = shape.inner.get("results", frozenset())
    return shape.kind == "object" and ("reportFormat" in shape.keys or {"tool", "summary"} <= inner)


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each test.

    Raises InputError for a test without a name or with an unknown status, and for a summary that has more failures.
    """
    from gateline.readers._test_suites import Report, make_run

    document = object_of(parse_document(source))
    results = object_of(document.get("results"))
    tests = objects_of(results.get("tests"))
    if not tests:
        raise InputError("0 samples: no test in results.tests", source.name)
    summary, tool = object_of(results.get("summary")), object_of(results.get("tool"))
    environment = object_of(results.get("environment"))
    declared = number_of(summary.get("tests"))
    facts = {
        "tool": text_of(tool.get("name")),
        "tool_version": text_of(tool.get("version")),
        **{name: environment.get(name) for name in _FACTS},
    }
    report = Report(
        id_source="suite and name",
        duration="duration of the test",
        declared=None if declared is None else int(declared),
        facts={name: value for name, value in facts.items() if isinstance(value, str | int)},
        version=text_of(document.get("specVersion")),
    )
    root = _find_root(tests)
    cases = [_read_test(test, number, source, root) for number, test in enumerate(tests, 1)]
    _hold_sums(summary, tests, source.name)
    return make_run(source, NAME, cases, report)


def _hold_sums(summary: Mapping[str, object], tests: Sequence[Mapping[str, object]], file: str) -> None:
    """Raise an InputError where the summary has more failures, or fewer passes, than the tests."""
    from gateline.readers._told_sums import refuse_additional, refuse_hidden

    shown = Counter(str(test.get("status")) for test in tests)
    stated = {name: number_of(summary.get(name)) for name in ("tests", *_OUTCOMES, "other")}
    refuse_hidden(file, "the summary", "failed", stated["failed"], shown["failed"])
    refuse_additional(file, "the summary", "passed", stated["passed"], shown["passed"])
    if len(tests) >= (stated["tests"] or 0):  # else it may be those that did not run which are left out
        for name in ("skipped", "pending", "other"):
            refuse_hidden(file, "the summary", name, stated[name], shown[name])


def _find_root(tests: Sequence[Mapping[str, object]]) -> str:
    """Return the folder that is common to all absolute paths of files, as it is another one on each machine."""
    paths = [
        text for test in tests for text in (*_suites(test.get("suite"))[:1], text_of(test.get("filePath")))
    ]
    parts = [text.replace("\\", "/").split("/")[:-1] for text in paths if _ABSOLUTE.match(text)]
    common = []
    for names in zip(*parts, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    return "/".join(common) + "/" if common else ""


def _below(text: str, root: str) -> str:
    """Return an absolute path as seen from the common folder, and any other text as it is."""
    plain = text.replace("\\", "/")
    return plain.removeprefix(root) if root and _ABSOLUTE.match(text) else text


def _read_test(test: Mapping[str, object], number: int, source: Source, root: str) -> Case:
    from gateline.readers._copies import trace_of
    from gateline.readers._test_suites import Case

    name, status = text_of(test.get("name")), test.get("status")
    if not name:
        raise InputError(f"test {number} has no name but {describe(test.get('name'))}", source.name)
    if status not in (*_OUTCOMES, "other"):
        raise InputError(
            f"the status of '{name}' must be passed, failed, skipped, pending or other, not {describe(status)}",
            source.name,
        )
    raw = text_of(test.get("rawStatus"))
    if status == "passed" and raw.lower() in _FAILED:
        raise InputError(
            f"the status of '{name}' is passed, and its rawStatus is {raw}",
            source.name,
            "hand over the report as its tool wrote it",
        )
    suites = [_below(suite, root) for suite in _suites(test.get("suite"))]
    outcome = "error" if status == "other" or raw.lower() in _BROKEN else _OUTCOMES[str(status)]
    message = text_of(test.get("message")) or raw
    return Case(
        name=name if any(name.startswith(suite) for suite in suites) else " > ".join([*suites, name]),
        outcome=outcome,
        message=message or str(status) if outcome != "passed" else "",
        duration_ms=measure(test.get("duration")),
        labels={
            **object_of(test.get("labels")),
            "suite": " > ".join(suites) or None,
            "file": _below(text_of(test.get("filePath")), root) or None,
            "type": text_of(test.get("type")) or None,
            "tags": test.get("tags") if isinstance(test.get("tags"), list) else None,
        },
        recorded=flatten(object_of(test.get("extra"))),
        details={f"parameters.{name}": value for name, value in object_of(test.get("parameters")).items()},
        retries=measure(test.get("retries")),
        trace=trace_of(test, [test.get("start"), test.get("stop")]),
    )


def _suites(value: object) -> list[str]:
    """Return the names of the suites around a test, from the outermost; older reports have them in one text."""
    names = value if isinstance(value, list) else text_of(value).split(" > ")
    return [name for one in names if (name := text_of(one))]
