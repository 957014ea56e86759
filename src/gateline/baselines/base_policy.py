"""The base branch's policy, for the guard, and its other files: from git, else from the host.

Nobody has to ask for it. It compares no policies.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gateline.errors import HostError, PolicyError
from gateline.files import is_there
from gateline.git import find_root, list_at, read_at
from gateline.policy import PolicyFile, name_of, read_policy

if TYPE_CHECKING:
    from gateline.hosts import Job

Answer = TypeVar("Answer")


def find_base_policy(policy: str, job: Job) -> PolicyFile | None:
    """Return the policy of the same path as it was before the change; None where the base branch has none there.

    The path counts as it is spelled: a policy that a change turns into a link is compared with what it was. Raises
    HostError where that can't be found out, PolicyError where that policy is unusable.
    """
    root, path = find_place(policy)
    content = read_before(path, root, job)
    if content is None:
        return None
    text = content.decode("utf-8-sig", "replace")
    # its own file stands for its place, so that what it names beside itself is found
    return read_policy(text, policy, hashlib.sha256(content).hexdigest())


def find_gone_policies(pattern: str, job: Job) -> list[str]:
    """Return the policies that match a pattern on the base branch and are not here, as the pattern spells them.

    Raises HostError where that can't be found out.
    """
    folder, name = os.path.split(pattern)
    if glob.has_magic(folder):
        raise HostError(f"{pattern} has a pattern in its folders")
    if job.base_commit is None:
        return []
    root, place = find_place(folder or ".")
    names = list_before(place, root, job)
    gone = [one for one in fnmatch.filter(sorted(names), name) if not is_there(Path(folder) / one)]
    return [(Path(folder) / one).as_posix() for one in gone]


def find_moved_policies(gone: Iterable[str], policies: Iterable[str], job: Job) -> dict[str, str]:
    """Return where the base branch has the gates of the policies that a change gives another file.

    A gate is known by its name. One that already had the file on the base branch was not moved there: it only took the
    name of another, whose policy is gone. Raises HostError where that can't be found out.
    """
    moved: dict[str, str] = {}
    for file in gone:
        before = _find_readable(file, job)
        named = [one for one in policies if before is not None and name_of(one) == before.policy.name]
        moved |= {one: file for one in named if _is_new(one, job)}
    return moved


def _is_new(policy: str, job: Job) -> bool:
    """Return whether the base branch has nothing under a policy's path. Raises HostError."""
    root, path = find_place(policy)
    return read_before(path, root, job) is None


def _find_readable(policy: str, job: Job) -> PolicyFile | None:
    try:
        return find_base_policy(policy, job)
    except PolicyError:
        return None


def find_place(file: str | Path) -> tuple[Path, str]:
    """Return the root of the repository and the path from there; the working folder stands for a root without git."""
    spelled = Path(os.path.abspath(file))  # noqa: PTH100  (resolve would follow links)
    root = find_root(spelled / "here") or Path.cwd()  # a folder may be the root itself
    if not spelled.is_relative_to(root):
        raise HostError(f"{file} lies outside the repository")
    return root, spelled.relative_to(root).as_posix()


def read_before(path: str, root: Path, job: Job) -> bytes | None:
    """Return a file as it was before the change; None where it was not there. Raises HostError."""
    return ask_git_first(
        job, lambda commit: read_at(commit, path, root).content, lambda: job.read_base_file(path)
    )


def list_before(folder: str, root: Path, job: Job) -> list[str]:
    """Return the names of the files in a folder as it was before the change; none where it was not there.

    Raises HostError.
    """
    return ask_git_first(
        job, lambda commit: list_at(commit, folder, root), lambda: job.list_base_folder(folder)
    )


def ask_git_first(job: Job, git: Callable[[str], Answer], host: Callable[[], Answer]) -> Answer:
    """Return what git says of the commit before the change, or the host where git can't say. Raises HostError.

    Git can't where there is none, in a shallow or partial clone, and of a link.
    """
    commit = job.base_commit
    if commit is not None:
        with contextlib.suppress(HostError):
            return git(commit)
    return host()
