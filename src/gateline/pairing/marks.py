"""What a record says of itself beside its scores: that it failed, came from a cache, or spent tokens.

It settles nothing; what that does to a value is for `values`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gateline.samples import MISSING_TEXTS, Column, Run, read_numbers

Flags = npt.NDArray[np.bool_]

_NO_ERROR = MISSING_TEXTS | {"false", "0", "0.0"}
"""Texts with which a table says that a record has no error, in lower case."""
_WENT_WELL = _NO_ERROR | {"ok", "success", "no error", "200"}
"""What an error given as an object holds where all went well: some tools fill it for each record."""
_NO_SPENDING = frozenset(
    ("max", "min", "limit", "budget", "remaining", "per", "cost", "usd", "price", "time", "ms")
) | frozenset(("context", "contexts", "chunk", "chunks", "reference"))
"""Words of a name that make it no count of what a model was paid for: `max_tokens`, `context_tokens`."""


def find_errors(run: Run) -> tuple[Flags, Flags]:
    """Return which records have no answer, and which have any other error: then a score beside it is not used.

    An error is the field `error`, or what an object of that name holds (`error.type`, `error.code`). A label `error`
    counts only where no record has such a field.
    """
    no_answer, other = np.zeros(len(run), dtype=bool), np.zeros(len(run), dtype=bool)
    for column, harmless in _error_columns(run):
        values = column.tolist() if isinstance(column, np.ndarray) else column
        for row, value in enumerate(values):
            for text in _error_texts(value, harmless):
                if text == "no_answer":
                    no_answer[row] = True
                else:
                    other[row] = True
    return no_answer, other & ~no_answer


def _error_columns(run: Run) -> Iterator[tuple[Column, frozenset[str]]]:
    """Yield the columns that tell of errors, each with the texts that mean none."""
    sections = (run.written, run.fields, run.metrics)
    plain = next((section["error"] for section in sections if "error" in section), None)
    parts = [column for name, column in run.fields.items() if name.startswith("error.")]
    if plain is None and not parts:
        plain = run.find_label("error")
    if plain is not None:
        yield plain, _NO_ERROR
    for column in parts:
        # A code is a whole number; `error.rate` is a measurement.
        if not isinstance(column, np.ndarray) or bool((np.isnan(column) | (column % 1 == 0)).all()):
            yield column, _WENT_WELL


def _error_texts(value: object, harmless: frozenset[str]) -> Iterator[str]:
    """Yield the texts of one value that tell of an error; of an object those of its parts."""
    if isinstance(value, dict):
        for part in value.values():
            yield from _error_texts(part, _WENT_WELL)
        return
    if value is None or value is False or value == [] or (isinstance(value, float) and value in (0.0, 200.0)):
        return
    text = value.strip() if isinstance(value, str) else str(value)
    if text.lower() not in harmless:
        yield text


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


def spent_tokens(run: Run) -> Flags:
    """Return which records spent tokens, as any count of them tells: `tokens.input`, `usage.total_tokens`."""
    spent = np.zeros(len(run), dtype=bool)
    for name, column in {**run.metrics, **run.fields}.items():
        if counts_tokens(name):
            numbers = column if isinstance(column, np.ndarray) else read_numbers(column, [])
            spent |= np.nan_to_num(numbers) > 0
    return spent


def counts_tokens(name: str) -> bool:
    """Return whether a field of this name counts what a model was paid for: `tokens.input`, `usage.total_tokens`."""
    if "oken" not in name:
        return False
    words = set(re.split(r"[^a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()))
    counted = "tokens" in words or ("token" in words and not words.isdisjoint(("count", "counts", "usage")))
    return counted and words.isdisjoint(_NO_SPENDING)
