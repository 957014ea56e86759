"""What a file's own sums say of failures, held against what its tests show: where they say more, some are hidden.

A sum that says less hides nothing and is left alone, as writers differ in what they count. Nothing here knows a format.
"""

from __future__ import annotations

from collections.abc import Iterable

from gateline.errors import InputError

LONGEST_COUNT = 15
"""Digits of a count; a longer one is none."""
FEWEST_DECIMALS = 2
"""Decimals to which a program around a tool may have rounded its means; fewer would hide a change."""
_HINT = "hand over the report as its tool wrote it, whole and unchanged"


def read_count(text: str | None) -> int | None:
    """Return a count of tests that is written as text; None for anything else."""
    stripped = (text or "").strip()
    is_count = stripped.isascii() and stripped.isdigit() and len(stripped) <= LONGEST_COUNT
    return int(stripped) if is_count else None


def count_decimals(text: str) -> int:
    """Return how many digits stand behind the point of a number: 4 for `0.9655`; of `1e-05` as many as it has."""
    digits, _, exponent = text.lower().partition("e")
    shift = int(exponent) if exponent.lstrip("+-").isdigit() and len(exponent) < 6 else 0
    return max(0, len(digits.partition(".")[2]) - shift)


def find_rounding(numbers: Iterable[float]) -> float:
    """Return how far from its exact value a number of a file may be: half a unit of the last decimal that any has.

    Programs around a tool round its report, all of it: one number with all its digits shows that none was rounded.
    """
    most = max((count_decimals(repr(number)) for number in numbers), default=FEWEST_DECIMALS)
    return 0.5 * 10.0 ** -max(most, FEWEST_DECIMALS)


def refuse_hidden(file: str, whose: str, what: str, stated: float | None, shown: int) -> None:
    """Raise an InputError with both numbers where `whose` sums state more of what ended badly than tests show it."""
    if stated is not None and stated > shown:
        raise InputError(f"{whose} says {what}: {stated:g}, and its tests show {shown}", file, _HINT)


def refuse_additional(file: str, whose: str, what: str, stated: float | None, shown: int) -> None:
    """Raise an InputError with both numbers where more tests show that they ended well than `whose` sums state."""
    if stated is not None and stated < shown:
        raise InputError(f"{whose} says {what}: {stated:g}, and its tests show {shown}", file, _HINT)
