"""JSON in which a data frame stands by columns, as pandas' `to_json` and `to_dict` write it, turned to rows.

It must not know what a column means. An object that could be anything else is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Sized

from gateline.readers._json_text import TwiceKeyed

Rows = list[dict[str, object]]

_SPLIT = frozenset({"columns", "index", "data"})
_ROW_NUMBER = re.compile(r"0|[1-9][0-9]*")


class UnevenColumnsError(ValueError):
    """Columns that do not have the same rows."""


def begins_a_column(value: object) -> bool:
    """Say whether a value may be a column: an object of row numbers, or a list that is not one of records."""
    if isinstance(value, dict):
        return bool(value) and all(map(_ROW_NUMBER.fullmatch, value))
    return isinstance(value, list) and bool(value) and not isinstance(value[0], dict)


def turn_columns(value: Mapping[str, object]) -> Rows | None:
    """Return the rows of `{column: {row: value}}`, `{column: [values]}` or `{columns, index, data}`.

    None where the object is none of them: rows must be numbered, and there must be two columns. An UnevenColumnsError
    names columns that differ in their rows.
    """
    if set(value) == _SPLIT:
        return _turn_split(value)
    if len(value) < 2:
        return None
    by_number = {name: column for name, column in value.items() if isinstance(column, dict)}
    if len(by_number) == len(value) and all(map(begins_a_column, by_number.values())):
        numbers = dict.fromkeys(row for column in by_number.values() for row in column)
        _refuse_uneven(by_number, len(numbers))
        return [{name: column[row] for name, column in by_number.items()} for row in numbers]
    lists = {name: column for name, column in value.items() if isinstance(column, list)}
    if len(lists) == len(value) and begins_a_column(next(iter(lists.values()))):
        _refuse_uneven(lists, len(next(iter(lists.values()))))
        return _zip(list(lists), zip(*lists.values(), strict=True))
    return None


def _turn_split(value: Mapping[str, object]) -> Rows | None:
    names, rows = value["columns"], value["data"]
    if not isinstance(names, list) or not isinstance(rows, list) or not all(map(_is_list, rows)):
        return None
    if any(len(row) != len(names) for row in rows) or len(set(map(str, names))) < len(names):
        raise UnevenColumnsError(
            f"'columns' names {len(names)} columns, and a row of 'data' does not fit them"
        )
    return _zip([str(name) for name in names], rows)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _zip(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Rows:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _refuse_uneven(columns: Mapping[str, Sized], rows: int) -> None:
    for name, column in columns.items():
        if isinstance(column, TwiceKeyed) and column.repeated:
            raise UnevenColumnsError(f"column '{name}' has row {column.repeated} twice")
        if len(column) != rows:
            raise UnevenColumnsError(f"column '{name}' has {len(column)} of {rows} rows")
