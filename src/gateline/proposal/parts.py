"""The part of the questions in which a metric is defined, told by a label: refusals by `answerable`, and the like.

It looks at single columns and settles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gateline.field_names import says_how_made, words_of
from gateline.inspection import Inspection, LabelColumn
from gateline.pairing.marks import Flags, find_errors
from gateline.proposal.choices import MOST_SLICES, OUTCOMES, REASONS, ProposedMetric
from gateline.samples import Run

MOST_MISSING = 0.1
"""Share of values that may be missing from a metric for a policy to rest on it without a reason."""
TEXTS = frozenset({"id", "input", "prompt", "query", "question"})
"""Words of fields that hold a question itself."""
FEWEST_OUTSIDE = 5
"""Records without a value from which on a label explains them, and is no accident."""
FEWEST_OUTSIDE_EXACTLY = 2
"""The same, where the label tells each record that has a value from each that has none."""
MOSTLY = 0.5
"""Share of the values outside a part that must be missing for the metric to be defined in that part alone."""
MOST_VALUES = 5
"""Values of a label that one part may be made of."""


@dataclass(frozen=True)
class Part:
    """The questions whose label has one of some values."""

    name: str
    """Name of the slice."""
    label: str
    values: tuple[str, ...]


def find_part(metric: ProposedMetric, run: Run, found: Inspection) -> Part | None:
    """Return the part of the questions in which a score has a value, and outside which it mostly has none.

    Records with an error tell nothing of where a metric is defined. Of several labels the one counts that leaves
    fewest values outside. None where no label tells from which records the score is missing; where it is missing from
    few of them, a label has to tell exactly.
    """
    if metric.is_red_line:
        return None
    no_answer, error = find_errors(run)
    missing = np.isnan(run.numbers(metric.column.name))
    rows = np.flatnonzero(~no_answer & ~error)
    if not missing[rows].any():
        return None
    are_few = bool(missing[rows].mean() <= MOST_MISSING)
    best: tuple[float, Part] | None = None
    for label in sorted(found.labels, key=lambda label: (not label.is_slice, label.different)):
        told = _part_of(label, run, rows.tolist(), missing, exactly=are_few) if _may_define(label) else None
        if told is not None and (best is None or told[0] > best[0]):
            best = told
    return best[1] if best else None


def _may_define(label: LabelColumn) -> bool:
    if (
        words_of(label.name) & TEXTS
        or "=" in label.name
        or label.name.startswith(REASONS)
        or label.different > MOST_SLICES
    ):
        return False
    return label.is_slice or not (says_how_made(label.name) or words_of(label.name) & OUTCOMES)


def _part_of(
    label: LabelColumn, run: Run, rows: Sequence[int], missing: Flags, *, exactly: bool
) -> tuple[float, Part] | None:
    """Return the part that a label tells, after the share of the values that are missing outside it."""
    texts = run.labels(label.name) or []
    shares: dict[str, list[bool]] = {}
    for row in rows:
        for text in texts[row]:
            shares.setdefault(text, []).append(bool(missing[row]))
    values = tuple(sorted(text for text, lost in shares.items() if sum(lost) <= MOST_MISSING * len(lost)))
    outside = [bool(missing[row]) for row in rows if not set(values).intersection(texts[row])]
    if not values or len(values) > MOST_VALUES or not outside:
        return None
    share = sum(outside) / len(outside)
    is_exact = share == 1 and not any(missing[row] for row in rows if set(values).intersection(texts[row]))
    is_plain = is_exact and not exactly and len(shares) <= len(rows) / 2
    fewest = FEWEST_OUTSIDE_EXACTLY if is_plain else FEWEST_OUTSIDE
    if share < MOSTLY or len(outside) < fewest or (exactly and not is_exact):
        return None
    words = re.sub(r"[^A-Za-z0-9]+", "_", f"{label.name} {' or '.join(values)}").strip("_")
    return share, Part(words[:60] or "part", label.name, values)


def name_apart(parts: Iterable[Part | None]) -> list[Part | None]:
    """Return the parts with a name of its own for each different one."""
    names: dict[str, Part] = {}
    named: list[Part | None] = []
    for part in parts:
        renamed, number = part, 2
        while renamed is not None and part is not None and _is_taken(names.get(renamed.name), part):
            renamed, number = replace(part, name=f"{part.name}_{number}"), number + 1
        if renamed is not None:
            names[renamed.name] = renamed
        named.append(renamed)
    return named


def _is_taken(by: Part | None, part: Part) -> bool:
    return by is not None and (by.label, by.values) != (part.label, part.values)
