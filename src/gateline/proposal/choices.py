"""What a first policy should look at: which metrics, clusters, labels, and how fine a tolerance can be.

It makes no text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateline.field_names import CLUSTERS, Better, says_how_made, words_of
from gateline.inspection import Inspection, LabelColumn, NumberColumn
from gateline.proposal.yaml_words import round_up
from gateline.samples import Run

FEWEST_IN_SLICE = 30
MOST_SCORES = 12
MOST_LABELS = 5
MOST_SLICES = 20
SHOWN_AT = 2.8
"""Standard errors of a change that is found four times in five with two-sided 95 % confidence: 1.96 + 0.84."""
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


def choose_metrics(columns: Sequence[NumberColumn]) -> list[ProposedMetric]:
    """Return scores whose name tells their direction, one latency and one cost; at worst one guessed score."""
    usable = [
        column for column in columns if column.values and not column.refused and not column.is_diagnosis
    ]
    usable = [column for column in usable if column.values >= sum(column.missing.values())] or usable
    scores = [column for column in usable if column.kind == "score"]
    chosen = [ProposedMetric(column.name, column, column.better) for column in scores if column.better]
    chosen = _one_rank(chosen)[:MOST_SCORES]
    taken = {metric.name for metric in chosen}
    for column in [next((one for one in usable if one.kind == kind), None) for kind in ("time", "cost")]:
        if column is not None:
            summary = "p95" if column.kind == "time" else "mean"
            plain = "latency_p95" if column.kind == "time" else "cost"
            name = column.name if plain in taken else plain
            chosen.append(ProposedMetric(name, column, "lower", summary))
    if chosen:
        return chosen
    guessed = [column for column in usable if column.kind in {"score", "number"}][:1]
    return [ProposedMetric(column.name, column, "higher", is_guess=True) for column in guessed]


def _one_rank(metrics: Sequence[ProposedMetric]) -> list[ProposedMetric]:
    """Return of metrics that differ only in the rank they look down to (`ndcg_at_5`) the one at 10, or the first."""
    stems = {}
    for metric in metrics:
        stem, at, rank = re.fullmatch(r"(.*?)(?:(_at_|@)([0-9]+))?", metric.name, re.DOTALL).groups()  # type: ignore[union-attr]
        key = stem if at else metric.name + "\0"
        if key not in stems or rank == "10":
            stems[key] = metric
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
        and "=" not in label.name  # which a policy reads as label=value
    ][:MOST_LABELS]


def smallest_slice(labels: Sequence[LabelColumn]) -> int:
    """Return the size of the smallest slice that is large enough to be judged."""
    sizes = [times for label in labels for times in label.counts.values() if times >= FEWEST_IN_SLICE]
    return min(sizes, default=FEWEST_IN_SLICE)


def finest_tolerance(column: NumberColumn, independent: int) -> float | None:
    """Return a tolerance that `independent` questions could show to be kept; None where the values say nothing.

    The smallest detectable change is 2.8 standard errors of the difference of two means. With a correlation of
    one half between the runs, that error is sd / sqrt(n). It is rounded up to 1, 2 or 5 times a power of ten.
    """
    spread = column.deviation or 0.0
    if column.range == (0.0, 1.0) and (column.is_pass_fail or spread == 0) and column.mean is not None:
        share = (column.mean * column.values + 0.5) / (column.values + 1)  # all passed is not certainty
        spread = max(spread, math.sqrt(share * (1 - share)))
    if spread == 0:
        return None
    tolerance = round_up(SHOWN_AT * spread / math.sqrt(independent))
    return min(tolerance, column.range[1] - column.range[0]) if column.range else tolerance
