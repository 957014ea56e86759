"""Means and counts in a results file of lm-evaluation-harness, held against its samples.

Where they are not those of the samples, some were changed, added or taken away. Nothing here makes a run.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from gateline.errors import InputError, Problem, count_of, name_some
from gateline.readers._lm_eval_results import Task, bare_name
from gateline.samples import Floats, Run

_MEANS_AGREE = 1e-6
"""By how much a mean may differ, beside rounding, because the samples were added up in another order."""
_HINT = "hand over results and samples of one run, as the tool wrote them, whole and unchanged"


def compare_with_results(
    run: Run, tasks: Mapping[str, Task], partial: Container[str], file: str
) -> list[str]:
    """Return what the results have and the samples have not, without being a contradiction.

    `partial` are the metrics with values that are no score of a sample. Raises InputError for `file` where a mean
    over the samples of a task, or their number, is another than the results say. The harness counts all documents of
    a task as evaluated where `--samples` chose some of them; there the means agree.
    """
    notices: list[str] = []
    problems: list[Problem] = []
    names = np.array(run.texts("task") or [""] * len(run))
    rounding = min((task.rounding for task in tasks.values()), default=0.0)
    for task in tasks.values():
        rows = names == task.name
        if not rows.any():
            continue
        checked = 0
        for name, told in task.means.items():
            if name in run.metrics and name not in partial and bare_name(name) in task.averaged:
                found = _mean(run.numbers(name)[rows])
                checked += found is not None
                if found is not None and abs(found - told) > rounding + _MEANS_AGREE * max(1.0, abs(told)):
                    message = (
                        f"{name} of {task.name} is {told:g} in the results, and {found:g} by its samples"
                    )
                    problems.append(Problem(message, file, _HINT))
        number = int(rows.sum())
        if task.samples is not None and number != task.samples:
            message = (
                f"{task.name} has {count_of(number, 'sample', 'samples')}, and {task.samples} by the results"
            )
            if number < task.samples and checked and not problems:
                notices.append(message)
            else:
                problems.append(Problem(message, file, _HINT))
    if problems:
        raise InputError("the results are not those of the samples", problems=problems)
    silent = sorted(name for name, task in tasks.items() if task.means and not (names == name).any())
    if silent:
        lacking = (
            "task of the results has no samples and is",
            "tasks of the results have no samples and are",
        )
        notices.append(f"{count_of(len(silent), *lacking)} left out: {name_some(silent)}")
    return notices


def _mean(values: Floats) -> float | None:
    """Return the mean of the values that are there: a task may score some of its documents only."""
    there = values[~np.isnan(values)]
    return float(np.mean(there)) if there.size else None
