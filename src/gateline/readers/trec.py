"""Rankings and relevance labels in the formats of TREC: run files, qrels, the BEIR layout, ranx' JSON.

A run file (`query Q0 document rank score tag`) becomes a run without metrics: the field `retrieved` holds the
ranked documents of each query. A qrels file (`query iteration document grade`, or BEIR's table with a header)
becomes a golden set: the field `relevant` holds the grade of each judged document. Columns stand apart by any
number of blanks and tabs; `D1#1` is one document. The rank column is not looked at, as trec_eval doesn't: files
count ranks from 0, from 1, or not at all. The order is by score, descending, and among equal scores by document,
descending. ranx writes JSON and Parquet. Nothing here computes a metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, count_of, name_some
from gateline.readers import _beir, parquet
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
RANX_COLUMNS = ["q_id", "doc_id", "score"]


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a run, a qrels file, a BEIR folder, a JSON object of objects of numbers, or ranx' Parquet."""
    if not head:
        return bool(_beir.find_labels(path))
    if head.startswith(parquet.MAGIC):
        return parquet.column_names(path) == RANX_COLUMNS
    begin = without_mark(head)
    if begin.startswith(b"{"):
        inner = JSON_SCORES.match(begin)
        # `version` is no document: an object of another tool begins like that.
        return inner is not None and inner[1] not in (b"0", b"version") and not names_a_measure(inner[1])
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
    if begin.startswith(parquet.MAGIC):
        return _read_scores(source, _read_parquet(source))
    if begin.startswith(b"{"):
        value = read_json_object(source, "query -> document -> number")
        names = (name.encode("utf-8", "replace") for judged in value.values() for name in judged)
        if any(value.values()) and all(map(names_a_measure, names)):
            raise InputError(
                "holds scores of measures, and no documents",
                source.name,
                "--read-as trec-eval reads scores; rankings are a run file",
            )
        return _read_scores(source, value)
    rows = first_rows(begin, 1)
    if rows and tuple(rows[0]) == _beir.HEADER:
        return _make_qrels(source, read_lines(source, 3, skip_first=True), (0, 1, 2))
    if rows and len(rows[0]) == 4:
        return _make_qrels(source, read_lines(source, 4), (0, 2, 3))
    return _make_run(source)


class _Ranking:
    """The documents of one query in the order of the file, with their scores."""

    __slots__ = ("documents", "line", "scores")

    def __init__(self, line: int):
        self.documents: list[str] = []
        self.scores: list[Floats] = []
        self.line = line

    def ordered(self) -> tuple[list[str], bool]:
        """Return the documents, best first, and whether some scores are equal."""
        scores = self.scores[0] if len(self.scores) == 1 else np.concatenate(self.scores)
        if (scores[1:] < scores[:-1]).all():
            return self.documents, False
        rows = sorted(zip(scores.tolist(), self.documents, strict=True), reverse=True)
        return [document for _, document in rows], len({score for score, _ in rows}) < len(rows)


def _make_run(source: Source) -> Run:
    names, tags = Names(source), set[str]()
    rankings: dict[str, _Ranking] = {}
    for block in read_lines(source, 6):
        queries, documents = names.decode(block.columns[0]), names.decode(block.columns[2])
        scores = read_scores(source, block.columns[4], block.numbers)
        tags.update(cell.decode("utf-8", "replace") for cell in set(block.columns[5]))
        begin = 0
        for query, lines in groupby(queries):  # the lines of a query need not all stand together
            end = begin + sum(1 for _ in lines)
            ranking = rankings.get(query)
            if ranking is None:
                ranking = rankings[query] = _Ranking(int(block.numbers[begin]))
            ranking.documents += documents[begin:end]
            ranking.scores.append(scores[begin:end].copy())
            begin = end
    if not rankings:
        raise InputError("0 samples: the file has no line of a ranking", source.name)
    _refuse_repeated(source, rankings)
    tied, ordered = 0, []
    for ranking in rankings.values():
        documents, has_ties = ranking.ordered()
        ordered.append(documents)
        tied += has_ties
    first = np.array([ranking.line for ranking in rankings.values()], dtype=np.int64)
    return _finish(source, RUN, list(rankings), first, {"retrieved": list(ordered)}, tied, sorted(tags))


def _refuse_repeated(source: Source, rankings: dict[str, _Ranking]) -> None:
    """Raise an InputError that names query, document and lines where a document stands twice in a ranking."""
    wrong = {
        query for query, ranking in rankings.items() if len(set(ranking.documents)) < len(ranking.documents)
    }
    if not wrong:
        return
    problems, names = Problems(source.name), Names(source)
    first: dict[tuple[str, str], int] = {}
    for block in read_lines(source, 6):
        queries, documents = names.decode(block.columns[0]), names.decode(block.columns[2])
        for query, document, line in zip(queries, documents, block.numbers.tolist(), strict=True):
            if query not in wrong:
                continue
            before = first.setdefault((query, document), line)
            if before != line:
                problems.add(
                    line,
                    f"query '{query}' has document '{document}' twice, in lines {before} and {line}",
                    "a document counted twice lets a score pass 1: keep its best line",
                )
    problems.raise_any()


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


def _read_parquet(source: Source) -> dict[str, dict[str, Any]]:
    """Return ranx' Parquet as its JSON would be; an InputError tells a row that is not whole, or stands twice."""
    table = parquet.read_table(source)
    if table.column_names != RANX_COLUMNS:
        raise InputError(
            f"is no ranking of ranx, which has {', '.join(RANX_COLUMNS)}; found {name_some(table.column_names, 8)}",
            source.name,
        )
    value: dict[str, dict[str, Any]] = {}
    for query, document, score in zip(
        *(parquet.plain_list(table.column(name), name, source) for name in RANX_COLUMNS), strict=True
    ):
        if query is None or document is None or score is None:
            raise InputError(f"query '{query}' has a document or a score that is missing", source.name)
        judged = value.setdefault(str(query), {})
        if str(document) in judged:
            raise InputError(f"query '{query}' has document '{document}' twice", source.name)
        judged[str(document)] = score
    return value


def _read_scores(source: Source, value: dict[str, dict[str, Any]]) -> Run:
    """Return query -> document -> score or grade as a run or labels; whole numbers only are grades."""
    kinds: set[type] = set()
    for query, judged in value.items():
        kinds |= set(map(type, judged.values()))
        if not kinds <= {int, float} or any(
            isinstance(one, float) and math.isnan(one) for one in judged.values()
        ):
            raise InputError(
                f"query '{query}' has a score or grade that is not a number",
                source.name,
                "a ranking is {query: {document: number}}; where the keys are ids of samples, write a list of the "
                "samples, each with its id",
            )
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
            f"scores are equal in {tied} of {count_of(len(queries), 'ranking', 'rankings')}; equal ones are ordered by "
            "document id, descending, as trec_eval does"
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
