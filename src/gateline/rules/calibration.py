"""`calibration`: the judge of a metric is held against people, so that a judge nobody can trust gives no verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import model_validator

from gateline.bounds import Bound, Line
from gateline.comparison import Comparison, Estimate
from gateline.errors import NotComparable
from gateline.findings import Finding, FoundInterval, Measure, Status
from gateline.metric import Metric
from gateline.remark import said
from gateline.rules.base import OnInconclusive, Outcome, Rule, hold
from gateline.statistics import cluster_keys

if TYPE_CHECKING:
    from gateline.audit.measures import Measured

_RANGES = {"kappa": (-1.0, 1.0), "separation": (-1.0, 1.0)}
_NO_PERCENT = ("kappa", "bias", "separation")


@dataclass
class _MeasuredOutcome(Outcome):
    """An outcome with what was measured of the judge."""

    measured: Measured | None = None


class Calibration(Rule):
    """The judge agrees with people: agreement, kappa, bias or an error rate at least or at most this."""

    burden: ClassVar[OnInconclusive] = "fail"

    kind: Literal["calibration"] = "calibration"
    measure: Measure
    """What is measured over the labels of both runs that people gave by chance; bias counts without its sign."""
    at_least: Line | None = None
    """The measure must not be below."""
    at_most: Line | None = None
    """The measure must not be above."""
    otherwise: Literal["no_verdict", "fail"] = "no_verdict"
    """What happens where it does not hold: there is no verdict, or the gate says no."""

    @model_validator(mode="after")
    def _check_bound(self) -> Calibration:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("needs exactly one of 'at_least' and 'at_most'")
        if (self.measure in ("bias", "false_positive_rate")) != (self.at_most is not None):
            word = "at_most" if self.at_least is not None else "at_least"
            raise ValueError(f"a judge's {self.measure} is held with '{word}'")
        return self

    @property
    def bound(self) -> Bound:
        """Return the one bound."""
        bound = self.at_most if self.at_least is None else self.at_least
        assert bound is not None
        return bound

    def problems(self, metric: Metric) -> list[tuple[str, str]]:
        """Refuse a bound outside what the measure can be, and a metric that has no scale to measure it on."""
        name = "at_least" if self.at_least else "at_most"
        if metric.range is None:
            return [("metric", f"'{self.metric}' needs a range for its judge to be held against people")]
        low, high = _RANGES.get(self.measure, (0.0, metric.width if self.measure == "bias" else 1.0))
        if not low <= self.bound.number <= (high or 0.0):
            return [(name, f"{self.bound} lies outside the range [{low:g}, {high:g}] of {self.measure}")]
        return []

    def sentence(self, metric: Metric) -> str:
        """Return the rule as a plain sentence."""
        word = "at least" if self.at_least else "at most"
        then = "else there is no verdict" if self.otherwise == "no_verdict" else "else the gate says no"
        return f"the {self.measure} of the judge of {self.metric} must be {word} {self.bound}, {then}"

    def bound_fields(self) -> dict[str, object]:
        """Return the bound as a finding shows it."""
        return {"at_least" if self.at_least else "at_most": self.bound.text}

    def looks_at_candidate_alone(self) -> bool:
        """Return true: a first run has a judge too."""
        return True

    def settle(self, comparison: Comparison, estimate: Estimate, family: int) -> Outcome:
        """Measure the judge; raise NotComparable where it does not hold and that leaves no verdict."""
        found = self._measure(comparison, estimate.slice, family)
        if found is None:  # copies of runs, as doctor makes them, have no labels
            return Outcome(Status.SKIPPED, "candidate", None, notes=[said("note.no-people")])
        level = 1 - (1 - comparison.settings.confidence) / family
        interval = None
        if found.low is not None and found.high is not None:
            interval = FoundInterval(
                of="candidate", low=found.low, high=found.high, level=level, method="bayesian", resamples=None
            )
        above = self.at_least is not None
        status = hold(
            found.value, interval, self.bound.number, above=above, decide_by=self.decides_by, size=1.0
        )
        notes = [said("note.not-measurable", reason=found.reason)] if found.reason else []
        blocks = status is Status.FAIL or (status is Status.INCONCLUSIVE and self.if_inconclusive == "fail")
        if blocks and self.otherwise == "no_verdict":
            raise self._refuse(comparison, estimate.slice, found)
        return _MeasuredOutcome(
            status, "candidate", self.bound.number, interval, notes, however_few=True, measured=found
        )

    def _tell(self, comparison: Comparison, estimate: Estimate, outcome: Outcome, family: int) -> Finding:
        finding = super()._tell(comparison, estimate, outcome, family)
        found = outcome.measured if isinstance(outcome, _MeasuredOutcome) else None
        nothing = dict.fromkeys(
            ("baseline", "gain", "relative_gain", "better", "worse", "same", "calibration")
        )
        update: dict[str, object] = {
            **nothing,
            "measure": self.measure,
            "candidate": found.value if found else None,
            "samples": found.samples if found else 0,
            "clusters": 0,
            "direction": "higher" if self.at_least else "lower",
            "summary": "mean",
            "show_as": "number" if self.measure in _NO_PERCENT else "percent",
            "unit": None,
            "samples_needed": None,
        }
        return finding.model_copy(update=update)

    def _refuse(self, comparison: Comparison, place: str | None, found: Measured) -> NotComparable:
        text = "unknown" if found.value is None else f"{found.value:.3g}"
        if found.low is not None and found.high is not None:
            text += f" ({found.low:.3g} … {found.high:.3g})"
        return NotComparable(
            said(
                "problem.judge-not-calibrated",
                rule=self.id,
                measure=self.measure,
                metric=self.metric if place is None else f"{self.metric} · {place}",
                value=text,
                bound=f"{'≥' if self.at_least else '≤'} {self.bound}",
                count=found.samples,
            ),
            comparison.pairs.sides[-1].run.file,
            said("hint.judge-not-calibrated"),
        )

    def _measure(self, comparison: Comparison, place: str | None, family: int) -> Measured | None:
        """Return what is measured over the labels of both runs; None where no labels are at hand."""
        labels = comparison.people.get(self.metric)
        if labels is None:
            return None
        # Only a policy with such a rule waits for all that an audit is made of.
        from gateline.audit.measures import Level, measure_judge
        from gateline.statistics.prediction_powered import JudgedSamples

        values, rows = comparison.pairs.metrics[self.metric], comparison.pairs.labels.rows(place)
        sides = [(values.candidate, labels.candidate)]
        if values.baseline is not None:
            sides.append((values.baseline, labels.baseline))
        both = [rows[side.usable[rows] & ~np.isnan(people[rows])] for side, people in sides]
        samples = JudgedSamples(
            np.concatenate([side.value[one] for (side, _), one in zip(sides, both, strict=True)]),
            np.concatenate([people[one] for (_, people), one in zip(sides, both, strict=True)]),
            np.concatenate([comparison.pairs.cluster[one] for one in both]),
            cluster_keys(comparison.pairs.cluster_names),
        )
        confidence = 1 - (1 - comparison.settings.confidence) / family
        level = Level(confidence, comparison.settings)
        return measure_judge(self.measure, samples, comparison.metrics[self.metric].range, level)
