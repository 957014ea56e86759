"""Rankings and relevance labels in the formats of TREC: run files, qrels, the BEIR layout, ranx' JSON.

A run file (`query Q0 document rank score tag`) becomes a run without metrics: the field `retrieved` holds the
ranked documents of each query. A qrels file (`query iteration document grade`, or BEIR's table with a header)
becomes a golden set: the field `relevant` holds the grade of each judged document. Columns stand apart by any
number of blanks and tabs; `D1#1` is one document. The rank column is not looked at, as trec_eval doesn't: files
count ranks from 0, from 1, or not at all. The order is by score, descending, and among equal scores by document,
descending. Nothing here computes a metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, name_some
from gateline.readers import _beir
from gateline.readers._building import Problems
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.readers._trec_lines import (
    JSON_SCORES,
    NUMBER,
    WHOLE,
    Lines,
    Names,
    first_rows,
    names_a_measure,
    read_json_object,
    read_lines,
    read_scores,
)
from gateline.samples import Column, Floats, Run

NAME = "trec"
RUN, QRELS = "trec-run", "trec-qrels"
SUFFIXES = frozenset({".run", ".trec"})


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a run, a qrels file, a BEIR folder, or a JSON object of objects of numbers."""
    if not head:
        return bool(_beir.find_labels(path))
    begin = without_mark(head)
    if begin.startswith(b"{"):
        inner = JSON_SCORES.match(begin)
        return inner is not None and inner[1] != b"0" and not names_a_measure(inner[1])
    rows = first_rows(begin)
    if not rows:
        return False
    if tuple(rows[0]) == _beir.HEADER:
        return True
    if _is_run_row(rows[0]) or path.suffix.lower() in SUFFIXES:
        return True
    return _is_qrels_row(rows[0]) and all(len(row) == 4 for row in rows)


def _is_run_row(row: list[bytes]) -> bool:
    return len(row) == 6 and all(NUMBER.fullmatch(cell) for cell in row[3:5])


def _is_qrels_row(row: list[bytes]) -> bool:
    return len(row) == 4 and WHOLE.fullmatch(row[3]) is not None and row[0] != b"runid"


def read(source: Source, options: ReadOptions) -> Run:
    """Return a run file's rankings, or a qrels file's labels."""
    if source.path.is_dir():
        return _beir.add_questions(source, read(_beir.choose_labels(source), options))
    begin = without_mark(source.head)
    if begin.startswith(b"{"):
        return _read_json(source)
    rows = first_rows(begin, 1)
    if rows and tuple(rows[0]) == _beir.HEADER:
        return _make_qrels(source, read_lines(source, 3, skip_first=True), (0, 1, 2))
    if rows and len(rows[0]) == 4:
        return _make_qrels(source, read_lines(source, 4), (0, 2, 3))
    return _make_run(source)


def _make_run(source: Source) -> Run:
    names, queries = Names(source), dict[str, int]()
    codes: list[npt.NDArray[np.int32]] = []
    documents: list[str] = []
    scores: list[Floats] = []
    lines: list[npt.NDArray[np.int64]] = []
    tags: set[str] = set()
    for block in read_lines(source, 6):
        of_block = names.decode(block.columns[0])
        codes.append(np.array([queries.setdefault(name, len(queries)) for name in of_block], dtype=np.int32))
        documents += names.decode(block.columns[2])
        scores.append(read_scores(source, block.columns[4], block.numbers))
        tags.update(cell.decode("utf-8", "replace") for cell in set(block.columns[5]))
        lines.append(block.numbers)
    if not queries:
        raise InputError("0 samples: the file has no line of a ranking", source.name)
    code, score, line = np.concatenate(codes), np.concatenate(scores), np.concatenate(lines)
    if (np.diff(code) < 0).any():  # the lines of a query need not stand together
        order = np.argsort(code, kind="stable")
        code, score, line = code[order], score[order], line[order]
        documents = [documents[place] for place in order.tolist()]
    starts = np.searchsorted(code, np.arange(len(queries) + 1))
    rankings, tied = _rank(source, list(queries), documents, score, starts, line)
    return _finish(source, RUN, list(queries), line[starts[:-1]], {"retrieved": rankings}, tied, sorted(tags))


def _rank(
    source: Source,
    queries: list[str],
    documents: list[str],
    score: Floats,
    starts: npt.NDArray[np.intp],
    line: npt.NDArray[np.int64],
) -> tuple[list[object], int]:
    """Return the documents of each query, best first, and how many queries have equal scores."""
    places = starts.tolist()
    steps = np.diff(score) >= 0
    steps[starts[1:-1] - 1] = False
    unsettled = np.zeros(len(queries), dtype=bool)
    unsettled[np.searchsorted(starts, np.flatnonzero(steps), side="right") - 1] = True
    rankings: list[object] = []
    problems = Problems(source.name)
    tied = 0
    for query, needs_order in enumerate(unsettled.tolist()):
        begin, end = places[query], places[query + 1]
        ranking = documents[begin:end]
        if len(set(ranking)) < len(ranking):
            _tell_repeated(problems, queries[query], ranking, line[begin:end])
        if needs_order:
            rows = sorted(zip(score[begin:end].tolist(), ranking, strict=True), reverse=True)
            ranking = [document for _, document in rows]
            tied += len({value for value, _ in rows}) < len(rows)
        rankings.append(ranking)
    problems.raise_any()
    return rankings, tied


def _tell_repeated(
    problems: Problems, query: str, documents: list[str], lines: npt.NDArray[np.int64]
) -> None:
    first: dict[str, int] = {}
    for document, line in zip(documents, lines.tolist(), strict=True):
        before = first.setdefault(document, line)
        if before != line:
            problems.add(
                line,
                f"query '{query}' has document '{document}' twice, in lines {before} and {line}",
                "a document counted twice lets a score pass 1: keep its best line",
            )


def _make_qrels(source: Source, blocks: Iterator[Lines], places: tuple[int, int, int]) -> Run:
    names = Names(source)
    grades: dict[str, dict[str, int]] = {}
    first: dict[str, int] = {}
    problems = Problems(source.name)
    for block in blocks:
        cells = (block.columns[place] for place in places)
        queries, documents, written = names.decode(next(cells)), names.decode(next(cells)), next(cells)
        for query, document, cell, line in zip(
            queries, documents, written, block.numbers.tolist(), strict=True
        ):
            if not WHOLE.fullmatch(cell):
                problems.add(
                    line, f"the grade must be a whole number, not {cell.decode('utf-8', 'replace')!r}"
                )
                continue
            first.setdefault(query, line)
            _judge(problems, grades.setdefault(query, {}), (query, document, int(cell)), line)
    problems.raise_any()
    if not grades:
        raise InputError("0 samples: the file has no line of a label", source.name)
    lines = np.array(list(first.values()), dtype=np.int64)
    return _finish(source, QRELS, list(grades), lines, {"relevant": list(grades.values())}, 0, [])


def _judge(problems: Problems, grades: dict[str, int], label: tuple[str, str, int], line: int) -> None:
    query, document, grade = label
    before = grades.setdefault(document, grade)
    if before != grade:
        problems.add(line, f"query '{query}' has document '{document}' with two grades, {before} and {grade}")


def _read_json(source: Source) -> Run:
    """Return ranx' JSON, query -> document -> score or grade; whole numbers only are grades."""
    value = read_json_object(source, "query -> document -> number")
    kinds: set[type] = set()
    for query, judged in value.items():
        kinds |= set(map(type, judged.values()))
        if not kinds <= {int, float} or any(map(math.isnan, judged.values())):
            raise InputError(f"query '{query}' has a score or grade that is not a number", source.name)
    lines = np.zeros(len(value), np.int64)
    if kinds == {int}:
        return _finish(source, QRELS, list(value), lines, {"relevant": list(value.values())}, 0, [])
    rankings: list[object] = []
    tied = 0
    for judged in value.values():
        rows = sorted(((score, document) for document, score in judged.items()), reverse=True)
        tied += len({score for score, _ in rows}) < len(rows)
        rankings.append([document for _, document in rows])
    return _finish(source, RUN, list(value), lines, {"retrieved": rankings}, tied, [])


def _finish(
    source: Source,
    file_format: str,
    queries: list[str],
    lines: npt.NDArray[np.int64],
    fields: dict[str, Column],
    tied: int,
    tags: list[str],
) -> Run:
    warnings = []
    if tied:
        warnings.append(
            f"scores are equal in {tied} of {len(queries)} rankings; equal ones are ordered by document id, "
            "descending, as trec_eval does"
        )
    return Run(
        file=source.name,
        sha256=source.sha256,
        format=file_format,
        ids=queries,
        lines=lines,
        fields=fields,
        provenance={"run_tag": name_some(tags, 3)} if tags else {},
        id_field="query",
        warnings=tuple(warnings),
    )
