"""A bound of a rule as a person writes it: a number in the metric's unit, or a percentage.

Reading it only; what a percentage is of is the rule's business.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_PERCENT = re.compile(r"\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*%\s*")


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound."""

    number: float
    """The number; for a percentage its hundredth part (`10%` is 0.1)."""
    percent: bool
    """Whether it was written as a percentage."""

    def __str__(self) -> str:
        """Return the bound as a person writes it: `2`, `0.05` or `10%`."""
        return str(self.text) if self.percent else f"{self.number:.15g}"

    @property
    def text(self) -> float | str:
        """Return the bound as a policy has it: a number, or a text such as `10%`."""
        if not self.percent:
            return self.number
        hundred = round(self.number * 100, 10)
        return f"{int(hundred) if float(hundred).is_integer() else hundred}%"


def read_percent(value: object) -> float | None:
    """Return 0.05 for the text `5%`, None for any other value."""
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) / 100 if match else None


def read_bound(value: object) -> Bound:
    """Read a number or a percentage; anything else is a ValueError with a sentence."""
    if isinstance(value, Bound):
        return value
    share = read_percent(value)
    if share is not None and math.isfinite(share):
        return Bound(share, percent=True)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"must be a number or a percentage such as 10%, not {_said(value)}")
    if not math.isfinite(value):
        raise ValueError(f"must be a finite number, not {value}")
    return Bound(float(value), percent=False)


def read_share(value: object) -> object:
    """Turn `95%` into 0.95 and leave any other value to the field's own check."""
    share = read_percent(value)
    return value if share is None else share


def read_distance(value: object) -> tuple[Bound, ...]:
    """Read one distance, or a list of two that are breached together; none may be negative."""
    values = value if isinstance(value, list | tuple) else [value]
    if not 1 <= len(values) <= 2:
        raise ValueError("must be one bound, or a list of two that count only together")
    bounds = tuple(read_bound(item) for item in values)
    for bound in bounds:
        if bound.number < 0:
            raise ValueError(f"must not be negative, but is {bound}; 0 allows no difference at all")
    if len(bounds) == 2 and bounds[0].percent == bounds[1].percent:
        raise ValueError("of two bounds one must be a percentage and one a number")
    return bounds


def distance_text(bounds: tuple[Bound, ...]) -> float | str | list[float | str]:
    """Return one or two bounds as the policy has them."""
    texts = [bound.text for bound in bounds]
    return texts[0] if len(texts) == 1 else texts


def _said(value: object) -> str:
    return "nothing" if value is None else repr(value)


_NUMBER_OR_PERCENT: dict[str, Any] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*[-+]?[0-9]*\.?[0-9]+\s*%\s*$"}]
}
_DISTANCE: dict[str, Any] = {
    "anyOf": [
        *_NUMBER_OR_PERCENT["anyOf"],
        {"type": "array", "items": _NUMBER_OR_PERCENT, "minItems": 2, "maxItems": 2},
    ]
}

Line = Annotated[
    Bound,
    BeforeValidator(read_bound),
    PlainSerializer(lambda bound: bound.text),
    WithJsonSchema(_NUMBER_OR_PERCENT),
]
"""A fixed value: a number, or for a metric shown as percent also `75%`."""

Distance = Annotated[
    tuple[Bound, ...],
    BeforeValidator(read_distance),
    PlainSerializer(distance_text),
    WithJsonSchema(_DISTANCE),
]
"""How far from the baseline: a number, a percentage of the baseline, or both."""

Share = Annotated[float, BeforeValidator(read_share), WithJsonSchema(_NUMBER_OR_PERCENT)]
"""A part of a whole between 0 and 1, also written as a percentage."""
