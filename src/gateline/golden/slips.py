"""Slips of the pen in the names of fields: a misspelt label is no label, and every metric over it would be silent.

It changes nothing; who reads the file decides whether a slip is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gateline.errors import InputError, Problem
from gateline.golden.questions import ID_FIELDS, NAMES, SLICES
from gateline.samples import Column, Run

USUAL = frozenset(
    {"answer", "answers", "answered", "attempt", "cached", "contexts", "cost_usd", "error", "id", "ids", "latency_ms",
     "metrics", "model", "name", "reason", "response", "set", "slices", "source", "tags", "text", "title", "tokens",
     "version"}
)  # fmt: skip
"""Fields that are plainly something else, however near the name of a label."""
LONG = 6
"""Letters from which on two of them may be wrong."""


@dataclass(frozen=True)
class Slip:
    """A field whose name is nearly that of a label."""

    name: str
    meant: str
    """The label's name."""
    records: list[int]
    """Rows that have it (at least one)."""
    is_sure: bool
    """Whether no record has both, and the two differ by more than a plural: then nothing else can be meant."""


def find_slips(run: Run, labels: Iterable[str], known: Iterable[str] = ()) -> list[Slip]:
    """Return the fields of a run that are nearly one of `labels`; `known` are further names that mean something."""
    wanted = list(dict.fromkeys(labels))
    names = {*wanted, *known, *USUAL, *ID_FIELDS, *SLICES, run.id_field}
    slips = []
    for name in dict.fromkeys(field.partition(".")[0] for field in run.fields):
        meant = None if name in names else _nearest(name, wanted)
        if meant is None:
            continue
        having = _rows_with(run, name)
        is_plural = _plain(name).rstrip("s") == _plain(meant).rstrip("s") and _plain(name) != _plain(meant)
        is_sure = not is_plural and having.isdisjoint(_rows_with(run, meant))
        if having:
            slips.append(Slip(name, meant, sorted(having), is_sure))
    return slips


def find_golden_slips(run: Run) -> list[Slip]:
    """Return the fields of a golden set that are nearly one of its labels."""
    return find_slips(run, (name for names in NAMES.values() for name in names))


def refuse_slips(run: Run, slips: Iterable[Slip]) -> None:
    """Raise an InputError that names each sure slip with its first record; the others are for a warning."""
    problems = [
        Problem(
            say_slip(slip),
            run.place(slip.records[0]),
            f"did you mean '{slip.meant}'? Rename it, or leave it out",
        )
        for slip in slips
        if slip.is_sure
    ]
    if problems:
        raise InputError("a label is misspelt, so that no metric would see it", problems=problems)


def say_slip(slip: Slip) -> str:
    """Return what was found, without what to do."""
    count = len(slip.records)
    return f"the field '{slip.name}' of {count} {'record' if count == 1 else 'records'} is no label that is known"


def _rows_with(run: Run, name: str) -> set[int]:
    """Return the records that have a field, be it an object."""
    columns = [column for field, column in run.fields.items() if field.partition(".")[0] == name]
    return {row for column in columns for row in _known_rows(column)}


def _known_rows(column: Column) -> list[int]:
    if isinstance(column, np.ndarray):
        return [int(row) for row in np.flatnonzero(~np.isnan(column))]
    return [row for row, value in enumerate(column) if value is not None]


def _nearest(name: str, labels: Iterable[str]) -> str | None:
    """Return the label that a name is within one or two letters of, or equal to but for case and signs."""
    plain = _plain(name)
    best: tuple[int, str] | None = None
    for label in labels:
        distance = _distance(plain, _plain(label))
        most = 2 if min(len(plain), len(label)) > LONG else 1
        if distance <= most and (best is None or distance < best[0]):
            best = distance, label
    return best[1] if best else None


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _distance(first: str, second: str) -> int:
    """Return how many letters are missing, added, changed or exchanged with their neighbour (Damerau 1964)."""
    if abs(len(first) - len(second)) > 2:
        return 3
    before: list[int] = []
    last = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        line = [row]
        for column, other in enumerate(second, 1):
            cost = min(last[column] + 1, line[column - 1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        before, last = last, line
    return last[-1]
