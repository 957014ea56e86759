"""What a change does to the files that decide with a policy: golden set, slices, people's labels.

A policy may name a file, a pattern or a folder. It compares no policies.
"""

from __future__ import annotations

import fnmatch
import glob
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from gateline.baselines.base_policy import find_place, list_before, read_before
from gateline.errors import HostError
from gateline.files import is_folder, is_there
from gateline.policy import PolicyFile
from gateline.verdict import PolicyChange

if TYPE_CHECKING:
    from gateline.hosts import Job

_OF_A_FOLDER = ("queries.jsonl", "qrels/*.tsv")
"""What counts of a folder that stands for a golden set: BEIR's layout, without the documents."""


@dataclass(frozen=True, slots=True)
class BaseCopy:
    """The base branch's files under a name of the policy of which the change touches one."""

    rest: str
    """The name from the folder on in which the files lie: a pattern, a file, or nothing for the folder itself."""
    files: dict[str, bytes]
    """Their bytes, by the path from there."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What differs from the base branch."""

    changes: tuple[PolicyChange, ...]
    """Of each file that differs: how many lines it had and has, those gone and those new."""
    copies: dict[str, BaseCopy]
    """What the base branch has instead, by the name in the policy."""


def find_touched_files(base: PolicyFile, now: PolicyFile, job: Job) -> Touched:
    """Return which of the files that both policies name are not as the base branch has them.

    They decide as much as the policy's own words. Lines that are gone may let more through, and so may any other
    label of people, and a new file of a pattern, which may say something else of a question; a file outside of the
    repository is none of the change's. Raises HostError.
    """
    changes: list[PolicyChange] = []
    copies: dict[str, BaseCopy] = {}
    labels = {str(path) for _, path in now.calibration_files()}
    named = now.named_files()
    for name in (one for one in base.named_files() if one in named):
        folder, parts = _take_apart(name)
        is_one = is_there(name) and not is_folder(name)
        files: dict[str, bytes] = {}
        found = []
        for inside in sorted(_names_in(folder, parts, job)):
            file = folder / inside
            try:
                root, path = find_place(file)
            except HostError:
                continue
            before = read_before(path, root, job)
            after = file.read_bytes() if is_there(file) else None
            if before is not None:
                files[inside] = before
            if before != after and not (is_one and before is None):
                found.append(
                    _tell_lines(path, before or b"", after or b"", is_new=before is None or name in labels)
                )
        if found and files:
            changes += found
            copies[name] = BaseCopy("" if is_folder(name) else parts[0], files)
    return Touched(tuple(changes), copies)


def _take_apart(name: str) -> tuple[Path, tuple[str, ...]]:
    """Return the folder in which the files of a name lie, and what they are called from there, as patterns."""
    if is_folder(name):
        return Path(name), _OF_A_FOLDER
    path = Path(name)
    if not glob.has_magic(name) or is_there(name):
        return path.parent, (path.name,)
    first = next(place for place, part in enumerate(path.parts) if glob.has_magic(part))
    return Path(*path.parts[:first]), (Path(*path.parts[first:]).as_posix(),)


def _names_in(folder: Path, parts: tuple[str, ...], job: Job) -> set[str]:
    """Return the paths in a folder that have one of the names, here or on the base branch. Raises HostError.

    Of a pattern with folders in it, the base branch is asked for those folders that are here.
    """
    found: set[str] = set()
    for part in parts:
        if is_there(folder / part) or not glob.has_magic(part):
            found.add(part)
            continue
        here = {one.relative_to(folder).as_posix() for one in folder.glob(part) if one.is_file()}
        found |= here
        inner, name = str(PurePosixPath(part).parent), PurePosixPath(part).name
        folders = {str(PurePosixPath(one).parent) for one in here} if glob.has_magic(inner) else {inner}
        for one in folders:
            found |= {(PurePosixPath(one) / file).as_posix() for file in _listed(folder / one, name, job)}
    return found


def _listed(folder: Path, name: str, job: Job) -> Iterator[str]:
    try:
        root, place = find_place(folder)
    except HostError:  # outside of the repository
        return
    yield from fnmatch.filter(list_before(place, root, job), name)


def _tell_lines(path: str, before: bytes, after: bytes, *, is_new: bool) -> PolicyChange:
    old, new = _lines(before), _lines(after)
    gone, added = (old - new).total(), (new - old).total()
    return PolicyChange(
        path=f"{path} (lines)",
        base=f"{old.total():,}",
        now=f"{new.total():,} (−{gone:,} +{added:,})",
        loosens=gone > 0 or is_new,
    )


def _lines(content: bytes) -> Counter[bytes]:
    return Counter(line.strip() for line in content.splitlines() if line.strip())
