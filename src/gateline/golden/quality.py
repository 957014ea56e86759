"""What is wrong or worth knowing about golden sets, before anything is measured with them.

Errors make metrics wrong or count a question twice; warnings say what can't be shown. Nothing is printed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from gateline.golden.gaps import find_gaps, is_harvested, version_of
from gateline.golden.notes import Note
from gateline.golden.questions import SLICES, GoldenSet, find_contradictions, read_golden
from gateline.golden.repeats import find_repeats
from gateline.golden.resolution import visible_change

THIN = 30
"""Questions below which a slice is too thin to decide on: the default of `slices.at_least` in a policy."""
MOST_VALUES = 50
"""Different values from which a label is a name rather than a slice."""


@dataclass(frozen=True)
class SliceFacts:
    """One slice and what it can show."""

    label: str
    """Name of the label; empty for the whole file."""
    value: str
    questions: int
    visible_change: float | None
    """Smallest change of a pass rate that it would show with 80 % power (0 to 1); None where it shows none."""


@dataclass(frozen=True)
class FileFacts:
    """One golden set."""

    file: str
    sha256: str
    version: str | None
    questions: int
    is_harvested: bool
    """Whether `gateline harvest` keeps it: copies of a golden set's questions."""
    labelled: dict[str, int]
    """How many questions have each label."""
    unanswerable: int
    snapshots: dict[str, int]
    """Questions by the state of the sources they were written for."""
    slices: list[SliceFacts]


@dataclass(frozen=True)
class Review:
    """What was found in one or more golden sets."""

    files: list[FileFacts]
    notes: list[Note]

    @property
    def errors(self) -> list[Note]:
        """Return the notes that are errors."""
        return [note for note in self.notes if note.level == "error"]


def review(files: Sequence[str | PathLike[str]], *, id_field: str | None = None) -> Review:
    """Check golden sets, each by itself and against each other; an InputError where one can't be read."""
    sets = [read_golden(file, id_field=id_field) for file in files]
    notes = [note for golden in sets for note in find_contradictions(golden)]
    notes += find_repeats(sets)
    for golden in sets:
        notes += find_gaps(golden)
    facts = [_tell_file(golden) for golden in sets]
    for one in facts:
        notes += _find_thin(one)
    return Review(facts, sorted(notes, key=lambda note: note.level != "error"))


def _tell_file(golden: GoldenSet) -> FileFacts:
    labels = {
        "relevant ids": golden.relevant,
        "evidence groups": golden.evidence_groups,
        "reference answer": golden.reference_answers,
        "required claims": golden.claims("required_claims"),
        "forbidden claims": golden.claims("forbidden_claims"),
        "answerable or not": golden.answerable,
    }
    return FileFacts(
        file=golden.run.file,
        sha256=golden.run.sha256,
        version=version_of(golden),
        questions=len(golden),
        is_harvested=is_harvested(golden),
        labelled={
            name: sum(one is not None and one not in ("", [], {}) for one in found or [])
            for name, found in labels.items()
        },
        unanswerable=(golden.answerable or []).count(False),
        snapshots=dict(Counter(text for text in golden.snapshots or [] if text)),
        slices=_tell_slices(golden),
    )


def _tell_slices(golden: GoldenSet) -> list[SliceFacts]:
    run = golden.run
    facts = [SliceFacts("", "", len(golden), visible_change(len(golden)))]
    names = [*run.slices, *(name for name in (*SLICES, "answerable") if name not in run.slices)]
    for name in names:
        labels = run.labels(name)
        counted = Counter(value for values in labels or [] for value in values)
        if len(counted) > MOST_VALUES:
            continue
        facts += [
            SliceFacts(name, value, number, visible_change(number))
            for value, number in sorted(counted.items())
        ]
    return facts


def _find_thin(facts: FileFacts) -> list[Note]:
    thin = [one for one in facts.slices if one.label and one.questions < THIN]
    if not thin:
        return []
    named = ", ".join(
        f"{one.label}={one.value} ({one.questions})"
        for one in sorted(thin, key=lambda one: one.questions)[:8]
    )
    more = f" and {len(thin) - 8} more" if len(thin) > 8 else ""
    said = f"slices of fewer than {THIN} questions can't be decided on: {named}{more}"
    return [Note("warning", "thin slice", said, [], facts.file)]
