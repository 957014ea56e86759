from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge, write_policies

from gateline.errors import InputError
from gateline.policy import load_policy
from gateline.readers import read_run

PYTEST = FILES / "pytest"
SIDES = ["baseline", "candidate"]


def document(side: str) -> dict:
    return json.loads((PYTEST / f"{side}.pytest-json-report.json").read_text(encoding="utf-8"))


def write(path: Path, *tests: dict, **more) -> Path:
    report = {"created": 1.0, "duration": 1.0, "exitcode": 0, "root": ".", "environment": {}, "summary": {}}
    path.write_text(json.dumps(report | {"tests": list(tests)} | more))
    return path


def one(name: str = "t.py::a", outcome: str = "passed", **more) -> dict:
    return {"nodeid": name, "outcome": outcome, "call": {"duration": 0.5, "outcome": outcome}} | more


@pytest.mark.parametrize("side", SIDES)
def test_counts_and_what_was_recorded_are_the_reports_own(side):
    run, told = read_run(PYTEST / f"{side}.pytest-json-report.json"), document(side)
    passed = run.numbers("pass")
    assert len(run) == told["summary"]["total"]
    assert (passed == 1).sum() == told["summary"]["passed"]
    assert (passed == 0).sum() == told["summary"]["failed"]
    unknown = told["summary"].get("error", 0) + told["summary"]["skipped"] + told["summary"]["xfailed"]
    assert np.isnan(passed).sum() == unknown
    for row, test in enumerate(told["tests"]):
        recorded = {name: value for one in test.get("user_properties", []) for name, value in one.items()}
        for name in ("word_recall", "latency_ms"):
            np.testing.assert_equal(run.numbers(name)[row], recorded.get(name, np.nan))
        assert run.texts("topic")[row] == recorded.get("topic", "")
        if test["outcome"] in ("passed", "failed"):
            assert run.numbers("duration_ms")[row] == pytest.approx(test["call"]["duration"] * 1000)
        else:
            assert np.isnan(run.numbers("duration_ms")[row])
    assert run.ids == [test["nodeid"] for test in told["tests"]]


@pytest.mark.parametrize("side", SIDES)
def test_three_reports_of_one_run_agree(side):
    """Three programs by three people wrote down the same tests."""
    pytest.importorskip("defusedxml")
    names = ("junit.xml", "ctrf.json", "pytest-json-report.json")
    junit, ctrf, own = (read_run(PYTEST / f"{side}.{name}") for name in names)
    assert ctrf.ids == own.ids
    assert [name.replace(".py::", "::").replace("/", ".") for name in own.ids] == junit.ids
    for run in (junit, ctrf):
        np.testing.assert_array_equal(run.numbers("pass"), own.numbers("pass"))
        assert [bool(text) for text in run.texts("error") or []] == [
            bool(text) for text in own.texts("error") or []
        ]
    for name in ("word_recall", "latency_ms"):
        np.testing.assert_array_equal(junit.numbers(name), own.numbers(name))
    assert junit.texts("topic") == own.texts("topic")


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("passed", 1),
        ("xpassed", 1),
        ("failed", 0),
        ("error", np.nan),
        ("skipped", np.nan),
        ("xfailed", np.nan),
    ],
)
def test_outcomes(tmp_path, outcome, expected):
    run = read_run(write(tmp_path / "a.json", one("t.py::a", outcome), one("t.py::b")))
    np.testing.assert_array_equal(run.numbers("pass"), [expected, 1])
    assert bool((run.texts("error") or [""])[0]) == (outcome == "error")
    np.testing.assert_array_equal(run.numbers("latency_ms"), [np.nan if np.isnan(expected) else 500, 500])


def test_an_error_named_as_another_cause_is_none_of_it(tmp_path):
    crash = {"duration": 0, "outcome": "failed", "crash": {"message": "no_answer"}}
    run = read_run(
        write(tmp_path / "a.json", one("t.py::a", "error", setup=crash), one("t.py::b", "error", setup={}))
    )
    assert run.fields["error"] == ["error", "error"]


def test_recorded_values_keep_their_types_and_versions_are_told(tmp_path):
    environment = {"Python": "3.12.1", "Packages": {"pytest": "9.2.0"}, "SECRET": "x"}
    test = one(
        user_properties=[{"score": 1}, {"flag": True}, {"parts": {"a": 1}}],
        metadata={"note": "n" * 90, "code": "007"},
    )
    run = read_run(write(tmp_path / "a.json", test, environment=environment))
    assert run.numbers("score").tolist() == [1]
    assert run.labels("flag") == [("true",)]
    assert run.texts("code") == ["007"]
    assert "note" in run.fields
    assert run.provenance == {"python": "3.12.1", "pytest": "9.2.0"}


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ([], "no test in the report"),
        ([{"outcome": "passed"}], "test 1 has no nodeid but null"),
        ([one("t.py::b", [])], "the outcome of 't.py::b' must be passed, .* not a list"),
        ([one(), one("t.py::b", "fine")], "the outcome of 't.py::b' must be passed, .* not the text 'fine'"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, tests, message):
    with pytest.raises(InputError, match=message):
        read_run(write(tmp_path / "a.json", *tests))


@pytest.mark.parametrize("outcome", ["passed", "xpassed"])
@pytest.mark.parametrize("stage", ["setup", "call", "teardown"])
def test_a_pass_that_a_stage_of_it_denies_is_refused(tmp_path, stage, outcome):
    with pytest.raises(InputError, match=f"outcome of 't.py::a' is {outcome}, and its {stage} failed"):
        read_run(write(tmp_path / "a.json", one(outcome=outcome, **{stage: {"outcome": "failed"}})))


def test_odd_values_are_no_crash(tmp_path):
    odd = {
        "nodeid": "t.py::a",
        "outcome": "failed",
        "call": "x",
        "setup": {"crash": 3, "longrepr": 4},
        "user_properties": 5,
        "metadata": 6,
    }
    run = read_run(write(tmp_path / "a.json", odd, environment=[], summary=7))
    assert run.numbers("pass").tolist() == [0]


def test_the_documented_policy(tmp_path):
    (policy,) = write_policies("pytest-json-report.md", tmp_path)
    load_policy(policy)
    verdict = judge(policy, *(PYTEST / f"{side}.pytest-json-report.json" for side in SIDES))
    assert verdict.verdict in {"pass", "fail"}, verdict.because
    assert verdict.pairing.paired == 32


def test_of_what_a_test_recorded_several_times_the_last_value_is_not_the_one(tmp_path):
    """As in JUnit, where each call of record_property leaves a property of its own."""
    several = one("t.py::b", user_properties=[{"score": 0.1}, {"score": 0.9}])
    run = read_run(write(tmp_path / "a.json", one(user_properties=[{"score": 1}]), several))
    assert "score" not in run.number_names()
    assert run.labels("score") == [("1",), ("0.1", "0.9")]


def test_a_test_that_passed_when_tried_again_is_told(tmp_path):
    summary = {"rerun": 1, "passed": 1, "total": 2}
    run = read_run(write(tmp_path / "a.json", one("t.py::a", "passed") | {"outcome": "rerun"}, one("t.py::b"),
                         summary=summary))  # fmt: skip
    assert run.numbers("pass").tolist() == [1, 1]
    assert "tests that passed only when tried again count as passed: 1" in run.warnings
    failed = one("t.py::a", "failed") | {"outcome": "rerun"}
    with pytest.raises(InputError, match=r"the outcome of 't\.py::a' is rerun, and its call failed"):
        read_run(write(tmp_path / "b.json", failed, one("t.py::b"), summary=summary))
    with pytest.raises(InputError, match="the summary says rerun: 0, and its tests show 1"):
        read_run(write(tmp_path / "c.json", one("t.py::a", "passed") | {"outcome": "rerun"}, one("t.py::b"),
                       summary=summary | {"rerun": 0}))  # fmt: skip


def test_a_test_that_failed_is_a_failure_though_its_tear_down_broke_too(tmp_path):
    """As in JUnit, which has an entry for either: what can't be scored would be left out, and a failure hidden."""
    both = one("t.py::a", "failed") | {"outcome": "error", "teardown": {"duration": 0, "outcome": "failed"}}
    alone = one("t.py::b", "passed") | {"outcome": "error", "teardown": {"duration": 0, "outcome": "failed"}}
    run = read_run(write(tmp_path / "a.json", both, alone))
    np.testing.assert_array_equal(run.numbers("pass"), [0, np.nan])
