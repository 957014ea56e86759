"""What a log of Inspect AI plans and sums up, held against the samples in it.

A log that says more than its samples show, such as a second epoch or a lower mean, was cut or changed after the run.
Nothing here makes a run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from gateline.errors import InputError, count_of, name_some
from gateline.readers._inspect_samples import Samples
from gateline.readers._json_document import number_of, object_of, objects_of
from gateline.readers._told_sums import find_rounding
from gateline.samples import Floats, Run

_MEANS = ("mean", "accuracy")
_AGREES = 1e-6
_HINT = "hand over the log as Inspect wrote it, or run the task again"


def hold_log(samples: Samples, log: Mapping[str, object], run: Run) -> list[str]:
    """Return what a person should know of the log.

    Raises InputError where samples are missing of a run with the status `success`, where no question has all of its
    epochs, where more samples are without an error than the log counts, and where a mean is not that of the samples.
    """
    found = []
    status = log.get("status") if "status" in log else "started"
    if log and status != "success":
        found.append(f"the run did not end well: its status is '{status}'")
    found += _hold_plan(log, run, has_ended=status == "success")
    _hold_completed(samples, log, run)
    if samples.unreadable:
        shown = name_some([f"{name} {times}x" for name, times in sorted(samples.unreadable.items())], 4)
        found.append(
            f"Inspect counts a text that is no number as 0; those are no scores here: {shown} (such as "
            f"{samples.example!r})"
        )
    if samples.retried:
        what = "sample was answered", "samples were answered"
        found.append(
            f"{count_of(samples.retried, *what)} only when tried again, after an error; the scores count"
        )
    if samples.invalidated:
        marked = count_of(samples.invalidated, "sample was", "samples were")
        found.append(f"{marked} marked as invalid; there is no score of such here")
    return found + _hold_means(samples, log, run)


def _hold_plan(log: Mapping[str, object], run: Run, *, has_ended: bool) -> list[str]:
    """Return a notice where samples are missing because the run was killed."""
    if object_of(log.get("results")).get("early_stopping"):
        return ["the task stopped early: samples or epochs may be left out on purpose"]
    planned, epochs = count_planned(log)
    attempts = max(Counter(run.ids).values())
    if attempts < epochs:
        raise InputError(
            f"the log plans {epochs} epochs, and no sample has more than {attempts}: whole epochs are not in it",
            run.file,
            _HINT,
        )
    if len(run) >= planned:
        return []
    if has_ended:
        raise InputError(
            f"the log is of {planned} samples (questions times epochs), and {len(run)} are in it, though its status is "
            "'success'",
            run.file,
            _HINT,
        )
    return [f"{planned - len(run)} of {planned} planned samples are not in the log"]


def count_planned(log: Mapping[str, object]) -> tuple[int, int]:
    """Return of how many samples the log is, epochs counted, and of how many epochs; 0 where it does not say.

    Its results count first. Else it is the ids that it lists times the epochs, and no more than its limit, as a list
    may be that of the whole data set.
    """
    plan = object_of(log.get("eval"))
    config, ids = object_of(plan.get("config")), object_of(plan.get("dataset")).get("sample_ids")
    epochs = number_of(config.get("epochs")) or 1
    total = number_of(object_of(log.get("results")).get("total_samples"))
    if total is not None:
        return int(total), int(epochs)
    if not isinstance(ids, list) or config.get("sample_id") is not None:
        return 0, int(epochs)
    limit = config.get("limit")
    ends = [number_of(end) for end in limit] if isinstance(limit, list) else [0, number_of(limit)]
    most = ends[1] - ends[0] if len(ends) == 2 and ends[0] is not None and ends[1] is not None else math.inf
    return int(min(len(ids), most) * epochs), int(epochs)


def _hold_completed(samples: Samples, log: Mapping[str, object], run: Run) -> None:
    completed = number_of(object_of(log.get("results")).get("completed_samples"))
    shown = len(run) - len(samples.failed)
    if completed is not None and completed < shown:
        raise InputError(
            f"the log says that {completed:g} of its samples ended without an error, and {shown} of them in it "
            f"{'shows' if shown == 1 else 'show'} none",
            run.file,
            _HINT,
        )


def _hold_means(samples: Samples, log: Mapping[str, object], run: Run) -> list[str]:
    """Return which means of the log are not those of its samples, where a metric may count in a way of its own.

    A metric may give the grades P and N numbers of its own, a text that is no number counts as 0 in Inspect, and the
    means may be older than the mark of an invalid sample. What none of these explains is no log of these samples.
    """
    found = []
    told_scores = list(objects_of(object_of(log.get("results")).get("scores")))
    rounding = _find_rounding(told_scores)
    for result in told_scores:
        scorer, name = str(result.get("scorer")), str(result.get("name"))
        column = scorer if name == scorer else f"{scorer}.{name}"
        if column not in run.metrics or result.get("reducer") not in (None, "mean"):
            continue
        means = _find_means(column, samples, run)
        for metric in _MEANS:
            said = number_of(object_of(object_of(result.get("metrics")).get(metric)).get("value"))
            if (
                said is None
                or not means
                or any(_lies_within(said, one - rounding, one + rounding) for one, _, _ in means)
            ):
                continue
            told = f"the {metric} of {column} is {said:g} in the log and {means[0][0]:g} by its samples"
            is_explained = any(_lies_within(said, low - rounding, high + rounding) for _, low, high in means)
            if not (is_explained or column in samples.unreadable or samples.invalidated):
                raise InputError(told, run.file, f"{_HINT}; edited scores need their metrics computed again")
            found.append(f"{told}, which count; its scorer may give grades numbers of its own")
    return found


def _find_rounding(results: Iterable[Mapping[str, object]]) -> float:
    values = (
        number_of(object_of(metric).get("value"))
        for result in results
        for metric in object_of(result.get("metrics")).values()
    )
    return find_rounding(value for value in values if value is not None)


def _lies_within(said: float, low: float, high: float) -> bool:
    slack = _AGREES * max(1.0, abs(said))
    return low - slack <= said <= high + slack


def _find_means(column: str, samples: Samples, run: Run) -> list[tuple[float, float, float]]:
    """Return means over questions of the means over their attempts: of all samples, and of those without an error.

    With each stand the lowest and the highest that it may be where P and N have other numbers, from -1 to 1.
    """
    values = run.numbers(column)
    attempts = run.texts("attempt")
    if attempts is None:
        failed, soft = (
            {name for name, _ in found} for found in (samples.failed, samples.softly_graded.get(column, ()))
        )
        has_ended = np.array([name not in failed for name in run.ids])
        is_soft = np.array([name in soft for name in run.ids])
    else:
        executions = list(zip(run.ids, attempts, strict=True))
        has_ended = np.array([one not in samples.failed for one in executions])
        is_soft = np.array([one in samples.softly_graded.get(column, ()) for one in executions])
    found = []
    for counted in (values, np.where(has_ended, values, np.nan)):
        changed = (counted, *(np.where(is_soft & ~np.isnan(counted), end, counted) for end in (-1.0, 1.0)))
        means = [_mean_of_questions(run, one) for one in changed]
        found += [(means[0], means[1], means[2])] if None not in means else []
    return found  # type: ignore[return-value]


def _mean_of_questions(run: Run, values: Floats) -> float | None:
    by_id: dict[str, list[float]] = {}
    for name, value in zip(run.ids, values.tolist(), strict=True):
        if not math.isnan(value):
            by_id.setdefault(name, []).append(value)
    return float(np.mean([np.mean(found) for found in by_id.values()])) if by_id else None
