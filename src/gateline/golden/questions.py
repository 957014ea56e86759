"""A golden set: the questions and what is known of their right answers.

It refuses a set that contradicts itself, because every metric over it would be wrong. It scores nothing.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath

from gateline.errors import InputError, Problem
from gateline.golden import labels
from gateline.golden.labels import read_labels
from gateline.golden.notes import Note
from gateline.readers import read_run
from gateline.readers._json_lines import read_object
from gateline.readers._json_text import JsonProblemError
from gateline.readers._source import Source, without_mark
from gateline.samples import Run

NAMES = {
    "relevant": (
        "relevant",
        "relevant_chunk_ids",
        "relevant_ids",
        "relevant_doc_ids",
        "reference_context_ids",
    ),
    "required_evidence_groups": ("required_evidence_groups", "evidence_groups"),
    "required_claims": ("required_claims",),
    "forbidden_claims": ("forbidden_claims",),
    "answerable": ("answerable",),
    "reference_answer": ("reference_answer", "reference", "ground_truth", "expected_answer"),
    "question": ("question", "query", "user_input"),
    "reference_statements": ("reference_statements",),
    "answer_clusters": ("answer_clusters",),
    "answer_set": ("answer_set",),
    "reasons": ("reasons",),
    "split": ("split",),
    "source_snapshot": ("source_snapshot",),
}
"""Label -> the names under which a golden set may hold it."""
ID_FIELDS = ("id", "query_id", "question_id", "qid", "_id")
SLICES = ("query_type", "test_category", "difficulty", "risk_level", "slice_tags", "language", "expected_behavior",
          "scoring_method")  # fmt: skip
"""Fields of a golden set that are labels of slices."""


@dataclass(frozen=True)
class GoldenSet:
    """Questions with their labels; each label is None where a question has none, or where no question has any."""

    run: Run

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.run)

    @property
    def ids(self) -> list[str]:
        """Return the id of each question (n)."""
        return self.run.ids

    @cached_property
    def relevant(self) -> list[dict[str, float] | None] | None:
        """Return the grade of each judged id (n); above 0 is relevant."""
        return read_labels(self.run, NAMES["relevant"], labels.read_grades)

    @cached_property
    def evidence_groups(self) -> list[list[frozenset[str]] | None] | None:
        """Return the groups of ids of each of which one must be found (n)."""
        return read_labels(self.run, NAMES["required_evidence_groups"], labels.read_groups)

    @cached_property
    def answerable(self) -> list[bool | None] | None:
        """Return whether the corpus holds an answer (n)."""
        return read_labels(self.run, NAMES["answerable"], labels.read_truth)

    @cached_property
    def questions(self) -> list[str | None] | None:
        """Return the texts of the questions (n)."""
        return read_labels(self.run, NAMES["question"], labels.read_words)

    @cached_property
    def reference_answers(self) -> list[str | None] | None:
        """Return the texts of the reference answers (n)."""
        return read_labels(self.run, NAMES["reference_answer"], labels.read_words)

    @cached_property
    def splits(self) -> list[str | None] | None:
        """Return the split of each question (n)."""
        return read_labels(self.run, NAMES["split"], labels.read_words)

    @cached_property
    def snapshots(self) -> list[str | None] | None:
        """Return the state of the sources that each question was written for (n)."""
        return read_labels(self.run, NAMES["source_snapshot"], labels.read_words)

    def claims(self, name: str) -> list[dict[str, str] | None] | None:
        """Return claims or the like, id -> text, of each question (n); `name` is one of `NAMES`."""
        return self._claims[name]

    @cached_property
    def _claims(self) -> dict[str, list[dict[str, str] | None] | None]:
        kinds = (
            "required_claims", "forbidden_claims", "answer_clusters", "answer_set", "reasons", "reference_statements",
        )  # fmt: skip
        return {kind: read_labels(self.run, NAMES[kind], labels.read_claims) for kind in kinds}


def read_golden(path: str | PathLike[str], *, id_field: str | None = None) -> GoldenSet:
    """Return the golden set in a file or folder; an InputError where it can't be read or holds unfit labels."""
    golden = GoldenSet(read_records(path, id_field=id_field))
    if golden.run.format == "trec-run":
        raise InputError("is a run file, not a golden set", golden.run.file, "the golden set comes first")
    return golden


def read_records(path: str | PathLike[str], *, id_field: str | None = None) -> Run:
    """Read a file whose identity stands under one of `ID_FIELDS`, or under the name given."""
    return read_run(path, id_field=id_field or _find_id_field(Source(fspath(path))))


def _find_id_field(source: Source) -> str | None:
    """Return the usual name of an identity that the first record of a JSON or CSV file has."""
    if source.path.is_dir():
        return None
    begin = without_mark(source.head)
    for line in begin.split(b"\n", 2)[:2]:
        keys: set[str] = set()
        if line.startswith(b"{"):
            try:
                keys = set(read_object(line))
            except JsonProblemError:
                keys = set()
        elif not line.startswith(b"["):
            keys = {
                cell.strip(' \r"') for cell in line.decode("utf-8", "replace").replace("\t", ",").split(",")
            }
        found = [name for name in ID_FIELDS if name in keys]
        if found:
            return found[0]
    return None


def refuse_contradictions(golden: GoldenSet) -> None:
    """Raise an InputError that names each question whose labels contradict each other."""
    problems = [Problem(note.message, note.where) for note in find_contradictions(golden)]
    if problems:
        more = [Problem(f"and {len(problems) - 20} more", golden.run.file)] if len(problems) > 20 else []
        raise InputError("the golden set contradicts itself", problems=[*problems[:20], *more])


def find_contradictions(golden: GoldenSet) -> list[Note]:
    """Return what can't be true of the same question at once, with ids and lines."""
    run, notes = golden.run, []
    first: dict[str, int] = {}
    for row, name in enumerate(golden.ids):
        before = first.setdefault(name, row)
        if before != row:
            where = f", first in {run.place(before)}" if run.lines[before] else ""
            notes.append(_contradicts(f"the id '{name}' stands twice{where}", [name], run.place(row)))
    required, forbidden = golden.claims("required_claims"), golden.claims("forbidden_claims")
    for row in range(len(golden)):
        said = _contradictions_of(golden, row)
        wanted, refused = (required[row] if required else None), (forbidden[row] if forbidden else None)
        both = _common_claims(wanted or {}, refused or {})
        if both:
            said.append(f"requires and forbids the same claim: {', '.join(repr(text) for text in both[:3])}")
        name = golden.ids[row]
        notes += [_contradicts(f"'{name}' {text}", [name], run.place(row)) for text in said]
    return notes + _contradicting_twins(golden)


def _contradicts(message: str, ids: list[str], where: str) -> Note:
    return Note("error", "contradiction", message, ids, where)


def _contradictions_of(golden: GoldenSet, row: int) -> list[str]:
    if not golden.answerable or golden.answerable[row] is not False:
        return []
    said = []
    grades = golden.relevant[row] if golden.relevant else None
    found = [name for name, grade in (grades or {}).items() if grade > 0]
    if found:
        said.append(f"is unanswerable and has relevant ids: {', '.join(found[:3])}")
    groups = golden.evidence_groups[row] if golden.evidence_groups else None
    if groups:
        said.append("is unanswerable and requires evidence")
    return said


def _common_claims(required: dict[str, str], forbidden: dict[str, str]) -> list[str]:
    refused = set(forbidden) | {normalise(text) for text in forbidden.values()}
    return [text for name, text in required.items() if name in refused or normalise(text) in refused]


def _contradicting_twins(golden: GoldenSet) -> list[Note]:
    """Return equal questions of which one is answerable and the other is not."""
    if not golden.questions or not golden.answerable:
        return []
    first: dict[str, tuple[int, bool]] = {}
    notes = []
    for row, (text, answerable) in enumerate(zip(golden.questions, golden.answerable, strict=True)):
        if text is None or answerable is None or not normalise(text):
            continue
        before, known = first.setdefault(normalise(text), (row, answerable))
        if known != answerable:
            names = [golden.ids[before], golden.ids[row]]
            said = f"'{names[1]}' asks the same as '{names[0]}', and only one of them is answerable"
            notes.append(_contradicts(said, names, golden.run.place(row)))
    return notes


def normalise(text: str) -> str:
    """Return a text without case, punctuation, accents' spellings and superfluous blanks, to compare questions."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(sign if sign.isalnum() or unicodedata.category(sign)[0] == "M" else " " for sign in folded)
    return " ".join(kept.split())
