"""What labels are: pass or fail, grades, or categories; and both files' labels as numbers of that kind.

People's labels decide the kind, and one of theirs that can't be read is an error. A judge's that can't be read is
counted: a judge that answers with a sentence has failed on that sample, and only there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gateline.audit.reading import UNREADABLE, LabelFile
from gateline.errors import InputError, Problem, count_of, name_some
from gateline.golden.labels import UnfitLabelError, read_truth
from gateline.readers._building import describe
from gateline.samples import LARGEST, SMALLEST, Floats, number_text, read_number
from gateline.statistics.kappa import MOST_CATEGORIES

Kind = Literal["pass/fail", "graded", "categories"]

_PASS, _FAIL = frozenset({"pass", "passed"}), frozenset({"fail", "failed"})
MOST_LEVELS = 10
"""Whole numbers up to which grades are levels of a scale, which has a kappa."""


@dataclass(frozen=True)
class Understood:
    """Labels of both files as numbers: NaN where there is none.

    Pass/fail is 1 or 0, a category its place in `categories`. `causes` are the judge's missing labels by row.
    """

    kind: Kind
    human: Floats
    judge: Floats
    causes: list[str]
    categories: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def understand(human: LabelFile, judge: LabelFile, threshold: float | None) -> Understood:
    """Return both files' labels as numbers; an InputError where people's can't be read as one kind.

    Args:
        human: people's labels.
        judge: the judge's; a value that is no label of this kind gets the cause `unreadable`.
        threshold: makes numbers pass/fail: 1 from this value on.
    """
    if threshold is not None:
        return _pass_fail(human, judge, threshold)
    if not any(value is not None for value in human.values):
        raise InputError(f"no record has a label in '{human.name}'", human.run.file, "name it with --metric")
    if all(value is None or _truth(value) is not None for value in human.values):
        scores = [value for value in judge.values if value is not None and _truth(value) is None]
        if not any(_number(value) is not None for value in scores):
            return _pass_fail(human, judge, None)
        note = f"{judge.name} holds scores, {human.name} pass or fail: --threshold makes both pass or fail"
        found = _graded(human, judge)
        return Understood(found.kind, found.human, found.judge, found.causes, warnings=(note,))
    numeric = [value is None or _number(value) is not None for value in human.values]
    if all(numeric):
        return _graded(human, judge)
    if any(value is not None and fits for value, fits in zip(human.values, numeric, strict=True)):
        raise _refuse(human, [row for row, fits in enumerate(numeric) if not fits], "a number")
    return _categories(human, judge)


def _pass_fail(human: LabelFile, judge: LabelFile, threshold: float | None) -> Understood:
    def read(value: object) -> float:
        truth = None if isinstance(value, int | float) and not isinstance(value, bool) else _truth(value)
        if truth is not None:
            return float(truth)
        number = _number(value)
        if number is None:
            return math.nan
        if threshold is None:
            return number if number in (0.0, 1.0) else math.nan
        return float(number >= threshold)

    return _numbers("pass/fail", human, judge, read, "pass or fail")


def _graded(human: LabelFile, judge: LabelFile) -> Understood:
    def read(value: object) -> float:
        number = _number(value)
        if number is None:
            truth = _truth(value)
            return math.nan if truth is None else float(truth)
        return number

    return _numbers("graded", human, judge, read, "a number")


def _numbers(kind: Kind, human: LabelFile, judge: LabelFile, read: object, wanted: str) -> Understood:
    assert callable(read)
    people = [math.nan if value is None else read(value) for value in human.values]
    wrong = [row for row, value in enumerate(human.values) if value is not None and math.isnan(people[row])]
    if wrong:
        raise _refuse(human, wrong, wanted)
    said = [math.nan if value is None else read(value) for value in judge.values]
    causes = [
        UNREADABLE if value is not None and math.isnan(said[row]) else judge.causes[row]
        for row, value in enumerate(judge.values)
    ]
    if all(cause for cause in causes):
        raise InputError(
            f"no record has a label in '{judge.name}' that is {wanted}: {_causes(causes)}",
            judge.run.file,
            "name the judge's column with --judge-metric",
        )
    return Understood(kind, np.array(people), np.array(said), causes)


def _categories(human: LabelFile, judge: LabelFile) -> Understood:
    people = [_category(value) for value in human.values]
    said = [_category(value) for value in judge.values]
    wrong = [row for row, value in enumerate(human.values) if value is not None and people[row] is None]
    if wrong:
        raise _refuse(human, wrong, "a text")
    known = {text for text in people if text is not None}
    names = sorted(known | {text for text in said if text is not None})
    if len(names) > MOST_CATEGORIES:
        raise InputError(
            f"{human.name} and {judge.name} hold {len(names)} different texts; that many are no categories "
            f"(at most {MOST_CATEGORIES}): {name_some(names)}",
            human.run.file,
            "name the columns of labels with --metric and --judge-metric",
        )
    place = {name: float(number) for number, name in enumerate(names)}
    only = [name for name in names if name not in known]
    notes = (f"labels that only the judge gives: {name_some(only)}",) if only else ()
    causes = [
        UNREADABLE if value is not None and said[row] is None else judge.causes[row]
        for row, value in enumerate(judge.values)
    ]
    return Understood(
        "categories",
        np.array([math.nan if text is None else place[text] for text in people]),
        np.array([math.nan if text is None else place[text] for text in said]),
        causes,
        tuple(names),
        notes,
    )


def _truth(value: object) -> bool | None:
    """Return a truth value, None where the value says something else."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _PASS or word in _FAIL:
            return word in _PASS
    try:
        return read_truth(value)
    except UnfitLabelError:
        return None


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return float(value)
    number = read_number(value)
    if number is None or not (number == 0.0 or SMALLEST <= abs(number) <= LARGEST):
        return None  # also NaN, infinite, or beyond what can be squared
    return number


def _category(value: object) -> str | None:
    if isinstance(value, str):
        return " ".join(value.split()).casefold()
    if isinstance(value, bool):
        return str(value).lower()
    return number_text(float(value)) if isinstance(value, int | float) else None


def _causes(causes: Sequence[str]) -> str:
    counts = {cause: causes.count(cause) for cause in dict.fromkeys(causes) if cause}
    return ", ".join(f"{cause} {count:,}" for cause, count in counts.items())


def _refuse(file: LabelFile, rows: Sequence[int], wanted: str) -> InputError:
    run = file.run
    problems = [
        Problem(
            f"{file.name} of '{run.ids[row]}' must be {wanted} as others are, not {describe(file.values[row])}",
            run.place(row),
        )
        for row in rows[:5]
    ]
    if len(rows) > 5:
        problems.append(Problem(f"likewise {name_some([run.ids[row] for row in rows[5:]], 10)}", run.file))
    hint = "people's labels must all be of one kind; --threshold makes numbers pass or fail"
    told = f"{count_of(len(rows), 'label', 'labels')} of people can't be read"
    problems.append(Problem(told, run.file, hint))
    return InputError(told, problems=problems)
