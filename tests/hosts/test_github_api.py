"""Requests and answers against GitHub's own description of its API: always by us, by prism where it is installed."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import parse_qsl, unquote, urlsplit

import jsonschema
import pytest
from prism import SLICE, prism_program, validating
from stand_in import API, GitHub, serving, zipped

from gateline.errors import HostError
from gateline.hosts._github_event import WorkflowRun
from gateline.hosts._github_run import find_pull_request
from gateline.hosts._sticky import Wish, keep_comment
from gateline.hosts.github import Job

DESCRIPTION = json.loads(SLICE.read_text(encoding="utf-8"))
MARKER = "<!-- gateline: rag -->"

__all__ = ["prism_program"]


def find(reference):
    place = DESCRIPTION
    for part in reference.removeprefix("#/").split("/"):
        place = place[part]
    return place


def resolved(value):
    return find(value["$ref"]) if "$ref" in value else value


def schema_of(value):
    """Return OpenAPI 3.0's schema as JSON Schema: there `nullable` is a word of its own."""

    def turn(part):
        if isinstance(part, list):
            return [turn(item) for item in part]
        if not isinstance(part, dict):
            return part
        turned = {key: turn(item) for key, item in part.items() if key != "nullable"}
        if part.get("nullable") is True:
            return {"anyOf": [turned, {"type": "null"}]}
        return turned

    return {**turn(value), "components": turn(DESCRIPTION["components"])}


class Checked:
    """A transport that holds what goes through it against the description; other hosts are left out."""

    def __init__(self, github, base=API):
        self.github, self.base, self.seen = github, base, []

    def __call__(self, request):
        if not request.url.startswith(self.base):
            return self.github(request)
        parts = urlsplit(request.url.removeprefix(self.base))
        path, values = next(
            (path, found.groupdict())
            for path in DESCRIPTION["paths"]
            if (
                found := re.fullmatch(
                    re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path).replace("(?P<path>[^/]+)", "(?P<path>.+)"),
                    parts.path,
                )
            )
        )
        call = DESCRIPTION["paths"][path][request.method.lower()]
        self.seen.append(call["operationId"])
        known = {one["name"]: one for one in map(resolved, call["parameters"])}
        for name, value in {
            **dict(parse_qsl(parts.query)),
            **{key: unquote(one) for key, one in values.items()},
        }.items():
            wanted = known[name]["schema"]
            given = int(value) if wanted.get("type") == "integer" else value
            jsonschema.validate(given, schema_of(wanted))
        if request.body is not None:
            jsonschema.validate(
                json.loads(request.body),
                schema_of(call["requestBody"]["content"]["application/json"]["schema"]),
            )
        else:
            assert "requestBody" not in call
        reply = self.github(request)
        answer = resolved(call["responses"].get(str(reply.status)) or {"content": {}})
        for kind, content in answer.get("content", {}).items():
            if kind == "application/json" and "contents" not in path:  # a file's bytes are asked for as such
                jsonschema.validate(json.loads(reply.body), schema_of(content["schema"]))
        return reply


def go_through_all_calls(job):
    """Do all that a job asks GitHub for."""
    thread = job.open_thread()
    for text, fine in (("one", False), ("two", False), ("three", True)):
        keep_comment(thread, Wish(f"{MARKER}\n{text} ä`€\n", is_fine=fine, remove_when_fine=fine))
    keep_comment(thread, Wish(f"{MARKER}\nlast\n", is_fine=False))


@pytest.mark.parametrize("me", [None, "owner"])
def test_every_call_and_every_answer_of_the_stand_in_is_as_github_describes_them(environment, github, me):
    github.me = me
    for number in range(130):
        github.add_comment(f"remark {number}", "reviewer", "User")
    github.add_artifact("results", zipped(a="1"))
    github.files[("b" * 40, "gates/rag.yml")] = b"version: 1\n"
    github.parents["d" * 40] = ["b" * 40, "a" * 40]
    checked = Checked(github)
    job = Job({**environment, "GITHUB_SHA": "d" * 40}, checked)
    go_through_all_calls(job)
    assert job.base_commit == "b" * 40
    assert job.fetch_artifact("results") is not None
    assert job.read_base_file("gates/rag.yml") == b"version: 1\n"
    github.add_pull(7, "c" * 40, "visitor/rag-app", "main")
    run = WorkflowRun(1, "pull_request", "c" * 40, "main", "visitor/rag-app", ())
    assert find_pull_request(job.client, "acme/rag-app", run) == 7
    assert set(checked.seen) == {
        call["operationId"] for path in DESCRIPTION["paths"].values() for call in path.values()
    }
    assert github.bodies()[130:] == [f"{MARKER}\nlast\n"]


def test_the_check_finds_what_is_wrong(environment, github):
    job = Job(environment, Checked(github))
    with pytest.raises(jsonschema.ValidationError, match="'body' is a required property"):
        job.client.write("POST", "/repos/acme/rag-app/issues/7/comments", {"bodyy": "x"})
    github.add_comment("x")
    del github.comments[0]["created_at"]
    with pytest.raises(jsonschema.ValidationError, match="'created_at' is a required property"):
        job.open_thread().read()


# --- prism, GitHub's description at work between the client and the stand-in


@pytest.fixture
def prism(prism_program, tmp_path):
    github = GitHub()
    with serving(github) as upstream, validating(prism_program, github, upstream, tmp_path / "prism.log"):
        yield github


def test_prism_finds_nothing_wrong_with_requests_and_answers(prism, environment, monkeypatch):
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for number in range(30):
        prism.add_comment(f"remark {number}", "reviewer", "User")
    prism.files[("b" * 40, "gates/rag.yml")] = b"version: 1\n"
    prism.add_pull(7, "c" * 40, "visitor/rag-app", "main")
    job = Job({**environment, "GITHUB_API_URL": prism.base})
    go_through_all_calls(job)
    assert prism.bodies()[30:] == [f"{MARKER}\nlast\n"]
    # the download of an artifact is left to the check above: prism follows its redirect itself, as no proxy should
    assert job.read_base_file("gates/rag.yml") == b"version: 1\n"
    assert job.read_base_file("gates/none.yml") is None
    run = WorkflowRun(1, "pull_request", "c" * 40, "main", "visitor/rag-app", ())
    assert find_pull_request(job.client, "acme/rag-app", run) == 7
    with pytest.raises(HostError, match="answered 422"):
        job.client.write("POST", "/repos/acme/rag-app/issues/7/comments", {"bodyy": "x"})
