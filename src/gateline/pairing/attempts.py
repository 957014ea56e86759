"""How often each question was tried, and whether the plan behind that knew nothing of the outcome.

Repeating only what failed lifts a mean without any answer having become better. Whether somebody did can't be seen from
the scores, so it is the numbers of attempts that must tell of a plan. What an attempt is worth is for `values`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gateline.errors import Problem
from gateline.pairing.join import Codes, Side
from gateline.remark import Said, list_some, said
from gateline.samples import Floats

_MOST_DIGITS = 3
"""Digits of the number of an attempt; longer ones are times or ids of runs."""
_FIRST = "1"
"""Number of the attempt that a record without one is."""
_FEW = 4
"""Questions for each number of an attempt from which on the numbers are few, and count attempts."""
MOST_MISSING = 0.02
"""Share of a plan's attempts that may be missing, also where a policy lets more values be left out."""


def ask_attempts(sides: Sequence[Side], *, any_number: bool) -> list[Floats]:
    """Return how many attempts at each question each run should have counted (pairs), at least those that it has.

    A run that tries a question less often than the other run, and than it tries others, has lost attempts: leaving out
    the bad ones of several would lift the mean. So has one that tries a question less often than others which the other
    run tries as often as this one; `any_number` lets that be.
    """
    made = [np.bincount(side.code[side.code >= 0], minlength=len(side.first)).astype(float) for side in sides]
    least = [_explained(own, other) for own, other in _facing(made)]
    if any_number:
        return least
    return [
        np.maximum(one, _plan(own, other)) for one, (own, other) in zip(least, _facing(made), strict=True)
    ]


def refuse_uneven(sides: Sequence[Side], ids: Sequence[str], most: float) -> list[Problem]:
    """Return a problem for each run that tries some questions more often than others for no reason that can be seen.

    Questions that the other run tries equally often must be tried equally often here; alone, all must. A share `most`
    of the attempts that this asks for may be missing, but no more than `MOST_MISSING`: such are lost, as single values
    may be.
    """
    problems = []
    for side, own, other in _with_others(sides):
        explained = _explained(own, other)
        asked = np.maximum(explained, _plan(own, other))
        if len(own) and float(((asked - explained) / asked).mean()) > min(most, MOST_MISSING) + 1e-12:
            message = _tell_uneven("problem.uneven-attempts", own, other, ids, "")
            problems.append(Problem(message, side.run.file, said("hint.uneven-attempts")))
    return problems


def refuse_chosen(sides: Sequence[Side], ids: Sequence[str], field: str) -> list[Problem]:
    """Return a problem for each run in which some questions have attempts of other numbers than most have.

    Who keeps attempt 2 of what failed in attempt 1 has as many attempts at each question as before; only their numbers
    tell. A record without a number beside records with one is attempt 1, as tools leave that number out. Names of
    attempts, times and seeds tell nothing, and neither does a question that merely lacks some of the numbers that most
    have: single attempts may be lost.
    """
    problems = []
    for side in sides:
        texts = [text or _FIRST for text in side.run.texts(field) or []]
        if not texts or not all(
            text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS for text in texts
        ):
            continue
        kept: list[set[str]] = [set() for _ in ids]
        for row, code in enumerate(side.code.tolist()):
            if code >= 0:
                kept[code].add(texts[row])
        usual = _usual_numbers(kept)
        # more attempts than usual are for `refuse_uneven`, which knows what the other run explains
        odd = [row for row, one in enumerate(kept) if len(one) <= len(usual) and not one <= usual]
        if len(odd) > MOST_MISSING * len(ids):
            named = list_some([f"'{ids[row]}' {_say_attempts(kept[row])}" for row in odd])
            message = said(
                "problem.chosen-attempts",
                count=len(odd),
                asked=len(ids),
                usual=_say_attempts(usual),
                ids=named,
            )
            problems.append(Problem(message, side.run.file, said("hint.uneven-attempts")))
    return problems


def _usual_numbers(kept: Sequence[set[str]]) -> set[str]:
    """Return the numbers of attempts that most questions have; none where the numbers count no attempts, as seeds."""
    counts = Counter(number for numbers in kept for number in numbers)
    usual = {number for number, count in counts.items() if 2 * count > len(kept)}
    if usual or _FEW * len(counts) > len(kept):
        return usual
    (commonest, _), *_ = Counter(frozenset(numbers) for numbers in kept).most_common(1)
    return set(commonest)


def _say_attempts(numbers: Iterable[str]) -> str:
    return "#" + ", ".join(sorted(numbers, key=int))


def tell_attempts(sides: Sequence[Side], ids: Sequence[str]) -> list[Said]:
    """Return notices: that one run tries questions more often than the other, or some more often than others."""
    if not any(side.repeated for side in sides):
        return []
    notices = []
    numbers = [_say_numbers(np.unique(side.tried)) for side in sides]
    if numbers[0] != numbers[-1]:
        notices.append(said("notice.other-attempts", baseline=numbers[0], candidate=numbers[-1]))
    for side, own, other in _with_others(sides):
        if (own < _plan(own, other)).any():
            notices.append(_tell_uneven("notice.uneven-attempts", own, other, ids, side.run.file))
    return notices


def _with_others(sides: Sequence[Side]) -> Iterator[tuple[Side, Floats, Floats]]:
    """Yield each run with how often it tries each question, and how often the other run does (pairs)."""
    tried = [side.tried.astype(float) for side in sides]
    yield from ((side, *pair) for side, pair in zip(sides, _facing(tried), strict=True))


def _facing(counts: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
    """Return the counts of each run with the other run's (pairs); a run alone faces one attempt at each question."""
    others = counts[::-1] if len(counts) == 2 else [np.ones_like(own) for own in counts]
    return list(zip(counts, others, strict=True))


def _explained(own: Floats, other: Floats) -> Floats:
    """Return how many attempts the other run's speak for, no more than this run makes of any question (pairs)."""
    found: Floats = np.maximum(own, np.minimum(own.max(initial=0.0), other))
    return found


def _plan(own: Floats, other: Floats) -> Floats:
    """Return the most often that a run tries a question of those that the other run tries as often (pairs)."""
    planned = own.copy()
    for number in np.unique(other):
        alike = other == number
        planned[alike] = own[alike].max()
    return planned


def _tell_uneven(key: str, own: Floats, other: Floats, ids: Sequence[str], file: str) -> Said:
    """Return a sentence on the questions that are not tried as often as most of those like them."""
    odd = np.zeros(len(own), dtype=bool)
    usual = set()
    for number in np.unique(other):
        alike = other == number
        found = Counter(own[alike].astype(int).tolist())
        common = min(found, key=lambda times: (-found[times], times))
        if len(found) > 1:
            usual.add(common)
            odd |= alike & (own != common)
    rows = np.flatnonzero(odd).tolist()
    named = list_some([f"'{ids[row]}' {int(own[row])} ×" for row in rows])
    return said(key, count=len(rows), asked=len(ids), usual=_say_numbers(sorted(usual)), ids=named, file=file)


def _say_numbers(numbers: Sequence[int] | Codes) -> str:
    """Return `1 ×`, `1, 3 ×` or `1 … 9 ×`: how often questions were tried."""
    if len(numbers) > 3:
        return f"{numbers[0]} … {numbers[-1]} ×"
    return ", ".join(str(number) for number in numbers) + " ×"
