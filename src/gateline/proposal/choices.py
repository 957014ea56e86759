"""What a first policy could look at, by the names and values of columns: metrics, clusters, labels.

It settles nothing and makes no text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateline.field_names import CLUSTERS, Better, guess_unit, says_how_made, words_of
from gateline.inspection import Inspection, LabelColumn, NumberColumn
from gateline.metric import Metric
from gateline.samples import Run

FEWEST_IN_SLICE = 30
MOST_LABELS = 5
MOST_SLICES = 20
_RANK = re.compile(r"(.*?)(?:(_at_|@|_p)([0-9]+)(_[a-z]{1,3})?)?", re.DOTALL)
_USUAL_RANK = {"_at_": "10", "@": "10", "_p": "95"}
REASONS = "undefined."
"""Fields in which gateline score says why a metric has no value."""
OUTCOMES = frozenset(
    {"answer", "error", "fail", "failure", "outcome", "prediction", "reason", "response", "status"}
)
"""Words of labels that say how a question went; a slice by outcome would compare different questions."""


@dataclass(frozen=True)
class ProposedMetric:
    """A metric of the proposal."""

    name: str
    """Its name in the policy."""
    column: NumberColumn
    better: Better
    summary: str = "mean"
    is_guess: bool = False
    """Whether the field's name did not say which way is better."""

    @property
    def is_red_line(self) -> bool:
        """Say whether it is a time or a cost, which gets a limit and not a tolerance."""
        return self.column.kind in {"time", "cost"}

    @property
    def range(self) -> tuple[float, float] | None:
        """Return the range that the policy states: 0 to 1, or what the tool says; no other guess is sure enough."""
        ends = self.column.range
        return ends if ends == (0.0, 1.0) or self.column.is_stated else None

    def as_defined(self, applies_to: str | None = None) -> Metric:
        """Return the metric as the policy will define it."""
        return Metric(
            better=self.better,
            field=self.column.name if self.name != self.column.name else None,
            range=self.range,
            unit=guess_unit(self.column.name) if self.is_red_line else None,
            summary=self.summary,
            applies_to=applies_to,
        )


def list_candidates(columns: Sequence[NumberColumn]) -> list[ProposedMetric]:
    """Return what a policy could judge, the best first: scores whose direction is known, times, costs."""
    usable = [column for column in columns if column.values and not column.refused]
    usable = [column for column in usable if not column.is_diagnosis]
    scores = [column for column in usable if column.kind == "score" and column.better]
    found = _one_rank([ProposedMetric(column.name, column, column.better or "higher") for column in scores])
    taken = {column.name for column in usable}
    for kind, plain in (("time", "latency_p95"), ("cost", "cost")):
        summary = "p95" if kind == "time" else "mean"
        for column in (one for one in usable if one.kind == kind):
            name = column.name if plain in taken else plain
            found.append(ProposedMetric(name, column, "lower", summary))
            taken.add(plain)
    return found


def list_guesses(columns: Sequence[NumberColumn]) -> list[ProposedMetric]:
    """Return the numbers whose direction nothing tells, scores first, for a file that has nothing better."""
    usable = [
        column for column in columns if column.values and not column.refused and not column.is_diagnosis
    ]
    ordered = [one for kind in ("score", "number", "tokens") for one in usable if one.kind == kind]
    return [ProposedMetric(one.name, one, one.better or "higher", is_guess=not one.better) for one in ordered]


def _one_rank(metrics: Sequence[ProposedMetric]) -> list[ProposedMetric]:
    """Return of metrics that differ only in a rank or a percentile one: `ndcg_at_10`, `itl_p95_ms`, or the deepest."""
    stems: dict[str, ProposedMetric] = {}
    ranks: dict[str, float] = {}
    for metric in metrics:
        stem, at, rank, unit = _RANK.fullmatch(metric.name).groups()  # type: ignore[union-attr]
        key = f"{stem}\0{at}\0{unit}" if at else metric.name
        place = math.inf if at and rank == _USUAL_RANK[at] else int(rank or 0) * (at != "_p")
        if key not in stems or place > ranks[key]:
            stems[key], ranks[key] = metric, place
    return list(stems.values())


def choose_cluster(run: Run) -> tuple[str | None, int]:
    """Return the field that marks questions which belong together, and how many independent groups there are."""
    questions = len(set(run.ids))
    for name in CLUSTERS:
        texts = run.texts(name)
        if texts is None:
            continue
        groups = {text or f"\0{identity}" for text, identity in zip(texts, run.ids, strict=True)}
        if 1 < len(groups) < questions:
            return name, len(groups)
    return None, questions


def choose_labels(found: Inspection, cluster: str | None) -> list[LabelColumn]:
    """Return labels worth slicing by: at least two values, one of which has enough samples to be judged."""
    with_slices = any(label.is_slice for label in found.labels)
    return [
        label
        for label in found.labels
        if label.is_slice == with_slices
        and label.name != cluster
        and 2 <= label.different <= MOST_SLICES
        and any(times >= FEWEST_IN_SLICE for times in label.counts.values())
        and (label.is_slice or not (says_how_made(label.name) or words_of(label.name) & OUTCOMES))
        and label.name not in {"cached", "attempt"}
        and not label.name.startswith(REASONS)
        and "=" not in label.name  # which a policy reads as label=value
    ][:MOST_LABELS]
