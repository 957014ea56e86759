"""The pair of workflows in docs/forks.md: rights, pins, and that each hands the other what it needs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from gateline.cli.arguments import make_parser

TEXT = (Path(__file__).parents[2] / "docs" / "forks.md").read_text(encoding="utf-8")
FIRST, SECOND = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.+?)```", TEXT, re.DOTALL))
STEPS = SECOND["jobs"]["comment"]["steps"]
ON = True  # what YAML 1.1 makes of the key `on`


def artifact_of(steps, action):
    return next(step["with"] for step in steps if step.get("uses", "").startswith(f"actions/{action}@"))


def test_the_first_runs_the_fork_s_code_without_anything_to_steal():
    assert FIRST[ON] == "pull_request"
    assert FIRST["permissions"] == {}
    assert FIRST["jobs"]["gate"]["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "secrets" not in yaml.safe_dump(FIRST) + yaml.safe_dump(SECOND)


def test_the_second_runs_nothing_of_the_fork_s():
    assert SECOND[ON]["workflow_run"] == {"workflows": [FIRST["name"]], "types": ["completed"]}
    assert SECOND["permissions"] == {}
    assert SECOND["jobs"]["comment"]["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert not any("checkout" in step.get("uses", "") for step in STEPS)
    assert "head_repository.full_name != github.repository" in SECOND["jobs"]["comment"]["if"]
    for step in STEPS:  # an expression within a script would be filled in by whoever names a branch
        assert "${{" not in step.get("run", "")


def test_the_artifact_that_is_kept_is_the_one_that_is_fetched():
    kept = artifact_of(FIRST["jobs"]["gate"]["steps"], "upload-artifact")
    fetched = artifact_of(STEPS, "download-artifact")
    assert kept["name"] == fetched["name"]
    assert fetched["run-id"] == "${{ github.event.workflow_run.id }}"
    command = next(step["run"] for step in STEPS if "run" in step)
    words = shlex.split(command)
    arguments = words[words.index("gateline") + 1 :]
    assert arguments == ["publish", f"{fetched['path']}/verdict.json"]
    assert make_parser().parse_args(arguments).verdict == arguments[1:]


@pytest.mark.parametrize("workflow", [FIRST, SECOND], ids=["first", "second"])
def test_what_is_used_is_pinned_by_commit(workflow):
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            use = step.get("uses", "")
            assert not use.startswith("actions/") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", use)
