"""What is odd about a result file and should be known before a gate rests on it.

Each oddity is one sentence. Nothing here changes a value or a verdict.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from gateline.errors import count_of, name_some
from gateline.field_names import says_how_made
from gateline.inspection.facts import Inspection, NumberColumn
from gateline.pairing.marks import find_errors
from gateline.pairing.spellings import find_spellings, say_spellings
from gateline.samples import Run, number_text

FEWEST_PAIRS = 30
"""Pairs below which a policy gives no verdict by default."""
_COMMA_NUMBER = re.compile(
    r"\s*-?[0-9]{1,3}(\.[0-9]{3})*,[0-9]+\s*|\s*-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?\s*"
)
MOST_LEFT_OUT = 0.02
"""Share of a metric's pairs that a policy lets be left out by default."""


def find_oddities(run: Run, facts: Inspection) -> list[str]:
    """Return what is odd about a run, the most telling first."""
    found = [*_scores_beside_errors(run, facts), *_mixed_origins(run, facts), *_repeated_ids(run, facts)]
    for column in facts.numbers:
        if not column.is_diagnosis:
            found += _look_at_numbers(run, column)
    found += _missing_scores(run, facts)
    found += _split_labels(facts)
    texts = [name for name, values in run.fields.items() if isinstance(values, list)]
    found += [message for name in texts if (message := _look_for_commas(run, name))]
    if facts.distinct_ids < FEWEST_PAIRS:
        found.append(
            f"{facts.distinct_ids} {'sample' if facts.distinct_ids == 1 else 'samples'}: a policy asks for "
            f"{FEWEST_PAIRS} pairs unless it says otherwise"
        )
    return found


def _scores_beside_errors(run: Run, facts: Inspection) -> list[str]:
    _, error = find_errors(run)
    scored = np.zeros(len(run), dtype=bool)
    for column in facts.numbers:
        if column.kind == "score" and not column.refused:
            scored |= ~np.isnan(run.numbers(column.name))
    rows = np.flatnonzero(error & scored)
    if not len(rows):
        return []
    ids = name_some([run.ids[row] for row in rows], 3)
    told = count_of(len(rows), "record has", "records have")
    return [f"{told} an error and a score beside it, which is not used: {ids}"]


def _mixed_origins(run: Run, facts: Inspection) -> list[str]:
    """Return fields that say how a run is made, and say two things in one file."""
    found = []
    for column in facts.labels:
        is_by_record = column.name in run.must_agree  # then it is compared record by record
        if not column.is_slice and says_how_made(column.name) and column.different > 1 and not is_by_record:
            parts = name_some([f"{label} ({times})" for label, times in column.counts.items()], 4)
            found.append(f"{column.name} is not the same for the whole run: {parts}")
    return found


def _repeated_ids(run: Run, facts: Inspection) -> list[str]:
    if facts.attempts <= 1:
        return []
    attempts = run.texts("attempt") or [""] * len(run)
    told_apart = Counter(zip(run.ids, attempts, strict=True))
    repeated = list(dict.fromkeys(name for (name, _), times in told_apart.items() if times > 1))
    if not repeated:
        return []
    told = f"{count_of(len(repeated), 'id stands', 'ids stand')} more than once and no field 'attempt'"
    return [f"{told} tells the records apart: {name_some(repeated, 3)}"]


def _look_at_numbers(run: Run, column: NumberColumn) -> list[str]:
    name, found = column.name, []
    if column.refused:
        return [f"{name} can't be a metric: {column.refused}"]
    if column.low is None or column.high is None:
        return [f"{name} has no usable value"]
    if column.kind == "cost" and column.missing.get("price_unknown"):
        found.append(
            f"{name} is 0 or empty for {count_of(column.missing['price_unknown'], 'record', 'records')} that "
            "spent tokens: price unknown"
        )
    if column.kind == "score" and column.values > 1 and column.low == column.high:
        found.append(f"{name} is {number_text(column.low)} in all {column.values} records")
    if column.kind == "score" and column.range is None and column.low >= 0 and 1 < column.high <= 100:
        small = int((run.numbers(name) <= 1).sum())
        if small >= 0.5 * column.values:
            found.append(
                f"{name} goes up to {number_text(column.high)} while "
                f"{count_of(small, 'value is', 'values are')} 1 or less: two scales?"
            )
    return found


def _missing_scores(run: Run, facts: Inspection) -> list[str]:
    """Return in one sentence which scores too many records lack, those that lack as many together."""
    names: dict[int, list[str]] = {}
    for column in facts.numbers:
        lost = sum(times for cause, times in column.missing.items() if cause != "no_answer")
        if (
            column.kind == "score"
            and column.values
            and not column.is_diagnosis
            and lost > MOST_LEFT_OUT * len(run)
        ):
            names.setdefault(lost, []).append(column.name)
    if not names:
        return []
    told = "; ".join(f"{name_some(some, 4)}: {lost} of {len(run)}" for lost, some in names.items())
    return [f"more than 2 % missing, which by default gives no verdict: {told} (gateline init allows for it)"]


def _split_labels(facts: Inspection) -> list[str]:
    """Return labels with one value in several spellings, each of which would be a slice of its own."""
    return [
        f"{column.name} has one value in several spellings, each a slice of its own: {name_some(told, 4)}"
        for column in facts.labels
        if (told := say_spellings(find_spellings(column.counts)))
    ]


def _look_for_commas(run: Run, name: str) -> str:
    shown = next((text for text in run.texts(name) or [] if text), "")
    if not _COMMA_NUMBER.fullmatch(shown):
        return ""
    return f"{name} holds texts such as '{shown}': numbers are written with a point, without commas"
