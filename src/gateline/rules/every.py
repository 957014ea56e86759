"""`every`: each single sample of a slice meets the bound; the ids that don't are listed."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import model_validator

from gateline.bounds import Bound, Distance, Line, distance_text
from gateline.comparison import Comparison, Estimate
from gateline.findings import Status
from gateline.metric import Metric
from gateline.pairing import Rows
from gateline.remark import Said, said
from gateline.rules.base import ROUNDING, DecideBy, OnInconclusive, Outcome, Rule
from gateline.rules.limit import line_problems, say_line
from gateline.rules.tolerance import distance_problems, say_distance
from gateline.samples import Floats


class Every(Rule):
    """Each sample by itself: at least or at most this, or no more than this worse than the baseline."""

    deciding: ClassVar[DecideBy] = "value"
    burden: ClassVar[OnInconclusive] = "fail"
    any_number: ClassVar[bool] = True

    kind: Literal["every"] = "every"
    at_least: Line | None = None
    """No sample of the candidate may be below."""
    at_most: Line | None = None
    """No sample of the candidate may be above."""
    worse_by_at_most: Distance | None = None
    """No sample may lose more than this against the baseline."""

    @model_validator(mode="after")
    def _check_bound(self) -> Every:
        if [self.at_least, self.at_most, self.worse_by_at_most].count(None) != 2:
            raise ValueError("needs exactly one of 'at_least', 'at_most' and 'worse_by_at_most'")
        if self.decide_by == "interval":
            raise ValueError("'every' looks at single samples; leave 'decide_by' out")
        return self

    @property
    def line(self) -> Bound | None:
        """Return the fixed bound, or None for a distance from the baseline."""
        return self.at_most if self.at_least is None else self.at_least

    def problems(self, metric: Metric) -> list[tuple[str, str]]:
        """Refuse a bound that holds always or never."""
        if self.worse_by_at_most is not None:
            return distance_problems("worse_by_at_most", self.worse_by_at_most, metric)
        name = "at_least" if self.at_least else "at_most"
        return (
            line_problems(name, self.line, metric.model_copy(update={"summary": "mean"})) if self.line else []
        )

    def sentence(self, metric: Metric) -> str:
        """Return the rule as a plain sentence."""
        if self.worse_by_at_most is not None:
            distance = say_distance(self.worse_by_at_most, metric)
            return f"no sample's {self.metric} may get worse by more than {distance}"
        word = "at least" if self.at_least else "at most"
        return (
            f"every sample's {self.metric} must be {word} {say_line(self.line, metric)}" if self.line else ""
        )

    def bound_fields(self) -> dict[str, object]:
        """Return the bound as a finding shows it."""
        if self.worse_by_at_most is not None:
            return {"worse_by_at_most": distance_text(self.worse_by_at_most)}
        return {"at_least" if self.at_least else "at_most": self.line.text} if self.line else {}

    def looks_at_candidate_alone(self) -> bool:
        """Return whether the baseline plays no part."""
        return self.worse_by_at_most is None

    def judge(self, comparison: Comparison, estimate: Estimate, family: int) -> Outcome:
        """Fail where a sample misses the bound; where none does but some are unknown, nothing is settled."""
        alone = self.looks_at_candidate_alone()
        rows = comparison.rows(self.metric, estimate.slice, candidate_alone=alone)
        missed_by = self._missed_by(comparison, rows)
        failing = np.flatnonzero(missed_by > 0)
        order = failing[np.argsort(-missed_by[failing], kind="stable")]
        ids = [comparison.pairs.ids[rows[position]] for position in order]
        unknown = comparison.missing(self.metric, estimate.slice, candidate_alone=alone)
        judged, threshold = ("candidate", self.line.number) if self.line else ("gain", self._least_gain())
        status = Status.FAIL if ids else Status.PASS
        notes: list[Said] = []
        number = len(unknown) + len(comparison.lost(self.metric, estimate.slice))
        number += int(np.isnan(missed_by).sum())
        if comparison.left_out(self.metric, estimate.slice):  # some attempts at a question may be missing
            number += int((self._missed_by(comparison.if_worst(), rows) > 0).sum())
        if not ids and number:
            status = Status.FAIL if self.hard else Status.INCONCLUSIVE
            notes = [said("note.unknown-samples", count=number)]
        return Outcome(status, judged, threshold, None, notes, ids, len(ids))  # type: ignore[arg-type]

    def _least_gain(self) -> float | None:
        assert self.worse_by_at_most is not None
        numbers = [-bound.number for bound in self.worse_by_at_most if not bound.percent]
        return numbers[0] + 0.0 if numbers else None

    def _missed_by(self, comparison: Comparison, rows: Rows) -> Floats:
        """Return by how much more than rounding each sample misses the bound (rows); 0 or less where it meets it.

        NaN where a ratio's denominator is 0: what has no value can't be shown to meet a bound.
        """
        before, after = comparison.per_sample(self.metric, rows)
        if self.line is not None:
            missed = self.line.number - after if self.at_least is not None else after - self.line.number
            return missed - _find_slack(np.full_like(after, self.line.number), after)
        loss = -comparison.gains(self.metric, rows)
        assert self.worse_by_at_most is not None and before is not None
        allowed = [
            bound.number * (np.abs(before) if bound.percent else np.ones_like(before))
            for bound in self.worse_by_at_most
        ]
        return np.asarray(loss - np.maximum.reduce(allowed) - _find_slack(before, after), dtype=np.float64)


def _find_slack(one: Floats, other: Floats) -> Floats:
    """Return what rounding may do to the difference of two columns (rows): a share of the numbers, in whatever unit.

    Attempts are averaged, so that nothing but rounding can be left of numbers as large as those of other samples.
    """
    size = np.fmax(np.abs(one), np.abs(other))
    size[~np.isfinite(size)] = 0.0
    return np.asarray(1e-9 * size + ROUNDING * size.max(initial=0.0), dtype=np.float64)
