"""Every option can be set by flag and by environment; the flag counts first, an empty variable not at all."""

from __future__ import annotations

import argparse

import pytest

import gateline
from gateline.cli import run
from gateline.cli.arguments import COMMANDS, make_parser

GATE = ["--policy", "p", "--candidate", "c"]


def options(*arguments: str) -> argparse.Namespace:
    return make_parser().parse_args(arguments)


def test_each_command_has_a_module_that_runs_it() -> None:
    import importlib

    for command, module in COMMANDS.items():
        assert callable(getattr(importlib.import_module(f"gateline.cli.{module}"), f"run_{command}"))


def test_the_defaults_of_check() -> None:
    assert vars(options("check", *GATE)) == {
        "command": "check", "policy": "p", "baseline": None, "candidate": "c", "output_dir": None, "base_policy": None,
        "on": None, "fail_on": "fail", "read_as": None, "first_run": False, "require_fresh": False,
        "with_excerpts": False, "format": "text", "quiet": False, "verbose": 0, "unreadable": None, "lang": None,
    }  # fmt: skip


VARIABLES = {
    "GATELINE_POLICY": ("policy", "x"),
    "GATELINE_BASELINE": ("baseline", "x"),
    "GATELINE_CANDIDATE": ("candidate", "x"),
    "GATELINE_OUTPUT_DIR": ("output_dir", "x"),
    "GATELINE_BASE_POLICY": ("base_policy", "x"),
    "GATELINE_ON": ("on", "2026-01-02"),
    "GATELINE_FAIL_ON": ("fail_on", "never"),
    "GATELINE_READ_AS": ("read_as", "csv"),
    "GATELINE_FORMAT": ("format", "json"),
    "GATELINE_LANG": ("lang", "zh"),
}


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_variable_sets_an_option(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, value = VARIABLES[variable]
    flag = "--" + name.replace("_", "-")
    given = [] if name in ("policy", "candidate") else GATE
    monkeypatch.setenv("GATELINE_POLICY", "p")
    monkeypatch.setenv("GATELINE_CANDIDATE", "c")
    monkeypatch.setenv(variable, value)
    assert getattr(options("check", *given), name) == value
    other = {"fail_on": "inconclusive", "format": "junit", "lang": "en"}.get(name, "other")
    assert getattr(options("check", *given, flag, other), name) == other
    monkeypatch.setenv(variable, "")
    if name not in ("policy", "candidate"):
        assert (
            getattr(options("check", *given), name)
            == make_parser().parse_args(["check", *GATE]).__dict__[name]
        )


def test_every_option_of_every_command_has_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value set in the environment must show up as the default of the option, whatever the command."""
    spelled = {
        "fail-on": "never",
        "lang": "zh",
        "judge-everywhere": "1",
        "format": "json",
        "first-run": "1",
        "require-fresh": "1",
        "with-excerpts": "1",
        "quiet": "1",
        "json": "1",
        "comment": "never",
        "remove-comment": "1",
        "engine": "spark",
    }
    parsers = next(
        one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction)
    ).choices
    checked = 0
    for command, parser in parsers.items():
        for action in parser._actions:
            name = next((one[2:] for one in action.option_strings if one.startswith("--")), None)
            if name in (None, "help"):
                continue
            value = spelled.get(str(name), "2")
            monkeypatch.setenv("GATELINE_" + str(name).upper().replace("-", "_"), value)
            again = next(
                one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction)
            ).choices
            found = again[command].get_default(action.dest)
            assert str(found) in (value, "True"), (command, name, found)
            monkeypatch.delenv("GATELINE_" + str(name).upper().replace("-", "_"))
            checked += 1
    assert checked > 30


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("1", True),
        ("true", True),
        ("YES", True),
        ("on", True),
        ("0", False),
        ("false", False),
        ("No", False),
        ("", False),
    ],
)
def test_a_switch_in_the_environment_takes_the_words_people_use(
    said: str, meant: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATELINE_FIRST_RUN", said)
    assert options("check", *GATE).first_run is meant


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("GATELINE_FIRST_RUN", "maybe", "--first-run is 'maybe' in the environment; write true or false"),
        (
            "GATELINE_FAIL_ON",
            "warn",
            "--fail-on is 'warn' in the environment; it must be one of fail, inconclusive, never",
        ),
        (
            "GATELINE_FORMAT",
            "pdf",
            "--format is 'pdf' in the environment; it must be one of text, markdown, json, junit, html",
        ),
        ("GATELINE_VERBOSE", "loud", "--verbose is 'loud' in the environment; write 0, 1 or 2"),
    ],
)
def test_a_variable_that_cannot_be_meant_is_told_and_is_no_crash(
    variable: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert options("check", *GATE).unreadable == said


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "--policy", "p"],
        ["check", *GATE, "--fail-on", "warn"],
        ["check", *GATE, "--pol", "x"],
        ["check", *GATE, "extra"],
        ["chek"],
        ["lint"],
        ["ci", *GATE, "--format", "json"],
    ],
)
def test_a_usage_error_is_2_and_says_that_nothing_was_decided(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: gateline")
    heading = "error" if arguments[0] == "lint" else "no verdict"
    assert captured.err.splitlines()[-1].startswith(f"gateline: {heading}: ")


@pytest.mark.parametrize(("typed", "meant"), [("chek", "check"), ("docter", "doctor"), ("lnt", "lint")])
def test_a_mistyped_command_is_told_with_the_one_that_was_meant(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([typed]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"gateline: no verdict: there is no command '{typed}'  (did you mean '{meant}'?)"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_only_a_command_that_gives_a_verdict_speaks_of_one(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, "--no-such-option"]) == 2
    judges = command in ("check", "ci", "publish")
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith(f"gateline: {'no verdict' if judges else 'error'}: ")
    )
    assert run([command, "--help"]) == 0
    assert ("the gate said no" in capsys.readouterr().out) == judges


@pytest.mark.parametrize("arguments", [[], ["--help"], ["check", "--help"], ["--version"]])
def test_help_and_version_are_0(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert (
        out == f"gateline {gateline.__version__}\n"
        if arguments == ["--version"]
        else "exit codes: 0 passed" in out
    )
