"""`check` and `ci`: exit codes, streams, files, and what happens when something breaks on the way."""

# ruff: noqa: ISC004

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from gateline import gate
from gateline.cli import checking, run
from runs import LIMIT, TOLERANCE, policy_text, write_gate

PASS, FAIL, OPEN = "a*60 1>1", "a*30 1>1 b*30 1>0", "a*95 1>1 b*5 1>0"
FILES = ["comment.md", "junit.xml", "report.html", "verdict.json"]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(runs: str, *arguments: str, rule: str = TOLERANCE, baseline: bool = True) -> int:
    write_gate(Path(), runs, rule)
    given = ["--baseline", "baseline.jsonl"] if baseline else []
    return run(["check", "--policy", "policy.yml", *given, "--candidate", "candidate.jsonl", *arguments])


def verdict(folder: str = "out") -> dict[str, Any]:
    return dict(json.loads((Path(folder) / "verdict.json").read_text()))


@pytest.mark.parametrize(
    ("runs", "arguments", "code"),
    [
        (PASS, [], 0),
        (FAIL, [], 1),
        (OPEN, [], 0),
        (OPEN, ["--fail-on", "inconclusive"], 1),
        (FAIL, ["--fail-on", "never"], 0),
        ("a 1>- b ->1", [], 2),
        ("a 1>- b ->1", ["--fail-on", "never"], 2),
        (PASS, ["--candidate", "none.jsonl"], 2),
        (PASS, ["--read-as", "nonsense"], 2),
        (PASS, ["--on", "31.12.2026"], 2),
    ],
)
def test_exit_code_word_and_file_agree(runs: str, arguments: list[str], code: int) -> None:
    assert check(runs, "--output-dir", "out", *arguments) == code
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    told = verdict()
    assert told["exit_code"] == code
    assert (told["verdict"] == "invalid") is (code == 2)


def test_the_report_is_on_stdout_and_nothing_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    check(FAIL)
    captured = capsys.readouterr()
    assert "gate" in captured.out and "score" in captured.out
    assert captured.err == ""


def test_no_verdict_is_said_on_stderr_and_nothing_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    check("a 1>- b ->1")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gateline: no verdict: ")


@pytest.mark.parametrize("runs", [PASS, FAIL, "a 1>- b ->1"])
def test_json_on_stdout_is_the_file(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(runs, "--format", "json", "--output-dir", "out")
    assert capsys.readouterr().out == (Path("out") / "verdict.json").read_text()


@pytest.mark.parametrize(("form", "file"), [("markdown", "comment.md"), ("junit", "junit.xml")])
def test_the_other_formats_on_stdout_are_their_files(
    form: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check(FAIL, "--format", form, "--output-dir", "out")
    assert capsys.readouterr().out.rstrip("\n") == (Path("out") / file).read_text().rstrip("\n")


def test_quiet_is_one_line_and_verbose_all_findings(capsys: pytest.CaptureFixture[str]) -> None:
    rules = [f"{{id: rule{number}, kind: limit, metric: score, at_least: 0.1}}" for number in range(30)]
    write_gate(Path(), PASS, *rules)
    given = [
        "check",
        "--policy",
        "policy.yml",
        "--baseline",
        "baseline.jsonl",
        "--candidate",
        "candidate.jsonl",
    ]
    assert run([*given, "-q"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert run([*given, "-v"]) == 0
    out = capsys.readouterr().out
    assert all(f"rule{number}" in out for number in range(30))


def test_without_an_output_folder_nothing_is_written() -> None:
    check(FAIL)
    assert sorted(path.name for path in Path().iterdir()) == [
        "baseline.jsonl",
        "candidate.jsonl",
        "policy.yml",
    ]


def test_the_same_inputs_give_the_same_bytes() -> None:
    check(FAIL, "--on", "2026-06-01", "--output-dir", "one")
    check(FAIL, "--on", "2026-06-01", "--output-dir", "two")
    for name in FILES:
        assert (Path("one") / name).read_bytes() == (Path("two") / name).read_bytes()


def test_the_day_is_an_input() -> None:
    check(PASS, "--on", "2026-02-03", "--output-dir", "out")
    assert verdict()["judged_on"] == "2026-02-03"


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        (["--on", "31.12.2026"], {}, "--on must be a day as YYYY-MM-DD, not '31.12.2026'"),
        (
            [],
            {"GATELINE_FIRST_RUN": "maybe"},
            "--first-run is 'maybe' in the environment; write true or false",
        ),
        ([], {"GATELINE_FAIL_ON": "warn"}, "--fail-on is 'warn' in the environment"),
    ],
)
def test_an_option_that_cannot_be_read_leaves_no_older_pass_behind(
    arguments: list[str],
    variables: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert check(PASS, "--output-dir", "out") == 0
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert check(PASS, "--output-dir", "out", *arguments) == 2
    assert verdict()["verdict"] == "invalid"
    assert said in verdict()["because"][0]
    assert said in capsys.readouterr().err


def test_first_run_judges_fixed_limits_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(PASS, rule=LIMIT, baseline=False) == 2
    assert "no baseline was given" in capsys.readouterr().err
    assert check(PASS, "--first-run", "--output-dir", "out", rule=LIMIT, baseline=False) == 0
    assert (verdict()["first_run"], verdict()["baseline"]) == (True, None)
    assert check(PASS, "--first-run", rule=TOLERANCE, baseline=False) == 2  # nothing could be judged


def break_something(*_: object, **__: object) -> None:
    raise ZeroDivisionError("nobody thought of this")


@pytest.mark.parametrize("flags", [[], ["-v"], ["-vv"]])
def test_a_fault_of_our_own_is_no_verdict_and_says_so(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(PASS, "--output-dir", "out") == 0
    monkeypatch.setattr(gate, "pair", break_something)
    assert check(PASS, "--output-dir", "out", *flags) == 2
    assert verdict()["verdict"] == "invalid"
    assert verdict()["because"] == [
        "this is a bug in gateline: ZeroDivisionError: nobody thought of this"
        "  (please report it with the command; -vv shows where it happened)"
    ]
    err = capsys.readouterr().err
    assert "this is a bug in gateline: ZeroDivisionError: nobody thought of this" in err
    assert ("Traceback" in err) is (flags == ["-vv"])


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_report_that_breaks_leaves_a_verdict_that_says_so_and_no_older_report(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(PASS, "--output-dir", "out") == 0
    monkeypatch.setattr(checking, "render", break_something)
    assert check(PASS, "--output-dir", "out", "--format", form) == 2
    assert [path.name for path in Path("out").iterdir()] == ["verdict.json"]
    assert (verdict()["verdict"], verdict()["exit_code"]) == ("invalid", 2)
    captured = capsys.readouterr()
    assert "bug in gateline" in captured.out + captured.err
    assert "Traceback" not in captured.out + captured.err


@pytest.mark.parametrize(("runs", "code"), [(PASS, 2), (FAIL, 1)])
def test_where_the_files_cannot_be_written_a_pass_is_none_and_the_verdict_is_still_printed(
    runs: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").write_text("a file is in the way")
    assert check(runs, "--output-dir", "out") == code
    captured = capsys.readouterr()
    assert "gate: " in captured.out
    assert "the report files were not written: out/verdict.json: can't be written:" in captured.err


@pytest.mark.parametrize(("runs", "code"), [(PASS, 2), (FAIL, 1)])
def test_where_one_file_cannot_be_replaced_no_older_pass_stays(runs: str, code: int) -> None:
    assert check(PASS, "--output-dir", "out") == 0
    Path("out/junit.xml").unlink()
    Path("out/junit.xml").mkdir()
    Path("out/mine.txt").write_text("mine")
    assert check(runs, "--output-dir", "out") == code
    assert sorted(path.name for path in Path("out").iterdir()) == ["junit.xml", "mine.txt"]


@pytest.mark.parametrize("arguments", [["--format", "nonsense"], ["--fail-on=x"], ["--nonsense"], ["-x"]])
@pytest.mark.parametrize("named", [["--output-dir", "out"], ["--output-dir=out"], []])
def test_arguments_that_cannot_be_parsed_leave_no_older_pass_behind(
    arguments: list[str], named: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not named:
        monkeypatch.setenv("GATELINE_OUTPUT_DIR", "out")
    assert check(PASS, *named) == 0
    assert run(["check", "--help"]) == run(["lint", "policy.yml"]) == 0
    assert run(["lint", *named, *arguments]) == 2
    assert verdict()["verdict"] == "pass"
    assert check(PASS, *named, *arguments) == 2
    assert list(Path("out").iterdir()) == []


def test_ci_without_a_policy_leaves_no_older_pass_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ci(PASS, monkeypatch) == 0
    assert ci(PASS, monkeypatch, GATELINE_POLICY="none/*.yml") == 2
    assert verdict("gateline-out")["verdict"] == "invalid"
    assert verdict("gateline-out")["because"] == ["none/*.yml: no policy matches none/*.yml"]


def test_excerpts_are_left_out_unless_asked_for() -> None:
    for arguments, question in (([], None), (["--with-excerpts"], "is it secret?")):
        write_gate(Path(), FAIL, TOLERANCE)
        for name in ("baseline.jsonl", "candidate.jsonl"):
            lines = [
                json.loads(line) | {"question": "is it secret?"}
                for line in Path(name).read_text().splitlines()
            ]
            Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        given = ["--policy", "policy.yml", "--baseline", "baseline.jsonl", "--candidate", "candidate.jsonl"]
        assert run(["check", *given, "--output-dir", "out", *arguments]) == 1
        assert verdict()["worst"][0]["question"] == question
        assert any("secret" in (Path("out") / name).read_text() for name in FILES) is (question is not None)


# --- ci


def ci(runs: str, monkeypatch: pytest.MonkeyPatch, **variables: str) -> int:
    write_gate(Path(), runs, TOLERANCE)
    given = {
        "GATELINE_POLICY": "policy.yml",
        "GATELINE_BASELINE": "baseline.jsonl",
        "GATELINE_CANDIDATE": "candidate.jsonl",
    }
    for name, value in {**given, **variables}.items():
        monkeypatch.setenv(name, value)
    return run(["ci"])


@pytest.mark.parametrize(("runs", "code"), [(PASS, 0), (FAIL, 1), ("a 1>- b ->1", 2)])
def test_ci_needs_no_arguments_and_writes_to_its_own_folder(
    runs: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ci(runs, monkeypatch) == code
    assert sorted(path.name for path in Path("gateline-out").iterdir()) == FILES
    assert verdict("gateline-out")["exit_code"] == code


def test_ci_takes_an_empty_variable_as_unset_and_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ci(PASS, monkeypatch, GATELINE_OUTPUT_DIR="elsewhere", GATELINE_ON="", GATELINE_FAIL_ON="") == 0
    assert sorted(path.name for path in Path("elsewhere").iterdir()) == FILES


def test_a_host_that_cannot_be_told_changes_no_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("folder").mkdir()
    assert (
        ci(
            PASS,
            monkeypatch,
            GITHUB_ACTIONS="true",
            GITHUB_OUTPUT="folder",
            GITHUB_STEP_SUMMARY="no/such/file",
        )
        == 0
    )
    err = capsys.readouterr().err
    assert "GITHUB_OUTPUT can't be written: Is a directory" in err
    assert "GITHUB_STEP_SUMMARY can't be written: No such file or directory" in err


@pytest.mark.parametrize(("runs", "code"), [(PASS, 0), (FAIL, 1)])
def test_a_fault_in_telling_the_host_changes_no_exit_code(
    runs: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gateline.hosts.github.Job.write_outputs", break_something)
    assert ci(runs, monkeypatch, GITHUB_ACTIONS="true") == code
    assert (
        "the host could not be told, which is a bug in gateline: ZeroDivisionError" in capsys.readouterr().err
    )
    assert verdict("gateline-out")["exit_code"] == code


def test_outside_of_a_known_host_nothing_but_the_report_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ci(FAIL, monkeypatch) == 1
    assert "::" not in capsys.readouterr().out


def test_the_guard_is_asked_with_the_base_branchs_policy() -> None:
    Path("base.yml").write_text(policy_text(TOLERANCE.replace("0.1", "0.01")))
    assert check(PASS, "--base-policy", "base.yml", "--output-dir", "out") == 0
    assert [one["loosens"] for one in verdict()["policy"]["changes"]] == [True]


@pytest.mark.parametrize("role", ["candidate", "baseline", "policy"])
def test_an_output_that_is_an_input_is_refused_and_the_input_stays(
    role: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another name of the same file is the same file."""
    write_gate(Path(), PASS, TOLERANCE)
    folder = Path("reports")
    folder.mkdir()
    options = {"policy": "policy.yml", "baseline": "baseline.jsonl", "candidate": "candidate.jsonl"}
    inside = folder / "junit.xml"
    inside.write_bytes(Path(options[role]).read_bytes())
    Path("link").symlink_to(inside)
    before = inside.read_bytes()
    for name in (str(inside), f"./{inside}", "link"):
        arguments = [part for one, file in {**options, role: name}.items() for part in (f"--{one}", file)]
        assert run(["check", *arguments, "--output-dir", str(folder)]) == 2
        assert "is an input of this command" in capsys.readouterr().err
        assert (inside.read_bytes(), list(folder.iterdir())) == (before, [inside])


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "candidate.jsonl", "-o", "candidate.jsonl"],
        ["convert", "candidate.jsonl", "-o", "./nowhere/../candidate.jsonl"],
        ["doctor", "policy.yml", "--baseline", "candidate.jsonl", "-o", "candidate.jsonl"],
        ["score", "candidate.jsonl", "baseline.jsonl", "-o", "candidate.jsonl"],
        ["harvest", "verdict.json", "--candidate", "candidate.jsonl", "-o", "candidate.jsonl"],
        ["review", "verdict.json", "--candidate", "candidate.jsonl", "-o", "candidate.jsonl"],
        ["reduce", "c*.jsonl", "--policy", "policy.yml", "-o", "candidate.jsonl"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_command_writes_over_its_input(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    write_gate(Path(), PASS, TOLERANCE)
    before = Path("candidate.jsonl").read_bytes()
    assert run(arguments) == 2
    assert "is an input of this command and is not written over" in capsys.readouterr().err
    assert Path("candidate.jsonl").read_bytes() == before


def test_a_check_of_files_that_are_there_needs_no_place_for_temporary_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a container whose folders are all read-only."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/nowhere")
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    assert check(FAIL) == 1
