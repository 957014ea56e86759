"""The test collections under ../shared/data, and what the established tools say of them.

pytrec_eval runs trec_eval's own code; ir_measures and ranx are the other two that people use.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateline.golden import GoldenSet
from gateline.readers import read_run
from gateline.scoring import Scores, score

SHARED = Path(__file__).resolve().parents[3] / "shared"
DATA = SHARED / "data" / "retrieval"
CUTOFFS = (1, 5, 10, 20, 100)

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the collections lie beside the repository")


def run_files() -> list[Path]:
    return sorted(DATA.glob("*/runs/*/*.run*"))


def plain_text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def parse_run(text: str) -> Run:
    run: Run = {}
    for line in text.splitlines():
        query, _, document, _, value, _ = line.split()
        run.setdefault(query, {})[document] = float(value)
    return run


def break_ties(run: Run) -> Run:
    """Return a run of different scores in the order that trec_eval gives them."""
    untied: Run = {}
    for query, scored in run.items():
        ordered = sorted(scored, key=lambda document: (scored[document], document), reverse=True)
        untied[query] = {document: float(len(ordered) - place) for place, document in enumerate(ordered)}
    return untied


def parse_qrels(text: str) -> Qrels:
    qrels: Qrels = {}
    for line in text.splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
    return qrels


def write_run(path: Path, run: Run) -> Path:
    lines = [
        f"{query} Q0 {document} 0 {value!r} tag\n"
        for query, scored in run.items()
        for document, value in scored.items()
    ]
    path.write_text("".join(lines))
    return path


def write_qrels(path: Path, qrels: Qrels) -> Path:
    lines = [
        f"{query} 0 {document} {grade}\n"
        for query, judged in qrels.items()
        for document, grade in judged.items()
    ]
    path.write_text("".join(lines))
    return path


def score_files(qrels: Path, run: Path, cutoffs: tuple[int, ...] = CUTOFFS) -> Scores:
    return score(GoldenSet(read_run(qrels)), read_run(run), cutoffs)


def values_of(scores: Scores, name: str) -> dict[str, float | None]:
    """Return a metric by query, None where it is undefined."""
    found = scores.measured[name].value.tolist()
    return {
        query: None if math.isnan(value) else value
        for query, value in zip(scores.run.ids, found, strict=True)
    }


def pairs_of(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    """Give a measure of another tool and ours for each cut-off, such as `P_5` and `precision@5`."""
    for cutoff in CUTOFFS if "K" in theirs else (0,):
        yield theirs.replace("K", str(cutoff)), ours.replace("K", str(cutoff))
