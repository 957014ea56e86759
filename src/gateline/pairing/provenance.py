"""How the two runs were made: what differs, and whether the policy lets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from gateline.errors import NotComparable, Problem
from gateline.pairing.facts import ChangedField
from gateline.pairing.marks import find_errors
from gateline.pairing.settings import Provenance
from gateline.remark import said
from gateline.samples import Run, label_texts

_OF_THE_SAMPLE = frozenset({"id", "question", "error", "answer", "reference", "reference_answer"})
_MOST_VALUES = 5


def state_facts(run: Run) -> dict[str, str]:
    """Return what the file says of the whole run, as texts: its header, and fields constant over all records."""
    facts = {name: _text(value) for name, value in run.provenance.items() if _text(value)}
    if len(run) > 1:
        for name, column in run.fields.items():
            if name not in facts and name not in _OF_THE_SAMPLE and name != run.id_field:
                constant = _constant_text(column)
                if constant is not None:
                    facts[name] = constant
    return facts


def compare_provenance(baseline: Run, candidate: Run, provenance: Provenance) -> list[ChangedField]:
    """Return the facts in which the runs differ.

    Raises NotComparable where a field that must match is absent, mixed within a run, or different.
    """
    facts = state_facts(baseline), state_facts(candidate)
    problems = []
    for name in provenance.must_match:
        values = [_find(run, known, name) for run, known in zip((baseline, candidate), facts, strict=True)]
        problems += _judge(name, values, (baseline.file, candidate.file))
    if problems:
        raise NotComparable("the two runs were not made alike", problems=problems)
    return list_changes(baseline, candidate, provenance)


def list_changes(baseline: Run, candidate: Run, provenance: Provenance) -> list[ChangedField]:
    """Return the facts in which the runs differ, whether they may or not."""
    facts = state_facts(baseline), state_facts(candidate)
    changed = []
    for name in sorted(facts[0].keys() | facts[1].keys()):
        before, after = (
            _find(run, known, name, of_run=name in baseline.provenance or name in candidate.provenance)
            for run, known in zip((baseline, candidate), facts, strict=True)
        )
        if before == after or (
            None in (before, after) and name not in baseline.provenance | candidate.provenance
        ):
            continue
        changed.append(
            ChangedField(field=name, baseline=before, candidate=after, rule=_rule_of(name, provenance))
        )
    return changed


def _rule_of(name: str, provenance: Provenance) -> Literal["must_match", "may_change", "unlisted"]:
    if name in provenance.must_match:
        return "must_match"
    return "may_change" if name in provenance.may_change else "unlisted"


def _judge(name: str, values: Sequence[str | None], files: Sequence[str]) -> list[Problem]:
    problems = [
        Problem(
            said("problem.fact-not-said", file=file, field=name),
            file,
            said("hint.fact-not-said"),
        )
        for value, file in zip(values, files, strict=True)
        if value is None
    ]
    problems += [
        Problem(said("problem.fact-mixed", field=name, file=file, value=value), file)
        for value, file in zip(values, files, strict=True)
        if value is not None and value.startswith("mixed (")
    ]
    if not problems and values[0] != values[1]:
        problems.append(
            Problem(
                said(
                    "problem.must-match",
                    what=said(
                        "problem.fact-differs", field=name, before=str(values[0]), after=str(values[1])
                    ),
                ),
                files[1],
                said("hint.rerun"),
            )
        )
    return problems


def _find(run: Run, facts: Mapping[str, str], name: str, *, of_run: bool = False) -> str | None:
    said = facts.get(name)
    column = None if of_run else run.find_label(name)
    if column is None or (said and name not in run.provenance):  # the column is why it is known
        return said
    texts = run.texts(name) or []
    values = sorted({text for text in texts if text} | ({said} if said else set()))
    if values and said is None and _is_lacking(run, texts):
        values.append("nothing")
    if len(values) <= 1:
        return values[0] if values else None
    shown = ", ".join(values[:_MOST_VALUES]) + (", …" if len(values) > _MOST_VALUES else "")
    return f"mixed ({shown})"


def _is_lacking(run: Run, texts: Sequence[str]) -> bool:
    """Return whether a record does not say what the others do; one with an error need not have come so far."""
    no_answer, other = find_errors(run)
    return any(not text and not failed for text, failed in zip(texts, no_answer | other, strict=True))


def _constant_text(column: object) -> str | None:
    """Return the text that every record has, or None: numbers and texts that vary say nothing of the run."""
    if isinstance(column, np.ndarray) or not isinstance(column, list):
        return None
    first = column[0]
    if not isinstance(first, str) or not first.strip() or any(value != first for value in column):
        return None
    return first.strip()


def _text(value: object) -> str:
    return ", ".join(label_texts(value))
