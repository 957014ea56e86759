"""What stands in an API's answer, looked at before it is used: lists of objects, their numbers and parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateline.errors import HostError


def objects_in(content: object, what: str) -> list[dict[str, Any]]:
    """Return a list of JSON objects. Raises HostError that calls it `what` where it is none."""
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        raise HostError(f"the list of {what} can't be read: it is no list of objects")
    return content


def number_in(entry: Mapping[str, Any], name: str, what: str) -> int:
    """Return a whole number of an object in a list. Raises HostError that calls the list `what` where it has none."""
    number = entry.get(name)
    if type(number) is not int:
        raise HostError(f"the list of {what} can't be read: an entry has no number as its {name}")
    return number


def part_of(entry: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object within an object; an empty one where it is not there, such as for a deleted account."""
    part = entry.get(name)
    return part if isinstance(part, dict) else {}


def names_of_files(entries: Any, kind: str) -> list[str]:
    """Return the names in a folder's list of entries that are of the kind which a host gives to files.

    Raises HostError where the answer is no such list.
    """
    found = objects_in(entries, "a folder's files")
    return [str(entry["name"]) for entry in found if entry.get("type") == kind and "name" in entry]
