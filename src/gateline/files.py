"""What a path leads to, asked without an error: names come from people and from pull requests. Opens no file."""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

SPECIAL = "is a pipe, a device or a socket, not a file"


def is_there(path: str | PathLike[str]) -> bool:
    """Return whether there is something; a name that no file can have, such as an over-long one, is not there."""
    return _mode(path) is not None


def is_surely_absent(path: str | PathLike[str]) -> bool:
    """Return whether nothing has this name.

    A link that leads nowhere or round and round, itself or on the way, and a folder that may not be looked into are
    no proof: what they stand for may be elsewhere, or there for others.
    """
    for name in (Path(path), *Path(path).parents):
        try:
            mode = os.lstat(name).st_mode
        except FileNotFoundError:
            continue
        except (NotADirectoryError, ValueError):
            return True
        except OSError as error:
            return error.errno == errno.ENAMETOOLONG
        return name != Path(path) and not (stat.S_ISLNK(mode) and _mode(name) is None)
    return True


def is_folder(path: str | PathLike[str]) -> bool:
    """Return whether a path leads to a folder."""
    mode = _mode(path)
    return mode is not None and stat.S_ISDIR(mode)


def is_special(path: str | PathLike[str]) -> bool:
    """Return whether a path leads to what is no file and no folder: reading `/dev/zero` or a pipe may never end."""
    mode = _mode(path)
    return mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def find_matches(path: str) -> list[str] | None:
    """Return what a pattern matches, sorted; None for a path that is there, or that is no pattern.

    `**` stands for any folders, none among them, but for hidden ones.
    """
    if not set(path) & set("*?[") or is_there(path):
        return None
    return sorted(set(_match(path)))


def _match(pattern: str) -> Iterator[str]:
    from glob import escape, glob

    parts = pattern.split("/")
    if "**" not in parts:
        yield from glob(pattern)  # noqa: PTH207  (a Path would change how the file is named)
        return
    at = parts.index("**")
    head, tail = "/".join(parts[:at]), "/".join(parts[at + 1 :])
    tops = [f"{top}/" for top in glob(head)] if head else ["/" * at]  # noqa: PTH207
    for top in tops:
        for folder in _folders(top):
            yield from _match(escape(folder) + (tail or "*"))


def _folders(top: str) -> Iterator[str]:
    """Give a folder and those below it, each with a slash at its end ("" for the working folder).

    Each is given once, under a name without links where it has one: a link may lead to a folder that it is in.
    """
    seen: set[tuple[int, int]] = set()
    todo = deque([top])
    while todo:
        folder = todo.popleft()
        try:
            facts = os.stat(folder or ".")  # noqa: PTH116
            entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
        except OSError:
            continue
        if (facts.st_dev, facts.st_ino) in seen:
            continue
        seen.add((facts.st_dev, facts.st_ino))
        yield folder
        inner = [entry for entry in entries if not entry.name.startswith(".") and is_folder(entry.path)]
        todo.extendleft(f"{folder}{entry.name}/" for entry in reversed(inner) if not entry.is_symlink())
        todo.extend(f"{folder}{entry.name}/" for entry in inner if entry.is_symlink())


def _mode(path: str | PathLike[str]) -> int | None:
    try:
        return os.stat(path).st_mode  # noqa: PTH116  (a Path would take a text apart first)
    except (OSError, ValueError):
        return None
