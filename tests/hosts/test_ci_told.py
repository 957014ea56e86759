"""`gateline ci`: whose files the outputs name, what is said where there is no room, and long names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from checkout import BLOCKED, FINE
from test_ci_job import job, told  # noqa: F401  (job is a fixture)

RULE = '{"kind": "limit", "metric": "fully_supported", "at_least": 0.1}'


def change(path, **changed):
    policy = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    Path(path).write_text(yaml.safe_dump({**policy, **changed}), encoding="utf-8")


def test_of_several_passes_the_one_with_warnings_is_told(job, environment):  # noqa: F811
    change(BLOCKED, name="fine", rules=[json.loads(RULE)], waivers=[], slices={})
    change(FINE, rules=[{**json.loads(RULE), "decide_by": "interval", "at_least": 0.7}])
    assert job("gates/*.yml") == 0
    assert told(environment)["verdict-file"] == "gateline-out/short/verdict.json"


@pytest.mark.parametrize("left", [0, 1_999, 100_000])
def test_a_summary_without_room_is_said(job, environment, capsys, left):  # noqa: F811
    summary = Path(environment["GITHUB_STEP_SUMMARY"])
    summary.write_text("x" * (1_048_576 - left), encoding="utf-8")
    assert job(FINE) == 0
    assert ("the job's summary is full" in capsys.readouterr().err) == (left < 2_000)
    assert summary.stat().st_size <= 1_048_576


@pytest.mark.parametrize("letter", ["n", "中", "\U0001f600a"])
def test_gates_with_long_names_have_their_files(job, environment, letter):  # noqa: F811
    """File systems take names of 255 bytes; alike ones get folders of their own."""
    change(FINE, name=letter * 300)
    change(BLOCKED, name=letter * 300 + "2")
    assert job("gates/*.yml") == 1
    folders = [path for path in Path("gateline-out").iterdir() if (path / "verdict.json").is_file()]
    verdicts = [json.loads((folder / "verdict.json").read_text(encoding="utf-8")) for folder in folders]
    assert sorted(one["verdict"] for one in verdicts) == ["fail", "pass"]
    assert Path(told(environment)["verdict-file"]).is_file()
