"""Langfuse's export of scores, one row a score, as one record a trace.

A score of a whole session or run belongs to no trace and is left out. Nothing here looks at other exports.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gateline.errors import InputError, count_of, name_some
from gateline.readers._building import Problems, describe
from gateline.readers._rows import Row, Rows, is_blank, parse_cell, places, read_scores
from gateline.samples import label_texts

NUMBERS = frozenset({"NUMERIC", "BOOLEAN"})
LABELS = frozenset({"CATEGORICAL"})
SOURCE, LABEL = "source.", "score."


@dataclass
class _Trace:
    """What the scores say of one trace."""

    line: int
    tags: object = None
    values: dict[str, list[float]] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)


def make_records(rows: Rows, file: str) -> tuple[list[Row], list[int], list[str]]:
    """Return a record for each trace, the line of its first score, and warnings.

    Several scores of one name for one trace become their mean. An InputError tells scores that are no numbers.
    """
    traces: dict[str, _Trace] = {}
    left_out: Counter[str] = Counter()
    problems = Problems(file)
    for line, row in places(rows):
        trace_id, name, kind = row.get("traceId"), row.get("name"), str(row.get("dataType"))
        if is_blank(trace_id):
            left_out["of no trace, but of a session or a whole run"] += 1
        elif is_blank(name):
            problems.add(line, "the score has no name")
        elif kind not in NUMBERS | LABELS:
            left_out[f"of the type {kind}"] += 1
        else:
            trace = traces.setdefault(str(trace_id), _Trace(line, parse_cell(row.get("traceTags"))))
            _add(trace, str(name), row, kind, line, problems)
    problems.raise_any()
    if not traces:
        raise InputError("0 samples: no score of a trace", file)
    warnings = [
        f"{count_of(times, 'score is', 'scores are')} {what}, and {'is' if times == 1 else 'are'} left out"
        for what, times in left_out.items()
    ]
    return _finish(traces), [trace.line for trace in traces.values()], warnings + _tell_repeated(traces)


def _add(trace: _Trace, name: str, row: Row, kind: str, line: int, problems: Problems) -> None:
    if kind in LABELS:
        trace.labels.setdefault(name, []).extend(label_texts(row.get("stringValue")))
    else:
        given = row.get("stringValue") if is_blank(row.get("value")) else row.get("value")
        scores = read_scores([given])
        if scores is None and not is_blank(given):
            problems.add(line, f"the score '{name}' is no number, but {describe(given)}")
        trace.values.setdefault(name, []).extend(scores or [])
    trace.sources.setdefault(name, []).extend(label_texts(row.get("source")))


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of those values that are numbers; NaN where there is none."""
    numbers = [value for value in values if not math.isnan(value)]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def _finish(traces: dict[str, _Trace]) -> list[Row]:
    """Return the records, each with all names."""
    names, labels, sources = (
        dict.fromkeys(name for trace in traces.values() for name in getattr(trace, part))
        for part in ("values", "labels", "sources")
    )
    has_tags = any(trace.tags for trace in traces.values())
    records = []
    for trace_id, trace in traces.items():
        record: Row = {
            "id": trace_id,
            "traceId": trace_id,
            "metrics": {name: mean_of(trace.values.get(name, [])) for name in names},
            "slices": {"tags": trace.tags or None} if has_tags else {},
        }
        record |= {LABEL + name: sorted({*trace.labels.get(name, [])}) or None for name in labels}
        record |= {
            SOURCE + name: ", ".join(sorted({*trace.sources.get(name, [])})) or None for name in sources
        }
        records.append(record)
    return records


def _tell_repeated(traces: dict[str, _Trace]) -> list[str]:
    repeated = Counter(name for trace in traces.values() for name, of in trace.values.items() if len(of) > 1)
    if not repeated:
        return []
    shown = name_some([f"{name} ({times})" for name, times in repeated.items()], 4)
    return [f"traces have several scores of one name, of which the mean is taken: {shown}"]
