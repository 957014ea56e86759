"""Retrieval metrics against the tools people trust, on every run of every collection, to 1e-9."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_collections import (
    DATA,
    break_ties,
    needs_data,
    pairs_of,
    parse_qrels,
    parse_run,
    plain_text,
    run_files,
    score_files,
    values_of,
    write_qrels,
    write_run,
)

from gateline.golden import GoldenSet
from gateline.readers import read_run
from gateline.scoring import score

TREC_EVAL = {
    "P_K": "precision@K",
    "recall_K": "recall@K",
    "success_K": "hit_rate@K",
    "map_cut_K": "ap@K",
    "ndcg_cut_K": "ndcg_linear@K",
    "recip_rank": "mrr",
    "map": "ap",
}
IR_MEASURES = {
    "nDCG@K": "ndcg_linear@K",
    "nDCG(dcg='exp-log2')@K": "ndcg@K",
    "RR@K": "mrr@K",
    "P@K": "precision@K",
    "R@K": "recall@K",
    "AP@K": "ap@K",
    "SetP": "context_precision_id",
    "SetR": "candidate_recall",
}
RANX = {
    "ndcg_burges@K": "ndcg@K",
    "ndcg@K": "ndcg_linear@K",
    "precision@K": "precision@K",
    "recall@K": "recall@K",
    "hit_rate@K": "hit_rate@K",
    "mrr@K": "mrr@K",
    "map@K": "ap@K",
    "mrr": "mrr",
    "map": "ap",
}
EXACT = 1e-9


def read_both(path, tmp_path):
    text = plain_text(path)
    run_file = tmp_path / "a.run"
    run_file.write_text(text)
    qrels_file = path.parents[2] / "qrels.txt"
    return run_file, qrels_file, parse_run(text), parse_qrels(qrels_file.read_text())


@needs_data
@pytest.mark.parametrize("path", run_files(), ids=lambda path: "-".join(path.relative_to(DATA).parts))
def test_all_collections_equal_trec_eval_and_ir_measures(path, tmp_path):
    run_file, qrels_file, run, qrels = read_both(path, tmp_path)
    scores = score_files(qrels_file, run_file)
    measures = [theirs for pattern, ours in TREC_EVAL.items() for theirs, _ in pairs_of(pattern, ours)]
    by_trec_eval = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    for pattern, ours in TREC_EVAL.items():
        for theirs, name in pairs_of(pattern, ours):
            found = values_of(scores, name)
            assert set(found) == set(by_trec_eval)
            for query, values in by_trec_eval.items():
                assert found[query] == pytest.approx(values[theirs], abs=EXACT), (query, name)
    wanted = {
        ir_measures.parse_measure(theirs): name
        for pattern, ours in IR_MEASURES.items()
        for theirs, name in pairs_of(pattern, ours)
        if "exp" not in theirs or theirs.endswith("@10")  # a process of its own each
    }
    seen = 0
    ours_by_name = {name: values_of(scores, name) for name in wanted.values()}
    # For RR@K and exponential gains it calls tools that break ties in their own ways, so there are none.
    for one in ir_measures.iter_calc(list(wanted), qrels, break_ties(run)):
        seen += 1
        name = wanted[one.measure]
        # nDCG with exponential gains comes from a tool that prints five digits.
        digits = 6e-6 if "exp" in str(one.measure) else EXACT
        assert ours_by_name[name][one.query_id] == pytest.approx(one.value, abs=digits), (one.query_id, name)
    assert seen == len(wanted) * len(qrels)


@needs_data
@pytest.mark.parametrize("path", run_files(), ids=lambda path: "-".join(path.relative_to(DATA).parts))
def test_all_collections_equal_ranx_once_no_scores_are_equal(path, tmp_path):
    """ranx breaks ties at random, so it is given the ranking that trec_eval's order makes of them."""
    ranx = pytest.importorskip("ranx", reason="ranx is heavy; benchmarks/retrieval.py compares with it too")
    run_file, qrels_file, run, qrels = read_both(path, tmp_path)
    scores = score_files(qrels_file, run_file)
    measures = {theirs: name for pattern, ours in RANX.items() for theirs, name in pairs_of(pattern, ours)}
    by_ranx = ranx.Run(break_ties(run))
    ranx.evaluate(ranx.Qrels(qrels), by_ranx, list(measures), return_mean=False)
    for theirs, name in measures.items():
        found = values_of(scores, name)
        for query, value in by_ranx.scores[theirs].items():
            assert found[query] == pytest.approx(value, abs=EXACT), (query, name)


@needs_data
def test_raw_codes_with_grades_below_zero_equal_trec_eval(tmp_path):
    path = DATA / "cranfield" / "runs" / "clean" / "bm25.run"
    text = (DATA / "cranfield" / "qrels_raw_codes.txt").read_text()
    qrels = parse_qrels(text)
    assert min(grade for judged in qrels.values() for grade in judged.values()) < 0
    scores = score_files(DATA / "cranfield" / "qrels_raw_codes.txt", path)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, ["ndcg_cut_10", "recall_10", "map"]).evaluate(
        parse_run(path.read_text())
    )
    for query, values in theirs.items():
        for measure, name in (("ndcg_cut_10", "ndcg_linear@10"), ("recall_10", "recall@10"), ("map", "ap")):
            assert values_of(scores, name)[query] == pytest.approx(values[measure], abs=EXACT)


documents = st.sampled_from([f"d{number}" for number in range(12)])
judged = st.dictionaries(documents, st.integers(-1, 4), min_size=1, max_size=8)
# Whole numbers only: trec_eval keeps scores in single precision, and these it keeps exactly.
ranked = st.dictionaries(documents, st.integers(-3, 3).map(float), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["1", "q2", "Ü"]), st.tuples(judged, ranked), min_size=1))
def test_any_small_collection_equals_trec_eval(tmp_path_factory, collection):
    """Ties, grades below 0, queries without relevant ids: all that fits into three queries."""
    folder = tmp_path_factory.mktemp("any")
    qrels = {query: grades for query, (grades, _) in collection.items()}
    run = {query: scored for query, (_, scored) in collection.items()}
    golden = GoldenSet(read_run(write_qrels(folder / "qrels.txt", qrels)))
    scores = score(golden, read_run(write_run(folder / "a.run", run)), (1, 3, 10))
    measures = {"P_K": "precision@K", "recall_K": "recall@K", "map_cut_K": "ap@K", "ndcg_cut_K": "ndcg_linear@K",
                "success_K": "hit_rate@K"}  # fmt: skip
    for cutoff in (1, 3, 10):
        asked = {
            theirs.replace("K", str(cutoff)): ours.replace("K", str(cutoff))
            for theirs, ours in measures.items()
        }
        theirs = pytrec_eval.RelevanceEvaluator(qrels, list(asked)).evaluate(run)
        for measure, name in asked.items():
            for query, value in values_of(scores, name).items():
                if value is None:
                    assert all(grade <= 0 for grade in qrels[query].values())
                else:
                    assert value == pytest.approx(theirs[query][measure], abs=EXACT), (query, name)


@needs_data
def test_numerator_over_denominator_is_the_value():
    scores = score_files(DATA / "cisi" / "qrels.txt", DATA / "cisi" / "runs" / "clean" / "bm25.run", (5, 10))
    for name, measured in scores.measured.items():
        known = ~np.isnan(measured.value)
        assert known.any(), name
        assert measured.value[known] == pytest.approx(measured.numerator[known] / measured.denominator[known])
        counts = scores.definitions[name].counts
        if counts:
            cutoff = int(name.partition("@")[2] or 0)
            for count, values in zip(counts, (measured.numerator, measured.denominator), strict=True):
                column = scores.run.metrics[scores.definitions[name].named(count, cutoff)]
                np.testing.assert_array_equal(column, values, err_msg=f"{name}: {count}")
