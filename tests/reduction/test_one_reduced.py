"""A reduced run beside one that is not: the hint is a command that makes them comparable."""

from __future__ import annotations

import csv
import datetime
import json
import shlex
from pathlib import Path

import pytest

from gateline import check
from gateline.cli import run as run_command

POLICY = """\
version: 1
name: sums
metrics:
  correct: {better: higher, range: [0, 1]}
rules:
  - {kind: tolerance, metric: correct, worse_by_at_most: 0.2}
"""


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
@pytest.mark.parametrize("reduced_side", ["baseline", "candidate"])
def test_what_the_hint_says_makes_the_runs_comparable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, reduced_side: str
) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"q{number}", "correct": int(number % 5 > 0)} for number in range(60)]
    (tmp_path / "p.yml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    whole = tmp_path / f"my run{suffix}"
    if suffix == ".jsonl":
        whole.write_bytes((tmp_path / "log.jsonl").read_bytes())
    else:
        with whole.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, ["id", "correct"])
            writer.writeheader()
            writer.writerows(rows)
    assert run_command(["reduce", "log.jsonl", "--policy", "p.yml", "--output", "sums.json"]) == 0
    files = ("sums.json", whole.name) if reduced_side == "baseline" else (whole.name, "sums.json")
    day = datetime.date(2026, 1, 5)
    (problem,) = check("p.yml", *files, on=day).problems
    assert problem.message.startswith("is not reduced, and the other run (sums.json) is")
    commands, _, rest = problem.hint.partition(", and check ")
    made = rest.partition(" in its place")[0]
    for command in commands.split(" && "):
        program, *arguments = shlex.split(command)
        assert program == "gateline"
        assert run_command(arguments) == 0
    files = ("sums.json", made) if reduced_side == "baseline" else (made, "sums.json")
    assert check("p.yml", *files, on=day).verdict == "pass"
