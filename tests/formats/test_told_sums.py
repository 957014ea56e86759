"""A file whose own sums, plan or grading know of failures that its tests do not show gives no verdict.

Failures of real files are made to look passed, some or all of them: with the file's sums left alone it must be refused,
and with sums made anew by the rule of the tool it must be read, with that many failures fewer.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge
from hypothesis import given, settings
from hypothesis import strategies as st
from test_inspect import as_json, members_of

from gateline.errors import InputError
from gateline.readers import read_run

POLICY = """\
version: 1
name: gate
samples: {{at_least: 1, on_mismatch: intersect}}
missing: {{drop_at_most: 100%}}
metrics: {{{metric}: {{better: higher, range: [0, 1]}}}}
rules: [{{id: holds, kind: tolerance, metric: {metric}, worse_by_at_most: 1}}]
"""
Hidden = tuple[str, int]
"""The text of a file in which failures were hidden, and how many failures it still shows."""


@cache
def text_of(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def hide_in_junit(chosen: Sequence[int], *, honest: bool) -> Hidden:
    text = text_of("pytest/candidate.junit.xml")
    cases = re.findall(r"<testcase .*?</testcase>|<testcase [^>]*/>", text, re.DOTALL)
    bad = [case for case in cases if "<failure" in case]
    for place in chosen:
        case = bad[place % len(bad)]
        text = text.replace(
            case, re.sub(r"<(failure|error)\b.*?</\1>|<(failure|error)\b[^>]*/>", "", case, flags=re.DOTALL)
        )
    left = {kind: text.count(f"<{kind}") for kind in ("failure", "error")}
    if honest:
        text = re.sub(r' failures="\d+"', f' failures="{left["failure"]}"', text)
        text = re.sub(r' errors="\d+"', f' errors="{left["error"]}"', text)
    return text, left["failure"]


def hide_in_ctrf(chosen: Sequence[int], *, honest: bool) -> Hidden:
    document = json.loads(text_of("pytest/candidate.ctrf.json"))
    tests = document["results"]["tests"]
    bad = [test for test in tests if test["status"] == "failed" and "setup" not in test.get("rawStatus", "")]
    for place in chosen:
        bad[place % len(bad)] |= {"status": "passed", "rawStatus": "passed"}
    if honest:
        shown = Counter(test["status"] for test in tests)
        document["results"]["summary"] |= {"passed": shown["passed"], "failed": shown["failed"]}
    return json.dumps(document), sum(test["status"] == "failed" for test in bad)


def hide_in_pytest(chosen: Sequence[int], *, honest: bool) -> Hidden:
    document = json.loads(text_of("pytest/candidate.pytest-json-report.json"))
    bad = [test for test in document["tests"] if test["outcome"] == "failed"]
    for place in chosen:
        test = bad[place % len(bad)]
        test |= {"outcome": "passed"}
        for stage in ("setup", "call", "teardown"):
            if stage in test:
                test[stage]["outcome"] = "passed"
    shown = Counter(test["outcome"] for test in document["tests"])
    if honest:
        document["summary"] |= {"passed": shown["passed"], "failed": shown["failed"]}
        document["exitcode"] = int(shown["failed"] + shown["error"] > 0)
    return json.dumps(document), shown["failed"]


def hide_in_promptfoo(chosen: Sequence[int], *, honest: bool) -> Hidden:
    document = json.loads(text_of("promptfoo/candidate.json"))
    results = document["results"]["results"]
    bad = [one for one in results if not one["success"] and one["failureReason"] == 1]
    for place in chosen:
        one = bad[place % len(bad)]
        one["success"], one["failureReason"], one["gradingResult"]["pass"] = True, 0, True
        one.pop("error", None)
        for component in one["gradingResult"]["componentResults"]:
            component["pass"] = True
    left = sum(not one["success"] for one in bad)
    if honest:
        document["results"]["stats"] |= {"successes": len(results) - left - 2, "failures": left}
    return json.dumps(document), left


def hide_in_deepeval(chosen: Sequence[int], *, honest: bool) -> Hidden:
    document = json.loads(text_of("deepeval/candidate.test_run.json"))
    cases = document["testCases"]
    bad = [case for case in cases if not case["success"]]
    for place in chosen:
        case = bad[place % len(bad)]
        case["success"] = True
        for one in case["metricsData"]:
            one["success"] = True
    passed = sum(case["success"] for case in cases)
    if honest:
        document |= {"testPassed": passed, "testFailed": len(cases) - passed}
    return json.dumps(document), len(cases) - passed


@cache
def inspect_log() -> str:
    return json.dumps(as_json(members_of(FILES / "inspect" / "baseline.eval")))


def hide_in_inspect(chosen: Sequence[int], *, honest: bool) -> Hidden:
    log = json.loads(inspect_log())
    scores = [sample["scores"]["retrieval_hit"] for sample in log["samples"]]
    for place, score in enumerate(scores):
        score["value"] = (
            "C" if place >= 6 and score["value"] == "C" else "I"
        )  # N is what Inspect may count otherwise
    bad = scores[:6]
    for place in chosen if honest else ():
        bad[place % len(bad)]["value"] = "C"
    (told,) = [one for one in log["results"]["scores"] if one["name"] == "retrieval_hit"]
    told["metrics"]["accuracy"]["value"] = sum(score["value"] == "C" for score in scores) / len(scores)
    for place in () if honest else chosen:
        bad[place % len(bad)]["value"] = "C"
    return json.dumps(log), sum(score["value"] == "I" for score in scores)


def hide_in_trec_eval(chosen: Sequence[int], *, honest: bool) -> Hidden:
    rows = [line.split() for line in text_of("trec/candidate.trec_eval908_qc.txt").splitlines()]
    queries = [row for row in rows if row[0] == "recip_rank" and row[1] != "all"]
    bad = [row for row in queries if float(row[2]) < 1]
    for place in chosen:
        bad[place % len(bad)][2] = "1.0000"
    if honest:
        (told,) = [row for row in rows if row[:2] == ["recip_rank", "all"]]
        told[2] = f"{sum(float(row[2]) for row in queries) / 29:.4f}"
    text = "".join(f"{measure:22s}\t{query}\t{value}\n" for measure, query, value in rows)
    return text, sum(float(row[2]) < 1 for row in queries)


HIDE: dict[str, tuple[Callable[..., Hidden], str, str]] = {
    "junit": (hide_in_junit, "pass", "a.xml"),
    "ctrf": (hide_in_ctrf, "pass", "a.json"),
    "pytest-json-report": (hide_in_pytest, "pass", "a.json"),
    "promptfoo": (hide_in_promptfoo, "pass", "a.json"),
    "deepeval": (hide_in_deepeval, "pass", "a.json"),
    "inspect": (hide_in_inspect, "retrieval_hit", "a.json"),
    "trec-eval": (hide_in_trec_eval, "recip_rank", "a.txt"),
}


@pytest.mark.parametrize("name", HIDE)
@settings(max_examples=15)
@given(chosen=st.sets(st.integers(0, 30), min_size=1, max_size=8))
def test_hidden_failures_give_no_verdict_and_honest_sums_are_read(name, chosen, tmp_path_factory):
    hide, metric, file = HIDE[name]
    path = tmp_path_factory.mktemp("hidden") / file
    before = hide((), honest=True)
    path.write_text(before[0], encoding="utf-8")
    assert (read_run(path).numbers(metric) < 1).sum() == before[1]
    text, left = hide(sorted(chosen), honest=True)
    assert left < before[1]
    path.write_text(text, encoding="utf-8")
    run = read_run(path)
    assert run.format == name
    assert (run.numbers(metric) < 1).sum() == left
    path.write_text(hide(sorted(chosen), honest=False)[0], encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert len(re.findall(r"\b\d+(?:\.\d+)?\b", caught.value.problems[0].message)) >= 2  # both numbers
    assert caught.value.problems[0].where.startswith(str(path))


@pytest.mark.parametrize("name", HIDE)
def test_the_verdict_on_hidden_failures_is_none(name, tmp_path):
    hide, metric, file = HIDE[name]
    paths = [tmp_path / f"{side}-{file}" for side in ("b", "c")]
    for path, chosen in zip(paths, ((), (0, 1, 2)), strict=True):
        path.write_text(hide(chosen, honest=not chosen)[0], encoding="utf-8")
    verdict = judge(POLICY.format(metric=metric), *paths, tmp_path)
    assert verdict.verdict == "invalid"
    assert str(paths[1]) in verdict.because[0]


SUITES = st.recursive(
    st.lists(st.sampled_from(["pass", "failure", "error", "skipped"]), max_size=4).map(lambda cases: (cases, [])),
    lambda inner: st.tuples(
        st.lists(st.sampled_from(["pass", "failure", "skipped"]), max_size=3), st.lists(inner, max_size=3)
    ),
    max_leaves=5,
)  # fmt: skip


def count(suite: tuple, kind: str) -> int:
    return suite[0].count(kind) + sum(count(inner, kind) for inner in suite[1])


def render(suite: tuple, more: int, place: Sequence[int], *, deep: bool) -> str:
    """Return a suite as XML; the one at `place` (numbers of inner suites) says `more` failures than there are."""
    kinds = {
        kind: count(suite, kind) if deep else suite[0].count(kind) for kind in ("failure", "error", "skipped")
    }
    if not place:
        kinds["failure"] += more
    cases = "".join(
        f'<testcase name="t"><{kind}/></testcase>' if kind != "pass" else '<testcase name="t"/>'
        for kind in suite[0]
    )
    inner = "".join(
        render(
            one, more if place[:1] == (number,) else 0, place[1:] if place[:1] == (number,) else (), deep=deep
        )
        for number, one in enumerate(suite[1])
    )
    return (
        f'<testsuite name="s" failures="{kinds["failure"]}" errors="{kinds["error"]}" skipped="{kinds["skipped"]}">'
        f"{cases}{inner}</testsuite>"
    )


@given(suite=SUITES, more=st.integers(0, 3), deep=st.booleans(), data=st.data())
def test_each_suite_of_a_junit_report_is_held_to_what_it_says(suite, more, deep, data, tmp_path_factory):
    """Suites count what is in them with or without the suites inside; both are read, and neither may say more."""
    place, at = [], suite
    while at[1] and data.draw(st.booleans()):
        place.append(data.draw(st.integers(0, len(at[1]) - 1)))
        at = at[1][place[-1]]
    if not sum(count(suite, kind) for kind in ("pass", "failure", "error", "skipped")):
        return
    stated = (
        count(at, "failure") + count(at, "error") if deep else at[0].count("failure") + at[0].count("error")
    )
    is_hidden = stated + more > count(at, "failure") + count(at, "error")
    path = tmp_path_factory.mktemp("suites") / "a.xml"
    numbers = itertools.count()  # tests of one name would count once
    text = render(suite, more, tuple(place), deep=deep)
    path.write_text(re.sub('testcase name="t"', lambda _: f'testcase name="t{next(numbers)}"', text))
    if is_hidden:
        with pytest.raises(InputError, match=r"suite 's' says .*: \d+, and its tests show \d+"):
            read_run(path)
    else:
        assert (read_run(path).numbers("pass") == 0).sum() == count(suite, "failure")


@pytest.mark.parametrize(
    ("attributes", "cases", "message"),
    [
        ('tests="2" skipped="1"', ["", ""], "says skipped tests: 1, and its tests show 0"),
        ('tests="2" disabled="2"', ["<skipped/>", ""], "says skipped tests: 2, and its tests show 1"),
        ('tests="3" skipped="1"', ["", ""], ""),  # the skipped one may be left out of the file
        ('tests="2" skipped="1" disabled="1"', ["<skipped/>", ""], ""),  # one test under two names
        (f'tests="{"9" * 5000}" failures="{"9" * 5000}"', ["", ""], ""),  # no counts at all
        ('failures="-1" errors="x" skipped=""', ["", ""], ""),
    ],
)
def test_skipped_tests_that_look_passed(tmp_path, attributes, cases, message):
    inside = "".join(f'<testcase name="t{number}">{case}</testcase>' for number, case in enumerate(cases))
    (tmp_path / "a.xml").write_text(
        f"<testsuites><testsuite name='s' {attributes}>{inside}</testsuite></testsuites>"
    )
    if message:
        with pytest.raises(InputError, match=message):
            read_run(tmp_path / "a.xml")
    else:
        assert len(read_run(tmp_path / "a.xml")) == 2


@pytest.mark.parametrize("kind", ["error", "failure"])
def test_a_suite_that_failed_itself_gives_no_verdict(tmp_path, kind):
    (tmp_path / "a.xml").write_text(
        f"<testsuite name='db'><{kind} message='no connection'/><testcase name='a'/></testsuite>"
    )
    with pytest.raises(InputError, match=r"suite 'db' itself failed.*: no connection"):
        read_run(tmp_path / "a.xml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"exitcode": 2}, r"pytest was interrupted \(exit code 2\)"),
        ({"exitcode": 3}, "ended with an internal error"),
        ({"exitcode": 1}, "exit code is 1, some tests failed, and none of the tests in the report did"),
        (
            {"collectors": [{"nodeid": "t.py", "outcome": "failed"}]},
            "could not load 1 file or class.*: t.py",
        ),
        ({"collectors": [{"nodeid": "", "outcome": "passed"}, {"nodeid": "t.py", "outcome": "skipped"}]}, ""),
        ({"exitcode": 0, "summary": {"passed": 1, "total": 1}}, ""),
        (
            {"summary": {"passed": 1, "failed": 1, "total": 2}},
            "the summary says failed: 1, and its tests show 0",
        ),
        ({"summary": {"skipped": 1, "total": 1}}, "the summary says skipped: 1, and its tests show 0"),
        ({"summary": {"skipped": 1, "total": 2}}, ""),
    ],
)
def test_a_run_of_pytest_that_broke_off(tmp_path, change, message):
    report = {
        "created": 1.0, "exitcode": 0, "summary": {},
        "tests": [{"nodeid": "t.py::a", "outcome": "passed", "call": {"duration": 0.5, "outcome": "passed"}}],
    }  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps(report | change))
    if message:
        with pytest.raises(InputError, match=message):
            read_run(tmp_path / "a.json")
    else:
        assert read_run(tmp_path / "a.json").numbers("pass").tolist() == [1]


@pytest.mark.parametrize("change", [
    {"gradingResult": {"pass": False, "score": 0, "reason": "no"}},
    {"failureReason": 1},
    {"failureReason": 2},
    {"error": "timeout"},
    {"gradingResult": {"pass": True, "score": 1, "componentResults": [{"pass": False}, {"pass": False}]}},
])  # fmt: skip
@pytest.mark.parametrize("lines", [False, True])
def test_a_success_that_its_own_grading_denies(tmp_path, change, lines):
    results = json.loads(text_of("promptfoo/baseline.json"))["results"]["results"]
    (passed,) = [one for one in results if one["success"]][:1]
    passed |= change
    path = tmp_path / ("a.jsonl" if lines else "a.json")
    if lines:
        path.write_text("".join(json.dumps(one) + "\n" for one in results))
    else:
        document = json.loads(text_of("promptfoo/baseline.json"))
        document["results"]["results"] = results
        path.write_text(json.dumps(document))
    with pytest.raises(
        InputError, match=r"1 result has success: true, and a grading, failureReason or error"
    ):
        read_run(path)


PLANS = st.tuples(st.integers(1, 4), st.integers(1, 3)).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.sets(
            st.tuples(st.integers(1, size[0]), st.integers(1, size[1])),
            min_size=1,
            max_size=size[0] * size[1],
        ),
        st.sampled_from(["success", "started", "error", "cancelled"]),
        st.booleans(),
    )
)


@given(PLANS)
def test_samples_and_epochs_of_inspect_are_held_to_the_plan(tmp_path_factory, plan):
    """What may be read of questions times epochs: all of a run that ended, and no epoch missing as a whole."""
    (questions, epochs), kept, status, has_results = plan
    samples = [
        {"id": f"q{question}", "epoch": epoch, "input": "x", "target": "t", "output": {"completion": "a"},
         "scores": {"hit": {"value": 1.0}}, "metadata": {}, "model_usage": {}}
        for question, epoch in sorted(kept)
    ]  # fmt: skip
    log = {
        "version": 2, "status": status, "plan": {}, "samples": samples,
        "eval": {"run_id": "r", "task": "t", "model": "m", "config": {"epochs": epochs},
                 "dataset": {"name": "d", "sample_ids": [f"q{number}" for number in range(1, questions + 1)]}},
    }  # fmt: skip
    if has_results:
        log["results"] = {
            "total_samples": questions * epochs,
            "completed_samples": questions * epochs,
            "scores": [],
        }
    path = tmp_path_factory.mktemp("plan") / "a.json"
    path.write_text(json.dumps(log))
    most = max(Counter(question for question, _ in kept).values())
    missing = questions * epochs - len(kept)
    if most < epochs:
        with pytest.raises(InputError, match=f"plans {epochs} epochs, and no sample has more than {most}"):
            read_run(path)
    elif missing and status == "success":
        with pytest.raises(
            InputError, match=f"the log is of {questions * epochs} samples .*, and {len(kept)} are in it"
        ):
            read_run(path)
    else:
        told = [f"{missing} of {questions * epochs} planned samples are not in the log"] if missing else []
        assert [warning for warning in read_run(path).warnings if "planned" in warning] == told


def test_what_the_limit_and_an_early_stop_leave_out_is_not_missing(tmp_path):
    log = json.loads(inspect_log())
    log["samples"] = log["samples"][:4]
    del log["results"], log["reductions"]
    for config in ({"limit": 4}, {"limit": [0, 4]}, {"sample_id": ["q001"]}):
        changed = copy.deepcopy(log)
        changed["eval"]["config"] |= config
        (tmp_path / "a.json").write_text(json.dumps(changed))
        assert not read_run(tmp_path / "a.json").warnings
    log["results"] = {"total_samples": 30, "early_stopping": {"manager": "m"}, "scores": []}
    (tmp_path / "a.json").write_text(json.dumps(log))
    assert read_run(tmp_path / "a.json").warnings == (
        "the task stopped early: samples or epochs may be left out on purpose",
    )
    log["results"] = {"total_samples": 4, "completed_samples": 3, "scores": []}
    (tmp_path / "a.json").write_text(json.dumps(log))
    with pytest.raises(
        InputError, match="3 of its samples ended without an error, and 4 of them in it show none"
    ):
        read_run(tmp_path / "a.json")


MEASURED = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(values=MEASURED, decimals=st.integers(1, 6), coarser=st.integers(1, 6), more=st.integers(0, 5))
def test_rounding_of_a_tool_is_no_contradiction(tmp_path_factory, values, decimals, coarser, more):
    """A mean is rounded from whole values, the rows are rounded on their own; queries without a row count as 0."""
    rows = [f"map\tq{number}\t{value:.{decimals}f}" for number, value in enumerate(values)]
    queries = len(values) + more
    path = tmp_path_factory.mktemp("rounded") / "a.txt"
    path.write_text(
        "\n".join([*rows, f"num_q\tall\t{queries}", f"map\tall\t{sum(values) / queries:.{coarser}f}"]) + "\n"
    )
    np.testing.assert_allclose(read_run(path).numbers("map"), values, atol=10.0**-decimals)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["map all 0.7500", "num_q all 2"], ""),
        (
            ["map all 0.7600", "num_q all 2"],
            "the mean of map is 0.7600 in its row for all, and 0.7500 by the rows of 2",
        ),
        (
            ["map all 0.7500", "num_q all 3"],
            "the mean of map is 0.7500 in its row for all, and 0.5000 by the rows of 2",
        ),
        (["map all 0.7500", "num_q all 1"], "its means count 1 query, and 2 have rows"),
        (
            ["num_rel all 5", "num_q all 2"],
            "the sum of num_rel is 5 in its row for all, and 4 by the rows of 2",
        ),
        (["num_rel all 5", "num_q all 3"], ""),  # of a query without a row
        (["gm_map all 0.1000", "num_q all 2"], ""),  # no plain mean
    ],
)
def test_rows_for_all_queries_are_held_to_the_rows(tmp_path, rows, message):
    queries = [
        "map q1 1.0000",
        "num_rel q1 3",
        "gm_map q1 1.0",
        "map q2 0.5000",
        "num_rel q2 1",
        "gm_map q2 0.5",
    ]
    (tmp_path / "a.txt").write_text("\n".join([*queries, *rows, ""]))
    if message:
        with pytest.raises(InputError, match=re.escape(message)):
            read_run(tmp_path / "a.txt")
    else:
        assert read_run(tmp_path / "a.txt").numbers("map").tolist() == [1, 0.5]


def test_values_of_other_labels_are_not_compared(tmp_path):
    """As many relevant documents in all, and other ones for two of the queries: the labels were changed."""
    text = text_of("trec/baseline.trec_eval908_qc.txt")
    other = text.replace("num_rel               \tq002\t1\n", "num_rel               \tq002\t2\n")
    two = re.search(r"num_rel               \t(q\d+)\t2\n", text)
    other = other.replace(two[0], two[0].replace("\t2\n", "\t1\n"))
    assert other != text
    for name, content in (("b.txt", text), ("c.txt", other)):
        (tmp_path / name).write_text(content)
    verdict = judge(POLICY.format(metric="map"), tmp_path / "b.txt", tmp_path / "c.txt", tmp_path)
    assert verdict.verdict == "invalid"
    assert "num_rel" in verdict.because[0]
    allowed = POLICY.format(metric="map") + "provenance: {may_change: [num_rel]}\n"
    assert judge(allowed, tmp_path / "b.txt", tmp_path / "c.txt", tmp_path).verdict == "pass"


SHARED = Path(__file__).resolve().parents[3] / "shared" / "formats"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared files are not beside this work tree")
@pytest.mark.parametrize("folder", ["pytest", "promptfoo", "inspect", "trec"])
def test_no_file_that_a_tool_wrote_contradicts_itself(folder):
    """But for those of which means or a part alone are there, or that are no results."""
    refused = {}
    for path in sorted((SHARED / folder).iterdir()):
        if path.is_file() and path.suffix != ".md":
            try:
                read_run(path)
            except InputError as error:
                refused[path.name] = str(error)
    no_results = (
        r"means over all queries|no rows for 'all'|no reader knows|only means|no record has the field 'id'"
    )
    assert {name: text for name, text in refused.items() if not re.search(no_results, text)} == {}


@given(decides=st.booleans(), fails=st.booleans(), passes=st.booleans())
def test_a_case_of_deepeval_passes_with_its_metrics(decides, fails, passes, tmp_path_factory):
    """In DeepEval's `update_metric_data` a metric that fails lets its case fail; one that is flaky does not decide."""
    document = json.loads(text_of("deepeval/baseline.test_run.json"))
    case = next(case for case in document["testCases"] if case["success"])
    case["metricsData"][0] |= {"success": not fails, "flaky": not decides}
    case["success"] = passes
    document["testPassed"] -= not passes
    document["testFailed"] += not passes
    path = tmp_path_factory.mktemp("case") / "a.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    if passes and fails and decides:
        with pytest.raises(
            InputError, match="1 test case has success: true beside a metric with success: false: "
        ):
            read_run(path)
    else:
        assert (read_run(path).numbers("pass") == 0).sum() == 10 + (not passes)
