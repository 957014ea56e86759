"""Tests that passed, failed, were skipped or broke, as a run: what the formats of test reports have in common.

A test is a record with the metric `pass`; what it recorded beside that are numbers and labels. Nothing here reads a
file.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers._building import RunBuilder
from gateline.readers._columns import MOST_NAMES
from gateline.readers._copies import refuse_copies
from gateline.readers._json_document import first_line
from gateline.readers._rows import number_attempts
from gateline.readers._source import ReadOptions, Source
from gateline.samples import MISSING_TEXTS, Column, MetricFacts, Run, label_texts, reads_as_numbers

Outcome = Literal["passed", "failed", "error", "skipped", "unknown"]
"""`unknown`: the report says something of the test that nobody here can read, so it has no score."""

WORST_FIRST: tuple[Outcome, ...] = ("failed", "error", "unknown", "skipped", "passed")
"""A failure counts before an error, which came with taking down."""
FEWEST_ENDS = 3
"""Tests that failed in their last entry alone from which on that is no chance: one in eight of two attempts each."""
LONGEST_LABEL = 80
"""Characters up to which a recorded text is a label."""
_RESERVED = frozenset(
    {"id", "metrics", "slices", "gateline", "attempt", "error", "pass", "retries", "duration_ms"}
)
_LATENCY, _DURATION = "latency_ms", "duration_ms"
_PARAMETERS = re.compile(r"(.+)\[([^\[\]]+)\]")
_PLACE = re.compile(r"[A-Za-z_]+(0|[1-9][0-9]*)")
"""What pytest calls a parameter that has no text of its own: the argument's name and the place, `case0`."""


@dataclass(frozen=True)
class Case:
    """One test."""

    name: str
    """What identifies it."""
    outcome: Outcome
    message: str = ""
    """Why it did not pass."""
    duration_ms: float | None = None
    labels: Mapping[str, object] = field(default_factory=dict)
    recorded: Mapping[str, object] = field(default_factory=dict)
    """What the test itself wrote down: scores, labels."""
    details: Mapping[str, object] = field(default_factory=dict)
    """Further fields that are no labels."""
    retries: float | None = None
    """How often it was tried again."""
    is_unanswered: bool = False
    """Whether an error is that of the system under test."""
    trace: str | None = None
    """What tells this execution from every other; None where nothing does."""


@dataclass(frozen=True)
class Report:
    """What a report says beside its tests."""

    id_source: str
    duration: str
    """What the duration of a test is of."""
    declared: int | None = None
    """How many tests the report says that it has."""
    facts: Mapping[str, object] = field(default_factory=dict)
    version: str = ""
    unpaired: str = ""
    warnings: Sequence[str] = ()


def make_run(source: Source, file_format: str, cases: Sequence[Case], report: Report) -> Run:
    """Return the tests as a run: `pass` is 1 or 0, and nothing for a test that was skipped or broke.

    A test's duration is its latency (ms), unless the tests recorded one; that of a test that never ran is not known.
    """
    written = len(cases)
    refuse_copies(source.name, [case.name for case in cases], [case.trace for case in cases])
    cases, notices = _join_entries(cases)
    report = replace(report, warnings=(*report.warnings, *notices))
    noted = [{_free(name): value for name, value in case.recorded.items()} for case in cases]
    numbers, labels, texts = _sort_recorded(noted, source.name)
    is_recorded = _LATENCY in numbers
    names = [case.name for case in cases]
    attempts = number_attempts(names) or [None] * len(names)
    records = []
    for case, recorded, attempt in zip(cases, noted, attempts, strict=True):
        record: dict[str, object] = {
            "id": case.name,
            "metrics": {"pass": {"passed": 1.0, "failed": 0.0}.get(case.outcome)},
            "slices": {**case.labels, **{name: recorded.get(name) for name in labels}},
            "error": _error_of(case),
            "message": first_line(case.message) or None,
            "attempt": attempt,
            **{name: recorded.get(name) for name in (*numbers, *texts)},
            **case.details,
            "retries": case.retries or None,
        }
        ran = case.outcome in ("passed", "failed") or bool(case.is_unanswered and case.duration_ms)
        record[_DURATION if is_recorded else _LATENCY] = case.duration_ms if ran else None
        records.append(record)
    builder = RunBuilder(source, ReadOptions(), file_format)
    builder.add(records, np.zeros(len(records), dtype=np.int64))
    return _describe(builder.finish(), cases, written, report, is_recorded=is_recorded)


def _join_entries(cases: Sequence[Case]) -> tuple[Sequence[Case], list[str]]:
    """Return each test once, with the worst of its entries, where most tests have one; and what to tell of it.

    A test that fails, and breaks in its tear-down too, has two entries in pytest's report; a test that was tried again
    has one for each try in some. Where half of the tests or more have several entries, these are meant as attempts,
    unless they show the tries of a runner that marks only the last one as failed.
    """
    entries: dict[str, list[Case]] = {}
    for case in cases:
        entries.setdefault(case.name, []).append(case)
    several = [name for name, found in entries.items() if len(found) > 1]
    are_attempts = 2 * len(several) >= len(entries) and not _ends_with_failures(entries.values())
    if not several or are_attempts:
        return cases, []
    joined = [min(found, key=lambda case: WORST_FIRST.index(case.outcome)) for found in entries.values()]
    told = (
        f"tests with several entries, {_why(several, entries)}, count once and as the worst of them: {len(several)} "
        f"({name_some(several, 3)})"
    )
    return joined, [told]


def _why(several: Sequence[str], entries: Mapping[str, Sequence[Case]]) -> str:
    few = 2 * len(several) < len(entries)
    return (
        "while most have one" if few else "of which only the last ever failed, as where a test is tried again"
    )


def _ends_with_failures(entries: Iterable[Sequence[Case]]) -> bool:
    """Say whether tests failed in their last entry and never before: by chance alone that is rare from a few on."""
    bad = [[case.outcome in ("failed", "error") for case in found] for found in entries if len(found) > 1]
    return sum(found[-1] for found in bad) >= FEWEST_ENDS and not any(any(found[:-1]) for found in bad)


def _describe(run: Run, cases: Sequence[Case], written: int, report: Report, *, is_recorded: bool) -> Run:
    fields = {name: column for name, column in run.fields.items() if not _is_blank(column)}
    facts = {"pass": MetricFacts("higher", (0.0, 1.0))}
    if _LATENCY in fields:
        facts[_LATENCY] = MetricFacts(
            "lower", None, "as the tests recorded it" if is_recorded else report.duration
        )
    if _DURATION in fields:
        facts[_DURATION] = MetricFacts("lower", None, report.duration)
    return replace(
        run,
        fields=fields,
        slices={name: column for name, column in run.slices.items() if not _is_blank(column)},
        provenance={name: value for name, value in report.facts.items() if value not in (None, "", [])},
        format_version=report.version,
        id_field=report.id_source,
        made_ids=True,
        unpaired=report.unpaired,
        metric_facts=facts,
        warnings=(*report.warnings, *_find_warnings(cases, written, report)),
    )


def _find_warnings(cases: Sequence[Case], written: int, report: Report) -> list[str]:
    found = []
    outcomes = Counter(case.outcome for case in cases if not case.is_unanswered)
    if report.declared is not None and report.declared not in (written, len(cases)):
        found.append(f"the report says that it has {report.declared} tests, and {written} are in it")
    if outcomes["skipped"]:
        found.append(f"skipped tests have no score: {outcomes['skipped']}")
    if outcomes["error"]:
        broken = [case.name for case in cases if case.outcome == "error" and not case.is_unanswered]
        found.append(
            f"tests that broke outside their own checks have no score: {len(broken)} ({name_some(broken, 2)})"
        )
    if outcomes["unknown"]:
        found.append(
            f"tests of which the report says something that is not known here have no score: {outcomes['unknown']} "
            f"({name_some(sorted({case.message for case in cases if case.outcome == 'unknown'}), 4)})"
        )
    retried = sum(case.outcome == "passed" and bool(case.retries) for case in cases)
    if retried:
        found.append(f"tests that passed only when tried again count as passed: {retried}")
    repeated = sum(times > 1 for times in Counter(case.name for case in cases).values())
    if repeated:
        found.append(f"names that stand more than once are taken for attempts at one test: {repeated}")
    placed = _find_places([case.name for case in cases])
    if placed:
        found.append(
            f"parameters of tests are named by their place in a list ({name_some(placed, 2)}): where a case is put in "
            "between, or the list is in another order, other cases are compared with each other; give them ids"
        )
    return found


def _find_places(names: Sequence[str]) -> list[str]:
    """Return the first name of each test whose parameters are named by their place, counted from 0."""
    parameters: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        match = _PARAMETERS.fullmatch(name)
        if match:
            parameters[match[1]].append(match[2])
    return [f"{test}[{found[0]}]" for test, found in parameters.items() if _are_places(found)]


def _are_places(parameters: Sequence[str]) -> bool:
    """Say whether a part of each name is `case0`, `case1` and so on without a gap; `de-case0` has two parts."""
    for parts in zip(*(one.split("-") for one in parameters), strict=False):
        matches = [_PLACE.fullmatch(part) for part in parts]
        numbers = {match[1] for match in matches if match}
        if None not in matches and len(numbers) > 1 and numbers == set(map(str, range(len(numbers)))):
            return True
    return False


def _sort_recorded(
    recorded: Sequence[Mapping[str, object]], file: str
) -> tuple[list[str], list[str], list[str]]:
    """Return the names of what was recorded: numbers, labels, and other values; an InputError where they are data."""
    names = dict.fromkeys(name for one in recorded for name in one)
    if len(names) > MOST_NAMES:  # else each of them would be looked for in each test
        raise InputError(
            f"the tests record {len(names)} different properties, more than {MOST_NAMES}; their names seem to be data",
            file,
            "record what differs from test to test as the value of one property",
        )
    numbers, labels, others = [], [], []
    for name in names:
        column = [one.get(name) for one in recorded]
        texts = [text for value in column for text in label_texts(value)]
        if reads_as_numbers(column):
            numbers.append(name)
        elif all(len(text) <= LONGEST_LABEL for text in texts) and not any(
            isinstance(value, dict) for value in column
        ):
            labels.append(name)
        else:
            others.append(name)
    return numbers, labels, others


def _free(name: str) -> str:
    """Return a recorded name that means nothing else in a record."""
    return f"property.{name}" if name in _RESERVED else name


def _error_of(case: Case) -> str | None:
    if case.outcome not in ("error", "unknown"):
        return None
    if case.is_unanswered:
        return "no_answer"
    said = first_line(case.message)
    return said if said.lower() not in MISSING_TEXTS and said != "no_answer" else "error"


def _is_blank(column: Column) -> bool:
    if isinstance(column, np.ndarray):
        return bool(np.isnan(column).all())
    return all(value is None for value in column)
