"""Which pull request an event speaks of: GitHub's own examples, and events that are not what they seem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateline.errors import HostError
from gateline.hosts._github_event import Event, WorkflowRun, read_event

EVENTS = Path(__file__).parent / "data" / "events"


def event(name, payload=None, tmp_path=None, **variables):
    path = EVENTS / f"{name.removesuffix('_target')}.json"
    if payload is not None:
        path = tmp_path / "event.json"
        path.write_text(payload if isinstance(payload, str) else json.dumps(payload), encoding="utf-8")
    return read_event({"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path), **variables})


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target"])
def test_a_pull_request(name):
    commit = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"
    head = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
    assert event(name) == Event(
        name, pull_request=2, base_branch="master", base_commit=commit, head_commit=head
    )


def test_a_merge_queue_has_a_base_and_no_pull_request():
    commit = "380387fbc80638b734a49e1be1c4dfec1c01b33c"
    assert event("merge_group") == Event("merge_group", base_branch="main", base_commit=commit)


@pytest.mark.parametrize("name", ["schedule", "workflow_dispatch"])
def test_other_events_are_about_no_change(name):
    found = read_event({"GITHUB_EVENT_NAME": name, "GITHUB_REF_NAME": "main"})
    assert found == Event(name, base_branch="main")


def test_a_push_is_about_no_change():
    assert event("push", GITHUB_REF_NAME="main") == Event("push", base_branch="main")


def test_a_push_of_a_payload_with_a_pull_request_in_it_is_still_a_push(tmp_path):
    found = event("push", {"pull_request": {"number": 9}, "number": 9}, tmp_path, GITHUB_REF_NAME="main")
    assert (found.pull_request, found.base_branch) == (None, "main")


def test_a_run_that_has_ended():
    run = event("workflow_run").workflow_run
    commit = "5779607b49aab1200488439f02372c57b4f75444"
    assert run == WorkflowRun(1589141559, "workflow_dispatch", commit, "main", "octo-org/octo-repo", ())


@pytest.mark.parametrize(
    ("head", "is_from_fork"),
    [({"full_name": "acme/rag"}, False), ({"full_name": "visitor/rag"}, True), (None, True), ({}, True)],
)
def test_a_fork_is_another_repository_or_one_that_is_gone(tmp_path, head, is_from_fork):
    change = {"number": 7, "head": {"repo": head}, "base": {"repo": {"full_name": "acme/rag"}, "ref": "main"}}
    assert event("pull_request", {"pull_request": change}, tmp_path).is_from_fork == is_from_fork


@pytest.mark.parametrize("number", ["7", 0, -1, True, 7.0, None, "7/../../8"])
def test_a_number_that_is_none_is_refused(tmp_path, number):
    with pytest.raises(HostError, match="names no pull request"):
        event("pull_request", {"pull_request": {"number": number}}, tmp_path)


@pytest.mark.parametrize("payload", ["", "{", "[" * 100_000, "\x00"])
def test_a_file_that_is_no_json_is_told(tmp_path, payload):
    with pytest.raises(HostError, match="not JSON"):
        event("pull_request", payload, tmp_path)


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(HostError, match="can't be read"):
        read_event({"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": "/no/such/file"})


@pytest.mark.parametrize(("told", "attempt"), [(3, 3), (None, 1), ("3", 1), (True, 1)])
def test_a_run_that_was_run_again_says_how_often(tmp_path, told, attempt):
    payload = json.loads((EVENTS / "workflow_run.json").read_text(encoding="utf-8"))
    payload["workflow_run"]["run_attempt"] = told
    assert event("workflow_run", payload, tmp_path).workflow_run.attempt == attempt
