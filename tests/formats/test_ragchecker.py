from __future__ import annotations

import json

import numpy as np
import pytest
from documented import FILES, judge, write_policies
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.policy import load_policy
from gateline.readers import read_run
from gateline.readers.ragchecker import NEEDS

CHECKER = FILES / "ragchecker"
POLICY = """\
version: 1
name: gate
samples: {at_least: 1}
metrics: {recall: {better: higher, range: [0, 1]}}
rules: [{id: holds, kind: tolerance, metric: recall, worse_by_at_most: 0.5, on_inconclusive: pass}]
"""


def result(name="1", **more):
    return {
        "query_id": name, "query": f"Q{name}", "gt_answer": "a", "response": "b", "retrieved_context": [{"text": "t"}],
        "response_claims": [["c"]], "gt_answer_claims": [["c"]], "metrics": {"recall": 1.0},
    } | more  # fmt: skip


def write(folder, *results, name="r.json", **more):
    path = folder / name
    path.write_text(json.dumps({"results": list(results)} | more))
    return path


@pytest.mark.parametrize("name", ["baseline", "candidate", "old_groups"])
def test_means_of_the_queries_are_those_of_the_summary(name):
    """To its one decimal, from 0 to 100."""
    path = CHECKER / f"{name}.json"
    run, summary = read_run(path), json.loads(path.read_text())["metrics"]
    compared = 0
    for group in summary.values():
        for metric, percent in group.items():
            assert 100 * run.numbers(metric).mean() == pytest.approx(percent, abs=0.0501)
            compared += 1
    assert compared == len(run.metrics) == 11
    assert run.warnings == ()


def recompute(item):
    """Return the metrics of a query by their definitions (Ru et al. 2024, section 3.3), None where a mean is empty."""

    def entailed(labels):
        return np.array([[one == "Entailment" for one in row] for row in labels])

    correct = np.array([one == "Entailment" for one in item["answer2response"]])
    said = np.array([one == "Entailment" for one in item["response2answer"]])
    in_response, in_answer = entailed(item["retrieved2response"]), entailed(item["retrieved2answer"])
    relevant = in_answer.any(axis=0)
    by_relevant = (in_response & relevant).any(axis=1)
    by_irrelevant = (in_response & ~relevant).any(axis=1) & ~by_relevant
    return {
        "precision": correct.mean(),
        "recall": said.mean(),
        "claim_recall": in_answer.any(axis=1).mean(),
        "context_precision": relevant.mean(),
        "faithfulness": in_response.any(axis=1).mean(),
        "hallucination": (~in_response.any(axis=1) & ~correct).mean(),
        "self_knowledge": (~in_response.any(axis=1) & correct).mean(),
        "noise_sensitivity_in_relevant": (by_relevant & ~correct).mean(),
        "noise_sensitivity_in_irrelevant": (by_irrelevant & ~correct).mean(),
    }


@pytest.mark.parametrize("name", ["baseline", "candidate", "old_groups"])
def test_metrics_of_each_query_follow_from_its_labels(name):
    path = CHECKER / f"{name}.json"
    run = read_run(path)
    for row, item in enumerate(json.loads(path.read_text())["results"]):
        assert run.ids[row] == item["query_id"]
        for metric, value in recompute(item).items():
            assert run.numbers(metric)[row] == pytest.approx(value, abs=1e-12), (metric, item["query_id"])


def test_what_is_said_of_a_run():
    run = read_run(CHECKER / "candidate.json")
    assert (run.format, run.id_field, run.made_ids) == ("ragchecker", "query_id", False)
    assert run.ids == [f"q{number:03}" for number in range(1, 31)]
    assert {name: facts.better for name, facts in run.metric_facts.items()} == {
        **dict.fromkeys(NEEDS, "higher"),
        "noise_sensitivity_in_relevant": "lower",
        "noise_sensitivity_in_irrelevant": "lower",
        "hallucination": "lower",
        "self_knowledge": None,
    }
    assert {facts.range for facts in run.metric_facts.values()} == {(0.0, 1.0)}
    items = json.loads((CHECKER / "candidate.json").read_text())["results"]
    assert run.texts("question") == [item["query"] for item in items]
    assert run.numbers("claims.reference").tolist() == [len(item["gt_answer_claims"]) for item in items]
    assert run.labels("retrieved")[0] == tuple(one["doc_id"] for one in items[0]["retrieved_context"])
    assert run.provenance == {}
    columns = {column.name: column for column in inspect_run(run).numbers}
    assert columns["hallucination"].better == "lower"
    assert columns["self_knowledge"].is_diagnosis


@pytest.mark.parametrize(("part", "lost"), [
    ("response_claims", {"precision", "f1", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant",
                         "hallucination", "self_knowledge", "faithfulness"}),
    ("gt_answer_claims", {"recall", "f1", "claim_recall", "context_precision", "context_utilization"}),
    ("retrieved_context", {"context_precision", "hallucination", "self_knowledge"}),
])  # fmt: skip
def test_a_zero_that_was_not_computed_is_no_score(tmp_path, part, lost):
    """RAGChecker's code has `else: 0.0` where a list of labels is empty."""
    zeros = dict.fromkeys(NEEDS, 0.0)
    run = read_run(write(tmp_path, result("1", metrics=zeros), result("2", metrics=zeros, **{part: []})))
    missing = {name for name in run.metrics if np.isnan(run.numbers(name)[1])}
    assert missing == lost
    assert not any(np.isnan(run.numbers(name)[0]) for name in run.metrics)
    (warning,) = run.warnings
    assert "wrote 0 without computing" in warning
    assert run.texts("error") is None


def test_a_list_that_is_not_there_says_nothing(tmp_path):
    item = result(metrics={"recall": 0.0})
    del item["gt_answer_claims"]
    assert read_run(write(tmp_path, item)).numbers("recall").tolist() == [0.0]


def test_an_empty_response_is_no_answer_and_counts_as_the_worst(tmp_path):
    before = write(tmp_path, *(result(str(n)) for n in range(4)), name="a.json")
    empty = result("3", response=" ", response_claims=[], metrics={"recall": 0.0})
    after = write(tmp_path, *(result(str(n)) for n in range(3)), empty, name="b.json")
    run = read_run(after)
    assert run.texts("error") == ["", "", "", "no_answer"]
    assert run.warnings == ()
    verdict = judge(POLICY, before, after, tmp_path)
    (left,) = verdict.pairing.no_answer
    assert (left.ids, left.counted_as) == (["3"], "worst")
    assert verdict.findings[0].candidate == 0.75


def test_a_checkpoint_is_refused_and_a_part_of_one_is_missing(tmp_path):
    with pytest.raises(
        InputError, match="no query has metrics: this goes into RAGChecker, or is a checkpoint"
    ):
        read_run(write(tmp_path, result("1", metrics={}), result("2", metrics={})))
    run = read_run(write(tmp_path, result("1"), result("2", metrics={})))
    np.testing.assert_array_equal(run.numbers("recall"), [1, np.nan])


@given(
    scores=st.lists(
        st.one_of(st.none(), st.integers(0, 12).map(lambda parts: parts / 12)), min_size=1, max_size=9
    ),
    told=st.one_of(st.none(), st.integers(0, 1000).map(lambda parts: parts / 10)),
)
def test_a_summary_that_can_not_be_that_of_the_queries_gives_no_run(tmp_path_factory, scores, told):
    """To one decimal; a query without a number may have had any number from 0 to 1, or was left out of the mean."""
    known = [score for score in scores if score is not None]
    exact = 100 * float(np.mean(known)) if known else 0.0
    told = round(exact, 1) if told is None else told
    items = [
        result(str(row), metrics={"recall": score, "other": 1.0}, response_claims=[["c"]])
        for row, score in enumerate(scores)
    ]
    ends = [100 * float(np.mean([end if score is None else score for score in scores])) for end in (0, 1)]
    is_possible = not known or ends[0] - 0.05 <= told <= ends[1] + 0.05 or abs(told - exact) <= 0.05
    is_near = any(abs(abs(told - end) - 0.05) < 0.01 for end in (*ends, exact))
    path = tmp_path_factory.getbasetemp() / "summary.json"
    path.write_text(json.dumps({"results": items, "metrics": {"overall_metrics": {"recall": told}}}))
    if is_near:
        return
    if is_possible:
        assert not read_run(path).warnings
    else:
        with pytest.raises(
            InputError, match=rf"not that of its queries: recall \({told:g}, by its queries \d+"
        ):
            read_run(path)


def test_failures_hidden_in_a_real_file_give_no_verdict(tmp_path):
    value = json.loads((CHECKER / "candidate.json").read_text())
    for item in value["results"]:
        item["metrics"]["recall"] = max(item["metrics"]["recall"], 0.9)
    (tmp_path / "c.json").write_text(json.dumps(value))
    verdict = judge(POLICY, CHECKER / "baseline.json", tmp_path / "c.json", tmp_path)
    assert verdict.verdict == "invalid"
    assert "the summary in the file is not that of its queries: recall" in verdict.because[0]


def test_a_summary_alone(tmp_path):
    summary = json.loads((CHECKER / "baseline.json").read_text())["metrics"]
    (tmp_path / "s.json").write_text(json.dumps(summary))
    run = read_run(tmp_path / "s.json")
    assert run.numbers("claim_recall").tolist() == [93.3]
    assert run.find_facts("hallucination").range == (0, 100)
    verdict = judge(POLICY, tmp_path / "s.json", tmp_path / "s.json", tmp_path)
    assert verdict.verdict == "invalid"
    assert "only means of the whole run" in verdict.because[0]


def test_another_question_under_one_id_is_not_compared(tmp_path):
    before = write(tmp_path, result("1"), result("2"), name="a.json")
    after = write(tmp_path, result("1"), result("2", query="other"), name="b.json")
    assert (
        "has another question in the candidate: 'other'" in judge(POLICY, before, after, tmp_path).because[0]
    )


def test_own_labels_stay_and_may_identify(tmp_path):
    run = read_run(write(tmp_path, result("1", topic="hr", key="x"), result("2", topic="it", key="y")))
    assert run.labels("topic") == [("hr",), ("it",)]
    assert read_run(tmp_path / "r.json", id_field="key").ids == ["x", "y"]
    assert read_run(tmp_path / "r.json", id_field="query_id").ids == ["1", "2"]
    with pytest.raises(InputError, match="no record has the field 'nothing'"):
        read_run(tmp_path / "r.json", id_field="nothing")


@pytest.mark.parametrize(("text", "message"), [
    ('{"results": [{"query_id": "1", "gt_answer": "a", "metr', "r.json:1: is not JSON"),
    ('{"results": [{"query_id": "1", "gt_answer": "a"}, 5]}', "objects, and number 2 in it is the number 5"),
    ('{"results": [{"query_id": "1", "gt_answer": "a"}, [1]]}', "objects, and number 2 in it is a list"),
    ('{"results": [{"query_id": "1", "gt_answer": "a", "metrics": {"recall": 1}}]} x', "else begins behind the end"),
    ('{"results": [{"query": "1", "query_id": null, "gt_answer": "a", "metrics": {"recall": 1}}]}', "no record has"),
    ('{"overall_metrics": {}, "retriever_metrics": {}, "generator_metrics": {}}', "neither results nor a summary"),
])  # fmt: skip
def test_a_wrong_file_is_placed(tmp_path, text, message):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "r.json")


@given(
    st.lists(
        st.one_of(st.none(), st.integers(0, 1000).map(lambda parts: parts / 1000), st.just(float("nan"))),
        min_size=1,
        max_size=5,
    )
)
def test_scores_are_read_as_written_and_nothing_missing_becomes_a_number(tmp_path_factory, scores):
    path = tmp_path_factory.getbasetemp() / "scores.json"
    items = [result(str(row), metrics={"recall": score, "f1": 1.0}) for row, score in enumerate(scores)]
    path.write_text(json.dumps({"results": items}))
    expected = [np.nan if score is None else score for score in scores]
    np.testing.assert_array_equal(read_run(path).numbers("recall"), expected)


def test_the_documented_policy(tmp_path):
    (policy,) = write_policies("ragchecker.md", tmp_path)
    load_policy(policy)
    verdict = judge(policy, CHECKER / "baseline.json", CHECKER / "candidate.json")
    assert verdict.verdict == "pass", verdict.because
    assert verdict.pairing.paired == 30
    strict = policy.read_text().replace("faithfulness, at_least: 85%", "claim_recall, at_least: 99%")
    assert judge(strict, CHECKER / "baseline.json", CHECKER / "candidate.json", tmp_path).verdict == "fail"
