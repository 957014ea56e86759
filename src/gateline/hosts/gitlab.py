"""GitLab CI: note under the merge request, code quality report, the target branch's files and artifacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gateline.errors import HostError
from gateline.hosts._revision import shown_commit, usable_revision

if TYPE_CHECKING:
    from gateline.hosts import Whose
    from gateline.hosts._artifact import Artifact
    from gateline.hosts._http import Client, Transport
    from gateline.hosts._sticky import Comment, Order
    from gateline.texts import Texts

TOKENS = ("GATELINE_TOKEN", "GITLAB_TOKEN")
_NEEDED = (
    "a note needs a project or group access token with the scope `api` in GITLAB_TOKEN; "
    "CI_JOB_TOKEN can't write notes (the report is in the job's artifacts and in the test report)"
)


def here(environment: Mapping[str, str]) -> bool:
    """Return whether a GitLab runner started this job."""
    return bool(environment.get("GITLAB_CI"))


class Job:
    """A job of GitLab CI."""

    name = "gitlab"
    comment_limit = 1_000_000
    command_report = None
    reports: Mapping[str, str] = {"gl-code-quality-report.json": "codequality"}

    def __init__(self, environment: Mapping[str, str], transport: Transport | None = None):
        """Take the job's variables; `transport` takes the network's place."""
        self.environment = environment
        self._transport = transport
        self._fetched: dict[str, Artifact | None] = {}

    def whole(self, texts: Texts) -> str:
        """Return where the whole report is, as finished Markdown."""
        return texts.say("whole.files", file="`verdict.json`")

    @property
    def base_branch(self) -> str | None:
        """Return the branch that the change goes to, or the one that the job runs on."""
        for variable in ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_COMMIT_BRANCH", "CI_DEFAULT_BRANCH"):
            if self.environment.get(variable):
                return self.environment[variable]
        return None

    @property
    def base_commit(self) -> str | None:
        """Return the commit of the target branch that the change started from, or the branch's name.

        None where the job is not about a merge request. A merged results pipeline runs on the change merged into the
        branch's newest commit, and only there is that commit named: what others changed meanwhile is none of the
        change's. Raises HostError where that can't be one.
        """
        return usable_revision(
            self.environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA")
            or self.environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA")
            or self.environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
        )

    @property
    def judged_commit(self) -> str | None:
        """Return the merge request's newest commit; the job's own is another one in a merged results pipeline."""
        if not self.environment.get("CI_MERGE_REQUEST_IID"):
            return None
        own = self.environment.get("CI_COMMIT_SHA")
        return shown_commit(self.environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or own)

    @property
    def order(self) -> Order | None:
        """Return the pipeline's id and the job's: both grow, and a job that is run again has a new one.

        https://docs.gitlab.com/ci/variables/predefined_variables/
        """
        pipeline, job = self.environment.get("CI_PIPELINE_ID", ""), self.environment.get("CI_JOB_ID", "0")
        return (int(pipeline), int(job)) if pipeline.isdecimal() and job.isdecimal() else None

    @cached_property
    def client(self) -> Client:
        """Return the client with an access token. Raises HostError that says which token is needed."""
        from gateline.hosts._token import find_token

        try:
            secret = find_token(self.environment, TOKENS)
        except HostError as error:
            raise HostError(f"{error.headline}; {_NEEDED}") from None
        return self._client_with(("PRIVATE-TOKEN: {}", secret))

    @cached_property
    def reading_client(self) -> Client:
        """Return a client for what the job's own token may read: an access token where there is one."""
        from gateline.hosts._http import Secret
        from gateline.hosts._token import find_token

        try:
            return self._client_with(("PRIVATE-TOKEN: {}", find_token(self.environment, TOKENS)))
        except HostError:
            own = self.environment.get("CI_JOB_TOKEN")
            return self._client_with(("JOB-TOKEN: {}", Secret(own)) if own else None)

    def _client_with(self, token: Any) -> Client:
        from gateline.hosts._http import Client

        base = self.environment.get("CI_API_V4_URL")
        if not base:
            raise HostError("CI_API_V4_URL is not set, so it is not known which server to ask")
        transport = self._transport
        if transport is None:
            from gateline.hosts._network import Network

            transport = Network(self.environment.get("CI_SERVER_TLS_CA_FILE") or None)
        try:
            return Client(base, {"Accept": "application/json"}, token, transport)
        except HostError as error:
            raise HostError(error.headline, "CI_API_V4_URL") from None

    @property
    def _project(self) -> str:
        number = self.environment.get("CI_PROJECT_ID", "")
        if not number.isdecimal():
            raise HostError("CI_PROJECT_ID is not a number")
        return f"/projects/{number}"

    def open_thread(self) -> Thread | None:
        """Return the notes of the merge request; None for a pipeline without one. Raises HostError."""
        number = self.environment.get("CI_MERGE_REQUEST_IID")
        if not number:
            return None
        if not number.isdecimal():
            raise HostError("CI_MERGE_REQUEST_IID is not a number")
        return Thread(self.client, f"{self._project}/merge_requests/{number}/notes")

    def open_thread_of_run(self) -> tuple[Thread, Whose] | None:
        """Return the notes of this pipeline's merge request: an earlier job of it made the verdict."""
        thread = self.open_thread()
        return None if thread is None else (thread, lambda _: "")

    def explain(self, trouble: str, status: int | None) -> str:
        """Return why a note could not be posted, and what to do about it."""
        if status in (401, 403, 404):
            return f"no note: {trouble}; {_NEEDED}"
        return f"no note: {trouble}"

    def room_for_summary(self) -> int | None:
        """Return None: GitLab has no summary of a job."""
        return None

    def write_summary(self, text: str) -> None:
        """Do nothing: GitLab has no summary of a job."""

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """Do nothing: later jobs read verdict.json."""

    def warning(self, text: str) -> str:
        """Return the line of the job's log."""
        return f"gateline: {text}"

    def read_base_file(self, path: str) -> bytes | None:
        """Return a file as it was before the change; None where it was not there. Raises HostError.

        https://docs.gitlab.com/api/repository_files/#get-raw-file-from-repository
        """
        from gateline.hosts._absent import unless_absent
        from gateline.hosts._addresses import quoted

        commit = self.base_commit
        if commit is None:
            return None
        place = f"{self._project}/repository/files/{quoted(path)}/raw"
        # any other 404 is a project that this token can't see
        reply = unless_absent(lambda: self.client.get(place, {"ref": commit}, accept="*/*"), "file not found")
        return None if reply is None else reply.body

    def list_base_folder(self, path: str) -> list[str]:
        """Return the files in a folder as it was before the change; none where it was not there. Raises HostError.

        https://docs.gitlab.com/api/repositories/#list-repository-tree
        """
        from gateline.hosts._absent import unless_absent
        from gateline.hosts._entries import names_of_files

        query = {"path": path.removeprefix("."), "ref": self.base_commit or ""}
        place = f"{self._project}/repository/tree"
        pages = unless_absent(lambda: list(self.client.pages(place, query)), "tree not found")
        return [name for page in pages or [] for name in names_of_files(page, "blob")]

    def fetch_artifact(self, name: str) -> Artifact | None:
        """Return the files of the job of this name in the last successful pipeline of the target branch.

        https://docs.gitlab.com/api/job_artifacts/#download-job-artifacts-by-reference-name
        """
        if name not in self._fetched:
            self._fetched[name] = self._download(name)
        return self._fetched[name]

    def _download(self, name: str) -> Artifact | None:
        from gateline.hosts._addresses import quoted
        from gateline.hosts._artifact import MOST_BYTES, Artifact
        from gateline.hosts._http import RefusedError

        branch = self.base_branch
        if branch is None:
            raise HostError("it is not known on which branch to look for artifacts")
        path = f"{self._project}/jobs/artifacts/{quoted(branch)}/download"
        try:
            reply = self.reading_client.get(path, {"job": name}, accept="*/*", most=MOST_BYTES)
        except RefusedError as error:
            if error.status == 404 and "project not found" not in error.headline.lower():
                return None
            raise
        return Artifact(name, reply.body, branch)


class Thread:
    """The notes of a merge request.

    https://docs.gitlab.com/api/notes/#merge-requests
    """

    def __init__(self, client: Client, path: str):
        """Take the client and the path of the notes."""
        self._client = client
        self._path = path

    def read(self) -> Sequence[Comment]:
        """Return all notes that are not the system's, of all pages, oldest first."""
        from gateline.hosts._entries import number_in, objects_in, part_of
        from gateline.hosts._sticky import Comment

        found = []
        for page in self._client.pages(self._path, {"sort": "asc", "order_by": "created_at"}):
            for one in objects_in(page, "notes"):
                if not one.get("system"):
                    author = str(part_of(one, "author").get("username"))
                    found.append(Comment(number_in(one, "id", "notes"), author, str(one.get("body") or "")))
        return found

    def find_own(self, marked: Sequence[Comment]) -> Sequence[Comment]:
        """Return the notes that this token's user wrote.

        Where the token may not ask who it is, the newest is tried: GitLab itself refuses to change another user's note.
        """
        if self._me is None:
            return [replace(note, may_be_others=True) for note in marked[-1:]]
        return [note for note in marked if note.author == self._me]

    @cached_property
    def _me(self) -> str | None:
        """Return the name of the token's user; None where it may not ask."""
        from gateline.hosts._http import RefusedError

        try:
            name = self._client.read_object("/user").get("username")
        except RefusedError as error:
            if error.status in (401, 403, 404):
                return None
            raise
        return str(name)

    def add(self, body: str) -> None:
        """Write a note."""
        self._client.write("POST", self._path, {"body": body})

    def change(self, comment: Comment, body: str) -> None:
        """Give a note another text."""
        self._client.write("PUT", f"{self._path}/{comment.id}", {"body": body})

    def remove(self, comment: Comment) -> None:
        """Take a note away."""
        self._client.write("DELETE", f"{self._path}/{comment.id}")
