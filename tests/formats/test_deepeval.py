from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge, write_policies

from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.policy import load_policy
from gateline.proposal.choices import list_candidates
from gateline.readers import read_run

DEEP = FILES / "deepeval"
SIDES = ["baseline", "candidate"]
POLICY = """\
version: 1
name: gate
samples: {{at_least: 1}}
missing: {{drop_at_most: 100%}}
metrics: {{{metric}: {{better: {better}, range: [0, 1]}}}}
rules: [{{id: holds, kind: tolerance, metric: {metric}, worse_by_at_most: 1}}]
"""


def document(side: str) -> dict:
    return json.loads((DEEP / f"{side}.test_run.json").read_text(encoding="utf-8"))


def case(name: str = "q1", **more) -> dict:
    known = {
        "name": name,
        "input": f"What is {name}?",
        "actualOutput": "a",
        "success": True,
        "metricsData": [],
        "order": 0,
    }
    results = [one for one in more.get("metricsData") or () if isinstance(one, dict)]
    deciding = [one for one in results if not one.get("flaky")]
    known["success"] = all(one.get("success") is not False for one in deciding)
    return known | more


def result(
    name: str = "Faithfulness", score: float | None = 0.9, threshold: float | None = 0.5, **more
) -> dict:
    passed = None if score is None or threshold is None else score >= threshold
    values = {
        "name": name,
        "score": score,
        "threshold": threshold,
        "success": passed,
        "evaluationModel": "judge-1",
    }
    return {key: value for key, value in (values | more).items() if value is not None}


def write_run(path: Path, *cases: dict, **more) -> Path:
    for order, one in enumerate(cases):
        one["order"] = order
    run = {"testCases": list(cases), "conversationalTestCases": [], "metricsScores": []} | more
    path.write_text(json.dumps(run), encoding="utf-8")
    return path


@pytest.mark.parametrize("side", SIDES)
def test_scores_are_the_tools_own(side):
    """DeepEval lists the scores of each metric by order of the cases, without those that it could not compute."""
    run, told = read_run(DEEP / f"{side}.test_run.json"), document(side)
    assert len(run) == 30
    for metric in told["metricsScores"]:
        values = run.numbers(metric["metric"])
        assert values[~np.isnan(values)].tolist() == metric["scores"]
        assert np.isnan(values).sum() == metric["errors"]
        threshold = {one["threshold"] for c in told["testCases"] for one in c["metricsData"]
                     if one["name"] == metric["metric"]}.pop()  # fmt: skip
        assert (values >= threshold).sum() == metric["passes"]
    passed = run.numbers("pass")
    assert (passed == 1).sum() == told["testPassed"]
    assert (passed == 0).sum() == told["testFailed"]
    assert run.numbers("evaluation_cost_usd").sum() == pytest.approx(told["evaluationCost"])


@pytest.mark.parametrize("side", SIDES)
def test_everything_else_is_by_test_case(side):
    run = read_run(DEEP / f"{side}.test_run.json")
    for row, one in enumerate(document(side)["testCases"]):
        assert run.ids[row] == one["name"]
        assert run.numbers("latency_ms")[row] == pytest.approx(one["completionTime"] * 1000)
        assert run.numbers("cost_usd")[row] == one["tokenCost"]
        assert run.texts("tags")[row] == ", ".join(one["tags"])
        assert run.texts("topic")[row] == one["metadata"]["topic"]
        assert run.fields["question"][row] == one["input"]
    assert run.provenance == {
        "model": f"rag-{side}",
        "prompt template": "answer from context",
        "top_k": "4" if side == "baseline" else "3",
        "identifier": f"harbor-{side}",
        "judge": ["fake-judge-1"],
    }
    assert run.format_version == ""


def test_the_wrapped_file_is_the_same(tmp_path):
    wrapped = tmp_path / "latest.json"
    wrapped.write_text(json.dumps({"testRunData": document("baseline")}))
    before, after = read_run(DEEP / "baseline.test_run.json"), read_run(wrapped)
    assert (before.ids, before.format, before.provenance) == (after.ids, after.format, after.provenance)
    for name in before.metrics:
        np.testing.assert_array_equal(before.numbers(name), after.numbers(name))


def test_a_metric_that_could_not_be_computed_is_no_score():
    run = read_run(DEEP / "candidate.test_run.json")
    row = run.ids.index("q030")
    assert np.isnan(run.numbers("Faithfulness")[row])
    assert run.numbers("Answer Relevancy")[row] == 1 / 3
    assert run.fields["metric_errors"][row] == ["Faithfulness: ValueError: judge returned invalid JSON"]
    assert any("could not compute are missing: 1 (Faithfulness" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], np.nan),
        ([result(score=0.1)], 0.0),
        ([result(score=0.1, flaky=True)], np.nan),
        ([result()], np.nan),
    ],
)
def test_a_case_fails_by_what_was_computed(tmp_path, others, expected):
    """DeepEval says that a case failed where the judge did."""
    broken = result("Bias", None, 0.5, error="judge away", success=False)
    run = read_run(write_run(tmp_path / "a.json", case(success=False, metricsData=[broken, *others]),
                             case("q2", metricsData=[result()])))  # fmt: skip
    np.testing.assert_array_equal(run.numbers("pass"), [expected, 1])
    assert "error" not in run.fields


def polar(
    version: str, *scores: float, name: str = "Hallucination", threshold: float | None = 0.5, **more
) -> list[dict]:
    """Cases as a version before or after 4.2.0 writes them."""

    def passes(score: float) -> bool | None:
        return None if threshold is None else score <= threshold if version == "old" else score >= threshold

    return [
        case(f"q{number}", metricsData=[result(name, score, threshold, success=passes(score), **more)])
        for number, score in enumerate(scores)
    ]


@pytest.mark.parametrize("name", ["Hallucination", "Bias", "Toxicity", "Misuse"])
@pytest.mark.parametrize(
    ("version", "better", "told"), [("old", "lower", "before 4.2"), ("new", "higher", "4.2 or later")]
)
def test_the_direction_is_what_passed_its_threshold(tmp_path, name, version, better, told):
    run = read_run(write_run(tmp_path / "a.json", *polar(version, 0.1, 0.5, 0.9, name=name)))
    assert run.find_facts(name).better == better
    assert run.find_facts(name).range == (0, 1)
    assert run.format_version == told
    assert not run.warnings


@pytest.mark.parametrize(("version", "threshold", "better"), [("old", 0.0, "lower"), ("new", 1.0, "higher")])
def test_in_strict_mode_the_threshold_tells(tmp_path, version, threshold, better):
    """All perfect: no score stands off its threshold."""
    cases = polar(version, threshold, threshold, threshold=threshold, strictMode=True)
    run = read_run(write_run(tmp_path / "a.json", *cases))
    assert run.find_facts("Hallucination").better == better


TURNED = ("Hallucination", "Bias", "Toxicity")


@pytest.mark.parametrize("mode", ["", "strict-"])
@pytest.mark.parametrize(("version", "better", "bad"), [("4.1.10", "lower", 1), ("4.3.1", "higher", 0)])
def test_directions_of_files_that_both_versions_wrote(mode, version, better, bad):
    run = read_run(DEEP / f"directions-{mode}{version}.test_run.json")
    for name in TURNED:
        assert run.find_facts(name).better == better
        assert run.numbers(name).tolist() == [1 - bad, bad, 1 - bad]
    assert run.format_version == ("before 4.2" if better == "lower" else "4.2 or later")
    assert run.find_facts("kind").better == "higher"
    assert run.numbers("Kind [GEval]").tolist() == [0.9, 0.2, 0.9]


def test_of_two_versions_what_did_not_turn_is_compared(tmp_path):
    paths = [DEEP / f"directions-{version}.test_run.json" for version in ("4.1.10", "4.3.1")]
    for name in TURNED:
        verdict = judge(POLICY.format(metric=name, better="lower"), *paths, tmp_path)
        assert verdict.verdict == "invalid"
        assert f"{name} is another metric in the two files" in verdict.because[0]
    verdict = judge(POLICY.format(metric="kind", better="higher"), *paths, tmp_path)
    assert (verdict.verdict, verdict.findings[0].gain) == ("pass", 0)


def test_repeats_of_a_test_run_are_attempts(tmp_path):
    """Three cases that pytest names by place, and two with names of their own."""
    once, twice = (read_run(DEEP / f"{name}.test_run.json") for name in ("once", "repeats"))
    assert len(once) == 5
    assert len(twice) == 10
    assert sorted(set(twice.ids)) == sorted(once.ids)
    assert twice.texts("attempt") == ["1", "2"] * 5
    assert twice.id_field == "text of input"
    verdict = judge(
        POLICY.format(metric="exact_match", better="higher"),
        DEEP / "once.test_run.json",
        DEEP / "repeats.test_run.json",
        tmp_path,
    )
    assert (verdict.verdict, verdict.pairing.paired, verdict.findings[0].gain) == ("pass", 5, 0)


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["t[2024-12]", "t[2023-12]"], None),
        (["t[1-2]", "t[2-2]"], ["t", "t"]),
        (["t[a-1-2]", "t[a-2-2]"], ["t[a]", "t[a]"]),
        (["t[a-1-2]", "t[b-2-2]"], None),
        (["t[a-1-1]", "t[b-1-1]"], None),
    ],
)
def test_what_is_a_repeat_and_what_a_name(tmp_path, names, ids):
    cases = [
        case(name, input=(ids or names)[place], metricsData=[result()]) for place, name in enumerate(names)
    ]
    run = read_run(write_run(tmp_path / "a.json", *cases))
    assert run.ids == (ids or names)
    assert not run.made_ids


@pytest.mark.parametrize("threshold", [None, 0.5])
@pytest.mark.parametrize("name", ["Hallucination", "Bias"])
def test_a_direction_that_nothing_shows_is_not_guessed(tmp_path, name, threshold):
    scores = (0.5, 0.5) if threshold else (0.1, 0.9)
    path = write_run(tmp_path / "a.json", *polar("new", *scores, name=name, threshold=threshold))
    run = read_run(path)
    (column,) = [one for one in inspect_run(run).numbers if one.name == name]
    assert column.better is None
    assert name not in [metric.name for metric in list_candidates([column])]
    (warning,) = run.warnings
    assert "better: lower for files of an older version" in warning
    verdict = judge(POLICY.format(metric=name, better="higher"), path, path, tmp_path)
    assert verdict.verdict == "pass"
    assert any(warning in notice for notice in verdict.notices)


@pytest.mark.parametrize(("before", "after"), [("old", "new"), ("new", "old")])
def test_two_directions_are_not_compared(tmp_path, before, after):
    paths = [
        write_run(tmp_path / f"{version}.json", *polar(version, 0.1, 0.9)) for version in (before, after)
    ]
    verdict = judge(POLICY.format(metric="hallucination", better="lower"), *paths, tmp_path)
    assert verdict.verdict == "invalid"
    assert "before DeepEval 4.2.0" in verdict.because[0]
    assert "since DeepEval 4.2.0" in verdict.because[0]


def test_a_known_direction_and_an_unknown_one_are_not_compared(tmp_path):
    known = write_run(tmp_path / "a.json", *polar("old", 0.1, 0.9))
    unknown = write_run(tmp_path / "b.json", *polar("old", 0.1, 0.9, threshold=None))
    verdict = judge(POLICY.format(metric="hallucination", better="lower"), known, unknown, tmp_path)
    assert verdict.verdict == "invalid"
    assert "not known which way in the candidate" in verdict.because[0]


def test_a_file_with_both_directions_is_told(tmp_path):
    mixed = [*polar("old", 0.1, 0.9), *[one | {"name": "x" + one["name"]} for one in polar("new", 0.1, 0.9)]]
    run = read_run(write_run(tmp_path / "a.json", *mixed))
    assert run.find_facts("Hallucination").better is None
    assert len(run.warnings) == 1
    mine = [case(f"q{n}", metricsData=[result("Mine", 0.9, 0.5, success=n == 0)]) for n in range(2)]
    run = read_run(write_run(tmp_path / "b.json", *mine))
    assert run.find_facts("Mine") is None
    assert "Mine passed its threshold from above and from below" in run.warnings[0]


def test_a_users_own_metric_shows_its_direction(tmp_path):
    cases = [
        case(
            "q1",
            metricsData=[result("Seconds", 3.0, 5.0, success=True), result("Polite [GEval]"), result("Mine")],
        ),
        case(
            "q2",
            metricsData=[
                result("Seconds", 9.0, 5.0, success=False),
                result("Polite [GEval]"),
                result("Mine"),
            ],
        ),
    ]
    run = read_run(write_run(tmp_path / "a.json", *cases))
    assert (run.find_facts("Seconds").better, run.find_facts("Seconds").range) == ("lower", None)
    assert (run.find_facts("polite").better, run.find_facts("polite").range) == ("higher", (0, 1))
    assert (run.find_facts("Mine").better, run.find_facts("Mine").range) == ("higher", None)


def test_thresholds_bind_what_passed_and_no_score(tmp_path):
    paths = [
        write_run(tmp_path / f"{limit}.json", case(metricsData=[result(threshold=limit)]))
        for limit in (0.5, 0.8)
    ]
    verdict = judge(POLICY.format(metric="pass", better="higher"), *paths, tmp_path)
    assert verdict.verdict == "invalid"
    assert "pass is another metric in the two files: all of Faithfulness 0.5" in verdict.because[0]
    assert judge(POLICY.format(metric="faithfulness", better="higher"), *paths, tmp_path).verdict == "pass"


def test_another_judge_is_not_compared(tmp_path):
    paths = [
        write_run(tmp_path / f"{model}.json", case(metricsData=[result(evaluationModel=model)]))
        for model in ("a", "b")
    ]
    policy = POLICY.format(metric="faithfulness", better="higher")
    verdict = judge(policy, *paths, tmp_path)
    assert verdict.verdict == "invalid"
    assert "judge is 'a' in the baseline and 'b' in the candidate" in verdict.because[0]
    assert judge(policy + "provenance: {may_change: [judge]}\n", *paths, tmp_path).verdict == "pass"


def log(criteria: object = None, steps: str = "['a']", rubric: object = None, score: float = 0.5) -> str:
    """The log of a metric as DeepEval 4.1.10 and 4.3.1 write it."""
    parts = (f"Criteria:\n{criteria}", f"Evaluation Steps:\n{steps}", f"Rubric:\n{rubric}", f"Score: {score}")
    return " \n \n".join(parts)


@pytest.mark.parametrize(
    ("before", "after", "is_compared"),
    [
        (log("be kind"), log("be  kind", score=0.9), True),
        (log("be kind"), log("be brief"), False),
        (log("be kind", "['written by a model']"), log("be kind", "['written anew']"), True),
        (log(None, "['mine']"), log(None, "['another']"), False),
        (log("be kind", rubric="0-4: bad"), log("be kind", rubric="0-5: bad"), False),
        (log("be kind"), "", True),
    ],
)
def test_other_criteria_are_another_metric(tmp_path, before, after, is_compared):
    paths = [
        write_run(
            tmp_path / f"{side}.json", case(metricsData=[result("Kind [GEval]", verboseLogs=text or None)])
        )
        for side, text in (("a", before), ("b", after))
    ]
    verdict = judge(POLICY.format(metric="kind", better="higher"), *paths, tmp_path)
    assert (verdict.verdict == "pass") == is_compared
    if not is_compared:
        assert "criteria.Kind [GEval] is" in verdict.because[0]
    if not after:
        assert any("does not say its criteria.Kind [GEval]" in notice for notice in verdict.notices)


def test_another_version_of_the_dataset_is_not_compared(tmp_path):
    paths = [
        write_run(
            tmp_path / f"{version}.json",
            case(metricsData=[result()]),
            datasetAlias="d",
            datasetVersion=version,
        )
        for version in ("1", "2")
    ]
    verdict = judge(POLICY.format(metric="faithfulness", better="higher"), *paths, tmp_path)
    assert "dataset_version is '1' in the baseline and '2' in the candidate" in verdict.because[0]


def test_order_is_nothing(tmp_path):
    told = document("baseline")
    random.Random(5).shuffle(told["testCases"])
    (tmp_path / "a.json").write_text(json.dumps(told))
    assert read_run(tmp_path / "a.json").ids == read_run(DEEP / "baseline.test_run.json").ids
    for number, one in enumerate(told["testCases"]):
        one["order"] = number
    (tmp_path / "a.json").write_text(json.dumps(told))
    verdict = judge(
        POLICY.format(metric="faithfulness", better="higher"),
        DEEP / "baseline.test_run.json",
        tmp_path / "a.json",
        tmp_path,
    )
    assert verdict.pairing.paired == 30
    assert verdict.findings[0].gain == 0


@pytest.mark.parametrize("pattern", ["test_case_{}", "test_rag[test_case{}]", "test_rag[case{}]"])
def test_names_that_are_places_identify_nothing(tmp_path, pattern):
    asked = ["Who?", "What?", "Wo  ist\nes?"]
    runs = []
    for number, order in enumerate(([0, 1, 2], [2, 0, 1])):
        cases = [
            case(pattern.format(place), input=asked[question], metricsData=[result(score=question / 10)])
            for place, question in enumerate(order)
        ]
        runs.append(read_run(write_run(tmp_path / f"{number}.json", *cases)))
    first, second = (dict(zip(run.ids, run.numbers("Faithfulness"), strict=True)) for run in runs)
    assert first == second
    assert all(name.startswith("q-") for name in first)
    assert runs[0].made_ids
    assert "matched by the text of their input" in runs[0].warnings[0]


def test_names_with_numbers_of_the_users_own_do_identify(tmp_path):
    cases = [case(f"test_rag[q00{n}]", metricsData=[result()]) for n in range(3)]
    assert read_run(write_run(tmp_path / "a.json", *cases)).ids == [f"test_rag[q00{n}]" for n in range(3)]
    cases = [case(f"test_rag[q{n}]", metricsData=[result()]) for n in (3, 7, 9)]
    assert not read_run(write_run(tmp_path / "b.json", *cases)).made_ids


def test_equal_inputs_are_told_apart_by_the_expected_answer(tmp_path):
    cases = [
        case(f"test_case_{n}", input="Who?", expectedOutput=text, metricsData=[result(score=score)])
        for n, (text, score) in enumerate([("b", 0.1), ("a", 0.2)])
    ]
    run = read_run(write_run(tmp_path / "a.json", *cases))
    found = dict(zip(run.ids, run.numbers("Faithfulness"), strict=True))
    assert {name[-2:]: score for name, score in found.items()}["#2"] == 0.1
    assert "1 text stands more than once" in run.warnings[0]


def test_repeats_are_attempts_and_one_name_for_two_questions_is_none(tmp_path):
    cases = [case(metricsData=[result(score=score)]) for score in (0.2, 0.4)]
    path = write_run(tmp_path / "a.json", *cases)
    run = read_run(path)
    assert (run.ids, run.texts("attempt")) == (["q1", "q1"], ["1", "2"])
    verdict = judge(POLICY.format(metric="faithfulness", better="higher"), path, path, tmp_path)
    assert verdict.findings[0].candidate == pytest.approx(0.3)
    cases = [case(input=text, metricsData=[result()]) for text in ("Who?", "What?")]
    assert len(set(read_run(write_run(tmp_path / "b.json", *cases)).ids)) == 2


def test_another_question_under_one_name_is_not_compared(tmp_path):
    paths = [
        write_run(tmp_path / f"{text}.json", case(input=text, metricsData=[result()]))
        for text in ("Who", "What")
    ]
    verdict = judge(POLICY.format(metric="faithfulness", better="higher"), *paths, tmp_path)
    assert "has another question in the candidate: 'What'" in verdict.because[0]


def test_conversations(tmp_path):
    turns = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Leave?"},
        {"role": "assistant", "content": "28 days"},
    ]
    one = {
        "name": "conversational_test_case_0",
        "turns": turns,
        "success": True,
        "metricsData": [result("Turn Relevancy")],
    }
    two = one | {"name": "conversational_test_case_1", "scenario": "An employee asks for leave"}
    run = read_run(write_run(tmp_path / "a.json", conversationalTestCases=[one, two], metricsScores=[]))
    assert run.fields["question"] == ["Hello Leave?", "An employee asks for leave"]
    assert run.fields["answer"] == ["28 days", "28 days"]
    assert run.numbers("turn_relevancy").tolist() == [0.9, 0.9]


def test_a_blank_answer_is_no_answer(tmp_path):
    cases = [case("q1", metricsData=[result()]), case("q2", actualOutput=" ", metricsData=[result()])]
    run = read_run(write_run(tmp_path / "a.json", *cases))
    assert run.fields["error"] == [None, "no_answer"]
    retrieval = [{**one, "actualOutput": None} for one in cases]
    assert "error" not in read_run(write_run(tmp_path / "b.json", *retrieval)).fields


def test_a_bare_nan_is_no_score(tmp_path):
    path = write_run(tmp_path / "a.json", case(metricsData=[result(score=float("nan"), success=False)]))
    assert "NaN" in path.read_text()
    assert np.isnan(read_run(path).numbers("Faithfulness")).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"testRunLink": "https://example.org"}', "holds a link to Confident AI and no results"),
        ('{"test_cases_lookup_map": {}}', "is DeepEval's cache and not a test run"),
        ('{"testCases": [], "metricsScores": []}', "has no test case"),
        ('{"testCases": [{"name": "a", "input": "b"}], "metricsScores": []}', "no test case has a score"),
        ('{"testRunData": {"testCases": [{"name": "a", "inp', "the file ends in the middle of it"),
        ('{"testCases": [{"name": "a", "input": "b", "metricsData": [{"score": 1}]}]}', "has no name but null"),
        ('{"testCases": [{"name": "test_case_0", "input": " ", "metricsData": [{"name": "M", "score": 1}]}]}',
         "neither a name of their own nor an input"),
        ('{"testCases": "none", "metricsScores": 3}', "has no test case"),
    ],
)  # fmt: skip
def test_what_is_no_test_run_is_refused(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "a.json")


def test_odd_values_are_no_crash(tmp_path):
    odd = case(
        metricsData=[result() | {"score": "high"}, "none", result("Bias", True)],
        tags="hr", metadata=[1], tokenCost=-1, completionTime="fast", retrievalContext=None,
    )  # fmt: skip
    run = read_run(
        write_run(tmp_path / "a.json", odd, case("q2", metricsData=[result()]), hyperparameters=[1])
    )
    np.testing.assert_array_equal(run.numbers("Faithfulness"), [np.nan, 0.9])
    assert "cost_usd" not in run.fields


def test_the_documented_policy(tmp_path):
    (policy,) = write_policies("deepeval.md", tmp_path)
    load_policy(policy)
    verdict = judge(policy, *(DEEP / f"{side}.test_run.json" for side in SIDES))
    assert verdict.verdict in {"pass", "fail"}, verdict.because
    assert verdict.pairing.paired == 30
    assert [change.field for change in verdict.changed if change.rule == "unlisted"] == []


@pytest.mark.parametrize("swapped", [False, True])
def test_of_two_results_of_one_metric_neither_counts_in_silence(tmp_path, swapped):
    results = [result(score=0.1), result(score=0.9)]
    several = case("q1", metricsData=results[::-1] if swapped else results)
    with pytest.raises(InputError, match="two results of one metric, and they differ: Faithfulness of q1"):
        read_run(write_run(tmp_path / "a.json", several, case("q2", metricsData=[result()])))


def test_a_result_that_is_written_twice_alike_is_one(tmp_path):
    run = read_run(write_run(tmp_path / "a.json", case("q1", metricsData=[result(), result()])))
    assert run.numbers("Faithfulness").tolist() == [0.9]
