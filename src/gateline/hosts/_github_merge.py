"""Which commit of its base branch a pull request is merged into for a job: the event may name an older one.

What the base branch changed between the two would else be told as the pull request's own. It reads no file.
https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateline.errors import HostError
from gateline.git import parents_of
from gateline.hosts._addresses import quoted
from gateline.hosts._entries import objects_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def find_merged_into(commit: str, head: str, ask: Callable[[str], Mapping[str, Any]]) -> str | None:
    """Return the first parent of a job's commit, where that merges the pull request whose newest commit is `head`.

    None where it is another commit, or where neither git nor GitHub can tell; `ask` returns what GitHub says of a path
    in the repository, and is asked only where git does not have the commit. A commit's name is made of its content, so
    that no step of the job can give it other parents.
    """
    try:
        parents = parents_of(commit)
    except HostError:
        parents = _parents_as_told(commit, ask)
    return parents[0] if len(parents) == 2 and parents[1] == head else None


def _parents_as_told(commit: str, ask: Callable[[str], Mapping[str, Any]]) -> list[str]:
    """Return what GitHub says; none where it says nothing of use.

    https://docs.github.com/en/rest/git/commits#get-a-commit-object
    """
    try:
        entries = objects_in(ask(f"git/commits/{quoted(commit)}").get("parents"), "parents")
    except HostError:
        return []
    return [str(one.get("sha")) for one in entries]
