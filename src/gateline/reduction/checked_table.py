"""A table of a reduced file, column by column: of what kind its values are, and from where to where.

It knows neither what a column means nor how columns hang together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateline.errors import InputError
from gateline.reduction.file import Reduced
from gateline.reduction.plan import Plan

Whole: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

AGAIN = "reduce the log again"
MOST = 1 << 62
"""Below this whole numbers can be added and compared in 64 bits."""


@dataclass
class CheckedTable:
    """One of the two tables; what is wrong is an InputError that names the column, the row, its slice and group."""

    reduced: Reduced
    plan: Plan

    name: ClassVar[str] = "columns"

    @property
    def data(self) -> dict[str, list[Any]]:
        """Return the columns by name."""
        return self.reduced.columns

    def refuse(self, column: str, row: int | None, what: str) -> NoReturn:
        """Raise the InputError of a column, and of a row (counted from 0) where only that is wrong."""
        place = "" if row is None else f" in row {row + 1}{self._of(row)}"
        raise InputError(
            f"is a damaged reduced file: {self.name}.{column}{place} {what}", self.reduced.file, AGAIN
        )

    def _of(self, row: int) -> str:
        said = []
        for key, words in (("place", "slice"), ("grp", "group")):
            value = self.data[key][row] if key in self.data else ""
            if value != "":
                said.append(f"{words} {str(value)[:40]}")
        return f" ({', '.join(said)})" if said else ""

    def texts(self, column: str) -> list[str]:
        """Return a column of texts (rows)."""
        found = self.data[column]
        for row, value in enumerate(found):
            if type(value) is not str:
                self.refuse(column, row, f"must be a text, not {show(value)}")
        return found

    def whole(self, column: str, low: int | Whole = 0, high: int | Whole = MOST - 1) -> Whole:
        """Return a column of whole numbers (rows), each from `low` to `high`."""
        found = self.data[column]
        if set(map(type, found)) - {int} or (found and not (min(found) > -MOST and max(found) < MOST)):
            for row, value in enumerate(found):
                if type(value) is not int or abs(value) >= MOST:
                    self.refuse(column, row, f"must be a whole number, not {show(value)}")
        numbers = np.array(found, dtype=np.int64)
        wrong = np.flatnonzero((numbers < low) | (numbers > high))
        if len(wrong):
            row = int(wrong[0])
            ends = [int(np.broadcast_to(end, numbers.shape)[row]) for end in (low, high)]
            self.refuse(column, row, f"must be from {ends[0]:,} to {ends[1]:,}, not {numbers[row]:,}")
        return numbers

    def optional(self, column: str, there: Flags) -> list[Any]:
        """Return a column that has a number where `there` says so, and null elsewhere."""
        found = self.data[column]
        for row, (value, wanted) in enumerate(zip(found, there.tolist(), strict=True)):
            if (value is not None) != wanted:
                what = "must be a number" if wanted else "must be null, as no value can be used"
                self.refuse(column, row, f"{what}, not {show(value)}")
        return found

    def floats(self, column: str, there: Flags) -> Floats:
        """Return a column of numbers (rows), NaN where there are none."""
        found = self.optional(column, there)
        for row, value in enumerate(found):
            fits = (type(value) is float and math.isfinite(value)) or (
                type(value) is int and abs(value) < MOST
            )
            if value is not None and not fits:
                self.refuse(column, row, f"must be a finite number, not {show(value)}")
        return np.array([math.nan if value is None else value for value in found], dtype=np.float64)

    def hold(self, column: str, holds: Flags, what: str) -> None:
        """Refuse the first row in which it does not hold."""
        if not holds.all():
            row = int(np.argmin(holds))
            self.refuse(column, row, f"is {show(self.data[column][row])}: {what}")


def show(value: object) -> str:
    """Return a value as it stands in a message, cut where it is long."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "a list"
    text = "null" if value is None else "an object" if isinstance(value, dict) else repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
