"""TREC run files, qrels, BEIR folders, and what retrieval tools write per query."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.readers import read_run, readers

FORMATS = Path(__file__).resolve().parents[4] / "shared" / "formats"
TREC = FORMATS / "trec"
needs_files = pytest.mark.skipif(not TREC.is_dir(), reason="the format files lie beside the repository")


def test_a_run_with_tabs_blanks_and_hashes_in_ids(read):
    run = read("a.run", "q1 Q0 D1#1 1 9.0 base\nq1\tQ0\tD1#2  2   1.29e+01\tbase\nq2 Q0 D2#1 0 -3 base\r\n")
    assert run.format == "trec-run"
    assert run.ids == ["q1", "q2"]
    assert run.fields["retrieved"] == [["D1#2", "D1#1"], ["D2#1"]]
    assert run.lines.tolist() == [1, 3]
    assert run.metrics == {}
    assert run.provenance == {"run_tag": "base"}


def test_ids_are_texts(read):
    run = read("a.run", "1 Q0 007 1 2 t\n01 Q0 7 1 2 t\n")
    assert run.ids == ["1", "01"]
    assert run.fields["retrieved"] == [["007"], ["7"]]


def test_order_is_by_score_then_by_id_descending_and_said(read):
    run = read("a.run", "q Q0 b 1 1 t\nq Q0 10 2 1 t\nq Q0 9 3 1 t\nq Q0 top 4 5 t\n")
    assert run.fields["retrieved"] == [["top", "b", "9", "10"]]
    assert run.warnings == (
        "scores are equal in 1 of 1 ranking; equal ones are ordered by document id, descending, as trec_eval does",
    )
    assert read("b.run", "q Q0 a 1 2 t\nq Q0 b 2 1 t\n").warnings == ()


def test_lines_of_a_query_need_not_stand_together(read):
    run = read("a.run", "q2 Q0 a 1 1 t\nq1 Q0 a 1 3 t\nq2 Q0 b 1 2 t\nq1 Q0 b 1 4 t\n")
    assert run.ids == ["q2", "q1"]
    assert run.fields["retrieved"] == [["b", "a"], ["b", "a"]]
    assert run.lines.tolist() == [1, 2]


def test_comments_and_blank_lines_are_left_out(read):
    run = read("a.run", "# made by hand\nq Q0 a 1 1 t\n\n# more\nq Q0 #b 2 0.5 t\n")
    assert run.fields["retrieved"] == [["a", "#b"]]
    assert run.lines.tolist() == [2]


def test_a_document_twice_names_query_document_and_lines(refuse):
    told = refuse(
        "candidate.run", "q1 Q0 FB-1 1 1.29e+01 b\nq1\tQ0\tFB-1\t2\t12.899999\tb\nq1 Q0 FB-2 3 12.8 b\n"
    )
    assert len(told) == 1
    assert "candidate.run:2: query 'q1' has document 'FB-1' twice, in lines 1 and 2" in told[0]


def test_lines_of_another_width_are_named(refuse):
    told = refuse("a.run", "q Q0 a 1 1 t\nq Q0 b 2 0.5\nq Q0 c 3 0.4 t t\n")
    assert [one.partition(": ")[2] for one in told] == [
        "columns: 5; a line of this file has 6",
        "columns: 7; a line of this file has 6",
    ]
    assert told[0].endswith("a.run:2: columns: 5; a line of this file has 6")


@pytest.mark.parametrize("score", ["nan", "NaN", "one", "1,5", "1_0x"])
def test_a_score_must_be_a_number(refuse, score):
    told = refuse("a.run", f"q Q0 a 1 1 t\nq Q0 b 2 {score} t\n")
    assert told == [told[0]]
    assert f"a.run:2: the score is not a number: '{score}'" in told[0]


def test_bytes_that_are_no_text_are_named_by_line(refuse):
    told = refuse("a.run", b"q Q0 a 1 1 t\nq Q0 \xff 2 0.5 t\n")
    assert "a.run:2: byte 0xff is not UTF-8" in told[0]


def test_qrels_keep_grades_of_0_and_below(read):
    run = read("qrels.txt", "q1\t0\tFB-1\t2\nq1 0 FB-2 0\nq2 0 x -1\n")
    assert run.format == "trec-qrels"
    assert run.ids == ["q1", "q2"]
    assert run.fields["relevant"] == [{"FB-1": 2, "FB-2": 0}, {"x": -1}]


def test_qrels_that_contradict_themselves_are_refused(refuse):
    assert (
        "qrels.txt:2: query 'q' has document 'a' with two grades, 1 and 0"
        in refuse("qrels.txt", "q 0 a 1\nq 0 a 0\n")[0]
    )
    assert "the grade must be a whole number, not '0.5'" in refuse("qrels.txt", "q 0 a 1\nq 0 b 0.5\n")[0]


def test_beir_labels_by_their_header(read):
    run = read("test.tsv", "query-id\tcorpus-id\tscore\nq1\td 1\t1\n".replace("d 1", "d1"))
    assert run.format == "trec-qrels"
    assert run.fields["relevant"] == [{"d1": 1}]


def test_json_of_ranx(read, refuse):
    run = read("run.json", '{"q1": {"a": 1.0, "b": 2.5}, "q2": {}}')
    assert run.format == "trec-run"
    assert run.fields["retrieved"] == [["b", "a"], []]
    assert read("qrels.json", '{"q1": {"a": 1, "b": 0}}').format == "trec-qrels"
    assert "has 'a' twice" in refuse("run.json", '{"q1": {"a": 1.0, "a": 2.5}}')[0]
    assert "stands twice" in refuse("run.json", '{"q1": {"a": 1.0}, "q1": {"b": 2.5}}')[0]
    assert "not a number" in refuse("run.json", '{"q1": {"a": 1.0, "b": NaN}}')[0]


def test_json_of_pytrec_eval_keeps_its_names_and_gaps(read):
    run = read("scores.json", '{"q1": {"map": 1.0, "ndcg_cut_10": 0.5}, "q2": {"map": NaN}}')
    assert run.format == "pytrec-eval"
    assert list(run.metrics) == ["map", "ndcg_cut_10"]
    np.testing.assert_array_equal(run.metrics["ndcg_cut_10"], [0.5, np.nan])
    np.testing.assert_array_equal(run.metrics["map"], [1.0, np.nan])


def test_means_alone_are_no_samples(refuse):
    assert (
        "means over all queries only"
        in refuse("r.json", '{"ndcg": {"NDCG@1": 0.9}, "map": {"MAP@1": 0.9}}')[0]
    )
    assert "run the tool with -q" in refuse("e.txt", "runid \tall\tx\nmap \tall\t0.5\n")[0]


def test_trec_eval_text_that_was_cut_off_is_refused(refuse):
    told = refuse("e.txt", "num_ret               \tq1\t10\nmap                   \tq1\t1.0000\n")
    assert "has no rows for 'all'" in told[0]


documents = st.sampled_from(["a", "b#1", "Ü", "10", "9"])
rankings = st.dictionaries(
    st.sampled_from(["q", "1", "01", "é"]),
    st.dictionaries(documents, st.floats(-5, 5, allow_nan=False), min_size=1),
    min_size=1,
)


@settings(max_examples=60, deadline=None)
@given(rankings, st.randoms(use_true_random=False))
def test_the_order_of_the_lines_changes_nothing(tmp_path_factory, run, chance):
    """Any order of the lines gives the ranking that sorting pairs of score and id gives."""
    lines = [
        f"{query} Q0 {one} 1 {score!r} t" for query, scored in run.items() for one, score in scored.items()
    ]
    chance.shuffle(lines)
    path = tmp_path_factory.mktemp("any") / "a.run"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_run(path)
    ranked = dict(zip(found.ids, found.fields["retrieved"], strict=True))
    assert ranked == {
        query: [one for one, _ in sorted(scored.items(), key=lambda item: (item[1], item[0]), reverse=True)]
        for query, scored in run.items()
    }


@needs_files
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_every_tool_s_values_are_read(side):
    """pytrec_eval writes full precision, trec_eval four digits of the same numbers."""
    exact = json.loads((TREC / f"{side}.pytrec_eval.json").read_text())
    run = read_run(TREC / f"{side}.pytrec_eval.json")
    assert run.ids == list(exact)
    for measure, column in run.metrics.items():
        assert column.tolist() == [values[measure] for values in exact.values()]
    text = read_run(TREC / f"{side}.trec_eval908_qc.txt")
    assert set(text.metrics) > {"map", "recip_rank", "P_5"}
    rows = {name: row for row, name in enumerate(text.ids)}
    for query in rows:  # it has no rows for a query without results
        values = exact[query]
        assert text.metrics["map"][rows[query]] == pytest.approx(values["map"], abs=5.1e-5)
    table = read_run(TREC / f"{side}.ir_measures.tsv")
    assert len(table) == 29
    assert set(table.metrics) == {"AP", "RR", "R@5", "nDCG@10"}


@needs_files
def test_a_tool_that_leaves_out_queries_is_told_of():
    assert len(read_run(TREC / "candidate.pytrec_eval.json")) == 28, "q020 is absent, and must show as such"
    warned = read_run(TREC / "candidate.trec_eval908_qc.txt").warnings
    assert warned == ("its means count 29 queries, but only 28 have rows: the others have no results",)
    with pytest.raises(InputError, match="has no rows for 'all'"):
        read_run(TREC / "candidate.trec_eval100_q.txt")


@needs_files
def test_the_same_rankings_from_every_writer():
    """trec, ranx' own trec and ranx' JSON of one run; BEIR drops a query's own id and counts ranks from 0."""
    by_hand, ranx, as_json = (read_run(TREC / f"baseline.{end}") for end in ("run", "ranx.trec", "ranx.json"))
    first = dict(zip(by_hand.ids, by_hand.fields["retrieved"], strict=True))
    assert dict(zip(ranx.ids, ranx.fields["retrieved"], strict=True)) == first
    second = dict(zip(as_json.ids, as_json.fields["retrieved"], strict=True))
    assert {query: ranking for query, ranking in second.items() if ranking} == first


@needs_files
def test_a_real_run_of_trec():
    run = read_run(TREC / "nist" / "results.test")
    assert len(run) == 3
    assert [len(ranking) for ranking in run.fields["retrieved"]] == [500, 500, 500]
    assert len(read_run(TREC / "nist" / "qrels.test")) == 3


@needs_files
def test_a_folder_in_the_layout_of_beir():
    run = read_run(TREC / "beir" / "harbor")
    assert run.format == "beir"
    assert len(run) == 29
    assert run.fields["question"][0] == "How many days of paid leave do full-time staff get each year?"
    assert run.labels("topic")[0] == ("hr",)
    assert run.fields["relevant"][0] == {"hr-01": 1}
    assert run.provenance == {"golden_set.split": "test"}


@pytest.mark.skipif(not FORMATS.is_dir(), reason="the format files lie beside the repository")
def test_no_other_tool_s_file_is_taken_for_one_of_these():
    for path in sorted(FORMATS.rglob("*")):
        if path.is_relative_to(TREC):
            continue
        head = path.read_bytes()[: 1 << 16] if path.is_file() else b""
        for name in ("trec", "trec-eval"):
            assert not readers()[name].looks_like(head, path), (name, path)


@pytest.mark.parametrize("grade", ["9" * 5000, "1_0", "1.0", "x"])
def test_a_grade_that_is_no_count_is_told(refuse, grade):
    assert any(
        "must be a whole number" in text for text in refuse("a.qrels", f"q1 0 d1 1\nq1 0 d2 {grade}\n")
    )


@pytest.mark.parametrize("score", ["1_0", "1__0", "0x1p3"])
def test_a_score_that_only_python_reads_is_none(refuse, score):
    assert "the score is not a number" in refuse("a.run", f"q1 Q0 d1 1 2 t\nq1 Q0 d2 2 {score} t\n")[0]


def test_measures_whose_names_are_data_are_refused(refuse):
    rows = "".join(f"ndcg_cut_{number}\tq1\t0.5\n" for number in range(1, 2002))
    assert "more than 2000 different measures" in refuse("a.txt", rows + "num_q\tall\t1\n")[0]
    by_query = {f"q{number}": {f"ndcg_cut_{number}": 0.5} for number in range(1, 2002)}
    assert "more than 2000 different measures" in refuse("a.json", json.dumps(by_query))[0]
