"""A slice that a file names: the questions whose ids stand there, none of which may leave unseen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.explanation import explain, review
from gateline.guard import compare_policies
from gateline.policy import load_policy
from gateline.verdict import Verdict
from runs import check_gate, read, write_gate

EVERY = "{id: stay-fixed, kind: every, metric: score, slice: regression, at_least: 1, hard: true}"
SLICES = "{at_least: 1, files: {regression: regression.jsonl}}"


def write_set(folder: Path, ids: Sequence[str], key: str = "id") -> None:
    lines = [json.dumps({key: one, "question": f"What is {one}?"}) + "\n" for one in ids]
    (folder / "regression.jsonl").write_text("".join(lines), encoding="utf-8")


def gate(folder: Path, runs: str, ids: Sequence[str], *rules: str, **parts: str) -> Verdict:
    write_gate(folder, runs, *(rules or (EVERY,)), slices=SLICES, **parts)
    write_set(folder, ids)
    return check_gate(folder)


def test_the_rule_looks_at_the_questions_of_the_file_alone(tmp_path: Path) -> None:
    verdict = gate(tmp_path, "a*40 0>0 b*2 1>1 c 1>1", ["b2", "c"])
    assert (verdict.verdict, verdict.findings[0].samples, verdict.findings[0].slice) == (
        "pass",
        2,
        "regression",
    )
    assert verdict.pairing is not None and verdict.pairing.slices == {"regression": 2}

    verdict = gate(tmp_path, "a*40 0>0 b*2 1>1 c 1>0", ["b2", "c"])
    assert (verdict.verdict, verdict.findings[0].failing) == ("fail", ["c"])


@given(st.sets(st.integers(1, 40), min_size=1), st.sets(st.integers(1, 40)))
@settings(max_examples=25, deadline=None)
def test_what_fails_are_the_questions_of_the_file_that_are_below(
    tmp_path_factory: pytest.TempPathFactory, listed: set[int], wrong: set[int]
) -> None:
    runs = " ".join(f"q{one} 1>{0 if one in wrong else 1}" for one in range(1, 41))
    verdict = gate(tmp_path_factory.mktemp("gate"), runs, [f"q{one}" for one in sorted(listed)])
    assert verdict.findings[0].failing_count == len(listed & wrong)
    assert verdict.verdict == ("fail" if listed & wrong else "pass")


def test_a_question_of_the_file_that_no_run_has_gives_no_verdict_under_a_hard_rule(tmp_path: Path) -> None:
    verdict = gate(tmp_path, "a*40 1>1", ["a1", "a2", "gone"])
    assert (verdict.verdict, verdict.exit_code) == ("invalid", 2)
    (said,) = verdict.because
    assert said == (
        f"{tmp_path}/candidate.jsonl: 1 of 3 questions of the slice regression are not compared (33.3%): 'gone'  "
        "(missing.drop_at_most lets 2 % be left out, evaluate in both runs what "
        f"{tmp_path}/regression.jsonl names)"
    )


def test_where_more_may_be_missing_a_hard_rule_fails_and_the_notice_names_the_question(
    tmp_path: Path,
) -> None:
    verdict = gate(tmp_path, "a*40 1>1", ["a1", "a2", "gone"], missing="{drop_at_most: 50%}")
    (finding,) = verdict.findings
    assert (verdict.verdict, finding.status, finding.samples) == ("fail", "fail", 2)
    assert finding.notes == ["1 sample without a usable value can't be shown to meet the bound"]
    assert verdict.notices[0] == (
        f"1 of 3 questions of the slice regression ({tmp_path}/regression.jsonl) are not compared, since not all runs "
        "have them: 'gone'"
    )


def test_a_rule_that_is_not_hard_does_not_pass_either(tmp_path: Path) -> None:
    soft = EVERY.replace(", hard: true", "")
    verdict = gate(tmp_path, "a*40 1>1", ["a1", "gone"], soft)
    assert (verdict.verdict, verdict.findings[0].status) == ("fail", "inconclusive")


def test_a_question_that_one_run_lacks_is_not_compared(tmp_path: Path) -> None:
    parts = {"samples": "{on_mismatch: intersect}", "missing": "{drop_at_most: 50%}"}
    for runs in ("a*40 1>1 gone 1>-", "a*40 1>1 gone ->1"):
        verdict = gate(tmp_path, runs, ["a1", "gone"], **parts)
        assert verdict.verdict == "fail"
        assert any("of the slice regression" in one and "'gone'" in one for one in verdict.notices)


def test_a_metric_of_another_slice_does_not_hide_a_missing_question(tmp_path: Path) -> None:
    metric = "{score: {better: higher, range: [0, 1], applies_to: german}}"
    slices = "{named: {german: {language: de}}, files: {regression: regression.jsonl}}"
    write_gate(tmp_path, "a*40 de 1>1", EVERY, metrics=metric, slices=slices, missing="{drop_at_most: 50%}")
    write_set(tmp_path, ["a1", "gone"])
    assert check_gate(tmp_path).verdict == "fail"


def test_a_metric_may_apply_to_the_questions_of_a_file(tmp_path: Path) -> None:
    metric = "{score: {better: higher, range: [0, 1], applies_to: regression}}"
    write_gate(
        tmp_path, "a*40 1>? b*40 1>1", EVERY.replace("slice: regression, ", ""), metrics=metric, slices=SLICES
    )
    write_set(tmp_path, [f"b{one}" for one in range(1, 41)])
    verdict = check_gate(tmp_path)
    assert (verdict.verdict, verdict.findings[0].samples) == ("pass", 40)


def test_a_file_of_other_questions_is_a_wrong_file(tmp_path: Path) -> None:
    verdict = gate(tmp_path, "a*40 1>1", ["x", "y"])
    assert verdict.verdict == "invalid"
    assert "none of the 2 questions of the slice regression" in verdict.because[0]
    assert "'x', 'y'" in verdict.because[0]


@pytest.mark.parametrize("content", [None, "", "\n"])
def test_no_file_or_an_empty_one_is_no_verdict_and_says_what_to_do(
    tmp_path: Path, content: str | None
) -> None:
    write_gate(tmp_path, "a*40 1>1", EVERY, slices=SLICES)
    if content is not None:
        (tmp_path / "regression.jsonl").write_text(content, encoding="utf-8")
    verdict = check_gate(tmp_path)
    assert (verdict.verdict, verdict.exit_code) == ("invalid", 2)
    assert "slice regression: " in verdict.because[0]
    assert "gateline harvest writes it; until then leave slices.files.regression" in verdict.because[0]


def test_an_id_that_stands_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    verdict = gate(tmp_path, "a*40 1>1", ["a1", "a2", "a1"])
    assert verdict.because == [f"{tmp_path}/regression.jsonl:3: the id 'a1' stands twice, first in line 1"]


@pytest.mark.parametrize("key", ["id", "query_id", "number"])
def test_the_id_stands_under_a_usual_name_or_under_the_policys(tmp_path: Path, key: str) -> None:
    write_gate(tmp_path, "a*40 1>1", EVERY, slices=SLICES, samples="{id: number}")
    for name in ("baseline", "candidate"):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(path.read_text().replace('"id"', '"number"'))
    write_set(tmp_path, ["a1", "a2"], key)
    verdict = check_gate(tmp_path)
    assert (verdict.verdict, verdict.findings[0].samples) == ("pass", 2)


def test_the_policy_in_sentences_names_the_file() -> None:
    assert "at least 1 in regression, the questions of regression.jsonl (hard" in explain(
        read(EVERY, slices=SLICES)
    )
    unused = read("{id: floor, kind: limit, metric: score, at_least: 0.5}", slices=SLICES)
    assert review(unused) == ["slices.files.regression is named but no rule looks at it"]


def test_two_slices_of_one_name_are_refused(tmp_path: Path) -> None:
    slices = "{named: {regression: {a: b}}, files: {regression: r.jsonl}}"
    write_gate(tmp_path, "a*40 1>1", EVERY, slices=slices)
    assert "'regression' stands in named and in files" in check_gate(tmp_path).because[0]


def test_taking_the_slice_away_loosens_and_adding_it_does_not(tmp_path: Path) -> None:
    plain = "{id: floor, kind: limit, metric: score, at_least: 0.5}"
    without, having = read(plain).policy, read(plain, slices=SLICES).policy
    assert [one.loosens for one in compare_policies(without, having)] == [False]
    assert [one.loosens for one in compare_policies(having, without)] == [True]
    other = read(plain, slices="{at_least: 1, files: {regression: other.jsonl}}").policy
    (change,) = compare_policies(having, other)
    assert (change.path, change.base, change.now) == (
        "slices.files.regression.file", "regression.jsonl", "other.jsonl",
    )  # fmt: skip
    assert change.loosens


def test_the_base_branchs_policy_finds_the_file_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gate(
        tmp_path, "a*40 1>0", EVERY, "{id: floor, kind: limit, metric: score, at_least: 0}", slices=SLICES
    )
    write_set(tmp_path, ["a1"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base").mkdir()
    (tmp_path / "policy.yml").rename("base/policy.yml")
    write_gate(tmp_path, "a*40 1>0", "{id: floor, kind: limit, metric: score, at_least: 0}")
    verdict = check_gate(tmp_path, base_policy=tmp_path / "base" / "policy.yml")
    assert verdict.verdict == "pass"
    assert verdict.policy.under_base is not None and verdict.policy.under_base.verdict == "fail"
    assert "slices.files.regression" in [change.path for change in verdict.policy.changes if change.loosens]


def test_the_file_is_looked_for_from_the_policys_folder_then_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gate(tmp_path, "a*40 1>1", EVERY, slices=SLICES)
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path, ["a1"])
    (tmp_path / "gates").mkdir()
    (tmp_path / "gates" / "policy.yml").write_text((tmp_path / "policy.yml").read_text())
    assert load_policy("gates/policy.yml").slice_files() == {"regression": Path("regression.jsonl")}
    write_set(tmp_path / "gates", ["a2"])
    assert load_policy("gates/policy.yml").slice_files() == {"regression": Path("gates/regression.jsonl")}


def test_a_slip_in_a_later_slice_is_found_behind_a_file_and_behind_other_slips(tmp_path: Path) -> None:
    """The kind of check that ends early: what stands behind the first slice is looked at too."""
    limit = "{{id: {}, kind: limit, metric: score, at_least: 0.1, slice: {}}}"
    rules = (
        EVERY,
        limit.format("one", "language=fr"),
        limit.format("two", "tongue=de"),
        limit.format("three", "language=de"),
    )
    verdict = gate(tmp_path, "a*40 de 1>1 b 1>1", ["a1", "a2"], *rules)
    assert verdict.verdict == "invalid"
    told = [(problem.message, problem.where.rpartition("  ")[2]) for problem in verdict.problems]
    assert told == [
        ("no sample of either run has language=fr", "one"),
        ("no sample of either run has a label 'tongue'", "two"),
    ]


def test_questions_that_one_run_alone_has_are_counted_in_the_file_and_in_what_stands_behind_it(
    tmp_path: Path,
) -> None:
    limit = "{id: german, kind: limit, metric: score, at_least: 0.1, slice: language=de}"
    runs = "a*40 de 1>1 b de 1>- c 1>- d de 1>-"
    verdict = gate(tmp_path, runs, ["a1", "b", "c"], EVERY.replace(", hard: true", ""), limit,
                   samples="{at_least: 1, on_mismatch: intersect}", missing="{drop_at_most: 50%}")  # fmt: skip
    assert verdict.pairing is not None
    assert verdict.pairing.only_in_baseline.slices == {"regression": 2, "language=de": 2}
