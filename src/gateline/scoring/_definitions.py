"""How a family of metrics says what it measures: a name, the way that is better, its counts, and a docstring.

The docstring of a metric is its documentation: one sentence, then lines `Formula:`, `Denominator:`, `Undefined:`,
`Source:` and, where needed, `Beware:`. Nothing here computes a metric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from gateline.samples import Floats
from gateline.scoring._material import Material

Flags = npt.NDArray[np.bool_]
Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Measured:
    """One metric of each record: a numerator over a denominator, and why there is none."""

    numerator: Floats
    """Numerator (n); NaN where it is not known."""
    denominator: Floats
    """Denominator (n); NaN where it is not known, 0 where there is nothing to measure."""
    undefined: Sequence[tuple[str, Flags]]
    """Reason and the records for which it holds (n); of several the first counts."""
    nothing_is_zero: bool = False
    """Whether 0 / 0 is 0: nothing was found among what was looked at, and that is the worst value."""

    @property
    def value(self) -> Floats:
        """Return numerator / denominator (n), NaN where a reason holds or the denominator is 0."""
        holds = np.zeros(len(self.numerator), dtype=bool)
        for _, where in self.undefined:
            holds |= where
        with np.errstate(invalid="ignore", divide="ignore"):
            value = self.numerator / self.denominator
        if self.nothing_is_zero:
            value = np.where((self.numerator == 0) & (self.denominator == 0), 0.0, value)
        return np.where(holds | ~np.isfinite(value), np.nan, value)

    def reasons(self) -> list[str | None]:
        """Return why each record has no value (n), None where it has one."""
        reasons: list[str | None] = [None] * len(self.numerator)
        for text, where in reversed(self.undefined):
            for row in np.flatnonzero(where).tolist():
                reasons[row] = text
        for row in np.flatnonzero(np.isnan(self.value)).tolist():
            reasons[row] = reasons[row] or "the denominator is 0"
        return reasons


Compute = Callable[[Material, int], Measured | None]
"""A metric: the records and a cut-off (0 for a metric without one) to its values; None where no record has what it
needs, so that the metric is not part of the result."""
C = TypeVar("C", bound=Compute)


@dataclass(frozen=True)
class Definition:
    """What is known of a metric beside its computation."""

    name: str
    """Name, with `@K` where it has a cut-off."""
    better: Better
    counts: tuple[str, str] | None
    """Names of numerator and denominator in the result; None where the value says it all."""
    unit: str | None
    """Unit of the value; None for a share of 0 to 1."""
    summary: Literal["mean", "ratio", "spread"]
    """How a run is summed up: mean of the samples, ratio of sums (then no sample has a value of its own), or mean,
    median, p95, p99 and total of what was recorded."""
    compute: Compute
    weights: str = ""
    """Weights of a metric that is a mixture; recorded in the result, and runs of other weights can't be compared."""

    @property
    def has_cutoff(self) -> bool:
        """Return whether the metric looks at the first K of a ranking."""
        return self.name.endswith("@K")

    def named(self, text: str, cutoff: int) -> str:
        """Return a name with the cut-off in the place of K."""
        return text.removesuffix("K") + str(cutoff) if text.endswith("@K") else text


def metric(
    name: str,
    *,
    better: Better = "higher",
    counts: tuple[str, str] | None = None,
    unit: str | None = None,
    summary: Literal["mean", "ratio", "spread"] = "mean",
    weights: str = "",
) -> Callable[[C], C]:
    """Mark a function as the computation of a metric."""

    def mark(compute: C) -> C:
        compute.__dict__["definition"] = Definition(name, better, counts, unit, summary, compute, weights)
        return compute

    return mark


def flags(values: Sequence[object]) -> Flags:
    """Return which values are true (n)."""
    return np.fromiter((bool(value) for value in values), dtype=bool, count=len(values))


def numbers(values: Sequence[float | None]) -> Floats:
    """Return numbers (n), NaN for None."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
