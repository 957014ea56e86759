"""What the system took: time, tokens and money, as they were recorded.

Cached calls and calls without a price are marked and not averaged in. Nothing is converted or filled in; the values
stay in the result as they stood in the outputs, and a policy's own settings say how missing ones count.
"""

from __future__ import annotations

import numpy as np

from gateline.golden.labels import read_labels, read_truth
from gateline.samples import Floats
from gateline.scoring._definitions import Flags, Measured, flags, metric
from gateline.scoring._material import Material
from gateline.scoring._truths import NO_OUTPUT

TOKENS = ("tokens", "total_tokens")


def _recorded(material: Material, name: str) -> Floats | None:
    """Return a number of each record (n), NaN where none was recorded; None where no output has it."""
    if material.outputs.find_column(name) is None:
        return None
    column = material.outputs.numbers(name)
    return np.where(material.has_output, column[np.maximum(material.output, 0)], np.nan)


def _cached(material: Material) -> Flags:
    found = read_labels(material.outputs, ("cached",), read_truth)
    if found is None:
        return np.zeros(len(material), dtype=bool)
    return flags([row >= 0 and found[row] for row in material.output.tolist()])


def _spent_tokens(material: Material) -> Floats | None:
    total = next((found for name in TOKENS if (found := _recorded(material, name)) is not None), None)
    if total is not None:
        return total
    parts = [_recorded(material, name) for name in ("tokens.input", "tokens.output")]
    known = [part for part in parts if part is not None]
    return np.sum(known, axis=0) if known else None


def _measure(material: Material, value: Floats, undefined: list[tuple[str, Flags]]) -> Measured:
    reasons = [(NO_OUTPUT, ~material.has_output), *undefined, ("not recorded", np.isnan(value))]
    return Measured(value, np.ones(len(value)), reasons)


@metric("latency_ms", better="lower", unit="ms", summary="spread")
def latency(material: Material, cutoff: int) -> Measured | None:
    """The time that an answer took, as recorded.

    Formula: as recorded, in milliseconds
    Denominator: 1; over a run the calls that were not cached
    Undefined: where none was recorded, or the call was cached
    Source: the outputs
    """
    value = _recorded(material, "latency_ms")
    return None if value is None else _measure(material, value, [("cached", _cached(material))])


@metric("tokens", better="lower", unit="tokens", summary="spread")
def tokens(material: Material, cutoff: int) -> Measured | None:
    """The tokens that an answer took, as recorded: `tokens`, or `tokens.input` and `tokens.output` together.

    Formula: as recorded
    Denominator: 1; over a run the calls with recorded tokens
    Undefined: where none were recorded
    Source: the outputs
    """
    value = _spent_tokens(material)
    return None if value is None else _measure(material, value, [])


@metric("cost_usd", better="lower", unit="USD", summary="spread")
def cost(material: Material, cutoff: int) -> Measured | None:
    """The money that an answer cost, as recorded.

    Formula: as recorded, in US dollars
    Denominator: 1; over a run the calls that were priced and not cached
    Undefined: where none was recorded, the call was cached, or it cost 0 although it took tokens (no known price)
    Source: the outputs
    Beware: for a local model without a price say `free: true` in the policy
    """
    value = _recorded(material, "cost_usd")
    if value is None:
        return None
    spent = _spent_tokens(material)
    unpriced = (value == 0) & (np.nan_to_num(spent) > 0) if spent is not None else np.zeros(len(value), bool)
    return _measure(material, value, [("cached", _cached(material)), ("price unknown", unpriced)])
