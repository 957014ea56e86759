"""Looks at the revision that a job names before the base branch is asked for it; it asks nobody itself."""

from __future__ import annotations

from gateline.errors import HostError

_IN_NO_NAME = frozenset(" ~^:?*[\\")
"""What no branch's name holds (git check-ref-format), because it means something to git."""


def usable_revision(name: str | None) -> str | None:
    """Return a commit or a branch as it is; None stays None.

    Raises HostError where it can't be one: what it would be taken for, such as an option of git or another revision,
    is not what was meant, and a text that can't be sent can't be asked for.
    """
    if name is None:
        return None
    if not name.isprintable() or _IN_NO_NAME & set(name) or ".." in name or name.startswith("-"):
        raise HostError(f"the revision before the change can't be one: {name!a:.60}")
    return name
