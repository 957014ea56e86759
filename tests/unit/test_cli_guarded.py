"""What is printed: no text from a file is a command of a runner, and nothing else of it changes."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateline.cli import run
from gateline.cli.guarded import GuardedStream, GuardedStreams
from gateline.reports.escape import JOINER, Commands, guard_json, guard_log

HOSTILE = [
    "::error::PWN", "  ::error file=x::PWN", "##[error]PWN", "x ###[group]PWN", "a\n::error::PWN", "a\r::error::PWN",
    "::stop-commands::PWN", "%0A::error::PWN", "\u2028::error::PWN", "\u00a0::error::PWN",
]  # fmt: skip
COMMAND = re.compile(r"^\s*::|##\[")


def commands_in(text: str) -> list[str]:
    """Return the lines that a runner would take for commands; it ends lines at CR, LF and both."""
    return [line for line in re.split(r"\r\n|\n|\r", text) if COMMAND.search(line)]


PIECES = st.lists(
    st.sampled_from(["::", ":", "##[", "#", "[", "a", " ", "\t", "\n", "\r", "\u2028", JOINER, "\\"])
)
TEXTS = PIECES.map("".join)


@given(st.lists(TEXTS, max_size=4))
@example(["a\r::error::x"])
def test_no_line_that_is_written_is_a_command(texts: list[str]) -> None:
    for text in texts:
        held = io.StringIO(newline="")
        assert GuardedStream(held).write(text) >= len(text)
        assert commands_in(held.getvalue()) == []
        assert held.getvalue().replace(JOINER, "") == text.replace(JOINER, "")


@given(TEXTS)
def test_what_was_made_to_be_commands_stays_as_it_is(text: str) -> None:
    held = io.StringIO(newline="")
    GuardedStream(held).writelines([Commands(text), "a", Commands(text)])
    assert held.getvalue() == text + "a" + text


@given(st.dictionaries(TEXTS, st.lists(TEXTS, max_size=3), max_size=3))
def test_json_says_the_same(data: dict[str, Any]) -> None:
    for indent in (None, 2):
        text = guard_json(json.dumps(data, ensure_ascii=False, indent=indent))
        assert json.loads(text) == data
        assert guard_log(text) == text, "so that the stream leaves it as it is"


def test_the_streams_are_put_back() -> None:
    before = sys.stdout, sys.stderr
    with pytest.raises(ValueError, match="x"), GuardedStreams():
        assert isinstance(sys.stdout, GuardedStream)
        raise ValueError("x")
    assert (sys.stdout, sys.stderr) == before


POLICY: dict[str, Any] = {"version": 1, "samples": {"at_least": 20}}
COMMANDS = [
    "check --policy p.yml --baseline b.jsonl --candidate c.jsonl",
    *(
        f"check --policy p.yml --baseline b.jsonl --candidate c.jsonl --format {kind}"
        for kind in ("markdown", "json", "junit", "html")
    ),
    "check --policy broken.yml --baseline b.jsonl --candidate c.jsonl",
    "check --policy p.yml --baseline b.jsonl --candidate broken.jsonl",
    "lint p.yml broken.yml",
    "explain p.yml",
    "inspect b.jsonl",
    "inspect b.jsonl --json",
    "inspect broken.jsonl",
    "golden b.jsonl",
    "golden b.jsonl --json",
    "init b.jsonl --output H.yml",
    "publish HOSTILE",
    "inspect HOSTILE",
    "HOSTILE",
    "check --fail-on HOSTILE",
    "check --HOSTILE",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_stands_in_files_and_arguments_no_command_prints_a_command(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for side, bad in (("b", 7), ("c", 3)):
        header = {"gateline": 1, "run": {text: f"{text}{side}", "a": text}}
        rows = [
            {"id": f"{text}{n}", "question": text, "slices": {text: text}, "metrics": {"ok": int(n % bad > 0), text: 1}}
            for n in range(40)
        ]  # fmt: skip
        lines = "\n".join(map(json.dumps, [header, *rows]))
        Path(f"{side}.jsonl").write_text(lines, encoding="utf-8", newline="")
    metrics = {
        "ok": {"better": "higher", "range": [0, 1], "unit": text},
        text: {"better": "higher", "unit": text},
    }
    rules = [
        {"id": text, "kind": "tolerance", "metric": "ok", "worse_by_at_most": 0.02},
        {"id": "r2", "kind": "limit", "metric": text, "at_least": 2},
    ]
    policy = POLICY | {"name": text, "description": text, "metrics": metrics, "rules": rules,
                       "provenance": {"may_change": [text, "a"]}}  # fmt: skip
    Path("p.yml").write_text(json.dumps(policy), encoding="utf-8")
    Path("broken.yml").write_text(
        json.dumps({text: text, "version": text, "rules": [{text: 1, "kind": text}]}), encoding="utf-8"
    )
    Path("broken.jsonl").write_text(
        json.dumps({"id": text, "metrics": {text: "x"}}) + "\n" + text, encoding="utf-8", newline=""
    )
    said = ""
    for command in COMMANDS:
        arguments = [part.replace("HOSTILE", text) for part in command.split()]
        run(arguments)
        out, err = capsys.readouterr()
        assert commands_in(out) == commands_in(err) == [], command
        assert "bug in gateline" not in err
        if "--json" in command and out:
            json.loads(out)
            said += out
    assert json.dumps(text, ensure_ascii=False)[1:-1].replace("##[", "\\u0023#[") in said
