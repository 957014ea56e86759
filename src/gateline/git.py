"""Asks the git executable for files and commits. It changes nothing in the repository and fetches nothing."""

from __future__ import annotations

import datetime
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from gateline.errors import HostError

MOST_BYTES = 1024 * 1024 * 1024
_SECONDS = 60
_FETCHES_NOTHING = ("-c", "protocol.allow=never")
"""A partial clone would fetch what it lacks."""
_LINK = "120000"
_WHOLE_CLONE = "a partial clone leaves texts out: clone without --filter"
_LARGE_FILE = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class FileAtRevision:
    """What git says of a path at a revision."""

    commit: str
    made_on: str
    """Day of the commit, YYYY-MM-DD, UTC."""
    content: bytes | None = field(repr=False)
    """None where the commit has no such file."""


def read_at(revision: str, path: str, folder: Path | None = None) -> FileAtRevision:
    """Return a file at a revision; `path` counts from the root of the repository that `folder` is in.

    Raises HostError where git is not here, there is no repository, or it does not have the revision.
    """
    _refuse_option(revision)
    # ^{commit} asks for a commit, so that a tag or a branch is followed to the one it names
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise HostError(
            f"git does not have the revision {revision} here",
            hint="a shallow clone has few: fetch it before, such as with `fetch-depth: 0`",
        )
    name = commit.decode().strip()
    # the tree as it is, without attributes, filters or hooks that the repository could bring along
    spelled = path.removeprefix("./")
    mode, kind = _entry(folder, name, spelled, path)
    if kind == "":
        content = None
    elif kind != "blob":
        raise HostError(f"{path} is not a file at {revision}")
    elif mode == _LINK:
        raise HostError(f"{path} is a symbolic link at {revision}", hint="name the file that it leads to")
    else:
        content = _blob(folder, f"{name}:{spelled}", path)
    seconds = _git(folder, "show", "-s", "--format=%ct", name) or b"0"
    day = datetime.datetime.fromtimestamp(int(seconds.split()[-1]), datetime.UTC).date()
    return FileAtRevision(name, day.isoformat(), content)


def blob_at(revision: str, path: str, folder: Path | None = None) -> str | None:
    """Return git's digest of a file at a revision; None where the commit has no such file. Raises HostError."""
    _refuse_option(revision)
    kind = _entry(folder, revision, path, path)[1]
    if not kind:
        return None
    found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}:{path}")
    if kind != "blob" or found is None:
        raise HostError(f"{path} is not a file at {revision}")
    return found.decode().strip()


def is_in(revision: str, other: str, folder: Path | None = None) -> bool:
    """Return whether a revision is part of another's history. Raises HostError where git does not have both."""
    for one in (revision, other):
        _refuse_option(one)
        if _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{one}^{{commit}}") is None:
            raise HostError(f"git does not have the revision {one} here")
    return _git(folder, "merge-base", "--is-ancestor", revision, other) is not None


def parents_of(commit: str, folder: Path | None = None) -> list[str]:
    """Return the parents of a commit as it says them itself, also in a shallow clone that has none of them.

    Raises HostError where git does not have the commit.
    """
    _refuse_option(commit)
    # without replacements, which a repository could bring along: a commit's own text can't be another
    text = _git(folder, "--no-replace-objects", "cat-file", "commit", commit)
    if text is None:
        raise HostError(f"git does not have the commit {commit} here")
    head = text.partition(b"\n\n")[0].decode("utf-8", "replace")
    return [line.removeprefix("parent ") for line in head.split("\n") if line.startswith("parent ")]


def list_at(revision: str, path: str, folder: Path | None = None) -> list[str]:
    """Return the names of the files in a folder at a revision; none where it has no such folder. Raises HostError."""
    _refuse_option(revision)
    inside = f"{path.strip('/')}/".removeprefix("./")
    listed = _list(folder, revision, "" if inside == "/" else inside)
    if listed is None:
        raise HostError(f"git does not have the folder {path} of {revision} here", hint=_WHOLE_CLONE)
    return [name.rpartition("/")[2] for name, (_, kind) in listed.items() if kind == "blob"]


def find_root(path: Path) -> Path | None:
    """Return the root of the repository that a path, as it is spelled, lies in; None where it lies in none."""
    for folder in Path(os.path.abspath(path)).parents:  # noqa: PTH100  (a link must not lead to another repository)
        if (folder / ".git").exists():
            return folder
    return None


def _entry(folder: Path | None, commit: str, name: str, path: str) -> tuple[str, str]:
    """Return the mode and the kind of what stands under a name; blank where that tree has no such name.

    Raises HostError where the tree itself is not here: that is no file that is not there.
    """
    listed = _list(folder, commit, name.rstrip("/"))
    if listed is None:
        raise HostError(f"git does not have the folder of {path} here", hint=_WHOLE_CLONE)
    return listed.get(name, ("", ""))


def _list(folder: Path | None, revision: str, name: str) -> dict[str, tuple[str, str]] | None:
    """Return mode and kind of each entry that a tree has under a name, all of it for ""; None where git has it not."""
    where = ["--", name] if name else []
    found = _git(folder, "--literal-pathspecs", "ls-tree", "--full-tree", "-z", revision, *where)
    if found is None:
        return None
    entries = {}
    for entry in filter(None, found.split(b"\0")):
        facts, _, listed = entry.partition(b"\t")
        mode, kind, _ = facts.decode("ascii", "replace").split(" ", 2)
        entries[listed.decode("utf-8", "surrogateescape")] = (mode, kind)
    return entries


def _refuse_option(revision: str) -> None:
    """Raise HostError for what git would take for an option."""
    if revision.startswith("-"):
        raise HostError(f"{revision} is not a revision")


def _blob(folder: Path | None, name: str, path: str) -> bytes:
    size = int(_git(folder, "cat-file", "-s", name) or b"0")
    if size > MOST_BYTES:
        raise HostError(f"{path} has more than {MOST_BYTES:,} bytes")
    content = _git(folder, "cat-file", "blob", name)
    if content is None:
        raise HostError(f"git does not have the text of {path} here", hint=_WHOLE_CLONE)
    if content.startswith(_LARGE_FILE):
        raise HostError(
            f"{path} is only a pointer of Git LFS in the repository",
            hint="check the revision out with LFS, and give the path",
        )
    return content


def _git(folder: Path | None, *arguments: str) -> bytes | None:
    """Return what git prints; None where it says no. Raises HostError where it can't be asked at all."""
    try:
        done = subprocess.run(
            ["git", *_FETCHES_NOTHING, *arguments],
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
    except FileNotFoundError:
        raise HostError(
            "git is not here (the image of gateline holds none)",
            hint="check the revision out into a folder, and give the path",
        ) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"git can't be asked: {type(error).__name__}") from None
    if done.returncode == 0:
        return done.stdout
    said = " ".join(done.stderr.decode("utf-8", "replace").split())
    if "not a git repository" in said or "dubious ownership" in said:
        raise HostError(f"git says: {said[:200]}")
    return None
