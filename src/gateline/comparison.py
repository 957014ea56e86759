"""Two paired runs as estimates: one of each metric and slice. The only place that flips signs.

A gain is how much better the candidate is, in the metric's own unit; negative is worse, for latency as for accuracy.
It holds nothing against a bound; that is for rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gateline import statistics
from gateline.calibration import PeopleLabels
from gateline.corrected import correct_estimate, correct_number
from gateline.estimate import Estimate
from gateline.findings import FoundInterval, Judged
from gateline.metric import Metric
from gateline.pairing import Pairs, Rows
from gateline.pairing.worst import assume_worst
from gateline.remark import Said, said
from gateline.samples import Floats
from gateline.statistics import Interval, Paired, Settings, Statistic

__all__ = ["NOTHING_DIFFERS", "Comparison", "Estimate"]

NOTHING_DIFFERS = 1e-12
"""Values closer than this, relative to their size, are the same."""
MOST_KEPT = 2_000_000
"""Pairs that are kept, of all metrics and slices together: with the sums of their clusters some 90 bytes each."""


@dataclass
class Comparison:
    """All that rules may ask about two runs."""

    pairs: Pairs
    metrics: dict[str, Metric]
    settings: Settings
    values_only: bool = False
    """Whether it knows no intervals: its values may be infinite."""
    plans: bool = True
    """Whether it says what a slice could show; who asks a thousand times need not."""
    people: Mapping[str, PeopleLabels] = field(default_factory=dict)
    """People's labels by metric; what is known of such a metric is corrected by them."""
    known: Comparison | None = None
    """The comparison in which left-out values are not filled in; None where none are."""
    _worst: Comparison | None = None
    _uncorrected: Comparison | None = None
    _estimates: dict[tuple[str, str | None, bool], Estimate] = field(default_factory=dict)
    _paired: dict[tuple[str, str | None, bool], Paired] = field(default_factory=dict)

    def estimate(self, metric: str, place: str | None, *, candidate_alone: bool = False) -> Estimate:
        """Return the metric in the slice `place`, over the pairs usable in both runs.

        With `candidate_alone` it is over all usable samples of the candidate, as a fixed limit needs.
        """
        key = (metric, place, candidate_alone)
        if key not in self._estimates:
            found = self._make_estimate(*key)
            self._estimates[key] = self._correct(found, candidate_alone) if metric in self.people else found
        return self._estimates[key]

    def rows(self, metric: str, place: str | None, *, candidate_alone: bool = False) -> Rows:
        """Return the pairs of a slice whose value of the metric can be used."""
        values = self.pairs.metrics[metric]
        usable = values.candidate.usable if candidate_alone else values.usable
        rows = self.pairs.labels.rows(place)
        return rows[usable[rows]]

    def missing(self, metric: str, place: str | None, *, candidate_alone: bool = False) -> Rows:
        """Return the pairs of a slice for which the metric is expected and can't be used."""
        values = self.pairs.metrics[metric]
        usable = values.candidate.usable if candidate_alone else values.usable
        rows = values.expected_in(self.pairs.labels.rows(place))
        return rows[~usable[rows]]

    def asked(self, metric: str, place: str | None) -> int:
        """Return how many questions of a slice should have a value of the metric, lost ones included."""
        values = self.pairs.metrics[metric]
        rows = values.expected_in(self.pairs.labels.rows(place))
        return len(rows) + len(self.lost(metric, place))

    def lost(self, metric: str, place: str | None) -> list[str]:
        """Return the questions of a slice that the candidate lacks and that should have a value of the metric."""
        labels, within = self.pairs.labels, self.metrics[metric].applies_to
        lost = labels.lost_in(place)
        if within is None or within == place:
            return lost
        expected, known = set(labels.lost_in(within)), set(labels.lost)
        if within not in labels.files:  # a question that only a file names has no labels: it may belong there
            expected |= {name for name in lost if name not in known}
        return [name for name in lost if name in expected]

    def left_out(self, metric: str, place: str | None) -> float:
        """Return how many values of the candidate are left out in a slice; of a question's attempts a part."""
        values = self.pairs.metrics[metric]
        rows = values.expected_in(self.pairs.labels.rows(place))
        return float(values.candidate.lost[rows].sum())

    def with_denominator(self, metric: str, place: str | None) -> list[Floats]:
        """Return for each run which pairs of a slice have a denominator above 0, as 1 or 0; none where no ratio."""
        rows, sides = self.rows(metric, place), self.pairs.metrics[metric].sides
        return [(side.weight[rows] > 0).astype(float) for side in sides if side.weight is not None]

    def if_worst(self) -> Comparison:
        """Return the comparison were every left-out value of the candidate as bad as can be."""
        if self._worst is None:
            filled = assume_worst(self.pairs, self.metrics)
            self._worst = Comparison(
                filled, self.metrics, self.settings, values_only=True, people=self.people, known=self
            )
        return self._worst

    def by_judge_alone(self) -> Comparison:
        """Return the comparison without people's labels."""
        if self._uncorrected is None:
            self._uncorrected = Comparison(
                self.pairs, self.metrics, self.settings, self.values_only, self.plans
            )
        return self._uncorrected

    def per_sample(self, metric: str, rows: Rows) -> tuple[Floats | None, Floats]:
        """Return the values of the baseline (None in a first run) and the candidate for some pairs."""
        values = self.pairs.metrics[metric]
        sides = [values.baseline, values.candidate]
        read: list[Floats | None] = []
        for side in sides:
            if side is None:
                read.append(None)
            elif side.weight is None:
                read.append(side.value[rows])
            else:
                with np.errstate(invalid="ignore", divide="ignore"):
                    read.append(np.where(side.weight[rows] > 0, side.value[rows] / side.weight[rows], np.nan))
        assert read[1] is not None
        return read[0], read[1]

    def gains(self, metric: str, rows: Rows) -> Floats:
        """Return how much better the candidate is for each of some pairs (rows); NaN where a ratio is undefined."""
        before, after = self.per_sample(metric, rows)
        if before is None:
            return np.full(len(rows), np.nan)
        gains = self.metrics[metric].sign * (after - before)
        size = np.maximum(np.abs(before), np.abs(after))
        size[np.isinf(size)] = 0.0
        return np.where(np.abs(gains) <= NOTHING_DIFFERS * size, 0.0, gains)

    def interval(
        self,
        metric: str,
        place: str | None,
        judged: Judged,
        *,
        family: int = 1,
        threshold: float | None = None,
    ) -> tuple[FoundInterval | None, list[Said]]:
        """Return the interval of the number that is judged, widened over `family` checks, and notes on its making.

        `threshold` is only used to draw more often where an end lies near it.
        """
        if self.values_only:
            return None, []
        level = 1 - (1 - self.settings.confidence) / family
        if metric in self.people:
            return self._corrected_interval(metric, place, judged, level)
        limits = () if threshold is None else (threshold,)
        if judged == "candidate":
            found = self._value_interval(metric, place, level, limits)
        else:
            relative = judged == "relative_gain"
            found = self._gain_interval(metric, place, level, limits, relative=relative)
        return (None, []) if found is None else _tell(found, judged)

    def _value_interval(
        self, metric: str, place: str | None, level: float, limits: tuple[float, ...]
    ) -> Interval | None:
        definition = self.metrics[metric]
        return statistics.value_interval(
            self._pair(metric, place, candidate_alone=True), "candidate", self._statistic(definition),
            level=level, bounds=definition.range, settings=self.settings, limits=limits,
        )  # fmt: skip

    def _gain_interval(
        self, metric: str, place: str | None, level: float, limits: tuple[float, ...], *, relative: bool
    ) -> Interval | None:
        definition = self.metrics[metric]
        return statistics.gain_interval(
            self._pair(metric, place), self._statistic(definition), sign=definition.sign, relative=relative,
            level=level, width=definition.width, settings=self.settings, limits=limits,
        )  # fmt: skip

    def smallest_visible_change(
        self, metric: str, place: str | None, judged: Judged, family: int
    ) -> float | None:
        """Return the smallest change that the slice could show with 80 % power, in the unit of the judged number."""
        estimate = self.estimate(metric, place, candidate_alone=judged == "candidate")
        if judged == "candidate" or self.pairs.first_run or estimate.samples < 2 or not self.plans:
            return None
        if metric in self.people:  # how many labels there are decides, which no formula for pairs knows
            return None
        definition = self.metrics[metric]
        return statistics.smallest_visible_change(
            self._pair(metric, place),
            self._statistic(definition),
            relative=judged == "relative_gain",
            level=1 - (1 - self.settings.confidence) / family,
            width=definition.width,
            settings=self.settings,
        )

    def _correct(self, found: Estimate, alone: bool) -> Estimate:
        if not found.samples or (self.pairs.first_run and not alone):
            return found
        name, rows = found.metric, self.rows(found.metric, found.slice, candidate_alone=alone)
        filled = np.zeros(len(rows), dtype=bool)
        if self.known is not None:
            filled = ~self.known.pairs.metrics[name].candidate.usable[rows]
        return correct_estimate(
            found, self._pair(name, found.slice, candidate_alone=alone), self.people[name].at(rows),
            self.metrics[name], self.settings, alone=alone, filled=filled,
        )  # fmt: skip

    def _corrected_interval(
        self, metric: str, place: str | None, judged: Judged, level: float
    ) -> tuple[FoundInterval | None, list[Said]]:
        """Return the prediction-powered interval; none for a share of the baseline, which policies can't ask for."""
        alone = judged == "candidate"
        if judged == "relative_gain":
            return None, []
        corrected = correct_number(
            self._pair(metric, place, candidate_alone=alone),
            self.people[metric].at(self.rows(metric, place, candidate_alone=alone)),
            self.metrics[metric], self.settings, place=place, alone=alone, level=level,
        )  # fmt: skip
        found, notes = (None, []) if corrected is None else corrected.interval()
        return (None, notes) if found is None else _tell(found, judged)

    def _statistic(self, metric: Metric) -> Statistic:
        if metric.ratio:
            return Statistic("ratio")
        if metric.quantile is not None:
            return Statistic("quantile", metric.quantile)
        return Statistic("total" if metric.summary == "total" else "mean")

    @cached_property
    def clusters(self) -> tuple[Rows, npt.NDArray[np.uint64]]:
        """The cluster of each pair (n) as a position among the keys, and the keys: made where something is drawn."""
        keys, place = statistics.order_clusters(self.pairs.cluster_names)
        return place[self.pairs.cluster], keys

    def _pair(self, metric: str, place: str | None, *, candidate_alone: bool = False) -> Paired:
        key = (metric, place, candidate_alone)
        if key in self._paired:
            return self._paired[key]
        values = self.pairs.metrics[metric]
        rows = self.rows(metric, place, candidate_alone=candidate_alone)
        before = values.candidate if candidate_alone or values.baseline is None else values.baseline
        cluster, keys = self.clusters
        paired = Paired(
            baseline=before.value[rows],
            candidate=values.candidate.value[rows],
            baseline_weight=None if before.weight is None else before.weight[rows],
            candidate_weight=None if values.candidate.weight is None else values.candidate.weight[rows],
            cluster=cluster[rows],
            keys=keys,
        )
        self._paired[key] = paired
        while len(self._paired) > 1 and sum(map(len, self._paired.values())) > MOST_KEPT:
            del self._paired[next(iter(self._paired))]
        return paired

    def _make_estimate(self, metric: str, place: str | None, candidate_alone: bool) -> Estimate:
        definition = self.metrics[metric]
        rows = self.rows(metric, place, candidate_alone=candidate_alone)
        clusters = int(np.count_nonzero(np.bincount(self.pairs.cluster[rows])))
        if not len(rows):
            return Estimate(metric, place, 0, 0, None, None, None, None, None, None, None)
        values, statistic = self.pairs.metrics[metric], self._statistic(definition)
        candidate = statistics.evaluate(
            values.candidate.value[rows], _at(values.candidate.weight, rows), statistic
        )
        candidate_value = candidate if np.isfinite(candidate) else None
        sides = (
            [values.candidate]
            if candidate_alone or values.baseline is None
            else [values.candidate, values.baseline]
        )
        size = max(
            statistics.evaluate(np.abs(side.value[rows]), _at(side.weight, rows), statistic) for side in sides
        )
        size = size if np.isfinite(size) else 0.0
        if values.baseline is None or not values.baseline.usable[rows].all():
            return Estimate(
                metric, place, len(rows), clusters, None, candidate_value, None, None, None, None, None, size
            )
        baseline = statistics.evaluate(
            values.baseline.value[rows], _at(values.baseline.weight, rows), statistic
        )
        gain = definition.sign * (candidate - baseline)
        if abs(gain) <= NOTHING_DIFFERS * max(abs(baseline), abs(candidate)):
            gain = 0.0
        gains = self.gains(metric, rows)
        better, worse = int((gains > 0).sum()), int((gains < 0).sum())
        defined = bool(np.isfinite(baseline) and np.isfinite(candidate))
        return Estimate(
            metric,
            place,
            len(rows),
            clusters,
            baseline=baseline if np.isfinite(baseline) else None,
            candidate=candidate_value,
            gain=gain if defined else None,
            relative_gain=gain / abs(baseline) if defined and baseline != 0 else None,
            better=better,
            worse=worse,
            same=len(rows) - better - worse,
            size=size,
        )


def _at(column: Floats | None, rows: Rows) -> Floats | None:
    return None if column is None else column[rows]


def _tell(interval: Interval, judged: Judged) -> tuple[FoundInterval, list[Said]]:
    """Return an interval as a finding has it, and the notes on its making."""
    found = FoundInterval(
        of=judged,
        low=interval.low,
        high=interval.high,
        level=interval.level,
        method=interval.method,
        resamples=interval.resamples,
    )
    return found, [said(note.key, **note.values) for note in interval.notes]
