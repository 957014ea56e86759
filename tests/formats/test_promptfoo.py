from __future__ import annotations

import copy
import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge, write_policies
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.policy import load_policy
from gateline.readers import read_run

FOO = FILES / "promptfoo"
SIDES = ["baseline", "candidate"]
POLICY = """\
version: 1
name: gate
samples: {{at_least: 1}}
missing: {{drop_at_most: 100%}}
metrics: {{{metric}: {{better: higher, range: [0, 1]}}}}
rules: [{{id: holds, kind: tolerance, metric: {metric}, worse_by_at_most: 1}}]
"""


def document(name: str) -> dict:
    return json.loads((FOO / f"{name}.json").read_text(encoding="utf-8"))


def results(name: str) -> list[dict]:
    return document(name)["results"]["results"]


def answer(number: int = 0, *, asserts: list | None = None, **more) -> dict:
    case = {
        "vars": {"question": f"Q{number}?"},
        "assert": [{"type": "contains", "value": "a"}] if asserts is None else asserts,
    }
    case |= more.pop("test", {})
    known = {
        "testIdx": number,
        "promptIdx": 0,
        "promptId": "p" * 64,
        "provider": {"id": "rag", "label": ""},
        "prompt": {"raw": "Q", "label": "{{question}}"},
        "vars": case["vars"],
        "testCase": case,
        "response": {"output": "an answer"},
        "success": True,
        "score": 1,
        "namedScores": {},
        "gradingResult": {
            "pass": True,
            "score": 1,
            "reason": "All assertions passed",
            "componentResults": [],
        },
        "failureReason": 0,
        "latencyMs": 10,
        "cost": 0,
        "tokenUsage": {"total": 0, "prompt": 0, "completion": 0},
    }
    return known | more


def write_json(path: Path, *answers: dict, **more) -> Path:
    summary = {
        "version": 3,
        "timestamp": "2026-01-01T00:00:00Z",
        "prompts": [],
        "results": list(answers),
        "stats": {},
    }
    path.write_text(json.dumps({"evalId": "e", "results": summary, "config": {}} | more), encoding="utf-8")
    return path


def write_lines(path: Path, *answers: dict) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in answers), encoding="utf-8")
    return path


@pytest.mark.parametrize("side", SIDES)
def test_means_and_counts_are_the_tools_own(side):
    """promptfoo sums the named scores up, each with its weight, and counts what passed, failed and had an error."""
    run, told = read_run(FOO / f"{side}.json"), document(side)["results"]["prompts"][0]["metrics"]
    passed, errors = run.numbers("pass"), run.texts("error") or [""] * len(run)
    assert np.nansum(passed) == told["testPassCount"]
    assert (passed == 0).sum() == told["testFailCount"]
    assert errors.count("no_answer") == told["testErrorCount"]
    assert np.nansum(run.numbers("score")) == pytest.approx(told["score"])
    for name, total in told["namedScores"].items():
        values = run.numbers(name)
        assert np.nanmean(values) == pytest.approx(total / told["namedScoreWeights"][name])
        assert (~np.isnan(values)).sum() == told["namedScoresCount"][name]
    assert np.nansum(run.numbers("latency_ms")) == told["totalLatencyMs"]
    assert np.nansum(run.numbers("cost_usd")) == pytest.approx(told["cost"])
    for ours, theirs in (("input", "prompt"), ("output", "completion"), ("total", "total")):
        assert np.nansum(run.numbers(f"tokens.{ours}")) == told["tokenUsage"][theirs]


@pytest.mark.parametrize("side", SIDES)
def test_every_score_of_every_test(side):
    run = read_run(FOO / f"{side}.json")
    for row, one in enumerate(results(side)):
        assert run.ids[row] == one["testCase"]["metadata"]["case_id"]
        assert run.texts("topic")[row] == one["testCase"]["metadata"]["topic"]
        failed = one["failureReason"] == 2
        for name, value in {"score": one["score"], "pass": one["success"], **one["namedScores"]}.items():
            np.testing.assert_equal(run.numbers(name)[row], np.nan if failed else float(value))
    assert run.format_version == "0.121.20"
    assert run.provenance["provider"] == "rag-pipeline"


@pytest.mark.parametrize("side", SIDES)
def test_lines_are_the_same_in_any_order(tmp_path, side):
    lines = results(side)
    random.Random(2).shuffle(lines)
    whole, shuffled = read_run(FOO / f"{side}.json"), read_run(write_lines(tmp_path / "a.jsonl", *lines))
    assert sorted(shuffled.ids) == sorted(whole.ids)
    for name in (*whole.metrics, "latency_ms", "cost_usd", "tokens.total"):
        before, after = (
            dict(zip(run.ids, run.numbers(name).tolist(), strict=True)) for run in (whole, shuffled)
        )
        np.testing.assert_equal(after, before)
    assert shuffled.place(3) == f"{tmp_path / 'a.jsonl'}:4"


@pytest.mark.parametrize("side", SIDES)
def test_the_csv_has_the_same_to_two_decimals(side):
    whole, table = read_run(FOO / f"{side}.json"), read_run(FOO / f"{side}.csv")
    assert table.ids == whole.texts("description")
    assert table.texts("question") == whole.texts("question")
    assert set(table.metrics) == set(whole.metrics)
    for name in whole.metrics:
        np.testing.assert_allclose(table.numbers(name), whole.numbers(name), atol=0.005 + 1e-9)
    assert table.texts("error") == whole.texts("error")
    assert any("two decimals" in warning for warning in table.warnings)


def test_json_and_csv_of_one_run_are_compared_by_a_field_of_both(tmp_path):
    policy = POLICY.format(metric="pass").replace("at_least: 1", "at_least: 1, id: description")
    verdict = judge(policy, FOO / "candidate.json", FOO / "candidate.csv", tmp_path)
    assert verdict.verdict == "pass", verdict.because
    assert verdict.pairing.paired == 30
    assert verdict.findings[0].gain == 0


def test_an_error_is_no_zero():
    run = read_run(FOO / "candidate.json")
    for name, latency in (("q004", np.nan), ("q025", 32)):
        row = run.ids.index(name)
        assert results("candidate")[row]["score"] == 0
        assert np.isnan(run.numbers("score")[row])
        assert run.fields["error"][row] == "no_answer"
        np.testing.assert_equal(run.numbers("latency_ms")[row], latency)
        assert np.isnan(run.numbers("cost_usd")[row])
    row = run.ids.index("q007")  # a failed assertion fills `error` too
    assert results("candidate")[row]["error"]
    assert run.fields["error"][row] is None
    assert run.numbers("pass")[row] == 0


def test_a_failed_provider_counts_as_the_worst(tmp_path):
    verdict = judge(POLICY.format(metric="score"), FOO / "baseline.json", FOO / "candidate.json", tmp_path)
    (left,) = [one for one in verdict.pairing.no_answer if one.run == "candidate"]
    assert (left.ids, left.counted_as) == (["q004", "q025"], "worst")
    told = document("candidate")["results"]["prompts"][0]["metrics"]
    assert verdict.findings[0].candidate == pytest.approx(told["score"] / 30)


def test_an_answer_that_could_not_be_graded_is_no_failure_of_the_system(tmp_path):
    path = write_json(
        tmp_path / "a.json",
        answer(0, failureReason=2, gradingResult=None, score=0, success=False, error="TypeError in an assertion"),
        answer(1, failureReason=2, gradingResult=None, score=0, success=False, error="timeout",
               response={"error": "timeout"}),
        answer(2),
    )  # fmt: skip
    run = read_run(path)
    assert run.fields["error"] == ["grading_failed", "no_answer", None]
    assert run.fields["error_message"] == ["TypeError in an assertion", "timeout", None]
    np.testing.assert_array_equal(run.numbers("score"), [np.nan, np.nan, 1])


def test_old_results_tell_errors_by_what_is_not_graded(tmp_path):
    answers = [
        answer(0, error="ECONNRESET", gradingResult=None, score=0, success=False, response={}),
        answer(1, error="Expected output to contain x", score=0, success=False),
    ]
    for one in answers:
        del one["failureReason"], one["testIdx"], one["promptIdx"]
    run = read_run(write_json(tmp_path / "a.json", *answers))
    assert run.fields["error"] == ["no_answer", None]
    np.testing.assert_array_equal(run.numbers("pass"), [np.nan, 0])


def test_a_file_of_the_first_versions(tmp_path):
    """Without ids of evaluations, tests and prompts, and with another name for a prompt's label."""
    one = {
        "provider": {"id": "openai:gpt-4"},
        "prompt": {"raw": "Say Q1?", "display": "Say {{question}}"},
        "vars": {"question": "Q1?"},
        "response": {
            "output": "an answer",
            "tokenUsage": {"total": 9, "prompt": 4, "completion": 5},
            "cost": 0.2,
        },
        "success": True,
        "score": 0.5,
        "namedScores": {"tone": 0.25},
        "latencyMs": 12,
        "cost": 0.2,
    }
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps({"results": {"version": 2, "results": [one], "stats": {}, "table": {}}, "config": {}})
    )
    run = read_run(path)
    assert run.format == "promptfoo"
    assert [run.numbers(name)[0] for name in ("pass", "score", "tone", "latency_ms", "cost_usd")] == [
        1,
        0.5,
        0.25,
        12,
        0.2,
    ]
    assert run.provenance == {"provider": "openai:gpt-4", "prompt": "Say {{question}}"}
    assert run.fields["question"] == ["Q1?"]


def graded(*components: dict, **more) -> dict:
    passed = all(one["pass"] for one in components)
    score = sum(one["score"] for one in components) / len(components)
    grading = {"pass": passed, "score": score, "reason": "x", "componentResults": list(components)}
    return {
        "gradingResult": grading,
        "score": score,
        "success": passed,
        "failureReason": int(not passed),
    } | more


def component(score: float, metric: str = "", *, broken: bool = False) -> dict:
    assertion = {"type": "llm-rubric", "value": "x"} | ({"metric": metric} if metric else {})
    return {"pass": score >= 0.5, "score": score, "assertion": assertion} | (
        {"metadata": {"graderError": True}} if broken else {}
    )


def test_a_judge_that_failed_is_no_zero(tmp_path):
    broken, well, bad = component(0, "tone", broken=True), component(1, "facts"), component(0, "facts")
    in_a_set = {"pass": False, "score": 0.5, "assertion": None, "componentResults": [broken, well]}
    path = write_json(
        tmp_path / "a.json",
        answer(0, **graded(broken, well, namedScores={"tone": 0, "facts": 1})),
        answer(1, **graded(broken, bad, namedScores={"tone": 0, "facts": 0})),
        answer(2, **graded(well, namedScores={"tone": 0.2, "facts": 1})),
        answer(3, **graded(in_a_set, namedScores={"tone": 0, "facts": 1})),
    )
    run = read_run(path)
    np.testing.assert_array_equal(run.numbers("tone"), [np.nan, np.nan, 0.2, np.nan])
    np.testing.assert_array_equal(run.numbers("facts"), [1, 0, 1, 1])
    np.testing.assert_array_equal(run.numbers("score"), [np.nan, np.nan, 1, np.nan])
    np.testing.assert_array_equal(run.numbers("pass"), [np.nan, 0, 1, np.nan])
    assert "error" not in run.fields
    assert any("where its judge failed" in warning and "3 assertions" in warning for warning in run.warnings)


def test_judged_by_promptfoo_itself():
    """promptfoo's own sums, without what it counted as 0 though a judge or the provider failed."""
    run, told = read_run(FOO / "judged.json"), document("judged")["results"]["prompts"][0]["metrics"]
    rows = {text: row for row, text in enumerate(run.texts("question"))}
    at = {name: {text: run.numbers(name)[row] for text, row in rows.items()} for name in run.metrics}
    assert told["testErrorCount"] == (run.texts("error") or []).count("no_answer") == 2
    assert told["namedScores"]["tone"] == np.nansum(run.numbers("tone"))
    assert told["namedScoresCount"]["tone"] - 2 == (~np.isnan(run.numbers("tone"))).sum()
    nan = pytest.approx(np.nan, nan_ok=True)
    assert (at["tone"]["q judgefail"], at["facts"]["q judgefail"], at["pass"]["q judgefail"]) == (nan, 1, nan)
    assert (at["facts"]["q judgefail and red"], at["pass"]["q judgefail and red"]) == (0, 0)
    assert (at["pass"]["q nothing"], at["score"]["q nothing"]) == (nan, nan)
    assert (at["pass"]["q throws"], at["facts"]["q throws"]) == (0, 0)
    assert (at["group"]["q set"], at["facts"]["q set"], at["score"]["q set"]) == (0.75, 0.75, 0.75)
    known = ~np.isnan(run.numbers("score"))
    lost = 1 + 0.5  # a test without assertions, and one whose judge failed on one of two
    assert run.numbers("score")[known].sum() == pytest.approx(told["score"] - lost)
    assert (run.format_version, run.provenance["judge"]) == ("0.123.1", ["file://judge_bad.js"])


def test_a_judge_that_failed_in_a_set_takes_the_score_of_the_set(tmp_path):
    inner = [component(0, "tone", broken=True), component(1, "facts")]
    whole = {
        "pass": False,
        "score": 0.5,
        "componentResults": inner,
        "metadata": {"assertionSet": {"metric": "group"}},
    }
    well = whole | {
        "componentResults": [component(1, "tone")],
        "pass": True,
        "metadata": {"assertionSet": {"metric": "other"}},
    }
    named = {"tone": 0, "facts": 1, "group": 0.5, "other": 1}
    run = read_run(
        write_json(tmp_path / "a.json", answer(0, **graded(whole, well, namedScores=named)), answer(1))
    )
    np.testing.assert_equal([run.numbers(name)[0] for name in named], [np.nan, 1, np.nan, 1])


def test_a_test_without_assertions_has_no_score(tmp_path):
    nothing = {"pass": True, "score": 1, "reason": "No assertions"}
    path = write_json(tmp_path / "a.json", answer(0, asserts=[], gradingResult=nothing), answer(1))
    run = read_run(path)
    np.testing.assert_array_equal(run.numbers("pass"), [np.nan, 1])
    np.testing.assert_array_equal(run.numbers("score"), [np.nan, 1])
    assert any("have no score: 1 record" in warning for warning in run.warnings)


def test_cached_answers_and_unknown_prices(tmp_path):
    usage = {"total": 30, "prompt": 20, "completion": 10}
    again = {"total": 30, "prompt": 0, "completion": 0, "cached": 30}
    path = write_json(
        tmp_path / "a.json",
        answer(0, response={"cached": True, "cost": 0.1, "tokenUsage": again}, cost=0.1, tokenUsage=again),
        answer(1, response={"output": "a", "tokenUsage": usage}, tokenUsage=usage),
        answer(2, response={"output": "a", "cost": 0}),
        answer(3),
    )
    run = read_run(path)
    assert run.fields["cached"] == [True, None, None, None]
    np.testing.assert_array_equal(run.numbers("cost_usd"), [0.1, np.nan, 0, np.nan])
    np.testing.assert_array_equal(run.numbers("tokens.total"), [30, 30, np.nan, np.nan])
    np.testing.assert_array_equal(run.numbers("tokens.input"), [np.nan, 20, np.nan, np.nan])


def test_repeats_prompts_and_providers():
    """2 prompts x 2 providers x 3 tests x 2 repeats, where a list of topics makes two tests of one question."""
    whole, table = read_run(FOO / "echo_matrix.json"), read_run(FOO / "echo_matrix.csv")
    for run in (whole, table):
        assert len(run) == 24
        assert len(set(run.ids)) == 12
        assert sorted(set(zip(run.ids, run.texts("attempt"), strict=True))) == sorted(
            (name, attempt) for name in set(run.ids) for attempt in "12"
        )
        assert len(set(run.texts("group"))) == 3
        assert set(run.texts("provider")) == {"echo", "echo-two"}
        assert len(set(run.texts("prompt"))) == 2
        assert not any("\n" in name for name in run.ids)
    assert whole.ids == table.ids
    for told in document("echo_matrix")["results"]["prompts"]:
        short = {"Answer": "Answer shortly: {{question}}", "Q: {{q": "prompt-870d4f87"}[told["label"][:6]]
        rows = [
            row
            for row in range(24)
            if (whole.texts("provider")[row], whole.texts("prompt")[row]) == (told["provider"], short)
        ]
        assert len(rows) == 6
        assert whole.numbers("pass")[rows].sum() == told["metrics"]["testPassCount"]
        assert np.nansum(whole.numbers("keyword_hit")[rows]) == told["metrics"]["namedScores"]["keyword_hit"]


def test_the_csv_by_position_and_not_by_name():
    """A reader by names keeps the last of four blocks."""
    with (FOO / "echo_matrix.csv").open(newline="", encoding="utf-8") as stream:
        header = next(csv.reader(stream))
    assert header.count("Status") == 4
    run = read_run(FOO / "echo_matrix.csv")
    assert {text.partition(" ")[0] for text in run.texts("answer")} == {"Answer", "Q:"}


def test_the_number_of_a_test_identifies_nothing(tmp_path):
    asked = [3, 1, 2]
    before = write_json(tmp_path / "a.json", *(answer(n, score=n / 10) for n in (1, 2, 3)))
    moved = [answer(n, score=n / 10) | {"testIdx": place} for place, n in enumerate(asked)]
    after = write_json(tmp_path / "b.json", *moved)
    verdict = judge(POLICY.format(metric="score"), before, after, tmp_path)
    assert verdict.findings[0].gain == 0
    assert verdict.pairing.paired == 3
    assert sum("matched by the text of their variables" in notice for notice in verdict.notices) == 2


@pytest.mark.parametrize(
    ("metadata", "source"),
    [
        ([{"case_id": "x"}, {"case_id": "y"}], "case_id"),
        ([{"id": 1, "case_id": "x"}, {"id": 2, "case_id": "y"}], "id"),
        ([{"caseId": "x"}, {"caseId": "x"}], "description"),
        ([{"case_id": "x"}, {}], "description"),
        ([{"identity": "x"}, {"identity": "y"}], "description"),
    ],
)
def test_where_the_ids_come_from(tmp_path, metadata, source):
    answers = [answer(n, test={"metadata": one, "description": f"d{n}"}) for n, one in enumerate(metadata)]
    run = read_run(write_json(tmp_path / "a.json", *answers))
    assert (run.id_field, run.made_ids) == (source, False)
    assert run.ids == [str(one.get(source, f"d{n}")) for n, one in enumerate(metadata)]
    for one in answers:
        one["testCase"]["description"] = "same"
        one["testCase"]["metadata"] = {}
    assert read_run(write_json(tmp_path / "b.json", *answers)).id_field == "text of variables"


def test_one_question_with_other_variables_and_other_assertions(tmp_path):
    def asked(number: int, language: str, kind: str = "contains") -> dict:
        case = {"question": "Who?", "language": language, "sessionId": f"s{number}", "_conversation": []}
        return answer(number, test={"vars": case}, asserts=[{"type": kind, "value": "a"}])

    answers = [asked(0, "de"), asked(1, "en"), asked(2, "en", "icontains"), asked(3, "de")]
    run = read_run(write_json(tmp_path / "a.json", *answers))
    assert len(set(run.ids)) == 3
    assert run.ids[0] == run.ids[3]
    assert run.texts("attempt") == ["1", "1", "1", "2"]
    assert {run.ids[1].removesuffix("#2"), run.ids[2].removesuffix("#2")} == {min(run.ids[1:3], key=len)}
    assert run.texts("question") == ["Who?"] * 4
    assert run.labels("language") == [("de",), ("en",), ("en",), ("de",)]
    again = read_run(write_json(tmp_path / "b.json", *answers[::-1]))
    assert set(again.ids) == set(run.ids)
    assert "vars.sessionId" not in run.fields


@pytest.mark.parametrize(
    ("variables", "question"),
    [
        ({"Query": "a  b"}, "a b"),
        ({"text": "a"}, "a"),
        ({"x": "1", "y": {"z": [2]}}, 'x: 1; y: {"z": [2]}'),
        ({"message": "m", "x": 1}, "m"),
    ],
)
def test_what_is_asked(tmp_path, variables, question):
    run = read_run(write_json(tmp_path / "a.json", answer(0, test={"vars": variables})))
    assert run.fields["question"] == [question]


def test_two_providers_of_one_name_are_refused(tmp_path):
    answers = [answer(0), answer(0, promptIdx=1)]
    with pytest.raises(InputError, match="two providers or prompts share a name"):
        read_run(write_json(tmp_path / "a.json", *answers))
    answers[1]["provider"] = {"id": "rag", "label": "other"}
    assert len(set(read_run(write_json(tmp_path / "a.json", *answers)).ids)) == 2


def test_other_assertions_are_not_compared(tmp_path):
    paths = [
        write_json(tmp_path / f"{limit}.json", answer(0, asserts=[{"type": "latency", "threshold": limit}]))
        for limit in (1, 2)
    ]
    verdict = judge(POLICY.format(metric="pass"), *paths, tmp_path)
    assert verdict.verdict == "invalid"
    assert "assertions" in verdict.because[0]
    allowed = POLICY.format(metric="pass") + "provenance: {may_change: [assertions]}\n"
    assert judge(allowed, *paths, tmp_path).verdict == "pass"


def test_another_judge_is_not_compared(tmp_path):
    rubric = {"type": "not-llm-rubric", "value": "x"}

    def asked(judge_model: object) -> dict:
        return answer(
            0,
            asserts=[{"type": "assert-set", "assert": [rubric]}],
            test={"options": {"provider": judge_model}},
        )

    paths = [
        write_json(tmp_path / "a.json", asked("openai:judge-1")),
        write_json(tmp_path / "b.json", asked({"id": "openai:judge-2", "config": {"apiKey": "hunter-4"}})),
        write_json(tmp_path / "c.json", asked(None)),
    ]
    verdict = judge(POLICY.format(metric="pass"), *paths[:2], tmp_path)
    assert (
        "judge is 'openai:judge-1' in the baseline and 'openai:judge-2' in the candidate"
        in verdict.because[0]
    )
    assert read_run(paths[2]).provenance["judge"] == ["promptfoo's default"]
    assert "hunter" not in repr(read_run(paths[1]))


def test_what_may_be_secret_is_not_read(tmp_path):
    one = answer(
        0, response={"output": "a", "metadata": {"header": "hunter-1"}}, metadata={"key": "hunter-2"}
    )
    path = write_json(tmp_path / "a.json", one, config={"env": {"KEY": "hunter-3"}, "description": "d"})
    run = read_run(path)
    assert "hunter" not in repr(run)
    assert run.provenance["evaluation"] == "d"


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1) | st.floats(-5, 5), min_size=3, max_size=6))
def test_the_scores_of_a_file_state_no_range(tmp_path_factory, scores):
    folder = tmp_path_factory.mktemp("scores")
    answers = [answer(place, score=score, namedScores={"n": score}) for place, score in enumerate(scores)]
    run = read_run(write_json(folder / "a.json", *answers))
    assert run.find_facts("score").range is run.find_facts("n").range is None
    assert run.find_facts("pass").range == (0, 1)
    assert {facts.better for facts in run.metric_facts.values()} == {"higher"}


@pytest.mark.parametrize("side", ["baseline", "candidate", "both"])
def test_a_function_of_the_users_may_score_beyond_1_within_the_policys_range(tmp_path, side):
    plain, beyond = (
        write_json(tmp_path / f"{name}.json", answer(0, score=first), answer(1, score=0.5))
        for name, first in (("plain", 1.0), ("beyond", 1.5))
    )
    pair = [beyond if side in (name, "both") else plain for name in ("baseline", "candidate")]
    policy = POLICY.format(metric="score")
    wide = judge(policy.replace("range: [0, 1]", "range: [0, 2]"), *pair, tmp_path)
    assert wide.findings[0].candidate == (1.0 if side != "baseline" else 0.75)
    assert judge(policy, *pair, tmp_path).verdict == "invalid"


def test_a_score_that_is_no_number_is_none(tmp_path):
    run = read_run(write_json(tmp_path / "a.json", answer(0, namedScores={"o": float("nan")})))
    assert np.isnan(run.numbers("o")).all()


BEGIN = '{"evalId": "e", "results": {"version": 3, "timestamp": "t"'
LINE = '{"testIdx": 0, "gradingResult": null, "namedScores": {}}\n'
HEADER = "q,[p] x,Status,Score,Named Scores\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xml", "<promptfoo>\n<evalId>x</evalId></promptfoo>", "is promptfoo's plain XML"),
        ("a.json", BEGIN + ', "table": {"body": []}}}', "only the table of an old promptfoo"),
        ("a.json", BEGIN + ', "results": []}}', "has no results"),
        ("a.json", BEGIN + ', "results": [{"testIdx": 0,', "ends in the middle"),
        ("a.jsonl", LINE + '{"testIdx": 1}\n', r"a\.jsonl:2: is no result"),
        ("a.jsonl", LINE + '{"tes', r"a\.jsonl:2: is not JSON"),
        ("a.csv", HEADER + "a,b,PASS,1.00\n", r"a\.csv:2: cells: 4; columns in the header: 5"),
        ("a.csv", HEADER + 'a,"b,PASS,1.00,\n', r"a\.csv:2: is not CSV"),
        ("a.csv", HEADER, "0 samples"),
    ],
)
def test_what_is_no_result_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / name)


def test_a_cell_may_be_longer_than_csv_allows_and_begin_with_a_mark(tmp_path):
    long = "x" * 200_000
    text = f'q,[p] x,Status,Score,Named Scores\n{long},"a\nb",PASS,0.50,not json\nshort,,ERROR,0.00,\nno,a,FAIL,0.25,\n'
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    run = read_run(tmp_path / "a.csv")
    np.testing.assert_array_equal(run.numbers("score"), [0.5, np.nan, 0.25])
    assert run.lines.tolist() == [2, 4, 5]
    assert run.fields["error"] == [None, "no_answer", None]


def test_odd_values_are_no_crash(tmp_path):
    odd = answer(
        0, testCase=None, vars=[1], provider="plain", prompt=None, response=3, tokenUsage="x", score="1",
        success="yes", namedScores=[1], gradingResult={"componentResults": [None, {"metadata": 3}]}, testIdx="0",
    )  # fmt: skip
    run = read_run(write_json(tmp_path / "a.json", odd, answer(1)))
    assert run.fields["question"][1] == "Q1?"
    np.testing.assert_array_equal(run.numbers("pass"), [np.nan, 1])
    deep = copy.deepcopy(answer(0))
    deep["vars"] = {"question": json.loads("[" * 60 + "]" * 60)}
    with pytest.raises(InputError, match="nested more than"):
        read_run(write_json(tmp_path / "b.json", deep))
    with pytest.raises(InputError, match=r"c\.jsonl:2: is nested more than"):
        read_run(write_lines(tmp_path / "c.jsonl", answer(0), deep))


def test_the_documented_policy(tmp_path):
    (policy,) = write_policies("promptfoo.md", tmp_path)
    load_policy(policy)
    verdict = judge(policy, *(FOO / f"{side}.json" for side in SIDES))
    assert verdict.verdict in {"pass", "fail"}, verdict.because
    assert verdict.pairing.paired == 30
    assert [change.field for change in verdict.changed if change.rule == "unlisted"] == []


@pytest.mark.parametrize(
    ("change", "passed"),
    [
        ({"gradingResult": None}, np.nan),
        ({"gradingResult": {"pass": True, "score": 1, "reason": "No assertions"}}, np.nan),
        ({"gradingResult": {"pass": True, "score": 1, "reason": "fine", "componentResults": []}}, np.nan),
        ({"gradingResult": {"pass": True, "score": 1, "componentResults": [{"pass": True, "score": 1}]}}, 1),
        ({"gradingResult": None, "test": {"assert": [{"type": "contains", "value": "a"}]}}, 1),  # stripped
    ],
)
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_what_no_assertion_looked_at_is_no_pass(tmp_path, change, passed, suffix):
    write = write_json if suffix == "json" else write_lines
    run = read_run(write(tmp_path / f"a.{suffix}", answer(0, asserts=[], **change), answer(1)))
    np.testing.assert_array_equal(run.numbers("pass"), [passed, 1])
    told = [warning for warning in run.warnings if "without an assertion" in warning]
    assert len(told) == np.isnan(passed)


@pytest.mark.parametrize("name", ["baseline", "candidate", "echo_matrix", "judged"])
def test_the_order_of_keys_says_nothing(tmp_path, name):
    (tmp_path / "a.json").write_text(json.dumps(document(name), sort_keys=True, indent=2))
    sorted_run, run = read_run(tmp_path / "a.json"), read_run(FOO / f"{name}.json")
    assert (sorted_run.format, sorted_run.ids) == ("promptfoo", run.ids)
    for metric in run.metrics:
        np.testing.assert_array_equal(sorted_run.numbers(metric), run.numbers(metric))


def test_a_table_with_variables_named_as_inputs_of_ragas_is_promptfoos(tmp_path):
    rows = [
        ["question", "answer", "contexts", "ground_truth", "[rag] p", "Status", "Score", "Named Scores"],
        ["Q1?", "a", "['c']", "g", "out", "PASS", "1.00", "{}"],
    ]
    with (tmp_path / "a.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    assert read_run(tmp_path / "a.csv").format == "promptfoo"
