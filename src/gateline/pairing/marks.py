"""What a record says of itself beside its scores: that it failed, came from a cache, or spent tokens."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gateline.samples import MISSING_TEXTS, Run

Flags = npt.NDArray[np.bool_]

_NO_ERROR = MISSING_TEXTS | {"false", "0", "0.0"}
"""Texts with which a table says that a record has no error, in lower case."""


def find_errors(run: Run) -> tuple[Flags, Flags]:
    """Return which records have no answer, and which have any other error: then a score beside it is not used."""
    no_answer, other = np.zeros(len(run), dtype=bool), np.zeros(len(run), dtype=bool)
    column = run.find_label("error")
    if isinstance(column, list):
        for row, value in enumerate(column):
            if value is None or value is False or value in ([], {}):
                continue
            text = value.strip() if isinstance(value, str) else str(value)
            if text == "no_answer":
                no_answer[row] = True
            elif text and text.lower() not in _NO_ERROR:
                other[row] = True
    elif column is not None:
        other = ~np.isnan(column) & (column != 0)
    return no_answer, other


def spent_tokens(run: Run) -> Flags:
    """Return which records say that tokens were spent."""
    spent = np.zeros(len(run), dtype=bool)
    for name, column in {**run.metrics, **run.fields}.items():
        if (name in ("tokens", "total_tokens") or name.startswith("tokens.")) and isinstance(
            column, np.ndarray
        ):
            spent |= np.nan_to_num(column) > 0
        elif name in ("tokens", "total_tokens"):
            spent |= np.nan_to_num(run.numbers(name)) > 0
    return spent


def flags(run: Run, name: str) -> Flags:
    """Return which records say yes to a field, such as `cached`."""
    column = run.find_column(name)
    if column is None:
        return np.zeros(len(run), dtype=bool)
    if isinstance(column, np.ndarray):
        return np.nan_to_num(column) > 0
    return np.fromiter((_is_yes(value) for value in column), dtype=bool, count=len(column))


def _is_yes(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "1", "yes"))
