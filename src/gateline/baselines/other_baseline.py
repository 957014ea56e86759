"""Whether a baseline that lies in the working tree is the base branch's: a change can move what it is held against.

It compares files by git's own digests, so that none is held in memory where git is there. It judges nothing.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.baselines.base_policy import ask_git_first, find_place, list_before
from gateline.errors import HostError
from gateline.files import find_matches, is_folder, is_there
from gateline.git import blob_at, find_root, is_in

if TYPE_CHECKING:
    from gateline.hosts import Job

_GIT = "git:"
_MOST_FILES = 100
_CHUNK = 1 << 20
_MOST_OF_TEXT = 64 * 1024 * 1024
"""Bytes of a file that is also looked at as one with line breaks of its own."""


def find_other_baseline(setting: str, job: Job) -> list[str]:
    """Return the files of a baseline that are not as the base branch has them, or are there no more.

    `setting` holds paths, folders and patterns, one a line, or is git:REVISION:PATH, of which only a revision that the
    change itself made counts: the base branch may have moved on. A file that the base branch does not have says
    nothing, as an earlier step may have made it, and so does one outside the repository or in a clone of its own.
    Raises HostError where it can't be found out.
    """
    if job.base_commit is None:
        return []
    if setting.startswith(_GIT):
        return _find_at_revision(setting, job, job.base_commit)
    own = find_root(Path.cwd() / "here") or Path.cwd()
    others = list(_find_gone(setting, own, job))
    for number, file in enumerate(_files(setting)):
        if number == _MOST_FILES:
            raise HostError(f"the baseline has more than {_MOST_FILES} files")
        try:
            root, path = find_place(file)
        except HostError:
            continue
        before = _digest_before(path, root, job) if root == own else None
        if before is not None and not (is_there(file) and before in _digests(Path(file), before)):
            others.append(file)
    return others


def _find_gone(setting: str, own: Path, job: Job) -> Iterable[str]:
    """Give the files that a pattern or a folder has on the base branch and no more here: nothing else would miss them.

    Of folders below that folder, and of patterns in a pattern's own folders, nothing is known.
    """
    for line in map(str.strip, setting.splitlines()):
        is_pattern = find_matches(line) is not None
        folder, name = os.path.split(line) if is_pattern else (line, "*")
        is_file = is_there(line) and not is_folder(line)
        if not line or is_file or (is_pattern and glob.has_magic(folder)):
            continue
        try:
            root, place = find_place(folder or ".")
        except HostError:
            continue
        names: list[str] = []
        with contextlib.suppress(*([] if is_pattern or is_folder(line) else [HostError])):
            names = list_before(place, root, job) if root == own else []  # a file that is gone is no folder
        for one in fnmatch.filter(sorted(names), name):
            file = Path(folder, one)
            if not one.startswith(".") and not is_there(file):
                yield str(file)


def _find_at_revision(setting: str, job: Job, base: str) -> list[str]:
    """Return a baseline at a revision where that is one of the change's own and has another file than the base."""
    revision, _, path = setting.removeprefix(_GIT).partition(":")
    path = path.removeprefix("./")
    if not is_in(revision, "HEAD") or is_in(revision, base) or _is_in_branch(revision, job.base_branch):
        return []
    before = blob_at(base, path)
    return [] if before in (None, blob_at(revision, path)) else [setting]


def _is_in_branch(revision: str, branch: str | None) -> bool:
    """Return whether a revision is one of the base branch's newer ones, as far as the clone has these."""
    try:
        return branch is not None and is_in(revision, f"refs/remotes/origin/{branch}")
    except HostError:
        return False


def _files(setting: str) -> Iterable[str]:
    for line in filter(str.strip, setting.splitlines()):
        for found in find_matches(line) or [line]:
            if os.path.isdir(found):  # noqa: PTH112  (a name that is no path is none, and raises nothing)
                yield from sorted(str(one) for one in Path(found).rglob("*") if one.is_file())
            else:
                yield found


def _digest_before(path: str, root: Path, job: Job) -> str | None:
    """Return git's digest of a file before the change; None where it was not there."""

    def of_host() -> str | None:
        content = job.read_base_file(path)
        return None if content is None else _digest_of(content, "sha1")

    return ask_git_first(job, lambda commit: blob_at(commit, path, root), of_host)


def _digests(file: Path, like: str) -> set[str]:
    """Return what git's digest of a file may be: as it is, as a pointer of Git LFS, with line breaks as git keeps them.

    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
    """
    kind = "sha1" if len(like) == hashlib.sha1(usedforsecurity=False).digest_size * 2 else "sha256"
    try:
        size = file.stat().st_size
        as_it_is, large = (
            hashlib.new(kind, f"blob {size}\0".encode(), usedforsecurity=False),
            hashlib.sha256(),
        )
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                as_it_is.update(chunk)
                large.update(chunk)
        text = file.read_bytes() if size <= _MOST_OF_TEXT and as_it_is.hexdigest() != like else b""
    except OSError as error:
        raise HostError(f"{file} can't be read: {error.strerror}") from None
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{large.hexdigest()}\nsize {size}\n"
    unix = _digest_of(text.replace(b"\r\n", b"\n"), kind)
    return {as_it_is.hexdigest(), _digest_of(pointer.encode(), kind), unix}


def _digest_of(content: bytes, kind: str) -> str:
    return hashlib.new(kind, b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()
