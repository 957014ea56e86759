"""What can go wrong, said so that a person can mend it.

Every error carries one or more problems; all that can be found at once are told at once. This module must not
print, log or exit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_PROBLEMS = 50
"""Problems of one file that people are shown unless they ask for all."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    message: str
    """What was found and what was expected, without a full stop at the end."""
    where: str = ""
    """`file`, `file:line` or `file:line  key.path`; empty where no place can be named."""
    hint: str = ""
    """What to do about it; empty where the message says enough."""

    def __str__(self) -> str:
        """Return place, message and hint in one line."""
        place = f"{self.where}: " if self.where else ""
        hint = f"  ({self.hint})" if self.hint else ""
        return f"{place}{self.message}{hint}"


class GatelineError(Exception):
    """Nothing was decided, for one or more stated reasons."""

    def __init__(self, message: str, where: str = "", hint: str = "", *, problems: Sequence[Problem] = ()):
        """Take one problem as `message`, `where`, `hint`, or many as `problems` under the headline `message`."""
        self.headline = message
        self.problems = tuple(problems) or (Problem(message, where, hint),)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class PolicyError(GatelineError):
    """The policy, or an option of the command line, is unusable."""


class InputError(GatelineError):
    """A data file is unusable or contradicts itself."""


class NotComparable(GatelineError):  # noqa: N818  (it is a finding about two runs, the design's own word)
    """Both files can be read, but no verdict can rest on comparing them."""


class HostError(GatelineError):
    """A CI host could not be told; this never changes a verdict or an exit code."""


def name_some(names: Iterable[str], most: int = 5) -> str:
    """Join up to `most` names and count the rest: `q1, q2, q3 and 12 more`."""
    listed = list(names)
    shown = ", ".join(listed[:most])
    return f"{shown} and {len(listed) - most} more" if len(listed) > most else shown


def count_of(number: int, one: str, many: str) -> str:
    """Return a count with the words for one or for any other number: `1 record has`, `2 records have`."""
    return f"{number:,} {one if number == 1 else many}"


def cut(text: str, most: int = 60) -> str:
    """Return a text that is no longer than a message has room for, with an ellipsis where it ends early."""
    return text if len(text) <= most else text[: most - 1] + "…"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a person most likely meant, or None; capital letters tell no names apart."""
    import difflib

    names = {one.casefold(): one for one in reversed(list(known))}
    close = difflib.get_close_matches(name.casefold(), names, n=1, cutoff=0.6)
    return names[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known name, else the known names, else nothing."""
    names = list(known)
    close = nearest(name, names)
    if close:
        return f"did you mean '{close}'?"
    return f"known: {name_some(sorted(names), 12)}" if names else ""
