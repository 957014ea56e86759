"""How much may be missing before there is no verdict: values, attempts and whole questions.

It stands apart from pairing, so that a verdict which ends here can still tell what was left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.errors import NotComparable, Problem
from gateline.pairing.attempts import refuse_chosen, refuse_uneven
from gateline.pairing.labels import Rows
from gateline.pairing.settings import Terms
from gateline.pairing.values import CAUSE_KEYS, OK, SideValues
from gateline.remark import Said, name_some, said

if TYPE_CHECKING:
    from gateline.pairing import Pairs


def refuse_missing(pairs: Pairs, terms: Terms) -> None:
    """Raise NotComparable where more values are left out than the policy allows, overall or in a hard slice.

    Also where some questions were tried more often than others, which without more is no better evidence.
    """
    most = terms.missing.drop_at_most
    if terms.samples.uneven_attempts == "refuse":
        uneven = refuse_uneven(pairs.sides, pairs.ids, most) or refuse_chosen(
            pairs.sides, pairs.ids, terms.samples.repeat_field
        )
        if uneven:
            raise NotComparable("questions were not tried equally often", problems=uneven)
    allowed = said("hint.drop-at-most", share=f"{most * 100:g}") if most else said("hint.drop-none")
    problems: list[Problem] = []
    for name, values in pairs.metrics.items():
        places = [None, *terms.hard_slices(pairs.labels.family, name)]
        for side, read in zip(pairs.sides, values.sides, strict=True):
            for place in places:
                rows = values.expected_in(pairs.labels.rows(place))
                share = float(read.missing[rows].mean()) if len(rows) else 0.0
                if share <= most + 1e-12:
                    continue
                lost = rows[read.missing[rows] > 0]
                what = said(
                    "problem.missing-values",
                    metric=name,
                    missing=len(lost),
                    samples=said("count.samples", count=len(rows)),
                    share=f"{len(lost) / len(rows) if read.failed is None else share:.1%}",
                )
                if place is not None:
                    what = said("problem.of-slice", things=what, slice=place)
                ids = name_some(pairs.ids[row] for row in lost)
                what = said("problem.by-cause", what=what, causes=_cause_words(read, lost), ids=ids)
                problems.append(Problem(what, side.run.file, allowed))
    if problems:
        last = problems[-1]
        problems[-1] = Problem(last.message, last.where, said("hint.drop-and-rerun", allowed=allowed))
    problems += _refuse_lost(pairs, terms)
    if problems:
        raise NotComparable("too many values are missing for a verdict", problems=problems)


def _refuse_lost(pairs: Pairs, terms: Terms) -> list[Problem]:
    """Return where more questions have no record than may be left out; `intersect` is no way around that."""
    labels, most = pairs.labels, terms.missing.drop_at_most
    problems = []
    for place in (None, *terms.hard_slices(pairs.labels.family)):
        lost = labels.lost_in(place)
        asked = len(labels.rows(place)) + len(lost)
        if not lost or len(lost) / asked <= most + 1e-12:
            continue
        share = f"{most * 100:g}"
        key, hint = "problem.lost", said("hint.lost", share=share)
        if place is not None and place in labels.files:
            key = "problem.lost-of-file"
            hint = said("hint.lost-of-file", share=share, file=labels.files[place].file)
        questions = said("count.questions", count=asked)
        if place is not None:
            questions = said("problem.of-slice", things=questions, slice=place)
        what = said(
            key,
            missing=len(lost),
            questions=questions,
            share=f"{len(lost) / asked:.1%}",
            ids=name_some(lost),
        )
        problems.append(Problem(what, pairs.sides[-1].run.file, hint))
    return problems


def _cause_words(read: SideValues, rows: Rows) -> list[Said]:
    parts = []
    partly = "lost.part-failed" if read.failed is not None else "lost.fewer-attempts"
    for cause, key in (*CAUSE_KEYS.items(), (OK, partly)):
        number = int((read.cause[rows] == cause).sum())
        if number:
            parts.append(said(key, count=number))
    return parts
