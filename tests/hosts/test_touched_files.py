"""A change of files that a policy names by a pattern or a folder is told, the base policy keeps the old ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from checkout import FINE
from test_ci_job import commit_all, job, verdict  # noqa: F401  (job is a fixture)

RULE = {
    "kind": "tolerance",
    "metric": "fully_supported",
    "worse_by_at_most": 0.9,
    "slice": "hard",
    "hard": True,
}


def keep_a_golden_set(name, environment, github, has_git):
    """Let the policy guard the hard questions of a golden set, as the base branch has it."""
    policy = yaml.safe_load(Path(FINE).read_text(encoding="utf-8"))
    policy |= {
        "samples": {"at_least": 5, "golden_set": name},
        "slices": {"named": {"hard": {"risk": "high"}}, "at_least": 1},
        "rules": [*policy["rules"], RULE],
    }
    Path(FINE).write_text(yaml.safe_dump(policy, sort_keys=False), encoding="utf-8")
    lines = Path("results/candidate.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    for at, line in enumerate(lines):
        one = json.loads(line)["id"]
        write(f"gates/golden/{at % 2}.jsonl", {"id": one, "risk": "high" if at < 40 else "low"})
        write(
            "gates/beir/queries.jsonl",
            {"_id": one, "text": one, "metadata": {"risk": "high" if at < 40 else "low"}},
        )
        Path("gates/beir/qrels").mkdir(exist_ok=True)
        with Path("gates/beir/qrels/test.tsv").open("a", encoding="utf-8") as file:
            file.write(f"{one}\td1\t1\n" if at else f"query-id\tcorpus-id\tscore\n{one}\td1\t1\n")
    if has_git:
        commit_all(environment)
    else:
        files = [path for path in Path("gates").rglob("*") if path.is_file()]
        github.files |= {("b" * 40, path.as_posix()): path.read_bytes() for path in files}


def write(path, record):
    Path(path).parent.mkdir(exist_ok=True)
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def change(path, old, new):
    text = Path(path).read_text(encoding="utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new, 10), encoding="utf-8")


def told():
    """Return what the verdict says of changed files, by path, and whether each may let more through."""
    return {one["path"].removesuffix(" (lines)"): one["loosens"] for one in verdict()["policy"]["changes"]}


@pytest.mark.parametrize("has_git", [False, True])
@pytest.mark.parametrize(
    ("name", "file"), [("golden/*.jsonl", "gates/golden/1.jsonl"), ("beir", "gates/beir/queries.jsonl")]
)
def test_labels_that_move_questions_out_of_a_slice_are_told(job, github, environment, name, file, has_git):  # noqa: F811
    keep_a_golden_set(name, environment, github, has_git)
    job(FINE)
    assert told() == {}
    change(file, '"high"', '"low"')
    job(FINE)
    assert told() == {file: True}
    assert "**This change loosens the policy that judges it.**" in github.bodies()[0]
    (copy,) = Path("gateline-out/base").rglob(Path(file).name)
    assert b'"high"' in copy.read_bytes()  # the base branch's policy judges by the base branch's labels
    assert verdict()["policy"]["under_base"] is not None


@pytest.mark.parametrize("has_git", [False, True])
def test_a_file_that_a_change_adds_to_or_takes_from_a_pattern_is_told(job, github, environment, has_git):  # noqa: F811
    keep_a_golden_set("golden/*.jsonl", environment, github, has_git)
    left = json.loads(Path("gates/golden/1.jsonl").read_text(encoding="utf-8").splitlines()[0])
    Path("gates/golden/1.jsonl").unlink()
    write("gates/golden/new.jsonl", {**left, "risk": "low"})
    job(FINE)
    assert told() == {"gates/golden/1.jsonl": True, "gates/golden/new.jsonl": True}


def test_a_pattern_with_folders_is_its_files(job, github, environment):  # noqa: F811
    keep_a_golden_set("gold*/*.jsonl", environment, github, True)
    shutil.move("gates/golden/0.jsonl", "gates/golden/2.jsonl")
    job(FINE)
    assert told() == {"gates/golden/0.jsonl": True, "gates/golden/2.jsonl": True}
