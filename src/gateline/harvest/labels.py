"""Text and reference labels of questions, so that a regression set can be evaluated again without its origin.

They come from a golden set, or from the run that was judged. Scores are never taken: they belong to a run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath

from gateline.convert import write_jsonl
from gateline.errors import InputError, count_of, name_some
from gateline.golden import GoldenSet, read_golden, refuse_contradictions
from gateline.golden.questions import ID_FIELDS, NAMES, SLICES
from gateline.readers import read_run
from gateline.readers._json_lines import read_object
from gateline.readers._source import Source, without_mark
from gateline.samples import Run
from gateline.verdict import Verdict

File = str | PathLike[str]
Record = dict[str, object]

AS_LINES = frozenset({"jsonl", "gateline-jsonl"})
"""Formats whose records stand on the line that a run names."""
OF_A_RUN = frozenset({"metrics", "error", "attempt", "gateline", "seen"})
"""Parts of a record that belong to a run, not to its question."""
ONE_NAME = {name: label for label, names in NAMES.items() for name in names}
"""Name of a label -> the one it has in the set: a golden set with two names of one label would be refused."""
REFERENCES = frozenset(name for names in NAMES.values() for name in names) | {*SLICES, "slices"}
"""What a run's record may say of its question."""


@dataclass
class Labels:
    """What is known of questions."""

    records: dict[str, Record] = field(default_factory=dict)
    """Fields by id, without the id."""
    notices: list[str] = field(default_factory=list)

    def of(self, name: str) -> Record:
        """Return the fields of a question; none where nothing is known."""
        return self.records.get(name, {})


def find_question(record: Mapping[str, object]) -> str | None:
    """Return the text of a question under one of its usual names; None where there is none."""
    for name in NAMES["question"]:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return None


def questions(number: int) -> str:
    """Return a number of questions in words."""
    return count_of(number, "question", "questions")


def read_labels(verdict: Verdict, wanted: set[str], *, golden: File | None, candidate: File | None) -> Labels:
    """Return the fields of the wanted questions: of the golden set, else of the run, else the verdict's texts.

    Raises InputError where a file can't be read, where the golden set contradicts itself, where the run is not the
    one that was judged, and where golden set and run have different questions under one id.
    """
    labels = Labels()
    if golden is not None:
        _add_golden(labels, read_golden(golden), wanted)
    if candidate is not None:
        _add_run(labels, read_run(candidate), verdict, wanted)
    for losses in verdict.losses:
        for sample in losses.samples:
            if sample.id in wanted and sample.question and find_question(labels.of(sample.id)) is None:
                labels.records[sample.id] = {"question": sample.question, **labels.of(sample.id)}
    return labels


def _add_golden(labels: Labels, golden: GoldenSet, wanted: set[str]) -> None:
    refuse_contradictions(golden)
    run = golden.run
    rows = {name: row for row, name in enumerate(run.ids) if name in wanted}
    for name, record in _records(run, rows).items():
        labels.records[name] = {
            key: value
            for key, value in record.items()
            if key not in OF_A_RUN and key not in (run.id_field, "id")
        }
    missing = sorted(wanted - rows.keys())
    if missing:
        shown = name_some([f"'{name}'" for name in missing])
        labels.notices.append(f"not in the golden set {run.file}: {questions(len(missing))}, {shown}")


def _add_run(labels: Labels, run: Run, verdict: Verdict, wanted: set[str]) -> None:
    judged = verdict.candidate.sha256 if verdict.candidate else None
    if run.sha256 != judged:
        raise InputError(
            f"is not the candidate that was judged: its sha256 begins {run.sha256[:12]}, the verdict says "
            f"{str(judged)[:12]}",
            run.file,
            "give the file that the verdict was made of",
        )
    rows: dict[str, int] = {}
    for row, name in enumerate(run.ids):
        if name in wanted:
            rows.setdefault(name, row)
    for name, record in _records(run, rows).items():
        known = labels.of(name)
        said = {key: value for key, value in record.items() if key in REFERENCES and key not in ID_FIELDS}
        before, now = find_question(known), find_question(said)
        if before is not None and now is not None and before.strip() != now.strip():
            raise InputError(
                f"the id '{name}' is another question in the golden set than in the run",
                run.place(rows[name]),
                "an id must stand for one question",
            )
        labels.records[name] = {**known, **{key: value for key, value in said.items() if key not in known}}


def _records(run: Run, rows: Mapping[str, int]) -> dict[str, Record]:
    """Return records as they stand in a file of JSON Lines, of other formats as `convert` writes them."""
    if run.format in AS_LINES and not run.origins:
        lines = without_mark(Source(fspath(run.file)).data).split(b"\n")
        return {name: _plain(read_object(lines[int(run.lines[row]) - 1])) for name, row in rows.items()}
    by_row = {row: name for name, row in rows.items()}
    written = write_jsonl(run)
    next(written)  # the header
    return {by_row[row]: _plain(json.loads(line)) for row, line in enumerate(written) if row in by_row}


def _plain(record: Record) -> Record:
    """Return a record with one name for each label, without what is not there, NaN and infinite numbers among that."""
    plain: Record = {}
    for key, value in record.items():
        kept = _strict(value)
        if kept is not None:
            plain.setdefault(ONE_NAME.get(key, key), kept)
    if find_question(plain) is None and isinstance(
        plain.get("text"), str
    ):  # as queries stand in BEIR's layout
        return {"question" if key == "text" else key: value for key, value in plain.items()}
    return plain


def _strict(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    return value
