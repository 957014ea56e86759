"""How the two runs were made: what differs, and whether the policy lets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from gateline.errors import NotComparable, Problem
from gateline.pairing.facts import ChangedField
from gateline.pairing.marks import find_errors
from gateline.pairing.settings import Provenance
from gateline.remark import name_some, said
from gateline.samples import Run, label_texts

_OF_THE_SAMPLE = frozenset({"id", "question", "error", "answer", "reference", "reference_answer"})
_MOST_VALUES = 5
_MOST_IDS = 3
_NOTHING = "nothing)"


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
        if name in _of_parts(baseline, candidate) and not _is_said_in_part(values):
            problems += _judge_parts(name, baseline, candidate, values)
            continue
        if all(name in run.provenance for run in (baseline, candidate)) and _is_of_files(
            name, baseline, candidate
        ):
            problems += _judge_numbers(name, baseline, candidate, values)
            continue
        problems += _judge(name, values, (baseline.file, candidate.file))
    if problems:
        raise NotComparable("the two runs were not made alike", problems=problems)
    return list_changes(baseline, candidate, provenance)


def list_changes(baseline: Run, candidate: Run, provenance: Provenance) -> list[ChangedField]:
    """Return the facts in which the runs differ, whether they may or not."""
    facts = state_facts(baseline), state_facts(candidate)
    of_parts = _of_parts(baseline, candidate)
    of_runs = (baseline.provenance.keys() | candidate.provenance.keys()) - of_parts
    changed = []
    for name in sorted(facts[0].keys() | facts[1].keys() | of_parts):
        before, after = (
            _find(run, known, name, of_run=name in of_runs)
            for run, known in zip((baseline, candidate), facts, strict=True)
        )
        differs = before != after or (name in of_parts and bool(_differing(name, baseline, candidate)))
        if not differs or (None in (before, after) and name not in of_runs | of_parts):
            continue
        changed.append(
            ChangedField(field=name, baseline=before, candidate=after, rule=_rule_of(name, provenance))
        )
    return changed


def _rule_of(name: str, provenance: Provenance) -> Literal["must_match", "may_change", "unlisted"]:
    if name in provenance.must_match:
        return "must_match"
    return "may_change" if name in provenance.may_change else "unlisted"


def _of_parts(*runs: Run) -> set[str]:
    """Return the facts that differ among the joined parts of a run: they are compared question by question."""
    return {name for run in runs for part in run.parts for name in part.facts}


def _is_said_in_part(values: Sequence[str | None]) -> bool:
    """Say whether a run does not state a fact at all, or not for all its records."""
    return any(value is None or value.endswith(_NOTHING) for value in values)


def _differing(name: str, baseline: Run, candidate: Run) -> list[tuple[str, str, str]]:
    """Return the questions of both runs for which a fact differs, and what it is before and after."""
    told: list[dict[str, set[str]]] = []
    for run in (baseline, candidate):
        known: dict[str, set[str]] = {}
        of_run = state_facts(run).get(name, "")
        for sample, text in zip(run.ids, run.texts(name) or [of_run] * len(run), strict=True):
            known.setdefault(sample, set()).update({text or of_run} - {""})
        told.append(known)
    return [
        (sample, ", ".join(sorted(before)), ", ".join(sorted(told[1][sample])))
        for sample, before in told[0].items()
        if told[1].get(sample, before) != before
    ]


def _judge_parts(name: str, baseline: Run, candidate: Run, values: Sequence[str | None]) -> list[Problem]:
    differing = _differing(name, baseline, candidate)
    if not differing:
        return []
    what = said("problem.fact-differs", field=name, before=differing[0][1], after=differing[0][2])
    ids = name_some((sample for sample, _, _ in differing), _MOST_IDS)
    told = said("problem.must-match", what=said("problem.fact-differs-for", what=what, ids=ids))
    return [Problem(told, candidate.file, said("hint.rerun"))]


def _is_of_files(name: str, *runs: Run) -> bool:
    """Say whether the files of a run state different things of a fact, or one states it and another does not."""
    return any(len({part.stated.get(name) for part in run.parts}) > 1 for run in runs)


def _judge_numbers(name: str, baseline: Run, candidate: Run, values: Sequence[str | None]) -> list[Problem]:
    """Hold a fact of files with other numbers, such as two judges' scores, number by number."""
    if any(value is None or value.startswith("mixed (") for value in values):
        return _judge(name, values, (baseline.file, candidate.file))
    before, after = (_said_of_numbers(run, name) for run in (baseline, candidate))
    differing: dict[tuple[str, str], list[str]] = {}
    for number in sorted(before.keys() & after.keys()):
        if before[number] != after[number]:
            differing.setdefault((before[number], after[number]), []).append(number)
    found = []
    for told, numbers in differing.items():
        old, new = (text or said("word.not-stated") for text in told)
        what = said("problem.fact-differs", field=name, before=old, after=new)
        what = said("problem.fact-differs-for", what=what, ids=name_some(numbers, _MOST_VALUES))
        found.append(Problem(said("problem.must-match", what=what), candidate.file, said("hint.rerun")))
    return found


def _said_of_numbers(run: Run, name: str) -> dict[str, str]:
    """Return what the files of a run state of a fact for each of its numbers.

    Empty for metrics of files that don't state it; times and other fields of such a file need not rest on the fact.
    """
    numbers, of_run = set(run.number_names()), _text(run.provenance[name])
    if not run.parts:
        return dict.fromkeys(numbers, of_run)
    texts: dict[str, set[str]] = {}
    for part in run.parts:
        text = part.stated.get(name, "")
        for number in part.names & (numbers if text else run.metrics.keys()):
            texts.setdefault(number, set()).add(text)
    return {number: ", ".join(sorted(found - {""})) for number, found in texts.items()}


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
    if said and any(name in part.silent for part in run.parts):
        return f"mixed ({said}, {_NOTHING}"
    column = None if of_run else run.find_label(name)
    if column is None or (said and name not in run.provenance):  # the column is why it is known
        return said
    texts = run.texts(name) or []
    values = sorted({text for text in texts if text} | ({said} if said else set()))
    is_lacking = bool(values) and said is None and _is_lacking(run, texts)
    if len(values) + is_lacking <= 1:
        return values[0] if values else None
    shown = ", ".join(values[:_MOST_VALUES]) + (", …" if len(values) > _MOST_VALUES else "")
    return f"mixed ({shown}, {_NOTHING}" if is_lacking else f"mixed ({shown})"


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
