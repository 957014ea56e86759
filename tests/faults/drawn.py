"""What the tests of fault kinds draw from, and two runs made of columns.

Values lie on a grid of eighths, which doubles hold exactly, so that equal means equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck
from hypothesis import strategies as st

from gateline.samples import Run
from runs import make_run
from tries import make_tries

QUICK = {"statistics": "{resamples: 1000}"}
"""Parts of a policy for tests in which the number of draws plays no part."""
EIGHTHS = st.integers(0, 8).map(lambda number: number / 8)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)


tries = make_tries(HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture)


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
