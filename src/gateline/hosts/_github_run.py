"""From a workflow run that has ended to the open pull request that it ran for.

What the run left behind is not asked: a fork could name any pull request there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gateline.errors import HostError
from gateline.hosts._github_event import WorkflowRun
from gateline.hosts._revision import shown_commit

if TYPE_CHECKING:
    from gateline.hosts._http import Client
    from gateline.texts import Texts

_HARMLESS = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def find_pull_request(client: Client, repository: str, run: WorkflowRun) -> int | None:
    """Return the number of the open pull request whose newest commit the run was for; None where it was for none.

    GitHub leaves `pull_requests` of the event empty for forks, so the head is looked up.
    https://docs.github.com/en/rest/pulls/pulls#list-pull-requests
    Raises HostError where there is none any more, or more than one.
    """
    from gateline.hosts._entries import number_in, objects_in

    if run.event not in ("pull_request", "pull_request_target"):
        return None
    owner = run.head_repository.partition("/")[0]
    query = {"state": "open", "head": f"{owner}:{run.head_branch}"}
    numbers = []
    for page in client.pages(f"/repos/{repository}/pulls", query):
        some = objects_in(page, "pull requests")
        numbers += [number_in(one, "number", "pull requests") for one in some if _is_of(one, run)]
    if len(numbers) == 1:
        return numbers[0]
    where = f"commit {run.head_commit[:12]} of {owner}:{run.head_branch}"
    if not numbers:
        raise HostError(f"no open pull request has {where} as its newest: it has moved on, or is closed")
    raise HostError(f"{len(numbers)} open pull requests have {where}; it can't be told which one is meant")


def describe_run(repository: str, run: WorkflowRun, texts: Texts) -> str:
    """Return whose run it was, as finished Markdown in a language."""
    commit = shown_commit(run.head_commit) or f"`{texts.say('run.unknown-commit')}`"
    if run.head_repository.lower() == repository.lower():
        return texts.say("run.of-repository", commit=commit)
    harmless = _HARMLESS.fullmatch(run.head_repository)
    whose = f"`{run.head_repository}`" if harmless else texts.say("run.a-fork")
    return texts.say(
        "run.of-fork", stress=f"**{texts.say('run.of-fork-stress')}**", whose=whose, commit=commit
    )


def _is_of(pull_request: Mapping[str, Any], run: WorkflowRun) -> bool:
    from gateline.hosts._entries import part_of

    head = part_of(pull_request, "head")
    name = str(part_of(head, "repo").get("full_name") or "")
    return head.get("sha") == run.head_commit and name.lower() == run.head_repository.lower()
