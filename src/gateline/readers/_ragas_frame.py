"""A table of evaluated samples as a run: which columns are scores, what identifies a sample, what is odd.

It must not know how the table was stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gateline.errors import InputError, count_of, name_some
from gateline.field_names import guess_kind, words_of
from gateline.readers._identity import identify_questions, normalise, tell_repeated
from gateline.readers._python_text import read_list, read_result, read_turns
from gateline.readers._ragas_names import (
    ANSWERS,
    CONTEXTS,
    INPUTS,
    LISTS,
    QUESTIONS,
    REFERENCES,
    depends_on_contexts,
    find_aliases,
    find_facts,
    find_generation,
    is_metric,
)
from gateline.samples import Agreement, Column, Floats, Run, label_texts, read_number

WORDS = {"pass": 1.0, "passed": 1.0, "true": 1.0, "fail": 0.0, "failed": 0.0, "false": 0.0}
"""Results in words that are a score."""
EPSILON = 2e-10
"""Context precision is divided by a count plus 1e-10, which makes 0.9999999999 of 1."""


def describe_frame(run: Run, provenance: Mapping[str, object], id_field: str | None) -> Run:
    """Return a table, whose records are only numbered so far, as a run.

    Raises InputError where it has no score, or a record without a question. Without questions at all, the run can't
    be paired.
    """
    fields, written = dict(run.fields), dict(run.written)
    for name in LISTS & fields.keys():
        fields[name] = _read_lists(fields[name])
    metrics = _find_scores(fields)
    question = next((name for name in QUESTIONS if name in fields), None)
    if not metrics:
        raise InputError(
            f"has samples of Ragas and no scores: found {name_some(fields, 12)}",
            run.file,
            "it seems to be the input of an evaluation; hand over what to_pandas() of its result wrote",
        )
    for name in metrics:
        texts = fields.pop(name)
        if name not in written and isinstance(texts, list) and any(map(_is_word, texts)):
            written[name] = texts
    with_reference = any(_has_text(fields, REFERENCES, row) for row in range(len(run)))
    described = replace(
        run,
        format="ragas",
        format_version=find_generation(fields),
        metrics=metrics,
        fields=fields,
        written=written,
        provenance=dict(provenance),
        metric_facts={
            name: facts
            for name in metrics
            if (facts := find_facts(name, with_reference=with_reference)) is not None
        },
        aliases=find_aliases([*metrics, *fields]),
        must_agree=_find_agreements(provenance, fields),
        warnings=tuple(_find_warnings(metrics, fields)),
    )
    return _identify(_mark_unanswered(described), question, id_field)


def _find_scores(fields: Mapping[str, Column]) -> dict[str, Column]:
    """Return the columns that are scores: metrics by name, or numbers behind the last input of Ragas."""
    names = list(fields)
    inputs = [place for place, name in enumerate(names) if name in INPUTS or name.split(".")[0] in INPUTS]
    last = max(inputs, default=-1)
    scores: dict[str, Column] = {}
    for place, name in enumerate(names):
        known = is_metric(name)
        if name in INPUTS or (not known and words_of(name) & {"id", "index", "attempt"}):
            continue
        numbers = read_scores(fields[name])
        if numbers is None:
            if known and all(value is None for value in fields[name]):
                scores[name] = np.full(len(fields[name]), np.nan)
            continue
        is_behind = place > last and guess_kind(name, is_metric=True) in {"score", "number"}
        if known or (is_behind and not np.isnan(numbers).all()):
            scores[name] = _mend_epsilon(numbers) if "context_precision" in name else numbers
    return scores


def read_scores(column: Column) -> Floats | None:
    """Return a column as scores (n), NaN where there is none; None where a value is no score.

    Truth values and the words pass and fail are 1 and 0; of a `MetricResult(value=…)` the value counts.
    """
    if isinstance(column, np.ndarray):
        return column
    values = np.full(len(column), np.nan)
    found = False
    for row, value in enumerate(column):
        number = _read_score(value)
        if number is None:
            return None
        values[row] = number
        found = found or not math.isnan(number)
    return values if found else None


def _read_score(value: object) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        text = read_result(value)
        word = WORDS.get(text.strip().lower())
        return read_number(text) if word is None else word
    return read_number(value)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and read_result(value).strip().lower() in WORDS


def _mend_epsilon(numbers: Floats) -> Floats:
    """Return context precisions without the trace of Ragas' epsilon: 1 for 0.9999999999, 0.5 for 0.49999999995."""
    plain = np.round(numbers, 4)
    with np.errstate(invalid="ignore"):  # an infinite one stays as it is
        return np.where(np.abs(numbers - plain) <= EPSILON, plain, numbers)


def _read_lists(column: Column) -> Column:
    if isinstance(column, np.ndarray):
        return column
    read = [read_list(value) if isinstance(value, str) else None for value in column]
    return [value if items is None else items for value, items in zip(column, read, strict=True)]


def _text(fields: Mapping[str, Column], name: str, row: int) -> str:
    column = fields[name]
    return ", ".join(label_texts(float(column[row]) if isinstance(column, np.ndarray) else column[row]))


def _has_text(fields: Mapping[str, Column], names: Sequence[str], row: int) -> bool:
    return any(name in fields and _text(fields, name, row) for name in names)


def _find_agreements(provenance: Mapping[str, object], fields: Mapping[str, Column]) -> dict[str, Agreement]:
    """Return the facts in which two runs must agree: the judge, and each question's reference answer."""
    names = [name for name in provenance if words_of(name) & {"judge", "evaluator"}]
    names += ["reference"] if any(name in fields for name in REFERENCES) else []
    return dict.fromkeys(names, "exactly")


def _mark_unanswered(run: Run) -> Run:
    """Return the run with `no_answer` as error of records whose answer is blank, where others have one."""
    column = next((name for name in ANSWERS if name in run.fields), None)
    if column is None or "error" in run.fields:
        return run
    answered = [bool(_text(run.fields, column, row)) for row in range(len(run))]
    if all(answered) or not any(answered):
        return run
    errors: list[object] = [None if has else "no_answer" for has in answered]
    return replace(run, fields={**run.fields, "error": errors})


def _find_warnings(metrics: Mapping[str, Column], fields: Mapping[str, Column]) -> list[str]:
    contexts = next((fields[name] for name in CONTEXTS if name in fields), None)
    if not isinstance(contexts, list):
        return []
    empty = [row for row, value in enumerate(contexts) if isinstance(value, list) and not value]
    zero = [
        name
        for name, column in metrics.items()
        if depends_on_contexts(name) and any(column[row] == 0 for row in empty)
    ]
    if not zero:
        return []
    told = f"{count_of(len(empty), 'record has', 'records have')} no retrieved context and scores of 0"
    return [f"{told} ({name_some(zero, 4)}): Ragas writes 0 there also where it had nothing to judge"]


def _identify(run: Run, question: str | None, id_field: str | None) -> Run:
    """Return the run with ids: those of a column `id`, or made of the questions."""
    if question is None:
        return replace(
            run,
            unpaired="the file has scores without questions, so nothing but their place tells them apart; write the "
            "frame with its questions: result.to_pandas()",
            id_field="nothing",
            made_ids=True,
        )
    texts = [_question_text(run.fields, question, row) for row in range(len(run))]
    fields: dict[str, Column] = {**run.fields, "question": list(texts)}
    given = run.texts("id")
    if given and all(given) and id_field in (None, "id"):
        fields.pop("id", None)
        return replace(run, ids=given, fields=fields, id_field="id")
    blank = [row for row, text in enumerate(texts) if not text]
    if blank:
        places = name_some([run.place(row) for row in blank], 3)
        raise InputError(
            f"{count_of(len(blank), 'record has', 'records have')} no {question}, and nothing else "
            f"identifies them: {places}",
            run.file,
        )
    references = [
        next((_text(run.fields, name, row) for name in REFERENCES if name in run.fields), "")
        for row in range(len(run))
    ]
    ids, repeated = identify_questions(texts, references)
    warning = f"the records have no id and are matched by the text of {question}"
    if repeated:
        warning += f"; {tell_repeated(len(repeated))}"
    others = [name for name in fields if _could_identify(fields, name)]
    if others:
        warning += f" (samples: {{id: {others[0]}}} would take that field)"
    return replace(
        run,
        ids=ids,
        fields=fields,
        id_field=f"text of {question}",
        made_ids=True,
        warnings=(warning, *run.warnings),
    )


def _question_text(fields: Mapping[str, Column], name: str, row: int) -> str:
    """Return the normalised question of a record; of a conversation what the human said, as the rest is answers."""
    value = fields[name][row]
    turns: list[tuple[str, str]] = []
    if isinstance(value, list):
        turns = [
            (str(turn.get("type")), str(turn.get("content"))) for turn in value if isinstance(turn, dict)
        ]
    elif isinstance(value, str) and value.lstrip().startswith("[{"):
        turns = read_turns(value)
    asked = [content for kind, content in turns if kind == "human"] or [content for _, content in turns]
    return normalise("\n".join(asked) if asked else _text(fields, name, row))


def _could_identify(fields: Mapping[str, Column], name: str) -> bool:
    """Say whether a field is named as an id and has another value in each record."""
    if "id" not in words_of(name) or name in INPUTS:
        return False
    texts = [_text(fields, name, row) for row in range(len(fields[name]))]
    return all(texts) and len(set(texts)) == len(texts)
