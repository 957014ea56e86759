"""Which field holds the question itself where the policy names none: by the names that tools give it.

It compares nothing beyond what tells a question from the template that it was put into; refusing is for `join`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateline.pairing.join import Side
from gateline.pairing.settings import Terms
from gateline.remark import Said, said
from gateline.samples import Run

QUESTION = "question"
OTHER_NAMES = ("query", "user_input", "input", "prompt")
"""Names under which tools keep the question, beside its own."""
WITH_TEMPLATE = frozenset({"input", "prompt"})
"""Those that may hold all that was sent to a model, which a change of its template alters in every record."""


def find_input_field(*runs: Run) -> str | None:
    """Return the one other name under which all the runs hold a text of its own for each question.

    None where all hold a `question`, or where several of the names, or none, could be it.
    """
    if all(run.texts(QUESTION) is not None for run in runs):
        return None
    found = [name for name in OTHER_NAMES if all(_is_of_questions(run, name) for run in runs)]
    return found[0] if len(found) == 1 else None


def _is_of_questions(run: Run, name: str) -> bool:
    """Return whether a field is a text that differs for most questions; what does not is a label or a setting."""
    column = run.fields.get(name)
    if name == run.id_field or not isinstance(column, list):
        return False
    if not all(value is None or isinstance(value, str) for value in column):
        return False
    texts = set(run.texts(name) or []) - {""}
    return 2 * len(texts) > len(set(run.ids))


def choose_inputs(baseline: Side, candidate: Side, terms: Terms) -> tuple[list[str], list[Said]]:
    """Return the fields that must be equal for one id where the policy names none, and what is to be said of them.

    A text with room for a template that differs in more than half of the questions, and is nobody else's in the
    baseline, may be the same question put otherwise: that is a notice. Questions under other ids are none.
    """
    if terms.samples.same_input is not None:
        return [], []
    name = find_input_field(baseline.run, candidate.run)
    if name is None or name in terms.provenance.may_change:
        return [QUESTION], []
    if name in WITH_TEMPLATE:
        before, after = _first_texts(baseline, name), _first_texts(candidate, name)
        differing = [new for old, new in zip(before, after, strict=True) if old and new and old != new]
        if 2 * len(differing) > len(before) and not set(before).intersection(differing):
            counts = {"count": len(differing), "asked": len(before)}
            return [QUESTION], [said("notice.other-texts", field=name, **counts)]
    return [QUESTION, name], []


def _first_texts(side: Side, name: str) -> list[str]:
    texts: Sequence[str] = side.run.texts(name) or []
    return [texts[row] for row in side.first.tolist()]
