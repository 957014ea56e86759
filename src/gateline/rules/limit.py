"""`limit`: the candidate's own value is held against a fixed bound, whatever the baseline was."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import model_validator

from gateline.bounds import Bound, Line
from gateline.comparison import Comparison, Estimate
from gateline.metric import Metric
from gateline.rules.base import DecideBy, Outcome, Rule, hold


class Limit(Rule):
    """At least or at most this: a floor, a ceiling, a red line."""

    deciding: ClassVar[DecideBy] = "value"

    kind: Literal["limit"] = "limit"
    at_least: Line | None = None
    """The candidate's value must not be below."""
    at_most: Line | None = None
    """The candidate's value must not be above."""

    @model_validator(mode="after")
    def _check_bound(self) -> Limit:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("needs exactly one of 'at_least' and 'at_most'")
        return self

    @property
    def bound(self) -> Bound:
        """Return the one bound."""
        bound = self.at_most if self.at_least is None else self.at_least
        assert bound is not None
        return bound

    def problems(self, metric: Metric) -> list[tuple[str, str]]:
        """Refuse a limit outside the metric's range: it would hold always or never."""
        return line_problems("at_least" if self.at_least else "at_most", self.bound, metric)

    def sentence(self, metric: Metric) -> str:
        """Return the rule as a plain sentence."""
        word = "at least" if self.at_least else "at most"
        return f"{self.metric} must be {word} {say_line(self.bound, metric)}"

    def bound_fields(self) -> dict[str, object]:
        """Return the bound as a finding shows it."""
        return {"at_least" if self.at_least else "at_most": self.bound.text}

    def looks_at_candidate_alone(self) -> bool:
        """Return true: a floor rests on every usable sample of the candidate."""
        return True

    def judge(self, comparison: Comparison, estimate: Estimate, family: int) -> Outcome:
        """Pass a value, or by interval one that is shown to be, on the good side."""
        threshold = self.bound.number
        interval, notes = comparison.interval(
            self.metric, estimate.slice, "candidate", family=family, threshold=threshold
        )
        status = hold(
            estimate.candidate,
            interval,
            threshold,
            above=self.at_least is not None,
            decide_by=self.decides_by,
            size=estimate.size_of("candidate"),
        )
        return Outcome(status, "candidate", threshold, interval, notes)


def line_problems(name: str, bound: Bound, metric: Metric) -> list[tuple[str, str]]:
    """Return what is wrong with a fixed bound for a metric."""
    found = []
    if bound.percent and metric.show_as != "percent" and metric.range != (0.0, 1.0):
        found.append((name, f"{bound} needs a metric that is shown as percent; write the number in its unit"))
    if metric.range and metric.summary != "total" and not metric.range[0] <= bound.number <= metric.range[1]:
        low, high = metric.range
        say = (
            f"; write {bound.number / 100:g} or {bound.number:g}%"
            if high == 1 and 1 < bound.number <= 100
            else ""
        )
        found.append((name, f"{bound} lies outside the range [{low:g}, {high:g}] of the metric{say}"))
    return found


def say_line(bound: Bound, metric: Metric) -> str:
    """Return a fixed bound in words."""
    if metric.show_as == "percent":
        return f"{bound.number * 100:g} %"
    return f"{bound.number:g}" + (f" {metric.unit}" if metric.unit else "")
