"""Can what stands in a reduced file be sums of a run at all? It names the file, the column, the row and what it breaks.

A checksum tells that a file is not what was written; this tells it of a file that somebody wrote as such. It compares
no runs and makes no number.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from gateline.metric import Metric
from gateline.reduction.checked_table import MOST, CheckedTable, Flags, Floats, Whole, show
from gateline.reduction.expressions import FRACTION, bins_of_sizes, edges_of_bin
from gateline.reduction.file import SKETCH_COLUMNS, Reduced
from gateline.reduction.plan import Plan
from gateline.reduction.records import CAUSES, LARGEST, LOST_UNIT, SMALLEST

_HASH = 1 << 32
_MOST_QUESTIONS = 1 << 30
"""Questions of a group: the sum of their hashes is a whole number of 64 bits."""
_NEAR = 1e-9
"""What adding up may lose, as a share of the size of what was added."""
_COUNTS = ("questions", "records", "repeated", "inputs", "hash1", "hash2", "hash3", "hash4")


def refuse_unsound(reduced: Reduced, plan: Plan) -> None:
    """Raise InputError where the tables can't be sums of one run under the plan.

    Counts are whole and nest (usable within expected within questions, a slice within the run, the values of a label
    add up to it); sums lie within number times the smallest and the largest value; a sketch counts the usable values.
    """
    sums = _Sums(reduced, plan)
    sums.check()
    _Bins(reduced, plan, sums).check()


class _Sums(CheckedTable):
    """The table of sums."""

    def check(self) -> None:
        """Raise InputError where it holds what no run can."""
        for column in needed_columns(self.plan):
            if column not in self.data:
                self.refuse(column, None, "is not there")
        self._check_rows()
        questions = self.whole("questions", 1, _MOST_QUESTIONS)
        self.whole("records", questions, questions * _MOST_QUESTIONS)
        self._check_attempts(questions)
        self.whole("inputs", 0, questions)
        for at in (1, 2, 3, 4):
            self.whole(f"hash{at}", 0, questions * _HASH)
        for at, name in enumerate(self.plan.metrics):
            self._check_metric(at, name, questions)
        self._check_slices()
        said, counted = self.reduced.statement.get("records"), int(self.whole("records")[self.run].sum())
        if said != counted:
            self.refuse("records", None, f"add up to {counted:,}, and the file says {show(said)} records")

    def _check_attempts(self, questions: Whole) -> None:
        """Refuse records that so many attempts at so many questions can't be."""
        records, repeated = self.whole("records"), self.whole("repeated", 0, questions)
        most = self.whole("attempts", 1, _MOST_QUESTIONS)
        fits = (records <= questions + repeated * (most - 1)) & (records >= questions + repeated)
        self.hold("records", fits, "not what the questions and their attempts add up to")
        self.hold("attempts", (most > 1) == (repeated > 0), "not what the repeated questions say")
        self.hold("attempts", most <= most[self.row_of_run], "the whole run has less in this group")

    def _check_rows(self) -> None:
        places, groups = self.texts("place"), self.whole("grp", 0, self.plan.groups - 1)
        self.rows: dict[tuple[str, int], int] = {}
        known = {"", *self.plan.named}
        labels = tuple(f"{label}=" for label in self.plan.families)
        for row, key in enumerate(zip(places, groups.tolist(), strict=True)):
            if key[0] not in known and not key[0].startswith(labels):
                self.refuse("place", row, "is a slice that the policy does not name")
            if self.rows.setdefault(key, row) != row:
                self.refuse("grp", row, f"stands there twice, first in row {self.rows[key] + 1}")
        if not any(place == "" for place in places):
            self.refuse("place", None, "has no row of the whole run")
        for row, (place, group) in enumerate(zip(places, groups.tolist(), strict=True)):
            if place and ("", group) not in self.rows:
                self.refuse("grp", row, "is a group that the whole run does not have")

    @cached_property
    def run(self) -> Whole:
        """Return the rows of the whole run."""
        return np.array([row for (place, _), row in self.rows.items() if not place], dtype=np.int64)

    @cached_property
    def row_of_run(self) -> Whole:
        """Return for each row that of its group in the whole run."""
        found = np.zeros(len(self.rows), dtype=np.int64)
        for (_, group), row in self.rows.items():
            found[row] = self.rows["", group]
        return found

    def _check_metric(self, at: int, name: str, questions: Whole) -> None:
        metric = self.plan.metrics[name]
        due = self.whole(f"due{at}", 0, questions)
        used = self.whole(f"used{at}", 0, due)
        causes = sum(self.whole(f"cause{at}_{code}", 0, due) for code in CAUSES)
        self.hold(f"due{at}", np.asarray(causes <= due), "more causes are counted than questions are asked")
        lost = self.whole(f"lost{at}", (due - used) * LOST_UNIT, due * LOST_UNIT)
        self.hold(
            f"lost{at}", np.asarray(lost <= causes * LOST_UNIT), "more values are lost than have a cause"
        )
        there = used > 0
        least, most = self.floats(f"min{at}", there), self.floats(f"max{at}", there)
        low, high = _ends_of(name, metric)
        self._check_values(f"min{at}", least[there], low, high, there)
        self._check_values(f"max{at}", most[there], low, high, there)
        with np.errstate(invalid="ignore"):
            self.hold(f"min{at}", ~(least > most), "the smallest value is above the largest")
        self._check_sum(f"value{at}", used, there, least, most)
        if metric.ratio:
            heaviest = self.floats(f"heaviest{at}", there)
            self._check_values(f"heaviest{at}", heaviest[there], 0.0, LARGEST, there)
            self._check_sum(f"weight{at}", used, there, np.where(there, 0.0, math.nan), heaviest)
            weighed = self.whole(f"weighed{at}", 0, used)
            self.hold(
                f"weighed{at}", (weighed > 0) == (heaviest > 0), "not what the largest denominator says"
            )

    def _check_values(self, column: str, values: Floats, low: float, high: float, there: Flags) -> None:
        rows = np.flatnonzero(there)
        wrong = np.flatnonzero((values < low) | (values > high))
        if len(wrong):
            row = int(rows[wrong[0]])
            self.refuse(column, row, f"must be from {low:g} to {high:g}, not {show(self.data[column][row])}")

    def _check_sum(self, name: str, used: Whole, there: Flags, least: Floats, most: Floats) -> None:
        """Refuse a sum outside number times smallest value and number times largest."""
        parts = []
        for part in ("whole", "rest"):
            column = self.optional(f"{name}_{part}", there)
            for row, value in enumerate(column):
                if value is not None and (type(value) is not int or abs(value) >= 1 << 63):
                    self.refuse(f"{name}_{part}", row, f"must be a whole number, not {show(value)}")
            parts.append([value or 0 for value in column])
        rests = np.array(parts[1], dtype=np.float64)
        within = (rests >= 0) & (rests <= used.astype(np.float64) * FRACTION)
        self.hold(f"{name}_rest", within, "each value has a rest from 0 to 1")
        total = np.array(
            [(w * FRACTION + r) / FRACTION for w, r in zip(*parts, strict=True)], dtype=np.float64
        )
        slack = used * (_NEAR * np.maximum(np.abs(least), np.abs(most)) + 2.0 / FRACTION)
        with np.errstate(invalid="ignore"):
            sound = ~((total < used * least - slack) | (total > used * most + slack))
        self.hold(f"{name}_whole", sound, "the sum lies outside number times smallest and largest value")

    def _check_slices(self) -> None:
        """Refuse a slice that holds what the whole run does not, and values of a label that don't add up to it."""
        counts = [
            name for name in needed_columns(self.plan) if name.startswith((*_COUNTS, "due", "used", "lost"))
        ]
        counts += [name for name in needed_columns(self.plan) if name.startswith("cause")]
        columns = {name: np.array(self.data[name], dtype=np.int64) for name in counts}
        for name, column in columns.items():
            self.hold(name, column <= column[self.row_of_run], "the whole run has less in this group")
        places = self.data["place"]
        for label in self.plan.families:
            rows = np.flatnonzero([place.startswith(f"{label}=") for place in places])
            for name, column in columns.items():
                total = np.zeros(len(places), dtype=np.int64)
                np.add.at(total, self.row_of_run[rows], column[rows])
                same = total == column
                same[np.setdiff1d(np.arange(len(places)), self.run)] = True
                self.hold(name, same, f"the values of {label} don't add up to it")


class _Bins(CheckedTable):
    """The table of the bins of sketches."""

    name: ClassVar[str] = "sketches"

    def __init__(self, reduced: Reduced, plan: Plan, sums: _Sums):
        super().__init__(reduced, plan)
        self._sums = sums

    @property
    def data(self) -> dict[str, list[Any]]:
        return self.reduced.sketches

    def check(self) -> None:
        """Raise InputError where the bins are not those of the usable values."""
        for column in SKETCH_COLUMNS:
            if column not in self.data:
                self.refuse(column, None, "is not there")
        metrics = list(self.plan.metrics)
        places = self.texts("place")
        numbers = self.whole("sketch", 0, max(len(metrics) - 1, 0))
        groups = self.whole("grp", 0, self.plan.groups - 1)
        codes, counts = self.whole("bin", -MOST + 1), self.whole("questions", 1)
        self._check_codes(codes)
        found: dict[tuple[str, int, int], int] = {}
        seen: set[tuple[str, int, int, int]] = set()
        columns = (places, numbers.tolist(), groups.tolist(), codes.tolist(), counts.tolist())
        for row, (place, sketch, group, code, count) in enumerate(zip(*columns, strict=True)):
            if (place, sketch, group, code) in seen:
                self.refuse("bin", row, "stands there twice")
            seen.add((place, sketch, group, code))
            self._check_bin(row, (place, group), sketch, code)
            found[place, sketch, group] = found.get((place, sketch, group), 0) + count
        for (place, group), row in self._sums.rows.items():
            for at, name in enumerate(metrics):
                if not self._is_sketched(name, place):
                    continue
                used = self._sums.data[f"used{at}"][row]
                if found.get((place, at, group), 0) != used:
                    where = f"of {name} in slice {place or 'all'}, group {group}"
                    what = (
                        f"{where} count {found.get((place, at, group), 0):,} values, and {used:,} can be used"
                    )
                    self.refuse("questions", None, what)

    def _is_sketched(self, metric: str, place: str) -> bool:
        places = self.plan.sketched.get(metric, ())
        return place in places or ("=" in place and place not in self.plan.named
                                   and place.partition("=")[0] in places)  # fmt: skip

    def _check_codes(self, codes: Whole) -> None:
        low, high = bins_of_sizes(SMALLEST, LARGEST)
        fits = (codes == 0) | ((np.abs(codes) >= low) & (np.abs(codes) <= high))
        worst = [abs(one.worst) for one in self.plan.metrics.values() if one.worst]
        for size in worst:
            start, end = bins_of_sizes(size, size)
            fits |= (np.abs(codes) >= start) & (np.abs(codes) <= end)
        self.hold("bin", fits, f"no value has this bin; sizes are from {SMALLEST:g} to {LARGEST:g}")

    def _check_bin(self, row: int, key: tuple[str, int], sketch: int, code: int) -> None:
        """Refuse a bin of a metric without sketch, of a slice that isn't there, or beyond the values that were seen."""
        if key not in self._sums.rows:
            self.refuse("grp", row, "is a slice and group without sums")
        if not self._is_sketched(list(self.plan.metrics)[sketch], key[0]):
            self.refuse("sketch", row, "is a metric and slice in which no rule looks at a percentile")
        at = self._sums.rows[key]
        least, most = (self._sums.data[f"{end}{sketch}"][at] for end in ("min", "max"))
        low, high = edges_of_bin(code)
        if least is None or high < least - _NEAR * abs(least) or low > most + _NEAR * abs(most):
            self.refuse("bin", row, "lies beyond the values that were seen")


def needed_columns(plan: Plan) -> list[str]:
    """Return the columns that a table of sums has under a plan."""
    names = ["place", "grp", "questions", "records", "attempts", "repeated", "inputs"]
    names += ["hash1", "hash2", "hash3", "hash4"]
    for at, metric in enumerate(plan.metrics.values()):
        names += [f"{one}{at}" for one in ("due", "used", "lost", "min", "max")]
        names += [f"value{at}_whole", f"value{at}_rest", *(f"cause{at}_{code}" for code in CAUSES)]
        if metric.ratio:
            names += [f"weight{at}_whole", f"weight{at}_rest", f"heaviest{at}", f"weighed{at}"]
    return names


def _ends_of(name: str, metric: Metric) -> tuple[float, float]:
    """Return the smallest and largest value (of a ratio: numerator) that a question can have."""
    measured = metric.is_cost(name) or metric.is_time(name)
    ends = [0.0 if measured else -LARGEST, LARGEST]
    if metric.range is not None and metric.ratio is None:
        ends = [*metric.range]
    if metric.worst is not None:
        ends = [min(ends[0], metric.worst), max(ends[1], metric.worst)]
    return ends[0], ends[1]
