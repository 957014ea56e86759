"""Ranked lists: a query without results counts 0, and a document that stands twice is no ranking."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn import tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.gate import check
from gateline.readers import read_run
from runs import DAY

QUERIES = [f"q{number}" for number in range(8)]
POLICY = """version: 1
name: ranks
samples: {at_least: 1, golden_set: qrels.txt}
metrics: {mrr: {better: higher}}
rules: [{kind: limit, metric: mrr, at_least: 0.5}]
"""


@tries(20)
@given(st.lists(st.integers(1, 4), min_size=8, max_size=8), st.sets(st.sampled_from(QUERIES), max_size=7))
def test_queries_without_results_count_0_whichever_they_are(
    tmp_path_factory: pytest.TempPathFactory, places: list[int], lost: set[str]
) -> None:
    """The mean is over all queries of the labels: 1/rank where there are results, 0 where there are none."""
    folder = tmp_path_factory.mktemp("ranks")
    ranked = {
        query: [f"{query}#{'good' if rank == place else rank}" for rank in range(1, 5)]
        for query, place in zip(QUERIES, places, strict=True)
    }
    lines = {
        query: "".join(f"{query} Q0 {one} {rank} {9 - rank} t\n" for rank, one in enumerate(found, 1))
        for query, found in ranked.items()
    }
    (folder / "policy.yml").write_text(POLICY)
    (folder / "qrels.txt").write_text("".join(f"{query} 0 {query}#good 1\n" for query in QUERIES))
    (folder / "b.run").write_text("".join(lines.values()))
    (folder / "c.run").write_text("".join(text for query, text in lines.items() if query not in lost))
    verdict = check(folder / "policy.yml", folder / "b.run", folder / "c.run", on=DAY)
    (finding,) = verdict.findings
    rest = [1 / place for query, place in zip(QUERIES, places, strict=True) if query not in lost]
    assert finding.candidate == pytest.approx(sum(rest) / 8)
    assert finding.samples == 8
    assert (finding.status == "pass") == (sum(rest) / 8 >= 0.5 - 1e-12)
    told = " ".join(verdict.notices)
    assert not lost or f"no results for {len(lost)} of 8 questions" in told


@tries(40)
@given(
    st.integers(2, 8), st.data(), st.lists(st.sampled_from([" ", "\t", "  ", " \t"]), min_size=6, max_size=6)
)
def test_a_document_that_stands_twice_is_refused_wherever_it_stands(
    tmp_path_factory: pytest.TempPathFactory, number: int, data: st.DataObject, gaps: list[str]
) -> None:
    first = data.draw(st.integers(0, number - 1))
    second = data.draw(st.integers(first + 1, number))
    documents = [f"D{place}#a" for place in range(number)]
    documents.insert(second, documents[first])
    scores = [data.draw(st.sampled_from(["1.29e+01", "3", "-0.5", "0"])) for _ in documents]
    lines = [
        gaps[0].join(["q1", "Q0", document, str(place), score, "t"])
        if place % 2
        else f"q1{gaps[1]}Q0{gaps[2]}{document}{gaps[3]}{place}{gaps[4]}{score}{gaps[5]}t"
        for place, (document, score) in enumerate(zip(documents, scores, strict=True))
    ]
    path: Path = tmp_path_factory.mktemp("ranks") / "c.run"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError) as raised:
        read_run(path)
    told = str(raised.value)
    assert f"query 'q1' has document '{documents[first]}' twice" in told
    assert f"in lines {first + 1} and {second + 1}" in told
