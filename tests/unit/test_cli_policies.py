"""`lint`, `explain` and `schema` look at policies without data."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from gateline.cli import run
from runs import LIMIT, TOLERANCE, policy_text

BAD = """version: 1
name: gate
metrics:
  score: {better: lwer, range: [0, 1]}
rules:
  - {id: floor, kind: limit, metric: score, at_moost: 1}
statistics: {confidence: 95}
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_lint_tells_every_problem_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yml").write_text(BAD)
    assert run(["lint", "p.yml"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "gateline: error: 3 problems in p.yml\n"
        "  p.yml:4  metrics.score.better: must be 'higher' or 'lower', not 'lwer'\n"
        "  p.yml:6  rules[0] floor.at_moost: unknown field 'at_moost'  (did you mean 'at_most'?)\n"
        "  p.yml:7  statistics.confidence: must be above 50 % and below 100 %, not 9500 %  (write 95% or 0.95)\n"
    )


def test_lint_of_a_fine_policy_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yml").write_text(policy_text(LIMIT, TOLERANCE))
    assert run(["lint", "p.yml"]) == 0
    assert capsys.readouterr().out == "p.yml: fine: 2 rules\n"


def test_lint_of_several_policies_tells_the_problems_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.yml").write_text(BAD)
    Path("p.yml").write_text(policy_text(LIMIT, TOLERANCE))
    assert run(["lint", "bad.yml", "p.yml", "none.yml"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "p.yml: fine: 2 rules\n"
    headings = [line for line in captured.err.splitlines() if line.startswith("gateline: ")]
    assert [line.split("  (")[0] for line in headings] == [
        "gateline: error: 3 problems in bad.yml",
        "gateline: error: none.yml: policy not found: none.yml",
    ]
    assert run(["lint", "p.yml", "p.yml"]) == 0


def test_what_is_only_worth_a_thought_is_told_and_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yml").write_text(
        policy_text(
            LIMIT, metrics="{score: {better: higher, range: [0, 1]}, extra: {better: lower, range: [0, 1]}}"
        )
    )
    assert run(["lint", "p.yml"]) == 0
    assert (
        capsys.readouterr().out
        == "p.yml: metrics.extra is measured but no rule judges it\np.yml: fine: 1 rule\n"
    )


def test_a_policy_that_is_not_there_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("lint", "explain"):
        assert run([command, "none.yml"]) == 2
        assert capsys.readouterr().err == (
            "gateline: error: none.yml: policy not found: none.yml  (gateline init RESULT writes a first one)\n"
        )


def test_explain_prints_the_policy_in_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yml").write_text(policy_text(LIMIT))
    assert run(["explain", "p.yml"]) == 0
    assert "- floor: score must be at least 0.5 (by the plain value)" in capsys.readouterr().out.splitlines()


def schema(capsys: pytest.CaptureFixture[str], *of: str) -> dict[str, object]:
    assert run(["schema", *of]) == 0
    return dict(json.loads(capsys.readouterr().out))


def test_the_schema_of_policies_accepts_what_the_loader_accepts(capsys: pytest.CaptureFixture[str]) -> None:
    found = schema(capsys)
    jsonschema.Draft202012Validator.check_schema(found)
    text = policy_text(
        LIMIT.replace("0.5", "75%"),
        TOLERANCE.replace("0.1", "[2%, 0.1]"),
        "{kind: improvement, metric: score}",
        "{kind: every, metric: score, worse_by_at_most: 0.5, slices: [language]}",
        slices="{by: [language], named: {high: {risk: [high, 1]}}}",
        missing="{drop_at_most: 2%}",
        waivers="[{rule: floor, up_to: 70%, until: '2026-12-31', by: a, reason: b}]",
    )
    jsonschema.validate(yaml.safe_load(text), found)


@pytest.mark.parametrize(
    "change",
    [
        ("version: 1", "version: 2"),
        ("kind: limit", "kind: limmit"),
        ("at_least: 0.5", "at_moost: 0.5"),
        ("name: gate\n", ""),
    ],
)
def test_the_schema_of_policies_refuses_what_the_loader_refuses(
    change: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    data = yaml.safe_load(policy_text(LIMIT).replace(*change))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema(capsys))


def test_the_schema_of_verdicts_names_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    found = schema(capsys, "verdict")
    jsonschema.Draft202012Validator.check_schema(found)
    assert "gateline.verdict/1" in json.dumps(found)


def test_every_field_of_the_schema_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    found = schema(capsys)
    parts = {"": found, **found["$defs"]}  # type: ignore[dict-item]
    bare = [f"{part}.{name}" for part, one in parts.items() for name, field in one.get("properties", {}).items()  # type: ignore[union-attr]
            if "description" not in field and name != "kind"]  # fmt: skip
    assert bare == []


@pytest.mark.parametrize("width", [40, 72, 100])
def test_an_explanation_keeps_to_the_width_and_loses_nothing(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("p.yml").write_text(policy_text(LIMIT, TOLERANCE))
    monkeypatch.setenv("COLUMNS", "10000")
    assert run(["explain", "p.yml"]) == 0
    wide = capsys.readouterr().out
    assert max(map(len, wide.splitlines())) > width
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(["explain", "p.yml"]) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) <= width
    assert narrow.split() == wide.split()
