"""What the tests of fault kinds draw from, and two runs made of columns.

Values lie on a grid of eighths, which doubles hold exactly, so that equal means equal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from gateline.samples import Run
from runs import make_run

EXAMPLES = int(os.environ.get("GATELINE_PROPERTY_EXAMPLES", "0"))
"""How many examples each property tries; 0 leaves the short default."""
QUICK = {"statistics": "{resamples: 1000}"}
"""Parts of a policy for tests in which the number of draws plays no part."""
EIGHTHS = st.integers(0, 8).map(lambda number: number / 8)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)


def tries(few: int) -> Callable[[Any], Any]:
    """Return the settings of a property: `few` examples, always the same, or what the environment asks for."""
    return settings(
        max_examples=EXAMPLES or few,
        deadline=None,
        derandomize=not EXAMPLES,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
        print_blob=False,
    )  # fmt: skip


def make_side(scores: Sequence[Any], file: str, **columns: Sequence[Any]) -> Run:
    """Return a run of the questions q0, q1 … with these scores and other fields; None leaves a field out."""
    names = columns.pop("id", [f"q{number}" for number in range(len(scores))])
    labels = columns.pop("slices", [{}] * len(scores))
    side = []
    for row, score in enumerate(scores):
        record = {"id": names[row], "slices": dict(labels[row]), "metrics": {"score": score}}
        record |= {name: values[row] for name, values in columns.items() if values[row] is not None}
        side.append(record)
    return make_run(side, file)


def make_both(before: Sequence[Any], after: Sequence[Any], **columns: Sequence[Any]) -> tuple[Run, Run]:
    """Return two runs of the same questions, with the same other fields and other answers.

    By their answers even runs with equal scores are two runs, and not one that was handed in twice.
    """
    sides = ("old", before), ("new", after)
    old, new = (
        make_side(scores, f"{name}.jsonl", answer=[name] * len(scores), **columns) for name, scores in sides
    )
    return old, new
