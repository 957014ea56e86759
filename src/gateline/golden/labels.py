"""Labels as people and tools write them, to one shape each: ids, grades, claims, truth values.

What can't be understood is an error with its place, never a guess. Nothing here knows a metric.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers._building import describe, identity
from gateline.samples import MISSING_TEXTS, Run, number_text

T = TypeVar("T")

YES = frozenset(
    {"true", "yes", "1", "1.0", "supported", "supports", "correct", "useful", "relevant", "covered"}
)
NO = frozenset(
    {
        "false", "no", "0", "0.0", "unsupported", "contradicted", "incorrect", "useless", "irrelevant",
        "not supported", "refuted", "missed",
    }
)  # fmt: skip
IDENTITIES = ("id", "chunk_id", "doc_id", "document_id", "context_id", "claim_id", "_id")
GRADES = ("grade", "relevance", "rel", "score")
LARGEST_GRADE = 100
"""Gains grow as 2^grade; beyond this they mean nothing and soon overflow."""
TEXTS = ("text", "claim", "statement", "content")


class UnfitLabelError(ValueError):
    """A value that is no label of the kind that stands there."""


def read_labels(run: Run, names: Sequence[str], read: Callable[[object], T]) -> list[T | None] | None:
    """Return a label of each record (n), None where a record has none; None where no record has the field.

    `names` are the spellings of the field. An InputError names the record, or both names where a file uses two.
    """
    found = [name for name in names if _has(run, name)]
    if not found:
        return None
    if len(found) > 1:
        raise InputError(
            f"holds {name_some(found)}, which are names of one label", run.file, "keep one of them"
        )
    labels: list[T | None] = []
    for row, value in enumerate(raw_values(run, found[0])):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            labels.append(None)
            continue
        try:
            labels.append(read(value))
        except UnfitLabelError as error:
            raise InputError(f"{found[0]} of '{run.ids[row]}' {error}", run.place(row)) from None
    return labels


def raw_values(run: Run, name: str) -> list[object]:
    """Return a field of each record as it stood in the file: objects whole again, JSON in cells of tables read."""
    column = run.find_label(name)
    if column is None:
        return _join_objects(run, name)
    if isinstance(column, np.ndarray):
        return [None if math.isnan(value) else value for value in column.tolist()]
    return [_read_cell(value) for value in column]


def _has(run: Run, name: str) -> bool:
    return run.find_label(name) is not None or any(field.startswith(f"{name}.") for field in run.fields)


def _join_objects(run: Run, name: str) -> list[object]:
    """Return objects whose keys the reader made columns of their own."""
    parts = {field.removeprefix(f"{name}."): raw_values(run, field) for field in run.fields
             if field.startswith(f"{name}.")}  # fmt: skip
    objects: list[object] = []
    for row in range(len(run)):
        known = {key: values[row] for key, values in parts.items() if values[row] is not None}
        objects.append(known or None)
    return objects


def _read_cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.lower() in MISSING_TEXTS:
        return None
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError:
            return value
    return value


def read_truth(value: object) -> bool | None:
    """Return a truth value, None where it says that nothing is known."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if value in (0, 1):
            return bool(value)
        if math.isnan(value):
            return None
    elif isinstance(value, str):
        word = value.strip().lower().replace("_", " ")
        if word in YES or word in NO:
            return word in YES
        if word in MISSING_TEXTS:
            return None
    raise UnfitLabelError(f"must be true or false, not {describe(value)}")


def read_identity(value: object) -> str:
    """Return an id: a text, a whole number, or an object that has one under a usual name."""
    if isinstance(value, dict):
        names = [name for name in IDENTITIES if name in value]
        if not names:
            raise UnfitLabelError(f"has an item without an id; looked for {', '.join(IDENTITIES)}")
        value = value[names[0]]
    name = identity(value)
    if name is None:
        raise UnfitLabelError(f"must hold ids, not {describe(value)}")
    return name


def read_list(value: object) -> list[object]:
    """Return a list; a single text or number is one of one item."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        raise UnfitLabelError("must be a list, not an object")
    return [value] if not isinstance(value, str) or value.strip() else []


def read_items(value: object) -> list[object]:
    """Return a list of ids or objects with ids; a text that seems to join several ids is an error."""
    if isinstance(value, str) and any(sign.isspace() or sign in ",;|" for sign in value.strip()):
        raise UnfitLabelError(f'must be a list such as ["a", "b"], not {describe(value)}')
    return read_list(value)


def read_grades(value: object) -> dict[str, float]:
    """Return the grade of each judged id: from a list of ids (grade 1), objects with a grade, or id -> grade."""
    if isinstance(value, dict):
        return {name: _read_grade(grade) for name, grade in value.items()}
    grades: dict[str, float] = {}
    for item in read_items(value):
        found = [name for name in GRADES if isinstance(item, dict) and name in item]
        grade = _read_grade(item[found[0]]) if found and isinstance(item, dict) else 1.0
        name = read_identity(item)
        if grades.setdefault(name, grade) != grade:
            raise UnfitLabelError(
                f"has '{name}' with two grades, {number_text(grades[name])} and {number_text(grade)}"
            )
    return grades


def _read_grade(value: object) -> float:
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise UnfitLabelError(f"has a grade that is no number: {describe(value)}")
    if value > LARGEST_GRADE:
        raise UnfitLabelError(f"has the grade {value:g}; more than {LARGEST_GRADE} is no grade")
    return float(value)


def read_claims(value: object) -> dict[str, str]:
    """Return claims, id -> text; a claim that is a bare text is its own id."""
    claims: dict[str, str] = {}
    for item in read_list(value):
        text = ""
        if isinstance(item, dict):
            text = next((str(item[name]) for name in TEXTS if isinstance(item.get(name), str)), "")
            if not text and not any(name in item for name in IDENTITIES):
                raise UnfitLabelError("has a claim without a text and an id")
            name = read_identity(item) if any(name in item for name in IDENTITIES) else text.strip()
        else:
            name = read_identity(item).strip()
        claims[name] = text or name
    return claims


def read_groups(value: object) -> list[frozenset[str]]:
    """Return groups of ids; an empty group could never be found and is an error."""
    groups = []
    for item in read_list(value):
        members = item.get("any_of", item.get("ids")) if isinstance(item, dict) else item
        group = frozenset(read_identity(member) for member in read_items(members))
        if not group:
            raise UnfitLabelError("has an empty group")
        groups.append(group)
    return groups


def read_words(value: object) -> str:
    """Return a text."""
    if isinstance(value, dict | list):
        raise UnfitLabelError(f"must be a text, not {describe(value)}")
    return number_text(value) if isinstance(value, float) else str(value)
