"""Two reduced runs as rules see two runs: may they be compared, and every number that a rule asks for.

It judges nothing. What stands in one file only, and what only single samples could tell, it does not know.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from gateline import statistics
from gateline.comparison import NOTHING_DIFFERS, Comparison, Estimate
from gateline.findings import Judged
from gateline.pairing import Rows
from gateline.reduction.groups import (
    GroupSums,
    independent_interval,
    pair_groups,
)
from gateline.reduction.sides import ReducedSide
from gateline.reduction.sketches import sketch_error, sketch_gain_interval, sketch_interval
from gateline.samples import Floats
from gateline.statistics import Interval, Statistic

_NOTHING = np.empty(0, dtype=np.int64)


@dataclass
class ReducedComparison(Comparison):
    """All that rules may ask about two reduced runs; questions by themselves are not known."""

    sides: tuple[ReducedSide, ...] = ()
    """Baseline and candidate; the candidate alone in a first run."""
    paired: bool = True
    _known: dict[tuple[str, str | None, bool], Estimate] = field(default_factory=dict)

    @property
    def candidate(self) -> ReducedSide:
        """Return the candidate."""
        return self.sides[-1]

    def rows(self, metric: str, place: str | None, *, candidate_alone: bool = False) -> Rows:
        """Return no pair: none is known by itself."""
        return _NOTHING

    def asked(self, metric: str, place: str | None) -> int:
        """Return how many questions of a slice should have a value of the metric.

        Of runs of other questions the larger number: a slice does not go away with the candidate's last question.
        """
        return max(side.due(metric, place) for side in (self.sides if not self.paired else self.sides[-1:]))

    def sizes(self, metric: str, place: str | None) -> list[int]:
        """Return how many questions of a slice have a usable value in each run."""
        return [round(self._size(side, metric, place)) for side in self.sides]

    def lost(self, metric: str, place: str | None) -> list[str]:
        """Return no question: both runs have the same ones."""
        return []

    def left_out(self, metric: str, place: str | None) -> float:
        """Return how many values of the candidate are left out in a slice."""
        return self.candidate.lost(metric, place)

    def with_denominator(self, metric: str, place: str | None) -> list[Floats]:
        """Return for each run how many questions of each group have a denominator above 0.

        None where the metric is no ratio, or the runs have other questions: then their groups can't be compared.
        """
        if self.metrics[metric].ratio is None or not self.paired:
            return []
        return [side.weighed(metric, place) for side in self.sides]

    def if_worst(self) -> ReducedComparison:
        """Return the comparison were every left-out value of the candidate as bad as can be."""
        sides = (*self.sides[:-1], self.candidate.if_worst())
        return ReducedComparison(
            self.pairs, self.metrics, self.settings, values_only=True, sides=sides, paired=self.paired
        )

    def estimate(self, metric: str, place: str | None, *, candidate_alone: bool = False) -> Estimate:
        """Return the metric in the slice `place`, of each run over all that can be used there."""
        key = (metric, place, candidate_alone)
        if key not in self._known:
            self._known[key] = self._sum_up(*key)
        return self._known[key]

    def _sum_up(self, metric: str, place: str | None, candidate_alone: bool) -> Estimate:
        definition, statistic = self.metrics[metric], self._statistic(self.metrics[metric])
        sums = [side.sums(metric, place) for side in self.sides]
        values = [self._value(side, metric, place, statistic) for side in self.sides]
        if not candidate_alone and (shared := self._shared_total(sums, statistic)):
            values = [shared * one.value.sum() / one.size for one in sums]
        sizes = [self._size(side, metric, place) for side in self.sides]
        samples = round(sizes[-1] if candidate_alone else min(sizes))
        groups = int(np.count_nonzero(sums[-1].used))
        if not samples:
            return Estimate(metric, place, 0, 0, None, None, None, None, None, None, None)
        size = self._rounding_size(sums, values, statistic)
        after = values[-1] if np.isfinite(values[-1]) else None
        alone = candidate_alone and any(side.lost(metric, place) for side in self.sides)
        if len(self.sides) < 2 or alone:
            return Estimate(metric, place, samples, groups, None, after, None, None, None, None, None, size)
        before = values[0] if np.isfinite(values[0]) else None
        gain = relative = None
        if (
            before is not None and after is not None
        ):  # as bad as can be may be infinite, and is no change of nothing
            gain = definition.sign * (after - before)
            if abs(gain) <= NOTHING_DIFFERS * max(abs(before), abs(after)):
                gain = 0.0
            relative = gain / abs(before) if before else None
        return Estimate(metric, place, samples, groups, before, after, gain, relative, None, None, None, size)

    def _shared_total(self, sums: list[GroupSums], statistic: Statistic) -> float:
        """Return over how many questions totals are compared where other numbers are usable in the two runs, else 0.

        A total is the mean times the number of questions: so many times each run's own mean.
        """
        differ = (
            statistic.kind == "total" and len(sums) > 1 and not np.array_equal(sums[0].used, sums[1].used)
        )
        return min(one.size for one in sums) if differ else 0.0

    def _value(self, side: ReducedSide, metric: str, place: str | None, statistic: Statistic) -> float:
        if statistic.kind == "quantile":
            return side.sketch(metric, place).quantile(statistic.share_below())
        sums = side.sums(metric, place)
        if sums.value.size and not np.isfinite(sums.value).all():
            return float(sums.value[~np.isfinite(sums.value)][0])
        return sums.summary(statistic) if sums.size else math.nan

    def _size(self, side: ReducedSide, metric: str, place: str | None) -> float:
        if self.metrics[metric].quantile is not None:
            return side.sketch(metric, place).size
        return side.sums(metric, place).size

    def _rounding_size(self, sums: list[GroupSums], values: list[float], statistic: Statistic) -> float:
        """Return at least the size of what was added up."""
        seen = [abs(end) for one in sums for end in (one.least, one.most) if math.isfinite(end)]
        if statistic.kind == "ratio":
            seen = [abs(value) for value in values if math.isfinite(value)]
        largest = max(seen, default=0.0)
        return largest * max(one.size for one in sums) if statistic.kind == "total" else largest

    def _value_interval(
        self, metric: str, place: str | None, level: float, limits: tuple[float, ...]
    ) -> Interval | None:
        definition, statistic = self.metrics[metric], self._statistic(self.metrics[metric])
        if statistic.kind == "quantile":
            sketch = self.candidate.sketch(metric, place)
            independent = self.pairs.labels.terms.samples.cluster is None
            return sketch_interval(sketch, statistic.share_below(), level=level, independent=independent)
        sums = self.candidate.sums(metric, place)
        if not sums.size:
            return None
        grouped, statistic = pair_groups(sums, sums, statistic)
        # Without a range the smallest and the largest value of a question stand for its ends.
        seen = None if definition.ratio else (sums.least, sums.most)
        return statistics.value_interval(
            grouped,
            "candidate",
            statistic,
            level=level,
            bounds=definition.range or seen,
            settings=self.settings,
            limits=limits,
        )

    def _gain_interval(
        self, metric: str, place: str | None, level: float, limits: tuple[float, ...], *, relative: bool
    ) -> Interval | None:
        definition, statistic = self.metrics[metric], self._statistic(self.metrics[metric])
        if self.estimate(metric, place).gain is None:
            return None
        if statistic.kind == "quantile":
            before, after = (side.sketch(metric, place) for side in self.sides)
            return sketch_gain_interval(
                before, after, statistic.share_below(), paired=self.paired, sign=definition.sign, relative=relative,
                level=level, settings=self.settings, limits=limits,
            )  # fmt: skip
        first, second = (side.sums(metric, place) for side in self.sides)
        if not self.paired:
            return independent_interval(
                first, second, sign=definition.sign, relative=relative, level=level, bounds=definition.range,
                settings=self.settings,
            )  # fmt: skip
        shared = 1.0 if relative else self._shared_total([first, second], statistic) or 1.0
        grouped, statistic = pair_groups(first, second, statistic)
        found = statistics.gain_interval(
            grouped, statistic, sign=definition.sign, relative=relative, level=level, width=definition.width,
            settings=self.settings, limits=[limit / shared for limit in limits],
        )  # fmt: skip
        if found is None or shared == 1.0:
            return found
        low, high = (None if end is None else end * shared for end in (found.low, found.high))
        return replace(found, low=low, high=high)

    def smallest_visible_change(
        self, metric: str, place: str | None, judged: Judged, family: int
    ) -> float | None:
        """Return the smallest change that the slice could show with 80 % power; None where it isn't estimated."""
        definition, statistic = self.metrics[metric], self._statistic(self.metrics[metric])
        known = self.estimate(metric, place).gain is not None
        if judged == "candidate" or not known or not self.paired or statistic.kind == "quantile":
            return None
        grouped, statistic = pair_groups(
            self.sides[0].sums(metric, place), self.candidate.sums(metric, place), statistic
        )
        shared = self._shared_total(
            [side.sums(metric, place) for side in self.sides], self._statistic(definition)
        )
        visible = statistics.smallest_visible_change(
            grouped, statistic, relative=judged == "relative_gain",
            level=1 - (1 - self.settings.confidence) / family, width=definition.width, settings=self.settings,
        )  # fmt: skip
        scaled = visible is not None and judged == "gain" and shared
        return visible * shared if visible is not None and scaled else visible

    def error(self, metric: str, place: str | None, judged: Judged) -> float:
        """Return how far the judged number may be off because a quantile was sketched; 0 for sums."""
        if self.metrics[metric].quantile is None:
            return 0.0
        estimate = self.estimate(metric, place)
        after = estimate.candidate or 0.0
        if judged == "candidate":
            return sketch_error(0.0, after, relative=False)
        return sketch_error(estimate.baseline or 0.0, after, relative=judged == "relative_gain")
