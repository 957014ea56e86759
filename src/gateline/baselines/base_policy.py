"""The base branch's policy, for the guard: from git where it has the commit, else from the host.

Nobody has to ask for it. It compares nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.baselines.git import find_root, read_at
from gateline.errors import HostError
from gateline.policy import PolicyFile, read_policy

if TYPE_CHECKING:
    from gateline.hosts import Job


def find_base_policy(policy: str, job: Job) -> PolicyFile | None:
    """Return the policy of the same path as it was before the change; None where the base branch has none there.

    Raises HostError where that can't be found out, PolicyError where that policy is unusable.
    """
    root = find_root(Path(policy)) or Path.cwd()
    try:
        path = Path(policy).resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise HostError(f"{policy} lies outside the repository") from None
    content = _read(path, root, job)
    if content is None:
        return None
    text = content.decode("utf-8-sig", "replace")
    # its own file stands for its place, so that what it names beside itself is found
    return read_policy(text, policy, hashlib.sha256(content).hexdigest())


def _read(path: str, root: Path, job: Job) -> bytes | None:
    commit = job.base_commit
    if commit is not None:
        try:
            return read_at(commit, path, root).content
        except HostError:
            pass  # no git, or a shallow clone: the host knows
    return job.read_base_file(path)
