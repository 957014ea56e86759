"""Records to columns, block by block, so that a million records never stand in memory as objects.

It must not know what a column means.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter

import numpy as np

from gateline.samples import EXACT_INTEGERS, Column, Floats

Record = Mapping[str, object]

DEEPEST = 50
"""Levels of nesting that a value may have; more is no evaluation result and would exhaust the stack."""
MOST_NAMES = 2000
"""Fields that records may have in all; more means that the keys are data."""
MOST_PARTS = 64
"""Different keys up to which a nested object is part of the record; one with more stays a value."""
VAST = 2.0**63


class UnfitValueError(ValueError):
    """A value that no column can hold."""

    def __init__(self, message: str, row: int):
        """Take what is wrong and the row within the block."""
        super().__init__(message)
        self.row = row


class Columns:
    """Named columns that grow by blocks of records."""

    def __init__(self, *, as_measures: bool = False):
        """Take whether any whole number may become a double, or only one that it holds exactly (labels)."""
        self._as_measures = as_measures
        self._parts: dict[str, list[tuple[int, Floats | list[object]]]] = {}
        self._texts: dict[str, dict[str, str]] = {}
        self._length = 0
        self.has_vast_numbers = False
        """Whether a float is so large that it may be an integer of which a parser kept the first digits."""

    def __len__(self) -> int:
        """Return the number of records so far."""
        return self._length

    @property
    def names(self) -> list[str]:
        """Return the names in the order of their first appearance."""
        return list(self._parts)

    def append(self, records: Sequence[Record], without: frozenset[str] = frozenset()) -> int:
        """Add a block of records but for the keys `without`; return how many keys they have.

        Keys of objects directly in the records count too. An UnfitValueError names the row of the block.
        """
        shapes = Counter(map(tuple, records))
        keys = sum(len(shape) * times for shape, times in shapes.items())
        names = dict.fromkeys(name for shape in shapes for name in shape)
        for name in names:
            if name in without:
                continue
            everywhere = len(shapes) == 1
            values = (
                list(map(itemgetter(name), records)) if everywhere else [item.get(name) for item in records]
            )
            parts = self._parts.setdefault(name, [])
            if len(self._parts) > MOST_NAMES:
                raise UnfitValueError(
                    f"more than {MOST_NAMES} different fields; their names seem to be data", 0
                )
            types = set(map(type, values))
            if dict in types:
                keys += sum(len(value) for value in values if isinstance(value, dict))
            parts.append((self._length, self._pack(name, values, types)))
        self._length += len(records)
        return keys

    def finish(self) -> dict[str, Column]:
        """Return the columns; one that holds nothing but objects becomes several, with dotted names."""
        written = self.names
        finished: dict[str, Column] = {}
        for name in written:
            column = self._join(self._parts.pop(name))
            parts = self._split_objects(name, column)
            if any(part != name and (part in written or part in finished) for part in parts):
                parts = {name: column}  # {"a": {"b": 1}, "a.b": 2}: the written name keeps its values
            finished.update(parts)
        return finished

    def _pack(self, name: str, values: list[object], types: set[type]) -> Floats | list[object]:
        if types <= {float, int, type(None)}:
            try:
                numbers = np.array(values, dtype=np.float64)
            except OverflowError:
                return values
            self.has_vast_numbers |= _has_vast(numbers)
            if self._as_measures or int not in types or not (np.abs(numbers) >= EXACT_INTEGERS).any():
                return numbers
            return values
        if types <= {str, type(None)}:
            return self._share(name, values)
        if self._as_measures and int in types:
            values = [_measure(value) for value in values]
        if float in types:
            self.has_vast_numbers |= _has_vast(np.array([item for item in values if isinstance(item, float)]))
        if any(issubclass(kind, dict | list) for kind in types):
            for row, value in enumerate(values):
                if not is_shallow(value):
                    raise UnfitValueError(f"{name} is nested more than {DEEPEST} levels deep", row)
                self.has_vast_numbers |= holds_vast_number(value)
        return values

    def _share(self, name: str, values: list[object]) -> list[object]:
        """Let equal texts of a column be one object, as long as they do repeat."""
        known = self._texts.setdefault(name, {})
        if len(known) > 10_000:
            return values
        return [None if value is None else known.setdefault(value, value) for value in values]  # type: ignore[arg-type]

    def _split_objects(self, name: str, column: Column) -> dict[str, Column]:
        """Return a column of objects as one column a key, and any other as it is."""
        if isinstance(column, np.ndarray) or not _holds_objects(column):
            return {name: column}
        parts = Columns(as_measures=self._as_measures)
        parts.append([{} if value is None else value for value in column])  # type: ignore[misc]
        columns = {f"{name}.{part}": values for part, values in parts.finish().items()}
        self.has_vast_numbers |= parts.has_vast_numbers
        return columns

    def _join(self, parts: list[tuple[int, Floats | list[object]]]) -> Column:
        if all(isinstance(part, np.ndarray) for _, part in parts):
            numbers = np.full(self._length, np.nan)
            for start, part in parts:
                numbers[start : start + len(part)] = part
            return numbers
        values: list[object] = [None] * self._length
        for start, part in parts:
            values[start : start + len(part)] = plain_values(part)
        return values


def _measure(value: object) -> object:
    """Return a whole number that a double can't hold exactly as the nearest one, as every parser does somewhere."""
    if type(value) is not int or abs(value) < EXACT_INTEGERS:
        return value
    try:
        return float(value)
    except OverflowError:
        return value


def plain_values(column: Floats | list[object]) -> list[object]:
    """Return a column as raw values: None for NaN, whole numbers as int."""
    if isinstance(column, list):
        return column
    return [_plain_value(value) for value in column.tolist()]


def _plain_value(value: float) -> object:
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() and abs(value) < EXACT_INTEGERS else value


def is_shallow(value: object, levels: int = DEEPEST) -> bool:
    """Say whether lists and objects are nested at most `levels` deep."""
    if not isinstance(value, dict | list):
        return True
    if levels == 0:
        return False
    items = value.values() if isinstance(value, dict) else value
    if set(map(type, items)).isdisjoint({dict, list}):
        return True
    return all(is_shallow(item, levels - 1) for item in items)


def holds_vast_number(value: object) -> bool:
    """Say whether a value is or holds a finite float of 2^63 or more."""
    if isinstance(value, float):
        return VAST <= abs(value) < math.inf
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    types = set(map(type, items))
    return not types.isdisjoint({float, list, dict}) and any(map(holds_vast_number, items))


def _has_vast(numbers: Floats) -> bool:
    size = np.abs(numbers)
    return bool(((size >= VAST) & (size < np.inf)).any())


def _holds_objects(column: list[object]) -> bool:
    """Say whether all values are objects that together have few keys."""
    keys: set[str] = set()
    found = False
    for value in column:
        if value is None:
            continue
        if not isinstance(value, dict):
            return False
        found = True
        keys.update(value)
        if len(keys) > MOST_PARTS:
            return False
    return found and bool(keys)
