"""A comment says at its foot for which commit it was made, and only where the host names one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checkout import BLOCKED, FINE
from stand_in import PULL_REQUEST
from test_ci_job import job  # noqa: F401  (job is a fixture)
from test_publish import made, publish  # noqa: F401  (fixtures)

from gateline.hosts import github as github_host
from gateline.hosts import gitlab as gitlab_host

CAME = "<sub>For commit `aaaaaaaaaaaa`.</sub>"


def tell(environment, head):
    payload = json.loads(json.dumps(PULL_REQUEST))
    payload["pull_request"]["head"]["sha"] = head
    Path(environment["GITHUB_EVENT_PATH"]).write_text(json.dumps(payload))


@pytest.mark.parametrize("policy", [BLOCKED, FINE, "gates/none.yml"])
@pytest.mark.parametrize(("language", "line"), [("en", CAME), ("zh", "<sub>对应提交 `aaaaaaaaaaaa`。</sub>")])
def test_the_last_line_names_the_commit_in_long_and_short_comments(
    job, github, environment, policy, language, line  # noqa: F811
):  # fmt: skip
    job(policy, GATELINE_LANG=language)
    (body,) = github.bodies()
    assert body.endswith(f"\n\n{line}\n")
    tell(environment, "e" * 40)
    job(policy, GATELINE_LANG=language)
    (later,) = github.bodies()
    assert later == body.replace("a" * 12, "e" * 12)


def test_an_older_run_leaves_the_newer_commit_in_the_comment(job, github, environment, capsys):  # noqa: F811
    tell(environment, "e" * 40)
    job(FINE, GITHUB_RUN_ID="4243")
    tell(environment, "a" * 40)
    job(FINE, GITHUB_RUN_ID="4242")
    (body,) = github.bodies()
    assert "`eeeeeeeeeeee`" in body
    assert "a newer run has already commented" in capsys.readouterr().err


@pytest.mark.parametrize("head", ["", "main", "A" * 40, "a" * 39, "a" * 40 + "\n", "`x`</sub>", 7, None])
def test_what_is_no_commit_is_not_shown(job, github, environment, head):  # noqa: F811
    tell(environment, head)
    job(FINE)
    (body,) = github.bodies()
    assert "For commit" not in body


def test_a_posted_verdict_of_another_run_names_its_commit_once(publish, github, made):  # noqa: F811
    publish(made[BLOCKED])
    (body,) = github.bodies()
    assert body.count("commit `") == 1
    publish(made[BLOCKED], PULL_REQUEST, event="pull_request")
    (body,) = github.bodies()
    assert body.count("commit `") == 1
    assert CAME in body


@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({"CI_COMMIT_SHA": "a" * 40}, "`aaaaaaaaaaaa`"),
        ({"CI_COMMIT_SHA": "d" * 40, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "a" * 40}, "`aaaaaaaaaaaa`"),
        ({"CI_COMMIT_SHA": "d" * 40, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": ""}, "`dddddddddddd`"),
        ({"CI_COMMIT_SHA": "a" * 40, "CI_MERGE_REQUEST_IID": ""}, None),
        ({}, None),
    ],
)
def test_a_merge_request_s_own_commit_counts_and_not_the_merged_one(variables, shown):
    assert gitlab_host.Job({"CI_MERGE_REQUEST_IID": "3", **variables}).judged_commit == shown


def test_a_push_is_about_no_change(environment):
    pushed = github_host.Job({**environment, "GITHUB_EVENT_NAME": "push", "GITHUB_SHA": "a" * 40})
    assert pushed.judged_commit is None
