"""A metric as the policy defines it: where its numbers stand, which way is better, how a run is summed up."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema, model_validator
from pydantic import Field as Setting

from gateline.bounds import read_share
from gateline.settings import Name, Part, Switch

COST_FIELDS = frozenset({"cost_usd", "cost", "total_cost", "total_cost_usd", "price_usd"})
TIME_FIELDS = frozenset({"latency_ms", "latency", "latency_s", "duration_ms", "duration", "duration_s"})
MONEY = frozenset({"USD", "EUR", "GBP", "CNY", "JPY", "$", "€", "£", "¥"})
TIMES = frozenset({"ms", "s", "us", "µs", "ns", "min"})

Layer = Literal["retrieval", "context", "generation", "citation", "system"]
"""The parts of a RAG system, in the order in which one looks for what broke."""

_QUANTILE = re.compile(r"p([1-9][0-9]?)")


def _read_summary(value: object) -> object:
    """Check that a summary is one we know: mean, median, total, p1 … p99."""
    if isinstance(value, str) and (value in ("mean", "median", "total") or _QUANTILE.fullmatch(value)):
        return value
    raise ValueError(f"must be mean, median, total or p50 … p99, not {value!r}")


def _read_ends(value: object) -> object:
    """Let the ends of a range be percentages too."""
    return [read_share(item) for item in value] if isinstance(value, list | tuple) else value


class Metric(Part):
    """What is measured."""

    better: Literal["higher", "lower"]
    """Which way is better."""
    range: Annotated[tuple[float, float] | None, BeforeValidator(_read_ends)] = None
    """Smallest and largest possible value; a value outside is an input error."""
    show_as: Literal["number", "percent"] = "number"
    """How people read it; a limit on a percent metric may be written as `75%`."""
    unit: Name | None = None
    """Unit of the values, such as `ms` or `USD`."""
    field: Name | None = None
    """Field of the record that holds the value; the metric's name when left out."""
    summary: Annotated[
        str,
        BeforeValidator(_read_summary),
        WithJsonSchema({"type": "string", "pattern": "^(mean|median|total|p[1-9][0-9]?)$"}),
    ] = "mean"
    """How a run is summed up: mean, median, total, or a percentile p50 … p99."""
    ratio: tuple[Name, Name] | None = None
    """Numerator and denominator fields: the metric is the ratio of their sums over the run."""
    worst: float | None = None
    """What a sample without an answer counts as; the bad end of the range when left out."""
    free: Switch = False
    """Whether a cost of 0 is meant: a local model without a price."""
    applies_to: Name | None = None
    """A named slice outside which the metric is not defined and not expected."""
    layer: Layer | None = None
    """Part of the system that it looks at, for the report by layer; known for the field's standard names."""

    @model_validator(mode="after")
    def _check(self) -> Metric:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(f"range: the first number must be below the second, not {list(self.range)}")
        if self.ratio is not None and (self.field is not None or self.summary != "mean"):
            raise ValueError("ratio stands alone: leave out 'field' and 'summary'")
        if self.ratio is not None and self.worst is not None:
            raise ValueError("a ratio has no worst value for a single sample; leave out 'worst'")
        if self.worst is not None and self.range and not self.range[0] <= self.worst <= self.range[1]:
            raise ValueError(f"worst must lie in the range {list(self.range)}, not {self.worst}")
        return self

    @property
    def sign(self) -> int:
        """Return +1 where higher is better, -1 where lower is."""
        return 1 if self.better == "higher" else -1

    @property
    def width(self) -> float | None:
        """Return the width of the range."""
        return None if self.range is None else self.range[1] - self.range[0]

    @property
    def worst_value(self) -> float | None:
        """Return what a sample without an answer counts as; None where nothing is known of the metric's end."""
        if self.worst is not None:
            return self.worst
        if self.range is None or self.ratio is not None:
            return None
        return self.range[0] if self.better == "higher" else self.range[1]

    @property
    def quantile(self) -> float | None:
        """Return the probability of a percentile summary, None for any other."""
        if self.summary == "median":
            return 0.5
        match = _QUANTILE.fullmatch(self.summary)
        return int(match[1]) / 100 if match else None

    @property
    def summary_name(self) -> str:
        """Return `ratio`, or the summary as the policy has it."""
        return "ratio" if self.ratio else self.summary

    def is_cost(self, name: str) -> bool:
        """Return whether the metric called `name` is money."""
        return not COST_FIELDS.isdisjoint(self._sources(name)) or self.unit in MONEY

    def is_time(self, name: str) -> bool:
        """Return whether the metric called `name` is a duration."""
        return not TIME_FIELDS.isdisjoint(self._sources(name)) or self.unit in TIMES

    def _sources(self, name: str) -> tuple[str, ...]:
        """Return the names that tell what is measured: of a ratio its own and the numerator's."""
        return (name, self.ratio[0]) if self.ratio else (self.field or name,)


Metrics = Annotated[dict[Name, Metric], Setting(min_length=1)]
