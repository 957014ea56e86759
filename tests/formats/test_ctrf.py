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
    return json.loads((PYTEST / f"{side}.ctrf.json").read_text(encoding="utf-8"))


def write(path: Path, *tests: dict, **more) -> Path:
    results = {"tool": {"name": "t"}, "summary": {"tests": len(tests)}, "tests": list(tests)} | more
    path.write_text(json.dumps({"reportFormat": "CTRF", "specVersion": "0.0.0", "results": results}))
    return path


def one(name: str = "a", status: str = "passed", **more) -> dict:
    return {"name": name, "status": status, "duration": 5} | more


@pytest.mark.parametrize("side", SIDES)
def test_counts_and_durations_are_the_reports_own(side):
    run, told = read_run(PYTEST / f"{side}.ctrf.json"), document(side)["results"]
    passed = run.numbers("pass")
    broken = [text for text in run.texts("error") or [] if text]
    assert len(run) == told["summary"]["tests"]
    assert (passed == 1).sum() == told["summary"]["passed"]
    assert (passed == 0).sum() + len(broken) == told["summary"]["failed"]
    assert np.isnan(passed).sum() - len(broken) == told["summary"]["skipped"]
    for row, test in enumerate(told["tests"]):
        assert run.ids[row] == test["name"]
        ran = test["status"] != "skipped" and test.get("rawStatus") != "setup_failed"
        np.testing.assert_equal(run.numbers("latency_ms")[row], test["duration"] if ran else np.nan)
        assert run.texts("parameters.qid")[row] == test.get("parameters", {}).get("qid", "")
    assert run.provenance == {"tool": "pytest", "tool_version": "9.2.0"}
    assert run.format_version == "1.0.0"


def test_a_set_up_that_failed_is_no_failure_of_the_system():
    run = read_run(PYTEST / "candidate.ctrf.json")
    row = run.ids.index("gen/pt/test_rag.py::test_index_size")
    assert document("candidate")["results"]["tests"][row]["status"] == "failed"
    assert np.isnan(run.numbers("pass")[row])
    assert run.fields["error"][row] == "RuntimeError: fixture set-up failed"


@pytest.mark.parametrize(
    ("status", "more", "expected"),
    [
        ("passed", {}, 1),
        ("failed", {}, 0),
        ("failed", {"rawStatus": "call_failed"}, 0),
        ("failed", {"rawStatus": "teardown_failed"}, np.nan),
        ("failed", {"rawStatus": "broken"}, np.nan),
        ("skipped", {}, np.nan),
        ("pending", {}, np.nan),
        ("other", {}, np.nan),
    ],
)
def test_outcomes(tmp_path, status, more, expected):
    run = read_run(write(tmp_path / "a.json", one("a", status, **more), one("b")))
    np.testing.assert_array_equal(run.numbers("pass"), [expected, 1])


def test_identity_labels_and_what_was_recorded(tmp_path):
    tests = [
        one(
            "works",
            suite=["login.spec.ts", "Login"],
            tags=["slow"],
            labels={"topic": "hr", "level": 2},
            type="e2e",
        ),
        one("works", suite="old > way", extra={"scores": {"recall": 0.5}, "topic2": "x"}, filePath="f.ts"),
        one("f.py::t[1]", suite=["f.py"], retries=2, flaky=True),
    ]
    run = read_run(
        write(
            tmp_path / "a.json",
            *tests,
            environment={"commit": "c0ffee", "testEnvironment": "ci", "extra": {}},
        )
    )
    assert run.ids == ["login.spec.ts > Login > works", "old > way > works", "f.py::t[1]"]
    assert run.labels("topic")[0] == ("hr",)
    assert run.labels("level")[0] == ("2",)
    assert run.labels("tags")[0] == ("slow",)
    assert run.labels("file")[1] == ("f.ts",)
    assert run.numbers("scores.recall")[1] == 0.5
    assert run.provenance["commit"] == "c0ffee"
    assert "tests that passed only when tried again count as passed: 1" in run.warnings


@pytest.mark.parametrize("root", ["/home/ci/build-7/", "C:\\Users\\me\\repo\\"])
def test_the_folder_of_a_machine_is_no_part_of_a_name(tmp_path, root):
    slash = root[-1]
    tests = [
        one(
            "a",
            suite=f"{root}unit{slash}a.test.js > Login > [POST] /api",
            filePath=f"{root}unit{slash}a.test.js",
        ),
        one("b", suite=[f"{root}e2e{slash}b.test.js", "/api > x"], filePath=f"{root}e2e{slash}b.test.js"),
    ]
    run = read_run(write(tmp_path / "a.json", *tests))
    assert run.ids == ["unit/a.test.js > Login > [POST] /api > a", "e2e/b.test.js > /api > x > b"]
    assert run.labels("file") == [("unit/a.test.js",), ("e2e/b.test.js",)]
    alone = read_run(write(tmp_path / "a.json", tests[0]))
    assert alone.ids == ["a.test.js > Login > [POST] /api > a"]


def test_a_report_of_before_it_had_a_name(tmp_path):
    results = {"results": {"tool": {"name": "jest"}, "summary": {"tests": 2}, "tests": [one()]}}
    (tmp_path / "a.json").write_text(json.dumps(results))
    run = read_run(tmp_path / "a.json")
    assert (run.format, run.ids) == ("ctrf", ["a"])
    assert run.warnings == ("the report says that it has 2 tests, and 1 are in it",)


def test_names_that_repeat_are_attempts(tmp_path):
    run = read_run(write(tmp_path / "a.json", one(), one(status="failed"), one("b")))
    assert run.texts("attempt") == ["1", "2", "1"]
    assert any("attempts at one test: 1" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ([], "no test in results.tests"),
        ([{"status": "passed"}], "test 1 has no name but null"),
        ([one(), one("b", rawStatus="timedOut")], "status of 'b' is passed, and its rawStatus is timedOut"),
        ([one(), one("b", "ok")], "the status of 'b' must be passed, .* not the text 'ok'"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, tests, message):
    with pytest.raises(InputError, match=message):
        read_run(write(tmp_path / "a.json", *tests))


def test_odd_values_are_no_crash(tmp_path):
    odd = one(
        duration="5",
        suite=3,
        tags="x",
        labels=[1],
        extra=[1],
        parameters=[2],
        retries="many",
        message=7,
        rawStatus=None,
    )
    run = read_run(
        write(tmp_path / "a.json", odd, one("b", duration=-1), summary=[], environment="x", tool=None)
    )
    np.testing.assert_array_equal(run.numbers("pass"), [1, 1])
    assert "latency_ms" not in run.fields


def test_the_documented_policy(tmp_path):
    (policy,) = write_policies("ctrf.md", tmp_path)
    load_policy(policy)
    verdict = judge(policy, *(PYTEST / f"{side}.ctrf.json" for side in SIDES))
    assert verdict.verdict in {"pass", "fail"}, verdict.because
    assert verdict.pairing.paired == 32
