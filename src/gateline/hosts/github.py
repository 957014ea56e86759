"""GitHub Actions: comment, step summary, step outputs, the base branch's files and artifacts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateline.errors import HostError
from gateline.hosts._github_event import Event, read_event
from gateline.hosts._revision import shown_commit, usable_revision

if TYPE_CHECKING:
    from gateline.hosts import Whose
    from gateline.hosts._artifact import Artifact
    from gateline.hosts._http import Client, Transport
    from gateline.hosts._sticky import Comment, Order
    from gateline.texts import Texts

TOKENS = ("GATELINE_TOKEN", "GITHUB_TOKEN")
API_VERSION = "2022-11-28"
_SUMMARY_BYTES = 1_048_576
_WORKFLOWS_OWN = "github-actions[bot]"


def here(environment: Mapping[str, str]) -> bool:
    """Return whether a GitHub runner started this job."""
    return environment.get("GITHUB_ACTIONS") == "true" or "GITHUB_STEP_SUMMARY" in environment


class Job:
    """A job of GitHub Actions."""

    name = "github"
    comment_limit = 65_536
    command_report = "annotations"
    reports: Mapping[str, str] = {}

    def __init__(self, environment: Mapping[str, str], transport: Transport | None = None):
        """Take the job's variables; `transport` takes the network's place."""
        self.environment = environment
        self._transport = transport
        self._fetched: dict[str, Artifact | None] = {}

    @cached_property
    def event(self) -> Event:
        """Return why the job runs. Raises HostError where that can't be read."""
        return read_event(self.environment)

    def whole(self, texts: Texts) -> str:
        """Return where the whole report is, as finished Markdown: a link on the server that the job names."""
        server, run = self.environment.get("GITHUB_SERVER_URL", ""), self.environment.get("GITHUB_RUN_ID", "")
        if self.event.workflow_run is not None:
            run = str(self.event.workflow_run.id)  # that run made the verdict and its summary
        if not re.fullmatch(r"https?://[\w.:\[\]-]+/?", server) or not run.isdecimal():
            return texts.say("whole.summary", summary=texts.say("whole.the-summary"), file="`verdict.json`")
        link = f"{server.rstrip('/')}/{self._repository}/actions/runs/{run}"
        summary = f"[{texts.say('whole.the-summary')}]({link})"
        return texts.say("whole.summary", summary=summary, file="`verdict.json`")

    @property
    def base_branch(self) -> str | None:
        """Return the branch that the change goes to, or the one that the job runs on."""
        return self.event.base_branch

    @cached_property
    def base_commit(self) -> str | None:
        """Return the commit of that branch before the change; None where the job is not about a change.

        Of a pull request it is the one that the job's own commit merges it into, where that can be found out. Raises
        HostError where the event names no commit or what can't be one.
        """
        event = self.event
        if event.base_commit is None and (event.pull_request is not None or event.name == "merge_group"):
            raise HostError(f"the event {event.name} does not name the commit before the change")
        named = usable_revision(event.base_commit)
        commit = self.environment.get("GITHUB_SHA")
        if event.pull_request is None or not (commit and event.head_commit):
            return named
        from gateline.hosts._github_merge import find_merged_into

        return usable_revision(find_merged_into(commit, event.head_commit, self._ask_repository)) or named

    def _ask_repository(self, path: str) -> Mapping[str, Any]:
        return self.client.read_object(f"/repos/{self._repository}/{path}")

    @property
    def judged_commit(self) -> str | None:
        """Return the pull request's newest commit; of the run that has ended, `describe_run` tells it."""
        return shown_commit(self.event.head_commit)

    @property
    def order(self) -> Order | None:
        """Return the run's id, which grows from run to run, and its attempt; of the run that made the verdict.

        https://docs.github.com/en/actions/reference/workflows-and-actions/variables
        """
        run, attempt = (
            self.environment.get("GITHUB_RUN_ID", ""),
            self.environment.get("GITHUB_RUN_ATTEMPT", "1"),
        )
        if self.event.workflow_run is not None:
            return self.event.workflow_run.id, self.event.workflow_run.attempt
        return (int(run), int(attempt)) if run.isdecimal() and attempt.isdecimal() else None

    @cached_property
    def client(self) -> Client:
        """Return the client of the API that the job names, with the job's token."""
        from gateline.hosts._http import Client
        from gateline.hosts._token import find_token

        if not self.environment.get("GITHUB_API_URL"):
            raise HostError("GITHUB_API_URL is not set, so it is not known which server to ask")
        secret = find_token(self.environment, TOKENS)
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": API_VERSION}
        token = ("Authorization: Bearer {}", secret)
        try:
            return Client(self.environment["GITHUB_API_URL"], headers, token, self._network())
        except HostError as error:
            raise HostError(error.headline, "GITHUB_API_URL") from None

    def _network(self) -> Transport:
        if self._transport is not None:
            return self._transport
        from gateline.hosts._network import Network

        return Network()

    @property
    def _repository(self) -> str:
        name = self.environment.get("GITHUB_REPOSITORY", "")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", name, re.ASCII):
            raise HostError("GITHUB_REPOSITORY does not name a repository as owner/name")
        return name

    def open_thread(self) -> Thread | None:
        """Return the comments under the pull request; None for other events. Raises HostError."""
        number = self.event.pull_request
        return None if number is None else Thread(self.client, self._repository, number)

    def open_thread_of_run(self) -> tuple[Thread, Whose] | None:
        """Return the comments under the pull request whose run has ended, and whose run it was.

        Everything comes from the event and the API, nothing from what the run left behind. Raises HostError.
        """
        run = self.event.workflow_run
        if run is None:
            thread = self.open_thread()
            return None if thread is None else (thread, lambda _: "")
        from gateline.hosts._github_run import describe_run, find_pull_request

        number = find_pull_request(self.client, self._repository, run)
        if number is None:
            return None
        return Thread(self.client, self._repository, number), partial(describe_run, self._repository, run)

    def explain(self, trouble: str, status: int | None) -> str:
        """Return why a comment could not be posted, and what to do about it."""
        where = "the report is in the job summary"
        if status in (401, 403, 404) and self.event.is_from_fork:
            return (
                "no comment: the token of a pull request from a fork is read-only, so "
                f"{where} (docs/forks.md shows how to have the comment as well): {trouble}"
            )
        if status in (401, 403, 404):
            return (
                "no comment: the token may not write it; give the job `permissions: pull-requests: write` "
                f"({where}): {trouble}"
            )
        return f"no comment, {where}: {trouble}"

    def room_for_summary(self) -> int | None:
        """Return how many bytes the step's summary still takes: GitHub drops one of more than 1 MiB as a whole."""
        path = self.environment.get("GITHUB_STEP_SUMMARY")
        if not path:
            return None
        try:
            return max(0, _SUMMARY_BYTES - Path(path).stat().st_size)
        except OSError:
            return _SUMMARY_BYTES

    def write_summary(self, text: str) -> None:
        """Add to the step's summary. Raises HostError."""
        self._append("GITHUB_STEP_SUMMARY", text)

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """Hand values to later steps, a line each: words, numbers and paths, no text from a file. Raises HostError."""
        self._append(
            "GITHUB_OUTPUT",
            "".join(f"{name}={' '.join(value.splitlines())}\n" for name, value in values.items()),
        )

    def _append(self, variable: str, text: str) -> None:
        path = self.environment.get(variable)
        if not path:
            return
        try:
            with Path(path).open("a", encoding="utf-8", errors="replace", newline="\n") as stream:
                stream.write(text if text.endswith("\n") else text + "\n")
        except OSError as error:
            raise HostError(f"{variable} can't be written: {error.strerror}") from None

    def warning(self, text: str) -> str:
        """Return a workflow command, which the run's page shows.

        https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
        """
        data = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        return f"::notice title=gateline::{data}"

    def read_base_file(self, path: str) -> bytes | None:
        """Return a file as it was before the change; None where it was not there. Raises HostError.

        https://docs.github.com/en/rest/repos/contents#get-repository-content
        """
        from gateline.hosts._absent import unless_absent
        from gateline.hosts._addresses import quoted

        commit = self.base_commit
        if commit is None:
            return None
        place = f"/repos/{self._repository}/contents/{quoted(path, kept='/')}"
        accept = "application/vnd.github.raw+json"
        reply = unless_absent(lambda: self.client.get(place, {"ref": commit}, accept=accept))
        return None if reply is None else reply.body

    def list_base_folder(self, path: str) -> list[str]:
        """Return the files in a folder as it was before the change; none where it was not there. Raises HostError.

        https://docs.github.com/en/rest/repos/contents#get-repository-content
        """
        from gateline.hosts._absent import unless_absent
        from gateline.hosts._addresses import quoted
        from gateline.hosts._entries import names_of_files

        folder = quoted(path.removeprefix("."), kept="/")
        place = f"/repos/{self._repository}/contents/{folder}".rstrip("/")
        query = {"ref": self.base_commit or ""}
        return unless_absent(lambda: names_of_files(self.client.read(place, query), "file")) or []

    def fetch_artifact(self, name: str) -> Artifact | None:
        """Return the newest artifact of this name that a successful run on the base branch left. Raises HostError."""
        from gateline.hosts._github_artifacts import fetch
        from gateline.hosts._http import RefusedError

        try:
            if name not in self._fetched:
                self._fetched[name] = fetch(self.client, self._repository, name, self.base_branch)
        except RefusedError as error:
            if error.status in (401, 403, 404):
                said = f"{error.headline}; the job needs `permissions: actions: read`"
                raise RefusedError(said, error.status) from None
            raise
        return self._fetched[name]


class Thread:
    """The comments under a pull request.

    https://docs.github.com/en/rest/issues/comments
    """

    def __init__(self, client: Client, repository: str, number: int):
        """Take the client, `owner/name`, and the pull request's number."""
        self._client = client
        self._issues = f"/repos/{repository}/issues"
        self._number = number

    def read(self) -> Sequence[Comment]:
        """Return all comments of all pages, oldest first."""
        from gateline.hosts._entries import number_in, objects_in, part_of
        from gateline.hosts._sticky import Comment

        found = []
        for page in self._client.pages(f"{self._issues}/{self._number}/comments", {}):
            for one in objects_in(page, "comments"):
                user = part_of(one, "user")  # null for a deleted account
                body = str(one.get("body") or "")
                is_bot = user.get("type") == "Bot"
                found.append(Comment(number_in(one, "id", "comments"), str(user.get("login")), body, is_bot))
        return found

    def find_own(self, marked: Sequence[Comment]) -> Sequence[Comment]:
        """Return the comments that this token's user wrote.

        The token of a workflow, or of an app, may not ask who it is: then it is a program, and only what a program
        wrote can be its own. Of other programs than the workflows' own that is not sure.
        """
        if self._me is not None:
            return [comment for comment in marked if comment.author.lower() == self._me.lower()]
        by_programs = [comment for comment in marked if comment.is_by_program]
        of_workflows = [one for one in by_programs if one.author == _WORKFLOWS_OWN]
        return of_workflows or [replace(one, may_be_others=True) for one in by_programs]

    @cached_property
    def _me(self) -> str | None:
        """Return the login of the token's user; None for the token of an app, which has no user."""
        from gateline.hosts._http import RefusedError

        try:
            login = self._client.read_object("/user").get("login")
        except RefusedError as error:
            if error.status in (401, 403, 404):
                return None
            raise
        return login if isinstance(login, str) and login else None

    def add(self, body: str) -> None:
        """Write a comment."""
        self._client.write("POST", f"{self._issues}/{self._number}/comments", {"body": body})

    def change(self, comment: Comment, body: str) -> None:
        """Give a comment another text."""
        self._client.write("PATCH", f"{self._issues}/comments/{comment.id}", {"body": body})

    def remove(self, comment: Comment) -> None:
        """Take a comment away."""
        self._client.write("DELETE", f"{self._issues}/comments/{comment.id}")
