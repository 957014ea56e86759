"""Patterns find the files that they name, each once, also where links lead round and round."""

from __future__ import annotations

import glob
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.cli import run
from gateline.files import find_matches
from gateline.readers import read_run
from tries import make_tries

tries = make_tries()
PARTS = st.sampled_from(["a", "b", "[c]", ".d", "e f", "x.json", "**.json"])
TREES = st.lists(st.lists(PARTS, min_size=1, max_size=4), max_size=8)
PATTERNS = st.lists(
    st.sampled_from(["**", "*", "a", "?", "*.json", "[[]c]", "x.json", "[ab]"]), min_size=1, max_size=4
)


def plant(tree: list[list[str]]) -> None:
    for parts in tree:
        folder = Path(*parts)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.write_text("{}")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            pass  # it stands there as the other of the two


@tries(60)
@given(TREES, PATTERNS, st.booleans())
def test_without_links_a_pattern_matches_what_python_says(
    tree: list[list[str]], pattern: list[str], absolute: bool
) -> None:
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            plant(tree)
            asked = "/".join([glob.escape(folder), *pattern] if absolute else pattern)
            found = find_matches(asked)
            if found is None:
                assert not glob.has_magic(asked) or Path(asked).exists()
                return
            wanted = [one for one in glob.glob(asked, recursive=True) if one and not one.endswith("/")]  # noqa: PTH207
            # of `**` at the end Python also names the folder that it begins with
            begin = asked.removesuffix("/**") if asked.endswith("**") else None
            assert found == sorted({one for one in wanted if one != begin})
        finally:
            os.chdir(here)


def test_links_that_lead_round_are_walked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plant([["runs", "one", "x.json"], ["else", "y.json"]])
    for name in ("p", "q", "r"):
        Path("runs", name).symlink_to("../runs")
        Path("runs", "one", name).symlink_to("..")
    Path("runs", "away").symlink_to("../else")
    assert find_matches("runs/**/*.json") == ["runs/away/y.json", "runs/one/x.json"]
    several = find_matches("runs/**/**/one/**/*.json") or []
    assert {Path(one).resolve() for one in several} == {
        tmp_path / "runs/one/x.json",
        tmp_path / "else/y.json",
    }


def test_a_baseline_below_any_folders_is_there_and_no_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pattern is one thing to all who ask for its files: what the reader would find, nobody else calls missing."""
    monkeypatch.chdir(tmp_path)
    Path("policy.yml").write_text(
        "version: 1\nname: t\nsamples: {at_least: 5}\nmetrics: {ok: {better: higher, range: [0, 1]}}\n"
        "rules:\n  - {kind: tolerance, metric: ok, worse_by_at_most: 0}\n"
        "  - {kind: limit, metric: ok, at_least: 0.1}\n"
    )
    for depth in ("base", "base/a", "base/a/b"):
        file = Path(depth, "run.jsonl")
        file.parent.mkdir(exist_ok=True)
        for path, score in ((file, 1), (Path("candidate.jsonl"), 0.5)):
            path.write_text(
                "".join(json.dumps({"id": f"q{n}", "metrics": {"ok": score}}) + "\n" for n in range(40))
            )
        asked = ["--baseline", "base/**/run.jsonl", "--candidate", "candidate.jsonl", "--first-run"]
        assert run(["check", "--policy", "policy.yml", *asked]) == 1
        assert "ok fell 1.0 → 0.5" in capsys.readouterr().out
        assert len(read_run("base/**/run.jsonl")) == 40
        file.unlink()
