"""`tolerance`: the candidate is not worse than the baseline by more than the bound allows."""

from __future__ import annotations

from typing import Literal

from gateline.bounds import Bound, Distance, distance_text
from gateline.comparison import Comparison, Estimate
from gateline.findings import Judged, Status
from gateline.metric import Metric
from gateline.remark import Said, said
from gateline.rules.base import Outcome, Rule, hold
from gateline.rules.denominators import mind_emptied

_ORDER = {Status.PASS: 0, Status.INCONCLUSIVE: 1, Status.FAIL: 2}


class Tolerance(Rule):
    """Not worse than the baseline by more than this (a non-inferiority margin)."""

    kind: Literal["tolerance"] = "tolerance"
    worse_by_at_most: Distance
    """How much worse it may be: in the metric's unit, or `10%` of the baseline; of two, both must be breached."""

    def problems(self, metric: Metric) -> list[tuple[str, str]]:
        """Refuse a tolerance that nothing could ever breach."""
        return distance_problems("worse_by_at_most", self.worse_by_at_most, metric)

    def sentence(self, metric: Metric) -> str:
        """Return the rule as a plain sentence."""
        distance = say_distance(self.worse_by_at_most, metric)
        return f"{self.metric} must not be worse than the baseline by more than {distance}"

    def bound_fields(self) -> dict[str, object]:
        """Return the bound as a finding shows it."""
        return {"worse_by_at_most": distance_text(self.worse_by_at_most)}

    def judge(self, comparison: Comparison, estimate: Estimate, family: int) -> Outcome:
        """Pass what is shown, or by value seen, to be no worse than allowed."""
        outcomes = [
            judge_distance(self, bound, -1, comparison, estimate, family) for bound in self.worse_by_at_most
        ]
        outcome = min(outcomes, key=lambda one: (_ORDER[one.status], _as_gain(one, estimate)))
        if comparison.pairs.identical:
            outcome.status, outcome.however_few = Status.PASS, True
            outcome.notes.append(said("note.identical"))
        return outcome


def judge_distance(
    rule: Rule, bound: Bound, sign: int, comparison: Comparison, estimate: Estimate, family: int
) -> Outcome:
    """Hold the gain against a distance from the baseline: not below it, `sign` -1 for a loss, +1 for a gain.

    A gain of at least 0 is a gain of more than 0.
    """
    judged, threshold, notes = resolve_distance(bound, estimate, sign)
    interval, made = comparison.interval(
        rule.metric, estimate.slice, judged, family=family, threshold=threshold
    )
    status = hold(
        getattr(estimate, judged),
        interval,
        threshold,
        above=True,
        decide_by=rule.decides_by,
        size=estimate.size_of(judged),
        strictly=sign > 0 and threshold == 0,
    )
    status, emptied = mind_emptied(comparison, estimate, status)
    return Outcome(status, judged, threshold, interval, notes + made + emptied)


def resolve_distance(bound: Bound, estimate: Estimate, sign: int) -> tuple[Judged, float, list[Said]]:
    """Return which number a distance holds, and at which value.

    A percentage of a baseline of 0 is 0 in the metric's unit: no rise is within it.
    """
    if not bound.percent:
        return "gain", sign * bound.number + 0.0, []
    if estimate.relative_gain is None:
        return "gain", 0.0, [said("note.share-of-zero", bound=str(bound))]
    return "relative_gain", sign * bound.number + 0.0, []


def distance_problems(name: str, bounds: tuple[Bound, ...], metric: Metric) -> list[tuple[str, str]]:
    """Return what is wrong with a distance for a metric: wider than its range can't ever be breached."""
    if metric.width is None or metric.summary == "total":
        return []
    return [
        (
            name,
            f"{bound} is wider than the range [{metric.range[0]:g}, {metric.range[1]:g}] of the metric"
            + (
                f"; write {bound.number / 100:g} for {bound.number:g} points"
                if 1 <= bound.number <= 100
                else ""
            ),
        )
        for bound in bounds
        if metric.range and not bound.percent and bound.number > metric.width
    ]


def say_distance(bounds: tuple[Bound, ...], metric: Metric) -> str:
    """Return a distance in words, as reports say it: `5 points`, `50 ms`, `10% of the baseline`."""
    return " and also more than ".join(
        f"{bound} of the baseline" if bound.percent else _say_number(bound.number, metric) for bound in bounds
    )


def _say_number(number: float, metric: Metric) -> str:
    if metric.show_as == "percent":
        points = f"{number * 100:.10g}"
        return f"{points} {'point' if points == '1' else 'points'}"
    return f"{number:g} {metric.unit}" if metric.unit else f"{number:g}"


def _as_gain(outcome: Outcome, estimate: Estimate) -> float:
    """Return the threshold in the metric's unit, so that the more lenient of two bounds is the one shown."""
    threshold = outcome.threshold or 0.0
    return threshold * abs(estimate.baseline or 0.0) if outcome.judged == "relative_gain" else threshold
