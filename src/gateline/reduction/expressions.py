"""Expressions that DuckDB and Spark evaluate to the same digits: literals, exact sums, bins of a sketch.

Text in, text out; it knows no table.
"""

from __future__ import annotations

import math

FRACTION = 1 << 44
"""Units of the part of a value behind the point."""
STEPS = 64
"""Bins of a sketch between a power of two and the next: a value is off by at most 1/128 of itself."""
_LEAST_POWER = 1100


def quote(text: str) -> str:
    """Return a text as a literal of both dialects."""
    doubled = text.replace("'", "''")
    # A backslash is an escape in one of the two dialects.
    parts = doubled.split("\\")
    return (
        "concat(" + ", chr(92), ".join(f"'{part}'" for part in parts) + ")"
        if len(parts) > 1
        else f"'{doubled}'"
    )


def strip(text: str) -> str:
    """Return a text without blanks of any kind at its ends, as Python strips them; SQL's trim knows but the space."""
    blanks = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
    return f"regexp_replace(regexp_replace({text}, '^[{blanks}]+', ''), '[{blanks}]+$', '')"


def double(value: float) -> str:
    """Return a number as a literal of type DOUBLE, digit for digit."""
    return f"CAST('{value!r}' AS DOUBLE)"


def _whole(x: str) -> str:
    return f"CAST(floor({x}) AS BIGINT)"


def _rest(x: str) -> str:
    return f"CAST(floor(({x} - CAST({_whole(x)} AS DOUBLE)) * CAST({FRACTION} AS DOUBLE) + 0.5) AS BIGINT)"


def mean(x: str) -> str:
    """Return the mean of attempts: of one the value itself, of several from whole sums."""
    total = f"CAST(sum({_whole(x)}) AS DOUBLE) + CAST(sum({_rest(x)}) AS DOUBLE) / CAST({FRACTION} AS DOUBLE)"
    return f"CASE WHEN count({x}) <= 1 THEN max({x}) ELSE ({total}) / count({x}) END"


def split_sum(x: str) -> list[str]:
    """Return the two whole sums of a column: of floors, and of what stands behind the point."""
    return [f"CAST(sum({_whole(x)}) AS BIGINT) AS {x}_whole", f"CAST(sum({_rest(x)}) AS BIGINT) AS {x}_rest"]


def bin_of(x: str) -> str:
    """Return the number of a value's bin: 0 for 0, else its sign times one more than steps of its size."""
    size = f"abs({x})"
    two = "CAST(2 AS DOUBLE)"
    guess = f"CAST(floor(ln(nullif({size}, 0)) / ln({two})) AS BIGINT)"
    # A logarithm may be a digit off beside a power of two; comparing with the power itself puts that right.
    power = (
        f"CASE WHEN power({two}, {guess}) > {size} THEN {guess} - 1 "
        f"WHEN power({two}, {guess} + 1) <= {size} THEN {guess} + 1 ELSE {guess} END"
    )
    step = f"CAST(floor(({size} / power({two}, {power}) - 1) * {STEPS}) AS BIGINT)"
    sign = f"CASE WHEN {x} < 0 THEN -1 ELSE 1 END"
    return (
        f"CASE WHEN {x} IS NULL THEN CAST(NULL AS BIGINT) WHEN {x} = 0 THEN CAST(0 AS BIGINT) "
        f"ELSE ({sign}) * ((({power}) + {_LEAST_POWER}) * {STEPS} + {step} + 1) END"
    )


def edges_of_bin(code: int) -> tuple[float, float]:
    """Return the ends of a bin, the lower one first; (0, 0) for the bin of 0."""
    if code == 0:
        return 0.0, 0.0
    power, step = divmod(abs(code) - 1, STEPS)
    scale = 2.0 ** (power - _LEAST_POWER)
    low, high = scale * (1 + step / STEPS), scale * (1 + (step + 1) / STEPS)
    return (low, high) if code > 0 else (-high, -low)


def bins_of_sizes(low: float, high: float) -> tuple[int, int]:
    """Return the numbers of the bins of two sizes above 0, the first one less and the last one more."""
    return _bin_of_size(low) - 1, _bin_of_size(high) + 1


def _bin_of_size(size: float) -> int:
    fraction, exponent = math.frexp(size)  # size = fraction · 2^exponent, 1/2 ≤ fraction < 1
    return (exponent - 1 + _LEAST_POWER) * STEPS + int((2 * fraction - 1) * STEPS) + 1
