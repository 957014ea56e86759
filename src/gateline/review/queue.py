"""The queue as JSON Lines: one sample a line, with what a person needs to judge it and the fields to fill in.

The judge's score is left out on purpose: who sees it tends to agree with it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from gateline.comparison import Comparison
from gateline.golden.questions import NAMES
from gateline.readers.jsonl import VERSION
from gateline.review.selection import Selection
from gateline.samples import Run
from gateline.tied_labels import ANSWER_DIGEST, ANSWERS, digest_answer, read_answers

TEXTS = {
    "question": NAMES["question"],
    "answer": ANSWERS,
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context", "context"),
    "reference_answer": NAMES["reference_answer"],
}
"""What a person reads -> the names under which a run may hold it."""


def write_queue(
    selection: Selection, comparison: Comparison, metrics: Sequence[str], facts: dict[str, object]
) -> str:
    """Return the queue; its first line tells what it was drawn from, in the form that every reader knows."""
    header = {
        "gateline": VERSION,
        "run": {**facts, "review.population": selection.population, "review.random": selection.random},
    }
    row_of = {name: row for row, name in enumerate(comparison.pairs.ids)}
    texts = _Texts(comparison)
    fields = find_fields(comparison, metrics)
    lines = [
        {
            "id": pick.id,
            "metrics": dict.fromkeys(fields),
            **texts.of(pick.id, row_of[pick.id]),
            "review": {
                "sampling": pick.sampling,
                "strata": list(pick.strata),
                "probability": pick.probability,
                "weight": 1 / pick.probability,
                **texts.digest_of(row_of[pick.id]),
            },
        }
        for pick in selection.picks
    ]
    return "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in [header, *lines])


def find_fields(comparison: Comparison, metrics: Sequence[str]) -> list[str]:
    """Return the fields of a record that hold these metrics; of a ratio its numerator and its denominator."""
    definitions = [(name, comparison.metrics[name]) for name in metrics]
    return list(
        dict.fromkeys(
            field for name, metric in definitions for field in metric.ratio or (metric.field or name,)
        )
    )


class _Texts:
    """The texts of samples: of the candidate, and of the golden set where the candidate is silent."""

    def __init__(self, comparison: Comparison):
        pairs = comparison.pairs
        self._side = pairs.sides[-1]
        self._golden = pairs.labels.golden
        self._golden_row = {name: row for row, name in enumerate(self._golden.ids)} if self._golden else {}
        self._answers = read_answers(self._side.run)

    def digest_of(self, row: int) -> dict[str, str]:
        """Return the digest of a sample's answer, which ties the label to it; nothing where the run holds none."""
        answer = self._answers[int(self._side.first[row])]
        return {ANSWER_DIGEST.removeprefix("review."): digest_answer(answer)} if answer else {}

    def of(self, name: str, row: int) -> dict[str, object]:
        """Return what there is to read of one sample; of several attempts, of the first."""
        found: dict[str, object] = {}
        golden_row = self._golden_row.get(name)
        for text, names in TEXTS.items():
            value = _find(self._side.run, int(self._side.first[row]), names)
            if value is None and self._golden is not None and golden_row is not None and text != "answer":
                value = _find(self._golden, golden_row, names)
            if value is not None:
                found[text] = value
        return found


def _find(run: Run, row: int, names: Sequence[str]) -> object:
    """Return the first text, or list of texts, that a record has under one of these names."""
    for name in names:
        column = run.fields.get(name)
        if column is None or isinstance(column, np.ndarray):
            continue
        value = column[row]
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return value
    return None
