"""A record that stands twice is a copy and no second attempt: copying proves nothing, whatever the format.

Readers that number attempts by their order in the file would take copies for attempts; a copied good attempt lifts a
mean, and copies of the others make the numbers of attempts even again.
"""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formats.documented import judge
from gateline.errors import InputError
from gateline.readers import read_run
from gateline.verdict import Verdict
from runs import SHARED

FORMATS = SHARED / "formats"
Rows = list[dict[str, Any]]


def set_deepeval(row: dict[str, Any], score: int) -> None:
    for result in row["metricsData"]:
        if result["name"] == "Answer Relevancy":
            result |= {"score": score, "success": bool(score)}
    row["success"] = all(result.get("success") is not False for result in row["metricsData"])


def deepeval_cases(document: dict[str, Any]) -> Rows:
    """Return the cases of a report without its sums, which other scores would contradict."""
    for name in ("testPassed", "testFailed"):
        document.pop(name, None)
    cases: Rows = document["testCases"]
    return cases


def set_report(row: dict[str, Any], score: int) -> None:
    row["metadata"] = {"word_recall": score}
    row["user_properties"] = [{"word_recall": score}]


def set_phoenix(row: dict[str, Any], score: int) -> None:
    for one in row["annotations"]:
        if one["name"] == "judge":
            one["score"] = score


REPORTS = ("ctrf", "pytest-json-report")
"""Formats of test reports, whose tests have one entry each unless all have several."""
FILES: dict[str, tuple[str, str, Callable[[Any], Rows], Callable[[dict[str, Any], int], Any]]] = {
    "langsmith": (
        "langsmith/baseline.json",
        "word_recall",
        lambda document: document,
        lambda row, score: row.update({"feedback.word_recall": score}),
    ),
    "deepeval": (
        "deepeval/baseline.test_run.json",
        "Answer Relevancy",
        deepeval_cases,
        set_deepeval,
    ),
    "ctrf": (
        "pytest/baseline.ctrf.json",
        "pass",
        lambda document: document["results"]["tests"],
        lambda row, score: row.update({"status": "passed" if score else "failed"}),
    ),
    "pytest-json-report": (
        "pytest/baseline.pytest-json-report.json",
        "word_recall",
        lambda document: document["tests"],
        set_report,
    ),
    "phoenix": ("phoenix/baseline.json", "judge", lambda document: document, set_phoenix),
}


def policy(metric: str) -> str:
    return f"""version: 1
name: copies
samples: {{at_least: 5}}
missing: {{drop_at_most: 10%}}
metrics: {{score: {{field: {metric}, better: higher, range: [0, 1]}}}}
rules: [{{kind: tolerance, metric: score, worse_by_at_most: 0.05, decide_by: value}}]
"""


def prepare(name: str, regressed: bool) -> tuple[Any, Any, Rows, str]:
    """Return a baseline in which all is well, a candidate, the candidate's records, and the metric."""
    file, metric, rows, score = FILES[name]
    before = json.loads((FORMATS / file).read_text(encoding="utf-8"))
    for part in (before, before.get("results", {})) if isinstance(before, dict) else ():
        if "summary" in part:
            part["summary"] = {}  # its sums would give other numbers of records away, which here is no matter
    for row in rows(before):
        score(row, 1)
    after = copy.deepcopy(before)
    for place, row in enumerate(rows(after)):
        score(row, int(not regressed or place % 4 > 0))
    return before, after, rows(after), metric


def decide(folder: Path, before: Any, after: Any, metric: str) -> Verdict:
    for name, document in (("b.json", before), ("c.json", after)):
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return judge(policy(metric), folder / "b.json", folder / "c.json", folder)


@pytest.mark.parametrize("name", FILES)
def test_a_file_joined_with_itself_is_refused(name: str, tmp_path: Path) -> None:
    _, after, rows, _ = prepare(name, regressed=True)
    (tmp_path / "c.json").write_text(json.dumps(after), encoding="utf-8")
    assert read_run(tmp_path / "c.json").ids
    rows += copy.deepcopy(rows)
    (tmp_path / "c.json").write_text(json.dumps(after), encoding="utf-8")
    with pytest.raises(InputError, match="copies and no attempts: was a file joined with itself"):
        read_run(tmp_path / "c.json")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("regressed", [True, False])
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_copying_records_never_makes_a_better_verdict(
    name: str, regressed: bool, tmp_path: Path, data: st.DataObject
) -> None:
    before, after, rows, metric = prepare(name, regressed=regressed)
    plain = decide(tmp_path, before, after, metric)
    assert plain.verdict == ("fail" if regressed else "pass")
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=len(rows)))
    rows += [copy.deepcopy(rows[place]) for place in chosen]
    copied = decide(tmp_path, before, after, metric)
    assert copied.verdict == "invalid"


@pytest.mark.parametrize("name", ["langsmith", "deepeval", "ctrf", "pytest-json-report"])
def test_copies_do_not_make_numbers_of_attempts_even(name: str, tmp_path: Path) -> None:
    """A quarter failed and was tried once more; copies of the rest would give each question two attempts."""
    before, after, rows, metric = prepare(name, regressed=True)
    _, _, good, _ = prepare(name, regressed=False)
    again = copy.deepcopy(good)
    for number, row in enumerate(again):  # as a second execution would have it: another id, other times
        row |= {
            "id": f"again-{number}",
            "completionTime": 0.5 + number / 7,
            "start": 1_700_000_000_001 + number,
        }
    uneven = [*rows, *again[::4]]
    copies = [copy.deepcopy(row) for place, row in enumerate(rows) if place % 4]
    for made, found in ((uneven, "not tried as often"), ([*uneven, *copies], "stands more than once")):
        rows[:] = made
        verdict = decide(tmp_path, before, after, metric)
        if made is uneven and name in REPORTS:
            # a test with several entries among many counts once, and as the worst of them: what failed stays failed
            assert verdict.verdict == "fail"
            assert any("count once and as the worst of them" in notice for notice in verdict.notices), (
                verdict.notices
            )
            continue
        assert verdict.verdict == "invalid"
        assert any(found in str(problem.message) for problem in verdict.problems)


@pytest.mark.parametrize("name", ["langsmith", "deepeval", "ctrf", "pytest-json-report"])
def test_two_executions_that_went_alike_are_two_attempts(name: str, tmp_path: Path) -> None:
    before, after, rows, metric = prepare(name, regressed=False)
    again = copy.deepcopy(rows)
    for number, row in enumerate(again):
        row |= {
            "id": f"again-{number}",
            "completionTime": 0.5 + number / 7,
            "start": 1_700_000_000_001 + number,
        }
        if "call" in row:
            row["call"]["duration"] *= 1.1
    rows += again
    verdict = decide(tmp_path, before, after, metric)
    assert verdict.verdict == "pass"
    assert verdict.pairing is not None
    assert verdict.pairing.attempts


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.lists(st.integers(0, 29), min_size=1, max_size=40),
    numbered=st.booleans(),
    table=st.booleans(),
)
def test_so_it_is_with_plain_records(tmp_path: Path, chosen: list[int], numbered: bool, table: bool) -> None:
    rows = [
        {"id": f"q{place}", "score": int(place % 4 > 0), "latency_ms": 100 + place} for place in range(30)
    ]
    if numbered:
        rows = [{**row, "attempt": 1} for row in rows]
    good = [{**row, "score": 1} for row in rows]
    for name, made in (("b", good), ("c", [*rows, *(rows[place] for place in chosen)])):
        path = tmp_path / name
        if table:
            with path.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(stream, rows[0])
                writer.writeheader()
                writer.writerows(made)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    verdict = judge(policy("score"), tmp_path / "b", tmp_path / "c", tmp_path)
    assert verdict.verdict == "invalid"
    assert "times, in lines" in verdict.because[0]
