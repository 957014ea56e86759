"""One file of labels, by people or by a judge, as raw values with a cause for each that is missing.

It takes a label as it stands; what it means is settled in `kinds`, where both files are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from gateline.errors import InputError, Problem, count_of, did_you_mean, name_some
from gateline.pairing.marks import find_errors
from gateline.readers import read_run
from gateline.samples import MISSING_TEXTS, Column, Run

NO_LABEL = "no label"
UNREADABLE = "unreadable"
USUAL_NAMES = {
    "human": ("human", "human_label", "label"),
    "judge": ("judge", "judge_label", "label"),
}
"""Fields in which a file without metrics may hold its labels."""


@dataclass(frozen=True)
class LabelFile:
    """The labels of one file: n raw values, None where there is none, and then the cause ("" elsewhere)."""

    run: Run
    name: str
    values: list[object]
    causes: list[str]

    def rows(self) -> dict[str, int]:
        """Return the row of each id; an InputError where an id has two."""
        found: dict[str, int] = {}
        twice: list[int] = []
        for row, name in enumerate(self.run.ids):
            if found.setdefault(name, row) != row:
                twice.append(row)
        if twice:
            problems = [
                Problem(
                    f"'{self.run.ids[row]}' has a second label, the first is in "
                    f"{self.run.place(found[self.run.ids[row]])}",
                    self.run.place(row),
                )
                for row in twice[:5]
            ]
            hint = "write one label for each id: the claim's or the attempt's own id, or the raters' majority"
            named = name_some(dict.fromkeys(self.run.ids[row] for row in twice))
            problems.append(Problem(f"ids with several labels: {named}", self.run.file, hint))
            told = count_of(
                len(twice), "label is not the only one of its id", "labels are not the only one of their id"
            )
            raise InputError(told, problems=problems)
        return found


def read_file(file: str | PathLike[str], *, read_as: str | None, id_field: str | None) -> Run:
    """Return a file in any readable format; a folder or several files are one run."""
    return read_run(file, read_as=read_as, id_field=id_field)


def choose_names(
    human: Run, judge: Run, human_metric: str | None, judge_metric: str | None
) -> tuple[str, str]:
    """Return the names of the columns that hold the labels.

    A name that is given holds for both files unless the judge's has its own. Else it is the one metric that both
    files have, the only one of a file, or a field with a usual name. A PolicyError is never raised: what can't be
    found or told apart is an InputError that lists what there is.
    """
    if human_metric is None and judge_metric is None:
        shared = [name for name in human.metrics if name in judge.metrics]
        if len(shared) == 1:
            return shared[0], shared[0]
    first = _checked(human, human_metric, "--metric") if human_metric else _only_name(human, "human")
    if judge_metric:
        return first, _checked(judge, judge_metric, "--judge-metric")
    if human_metric:
        return first, _checked(judge, human_metric, "--judge-metric")
    return first, _only_name(judge, "judge")


def take_labels(run: Run, name: str) -> LabelFile:
    """Return the column `name` of a file as labels. A record with an error has none, whatever stands beside it."""
    column = _find(run, name)
    if column is None:
        raise InputError(f"there is no column '{name}'", run.file)
    values = _raw_values(column)
    failed = np.logical_or(*find_errors(run))
    errors = run.texts("error") or [""] * len(run)
    causes = []
    for row, value in enumerate(values):
        if failed[row]:
            causes.append(errors[row] or "error")
            values[row] = None
        else:
            causes.append(NO_LABEL if value is None else "")
    return LabelFile(run, name, values, causes)


def _find(run: Run, name: str) -> Column | None:
    column = run.find_column(name)
    return run.find_label(name) if column is None else column


def _raw_values(column: Column) -> list[object]:
    if isinstance(column, np.ndarray):
        return [None if math.isnan(value) else value for value in column.tolist()]
    return [None if _says_nothing(value) else value for value in column]


def _says_nothing(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in MISSING_TEXTS
    return value is None or (isinstance(value, float) and math.isnan(value))


def _checked(run: Run, name: str, option: str) -> str:
    if _find(run, name) is None:
        names = _names(run)
        raise InputError(
            f"there is no column '{name}'", run.file, did_you_mean(name, names) or f"name it with {option}"
        )
    return name


def _only_name(run: Run, role: str) -> str:
    metrics = list(run.metrics)
    if len(metrics) == 1:
        return metrics[0]
    usual = [name for name in USUAL_NAMES[role] if _find(run, name) is not None]
    if usual and not metrics:
        return usual[0]
    option = "--metric" if role == "human" else "--judge-metric"
    known = name_some(_names(run), 12) or "none"
    said = "has several metrics" if metrics else "has no metric"
    raise InputError(
        f"{said}; which column holds the labels? found: {known}", run.file, f"say it with {option}"
    )


def _names(run: Run) -> Sequence[str]:
    return [*run.metrics, *run.fields, *run.slices]
