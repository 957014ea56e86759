"""GitLab CI: notes of a merge request, which token is needed, files and artifacts of the target branch."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from stand_in import zipped

from gateline.errors import HostError
from gateline.hosts import find_host
from gateline.hosts._http import Reply
from gateline.hosts._sticky import Wish, keep_comment
from gateline.hosts.gitlab import Job

MARKER = "<!-- gateline: rag -->"
ENVIRONMENT = {
    "GITLAB_CI": "true", "CI_API_V4_URL": "https://git.example/sub/api/v4", "CI_PROJECT_ID": "77",
    "CI_MERGE_REQUEST_IID": "5", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release/2",
    "CI_JOB_TOKEN": "job-token-0123456789",
    "CI_MERGE_REQUEST_DIFF_BASE_SHA": "b" * 40, "GITLAB_TOKEN": "glpat-0123456789",
}  # fmt: skip


class GitLab:
    """A GitLab that remembers the notes of one merge request."""

    def __init__(self, me="project_77_bot"):
        self.me, self.notes, self.log, self.headers, self.files, self.zip = me, [], [], [], {}, None

    def note(self, body, author, **more):
        self.notes.append(
            {"id": len(self.notes) + 1, "body": body, "author": {"username": author}, "system": False, **more}
        )
        return self.notes[-1]

    def __call__(self, request):
        parts, query = urlsplit(request.url), dict(parse_qsl(urlsplit(request.url).query))
        path = parts.path.removeprefix("/sub/api/v4")
        self.log.append((request.method, path))
        self.headers.append(request.headers)
        data = json.loads(request.body or b"{}")
        notes = "/projects/77/merge_requests/5/notes"
        if path == "/user":
            return reply(200, {"username": self.me}) if self.me else reply(403, {"message": "403 Forbidden"})
        if path == notes and request.method == "GET":
            assert (query["sort"], query["order_by"]) == ("asc", "created_at")
            each, page = (
                min(int(query["per_page"]), 20),
                int(query["page"]),
            )  # a server may give fewer than asked for
            more = page * each < len(self.notes)
            return reply(
                200,
                self.notes[(page - 1) * each : page * each],
                {"x-next-page": str(page + 1) if more else ""},
            )
        if path == notes:
            return reply(201, self.note(data["body"], self.me or "a bot"))
        if found := re.fullmatch(rf"{notes}/(\d+)", path):
            held = self.notes[int(found[1]) - 1]
            if held["author"]["username"] != (self.me or "a bot"):
                return reply(403, {"message": "403 Forbidden"})
            held["body"] = data["body"]
            return reply(200, held)
        if found := re.fullmatch(r"/projects/77/repository/files/([^/]+)/raw", path):
            content = self.files.get((query["ref"], unquote(found[1])))
            return Reply(200, {}, content) if content else reply(404, {"message": "404 File Not Found"})
        if found := re.fullmatch(r"/projects/77/jobs/artifacts/([^/]+)/download", path):
            assert (unquote(found[1]), query) == ("release/2", {"job": "evaluate"})
            return Reply(200, {}, self.zip) if self.zip else reply(404, {"message": "404 Not Found"})
        return reply(404, {"message": "404 Project Not Found"})


def reply(status, value, headers=None):
    return Reply(status, headers or {}, json.dumps(value).encode())


def keep(gitlab, text, **environment):
    thread = Job({**ENVIRONMENT, **environment}, gitlab).open_thread()
    return keep_comment(thread, Wish(f"{MARKER}\n{text}\n", is_fine=False))


@pytest.fixture
def gitlab(waits):
    return GitLab()


def test_one_note_is_kept_up_to_date(gitlab):
    assert [keep(gitlab, text) for text in ("one", "two", "two")] == ["added", "changed", "unchanged"]
    assert [note["body"] for note in gitlab.notes] == [f"{MARKER}\ntwo\n"]
    assert {method for method, _ in gitlab.log} == {"GET", "POST", "PUT"}


@pytest.mark.parametrize("before", [0, 19, 20, 45])
def test_it_is_found_on_every_page_though_the_server_gives_twenty_at_a_time(gitlab, before):
    for number in range(before):
        gitlab.note(f"remark {number}", "reviewer")
    own = gitlab.note(f"{MARKER}\nold", "project_77_bot")
    assert keep(gitlab, "new") == "changed"
    assert own["body"] == f"{MARKER}\nnew\n"


def test_a_note_of_an_earlier_bot_is_left_alone_and_the_new_one_is_found_later(gitlab):
    gitlab.note(f"{MARKER}\nold", "project_77_bot_expired")
    gitlab.note(f"{MARKER}\na system's", "project_77_bot", system=True)
    assert [keep(gitlab, text) for text in ("one", "two", "three")] == ["added", "changed", "changed"]
    assert [note["body"] for note in gitlab.notes] == [
        f"{MARKER}\nold",
        f"{MARKER}\na system's",
        f"{MARKER}\nthree\n",
    ]


def test_a_token_that_may_not_ask_who_it_is_keeps_to_one_note_all_the_same(gitlab):
    gitlab.me = None
    gitlab.note(f"{MARKER}\nof somebody else", "another bot")
    assert [keep(gitlab, text) for text in ("one", "two", "three")] == ["added", "changed", "changed"]
    assert len(gitlab.notes) == 2


def test_the_access_token_goes_in_its_own_header_and_the_job_s_is_not_sent(gitlab):
    keep(gitlab, "one")
    assert all(headers["PRIVATE-TOKEN"] == "glpat-0123456789" for headers in gitlab.headers)
    assert not any("JOB-TOKEN" in headers for headers in gitlab.headers)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"GITLAB_TOKEN": ""}, "GITLAB_TOKEN is empty"),
        ({"GITLAB_TOKEN": "$GITLAB_TOKEN"}, "GITLAB_TOKEN is empty"),
        ({"GITLAB_TOKEN": "", "GATELINE_TOKEN": ""}, "GITLAB_TOKEN is empty"),
    ],
)
def test_a_token_that_is_not_there_is_told_with_what_is_needed_and_nobody_is_asked(gitlab, variables, named):
    with pytest.raises(HostError, match=f"{named}.*project or group access token.*`api`.*CI_JOB_TOKEN can't"):
        keep(gitlab, "one", **variables)
    assert gitlab.log == []


def test_a_refusal_says_what_is_needed():
    said = Job(ENVIRONMENT).explain("POST answered 401: 401 Unauthorized", 401)
    assert "401 Unauthorized" in said
    assert "access token" in said
    assert "access token" not in Job(ENVIRONMENT).explain("POST answered 400: is too long", 400)


def test_a_pipeline_without_a_merge_request_has_no_thread(gitlab):
    job = Job({**ENVIRONMENT, "CI_MERGE_REQUEST_IID": ""}, gitlab)
    assert (job.open_thread(), job.open_thread_of_run()) == (None, None)
    assert find_host({"GITLAB_CI": "true"}).base_branch is None


@pytest.mark.parametrize("variable", ["CI_MERGE_REQUEST_IID", "CI_PROJECT_ID"])
def test_a_number_that_is_none_is_refused(gitlab, variable):
    with pytest.raises(HostError, match=f"{variable} is not a number"):
        keep(gitlab, "one", **{variable: "5/../../users"})


def test_a_file_of_the_target_branch(gitlab):
    gitlab.files[("b" * 40, "gates/rag.yml")] = b"version: 1\n"
    job = Job(ENVIRONMENT, gitlab)
    assert (job.read_base_file("gates/rag.yml"), job.read_base_file("gates/none.yml")) == (
        b"version: 1\n",
        None,
    )
    with pytest.raises(HostError, match="404 Project Not Found"):
        Job({**ENVIRONMENT, "CI_PROJECT_ID": "78"}, gitlab).read_base_file("gates/rag.yml")


@pytest.mark.parametrize(("newest", "commit"), [("", "b" * 40), ("c" * 40, "c" * 40)])
def test_a_merged_result_is_held_against_the_commit_it_was_merged_into(gitlab, newest, commit):
    """What others changed on the target branch meanwhile would count as this change's."""
    gitlab.files |= {("b" * 40, "gates/rag.yml"): b"before", ("c" * 40, "gates/rag.yml"): b"meanwhile"}
    job = Job({**ENVIRONMENT, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": newest}, gitlab)
    assert job.base_commit == commit
    assert job.read_base_file("gates/rag.yml") == gitlab.files[(commit, "gates/rag.yml")]


@pytest.mark.parametrize("token", ["GITLAB_TOKEN", "CI_JOB_TOKEN"])
def test_artifacts_of_a_job_on_the_target_branch(gitlab, token):
    gitlab.zip = zipped(a="1")
    environment = {name: value for name, value in ENVIRONMENT.items() if "TOKEN" not in name or name == token}
    found = Job(environment, gitlab).fetch_artifact("evaluate")
    assert (found.content, found.branch) == (gitlab.zip, "release/2")
    header = {"GITLAB_TOKEN": "PRIVATE-TOKEN", "CI_JOB_TOKEN": "JOB-TOKEN"}[token]
    assert gitlab.headers[-1][header] == ENVIRONMENT[token]


def test_no_artifact_yet_is_none_and_a_hidden_project_is_not_known(gitlab):
    assert Job(ENVIRONMENT, gitlab).fetch_artifact("evaluate") is None
    with pytest.raises(HostError, match="Project Not Found"):
        Job({**ENVIRONMENT, "CI_PROJECT_ID": "78"}, gitlab).fetch_artifact("evaluate")


def test_a_pipeline_and_a_job_that_is_run_again_have_their_order():
    order = Job({**ENVIRONMENT, "CI_PIPELINE_ID": "700", "CI_JOB_ID": "9001"}, None).order
    assert order == (700, 9001)
    assert Job(ENVIRONMENT, None).order is None


@pytest.mark.parametrize(("me", "done"), [("project_77_bot", "outdated"), (None, "changed")])
def test_a_newer_pipeline_s_note_stays_where_it_is_surely_ours(gitlab, me, done):
    """A token that may not ask who it is could be kept from writing by anybody's forged note."""
    gitlab.me = me
    gitlab.note(f"{MARKER}\n<!-- gateline run: 701.1 -->\nnewer", me or "a bot")
    thread = Job(ENVIRONMENT, gitlab).open_thread()
    assert keep_comment(thread, Wish(f"{MARKER}\nolder\n", is_fine=False, order=(700, 5))) == done
