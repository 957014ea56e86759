"""Where the tools disagree: each case by name, what they say (../shared/data/oracles), what we say, and why."""

from __future__ import annotations

import json

import pytest
from retrieval_collections import SHARED, score_files, values_of, write_qrels, write_run

from gateline.errors import InputError
from gateline.golden import GoldenSet
from gateline.readers import read_run
from gateline.scoring import score

ORACLES = SHARED / "data" / "oracles" / "disagreements.json"
pytestmark = pytest.mark.skipif(not ORACLES.is_file(), reason="the oracles lie beside the repository")


@pytest.fixture
def known():
    """Return a case by its name."""
    cases = {case["name"]: case for case in json.loads(ORACLES.read_text())}
    return cases.__getitem__


@pytest.fixture
def scored(tmp_path, known):
    """Score a case's own qrels and run; values by metric and query."""

    def score_case(name, cutoffs=(1, 2, 5, 10)):
        case = known(name)
        qrels, run = case["qrels"], case["run"]
        if isinstance(qrels, str):
            (tmp_path / "qrels.txt").write_text(qrels)
            (tmp_path / "a.run").write_text(run)
            found = score_files(tmp_path / "qrels.txt", tmp_path / "a.run", cutoffs)
        else:
            write_qrels(tmp_path / "qrels.txt", qrels)
            write_run(tmp_path / "a.run", run)
            found = score_files(tmp_path / "qrels.txt", tmp_path / "a.run", cutoffs)
        return lambda metric: values_of(found, metric)

    return score_case


@pytest.mark.parametrize("name", ["tie_two_docs", "tie_two_docs_b", "tie_insertion_order", "tie_numeric_ids"])
def test_equal_scores_are_ordered_by_id_descending_as_trec_eval_does(name, scored, known):
    """ranx says otherwise, by chance: its sort is unstable, so that two runs of it differ."""
    ours = scored(name)("mrr")["q"]
    assert ours == known(name)["pytrec_eval"]["q"]["recip_rank"]


def test_equal_scores_where_ranx_differs(scored, known):
    """trec_eval 0.5, ranx 1.0: the order of trec_eval is the same on every machine, so it is ours."""
    results = known("tie_two_docs")
    assert results["ranx"]["q"]["mrr"] == 1.0
    assert results["pytrec_eval"]["q"]["recip_rank"] == 0.5
    assert scored("tie_two_docs")("mrr") == {"q": 0.5}


@pytest.mark.parametrize("name", ["near_tie_float32", "near_tie_small"])
def test_scores_that_differ_in_double_precision_are_no_tie(name, scored, known):
    """trec_eval 0.5, ranx 1.0: trec_eval keeps scores in single precision and sees a tie; the file has an order."""
    results = known(name)
    assert results["pytrec_eval"]["q"]["recip_rank"] == 0.5
    assert results["ranx"]["q"]["mrr"] == 1.0
    assert scored(name)("mrr") == {"q": 1.0}


def test_the_two_forms_of_gain_have_two_names(scored, known):
    """0.796708 with gain rel, 0.70981 with 2^rel − 1: each is right under its own name."""
    results, found = known("ndcg_gain"), scored("ndcg_gain")
    assert found("ndcg_linear@10")["1"] == pytest.approx(results["pytrec_eval"]["1"]["ndcg_cut_10"], abs=1e-6)
    assert found("ndcg@10")["1"] == pytest.approx(results["ranx"]["1"]["ndcg_burges@10"], abs=1e-6)
    assert found("ndcg_linear@10")["1"] == pytest.approx(0.796708, abs=5e-7)
    assert found("ndcg@10")["1"] == pytest.approx(0.70981, abs=5e-6)


def test_precision_with_fewer_than_k_divides_by_k(scored):
    """1/5 as all three tools; 1/2 is another metric and has another name."""
    found = scored("precision_fewer_than_k")
    assert found("precision@5") == {"q": 0.2}
    assert found("precision_returned@5") == {"q": 0.5}


def test_recall_is_over_all_relevant_ids_also_beyond_k(scored):
    """2/3 as all three tools, not capped to 1: else a higher K would mean less found."""
    found = scored("recall_more_relevant_than_k")
    assert found("recall@2")["q"] == pytest.approx(2 / 3)
    assert found("ap@2")["q"] == pytest.approx(2 / 3)


def test_the_reciprocal_rank_with_and_without_cutoff_are_two_metrics(scored, known):
    """trec_eval knows recip_rank only (1/3); ir_measures and ranx say 0 at 2."""
    results, found = known("mrr_cutoff"), scored("mrr_cutoff")
    assert results["ranx"]["q"] == {"mrr": pytest.approx(1 / 3, abs=1e-6), "mrr@2": 0.0}
    assert found("mrr")["q"] == pytest.approx(1 / 3)
    assert found("mrr@2") == {"q": 0.0}


def test_a_query_missing_from_the_run_counts_as_0(scored, known):
    """pytrec_eval leaves it out (mean 1.0), ir_measures counts 0 (mean 0.5): leaving out rewards saying nothing."""
    results = known("query_missing_from_run")
    assert set(results["pytrec_eval"]) == {"q1"}
    assert results["ir_measures"]["__mean__"]["P@1"] == 0.5
    assert scored("query_missing_from_run")("precision@1") == {"q1": 1.0, "q2": 0.0}


def test_a_query_with_an_empty_result_counts_as_0(scored):
    """All tools agree here."""
    assert scored("query_empty_in_run")("precision@1") == {"q1": 1.0, "q2": 0.0}


def test_a_query_missing_from_the_qrels_is_reported_and_left_out(tmp_path, known):
    """As with all tools; but it is said."""
    case = known("query_missing_from_qrels")
    golden = GoldenSet(read_run(write_qrels(tmp_path / "qrels.txt", case["qrels"])))
    scores = score(golden, read_run(write_run(tmp_path / "a.run", case["run"])))
    assert scores.run.ids == ["q1"]
    assert any("not in the golden set" in text and "q2" in text for text in scores.run.warnings)


def test_a_query_without_relevant_documents_is_undefined(scored, known):
    """All three tools say 0, and take it into the mean (0.5): 0/0 is unknown, and no ranking could do better."""
    results, found = known("query_without_relevant"), scored("query_without_relevant")
    assert results["pytrec_eval"]["q2"] == {
        "map": 0,
        "Rprec": 0,
        "recip_rank": 0,
        "recall_5": 0,
        "ndcg_cut_5": 0,
    }
    assert results["ranx"]["__mean__"]["recall@5"] == 0.5
    for metric in ("recall@5", "ndcg_linear@5", "ndcg@5", "ap", "mrr", "hit_rate@5"):
        assert found(metric) == {"q1": 1.0, "q2": None}
    assert found("precision@5")["q2"] == 0.0, "precision has a denominator, K, and is 0 with every tool"


def test_a_grade_below_0_is_not_relevant_and_gains_nothing(scored, known):
    """All tools agree: 0.63093."""
    results, found = known("negative_grade"), scored("negative_grade")
    assert found("precision@1") == {"q": 0.0}
    assert found("recall@5") == {"q": 1.0}
    assert found("ndcg_linear@5")["q"] == pytest.approx(results["pytrec_eval"]["q"]["ndcg_cut_5"], abs=1e-6)


def test_judged_but_not_retrieved_documents_are_in_the_ideal_ranking(scored, known):
    results = known("unretrieved_ideal")
    expected = results["pytrec_eval"]["q"]["ndcg_cut_10"]
    assert scored("unretrieved_ideal")("ndcg_linear@10")["q"] == pytest.approx(expected, abs=1e-6)


def test_the_ideal_ranking_is_cut_off_too(scored, known):
    """12 relevant documents, 10 of them in the first 10: ndcg@10 is 1 with every tool."""
    found = scored("ndcg_k_larger_than_run")
    assert found("ndcg_linear@10") == {"q": 1.0}
    expected = known("ndcg_k_larger_than_run")["pytrec_eval"]["q"]["map_cut_10"]
    assert found("ap@10")["q"] == pytest.approx(expected, abs=1e-6)


def test_scores_below_0_and_whole_numbers_are_scores(scored):
    assert scored("all_scores_negative")("mrr") == {"q": 1.0}
    assert scored("int_scores")("mrr") == {"q": 1.0}


def test_a_score_that_is_not_a_number_is_refused(tmp_path):
    """trec_eval puts NaN first (0.5), ranx last (1.0): there is no right place for it."""
    write_qrels(tmp_path / "qrels.txt", {"q": {"a": 1}})
    (tmp_path / "a.run").write_text("q Q0 a 1 1.0 t\nq Q0 b 2 nan t\n")
    with pytest.raises(InputError, match=r"a\.run:2: the score is not a number: 'nan'"):
        read_run(tmp_path / "a.run")


def test_a_document_twice_is_refused(scored):
    """pytrec_eval stops, ir_measures and ranx keep one of the two: which one is a guess."""
    with pytest.raises(InputError, match="query 'q1' has document 'a' twice, in lines 1 and 2"):
        scored("file_duplicate_document")


def test_the_rank_column_is_not_looked_at(scored, known):
    """All tools go by the score."""
    found = scored("file_rank_contradicts_score")
    assert found("mrr") == {"q1": known("file_rank_contradicts_score")["pytrec_eval"]["q1"]["recip_rank"]}
    assert found("precision@2") == {"q1": 0.5}


def test_a_label_that_contradicts_itself_is_refused(scored):
    """pytrec_eval stops, ir_measures and ranx take the last (0): a golden set that says both says nothing."""
    with pytest.raises(InputError, match="query 'q1' has document 'a' with two grades, 1 and 0"):
        scored("file_duplicate_qrel")


def test_a_run_line_without_its_tag_is_refused(scored):
    """As with all three tools; but with the line."""
    with pytest.raises(InputError, match=r"a\.run:1: columns: 5; a line of this file has 6"):
        scored("file_five_columns")


def test_no_named_disagreement_is_forgotten(request):
    """Every case of the file is named in this module, or is about what we don't have: a relevance threshold."""
    names = {case["name"] for case in json.loads(ORACLES.read_text())}
    text = request.path.read_text()
    assert {name for name in names if name not in text} <= {"relevance_threshold", "nan_score"}
