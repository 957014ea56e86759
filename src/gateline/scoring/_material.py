"""The questions of a golden set joined with what a system put out for them: the rows that metrics are computed on.

A question without an output stays, as one for which nothing was retrieved. Nothing here knows a metric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, Problem, name_some
from gateline.golden.labels import read_labels
from gateline.golden.questions import NAMES, GoldenSet
from gateline.samples import Run

T = TypeVar("T")
Rows = npt.NDArray[np.int64]

OUTPUTS = {
    "retrieved": ("retrieved", "retrieved_ids", "retrieved_chunk_ids", "retrieved_doc_ids"),
    "contexts": ("contexts", "context_ids", "final_context_ids", "sent_context_ids"),
    "statements": ("statements", "answer_statements", "claims"),
    "reference_statements": ("reference_statements",),
    "citations": ("citations",),
    "covered_claims": ("covered_claims",),
    "stated_forbidden_claims": ("stated_forbidden_claims",),
    "covered_clusters": ("covered_clusters",),
    "covered_answers": ("covered_answers",),
    "covered_reasons": ("covered_reasons",),
    "refused": ("refused", "is_refusal", "abstained"),
    "similarity": ("similarity", "answer_similarity"),
    "factual": ("factual",),
}
"""What an output may hold -> the names under which it may stand."""

LABELS_OF_METRICS = (
    "relevant", "required_evidence_groups", "required_claims", "forbidden_claims", "answerable",
    "reference_statements", "answer_clusters", "answer_set", "reasons",
)  # fmt: skip
"""Labels of a golden set that metrics are computed from."""


@dataclass(frozen=True)
class Material:
    """Records: each attempt at each question, and each question without any."""

    golden: GoldenSet
    outputs: Run
    question: Rows
    """Row of each record in the golden set (n)."""
    output: Rows
    """Row of each record among the outputs (n); -1 where there is none."""
    unasked: list[str]
    """Ids of outputs that the golden set doesn't have; they are left out."""
    _kept: dict[str, object] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.question)

    @property
    def ids(self) -> list[str]:
        """Return the id of each record (n)."""
        return [self.golden.ids[row] for row in self.question.tolist()]

    @property
    def has_output(self) -> npt.NDArray[np.bool_]:
        """Return which records have an output (n)."""
        return self.output >= 0

    def of_question(self, values: Sequence[T | None] | None) -> list[T | None]:
        """Return a golden set's label of each record (n); None throughout where the set doesn't have it."""
        if values is None:
            return [None] * len(self)
        return [values[row] for row in self.question.tolist()]

    def of_output(self, name: str, read: Callable[[object], T]) -> list[T | None] | None:
        """Return what the outputs hold under one of the names of `name` (n); None where no output has it."""
        values = read_labels(self.outputs, OUTPUTS[name], read)
        if values is None:
            return None
        return [None if row < 0 else values[row] for row in self.output.tolist()]

    def keep(self, name: str, make: Callable[[], T]) -> T:
        """Return what several metrics need, made once."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]  # type: ignore[return-value]

    def refuse(self, row: int, message: str) -> InputError:
        """Return the error that an output of a record can't be what it says."""
        return InputError(f"'{self.ids[row]}' {message}", self.outputs.place(int(self.output[row])))


def join(golden: GoldenSet, outputs: Run) -> Material:
    """Join on id, in the order of the golden set; attempts in the order of the outputs.

    Raises InputError where no question is common, or an id stands twice and nothing tells the attempts apart.
    """
    if outputs.format in ("trec-qrels", "beir"):
        raise InputError("is a set of labels, not of outputs", outputs.file, "the golden set comes first")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(outputs.ids):
        rows.setdefault(name, []).append(row)
    repeated = [name for name, found in rows.items() if len(found) > 1]
    if repeated and outputs.find_label("attempt") is None:
        _refuse_repeats(outputs, rows, repeated)
    asked = dict.fromkeys(golden.ids)
    if rows.keys().isdisjoint(asked):
        raise InputError(
            f"no output belongs to a question of {golden.run.file}",
            outputs.file,
            f"the golden set has {name_some(asked, 3)}; the outputs have {name_some(rows, 3)}",
        )
    question, output = [], []
    for row, name in enumerate(golden.ids):
        found = rows.get(name, [-1])
        question += [row] * len(found)
        output += found
    unasked = [name for name in rows if name not in asked]
    return Material(golden, outputs, np.array(question, np.int64), np.array(output, np.int64), unasked)


def find_absent(material: Material) -> dict[str, list[str]]:
    """Return the labels that no record has, by the usual name: of the golden set, and of the outputs."""
    asked = {name: NAMES[name] for name in LABELS_OF_METRICS}
    return {
        "golden set": [name for name, names in asked.items() if not _is_held(material.golden.run, names)],
        "outputs": [name for name, names in OUTPUTS.items() if not _is_held(material.outputs, names)],
    }


def _is_held(run: Run, names: Sequence[str]) -> bool:
    """Return whether some record has a label under one of its names, be it an object."""
    columns = [
        column
        for section in (run.slices, run.fields, run.metrics)
        for name, column in section.items()
        if name in names or name.partition(".")[0] in names
    ]
    return any(
        bool((~np.isnan(column)).any())
        if isinstance(column, np.ndarray)
        else any(one is not None for one in column)
        for column in columns
    )


def _refuse_repeats(outputs: Run, rows: dict[str, list[int]], repeated: list[str]) -> None:
    problems = []
    for name in repeated[:5]:
        lines = ", ".join(str(int(outputs.lines[row])) for row in rows[name][:5])
        problems.append(
            Problem(f"the id '{name}' stands {len(rows[name])} times, in lines {lines}", outputs.file)
        )
    if len(repeated) > 5:
        problems.append(Problem(f"likewise {name_some(repeated[5:], 10)}", outputs.file))
    hint = "number attempts at one question in the field 'attempt'"
    problems[-1] = Problem(problems[-1].message, outputs.file, hint)
    raise InputError("an id stands for several outputs", problems=problems)
