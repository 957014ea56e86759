"""Of which answer a label of people is: told by the answer's text, by its digest, or by the digest of the run.

A label is of one answer. It reads what both files say of that, and knows no metric; what becomes of a label that is
of another answer is for `calibration`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from gateline.samples import Run

ANSWERS = ("answer", "response", "output", "actual_output", "generated_answer", "completion")
"""Names under which a record may hold the answer; the first that says something counts."""
RUN_DIGEST = "review.candidate_sha256"
"""Fact of a queue, or field of its lines: the digest of the run whose answers it asks about."""
ANSWER_DIGEST = "review.answer_sha256"
"""Field of a queue's lines: the digest of the one answer."""

Tie = Literal["tied", "untied", "elsewhere"]
"""The label is shown to be of the answer that the run holds, nothing tells, or it is of another answer."""


def read_answers(run: Run) -> list[str]:
    """Return the answer of each record (n), blanks made one; "" where there is none."""
    columns = [run.texts(name) or [] for name in ANSWERS if name in run.fields]
    if not columns:
        return [""] * len(run)
    return [
        next((" ".join(text.split()) for text in texts if text), "") for texts in zip(*columns, strict=True)
    ]


def digest_answer(text: str) -> str:
    """Return the SHA-256 of an answer, in which blanks count as one: what keeps a label's tie without the text."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Ties:
    """A file of labels beside the runs, by name, that its lines may be of."""

    labels: Run
    runs: Mapping[str, Run]

    def find_run(self) -> str | None:
        """Return the run whose answers the file is of, by its digest or its answers; None where nothing tells.

        Of two runs that hold some of its answers each, the one that holds more; of two that hold as many, the later.
        """
        digest = self.labels.provenance.get(RUN_DIGEST)
        for name, run in self.runs.items():
            if digest is not None and digest == run.sha256:
                return name
        count = {
            name: sum(self._by_answer(row, name) == "tied" for row in range(len(self.labels)))
            for name in self.runs
        }
        most = max(count.values(), default=0)
        return next((name for name in reversed(count) if count[name] == most), None) if most else None

    def tie(self, row: int, name: str, *, said: bool) -> Tie:
        """Return whether the label in a row is of the answer that the run `name` holds.

        The answer itself counts before the run's digest: a run that was scored anew is another file with the same
        answers. `said` is whether policy or file say that the label is of this run: where they don't, and nothing
        else tells, it may as well be of the other run, whose answer must then be the same.
        """
        found = self._by_answer(row, name)
        if found == "untied":
            found = self._by_digest(row, name)
        if found == "untied" and not said:
            answers = {self._answers[run].get(self.labels.ids[row], "") for run in self.runs}
            return "elsewhere" if len(answers - {""}) > 1 else "untied"
        return found

    def _by_answer(self, row: int, name: str) -> Tie:
        held = self._answers[name].get(self.labels.ids[row], "")
        if not held:
            return "untied"
        text, digest = self._texts[row], self._digests[row]
        if digest:
            return "tied" if digest == digest_answer(held) else "elsewhere"
        if text:
            return "tied" if text == held else "elsewhere"
        return "untied"

    def _by_digest(self, row: int, name: str) -> Tie:
        told = self._run_digests[row] or self.labels.provenance.get(RUN_DIGEST)
        if not told:
            return "untied"
        if told == self.runs[name].sha256:
            return "tied"
        # A queue of this candidate says nothing of lines that people have added for the baseline.
        others = {run.sha256 for other, run in self.runs.items() if other != name}
        return "untied" if name == "baseline" and told in others else "elsewhere"

    @cached_property
    def _answers(self) -> dict[str, dict[str, str]]:
        return {name: dict(zip(run.ids, read_answers(run), strict=True)) for name, run in self.runs.items()}

    @cached_property
    def _texts(self) -> list[str]:
        return read_answers(self.labels)

    @cached_property
    def _digests(self) -> list[str]:
        return self.labels.texts(ANSWER_DIGEST) or [""] * len(self.labels)

    @cached_property
    def _run_digests(self) -> list[str]:
        return self.labels.texts(RUN_DIGEST) or [""] * len(self.labels)
