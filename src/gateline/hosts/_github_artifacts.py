"""Finds the artifact of the last successful run on the base branch of a GitHub repository, and downloads it.

An artifact is trusted for where it was made, never for its name: a run for a pull request, also one from a fork whose
branch is called `main`, must not become the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gateline.errors import HostError
from gateline.hosts._artifact import MOST_BYTES, Artifact
from gateline.hosts._entries import number_in, objects_in, part_of

if TYPE_CHECKING:
    from gateline.hosts._http import Client

_MOST_RUNS = 30
_NOT_OF_THE_BRANCH = frozenset({"pull_request", "pull_request_target", "workflow_run", "merge_group"})


def fetch(client: Client, repository: str, name: str, branch: str | None) -> Artifact | None:
    """Return the newest artifact called `name` of a successful run on `branch`; None where there is none yet.

    https://docs.github.com/en/rest/actions/artifacts  https://docs.github.com/en/rest/actions/workflow-runs
    Raises HostError where that can't be found out: not knowing is not the same as having none.
    """
    if branch is None:
        raise HostError("it is not known on which branch to look for artifacts")
    runs: dict[int, Mapping[str, Any]] = {}
    for one in _on_branch(client, repository, name, branch):
        number = number_in(one["workflow_run"], "id", "artifacts")
        if number not in runs:
            if len(runs) == _MOST_RUNS:
                raise HostError(
                    f"none of the last {_MOST_RUNS} runs on {branch} with an artifact {name} was successful"
                )
            runs[number] = client.read_object(f"/repos/{repository}/actions/runs/{number}")
        run = runs[number]
        if run.get("conclusion") == "success" and run.get("event") not in _NOT_OF_THE_BRANCH:
            return Artifact(
                name,
                _download(client, repository, number_in(one, "id", "artifacts")),
                branch,
                commit=str(run.get("head_sha") or "") or None,
                made_on=str(one.get("created_at") or "")[:10] or None,
                run=number,
            )
    return None


def _on_branch(client: Client, repository: str, name: str, branch: str) -> list[dict[str, Any]]:
    """Return the artifacts that this repository's own runs on a branch left, newest first."""
    found = []
    for page in client.pages(f"/repos/{repository}/actions/artifacts", {"name": name}):
        for one in objects_in(page.get("artifacts") if isinstance(page, dict) else None, "artifacts"):
            run = part_of(one, "workflow_run")
            own = run.get("head_repository_id") == run.get("repository_id") is not None
            if (
                one.get("name") == name
                and not one.get("expired")
                and run.get("head_branch") == branch
                and own
            ):
                found.append(one)
    return sorted(
        found,
        key=lambda one: (str(one.get("created_at") or ""), number_in(one, "id", "artifacts")),
        reverse=True,
    )


def _download(client: Client, repository: str, number: int) -> bytes:
    """Return the zip; the server sends us on to a store that must not see the token."""
    return client.get(f"/repos/{repository}/actions/artifacts/{number}/zip", most=MOST_BYTES).body
