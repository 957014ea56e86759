"""What a path leads to, asked without an error: names come from people and from pull requests. Opens no file."""

from __future__ import annotations

import errno
import os
import stat
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
    """Return what a pattern matches, sorted; None for a path that is there, or that is no pattern."""
    if not set(path) & set("*?[") or is_there(path):
        return None
    from glob import glob

    return sorted(glob(path, recursive=True))  # noqa: PTH207  (a Path would change how the file is named)


def _mode(path: str | PathLike[str]) -> int | None:
    try:
        return os.stat(path).st_mode  # noqa: PTH116  (a Path would take a text apart first)
    except (OSError, ValueError):
        return None
