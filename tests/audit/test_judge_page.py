"""docs/judge.md and the section of docs/statistics.md: what they show is what the program says of the real labels."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from gateline.cli import run as gateline

ROOT = Path(__file__).resolve().parents[2]
ITEMS = ROOT.parent / "shared" / "data" / "judges" / "judge_xstest_llama2" / "items.jsonl"
PAGE = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not ITEMS.is_file(), reason="the labelled sets lie beside the repository")
def test_the_example_is_what_the_program_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    rows = [json.loads(line) for line in ITEMS.read_text(encoding="utf-8").splitlines()]
    labelled = np.random.default_rng(7).permutation(900) < 200
    human, judge = [], []
    for row, known in zip(rows, labelled, strict=True):
        slices = {name: row["slices"][name] for name in ("system", "expected")}
        judge.append({"id": row["id"], "slices": slices, "metrics": {"refused": row["judges"]["string"]},
                      "prompt": row["id"].split("|")[1]})  # fmt: skip
        if known:
            human.append({"id": row["id"], "metrics": {"refused": row["human"]}})
    for name, records in (("human", human), ("judge", judge)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    command, shown = re.search(r"```text\n\$ gateline (.+?)\n(.+?)```", PAGE, re.DOTALL).groups()
    assert gateline(command.split()) == 0
    assert capsys.readouterr().out == shown
    truth = np.mean([row["human"] for row in rows])
    assert f"found {truth * 100:.1f} %" in PAGE.replace("\n", " ")


def test_every_option_that_the_page_names_is_one():
    from gateline.cli.arguments import make_parser

    parser = make_parser()
    known = parser.parse_args(["audit", "--human", "h", "--judge", "j"])
    named = set(re.findall(r"--([a-z][a-z-]+)", PAGE))
    assert {"human", "judge", "threshold", "cluster"} <= named
    assert [option for option in named if not hasattr(known, option.replace("-", "_"))] == []
