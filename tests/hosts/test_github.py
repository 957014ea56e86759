"""GitHub Actions: what a job is told, what it tells, and which artifact may be a baseline."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from stand_in import API, PULL_REQUEST, STORE, GitHub, Reply, zipped

from gateline.errors import HostError
from gateline.hosts import find_host
from gateline.hosts._http import RefusedError
from gateline.hosts._token import find_token
from gateline.hosts.github import Job
from gateline.texts import load


def with_event(environment, **head):
    payload = json.loads(json.dumps(PULL_REQUEST))
    payload["pull_request"]["head"].update(head)
    Path(environment["GITHUB_EVENT_PATH"]).write_text(json.dumps(payload), encoding="utf-8")


def test_the_host_is_known_by_its_variables(environment):
    assert find_host(environment).name == "github"
    assert find_host({"GITHUB_STEP_SUMMARY": "x"}).name == "github"
    assert find_host({"GITLAB_CI": "true"}).name == "gitlab"
    assert find_host({"CI": "true"}) is None


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({}, "neither GATELINE_TOKEN nor GITHUB_TOKEN is set"),
        ({"GATELINE_TOKEN": ""}, "GATELINE_TOKEN is empty"),
        ({"GATELINE_TOKEN": "", "GITHUB_TOKEN": " "}, "GITHUB_TOKEN is empty"),
        ({"GITHUB_TOKEN": "$NOT_FILLED_IN"}, "GITHUB_TOKEN is empty"),
    ],
)
def test_a_token_that_is_not_there_is_told_by_the_variable(variables, named):
    with pytest.raises(HostError, match=named):
        find_token(variables, ("GATELINE_TOKEN", "GITHUB_TOKEN"))


def test_an_empty_variable_does_not_hide_the_host_s_own():
    assert (
        find_token({"GATELINE_TOKEN": "", "GITHUB_TOKEN": "abc"}, ("GATELINE_TOKEN", "GITHUB_TOKEN")).sent_as(
            "{}"
        )
        == "abc"
    )


def test_no_server_is_assumed(environment, github):
    del environment["GITHUB_API_URL"]
    with pytest.raises(HostError, match="GITHUB_API_URL is not set"):
        Job(environment, github).open_thread()
    assert github.log == []


@pytest.mark.parametrize("name", ["acme/rag/../../user", "acme", "", "a b/c", "acme/rag?x=1", "ämce/rag"])
def test_a_repository_that_is_no_name_is_refused(environment, github, name):
    with pytest.raises(HostError, match="owner/name"):
        Job({**environment, "GITHUB_REPOSITORY": name}, github).open_thread()


def test_an_enterprise_server_is_asked_under_its_own_path(environment):
    github = GitHub(base="https://ghe.example/api/v3")
    job = Job({**environment, "GITHUB_API_URL": "https://ghe.example/api/v3/"}, github)
    job.open_thread().add("body")
    assert github.log == [("POST", "/api/v3/repos/acme/rag-app/issues/7/comments")]


@pytest.mark.parametrize(
    ("variables", "whole"),
    [
        ({}, "[the job summary](https://github.example/acme/rag-app/actions/runs/4242) and `verdict.json`"),
        ({"GITHUB_SERVER_URL": "https://ghe.example/"},
         "[the job summary](https://ghe.example/acme/rag-app/actions/runs/4242) and `verdict.json`"),
        ({"GITHUB_SERVER_URL": "https://x.example) [click](http://y"}, "the job summary and `verdict.json`"),
        ({"GITHUB_RUN_ID": "1) ![](x"}, "the job summary and `verdict.json`"),
    ],
)  # fmt: skip
def test_links_lead_to_the_server_of_the_job(environment, variables, whole):
    assert Job({**environment, **variables}).whole(load()) == whole


def test_a_refused_comment_is_explained(environment):
    said = Job(environment).explain("POST answered 403", 403)
    assert "pull-requests: write" in said
    with_event(environment, repo={"full_name": "visitor/rag-app"})
    said = Job(environment).explain("POST answered 403", 403)
    assert "read-only" in said
    assert "job summary" in said
    assert "pull-requests" not in said
    assert "read-only" not in Job(environment).explain("POST answered 502", 502)


def test_the_summary_gets_the_room_that_is_left(environment):
    job = Job(environment)
    assert job.room_for_summary() == 1_048_576
    job.write_summary("x" * 1000)
    assert job.room_for_summary() == 1_048_576 - 1001
    assert Job({}).room_for_summary() is None


def test_outputs_are_lines_that_hold_one_value_each(environment):
    job = Job(environment)
    job.write_outputs({"verdict": "fail", "verdict-file": "a\nverdict=pass\r\nb/verdict.json"})
    job.write_outputs({"comment-posted": "true"})
    text = Path(environment["GITHUB_OUTPUT"]).read_text(encoding="utf-8")
    assert text == "verdict=fail\nverdict-file=a verdict=pass b/verdict.json\ncomment-posted=true\n"


def test_a_file_of_the_runner_that_cannot_be_written_is_told(environment, tmp_path):
    with pytest.raises(HostError, match="GITHUB_OUTPUT can't be written"):
        Job({**environment, "GITHUB_OUTPUT": str(tmp_path)}).write_outputs({"a": "b"})


def test_a_note_is_one_workflow_command():
    assert Job({}).warning("100 %\r\n::error::x") == "::notice title=gateline::100 %25%0D%0A::error::x"


# --- the base branch's file


def test_a_file_of_the_base_is_read_at_the_commit_before_the_change(environment, github):
    github.files[("b" * 40, "gates/r a&g.yml")] = b"version: 1\n"
    assert Job(environment, github).read_base_file("gates/r a&g.yml") == b"version: 1\n"
    assert Job(environment, github).read_base_file("gates/none.yml") is None
    assert Job({**environment, "GITHUB_EVENT_NAME": "push"}, github).read_base_file("x") is None


def test_a_file_that_may_not_be_read_is_not_taken_for_none(environment, github):
    github.when, github.trouble = "contents", [Reply(403, {}, b'{"message": "no"}')]
    with pytest.raises(RefusedError):
        Job(environment, github).read_base_file("gates/rag.yml")


# --- artifacts


def fetch(environment, github, name="results"):
    return Job(environment, github).fetch_artifact(name)


def test_the_newest_artifact_of_a_successful_run_on_the_base_branch_is_taken(environment, github):
    github.add_artifact("results", zipped(old="1"), day="2026-01-03")
    wanted = github.add_artifact("results", zipped(new="2"), day="2026-01-05")
    github.add_artifact("results", zipped(failed="3"), day="2026-01-06", conclusion="failure")
    github.add_artifact("results", zipped(running="4"), day="2026-01-07", conclusion=None)
    found = fetch(environment, github)
    assert found.content == github.zips[wanted]
    assert (found.branch, found.commit, found.made_on, found.run) == (
        "main",
        f"{wanted:040x}",
        "2026-01-05",
        wanted + 50_000,
    )


@pytest.mark.parametrize(
    "unfit",
    [
        {"fork": True},
        {"branch": "feature"},
        {"event": "pull_request"},
        {"event": "pull_request_target"},
        {"event": "workflow_run"},
        {"conclusion": "failure"},
        {"conclusion": "cancelled"},
    ],
)
def test_an_artifact_that_a_change_could_have_made_is_no_baseline(environment, github, unfit):
    github.add_artifact("results", zipped(a="1"), **unfit)
    assert fetch(environment, github) is None


def test_an_expired_artifact_and_one_of_another_name_are_none(environment, github):
    github.add_artifact("results", zipped(a="1"))
    github.artifacts[0]["expired"] = True
    github.add_artifact("results-old", zipped(a="1"))
    assert fetch(environment, github) is None


def test_artifacts_are_looked_for_on_all_pages_and_downloaded_once(environment, github):
    wanted = github.add_artifact("results", zipped(a="1"))
    for _ in range(130):
        github.add_artifact("results", zipped(a="2"), branch="other")
    job = Job(environment, github)
    assert (
        job.fetch_artifact("results").content == github.zips[wanted] == job.fetch_artifact("results").content
    )
    assert sum(path.endswith("/zip") for _, path in github.log) == 1


def test_the_store_of_artifacts_does_not_see_the_token(environment, github):
    github.add_artifact("results", zipped(a="1"))
    fetch(environment, github)
    assert any(re.fullmatch(r"/\d+", path) for _, path in github.log)
    assert github.tokens_seen_by == {API}
    assert STORE not in github.tokens_seen_by


@pytest.mark.parametrize("place", ["actions/artifacts$", "actions/runs", "/zip$"])
def test_not_knowing_is_not_having_none(environment, github, place):
    github.add_artifact("results", zipped(a="1"))
    github.when, github.trouble = place, [Reply(403, {}, b'{"message": "Resource not accessible"}')]
    with pytest.raises(HostError, match="actions: read"):
        fetch(environment, github)


def test_many_failed_runs_are_not_asked_for_without_end(environment, github):
    for _ in range(60):
        github.add_artifact("results", zipped(a="1"), conclusion="failure")
    with pytest.raises(HostError, match="none of the last 30 runs"):
        fetch(environment, github)
