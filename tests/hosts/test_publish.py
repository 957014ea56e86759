"""`gateline publish`: a verdict from a fork's run is checked, labelled, and posted where the event says only."""

from __future__ import annotations

import copy
import itertools
import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stand_in import PULL_REQUEST, REPOSITORY, TOKEN, serving

from gateline.cli import run
from gateline.errors import InputError
from gateline.verdict import Verdict
from gateline.verdict_file import read_verdict

ROOT = Path(__file__).parents[2]
COMMIT = "c" * 40


def make_verdict(folder, policy):
    shutil.copytree(ROOT / "gates", folder / "gates", dirs_exist_ok=True)
    results = folder / "gates" / "data" / "refchecker"
    before = Path.cwd()
    os.chdir(folder)
    try:
        run(["check", "--policy", policy, "--baseline", f"{results}/baseline.jsonl", "--candidate",
             f"{results}/candidate.jsonl", "--on", "2026-01-08", "--output-dir", "out", "-q"])  # fmt: skip
    finally:
        os.chdir(before)
    return (folder / "out" / "verdict.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    names = ("gates/rag.yml", "gates/short.yml", "gates/none.yml")
    return {name: make_verdict(tmp_path_factory.mktemp("fork"), name) for name in names}


def workflow_run(**changed):
    return {"workflow_run": {"id": 99, "event": "pull_request", "head_sha": COMMIT, "head_branch": "main",
                             "head_repository": {"full_name": "visitor/rag-app"}, "pull_requests": [],
                             **changed}}  # fmt: skip


@pytest.fixture
def publish(tmp_path, monkeypatch, environment, github, made):
    """Publish the text of a verdict in a job that a payload started."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    github.add_pull(7, COMMIT, "visitor/rag-app", "main")
    with serving(github) as address:
        github.base = address
        for name, value in {**environment, "GITHUB_API_URL": address}.items():
            monkeypatch.setenv(name, value)

        def start(text, payload=None, *arguments, event="workflow_run"):
            Path(environment["GITHUB_EVENT_PATH"]).write_text(
                json.dumps(payload or workflow_run()), encoding="utf-8"
            )
            Path("verdict.json").write_text(text, encoding="utf-8")
            monkeypatch.setenv("GITHUB_EVENT_NAME", event)
            return run(["publish", "verdict.json", *arguments])

        yield start


@pytest.mark.parametrize("policy", ["gates/rag.yml", "gates/short.yml", "gates/none.yml"])
def test_a_verdict_of_a_fork_is_posted_and_says_so_first(publish, github, made, policy):
    assert publish(made[policy]) == 0
    lines = github.bodies()[0].splitlines()
    assert lines[0] == f"<!-- gateline: {Path(policy).stem} -->"
    assert lines[1] == "<!-- gateline run: 99.1 -->", "of the run that made the verdict"
    assert lines[4].startswith(
        "> **This verdict was made in the fork's run** (`visitor/rag-app`, commit `cccccccccccc`)"
    )
    assert TOKEN not in github.bodies()[0]


def test_it_is_said_in_the_language_that_is_asked_for_and_stays_the_one_comment(publish, github, made):
    publish(made["gates/rag.yml"])
    publish(made["gates/rag.yml"], None, "--lang", "zh")
    (body,) = github.bodies()
    assert "> **此结论由复刻仓库的运行得出**（`visitor/rag-app`，提交 `cccccccccccc`）" in body
    assert "**切片 `text_given` 的 `answered` 从 100.0% 降至 92.0%" in body
    publish(made["gates/rag.yml"])
    assert "This verdict was made in the fork's run" in github.bodies()[0]


def test_it_keeps_to_the_one_comment(publish, github, made):
    publish(made["gates/rag.yml"])
    publish(made["gates/rag.yml"])
    assert len(github.comments) == 1


def test_the_summary_that_is_named_is_the_run_s_that_made_the_verdict(publish, github, made):
    publish(made["gates/short.yml"])
    assert "(https://github.example/acme/rag-app/actions/runs/99)" in github.bodies()[0]


def test_a_run_of_the_repository_itself_is_called_that(publish, github, made):
    github.add_pull(7, COMMIT, REPOSITORY, "feature")
    publish(
        made["gates/rag.yml"], workflow_run(head_repository={"full_name": REPOSITORY}, head_branch="feature")
    )
    assert "in another run of this repository" in github.bodies()[0]


def test_in_the_pull_request_s_own_job_there_is_no_such_remark(publish, github, made):
    assert publish(made["gates/rag.yml"], PULL_REQUEST, event="pull_request") == 0
    assert "another run" not in github.bodies()[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"head_sha": "d" * 40},
        {"head_branch": "other"},
        {"head_repository": {"full_name": "stranger/rag-app"}},
        {"event": "push"},
        {"event": "workflow_dispatch"},
        {"head_repository": None},
        {"head_sha": None},
    ],
)
def test_where_the_event_names_no_open_pull_request_nothing_is_posted(publish, github, made, capsys, changed):
    assert publish(made["gates/rag.yml"], workflow_run(**changed)) == 0
    assert github.comments == []
    assert "no comment" in capsys.readouterr().err


def test_two_pull_requests_with_one_head_are_not_told_apart(publish, github, made, capsys):
    github.add_pull(8, COMMIT, "visitor/rag-app", "main")
    publish(made["gates/rag.yml"])
    assert github.comments == []
    assert "2 open pull requests" in capsys.readouterr().err


def test_a_number_in_the_artifact_or_a_list_in_the_event_leads_nowhere_else(publish, github, made):
    publish(made["gates/rag.yml"], workflow_run(pull_requests=[{"number": 1}]))
    assert len(github.comments) == 1
    assert not any("/issues/1/" in path for _, path in github.log)


def test_hostile_texts_stay_text(publish, github, made):
    data = json.loads(made["gates/rag.yml"])
    evil = "x --> <img src=x> @acme/all [a](http://e.example) `|` \n# passed\n::error::x"
    data["policy"]["name"] = evil
    data["because"] = data["notices"] = [evil] * 50
    for finding in data["findings"]:
        finding.update(metric=evil, rule=evil, slice=evil, message=evil, unit=evil)
    assert publish(json.dumps(data)) == 0
    body = github.bodies()[0]
    assert not any(mark in body for mark in ("<img", "@acme", "](http://e", "\n# passed", "\n::error"))
    assert body.count("<!--") == body.count("-->") == 2
    assert "made in the fork's run" in body


def test_a_very_long_one_fits(publish, github, made):
    data = json.loads(made["gates/rag.yml"])
    data["notices"] = ["n" * 5000] * 2000
    data["findings"] *= 300
    data["counts"] = {word: number * 300 for word, number in data["counts"].items()}
    assert publish(json.dumps(data)) == 0
    assert len(github.bodies()[0].encode()) <= 65_536
    assert "made in the fork's run" in github.bodies()[0]


# --- several


def named(text, name, path):
    data = json.loads(text)
    data["policy"]["name"] = name
    Path(path).write_text(json.dumps(data), encoding="utf-8")
    return path


def test_each_gate_has_its_comment_and_alike_names_are_not_one(publish, github, made):
    names = ["rag", "rag-", " rag ", "a--b", "a-\u2010b"]
    files = [named(made["gates/rag.yml"], name, f"{n}.json") for n, name in enumerate(names)]
    assert publish(made["gates/short.yml"], None, *files) == 0
    assert len(github.comments) == 1 + len(names)


@pytest.mark.parametrize(
    "order", [("gates/rag.yml", "gates/short.yml"), ("gates/short.yml", "gates/rag.yml")]
)
def test_two_verdicts_of_one_name_are_refused_and_nobody_is_asked(publish, github, made, capsys, order):
    """The second would overwrite the first, and a gate that passed hide the one that blocked."""
    first, second = (made[name] for name in order)
    other = named(second, json.loads(first)["policy"]["name"], "second.json")
    assert publish(first, None, other) == 2
    said = capsys.readouterr().err
    assert "verdict.json and second.json are both verdicts of" in said
    assert github.log == []


@pytest.mark.parametrize("more", [9, 10, 30])
def test_a_fork_cannot_have_any_number_of_comments(publish, github, made, capsys, more):
    files = [named(made["gates/rag.yml"], f"gate {n}", f"{n}.json") for n in range(more)]
    assert publish(made["gates/short.yml"], None, *files) == 0
    assert len(github.comments) == 10
    assert (f"{more - 9} more are left out" in capsys.readouterr().err) == (more > 9)


# --- what is no verdict


def changed(text, *path, to):
    data = json.loads(text)
    holder = data
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = to
    return json.dumps(data)


BROKEN = {
    "nothing": lambda text: "",
    "cut off": lambda text: text[:-50],
    "a list": lambda text: "[]",
    "deep": lambda text: "[" * 200_000,
    "a key twice": lambda text: text.replace('"verdict"', '"gateline"', 1),
    "NaN": lambda text: text.replace('"exit_code": 1', '"exit_code": NaN'),
    "an endless number": lambda text: changed(text, "findings", 0, "gain", to=0).replace(
        '"gain": 0', '"gain": 1e999', 1
    ),
    "a huge number": lambda text: changed(text, "findings", 0, "samples", to=10**30),
    "another schema": lambda text: changed(text, "schema", to="gateline.verdict/2"),
    "a new field": lambda text: changed(text, "pull_request", to=1),
    "another word": lambda text: changed(text, "verdict", to="great"),
    "a pass over failed checks": lambda text: changed(changed(text, "verdict", to="pass"), "exit_code", to=0),
    "counts of others": lambda text: changed(text, "counts", "fail", to=0),
    "a failed check that does not block": lambda text: changed(text, "findings", 0, "blocks", to=False),
    "a text for a number": lambda text: changed(text, "findings", 0, "samples", to="100"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_no_verdict_is_refused_and_nobody_is_asked(publish, github, made, capsys, how):
    text = BROKEN[how](made["gates/rag.yml"])
    assert text != made["gates/rag.yml"]
    assert publish(text) == 2
    assert github.log == []
    said = capsys.readouterr().err
    assert "no verdict" in said
    assert "bug" not in said


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="verdict not found"):
        read_verdict(tmp_path / "none.json")
    monkeypatch.setattr("gateline.verdict_file.MOST_BYTES", 10)
    (tmp_path / "large.json").write_text(" " * 11)
    with pytest.raises(InputError, match="more than 10 bytes"):
        read_verdict(tmp_path / "large.json")


def test_without_a_host_there_is_nothing_to_publish_to(tmp_path, made, capsys):
    (tmp_path / "verdict.json").write_text(made["gates/rag.yml"], encoding="utf-8")
    assert run(["publish", str(tmp_path / "verdict.json")]) == 2
    assert "no CI host" in capsys.readouterr().err


def test_what_gateline_writes_is_read_back_unchanged(made, tmp_path):
    for text in made.values():
        (tmp_path / "verdict.json").write_text(text, encoding="utf-8")
        found = read_verdict(tmp_path / "verdict.json")
        assert isinstance(found, Verdict)
        assert found.to_json() == text


VALUES = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(-1e9, 1e9), st.text(max_size=20),
                   st.lists(st.integers(0, 3), max_size=2),
                   st.dictionaries(st.text(max_size=3), st.integers(0, 3), max_size=2))  # fmt: skip


@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_anywhere_is_refused_or_can_be_rendered(made, tmp_path, data):
    from gateline.reports import render

    verdict = copy.deepcopy(json.loads(made["gates/rag.yml"]))
    holder = verdict
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
            holder = holder[key]
            continue
        holder[key] = data.draw(VALUES)
        break
    (tmp_path / "verdict.json").write_text(json.dumps(verdict), encoding="utf-8")
    try:
        found = read_verdict(tmp_path / "verdict.json")
    except InputError:
        return
    for report, language in itertools.product(
        ("markdown", "codequality", "junit", "annotations", "text"), ("en", "zh")
    ):
        assert isinstance(render(report, found, language=language), str)
