"""What a GitHub event says: which pull request, from whom, onto which branch. Reads the event's file, asks nobody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateline.errors import HostError

_MOST_BYTES = 32 * 1024 * 1024
_PULL_REQUESTS = ("pull_request", "pull_request_target")


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """The run of another workflow that has ended."""

    id: int
    event: str
    head_commit: str
    head_branch: str
    head_repository: str
    """`owner/name`."""
    pull_requests: tuple[int, ...]
    """Numbers of this repository's pull requests with that head; GitHub leaves it empty for forks."""
    attempt: int = 1
    """Counts how often it was run again."""


@dataclass(frozen=True, slots=True)
class Event:
    """Why this job runs."""

    name: str
    pull_request: int | None = None
    """Its number, for the two events of pull requests only."""
    is_from_fork: bool = False
    base_branch: str | None = None
    """The branch that the change goes to, or for other events the one that the job runs on."""
    base_commit: str | None = None
    """The commit of that branch before the change; None where there is no change to judge. That of a pull request may
    be an older one than it is merged into for the job."""
    head_commit: str | None = None
    """The newest commit of the pull request."""
    workflow_run: WorkflowRun | None = None


def read_event(environment: Mapping[str, str]) -> Event:
    """Return the event of this job. Raises HostError where its file can't be read."""
    name = environment.get("GITHUB_EVENT_NAME", "")
    payload = _read_payload(environment.get("GITHUB_EVENT_PATH"))
    branch = environment.get("GITHUB_BASE_REF") or environment.get("GITHUB_REF_NAME") or None
    if name in _PULL_REQUESTS:
        return _of_pull_request(name, payload, branch)
    if name == "merge_group":
        group = _part(payload, "merge_group")
        base = _text(group, "base_ref")
        return Event(
            name,
            base_branch=base.removeprefix("refs/heads/") if base else branch,
            base_commit=_text(group, "base_sha"),
        )
    if name == "workflow_run":
        return Event(name, base_branch=branch, workflow_run=_workflow_run(payload))
    return Event(name, base_branch=branch)


def _of_pull_request(name: str, payload: Mapping[str, Any], branch: str | None) -> Event:
    change = _part(payload, "pull_request")
    number = change.get("number", payload.get("number"))
    if type(number) is not int or number < 1:
        raise HostError(f"the event {name} names no pull request")
    base, head = _part(change, "base"), _part(change, "head")
    # the repository of a head is null where the fork has been deleted
    from_repository = _text(_part(head, "repo"), "full_name")
    into_repository = _text(_part(base, "repo"), "full_name") or _text(
        _part(payload, "repository"), "full_name"
    )
    return Event(
        name,
        pull_request=number,
        is_from_fork=from_repository != into_repository,
        base_branch=_text(base, "ref") or branch,
        base_commit=_text(base, "sha"),
        head_commit=_text(head, "sha"),
    )


def _workflow_run(payload: Mapping[str, Any]) -> WorkflowRun:
    run = _part(payload, "workflow_run")
    found = run.get("pull_requests")
    numbers = tuple(
        one["number"]
        for one in (found if isinstance(found, list) else [])
        if isinstance(one, dict) and type(one.get("number")) is int
    )
    repository = _text(_part(run, "head_repository"), "full_name")
    commit, branch, number = _text(run, "head_sha"), _text(run, "head_branch"), run.get("id")
    if type(number) is not int or not (repository and commit and branch):
        raise HostError("the event workflow_run does not name its run, its commit and its branch")
    attempt = run.get("run_attempt")
    tries = attempt if type(attempt) is int else 1
    return WorkflowRun(number, _text(run, "event") or "", commit, branch, repository, numbers, tries)


def _read_payload(path: str | None) -> Mapping[str, Any]:
    if not path:
        return {}
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        payload = json.loads(content) if len(content) <= _MOST_BYTES else None
    except OSError as error:
        raise HostError(f"the event's file can't be read: {error.strerror}", "GITHUB_EVENT_PATH") from None
    except (ValueError, RecursionError):
        raise HostError("the event's file is not JSON", "GITHUB_EVENT_PATH") from None
    return payload if isinstance(payload, dict) else {}


def _part(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    return value if isinstance(value, str) and value else None
