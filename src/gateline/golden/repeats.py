"""Questions that stand more than once, equal or nearly so, within a split or across splits.

A question in two splits leaks from one into the other; one that stands twice counts twice.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateline.errors import cut
from gateline.golden.gaps import is_harvested
from gateline.golden.likeness import find_alike
from gateline.golden.notes import Note
from gateline.golden.questions import GoldenSet, normalise

_ANSWERS = (
    ("reference_answer", "reference answers"),
    ("relevant", "relevant ids"),
    ("required_claims", "required claims"),
    ("answer_set", "answer sets"),
)
"""Labels that say what the right answer is, with the words for them."""


@dataclass(frozen=True)
class _Asked:
    """One question with its place."""

    golden: GoldenSet
    row: int
    text: str
    """Normalised."""
    split: str

    @property
    def name(self) -> str:
        return self.golden.ids[self.row]

    @property
    def place(self) -> str:
        return self.golden.run.place(self.row)


def find_repeats(sets: Sequence[GoldenSet]) -> list[Note]:
    """Return the questions and ids of one or more golden sets that stand more than once.

    A regression set holds copies of their questions, so it is held against itself only.
    """
    notes = []
    kept = [golden for golden in sets if not is_harvested(golden)]
    for group in [kept, *([golden] for golden in sets if is_harvested(golden))]:
        asked = [one for golden in group for one in _ask(golden, alone=len(group) == 1)]
        notes += [*_find_duplicates(asked), *_find_near_duplicates(asked), *_find_shared_ids(group)]
    return notes


def _ask(golden: GoldenSet, *, alone: bool) -> Iterator[_Asked]:
    """Give the questions that have a text; a file without splits is one, if it is one of several."""
    own = "" if alone else Path(golden.run.file).name
    splits = golden.splits or [None] * len(golden)
    texts = golden.questions or [None] * len(golden)
    for row, (text, split) in enumerate(zip(texts, splits, strict=True)):
        normal = normalise(text or "")
        if normal:
            yield _Asked(golden, row, normal, split or own)


def _find_duplicates(asked: Sequence[_Asked]) -> list[Note]:
    by_text: dict[str, list[_Asked]] = defaultdict(list)
    for one in asked:
        by_text[one.text].append(one)
    notes = []
    for group in by_text.values():
        if len(group) < 2:
            continue
        names = [one.name for one in group]
        contradictions = [
            note for label, words in _ANSWERS if (note := _find_two_answers(group, label, words))
        ]
        splits = sorted({one.split for one in group})
        if len(splits) > 1:
            said = f"the same question stands in the splits {', '.join(splits)}"
            notes.append(Note("error", "leak", said, names, group[1].place))
        elif not contradictions and not _differ_in_answerable(group):
            said = "the same question stands more than once"
            notes.append(Note("error", "duplicate", said, names, group[1].place))
        notes += contradictions
    return notes


def _find_two_answers(group: Sequence[_Asked], label: str, words: str) -> Note | None:
    """Return that one question has two right answers: no system can give both, and which is meant is not known."""
    known = [(labels, one) for one in group if (labels := _labels_of(one, label)) is not None]
    if len({labels for labels, _ in known}) < 2:
        return None
    first = known[0]
    other = next(one for one in known if one[0] != first[0])
    said = f"the same question has different {words}"
    if label == "reference_answer":
        texts = [cut((one.golden.reference_answers or [])[one.row] or "", 40) for _, one in (first, other)]
        said += f": '{texts[0]}' and '{texts[1]}'"
    said += "; keep the one that holds, or tell the questions apart"
    return Note("error", "contradiction", said, [one.name for _, one in known], other[1].place)


def _differ_in_answerable(group: Sequence[_Asked]) -> bool:
    """Return whether one of them has an answer and another none, which is told as a contradiction elsewhere."""
    known = {one.golden.answerable[one.row] for one in group if one.golden.answerable}
    return {True, False} <= known and len({id(one.golden) for one in group}) == 1


def _as_answer(text: str) -> str:
    """Return an answer without case, superfluous blanks and its last stop; a sign before a number stays."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .!")


def _labels_of(one: _Asked, label: str) -> frozenset[str] | None:
    """Return what a question's right answer is by one of its labels, None where it has none."""
    if label == "reference_answer":
        texts = one.golden.reference_answers
        text = _as_answer(texts[one.row] or "") if texts else ""
        return frozenset({text}) if text else None
    if label == "relevant":
        grades = one.golden.relevant[one.row] if one.golden.relevant else None
        return None if grades is None else frozenset(name for name, grade in grades.items() if grade > 0)
    claims = one.golden.claims(label)
    found = claims[one.row] if claims else None
    return None if found is None else frozenset(found)


def _find_near_duplicates(asked: Sequence[_Asked]) -> list[Note]:
    notes = []
    for first, second, overlap in find_alike([one.text for one in asked]):
        one, other = asked[first], asked[second]
        leaks = one.split != other.split
        said = f"the questions are {overlap * 100:.0f} % alike"
        if leaks:
            said += f" and stand in the splits {one.split} and {other.split}"
        check = "near leak" if leaks else "near duplicate"
        notes.append(Note("warning", check, said, [one.name, other.name], other.place))
    return notes


def _find_shared_ids(sets: Sequence[GoldenSet]) -> list[Note]:
    first: dict[str, GoldenSet] = {}
    shared: dict[tuple[str, str], list[str]] = defaultdict(list)
    for golden in sets:
        for name in dict.fromkeys(golden.ids):
            before = first.setdefault(name, golden)
            if before is not golden:
                shared[before.run.file, golden.run.file].append(name)
    return [
        Note("error", "leak", f"ids stand in {before} too", names, after)
        for (before, after), names in shared.items()
    ]
