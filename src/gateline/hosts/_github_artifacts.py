"""Finds the artifact of the last successful run on the base branch of a GitHub repository, and downloads it.

An artifact is trusted for where it was made, never for its name: a run for a pull request, also one from a fork whose
branch is called `main`, must not become the baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateline.errors import HostError
from gateline.hosts._artifact import MOST_BYTES, Artifact

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
    runs: dict[int, dict[str, Any]] = {}
    for one in _on_branch(client, repository, name, branch):
        number = one["workflow_run"]["id"]
        if number not in runs:
            if len(runs) == _MOST_RUNS:
                raise HostError(
                    f"none of the last {_MOST_RUNS} runs on {branch} with an artifact {name} was successful"
                )
            runs[number] = client.read(f"/repos/{repository}/actions/runs/{int(number)}")
        run = runs[number]
        if run.get("conclusion") == "success" and run.get("event") not in _NOT_OF_THE_BRANCH:
            return Artifact(
                name,
                _download(client, repository, int(one["id"])),
                branch,
                commit=str(run.get("head_sha") or "") or None,
                made_on=str(one.get("created_at") or "")[:10] or None,
                run=int(number),
            )
    return None


def _on_branch(client: Client, repository: str, name: str, branch: str) -> list[dict[str, Any]]:
    """Return the artifacts that this repository's own runs on a branch left, newest first."""
    found = []
    for page in client.pages(f"/repos/{repository}/actions/artifacts", {"name": name}):
        if not isinstance(page, dict) or not isinstance(page.get("artifacts"), list):
            raise HostError("the list of artifacts can't be read")
        for one in page["artifacts"]:
            run = one.get("workflow_run") or {}
            own = run.get("head_repository_id") == run.get("repository_id") is not None
            if (
                one.get("name") == name
                and not one.get("expired")
                and run.get("head_branch") == branch
                and own
            ):
                found.append(one)
    return sorted(found, key=lambda one: (str(one.get("created_at") or ""), int(one["id"])), reverse=True)


def _download(client: Client, repository: str, number: int) -> bytes:
    """Return the zip; the server sends us on to a store that must not see the token."""
    return client.get(f"/repos/{repository}/actions/artifacts/{number}/zip", most=MOST_BYTES).body
