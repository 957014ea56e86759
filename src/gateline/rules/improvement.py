"""`improvement`: what the change is for; the candidate is better than the baseline by at least the bound."""

from __future__ import annotations

from typing import ClassVar, Literal

from gateline.bounds import Bound, Distance, distance_text
from gateline.comparison import Comparison, Estimate
from gateline.metric import Metric
from gateline.rules.base import OnInconclusive, Outcome, Rule
from gateline.rules.tolerance import distance_problems, judge_distance, say_distance


class Improvement(Rule):
    """Better than the baseline by at least this; by default, better at all."""

    burden: ClassVar[OnInconclusive] = "fail"

    kind: Literal["improvement"] = "improvement"
    better_by_at_least: Distance = (Bound(0.0, percent=False),)
    """How much better it must be: in the metric's unit, or `10%` of the baseline; more than 0 when left out."""

    def problems(self, metric: Metric) -> list[tuple[str, str]]:
        """Refuse two bounds, and an improvement that nothing could ever reach."""
        if len(self.better_by_at_least) > 1:
            return [("better_by_at_least", "takes one bound; write two rules where both are required")]
        return distance_problems("better_by_at_least", self.better_by_at_least, metric)

    def sentence(self, metric: Metric) -> str:
        """Return the rule as a plain sentence."""
        if self.better_by_at_least[0].number == 0:
            return f"{self.metric} must be better than the baseline"
        distance = say_distance(self.better_by_at_least, metric)
        return f"{self.metric} must be better than the baseline by at least {distance}"

    def bound_fields(self) -> dict[str, object]:
        """Return the bound as a finding shows it."""
        return {"better_by_at_least": distance_text(self.better_by_at_least)}

    def judge(self, comparison: Comparison, estimate: Estimate, family: int) -> Outcome:
        """Pass only what is shown, or by value seen, to be better by enough."""
        return judge_distance(self, self.better_by_at_least[0], +1, comparison, estimate, family)
