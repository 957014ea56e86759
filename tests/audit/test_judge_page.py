"""docs/judge.md and the section of docs/statistics.md: what they show is what the program says of the real labels."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gateline.cli import run as gateline
from gateline.policy import load_policy

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "gates" / "data"
ITEMS = ROOT.parent / "shared" / "data" / "judges" / "judge_xstest_llama2" / "items.jsonl"
PATH = ROOT / "docs" / "judge.md"
PAGE = PATH.read_text(encoding="utf-8")
REWRITE = os.environ.get("GATELINE_REWRITE_GOLDEN") == "1"
COMMAND = re.compile(r"(?<=```text\n)\$ gateline (?P<command>.+?)\n(?P<shown>.*?)(?=```)", re.DOTALL)
SYSTEMS = {"baseline": "llama2orig", "candidate": "llama2new"}


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def refused(folder: str, run: str) -> dict[str, int]:
    """Return a run's `refused` by prompt: in `xstest` what people say, in `judge` what the judge says."""
    return {one["id"]: one["metrics"]["refused"] for one in read(DATA / folder / f"{run}.jsonl")[1:]}


def test_every_command_of_the_page_shows_what_the_program_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "90")

    def fill(part: re.Match[str]) -> str:
        assert gateline(part["command"].split()) == 0
        return f"$ gateline {part['command']}\n{capsys.readouterr().out}"

    made = COMMAND.sub(fill, PAGE)
    if REWRITE:
        PATH.write_text(made, encoding="utf-8")
    assert len(COMMAND.findall(PAGE)) == 2
    assert made == PATH.read_text(encoding="utf-8"), "GATELINE_REWRITE_GOLDEN=1 writes it anew"


def test_the_page_tells_what_people_say_of_all() -> None:
    text = " ".join(PAGE.split())
    people = {run: refused("xstest", run) for run in SYSTEMS}
    judge = {run: refused("judge", run) for run in SYSTEMS}
    everyone = [value for run in people.values() for value in run.values()]
    assert f"found {np.mean(everyone) * 100:.1f} %" in text
    expected = {one["id"]: one["slices"]["expected"] for one in read(DATA / "judge" / "candidate.jsonl")[1:]}
    unsafe = [name for name in expected if expected[name] == "refuse"]
    safe = [name for name in expected if expected[name] == "comply"]
    assert sum(people["candidate"][name] for name in unsafe) == len(unsafe) == 200
    missed = 1 - np.mean([judge["candidate"][name] for name in unsafe])
    assert f"finds that {missed * 100:.1f} % of the unsafe questions are answered" in text

    def fell(runs: dict[str, dict[str, int]]) -> float:
        return 100 * float(np.mean([runs["baseline"][name] - runs["candidate"][name] for name in safe]))

    assert f"fell by {fell(people):.0f} points where the judge sees {fell(judge):.0f}" in text


def test_the_labels_are_a_part_of_what_people_say_of_the_answers_they_name() -> None:
    for run, system in SYSTEMS.items():
        people = refused("xstest", run)
        head, *labels = read(DATA / "judge" / f"labels-{run}.jsonl")
        digest = hashlib.sha256((DATA / "judge" / f"{run}.jsonl").read_bytes()).hexdigest()
        assert head["run"]["review.candidate_sha256"] == digest
        assert len(labels) == 150
        assert all(one["metrics"]["refused"] == people[one["id"]] for one in labels)
        judged = refused("judge", run)
        both = [one for one in read(DATA / "judge" / "judge.jsonl") if one["slices"]["system"] == system]
        assert {one["prompt"]: one["metrics"]["refused"] for one in both} == judged
        some = [one for one in read(DATA / "judge" / "human.jsonl") if one["id"].startswith(f"{system}|")]
        assert some and all(one["metrics"]["refused"] == people[one["id"].split("|")[1]] for one in some)


@pytest.mark.skipif(not ITEMS.is_file(), reason="the labelled sets lie beside the repository")
def test_the_judge_of_the_example_is_the_one_of_the_labelled_sets() -> None:
    items = {one["id"]: one["judges"]["string"] for one in read(ITEMS)}
    assert {one["id"]: one["metrics"]["refused"] for one in read(DATA / "judge" / "judge.jsonl")} == items


def test_the_policy_of_the_page_is_that_of_the_example(tmp_path: Path) -> None:
    text = PAGE.split("<!-- policy: gates/data/judge/gate.yml -->\n```yaml\n")[1].split("```")[0]
    (tmp_path / "gate.yml").write_text(text, encoding="utf-8")
    policies = [load_policy(tmp_path / "gate.yml").policy, load_policy(DATA / "judge" / "gate.yml").policy]
    assert policies[0] == policies[1]


def test_every_option_that_the_page_names_is_one() -> None:
    from gateline.cli.arguments import make_parser

    parser = make_parser()
    known = parser.parse_args(["audit", "--human", "h", "--judge", "j"])
    audit = PAGE.split("## The judge's error in a gate")[0]
    named = set(re.findall(r"--([a-z][a-z-]+)", audit))
    assert {"human", "judge", "threshold", "cluster"} <= named
    assert [option for option in named if not hasattr(known, option.replace("-", "_"))] == []
