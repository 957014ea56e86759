"""What a test run of DeepEval says twice, held against itself: a case that failed is not to pass for one that passed.

Nothing here makes a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateline.errors import InputError, count_of, name_some
from gateline.readers._json_document import number_of, objects_of, text_of
from gateline.readers._told_sums import refuse_additional, refuse_hidden


def hold_cases(cases: Sequence[Mapping[str, object]], run: Mapping[str, object], file: str) -> None:
    """Raise an InputError for a case that succeeded beside a metric that failed, and for sums with more failures.

    In DeepEval a metric that fails lets its case fail, all but one that is marked as flaky; what has neither passed
    nor failed is counted as failed.
    """
    wrong = [
        text_of(case.get("name")) or f"test case {number}"
        for number, case in enumerate(cases, 1)
        if case.get("success") is True
        and any(
            one.get("success") is False and one.get("flaky") is not True
            for one in objects_of(case.get("metricsData"))
        )
    ]
    if wrong:
        told = count_of(len(wrong), "test case has", "test cases have")
        raise InputError(
            f"{told} success: true beside a metric with success: false: {name_some(wrong, 3)}",
            file,
            "hand over the test run as DeepEval wrote it",
        )
    passed = sum(case.get("success") is True for case in cases)
    refuse_hidden(file, "the test run", "testFailed", number_of(run.get("testFailed")), len(cases) - passed)
    refuse_additional(file, "the test run", "testPassed", number_of(run.get("testPassed")), passed)


def refuse_two_results(cases: Sequence[Mapping[str, object]], file: str) -> None:
    """Raise an InputError for a case with two results of one metric that differ: which of them counts is not known."""
    wrong: dict[str, None] = {}
    for number, case in enumerate(cases, 1):
        found: dict[str, list[object]] = {}
        for one in objects_of(case.get("metricsData")):
            told = [one.get(key) for key in ("score", "success", "error")]
            name = text_of(one.get("name"))
            if found.setdefault(name, told) != told:
                wrong[f"{name} of {text_of(case.get('name')) or f'test case {number}'}"] = None
    if wrong:
        raise InputError(
            f"a test case has two results of one metric, and they differ: {name_some(wrong, 3)}",
            file,
            "give each metric a name of its own",
        )
