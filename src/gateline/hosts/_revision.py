"""Looks at the revisions that a job names before anybody is asked for one or shown one; it asks nobody itself."""

from __future__ import annotations

import re

from gateline.errors import HostError

_DIGITS_SHOWN = 12
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


def shown_commit(name: str | None) -> str | None:
    """Return the beginning of a commit's name as finished Markdown; None where it is not known or no such name."""
    if name is None or re.fullmatch(r"[0-9a-f]{40,64}", name) is None:
        return None
    return f"`{name[:_DIGITS_SHOWN]}`"
