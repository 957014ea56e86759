"""How much may be missing before there is no verdict: values, attempts and whole questions.

It stands apart from pairing, so that a verdict which ends here can still tell what was left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.errors import NotComparable, Problem, name_some
from gateline.pairing.labels import Rows
from gateline.pairing.settings import Terms
from gateline.pairing.values import CAUSE_WORDS, OK, SideValues

if TYPE_CHECKING:
    from gateline.pairing import Pairs


def refuse_missing(pairs: Pairs, terms: Terms) -> None:
    """Raise NotComparable where more values are left out than the policy allows, overall or in a hard slice."""
    most = terms.missing.drop_at_most
    problems: list[Problem] = []
    for name, values in pairs.metrics.items():
        places = _hard_places(name, pairs, terms)
        for side, read in zip(pairs.sides, values.sides, strict=True):
            for place in places:
                rows = values.expected_in(pairs.labels.rows(place))
                if not len(rows) or float(read.lost[rows].mean()) <= most + 1e-12:
                    continue
                lost = rows[read.lost[rows] > 0]
                words = _cause_words(read, lost)
                ids = [f"'{pairs.ids[row]}'" for row in lost[:5]] + ["…"] * (len(lost) > 5)
                problems.append(
                    Problem(
                        f"{name} is missing for {len(lost)} of {len(rows)} samples ({len(lost) / len(rows):.1%})"
                        f"{f' of the slice {place}' if place else ''}: {words} ({', '.join(ids)})",
                        side.run.file,
                        f"missing.drop_at_most lets {most * 100:g} % of them be left out"
                        if most
                        else "missing.drop_at_most is 0: none may be left out",
                    )
                )
    if problems:
        last = problems[-1]
        hint = (
            f"{last.hint}; rerun the evaluation, or say applies_to where a metric is not defined everywhere"
        )
        problems[-1] = Problem(last.message, last.where, hint)
    problems += _refuse_lost(pairs, terms)
    if problems:
        raise NotComparable("too many values are missing for a verdict", problems=problems)


def _refuse_lost(pairs: Pairs, terms: Terms) -> list[Problem]:
    """Return where more questions have no record than may be left out; `intersect` is no way around that."""
    labels, most = pairs.labels, terms.missing.drop_at_most
    hard = {
        place for name in pairs.metrics for place in _hard_places(name, pairs, terms) if place is not None
    }
    problems = []
    for place in (None, *sorted(hard)):
        lost = labels.lost_in(place)
        asked = len(labels.rows(place)) + len(lost)
        if not lost or len(lost) / asked <= most + 1e-12:
            continue
        shown = name_some([f"'{one}'" for one in lost])
        what, mend = (
            "have no record",
            "on_mismatch: intersect or not; where the golden set was cut, cut the baseline alike",
        )
        if place is not None and place in labels.files:
            what, mend = "are not compared", f"evaluate in both runs what {labels.files[place].file} names"
        problems.append(
            Problem(
                f"{len(lost)} of {asked} questions{f' of the slice {place}' if place else ''} {what} "
                f"({len(lost) / asked:.1%}): {shown}",
                pairs.sides[-1].run.file,
                f"missing.drop_at_most lets {most * 100:g} % be left out, {mend}",
            )
        )
    return problems


def _hard_places(metric: str, pairs: Pairs, terms: Terms) -> list[str | None]:
    named = {place for judged, place in terms.hard if judged == metric and place is not None}
    for judged, label in terms.hard_families:
        if judged == metric:
            named.update(pairs.labels.family(label))
    return [None, *sorted(named)]


def _cause_words(read: SideValues, rows: Rows) -> str:
    parts = []
    for cause, words in CAUSE_WORDS.items():
        number = int((read.cause[rows] == cause).sum())
        if number:
            parts.append(f"{number} {words}")
    fewer = int((read.cause[rows] == OK).sum())
    if fewer:
        parts.append(f"{fewer} with fewer attempts than in the other run")
    return ", ".join(parts)
