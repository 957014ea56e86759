"""The action in its container against a GitHub that remembers: comment, summary, outputs, for each kind of event.

Where npm is there, every request and answer passes through prism, which holds it against GitHub's own description.
The payloads are GitHub's own examples.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import pytest
from running import DATA, GATE, ROOT, run_action
from stand_in import TOKEN

EVENTS = ROOT / "tests" / "hosts" / "data" / "events"
BLOCKED = {"policy": "gates/rag.yml", "baseline": GATE[1], "candidate": GATE[3], "token": TOKEN}
MARKER = "<!-- gateline: rag -->"


def payload(name):
    return json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def change(github):
    """A pull request with talk under it, and a base branch with the policy."""
    told = payload("pull_request")
    github.repository, github.number = told["repository"]["full_name"], told["number"]
    github.files[(told["pull_request"]["base"]["sha"], "gates/rag.yml")] = (
        ROOT / "gates/rag.yml"
    ).read_bytes()
    for number in range(105):
        github.add_comment(f"remark {number}", "reviewer", "User")
    return told


@pytest.fixture
def act(github, workspace, tmp_path):
    def start(told, event="pull_request", inputs=BLOCKED, **more):
        more = {"api_url": github.base, **more}
        return run_action(workspace, tmp_path, inputs, event=event, payload=told, network="host", **more)

    return start


def own(github):
    return [one for one in github.comments if one["body"].startswith(MARKER)]


def test_a_blocked_pull_request_has_one_comment_that_every_push_brings_up_to_date(
    act, github, change, workspace
):
    first = act(change, run_id="100")
    assert first.returncode == 1, first.stderr
    assert first.outputs | {"verdict": "fail", "failed": "1", "comment-posted": "true"} == first.outputs
    assert len(github.comments) == 106
    (comment,) = own(github)
    assert "### ❌ rag: blocked" in comment["body"]
    assert "Policy unchanged." in comment["body"], "the base branch's policy was read through the API"
    assert "<!-- gateline run: 100.1 -->" in comment["body"]
    assert "answered" in first.files["step_summary"]
    short = {**BLOCKED, "policy": "gates/passes.yml"}
    policy = (workspace / "gates/short.yml").read_text(encoding="utf-8").replace("name: short", "name: rag")
    (workspace / "gates/passes.yml").write_text(policy, encoding="utf-8")
    second = act(change, run_id="101", inputs=short)
    assert (second.returncode, second.outputs["comment-posted"]) == (0, "true")
    assert own(github) == [comment]
    assert "blocked" not in comment["body"]
    late = act(change, run_id="100", run_attempt="2")
    assert (late.returncode, late.outputs["comment-posted"]) == (1, "false")
    assert "a newer run has already commented" in late.stderr
    assert "blocked" not in comment["body"]
    for step in (first, second, late):
        assert TOKEN not in step.everything
        assert "bug" not in step.stderr
    for file in (path for path in workspace.rglob("*") if path.is_file()):
        assert TOKEN.encode() not in file.read_bytes()


def test_from_a_fork_everything_is_told_but_the_comment(act, github, change):
    github.may_write = False
    fork = copy.deepcopy(change)
    fork["pull_request"]["head"]["repo"]["full_name"] = "visitor/Hello-World"
    step = act(fork)
    assert (step.returncode, step.outputs["comment-posted"]) == (1, "false")
    assert len(github.comments) == 105
    assert (
        "::notice title=gateline::no comment: the token of a pull request from a fork is read-only"
        in step.stderr
    )
    assert "### ❌ rag: blocked" in step.files["step_summary"]
    assert TOKEN not in step.everything


def test_the_verdict_of_a_fork_s_run_is_posted_by_a_second_workflow(act, github, workspace):
    told = payload("workflow_run")
    github.repository, github.number = told["repository"]["full_name"], 7
    ended = told["workflow_run"]
    ended |= {"event": "pull_request", "head_repository": {"full_name": "visitor/octo-repo"}}
    github.add_pull(7, ended["head_sha"], "visitor/octo-repo", ended["head_branch"])
    made = act(payload("push"), "push")
    assert made.returncode == 1
    step = act(told, "workflow_run", words=["publish", "gateline-out/verdict.json"])
    assert step.returncode == 0, step.stderr
    (comment,) = own(github)
    assert "**This verdict was made in the fork's run** (`visitor/octo-repo`" in comment["body"]
    assert f"<!-- gateline run: {ended['id']}.{ended['run_attempt']} -->" in comment["body"]


@pytest.mark.parametrize("event", ["push", "merge_group", "schedule"])
def test_where_there_is_no_pull_request_there_is_no_comment_and_all_else(act, github, event):
    told = (
        payload(event)
        if event != "schedule"
        else {"schedule": "17 4 * * 1", "repository": {"full_name": "a/b"}}
    )
    github.repository = told["repository"]["full_name"]
    step = act(told, event)
    assert (step.returncode, step.outputs["verdict"], step.outputs["comment-posted"]) == (1, "fail", "false")
    assert "### ❌ rag: blocked" in step.files["step_summary"]
    assert "::error file=gates/rag.yml,line=" in step.stdout
    assert github.comments == []
    assert [method for method, _ in github.log if method != "GET"] == []


def test_the_exit_code_is_the_gate_s_where_github_does_not_answer(workspace, tmp_path, change):
    step = run_action(
        workspace, tmp_path, BLOCKED, payload=change, network="host", api_url="http://127.0.0.1:9/api/v3"
    )
    assert (step.returncode, step.outputs["verdict"], step.outputs["comment-posted"]) == (1, "fail", "false")
    assert "no comment" in step.stderr
    assert "bug" not in step.stderr


def test_baseline_and_policy_come_from_the_base_branch_s_last_run(act, github, change, workspace):
    from stand_in import zipped

    shutil.move(workspace / DATA / "baseline.jsonl", Path(workspace) / "kept.jsonl")
    content = (workspace / "kept.jsonl").read_bytes()
    github.add_artifact(
        "results", zipped(**{"baseline.jsonl": content}), branch=change["pull_request"]["base"]["ref"]
    )
    github.store = f"{github.direct}/store"  # prism would follow the redirect to it itself
    step = act(change, inputs={**BLOCKED, "baseline": "artifact:results"}, api_url=github.direct)
    assert step.returncode == 1, step.stderr
    told = json.loads((workspace / "gateline-out/verdict.json").read_text(encoding="utf-8"))
    assert told["baseline"]["origin"]["source"] == "artifact:results"
    assert told["policy"]["same_as_base"] is True
