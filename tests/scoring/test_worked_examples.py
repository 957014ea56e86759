"""The worked examples of the contract, digit for digit, and the definitions around them.

Where a value is written as a fraction it is the fraction of the definition, worked by hand.
"""

from __future__ import annotations

import json
import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.golden import GoldenSet
from gateline.readers import read_run
from gateline.scoring import score


@pytest.fixture
def scored(tmp_path):
    """Score golden records and output records; each may be one record. Returns value, counts and reasons."""

    def score_records(golden, outputs, cutoffs=(1, 3, 5, 10)):
        for name, records in (("golden.jsonl", golden), ("outputs.jsonl", outputs)):
            listed = records if isinstance(records, list) else [records]
            lines = [json.dumps({"id": f"q{place}", **record}) for place, record in enumerate(listed)]
            (tmp_path / name).write_text("\n".join(lines) + "\n")
        golden_set = GoldenSet(read_run(tmp_path / "golden.jsonl"))
        return score(golden_set, read_run(tmp_path / "outputs.jsonl"), cutoffs)

    return score_records


def value(scores, name, row=0):
    found = float(scores.measured[name].value[row])
    return None if math.isnan(found) else found


def reason(scores, name, row=0):
    return scores.measured[name].reasons()[row]


def useful(*verdicts):
    return [{"id": f"c{place}", "useful": verdict} for place, verdict in enumerate(verdicts)]


def test_labels_101_with_four_relevant_in_the_corpus(scored):
    found = scored(
        {"relevant": ["a", "b", "c", "d"]},
        {"retrieved": ["a", "x", "b"], "contexts": useful(1, 0, 1)},
    )
    assert value(found, "context_ap") == pytest.approx(5 / 6, abs=1e-15)
    assert value(found, "precision@3") == 2 / 3
    assert value(found, "ap@3") == pytest.approx(5 / 12, abs=1e-15)
    assert value(found, "ap") == pytest.approx(5 / 12, abs=1e-15)
    assert value(found, "recall@3") == 1 / 2


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [((1, 1, 0, 0, 0), 1.0), ((0, 0, 0, 1, 1), 0.325), ((0, 0, 0), 0.0), ((1,), 1.0), ((0, 1), 0.5)],
)
def test_context_ap(scored, verdicts, expected):
    """Ragas adds 1e-10 to the denominator and says 0.9999999999 for the first; the two are never further apart."""
    found = scored({"relevant": ["c0"]}, {"contexts": useful(*verdicts)})
    assert value(found, "context_ap") == pytest.approx(expected, abs=1e-15)
    precisions = [sum(verdicts[: place + 1]) / (place + 1) for place, one in enumerate(verdicts) if one]
    by_ragas = sum(precisions) / (sum(verdicts) + 1e-10)
    assert value(found, "context_ap") == pytest.approx(by_ragas, abs=1.01e-10)


def test_context_recall_and_faithfulness_are_over_different_statements(scored):
    found = scored(
        {"reference_statements": ["s1", "s2", "s3", "s4"]},
        {"reference_statements": [True, False, False, False], "statements": [{"label": "supported"}]},
    )
    assert value(found, "context_recall") == 1 / 4
    assert value(found, "faithfulness") == 1


def test_no_context_is_undefined_and_said(scored):
    found = scored([{}, {}], [{"contexts": []}, {"contexts": useful(1)}])
    assert value(found, "context_ap", 0) is None
    assert reason(found, "context_ap", 0) == "no context"
    assert found.measured["empty_context"].value.tolist() == [1.0, 0.0]


def test_verdicts_with_and_without_reference_are_two_metrics(scored):
    contexts = [
        {"id": "a", "useful_with_reference": 1, "useful_without_reference": 0},
        {"id": "b", "useful_with_reference": 0, "useful_without_reference": 1},
    ]
    found = scored({}, {"contexts": contexts})
    assert value(found, "context_ap_with_reference") == 1.0
    assert value(found, "context_ap_without_reference") == 0.5
    assert "context_ap" not in found.measured


def test_a_context_without_a_verdict_leaves_no_value(scored):
    found = scored({}, {"contexts": useful(1, None)})
    assert reason(found, "context_ap") == "a context without a label"


def test_candidates_and_contexts_sent_have_metrics_of_their_own(scored):
    found = scored(
        {"relevant": ["a", "b", "c", "d"]}, {"retrieved": ["a", "b", "x", "c"], "context_ids": ["a", "x"]}
    )
    assert value(found, "candidate_recall") == 3 / 4
    assert value(found, "final_context_coverage") == 1 / 4
    assert value(found, "final_context_precision") == 1 / 2
    assert value(found, "context_precision_id") == 3 / 4
    only_retrieved = scored({"relevant": ["a"]}, {"retrieved": ["a"]})
    assert "final_context_coverage" not in only_retrieved.measured
    nothing = scored([{"relevant": ["a"]}] * 2, [{"retrieved": []}, {"retrieved": ["b"]}])
    assert reason(nothing, "context_precision_id") == "nothing was retrieved"
    assert value(nothing, "context_precision_id", 1) == 0.0


def test_texts_in_the_place_of_ids_are_refused(scored):
    with pytest.raises(InputError, match="holds texts where ids should stand"):
        scored({"relevant": ["a"]}, {"contexts": ["Paid leave is 28 days.", "Sick leave is …"]})


def test_evidence_groups_any_of_each_all_groups(scored):
    groups = [["a", "b"], ["c"], ["d", "e"]]
    found = scored({"required_evidence_groups": groups}, {"retrieved": ["b", "a", "x", "e", "y"]})
    assert value(found, "evidence_group_recall@3") == 1 / 3
    assert value(found, "evidence_group_recall@5") == 2 / 3
    without = scored(
        [{"required_evidence_groups": []}, {"required_evidence_groups": groups}], [{"retrieved": ["a"]}] * 2
    )
    assert reason(without, "evidence_group_recall@3") == "no evidence groups"


def test_hallucinations_by_claim_are_a_ratio_of_sums_by_answer_a_share(scored):
    """9 of 10 claims of the first answer are right, the only one of the second is not: 2/11, not (1/10 + 1)/2."""
    long = [{"label": "supported"}] * 9 + [{"label": "contradicted"}]
    found = scored([{}] * 4, [{"statements": long}, {"statements": [{"label": "unsupported"}]}, {"statements": []},
                              {"statements": [{"label": "unverifiable"}]}])  # fmt: skip
    by_claim = found.measured["hallucination_rate_claim"]
    known = ~np.isnan(by_claim.value)
    assert by_claim.numerator[known].sum() / by_claim.denominator[known].sum() == pytest.approx(2 / 11)
    assert "hallucination_rate_claim" not in found.run.metrics, (
        "a sample has counts only, or it would be averaged"
    )
    assert found.run.metrics["unsupported_claims"].tolist() == [1, 1, 0, 0]
    assert found.run.metrics["claims"].tolist() == [10, 1, 0, 0]
    assert [value(found, "hallucination_rate_answer", row) for row in range(4)] == [1, 1, None, None]
    assert reason(found, "hallucination_rate_answer", 2) == "no verifiable claims"
    assert value(found, "faithfulness", 0) == 9 / 10
    assert value(found, "faithfulness", 3) == 0.0, "a statement that can't be verified is not supported"
    assert reason(found, "faithfulness", 2) == "no statements"


def test_a_statement_without_a_label_leaves_no_value(scored):
    found = scored(
        [{}] * 2, [{"statements": [{"label": "supported"}, {"label": None}]}, {"statements": [True]}]
    )
    for name in ("faithfulness", "hallucination_rate_answer"):
        assert value(found, name) is None
        assert "label is missing" in reason(found, name)
    assert math.isnan(found.run.metrics["unsupported_claims"][0])


def test_answers_strict_and_partial(scored):
    golden = {"required_claims": ["r1", "r2"], "forbidden_claims": ["f1"]}
    outputs = [
        {"covered_claims": ["r1", "r2"], "stated_forbidden_claims": []},
        {"covered_claims": ["r1", "r2"], "stated_forbidden_claims": ["f1"]},
        {"covered_claims": ["r1"], "stated_forbidden_claims": []},
        {"covered_claims": ["r1", "r2"]},
        {"covered_claims": ["r1"]},
        {},
    ]
    found = scored([golden] * 6, outputs)
    assert [value(found, "answer_correct", row) for row in range(6)] == [1, 0, 0, None, 0, None]
    assert [value(found, "answer_coverage", row) for row in range(6)] == [1, 1, 0.5, 1, 0.5, None]
    without = scored([{}, golden], [{"covered_claims": []}, {"covered_claims": []}])
    assert reason(without, "answer_correct") == "no required or forbidden claims"


def test_a_covered_claim_that_nobody_requires_is_refused(scored):
    with pytest.raises(InputError, match="covers 'r9', which the golden set does not list"):
        scored({"required_claims": ["r1"]}, {"covered_claims": ["r9"]})


def test_factual_f1_and_answer_correctness(scored):
    found = scored([{}] * 3, [{"factual": {"tp": 2, "fp": 1, "fn": 3}, "similarity": 0.5},
                              {"factual": {"tp": 0, "fp": 0, "fn": 0}, "similarity": 0.5},
                              {"factual": {"tp": 0, "fp": 2, "fn": 0}}])  # fmt: skip
    assert value(found, "factual_f1") == 4 / 8
    assert reason(found, "factual_f1", 1) == "no claims on both sides"
    assert value(found, "factual_f1", 2) == 0.0
    assert value(found, "answer_correctness") == 0.75 * 0.5 + 0.25 * 0.5
    assert value(found, "answer_correctness", 1) is None
    assert reason(found, "answer_correctness", 2) == "no similarity was recorded"
    assert found.run.provenance["scoring.answer_correctness"] == "factual_f1 0.75, similarity 0.25"


def test_factual_f1_from_statements_and_required_claims(scored):
    """Two right, one wrong, one of three required claims missed: 4 / (4 + 1 + 1)."""
    said = [{"label": "supported", "correct": True}, {"label": "supported", "correct": True},
            {"label": "supported", "correct": False}]  # fmt: skip
    found = scored({"required_claims": ["a", "b", "c"]}, {"statements": said, "covered_claims": ["a", "b"]})
    assert value(found, "factual_f1") == 4 / 6


def test_citations(scored):
    statements = [
        {"id": "s1", "label": "supported"},
        {"id": "s2", "label": "supported"},
        {"id": "s3", "label": "supported", "needs_citation": False},
        {"id": "s4", "label": "unverifiable"},
    ]
    citations = [
        {"claim": "s1", "supports": True},
        {"claim": "s1", "supports": False},
        {"claim": "s2", "supports": False},
        {"claim": "s3", "supports": True},
    ]
    found = scored(
        [{}] * 2, [{"statements": statements, "citations": citations}, {"statements": [], "citations": []}]
    )
    assert value(found, "citation_precision") == 2 / 4
    assert value(found, "citation_recall") == 1 / 2
    assert reason(found, "citation_precision", 1) == "no citations"
    assert reason(found, "citation_recall", 1) == "no claim needs a citation"
    uncited = scored({}, {"statements": statements, "citations": []})
    assert value(uncited, "citation_recall") == 0.0
    inside = [
        {"label": "supported", "citations": [{"supports": True}]},
        {"label": "supported", "citations": []},
    ]
    assert value(scored({}, {"statements": inside}), "citation_recall") == 1 / 2
    assert value(scored({}, {"statements": inside}), "citation_precision") == 1
    by_place = scored({}, {"statements": [True, True], "citations": [{"statement": 1, "supports": True}]})
    assert value(by_place, "citation_recall") == 1 / 2
    with pytest.raises(InputError, match="has a citation for the statement 's9', which it does not have"):
        scored({}, {"statements": statements, "citations": [{"claim": "s9", "supports": True}]})
    lost = scored({}, {"statements": statements, "citations": [{"supports": True}]})
    assert reason(lost, "citation_recall") == "a citation without a label or a statement"


def test_refusals(scored):
    golden = [{"answerable": True}, {"answerable": False}, {"answerable": False}, {}, {"answerable": True}]
    outputs = [{"refused": True}, {"refused": True}, {"refused": False}, {"refused": True}, {}]
    found = scored(golden, outputs)
    assert [value(found, "refused_correctly", row) for row in range(5)] == [None, 1, 0, None, None]
    assert [value(found, "refused_wrongly", row) for row in range(5)] == [1, None, None, None, None]
    assert reason(found, "refused_correctly", 0) == "the question is answerable"
    assert reason(found, "refused_correctly", 3) == "not labelled as answerable or not"
    assert reason(found, "refused_wrongly", 4) == "whether it refused was not recorded"
    without = scored([{"answerable": True}], [{"refused": False}])
    assert "refused_correctly" not in without.measured, "needs unanswerable questions in the set"


def test_coverage_of_views(scored):
    golden = {"answer_clusters": ["for", "against"], "answer_set": ["a", "b", "c"], "reasons": ["r1", "r2"]}
    covered = {"covered_clusters": ["for"], "covered_answers": ["a", "c"], "covered_reasons": []}
    found = scored([golden, {}], [covered, covered and {}])
    assert value(found, "cluster_coverage") == 1 / 2
    assert value(found, "answer_set_coverage") == 2 / 3
    assert value(found, "reason_coverage") == 0.0
    assert reason(found, "cluster_coverage", 1) == "none is given for the question"


def test_cached_and_unpriced_calls_are_marked_and_not_averaged_in(scored):
    outputs = [
        {"latency_ms": 100, "cost_usd": 0.02, "tokens": 10, "retrieved": ["a"]},
        {"latency_ms": 1, "cost_usd": 0.01, "tokens": 10, "cached": True, "retrieved": ["a"]},
        {"latency_ms": 300, "cost_usd": 0, "tokens": 10, "retrieved": ["a"]},
        {"retrieved": ["a"]},
    ]
    found = scored([{"relevant": ["a"]}] * 4, outputs)
    assert [value(found, "latency_ms", row) for row in range(4)] == [100, None, 300, None]
    assert [reason(found, "cost_usd", row) for row in range(4)] == [
        None,
        "cached",
        "price unknown",
        "not recorded",
    ]
    assert found.run.fields["latency_ms"].tolist()[:3] == [100, 1, 300], "recorded values stay as they were"


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(0, 4))
def test_average_precision_is_the_mean_precision_at_relevant_ids(hits, missed):
    """Worked out from the words of the definition: at each relevant id the share of relevant ids down to there."""
    wanted = [f"d{place}" for place, hit in enumerate(hits) if hit] + [
        f"m{number}" for number in range(missed)
    ]
    if not wanted:
        return
    precisions = [sum(hits[: place + 1]) / (place + 1) for place, hit in enumerate(hits) if hit]
    expected = sum(precisions) / len(wanted)
    golden, outputs = _in_memory(
        {"q": dict.fromkeys(wanted, 1)}, {"q": [f"d{place}" for place in range(len(hits))]}
    )
    assert float(score(golden, outputs).measured["ap"].value[0]) == pytest.approx(expected, abs=1e-12)


@given(st.permutations([0, 0, 1, 2, 3]), st.integers(1, 5))
def test_ndcg_is_1_for_the_best_order_and_only_for_that(grades, cutoff):
    """Against every order there is: the ideal is the best of them."""

    def gained(order):
        return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(order[:cutoff]))  # fmt: skip

    best = max(gained(order) for order in combinations_in_any_order(grades))
    documents = [f"d{place}" for place in range(len(grades))]
    golden, outputs = _in_memory({"q": dict(zip(documents, grades, strict=True))}, {"q": documents})
    found = score(golden, outputs, [cutoff]).measured[f"ndcg@{cutoff}"]
    assert float(found.value[0]) == pytest.approx(gained(grades) / best, abs=1e-12)
    assert float(found.value[0]) <= 1 + 1e-12


def combinations_in_any_order(grades):
    return set(permutations(grades))


def _in_memory(relevant, retrieved):
    from gateline.samples import Run

    lines = np.zeros(len(relevant), np.int64)
    golden = Run(
        "golden", "0" * 64, "test", list(relevant), lines, fields={"relevant": list(relevant.values())}
    )
    return GoldenSet(golden), Run("outputs", "1" * 64, "test", list(retrieved), lines,
                                  fields={"retrieved": list(retrieved.values())})  # fmt: skip
