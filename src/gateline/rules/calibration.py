"""`calibration`: the judge of a metric is held against people, so that a judge nobody can trust gives no verdict.

Each run by itself: a judge who is right about one system may be wrong about the other, and the worse of both decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import model_validator

from gateline.bounds import Bound, Line
from gateline.calibration import RunName
from gateline.comparison import Comparison, Estimate
from gateline.corrected import find_lack
from gateline.errors import NotComparable
from gateline.findings import Finding, FoundInterval, Measure, Status
from gateline.metric import Metric
from gateline.remark import Said, said
from gateline.rules.base import OnInconclusive, Outcome, Rule, hold

if TYPE_CHECKING:
    from gateline.audit.measures import Measured
    from gateline.pairing import SideValues
    from gateline.statistics.prediction_powered import JudgedSamples

_RANGES = {"kappa": (-1.0, 1.0), "separation": (-1.0, 1.0)}
_NO_PERCENT = ("kappa", "bias", "separation")


_ORDER = {Status.PASS: 0, Status.INCONCLUSIVE: 1, Status.FAIL: 2}


@dataclass(frozen=True)
class _JudgeOfRun:
    """What was measured of the judge in one run."""

    run: RunName
    found: Measured
    lack: Said | None
    """What people's labels of this run lack to count."""

    def interval(self, level: float) -> FoundInterval | None:
        """Return the interval as a finding has it."""
        if self.found.low is None or self.found.high is None:
            return None
        return FoundInterval(
            of="candidate", low=self.found.low, high=self.found.high, level=level, method="bayesian",
            resamples=None,
        )  # fmt: skip


@dataclass
class _MeasuredOutcome(Outcome):
    """An outcome with what was measured of the judge in the run where that is worse."""

    measured: _JudgeOfRun | None = None


class Calibration(Rule):
    """The judge agrees with people: agreement, kappa, bias or an error rate at least or at most this."""

    burden: ClassVar[OnInconclusive] = "fail"
    any_number: ClassVar[bool] = True

    kind: Literal["calibration"] = "calibration"
    measure: Measure
    """What is measured in each run over the labels that people gave by chance; bias counts without its sign."""
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
        judges = self._measure(comparison, estimate.slice, family)
        if not judges:  # copies of runs, as doctor makes them, have no labels
            return Outcome(Status.SKIPPED, "candidate", None, notes=[said("note.no-people")])
        held = [(self._hold(judge, comparison, family), judge) for judge in judges]
        status, worst = max(held, key=lambda one: (_ORDER[one[0]], self._shortfall(one[1])))
        blocks = status is Status.FAIL or (status is Status.INCONCLUSIVE and self.if_inconclusive == "fail")
        if blocks and self.otherwise == "no_verdict":
            raise self._refuse(comparison, estimate.slice, worst)
        interval = worst.interval(self._level(comparison, family))
        return _MeasuredOutcome(
            status, "candidate", self.bound.number, interval, _notes(judges, worst, comparison), measured=worst,
        )  # fmt: skip

    def _level(self, comparison: Comparison, family: int) -> float:
        return 1 - (1 - comparison.settings.confidence) / family

    def _hold(self, judge: _JudgeOfRun, comparison: Comparison, family: int) -> Status:
        """Hold what was measured in one run against the bound; labels that don't count settle nothing."""
        if judge.lack is not None:
            return Status.INCONCLUSIVE
        interval = judge.interval(self._level(comparison, family))
        above = self.at_least is not None
        return hold(
            judge.found.value, interval, self.bound.number, above=above, decide_by=self.decides_by, size=1.0
        )

    def _shortfall(self, judge: _JudgeOfRun) -> float:
        """Return how far a run misses the bound; the most where nothing could be measured."""
        if judge.found.value is None:
            return float("inf")
        missed = self.bound.number - judge.found.value
        return missed if self.at_least is not None else -missed

    def _tell(self, comparison: Comparison, estimate: Estimate, outcome: Outcome, family: int) -> Finding:
        finding = super()._tell(comparison, estimate, outcome, family)
        measured = outcome.measured if isinstance(outcome, _MeasuredOutcome) else None
        found = None if measured is None else measured.found
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

    def _refuse(self, comparison: Comparison, place: str | None, judge: _JudgeOfRun) -> NotComparable:
        found = judge.found
        text = "unknown" if found.value is None else f"{found.value:.3g}"
        if found.low is not None and found.high is not None:
            text += f" ({found.low:.3g} … {found.high:.3g})"
        told: dict[str, str | int] = {
            "rule": self.id,
            "measure": self.measure,
            "metric": self.metric if place is None else f"{self.metric} · {place}",
            "value": text,
            "bound": f"{'≥' if self.at_least else '≤'} {self.bound}",
            "count": found.samples,
            "run": said(f"word.{judge.run}"),
        }
        message = said("problem.judge-not-calibrated", **told)
        if judge.lack is not None:
            message = said("problem.judge-not-measured", **told, reason=judge.lack)
        side = comparison.pairs.sides[0 if judge.run == "baseline" else -1]
        return NotComparable(message, side.run.file, said("hint.judge-not-calibrated"))

    def _measure(self, comparison: Comparison, place: str | None, family: int) -> list[_JudgeOfRun]:
        """Return what is measured in the candidate, and in a baseline of which there are labels; none at hand: none."""
        labels = comparison.people.get(self.metric)
        if labels is None:
            return []
        # Only a policy with such a rule waits for all that this takes.
        from gateline.statistics.prediction_powered import JudgedSamples

        pairs = comparison.pairs
        values, rows = pairs.metrics[self.metric], pairs.labels.rows(place)
        runs: list[tuple[RunName, SideValues | None]] = [
            ("baseline", values.baseline), ("candidate", values.candidate),
        ]  # fmt: skip
        judges = []
        for run, side in runs:
            if side is None:
                continue
            some = rows[side.usable[rows]]
            people = labels.at(some)
            human, away = people.of_run(run)
            if run == "baseline" and np.isnan(human).all() and not away.any():
                continue
            cluster, keys = comparison.clusters
            judged = JudgedSamples(side.value[some], human, cluster[some], keys)
            lack = find_lack(
                judged, away, people, comparison.metrics[self.metric].range, comparison.settings, place
            )
            found, basis = self._measure_run(judged, comparison, family)
            if lack is None and self.decides_by == "value" and basis < people.at_least:
                lack = said("note.too-few-for-value", count=basis, least=str(people.at_least))
            judges.append(_JudgeOfRun(run, found, lack))
        return judges

    def _measure_run(
        self, judged: JudgedSamples, comparison: Comparison, family: int
    ) -> tuple[Measured, int]:
        """Return what is measured over the labelled samples of one run, and how many labels that rests on."""
        from gateline.audit.measures import Level, count_basis, measure_judge

        known = judged.has_label
        labelled = replace(
            judged, judge=judged.judge[known], human=judged.human[known], cluster=judged.cluster[known]
        )
        level = Level(self._level(comparison, family), comparison.settings)
        found = measure_judge(self.measure, labelled, comparison.metrics[self.metric].range, level)
        return found, count_basis(self.measure, labelled)


def _notes(judges: list[_JudgeOfRun], worst: _JudgeOfRun, comparison: Comparison) -> list[Said]:
    """Return what was measured in each run, and why what decides could not be measured."""
    notes = [worst.lack] if worst.lack is not None else []
    if worst.found.reason:
        notes.append(said("note.not-measurable", reason=worst.found.reason))
    if len(judges) == 2:
        values = [f"{one.found.value:.3g}" if one.found.value is not None else "—" for one in judges]
        counts = [str(one.found.samples) for one in judges]
        notes.append(
            said(
                "note.judge-by-run",
                baseline=values[0],
                before=counts[0],
                candidate=values[1],
                after=counts[1],
            )
        )
    elif not comparison.pairs.first_run:
        notes.append(said("note.no-labels-of-baseline"))
    return notes
