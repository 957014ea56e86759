"""A file of promptfoo as a run: what identifies its tests, what two runs must agree on, and what is odd.

It must not know how the files are told from those of other tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gateline.errors import InputError, count_of
from gateline.readers._building import RunBuilder
from gateline.readers._columns import DEEPEST, is_shallow
from gateline.readers._json_document import object_of, objects_of, parse_document, text_of
from gateline.readers._json_lines import read_object
from gateline.readers._json_text import JsonProblemError
from gateline.readers._promptfoo_header import is_line, is_table
from gateline.readers._promptfoo_results import (
    Record,
    Result,
    count_broken,
    find_judges,
    looked_at_nothing,
    read_result,
    read_test,
)
from gateline.readers._promptfoo_sums import hold_results, hold_sums
from gateline.readers._promptfoo_table import ROUNDED, read_table
from gateline.readers._promptfoo_tests import Answered, Identity, identify, shorten_prompt
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.samples import Agreement, Column, MetricFacts, Run

_FORMAT = "promptfoo"
REFERENCES = frozenset(
    [
        "reference",
        "reference_answer",
        "expected",
        "expected_answer",
        "expected_output",
        "ground_truth",
        "ideal",
        "gold",
    ]
)
"""Variables by which a test is graded: another one is another test."""


def read_file(source: Source, options: ReadOptions) -> Run:
    """Return a record for each answer to a test; an InputError where the file has no results of single tests."""
    if without_mark(source.head).startswith(b"<"):
        raise InputError(
            "is promptfoo's plain XML",
            source.name,
            "write the results as JSON: promptfoo eval -o results.json",
        )
    if is_table(source.head):
        found = read_table(source)
        return _make_run(
            source, options, [test for test, _ in found], [record for _, record in found], {}, [ROUNDED]
        )
    document: Mapping[str, object] = {}
    if is_line(shape_of(source.head)):
        lines = _read_lines(source)
    else:
        document = object_of(parse_document(source))
        lines = [(0, result) for result in _find_results(document, source)]
    results = [result for _, result in lines]
    hold_results(results, source.name)
    hold_sums(document, results, source.name)
    tests = [read_test(result, line) for line, result in lines]
    facts = _state(document, results)
    return _make_run(
        source, options, tests, [read_result(result) for result in results], facts, _find_warnings(results)
    )


def _read_lines(source: Source) -> list[tuple[int, Result]]:
    found: list[tuple[int, Result]] = []
    for line, text in enumerate(source.data[source.text_start :].split(b"\n"), 1):
        if text.strip():
            try:
                result = read_object(text)
            except JsonProblemError as error:
                raise InputError(str(error), f"{source.name}:{line}") from None
            if "gradingResult" not in result and "success" not in result:
                raise InputError(
                    "is no result of promptfoo: it has no gradingResult", f"{source.name}:{line}"
                )
            if not is_shallow(result):
                raise InputError(f"is nested more than {DEEPEST} levels deep", f"{source.name}:{line}")
            found.append((line, result))
    return found


def _find_results(document: Mapping[str, object], source: Source) -> list[Result]:
    summary = object_of(document.get("results"))
    results = objects_of(summary.get("results"))
    if results:
        return results
    if "table" in summary:
        raise InputError(
            "has only the table of an old promptfoo and no results of single tests",
            source.name,
            "export it again: promptfoo export eval ID -o results.json",
        )
    raise InputError("0 samples: the file has no results", source.name)


def _make_run(
    source: Source,
    options: ReadOptions,
    tests: Sequence[Answered],
    records: Sequence[Record],
    facts: Mapping[str, object],
    warnings: Sequence[str],
) -> Run:
    if not tests:
        raise InputError("0 samples: the file has no results", source.name)
    identity = identify(tests, source.name)
    for row, (test, record) in enumerate(zip(tests, records, strict=True)):
        record |= {
            "id": identity.ids[row],
            "slices": _labels(test, identity),
            "question": test.question,
            "description": test.description or None,
            "group": identity.tests[row] if identity.ids != identity.tests else None,
            "attempt": identity.attempts[row] if max(identity.attempts) > 1 else None,
            "assertions": test.assertions or None,
            **{f"vars.{name}": value for name, value in test.variables.items()},
        }
    builder = RunBuilder(source, ReadOptions(), _FORMAT)
    builder.add(records, np.array([test.line for test in tests], dtype=np.int64))
    run = builder.finish()
    kept = {name: column for name, column in run.fields.items() if not _is_blank(column)}
    known = {*run.metrics, *run.slices, *kept}
    facts = {**_state_answered(tests), **facts}
    must: dict[str, Agreement] = {
        name: "exactly" for name in ("judge", "assertions") if name in (*facts, *kept)
    }
    must |= {name: "exactly" for name in kept if name.removeprefix("vars.").lower() in REFERENCES}
    return replace(
        run,
        fields=kept,
        slices={name: column for name, column in run.slices.items() if not _is_blank(column)},
        provenance=facts,
        format_version=str(facts.get("promptfoo_version") or ""),
        id_field=identity.source,
        made_ids=identity.is_made or options.id_field not in (None, "id", identity.source),
        warnings=(*identity.warnings, *warnings),
        metric_facts={name: _facts_of(name) for name in run.metrics},
        aliases={name: f"vars.{name}" for test in tests for name in test.variables if name not in known},
        must_agree=must,
    )


def _labels(test: Answered, identity: Identity) -> dict[str, object]:
    """Return a test's metadata that are labels; provider and prompt where there are several."""
    labels: dict[str, object] = {
        name: value
        for name, value in test.metadata.items()
        if isinstance(value, str | bool | int | float | list) and name != identity.source
    }
    if identity.several_providers:
        labels["provider"] = test.provider
    if identity.several_prompts:
        labels["prompt"] = shorten_prompt(test.prompt)
    return labels


def _is_blank(column: Column) -> bool:
    if isinstance(column, np.ndarray):
        return bool(np.isnan(column).all())
    return all(value is None for value in column)


def _facts_of(name: str) -> MetricFacts:
    """Return what promptfoo says of a metric: high is good; `pass` is 0 or 1, and a score whatever an assertion gives.

    That the scores of one file lie from 0 to 1 says nothing of the next, as a function of the user's may go beyond.
    """
    return MetricFacts("higher", (0.0, 1.0) if name == "pass" else None)


def _state_answered(tests: Sequence[Answered]) -> dict[str, object]:
    """Return who answered, and to which prompts."""
    facts = {
        "provider": sorted({test.provider for test in tests if test.provider}),
        "prompt": sorted({shorten_prompt(test.prompt) for test in tests if test.prompt}),
    }
    return {name: found[0] if len(found) == 1 else found for name, found in facts.items() if found}


def _state(document: Mapping[str, object], results: Sequence[Result]) -> dict[str, object]:
    """Return how the run was made; of promptfoo's configuration, which may hold keys, the description alone."""
    config = object_of(document.get("config"))
    facts: dict[str, object] = {
        "promptfoo_version": text_of(object_of(document.get("metadata")).get("promptfooVersion")),
        "evaluation": text_of(config.get("description")),
        "prompt_id": sorted({name for result in results if (name := text_of(result.get("promptId"))[:12])}),
        "judge": find_judges(results),
    }
    return {name: value for name, value in facts.items() if value}


def _find_warnings(results: Sequence[Result]) -> list[str]:
    found = []
    empty = sum(looked_at_nothing(result) for result in results)
    if empty:
        found.append(
            "tests without an assertion pass in promptfoo; here they have no score: "
            + count_of(empty, "record", "records")
        )
    broken = count_broken(results)
    if broken:
        found.append(
            "promptfoo writes 0 where its judge failed; those are no scores here: "
            + count_of(broken, "assertion", "assertions")
        )
    return found
