"""Records that stand in a file twice: a file joined with itself, and no second attempt at a question.

Needed where a reader itself numbers attempts in the order of the file, as then nothing else tells a copy. Deterministic
systems give equal answers, so only what one execution alone can have written makes a copy: its id, or its time to the
last of several digits beside all else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from gateline.errors import InputError, name_some
from gateline.samples import count_digits

_FEWEST_DIGITS = 4
"""From so many digits on, two executions do not take equally long by chance."""


def trace_of(record: object, times: Iterable[object]) -> str | None:
    """Return all that a record holds as text, or None where no time is fine enough to tell executions apart."""
    fine = [
        time
        for time in times
        if isinstance(time, int | float)
        and not isinstance(time, bool)
        and count_digits(time) >= _FEWEST_DIGITS
    ]
    return json.dumps(record, sort_keys=True, default=str) if fine else None


def refuse_copies(file: str, ids: Sequence[str], traces: Sequence[str | None]) -> None:
    """Raise InputError where two records of one id (n) have the same trace (n; None: unknown)."""
    if len(set(ids)) == len(ids):
        return
    seen: set[tuple[str, str]] = set()
    copied: dict[str, None] = {}
    for name, trace in zip(ids, traces, strict=True):
        if trace is None:
            continue
        if (name, trace) in seen:
            copied[name] = None
        seen.add((name, trace))
    if copied:
        named = name_some([f"'{name}'" for name in copied])
        raise InputError(
            f"the same record stands more than once, measured times and all, for {len(copied)} of the ids: {named}",
            file,
            "these are copies and no attempts: was a file joined with itself?",
        )
