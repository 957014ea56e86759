"""What identifies the question of a record where the format has no id: its text, never its place in the file.

The text itself does not become the id, as reports show ids and need not hold texts. Nothing here knows a format.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from gateline.errors import InputError, count_of, did_you_mean, name_some
from gateline.samples import Run

DIGITS = 16
"""Hexadecimal digits of an id: among a million texts two share one with a chance of 1 in 37 million."""


def normalise(text: str) -> str:
    """Return a text in composed form, with single blanks: what another writer of the same text may differ in."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def identify_questions(texts: Sequence[str], references: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return an id for each normalised question (n), and the texts that stand more than once.

    Equal questions are told apart by their reference answers (n), then by a counter.
    """
    rows: dict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        rows[text].append(row)
    ids = [""] * len(texts)
    for text, found in rows.items():
        name = "q-" + hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
        ordered = sorted(found, key=lambda row: (references[row], row))
        for number, row in enumerate(ordered, 1):
            ids[row] = name if number == 1 else f"{name}#{number}"
    return ids, [text for text, found in rows.items() if len(found) > 1]


def identify_by(run: Run, name: str) -> Run:
    """Return the run with the texts of the field `name` as ids.

    Raises InputError where no record, or not every record, has such a field.
    """
    texts = run.texts(name)
    if texts is None:
        known = [*run.slices, *run.fields]
        raise InputError(
            f"no record has the field '{name}' that identifies its question",
            run.file,
            did_you_mean(name, known) + f"; {run.format} has its own ids when samples.id is left out",
        )
    blank = [row for row, text in enumerate(texts) if not text]
    if blank:
        places = name_some([run.place(row) for row in blank], 3)
        raise InputError(f"no '{name}' in {count_of(len(blank), 'record', 'records')}: {places}", run.file)
    return replace(run, ids=texts, id_field=name, made_ids=False, unpaired="")


def tell_repeated(number: int) -> str:
    """Return what is said of texts that stand more than once."""
    told = count_of(number, "text stands more than once and is", "texts stand more than once and are")
    return f"{told} told apart by a counter"
