"""Langfuse's export of traces, one row a trace: latency, cost, tokens, labels, and a list of scores a name.

A score may be called like one of the table's own columns, and then stands in its place. Nothing here looks at other
exports.
"""

from __future__ import annotations

from collections.abc import Mapping

from gateline.errors import count_of, name_some
from gateline.readers._building import flatten
from gateline.readers._langfuse_scores import LABEL, mean_of
from gateline.readers._rows import (
    Row,
    Rows,
    drop_empty,
    input_text,
    is_blank,
    parse_cell,
    places,
    read_scores,
    take_number,
)
from gateline.samples import read_number

_MILLISECONDS = 1000.0
MEASURED = {
    "latency_ms": ("latency", _MILLISECONDS),
    "cost_usd": ("totalCost", 1.0),
    "tokens.input": ("inputTokens", 1.0),
    "tokens.output": ("outputTokens", 1.0),
    "tokens.total": ("totalTokens", 1.0),
}
"""What a trace was measured to take: our name, theirs, and the factor to our unit."""
_OF_USAGE = {"inputTokens": "promptTokens", "outputTokens": "completionTokens", "totalTokens": "totalTokens"}
KEPT = ("name", "release", "version", "environment", "sessionId", "userId")
NUMBERS = frozenset(
    ["latency", "inputCost", "outputCost", "totalCost", "inputTokens", "outputTokens", "totalTokens"]
    + [f"{level}Count" for level in ("error", "warning", "default", "debug", "observation")]
)
OTHERS = frozenset(
    [
        "id",
        "timestamp",
        "tags",
        "input",
        "output",
        "metadata",
        "usage",
        "level",
        "comments",
        "observations",
        "scores",
        "bookmarked",
        "public",
        "projectId",
        "createdAt",
        "updatedAt",
        "externalId",
        "htmlPath",
    ]
)
"""Columns of the table that may hold a list and are no scores."""


def make_records(rows: Rows, file: str) -> tuple[list[Row], list[str]]:
    """Return a record for each trace, without identity but with `question`, and warnings."""
    content: list[Row] = [{name: parse_cell(value) for name, value in row.items()} for row in rows.rows]
    names = [name for name in rows.names if any(isinstance(row.get(name), list) for row in content)]
    scored = [name for name in names if name not in {*OTHERS}]
    values, words = _read_scores(content, scored)
    has_answers = any(not is_blank(row.get("output")) for row in content)
    answered_with_errors = 0
    records: list[Row] = []
    for place, (line, _) in enumerate(places(rows)):
        row = {name: value for name, value in content[place].items() if name not in scored}
        failed = row.get("level") == "ERROR" or (read_number(row.get("errorCount")) or 0) > 0
        is_unanswered = is_blank(row.get("output")) and (failed or has_answers)
        answered_with_errors += failed and not is_unanswered
        record: Row = {
            "metrics": {name: of[place] for name, of in values.items()},
            "slices": _read_labels(row),
            "question": input_text(row.get("input")) or None,
            "error": "no_answer" if is_unanswered else None,
            "traceId": row.get("id"),
        }
        row = _with_usage(row)
        for ours, (theirs, factor) in MEASURED.items():
            record[ours] = take_number(row, theirs, file, line, factor)
        record |= {name: row.get(name) for name in KEPT}
        record |= {LABEL + name: content[place].get(name) for name in words}
        records.append(record)
    drop_empty(records, [name for name in records[0] if name not in {"metrics", "slices", "traceId"}])
    return records, _tell(scored, answered_with_errors)


def _read_scores(content: list[Row], scored: list[str]) -> tuple[dict[str, list[float]], list[str]]:
    """Return the scores by name (n each), the mean of a trace's several, and the names of those that are words."""
    numbers: dict[str, list[float]] = {}
    words = []
    for name in scored:
        lists = [
            value if isinstance(value, list) else [value] for value in (row.get(name) for row in content)
        ]
        flat = read_scores([value for values in lists for value in values])
        if flat is None:
            words.append(name)
            continue
        rest = iter(flat)
        numbers[name] = [mean_of([next(rest) for _ in values]) for values in lists]
    return numbers, words


def _read_labels(row: Mapping[str, object]) -> dict[str, object]:
    """Return tags and those parts of the metadata that are texts, numbers or truth values."""
    metadata = row.get("metadata")
    labels = flatten(metadata) if isinstance(metadata, Mapping) else {}
    labels = {name: value for name, value in labels.items() if not isinstance(value, list | dict)}
    return labels | ({"tags": row["tags"]} if not is_blank(row.get("tags")) else {})


def _with_usage(row: Row) -> Row:
    """Return a row with the counts of tokens that only the object `usage` holds."""
    usage = row.get("usage")
    if not isinstance(usage, Mapping):
        return row
    return row | {ours: usage.get(theirs) for ours, theirs in _OF_USAGE.items() if is_blank(row.get(ours))}


def _tell(scored: list[str], answered_with_errors: int) -> list[str]:
    told = []
    hidden = [name for name in scored if name in NUMBERS or name in KEPT]
    if hidden:
        told.append(f"scores stand in the place of the export's own columns: {name_some(hidden)}")
    if answered_with_errors:
        told.append(
            f"{count_of(answered_with_errors, 'trace has', 'traces have')} an answer and an error on the way "
            "to it; scores count"
        )
    return told
