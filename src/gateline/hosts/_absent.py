"""Tells a file or folder that is not there, which is an answer, from all other refusals, which are errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gateline.hosts._http import RefusedError

Answer = TypeVar("Answer")


def unless_absent(ask: Callable[[], Answer], reason: str = "") -> Answer | None:
    """Return what `ask` returns; None where the server answers 404 with `reason` in its words, in any case of letters.

    Raises RefusedError for any other refusal, and what else `ask` raises.
    """
    try:
        return ask()
    except RefusedError as error:
        if error.status == 404 and reason in error.headline.lower():
            return None
        raise
