"""One reduced run as rules ask for it: the sums of a metric in a slice, its sketch, what is missing.

It reads the columns of one file. It compares nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateline.metric import Metric
from gateline.reduction.expressions import FRACTION, edges_of_bin
from gateline.reduction.file import Reduced
from gateline.reduction.groups import GroupSums
from gateline.reduction.plan import Plan
from gateline.reduction.records import CAUSES, LOST_UNIT
from gateline.reduction.sketches import Sketch

Rows = NDArray[np.int64]

_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass
class ReducedSide:
    """One run, whose tables are sound (`soundness.refuse_unsound`)."""

    reduced: Reduced
    plan: Plan
    _sums: dict[tuple[str, str], GroupSums] = field(default_factory=dict)
    _sketches: dict[tuple[str, str], Sketch] = field(default_factory=dict)

    @cached_property
    def _rows(self) -> dict[str, Rows]:
        """Rows of sums by slice."""
        return {name: rows for (name,), rows in _group_rows([self.reduced.columns["place"]]).items()}

    @cached_property
    def _bins(self) -> dict[tuple[Any, ...], Rows]:
        """Rows of bins by slice and number of the metric."""
        return _group_rows([self.reduced.sketches["place"], self.reduced.sketches["sketch"]])

    @property
    def places(self) -> list[str]:
        """Return all slices that have a question."""
        return sorted(place for place in self._rows if place)

    def family(self, label: str) -> list[str]:
        """Return the slices that the values of a label make."""
        return [place for place in self.places if place.startswith(f"{label}=")]

    def rows(self, place: str | None) -> Rows:
        """Return the rows of a slice, one a group."""
        return self._rows.get(place or "", _NO_ROWS)

    def numbers(self, name: str, rows: Rows) -> list[Any]:
        """Return some numbers of a column, whole ones as whole numbers."""
        column = self.reduced.columns[name]
        return [column[row] for row in rows.tolist()]

    def count(self, name: str, place: str | None) -> int:
        """Return the sum of a column of counts over a slice."""
        return sum(value or 0 for value in self.numbers(name, self.rows(place)))

    @property
    def most_tries(self) -> int:
        """Return how often the question that was tried most often was tried."""
        return int(max(self.numbers("attempts", self.rows(None))))

    @property
    def untried_share(self) -> float:
        """Return the share of attempts that are not there of as many at each question as at the one with most."""
        return 1.0 - self.count("records", None) / (self.count("questions", None) * self.most_tries)

    def fingerprint(self, place: str | None) -> tuple[tuple[int, ...], ...]:
        """Return which questions a slice has, by group: two runs with other questions differ in it."""
        rows = self.rows(place)
        columns = [self.numbers(name, rows) for name in ("grp", "questions", "hash1", "hash2")]
        return tuple(zip(*columns, strict=True))

    def sums(self, metric: str, place: str | None) -> GroupSums:
        """Return the sums of a metric in a slice."""
        key = (metric, place or "")
        if key not in self._sums:
            self._sums[key] = self._read_sums(metric, place)
        return self._sums[key]

    def _read_sums(self, metric: str, place: str | None) -> GroupSums:
        at, rows = list(self.plan.metrics).index(metric), self.rows(place)
        least = [value for value in self.numbers(f"min{at}", rows) if value is not None]
        most = [value for value in self.numbers(f"max{at}", rows) if value is not None]
        return GroupSums(
            group=np.array(self.numbers("grp", rows), dtype=np.int64),
            used=np.array(self.numbers(f"used{at}", rows), dtype=np.float64),
            value=self._exact(f"value{at}", rows),
            weight=self._exact(f"weight{at}", rows) if self.plan.metrics[metric].ratio else None,
            least=min(least, default=math.nan),
            most=max(most, default=math.nan),
        )

    def _exact(self, name: str, rows: Rows) -> NDArray[np.float64]:
        """Return sums as the doubles nearest to them."""
        whole, rest = self.numbers(f"{name}_whole", rows), self.numbers(f"{name}_rest", rows)
        return np.array(
            [((w or 0) * FRACTION + (r or 0)) / FRACTION for w, r in zip(whole, rest, strict=True)],
            dtype=np.float64,
        )

    def sketch(self, metric: str, place: str | None) -> Sketch:
        """Return the sketch of a metric in a slice."""
        key = (metric, place or "")
        if key not in self._sketches:
            at = list(self.plan.metrics).index(metric)
            rows = self._bins.get((place or "", at), _NO_ROWS)
            groups, codes, number = (
                np.array(self.reduced.sketches[name], dtype=np.int64)[rows]
                for name in ("grp", "bin", "questions")
            )
            codes, column = np.unique(codes, return_inverse=True)
            groups, row = np.unique(groups, return_inverse=True)
            counts = np.zeros((len(groups), len(codes)))
            counts[row, column] = number
            ends = np.array([edges_of_bin(code) for code in codes.tolist()], dtype=np.float64).reshape(-1, 2)
            seen = self.sums(metric, place)
            if len(codes):  # no value lies beyond those that were seen
                ends = np.clip(ends, seen.least, seen.most)
            self._sketches[key] = Sketch(ends[:, 0], ends[:, 1], counts, groups)
        return self._sketches[key]

    def due(self, metric: str, place: str | None) -> int:
        """Return for how many questions of a slice the metric is defined."""
        return self.count(f"due{list(self.plan.metrics).index(metric)}", place)

    def lost(self, metric: str, place: str | None) -> float:
        """Return how many values are left out in a slice; of a question's attempts a part."""
        return self.count(f"lost{list(self.plan.metrics).index(metric)}", place) / LOST_UNIT

    def causes(self, metric: str, place: str | None) -> dict[int, int]:
        """Return how many questions of a slice have a missing value, or one that counts as the worst, by cause."""
        at = list(self.plan.metrics).index(metric)
        found = {code: self.count(f"cause{at}_{code}", place) for code in CAUSES}
        return {code: number for code, number in found.items() if number}

    def weighed(self, metric: str, place: str | None) -> NDArray[np.float64]:
        """Return how many questions of each group have a denominator above 0 (groups of the plan)."""
        rows = self.rows(place)
        name = f"weighed{list(self.plan.metrics).index(metric)}"
        found = np.zeros(self.plan.groups)
        found[self.numbers("grp", rows)] = self.numbers(name, rows)
        return found

    def heaviest(self, metric: str, place: str | None) -> float:
        """Return the largest denominator of a question; 1 where there is none."""
        at = list(self.plan.metrics).index(metric)
        return (
            max((value or 0.0 for value in self.numbers(f"heaviest{at}", self.rows(place))), default=0.0)
            or 1.0
        )

    def if_worst(self) -> WorstSide:
        """Return the run were every left-out value as bad as can be."""
        return WorstSide(self.reduced, self.plan)


@dataclass
class WorstSide(ReducedSide):
    """A run whose left-out values are as bad as can be: all in one row beside the groups, for plain values only."""

    def sums(self, metric: str, place: str | None) -> GroupSums:
        """Return the sums of a metric in a slice, the left-out values filled in."""
        known, lost = super().sums(metric, place), self.lost(metric, place)
        definition = self.plan.metrics[metric]
        if not lost or definition.quantile is not None:
            return known
        bad, weight = worst_of(definition), known.weight
        heaviest = self.heaviest(metric, place) if definition.ratio else 1.0
        return replace(
            known,
            group=np.append(known.group, self.plan.groups),
            used=np.append(known.used, lost),
            value=np.append(known.value, lost * bad * heaviest),
            weight=None if weight is None else np.append(weight, lost * heaviest),
        )

    def sketch(self, metric: str, place: str | None) -> Sketch:
        """Return the sketch of a metric in a slice, the left-out values past its bad end."""
        lost = self.lost(metric, place)
        way = 1.0 if self.plan.metrics[metric].better == "lower" else -1.0
        return replace(super().sketch(metric, place), beyond=way * lost)


def worst_of(metric: Metric) -> float:
    """Return the worst value of a question: infinite where the policy declares no end."""
    if metric.range is not None:
        return metric.range[0] if metric.better == "higher" else metric.range[1]
    if metric.worst is not None:
        return metric.worst
    return -math.inf if metric.better == "higher" else math.inf


def _group_rows(columns: list[list[Any]]) -> dict[tuple[Any, ...], Rows]:
    """Return the rows of each combination of values."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(zip(*columns, strict=True)):
        found.setdefault(key, []).append(row)
    return {key: np.array(rows, dtype=np.int64) for key, rows in found.items()}
