"""What promptfoo's results say twice, held against itself: a test that failed is not to pass for one that passed.

Nothing here makes a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateline.errors import InputError, count_of, name_some
from gateline.readers._json_document import number_of, object_of, objects_of, text_of
from gateline.readers._promptfoo_results import ERROR, Result
from gateline.readers._told_sums import refuse_additional, refuse_hidden

_FAILED = 1
"""`failureReason` of a test of which an assertion failed."""


def hold_results(results: Sequence[Result], file: str) -> None:
    """Raise an InputError that names the results which succeeded and whose grading, or cause of failure, says no."""
    wrong = [
        text_of(object_of(result.get("testCase")).get("description")) or f"result {number}"
        for number, result in enumerate(results, 1)
        if result.get("success") is True
        and (
            object_of(result.get("gradingResult")).get("pass") is False
            or result.get("failureReason") in (_FAILED, ERROR)
            or text_of(result.get("error"))
            or _all_failed(result)
        )
    ]
    if wrong:
        raise InputError(
            f"{count_of(len(wrong), 'result has', 'results have')} success: true, and a grading, "
            f"failureReason or error that says otherwise: {name_some(wrong, 3)}",
            file,
            "hand over the results as promptfoo wrote them",
        )


def _all_failed(result: Result) -> bool:
    """Say whether every assertion failed, with neither a threshold nor a function of the user's to let it pass."""
    components = objects_of(object_of(result.get("gradingResult")).get("componentResults"))
    case = object_of(result.get("testCase"))
    is_decided_otherwise = case.get("threshold") is not None or case.get("assertScoringFunction") is not None
    return (
        bool(components) and not is_decided_otherwise and all(one.get("pass") is False for one in components)
    )


def hold_sums(document: Mapping[str, object], results: Sequence[Result], file: str) -> None:
    """Raise an InputError where `results.stats` has more failures and errors, or fewer successes, than the results."""
    stats = object_of(object_of(document.get("results")).get("stats"))
    succeeded = sum(result.get("success") is True for result in results)
    whose = "results.stats"
    bad = sum(number_of(stats.get(name)) or 0 for name in ("failures", "errors"))
    refuse_hidden(file, whose, "failures and errors", bad, len(results) - succeeded)
    refuse_additional(file, whose, "successes", number_of(stats.get("successes")), succeeded)
