"""Scores that retrieval tools wrote per query: `trec_eval -q`, pytrec_eval's JSON, tables of ir_measures.

Measures keep the names that the tool gave them (`ndcg_cut_10`, `nDCG@10`): two tools may define one differently.
Rows of means over all queries are no samples. Nothing here computes or fills in a value: pytrec_eval and
`trec_eval` leave out queries without results, and that must show.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from gateline.errors import InputError
from gateline.readers._building import Problems
from gateline.readers._columns import MOST_NAMES
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.readers._trec_lines import JSON_SCORES, first_rows, names_a_measure, read_json_object
from gateline.samples import Column, MetricFacts, Run, read_number

NAME = "trec-eval"
ALL = "all"
TEXTS = frozenset({"runid", "relstring"})
"""Rows of trec_eval that hold a text."""
SHARES = re.compile(
    r"(ndcg|map|ap|rprec|r-precision|recip_rank|rr|mrr|bpref|infap|11pt_avg|iprec_at_recall|set_(p|recall|map|f)"
    r"|set[pf]|err|rbp|f1|p|r|recall|precision|success|hit_rate)(?![a-z])",
    re.IGNORECASE,
)
"""Beginnings of measures of quality between 0 and 1."""
COUNTS = re.compile(r"(num_?(q|ret|rel_?ret|rel|nonrel_judged_ret)|judged)(?![a-z])", re.IGNORECASE)
"""Beginnings of those that say nothing of quality."""
RELEVANT = re.compile(r"num_?rel(\(.*\))?", re.IGNORECASE)
"""How many documents are relevant to a query: a fact of the labels, and none of the rankings."""
BEIR_MEANS = re.compile(rb'"(NDCG|MAP|Recall|P|MRR|R_cap|Hole|Accuracy)@\d+"', re.IGNORECASE)


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether these are three columns with a measure, or JSON, query -> measure -> number."""
    del path
    begin = without_mark(head)
    if begin.startswith(b"{"):
        inner = JSON_SCORES.match(begin)
        return inner is not None and names_a_measure(inner[1])
    rows = first_rows(begin)
    return bool(rows) and (all(map(_is_trec_eval_row, rows)) or all(map(_is_table_row, rows)))


def _is_trec_eval_row(row: list[bytes]) -> bool:
    return len(row) == 3 and (
        row[0].decode("ascii", "replace") in TEXTS or (names_a_measure(row[0]) and _is_value(row[2]))
    )


def _is_table_row(row: list[bytes]) -> bool:
    return len(row) == 3 and names_a_measure(row[1]) and _is_value(row[2])


def _is_value(cell: bytes) -> bool:
    number = read_number(cell.decode("utf-8", "replace"))
    return number is not None


def read(source: Source, options: ReadOptions) -> Run:
    """Return the values of each query.

    Raises InputError where there are means only, where the file was cut off, and where means are not of the rows. Two
    runs must agree on how many documents are relevant to each query, where the tool says it.
    """
    del options
    begin = without_mark(source.head)
    if begin.startswith(b"{"):
        return _read_json(source)
    rows = first_rows(begin)
    measure_first = bool(rows) and all(map(_is_trec_eval_row, rows)) and _names_differ(source)
    return _read_table(source, measure_first=measure_first)


def _names_differ(source: Source) -> bool:
    """Say whether the first column holds measures: `trec_eval` writes more of these than of anything else."""
    rows = first_rows(without_mark(source.head), 200)
    return not all(map(_is_table_row, rows))


def _read_table(source: Source, *, measure_first: bool) -> Run:
    from gateline.readers._trec_means import Written, count_queries, hold_means

    values: dict[str, dict[str, float]] = {}
    lines: dict[str, int] = {}
    means: dict[str, str] = {}
    measures: defaultdict[str, Written] = defaultdict(Written)
    problems = Problems(source.name)
    for line, text in enumerate(source.decode().split("\n"), 1):
        cells = text.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) != 3:
            problems.add(line, f"columns: {len(cells)}; a line of this file has 3")
            continue
        query, measure = (cells[1], cells[0]) if measure_first else (cells[0], cells[1])
        if query == ALL:
            means[measure] = cells[2]
            continue
        if measure in TEXTS:
            continue
        number = read_number(cells[2])
        if number is None or math.isinf(number):
            problems.add(line, f"the value of {measure} is not a number: {cells[2]!r}")
        elif measure in values.setdefault(query, {}):
            problems.add(line, f"query '{query}' has {measure} twice")
        else:
            values[query][measure] = number
            lines.setdefault(query, line)
            measures[measure].take(query, number, cells[2])
        if len(measures) > MOST_NAMES:
            raise _refuse_measures(f"{source.name}:{line}")
    problems.raise_any()
    if not values:
        raise InputError("holds means over all queries only", source.name, "run the tool with -q")
    if measure_first and not means:
        raise InputError(
            "has no rows for 'all': trec_eval stopped before its end",
            source.name,
            "trec_eval 10 stops where the run lacks a query of the qrels; run it with -c",
        )
    shares = frozenset(name for name in means if SHARES.match(name.replace("_cut_", "@")))
    hold_means(measures, means, shares, count_queries(means, len(values), source.name), source.name)
    return _finish(source, "trec-eval" if measure_first else "ir-measures", values, lines, means)


def _refuse_measures(place: str) -> InputError:
    return InputError(
        f"more than {MOST_NAMES} different measures; their names seem to be data",
        place,
        "are columns in another order, or is this no table of measures?",
    )


def _read_json(source: Source) -> Run:
    value = read_json_object(source, "query -> measure -> number")
    if BEIR_MEANS.search(source.head) and names_a_measure(next(iter(value)).encode()):
        raise InputError(
            "holds means over all queries only, as BEIR writes them",
            source.name,
            "save the rankings as a run file: it can be checked with samples: {golden_set: …}",
        )
    values: dict[str, dict[str, float]] = {}
    for query, measured in value.items():
        values[query] = {}
        for measure, item in measured.items():
            number = read_number(item)
            if number is None or math.isinf(number):
                raise InputError(f"{measure} of '{query}' is not a number: {item!r}", source.name)
            values[query][measure] = number
    names = {measure for measured in values.values() for measure in measured}
    if len(names) > MOST_NAMES:
        raise _refuse_measures(source.name)
    scores = sum(map(len, values.values()))
    are_known = (names_a_measure(name.encode("utf-8", "replace")) for name in names)
    if 2 * scores < len(names) * len(values) and not any(are_known):
        # a measure is computed for every query, a document is found for some
        raise InputError(
            f"names no measure that is known, and a query has {scores / len(values):.0f} of {len(names)} names: "
            "they seem to be documents",
            source.name,
            "--read-as trec reads rankings and labels",
        )
    return _finish(source, "pytrec-eval", values, dict.fromkeys(values, 0), {})


def find_facts(measure: str) -> MetricFacts | None:
    """Return direction and range of a retrieval measure by its name; None where the name is not known for sure."""
    name = measure.replace("_cut_", "@")
    if COUNTS.match(name):
        return MetricFacts(None)
    return MetricFacts("higher", (0.0, 1.0)) if SHARES.match(name) else None


def _finish(
    source: Source,
    file_format: str,
    values: dict[str, dict[str, float]],
    lines: dict[str, int],
    means: dict[str, str],
) -> Run:
    measures = dict.fromkeys(measure for measured in values.values() for measure in measured)
    metrics: dict[str, Column] = {
        measure: np.array([measured.get(measure, math.nan) for measured in values.values()])
        for measure in measures
    }
    warnings = []
    counted = read_number(means.get("num_q", ""))
    if counted is not None and not math.isnan(counted) and counted != len(values):
        warnings.append(
            f"its means count {int(counted)} queries, but only {len(values)} have rows: the others have no results"
        )
    return Run(
        file=source.name,
        sha256=source.sha256,
        format=file_format,
        ids=list(values),
        lines=np.array([lines[query] for query in values], dtype=np.int64),
        metrics=metrics,
        provenance={"run_tag": means["runid"]} if "runid" in means else {},
        id_field="query",
        warnings=tuple(warnings),
        must_agree={name: "exactly" for name in metrics if RELEVANT.fullmatch(name)},
        metric_facts={name: facts for name in metrics if (facts := find_facts(name)) is not None},
    )
