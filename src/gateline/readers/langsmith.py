"""LangSmith: experiments as tables, of `ExperimentResults.to_pandas()` or `get_test_results()` (CSV, JSON).

The tool's evaluators also judge a run that failed, so its error is looked at before its scores. It says nothing of
metrics: neither which way is better nor a range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gateline.errors import InputError, count_of, name_some
from gateline.readers._building import RunBuilder
from gateline.readers._copies import refuse_copies, trace_of
from gateline.readers._identity import identify_by, identify_questions, tell_repeated
from gateline.readers._python_text import read_list
from gateline.readers._rows import (
    Row,
    Rows,
    column_names,
    drop_empty,
    first_line,
    input_text,
    is_blank,
    number_attempts,
    places,
    read_rows,
    read_scores,
    take_ids,
    take_number,
)
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Run, read_number

NAME = "langsmith"
EXAMPLE = "example_id"
FEEDBACK = "feedback."
INPUTS = ("inputs.", "input.")
OUTPUTS = ("outputs.", "output.")
REFERENCE = "reference."
_MILLISECONDS = 1000.0


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the columns are those of an experiment: inputs, and feedback or outputs with their example."""
    del path
    names = column_names(head)
    begun = {part for part in (*INPUTS, *OUTPUTS, FEEDBACK) if any(name.startswith(part) for name in names)}
    has_example = {EXAMPLE, "execution_time"} <= names
    return (not begun.isdisjoint(INPUTS) and FEEDBACK in begun) or (
        not begun.isdisjoint(OUTPUTS) and has_example
    )


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each run of an example; repetitions are attempts at it.

    A run with an error and no output is one without an answer. An InputError tells a file without feedback, and rows
    without an identity.
    """
    rows = read_rows(source)
    names = rows.names
    if not rows.rows:
        raise InputError("0 samples: the file has no row", source.name)
    scores, words = _split_feedback(rows, [name for name in names if name.startswith(FEEDBACK)])
    if not scores:
        found = f"its feedback is text: {name_some(words, 8)}" if words else f"found {name_some(names, 12)}"
        raise InputError(
            f"has no feedback that is a number or true and false; {found}",
            source.name,
            "have the evaluators give a score beside their value",
        )
    records = _make_records(source, rows, scores, words)
    ids, made_of = _identify(source, rows, records)
    refuse_copies(source.name, ids, [_trace(row) for row in rows.rows])
    attempts = number_attempts(ids) or [None] * len(ids)
    for record, name, attempt in zip(records, ids, attempts, strict=True):
        record["id"] = name
        if attempt is not None:
            record["attempt"] = attempt
    builder = RunBuilder(source, ReadOptions(), NAME)
    builder.add(records, rows.lines)
    run = _describe(builder.finish(), names, made_of)
    if options.id_field in (None, "id", run.id_field) or made_of:
        return run
    return identify_by(run, str(options.id_field))


def _trace(row: Row) -> str | None:
    """Return what tells one run from every other: its id, or else all that it holds."""
    own = row.get("id")
    return str(own) if not is_blank(own) else trace_of(row, [read_number(row.get("execution_time"))])


def _split_feedback(rows: Rows, names: Sequence[str]) -> tuple[dict[str, list[float]], list[str]]:
    """Return the feedback that is a score, and the names of what is not."""
    scores: dict[str, list[float]] = {}
    words = []
    for name in names:
        values = read_scores(rows.column(name))
        if values is None:
            words.append(name)
        else:
            scores[name.removeprefix(FEEDBACK)] = values
    return scores, words


def _make_records(
    source: Source, rows: Rows, scores: Mapping[str, Sequence[float]], words: Sequence[str]
) -> list[Row]:
    has_answers = any(_has_answer(row) for row in rows.rows)
    records: list[Row] = []
    for place, (line, row) in enumerate(places(rows)):
        error = first_line(row.get("error"))
        is_unanswered = has_answers and not _has_answer(row)
        record: Row = {
            "metrics": {name: values[place] for name, values in scores.items()},
            "question": input_text(_part(row, INPUTS)) or None,
            "latency_ms": take_number(row, "execution_time", source.name, line, _MILLISECONDS),
            "error": "no_answer" if is_unanswered or (error and not _has_answer(row)) else error,
            "error_message": error,
            "run_id": row.get("id"),
        }
        record |= {name: row.get(name) for name in words}
        record |= {
            name: _read_cell(value)
            for name, value in row.items()
            if name.startswith((*INPUTS, *OUTPUTS, REFERENCE))
        }
        records.append(record)
    kept = {"metrics", *words} | ({"error"} & scores.keys())  # a score `error` is no error
    drop_empty(records, [name for name in records[0] if name not in kept])
    return records


def _part(row: Row, begins: tuple[str, ...]) -> Row:
    """Return the columns of a row that begin so, without that beginning."""
    return {name.partition(".")[2]: value for name, value in row.items() if name.startswith(begins)}


def _has_answer(row: Row) -> bool:
    return not all(is_blank(_read_cell(value)) for value in _part(row, OUTPUTS).values())


def _read_cell(value: object) -> object:
    """Return the list that a cell holds as Python or JSON text; anything else as it is."""
    items = read_list(value) if isinstance(value, str) else None
    return value if items is None else items


def _identify(source: Source, rows: Rows, records: Sequence[Row]) -> tuple[list[str], str]:
    """Return the ids, and what they were made of where the file has none."""
    if any(value is not None for value in rows.column(EXAMPLE)):
        return take_ids(rows, EXAMPLE, source.name), ""
    texts = [str(record.get("question") or "") for record in records]  # gone where none has one
    if not all(texts):
        raise InputError(
            f"{count_of(texts.count(''), 'record has', 'records have')} neither {EXAMPLE} nor inputs, so "
            "nothing identifies them",
            source.name,
        )
    ids, repeated = identify_questions(texts, [input_text(_part(row, (REFERENCE,))) for row in rows.rows])
    told = f"; {tell_repeated(len(repeated))}" if repeated else ""
    return ids, f"text of the inputs{told}"


def _describe(run: Run, names: Sequence[str], made_of: str) -> Run:
    references = [name for name in names if name.startswith(REFERENCE)]
    described = replace(
        run,
        format_version="get_test_results"
        if any(name.startswith("input.") for name in names)
        else "to_pandas",
        id_field=made_of.partition(";")[0] or EXAMPLE,
        made_ids=bool(made_of),
        aliases={f"{FEEDBACK}{name}": name for name in run.metrics}
        | {name.removeprefix(FEEDBACK): name for name in run.fields if name.startswith(FEEDBACK)},
        must_agree=dict.fromkeys(references, "exactly"),
    )
    if not made_of:
        return described
    return replace(described, warnings=(f"the records have no id and are matched by the {made_of}",))
