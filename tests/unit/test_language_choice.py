"""Which language a report has: the option, the variable, the policy, English; and what of a gate is said in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gateline import reports
from gateline.cli import run
from gateline.explanation import explain
from gateline.guard import compare_policies
from gateline.policy import Policy, read_policy
from runs import LIMIT, TOLERANCE, check_gate, policy_text, write_gate

FAIL = "a*180 1>1 b*40 1>0"
PASS = "a*180 1>1 b*20 1>1 c*5 0>1"
UNLIKE = "a*40 1>1 b 1>-"
HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(runs: str, *arguments: str, **parts: str) -> int:
    write_gate(Path(), runs, TOLERANCE, **parts)
    files = ["--policy", "policy.yml", "--baseline", "baseline.jsonl", "--candidate", "candidate.jsonl"]
    return run(["check", *files, "--on", "2026-06-01", *arguments])


@pytest.mark.parametrize("runs", [FAIL, PASS, UNLIKE])
@pytest.mark.parametrize(
    ("arguments", "variable", "policy", "chinese"),
    [
        ([], "", "", False),
        ([], "", "zh", True),
        ([], "zh", "", True),
        ([], "en", "zh", False),
        (["--lang", "zh"], "en", "en", True),
        (["--lang", "en"], "zh", "zh", False),
    ],
)
def test_the_option_then_the_variable_then_the_policy_then_english(
    runs: str,
    arguments: list[str],
    variable: str,
    policy: str,
    chinese: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GATELINE_LANG", variable)
    check(runs, *arguments, "--output-dir", "out", **({"lang": policy} if policy else {}))
    shown = capsys.readouterr()
    assert bool(HAN.search(shown.out + shown.err)) is chinese
    for name in ("comment.md", "junit.xml", "report.html"):
        text = Path("out", name).read_text(encoding="utf-8")
        assert bool(HAN.search(text)) is chinese, name
    assert not HAN.search(Path("out", "verdict.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("runs", [FAIL, PASS, UNLIKE])
def test_the_verdict_has_the_same_bytes_in_every_language(runs: str) -> None:
    codes = [check(runs, "--lang", language, "--output-dir", language) for language in ("en", "zh")]
    assert codes[0] == codes[1]
    assert Path("en", "verdict.json").read_bytes() == Path("zh", "verdict.json").read_bytes()


def test_an_unknown_language_is_an_error_that_lists_the_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(PASS, "--lang", "tlh") == 2
    assert re.search("invalid choice: 'tlh' .*en.*zh", capsys.readouterr().err)
    assert check(PASS, lang="tlh") == 2
    assert "policy.yml:6  lang: must be one of en, zh, not 'tlh'" in capsys.readouterr().err.replace(
        "\n", " "
    )
    monkeypatch.setenv("GATELINE_LANG", "tlh")
    assert check(PASS) == 2
    assert "--lang is 'tlh' in the environment; it must be one of en, zh" in capsys.readouterr().err


def test_the_policys_schema_knows_the_languages() -> None:
    assert Policy.model_json_schema()["properties"]["lang"]["enum"] == ["en", "zh", None]


def test_another_language_is_no_loosening() -> None:
    base, now = (read_policy(policy_text(TOLERANCE, **parts), "p").policy for parts in ({}, {"lang": "zh"}))
    for before, after in ((base, now), (now, base)):
        (change,) = compare_policies(before, after)
        assert (change.path, change.loosens) == ("lang", False)


def test_a_policy_that_says_its_language_can_be_explained() -> None:
    assert explain(read_policy(policy_text(TOLERANCE, lang="zh"), "p"))


REASONS = {
    "ids": (UNLIKE, {}, "基线的 41 道题中有 1 道不在候选中：'b'（请用同一黄金集重新运行两者"),
    "nothing in common": ("a 1>- b ->1", {}, "两次运行没有共同的题目"),
    "too few": ("a*5 1>1", {"samples": "{at_least: 10}"}, "5 对样本不足以得出结论：samples.at_least 为 10"),
    "missing": ("a*9 1>1 b 1>?", {}, "score 在 10 个样本中缺失 1 个（10.0%）：1 个没有评分（'b'）"),
    "no field": (
        "a*9 1>1",
        {"metrics": "{score: {better: higher, field: scor}}"},
        "没有记录含有字段 'scor'（指标 score）（是否想写 'score'？）",
    ),
    "another fact": (
        "a*9 1>1",
        {"provenance": "{must_match: [judge.model]}"},
        "provenance.must_match：baseline.jsonl 没有说明 judge.model（请让运行写出它，或从 must_match 中去掉）",
    ),
}


@pytest.mark.parametrize("reason", REASONS)
def test_why_there_is_no_verdict_is_said_in_chinese(
    reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, parts, told = REASONS[reason]
    code = check(runs, "--lang", "zh", "--output-dir", "out", **parts)
    assert code == 2
    shown = capsys.readouterr().err.replace("   （", "（")
    assert told in shown
    verdict = json.loads(Path("out", "verdict.json").read_text(encoding="utf-8"))
    assert all(problem["message_said"] for problem in verdict["problems"])
    comment = Path("out", "comment.md").read_text(encoding="utf-8")
    assert "无结论" in comment
    assert not re.search(r"\b(the|is|are|of|questions|not)\b", comment.split("<details>")[0])


def test_what_the_base_branch_says_is_said_in_the_language_too(tmp_path: Path) -> None:
    (tmp_path / "base.yml").write_text(policy_text(TOLERANCE), encoding="utf-8")
    write_gate(tmp_path, FAIL, TOLERANCE.replace("0.1", "0.9"), lang="zh")
    verdict = check_gate(tmp_path, base_policy=tmp_path / "base.yml")
    base = verdict.policy.under_base
    assert base is not None and base.worst is not None and base.worst.message == base.because[0]
    comment = reports.render("markdown", verdict)
    assert "按目标分支的策略则会拦截：`score` 从 1.00 降至 0.82，变差 0.18" in comment
    english = reports.render("markdown", verdict, language="en")
    assert "the base branch's policy would block: `score` fell 1.00 → 0.82, " in english


def test_why_the_base_branch_has_no_verdict_is_said_too(tmp_path: Path) -> None:
    (tmp_path / "base.yml").write_text(policy_text(TOLERANCE, samples="{at_least: 999}"), encoding="utf-8")
    write_gate(tmp_path, PASS, TOLERANCE, lang="zh")
    verdict = check_gate(tmp_path, base_policy=tmp_path / "base.yml")
    assert verdict.policy.under_base is not None and verdict.policy.under_base.problem is not None
    assert "按目标分支的策略则没有结论：205 对样本不足以得出结论" in reports.render(
        "text", verdict, width=10_000
    )


def test_findings_that_rest_on_little_say_so_in_chinese(tmp_path: Path) -> None:
    rules = (
        "{id: small, kind: tolerance, metric: score, slice: language=de, worse_by_at_most: 0.1}",
        "{id: all, kind: tolerance, metric: score, slices: [language], worse_by_at_most: 0.1}",
        LIMIT,
    )
    slices = "{by: [language], at_least: 30}"
    write_gate(tmp_path, "a*200 en 1>1 b*11 de 1>1 c de 1>0", *rules, slices=slices, lang="zh")
    text = reports.render("text", check_gate(tmp_path), width=10_000, verbose=True)
    assert "但样本太少（95% 置信区间：" in text
    assert "只有 12 个可用样本，slices.at_least 为 30" in text
    assert (
        "变差 0.0833；样本太少，未评判：只有 12 个样本，slices.at_least 为 30；12 对样本中 1 对变差" in text
    )
