"""One comment per gate: found by its marker and its author, brought up to date in place, never a second one.

An older run that ends later leaves a newer run's comment alone: each comment says unseen which run wrote it. What is
shared by all hosts; a host gives its thread of comments. It knows no verdict and makes no text but that line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gateline.errors import HostError
from gateline.hosts._http import RefusedError, UnclearError

Mode = Literal["always", "changes", "never"]
Done = Literal["added", "changed", "unchanged", "removed", "left out", "outdated"]
MODES: tuple[Mode, ...] = ("always", "changes", "never")
Order = tuple[int, int]
"""Place of a run among the runs of a repository, and of its tries among each other: a later one is larger."""

ROOM_FOR_ORDER = 80
"""Characters that a comment needs beside its text, at most."""
_ORDER = re.compile(r"<!-- gateline run: (\d{1,20})\.(\d{1,20}) -->", re.ASCII)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment under a pull request."""

    id: int
    author: str
    body: str
    is_by_program: bool = False
    """Whether the host says that no person wrote it."""
    may_be_others: bool = False
    """Whether the host did not tell whose it is; what it says of its run is not believed then."""


class Thread(Protocol):
    """The comments under one pull request."""

    def read(self) -> Sequence[Comment]:
        """Return all comments of all pages, oldest first."""

    def find_own(self, marked: Sequence[Comment]) -> Sequence[Comment]:
        """Return those of the marked comments that this token's user wrote."""

    def add(self, body: str) -> None:
        """Write a comment."""

    def change(self, comment: Comment, body: str) -> None:
        """Give a comment another text."""

    def remove(self, comment: Comment) -> None:
        """Take a comment away."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of the comment."""

    body: str
    """Its text; the first line is the marker."""
    is_fine: bool
    """Whether all is well, so that nothing needs to be read."""
    mode: Mode = "always"
    """`changes`: no first comment while all is well."""
    remove_when_fine: bool = False
    """Whether an earlier comment goes when all is well."""
    order: Order | None = None
    """Which run wants it; None where that is not known, then it is written whatever stands there."""

    @property
    def text(self) -> str:
        """Return what is posted: the marker, the run in a line of its own that nobody sees, the rest."""
        if self.order is None:
            return self.body
        marker, _, rest = self.body.partition("\n")
        return f"{marker}\n<!-- gateline run: {self.order[0]}.{self.order[1]} -->\n{rest}"


def keep_comment(thread: Thread, wish: Wish) -> Done:
    """Make the thread as wished and return what was done.

    Raises HostError where it can't be done; nothing is written where any page of the thread can't be read.
    """
    if wish.mode == "never":
        return "left out"
    marker = _first_line(wish.body)
    own = _find(thread, marker)
    if any(_is_newer(one, wish) for one in own):
        return "outdated"
    if wish.is_fine and wish.remove_when_fine:
        for comment in own:
            _remove(thread, comment)
        return "removed" if own else "left out"
    if not own:
        if wish.is_fine and wish.mode == "changes":
            return "left out"
        return _add_once(thread, marker, wish.text)
    done: Done = "unchanged"
    if not _says(own[0], wish):
        # hosts know no "change it if it is still as I read it", so it is looked at right before and after
        own = _find(thread, marker)
        if any(_is_newer(one, wish) for one in own):
            return "outdated"
        done = _bring_up_to_date(thread, own[0], wish.text) if own else _add_once(thread, marker, wish.text)
        if done == "changed":
            done = _stand_by(thread, marker, wish)
    _remove_twins(thread, own)
    return done


def order_of(comment: Comment) -> Order | None:
    """Return which run wrote a comment; None where it does not say, as older versions did not."""
    found = _ORDER.fullmatch(comment.body.partition("\n")[2].partition("\n")[0].strip())
    return None if found is None else (int(found[1]), int(found[2]))


def _is_newer(comment: Comment, wish: Wish) -> bool:
    written_by = order_of(comment)
    if wish.order is None or written_by is None or comment.may_be_others:
        return False
    return written_by > wish.order


def _is_older(comment: Comment, wish: Wish) -> bool:
    written_by = order_of(comment)
    return wish.order is not None and written_by is not None and written_by < wish.order


def _says(comment: Comment, wish: Wish) -> bool:
    return comment.body.replace("\r\n", "\n").rstrip() == wish.text.rstrip()


def _stand_by(thread: Thread, marker: str, wish: Wish) -> Done:
    """Look whether what was written stands there, and write once more where an older run has written over it."""
    try:
        own = _find(thread, marker)
    except HostError:
        return "changed"  # it was written, and nothing says that it is there no more
    for comment in own[:1]:
        if _is_newer(comment, wish):
            return "outdated"
        if _is_older(comment, wish):
            return _bring_up_to_date(thread, comment, wish.text)
    return "changed"


def _bring_up_to_date(thread: Thread, comment: Comment, body: str) -> Done:
    try:
        thread.change(comment, body)
    except RefusedError as error:
        if error.status not in (403, 404, 410):
            raise
        # it is gone, or after all another user's: one new comment, which later runs will find
        thread.add(body)
        return "added"
    return "changed"


def _add_once(thread: Thread, marker: str, body: str) -> Done:
    """Add a comment; where no clear answer came, look whether it is there before trying once more."""
    try:
        thread.add(body)
    except UnclearError:
        if not _find(thread, marker):
            thread.add(body)
    return "added"


def _remove_twins(thread: Thread, own: Sequence[Comment]) -> None:
    """Take away later comments of the same author and gate, left by two runs that began at the same time."""
    for comment in own[1:]:
        if comment.author == own[0].author:
            try:
                _remove(thread, comment)
            except HostError:
                return


def _remove(thread: Thread, comment: Comment) -> None:
    """Take a comment away; one that is gone already, such as by a first try whose answer was lost, is gone."""
    try:
        thread.remove(comment)
    except RefusedError as error:
        if error.status not in (404, 410):
            raise


def _find(thread: Thread, marker: str) -> Sequence[Comment]:
    marked = [comment for comment in thread.read() if _first_line(comment.body) == marker]
    return thread.find_own(marked) if marked else []


def _first_line(body: str) -> str:
    return body.partition("\n")[0].strip()
