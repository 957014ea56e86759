"""`inspect`, `init` and `convert` take result files without a policy; what init writes runs at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from gateline.cli import run
from gateline.policy import load_policy
from runs import records, set_field, set_metric, write_run


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = records("a*40 de 1>1 b*40 en 1>0", metric="correct")
    for side in (before, after):
        set_field(side, latency_ms=100, doc_id="d")
        set_metric(side, "recall@5", [0.5] * 80)
    write_run(Path("base line.jsonl"), before, {"judge.model": "j1"})
    write_run(Path("candidate.jsonl"), after, {"judge.model": "j1"})


def test_inspect_shows_what_was_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "base line.jsonl"]) == 0
    out = capsys.readouterr().out
    assert all(
        word in out for word in ("gateline-jsonl", "80", "correct", "recall@5", "language", "judge.model")
    )
    assert run(["inspect", "base line.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 80


@pytest.mark.parametrize("command", [["inspect"], ["init"], ["convert", "-o", "out.jsonl"]])
@pytest.mark.parametrize("content", [None, b"", b"\x00\x01"])
def test_a_file_that_cannot_be_read_is_2_and_nothing_is_written(
    command: list[str], content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path("bad.jsonl").write_bytes(content)
    before = sorted(Path().iterdir())
    assert run([command[0], "bad.jsonl", *command[1:]]) == 2
    assert sorted(Path().iterdir()) == before
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gateline: error: ")
    assert "bad.jsonl" in captured.err


def test_what_init_writes_is_a_policy_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "base line.jsonl"]) == 0
    assert [str(path) for path in Path("gates").iterdir()] == ["gates/base-line.yml"]
    assert capsys.readouterr().err == (
        "gateline: wrote gates/base-line.yml\n"
        "gateline: read it, then: gateline lint gates/base-line.yml\n"
        "gateline: with a new run: gateline check --policy gates/base-line.yml --baseline 'base line.jsonl' "
        "--candidate NEW_RUN\n"
    )
    assert load_policy("gates/base-line.yml").policy.name == "base-line"
    given = ["--policy", "gates/base-line.yml", "--baseline", "base line.jsonl"]
    assert run(["lint", "gates/base-line.yml"]) == 0
    assert run(["check", *given, "--candidate", "base line.jsonl"]) == 0
    assert run(["check", *given, "--candidate", "candidate.jsonl"]) == 1


def test_init_writes_a_workflow_beside_on_request() -> None:
    assert (
        run(
            [
                "init",
                "candidate.jsonl",
                "--name",
                "my-gate",
                "-o",
                "p.yml",
                "--workflow",
                ".github/workflows/gate.yml",
            ]
        )
        == 0
    )
    assert load_policy("p.yml").policy.name == "my-gate"
    assert yaml.safe_load(Path(".github/workflows/gate.yml").read_text())["jobs"]


@pytest.mark.parametrize("there", ["p.yml", "w.yml"])
def test_init_writes_over_nothing(there: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(there).write_text("mine")
    assert run(["init", "candidate.jsonl", "-o", "p.yml", "--workflow", "w.yml"]) == 2
    assert Path(there).read_text() == "mine"
    assert len([path for path in Path().iterdir() if path.suffix == ".yml"]) == 1
    assert capsys.readouterr().err == (
        f"gateline: error: {there}: is there already and is not written over  (name another file with --output)\n"
    )


def test_the_policy_and_the_workflow_are_two_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "candidate.jsonl", "-o", "p.yml", "--workflow", "p.yml"]) == 2
    assert not Path("p.yml").exists()
    assert "can't both be p.yml" in capsys.readouterr().err


def test_convert_writes_what_reads_back_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "candidate.jsonl", "-o", "out/again.jsonl"]) == 0
    assert capsys.readouterr().err == "gateline: wrote 80 records to out/again.jsonl\n"
    assert run(["inspect", "candidate.jsonl", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert run(["inspect", "out/again.jsonl", "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    for told in (first, second):
        told.pop("file"), told.pop("sha256", None)
    assert first == second


def test_convert_may_write_to_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "candidate.jsonl", "-o", "/dev/stdout"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 81


def test_another_id_field_is_taken_by_flag_and_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.csv").write_text("qid,score\n" + "".join(f"q{n},1\n" for n in range(3)))
    assert run(["inspect", "t.csv"]) == 2
    assert run(["inspect", "t.csv", "--id", "qid"]) == 0
    monkeypatch.setenv("GATELINE_ID", "qid")
    assert run(["init", "t.csv", "-o", "p.yml"]) == 0
    assert load_policy("p.yml").policy.samples.id == "qid"
