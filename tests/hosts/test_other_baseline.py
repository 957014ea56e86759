"""A change that moves what it is held against: the baseline in its own tree is told to be another than the base's."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from checkout import BASELINE, FINE, git, lay_out
from hypothesis import given, settings
from hypothesis import strategies as st
from stand_in import PULL_REQUEST, Reply, serving

from gateline.baselines.other_baseline import find_other_baseline
from gateline.cli import run
from gateline.errors import HostError
from gateline.hosts import github as github_host
from gateline.texts import load

COMMIT = "b" * 40
"""Of the base branch, where git is not there: the stand-in's."""


def commit_all(environment):
    """Make the working folder a repository whose one commit is the base, and return that commit."""
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "base")
    commit = git("rev-parse", "HEAD")
    payload = json.loads(json.dumps(PULL_REQUEST))
    payload["pull_request"]["base"]["sha"] = commit
    Path(environment["GITHUB_EVENT_PATH"]).write_text(json.dumps(payload))
    return commit


@pytest.fixture
def tree(tmp_path, monkeypatch, environment, github):
    """A checkout with a gate and its baseline; a job on it."""
    monkeypatch.chdir(lay_out(tmp_path / "workspace", FINE))
    return github_host.Job(environment, github)


def keep(github, content):
    """Let the base branch have this baseline, for the host to tell."""
    github.files[(COMMIT, BASELINE)] = content


@pytest.mark.parametrize("has_git", [True, False])
def test_only_what_differs_from_the_base_branch_is_another(tree, environment, github, has_git):
    if has_git:
        commit_all(environment)
    else:
        keep(github, Path(BASELINE).read_bytes())
    assert find_other_baseline(BASELINE, tree) == []
    with Path(BASELINE).open("ab") as stream:
        stream.write(b"\n")
    assert find_other_baseline(f"{BASELINE}\nresults/candidate.jsonl", tree) == [BASELINE]
    Path(BASELINE).unlink()
    assert find_other_baseline(BASELINE, tree) == [BASELINE]


@given(before=st.binary(max_size=40), after=st.binary(max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_file_is_the_same_where_its_bytes_are_or_only_its_line_breaks_differ(before, after):
    import tempfile

    class Job:
        base_commit = COMMIT

        def read_base_file(self, path):
            return before

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("b").write_bytes(after)
            found = find_other_baseline("b", Job())
        finally:
            os.chdir(here)
    assert (found == []) is (before in (after, after.replace(b"\r\n", b"\n")))


def test_digests_are_gits_own(tree, environment):
    """Also of a file that is larger than a chunk: what git says of it is the oracle."""
    Path(BASELINE).write_bytes(os.urandom(3_000_001))
    commit_all(environment)
    assert find_other_baseline(BASELINE, tree) == []


@pytest.mark.parametrize("has_git", [True, False])
def test_what_the_base_branch_keeps_in_large_file_storage_is_the_same_file(
    tree, environment, github, has_git
):
    content = Path(BASELINE).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
    if has_git:
        Path(BASELINE).write_text(pointer, newline="\n")
        commit_all(environment)
        Path(BASELINE).write_bytes(content)
    else:
        keep(github, pointer.encode())
    assert find_other_baseline(BASELINE, tree) == []
    Path(BASELINE).write_bytes(content + b"\n")
    assert find_other_baseline(BASELINE, tree) == [BASELINE]


def test_folders_and_patterns_are_their_files(tree, environment):
    commit_all(environment)
    Path(BASELINE).write_text("changed\n")
    for setting in ("results", "results/", "results/*.jsonl", "results/base*"):
        assert [Path(one) for one in find_other_baseline(setting, tree)] == [Path(BASELINE)]


@pytest.mark.parametrize("setting", ["results", "results/", "results/*.jsonl", "results/part*"])
@pytest.mark.parametrize("all_of_it", [False, True])
def test_a_part_of_the_baseline_that_the_change_takes_away_is_missed(tree, environment, setting, all_of_it):
    """A pattern or a folder that has fewer files here names none of those that are gone."""
    for part in ("part-1.jsonl", "part-2.jsonl", "part.txt"):
        Path("results", part).write_text("{}\n")
    commit_all(environment)
    assert find_other_baseline(setting, tree) == []
    Path("results/part-2.jsonl").unlink()
    Path("results/new.jsonl").write_text("made by an earlier step\n")
    if all_of_it:
        shutil.rmtree("results")
    others = {Path(one).name for one in find_other_baseline(setting, tree)}
    assert "part-2.jsonl" in others
    assert others == {"part-2.jsonl"} or all_of_it
    assert ("part-1.jsonl" in others) == all_of_it


def test_what_is_none_of_the_change_s_says_nothing(tree, environment, github, tmp_path):
    """Made by an earlier step, outside the repository, in a clone of its own, or no change at all."""
    commit_all(environment)
    Path("made.jsonl").write_text("made\n")
    (tmp_path / "outside.jsonl").write_text("outside\n")
    shutil.copytree("results", "base/results")
    shutil.copytree(".git", "base/.git")
    Path("base", BASELINE).write_text("newer than the event's commit\n")
    for file in ("made.jsonl", str(tmp_path / "outside.jsonl"), f"base/{BASELINE}", "not-there.jsonl"):
        assert find_other_baseline(file, tree) == []
    Path(BASELINE).write_text("changed\n")
    push = github_host.Job({**environment, "GITHUB_EVENT_NAME": "push"}, github)
    assert find_other_baseline(BASELINE, push) == []


def test_a_revision_that_the_change_itself_made_is_no_base(tree, environment):
    """The base branch may have moved on meanwhile, which is none of the change's."""
    base = commit_all(environment)
    git("checkout", "-q", "-b", "moved-on")
    Path(BASELINE).write_text("newer\n")
    git("commit", "-qam", "newer")
    git("checkout", "-q", "-b", "change", base)
    Path("code.py").write_text("")
    git("add", "code.py")
    git("commit", "-qm", "code")
    for revision in (base, "HEAD~1", "HEAD", "moved-on"):  # HEAD: the change's own, and the file is the same
        assert find_other_baseline(f"git:{revision}:{BASELINE}", tree) == []
    Path(BASELINE).write_text("its own\n")
    git("commit", "-qam", "its own baseline")
    assert find_other_baseline(f"git:HEAD:{BASELINE}", tree) == [f"git:HEAD:{BASELINE}"]
    assert find_other_baseline(f"git:HEAD:./{BASELINE}", tree) == [f"git:HEAD:./{BASELINE}"]
    assert find_other_baseline(f"git:HEAD~1:{BASELINE}", tree) == []
    assert find_other_baseline("git:HEAD:made.jsonl", tree) == []
    git("merge", "-q", "-X", "ours", "-m", "as the host merges it", "moved-on")
    git("update-ref", "refs/remotes/origin/main", "moved-on")
    assert find_other_baseline(f"git:moved-on:{BASELINE}", tree) == []
    with pytest.raises(HostError, match="does not have the revision none"):
        find_other_baseline(f"git:none:{BASELINE}", tree)


def test_what_cannot_be_found_out_is_trouble_of_the_host(tree, environment, github):
    github.when, github.trouble = "contents", [Reply(403, {}, b"{}")]
    with pytest.raises(HostError):
        find_other_baseline(BASELINE, tree)
    Path("many").mkdir()
    for number in range(101):
        Path("many", f"{number}.jsonl").touch()
    with pytest.raises(HostError, match="more than 100 files"):
        find_other_baseline("many", tree)


@pytest.fixture
def start(tree, monkeypatch, environment, github):
    """Return what runs `ci` on the tree and gives its exit code and the comment."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving(github) as address:
        github.base = address
        for name, value in {**environment, "GITHUB_API_URL": address, "GATELINE_ON": "2026-01-08"}.items():
            monkeypatch.setenv(name, value)

        def run_ci(*arguments):
            files = ("--baseline", BASELINE, "--candidate", "results/candidate.jsonl")
            code = run(["ci", "--policy", "gates/short.yml", *files, *arguments])
            return code, github.bodies()[0] if github.comments else ""

        yield run_ci


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_change_that_brings_its_own_baseline_passes_with_a_warning_that_comes_first(
    start, environment, language
):
    commit_all(environment)
    shutil.copy("results/candidate.jsonl", "kept.jsonl")
    code, body = start("--lang", language)
    assert code == 0
    assert load(language).say("headline.other-baseline") not in body
    rows = [json.loads(line) for line in Path("kept.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps(row | ({"note": "new"} if "id" in row else {})) for row in rows]
    Path(BASELINE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, body = start("--lang", language, "--comment", "changes")
    assert code == 0
    said = load(language)
    assert said.say("outcome.warned") in body.split("\n")[2]
    assert body.split("\n")[4].startswith(f"**{said.say('headline.other-baseline')}")
    assert said.say("notice.other-baseline", files=BASELINE) in body.replace("\u2060", "")
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert said.say("headline.other-baseline") in summary


@pytest.mark.parametrize("arguments", [(), ("--first-run",)])
def test_a_change_that_takes_the_baseline_away_is_no_first_run(start, environment, arguments):
    commit_all(environment)
    Path(BASELINE).unlink()
    code, body = start(*arguments)
    assert code == 2
    assert "no verdict" in body
    if arguments:
        assert f"the base branch has the baseline {BASELINE}, and this change takes it away" in body


def test_where_it_is_not_known_the_verdict_is_the_same_and_the_log_says_so(start, github, capsys):
    expected = start()
    capsys.readouterr()
    github.when, github.trouble = f"contents/{BASELINE}", [Reply(403, {}, b"{}")] * 3
    assert start() == expected
    assert "it is not known whether the baseline is the base branch's" in capsys.readouterr().err


def test_what_a_person_should_know_is_in_the_shortest_comment_as_well(start, github):
    """The base branch has no such gate: all is well, and nobody has looked at what the policy was."""
    code, body = start()
    assert code == 0
    assert "✅ short: passed" in body
    assert "the base branch has no gates/short.yml" in body.replace("\u2060", "")


def test_a_verdict_that_could_not_be_made_is_of_the_day_that_was_asked_for(start, capsys):
    code, _ = start("--baseline", "artifact:none")
    assert code == 2
    assert json.loads(Path("gateline-out/verdict.json").read_text())["judged_on"] == "2026-01-08"
