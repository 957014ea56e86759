"""What says again what another says: metrics of the same values, a tool's own pass beside its parts, labels.

It looks at values and judges nothing; what it leaves out is told with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from gateline.inspection import LabelColumn
from gateline.proposal.choices import ProposedMetric
from gateline.samples import Floats, Run

PREFERRED = ("recall", "ndcg", "mrr", "rr", "map")
"""First words of the metrics that stand for others of the same values, the best first."""
DERIVED = frozenset({"pass", "passed", "success"})
"""Names under which tools say whether all parts of a test were good."""
SCORES_DECIDE = frozenset({"promptfoo", "deepeval"})
"""Formats of tools that make that outcome of a test's scores. Elsewhere it may follow from them in one run and not in
the next: a test of pytest fails by any line of it, and a gate on its scores alone would let that pass."""


def drop_redundant(
    metrics: Sequence[ProposedMetric], run: Run, refused: dict[str, str]
) -> list[ProposedMetric]:
    """Return the metrics without those that tell nothing beyond others; the reasons are added to `refused`."""
    order = sorted(range(len(metrics)), key=lambda place: (_preference(metrics[place].name), place))
    kept: dict[int, Floats] = {}
    for place in order:
        values = run.numbers(metrics[place].column.name)
        twin = next(
            (
                metrics[other].name
                for other, known in kept.items()
                if metrics[other].better == metrics[place].better
                and metrics[other].summary == metrics[place].summary
                and np.array_equal(known, values, equal_nan=True)
            ),
            None,
        )
        if twin is None:
            kept[place] = values
        else:
            refused[metrics[place].column.name] = f"the same values as {twin} in all samples"
    left = [metrics[place] for place in sorted(kept)]
    parts = [one for one in left if not one.is_red_line and one.name.lower() not in DERIVED]
    derived = DERIVED if run.format in SCORES_DECIDE else frozenset[str]()
    told = {one.name for one in left if one.name.lower() in derived and _follows(one, parts, run)}
    for one in left:
        if one.name in told:
            refused[one.column.name] = (
                "it follows from the other scores: where one of them is too low, it fails"
            )
    return [one for one in left if one.name not in told]


def _preference(name: str) -> int:
    first = re.split("[^a-z]", name.lower(), maxsplit=1)[0]
    return PREFERRED.index(first) if first in PREFERRED else len(PREFERRED)


def _follows(whole: ProposedMetric, parts: Sequence[ProposedMetric], run: Run) -> bool:
    """Say whether each sample that fails has a part worse than that of every sample that passes, and some do fail."""
    values = run.numbers(whole.column.name)
    passed = values == np.nanmax(values)
    failed = ~passed & ~np.isnan(values)
    if not parts or not passed.any() or not failed.any():
        return False
    explained = np.zeros(len(values), dtype=bool)
    for part in parts:
        sign = 1.0 if part.better == "higher" else -1.0
        signed = sign * run.numbers(part.column.name)
        good = signed[passed & ~np.isnan(signed)]
        if len(good):
            explained |= signed < good.min()
    return bool(explained[failed].all())


def drop_repeated_labels(labels: Sequence[LabelColumn], run: Run) -> list[LabelColumn]:
    """Return the labels without those that divide the samples just as an earlier one does."""
    seen: set[tuple[int, ...]] = set()
    kept = []
    for label in labels:
        numbers: dict[tuple[str, ...], int] = {}
        texts = run.labels(label.name) or []
        division = tuple(numbers.setdefault(tuple(sorted(text)), len(numbers)) for text in texts)
        if division not in seen:
            seen.add(division)
            kept.append(label)
    return kept
