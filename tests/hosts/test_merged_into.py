"""What a change is held against where its base branch has moved on: the commit that the job merges it into."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from checkout import BASELINE, FINE, git, lay_out
from stand_in import PULL_REQUEST, Reply
from test_ci_job import job, verdict  # noqa: F401  (job is a fixture)

from gateline.baselines.other_baseline import find_other_baseline
from gateline.hosts import github as github_host


class World:
    """A base branch that moved on after a pull request began, and the merge of both that a job checks out."""

    def __init__(self, folder, environment, github):
        self.environment, self.github = environment, github
        git("init", "-q", "-b", "main")
        self.began = self.commit("base")
        git("checkout", "-q", "-b", "feature")
        Path("prompt.txt").write_text("another prompt\n")
        self.head = self.commit("the change")
        git("checkout", "-q", "main")
        with Path(BASELINE).open("ab") as stream:
            stream.write(b"\n")
        Path(FINE).write_text(Path(FINE).read_text(encoding="utf-8") + "# a remark\n", encoding="utf-8")
        self.moved_on = self.commit("what others did meanwhile")
        git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        self.merge = git("rev-parse", "HEAD")
        self.folder = folder
        github.parents[self.merge] = [self.moved_on, self.head]
        for commit in (self.began, self.moved_on):
            for file in (BASELINE, FINE):
                text = subprocess.run(["git", "show", f"{commit}:{file}"], check=True, capture_output=True)
                github.files[(commit, file)] = text.stdout
        self.tell()

    @staticmethod
    def commit(message):
        git("add", ".")
        git("commit", "-q", "-m", message)
        return git("rev-parse", "HEAD")

    def tell(self, **head):
        """Write the event, which names the base as it was when the pull request began."""
        payload = json.loads(json.dumps(PULL_REQUEST))
        payload["pull_request"]["base"]["sha"] = self.began
        payload["pull_request"]["head"] |= {"sha": self.head, **head}
        Path(self.environment["GITHUB_EVENT_PATH"]).write_text(json.dumps(payload))

    def check_out(self, how, tmp_path, monkeypatch):
        """Go where the job's files are: a whole clone, one of the newest commit alone, or files without git."""
        if how == "shallow":
            git("clone", "-q", "--depth", "1", f"file://{self.folder}", str(tmp_path / "shallow"))
            monkeypatch.chdir(tmp_path / "shallow")
        elif how == "no git":
            monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
            shutil.rmtree(".git")

    def job(self, commit=None):
        return github_host.Job({**self.environment, "GITHUB_SHA": commit or self.merge}, self.github)


@pytest.fixture
def world(tmp_path, monkeypatch, environment, github):
    folder = lay_out(tmp_path / "clone", FINE)
    monkeypatch.chdir(folder)
    return World(folder, environment, github)


@pytest.mark.parametrize("how", ["whole", "shallow", "no git"])
def test_what_the_base_branch_changed_meanwhile_is_none_of_the_change_s(world, tmp_path, monkeypatch, how):
    world.check_out(how, tmp_path, monkeypatch)
    assert world.job().base_commit == world.moved_on
    assert find_other_baseline(BASELINE, world.job()) == []
    assert (world.job().read_base_file(FINE) or b"").endswith(b"# a remark\n")
    with Path(BASELINE).open("ab") as stream:
        stream.write(b'{"id": "one more"}\n')
    assert find_other_baseline(BASELINE, world.job()) == [BASELINE]


def test_without_that_commit_the_event_s_is_the_base_and_others_work_is_told(world):
    """The fault itself, so that the test above is known to see it."""
    assert world.job(world.head).base_commit == world.began
    assert find_other_baseline(BASELINE, world.job(world.head)) == [BASELINE]


def test_a_commit_that_does_not_merge_this_head_into_one_other_says_nothing(world):
    world.tell(sha="c" * 40)  # another head than the one that was merged
    assert world.job().base_commit == world.began
    world.tell()
    git("checkout", "-q", "-b", "third", world.began)
    Path("third.txt").write_text("third\n")
    third = world.commit("third")
    git("checkout", "-q", "main")
    tree = git("rev-parse", "HEAD^{tree}")
    parents = [["-p", one] for one in (world.moved_on, world.head, third)]
    for order in ([0, 1, 2], [1, 0], [1], []):
        commit = git("commit-tree", tree, "-m", "x", *(word for one in order for word in parents[one]))
        assert world.job(commit).base_commit == world.began, order


def test_a_step_of_the_job_cannot_give_the_commit_other_parents(world):
    loose = git("commit-tree", git("rev-parse", "HEAD^{tree}"), "-m", "loose")
    other = git("commit-tree", git("rev-parse", "HEAD^{tree}"), "-m", "x", "-p", loose, "-p", world.head)
    git("replace", world.merge, other)
    assert git("rev-parse", f"{world.merge}^1") == loose  # git itself is fooled
    assert world.job().base_commit == world.moved_on
    git("reset", "-q", "--hard", other)  # what is checked out is none of GitHub's commits
    assert world.job().base_commit == world.moved_on


@pytest.mark.parametrize(
    "trouble",
    [Reply(403, {}, b'{"message": "no"}'), Reply(404, {}, b""), Reply(200, {}, b"[]"), Reply(200, {}, b"{}"),
     Reply(200, {}, b'{"parents": [1, 2]}'), Reply(200, {}, b'{"parents": [{}, {"sha": null}]}')],
)  # fmt: skip
def test_where_nobody_can_tell_the_event_s_commit_is_the_base(world, github, tmp_path, monkeypatch, trouble):
    world.check_out("no git", tmp_path, monkeypatch)
    github.when, github.trouble = "git/commits", [trouble]
    assert world.job().base_commit == world.began


def test_a_name_of_the_event_is_asked_for_as_one_part_of_a_path(world, github, tmp_path, monkeypatch):
    world.check_out("no git", tmp_path, monkeypatch)
    assert world.job("../../user").base_commit == world.began
    assert {path for _, path in github.log} == {"/repos/acme/rag-app/git/commits/..%2F..%2Fuser"}


def test_a_gate_does_not_call_others_work_the_change_s(job, github, environment):  # noqa: F811
    """The job as a whole, in the image without git: nothing but the event's old base differs."""
    merge, moved_on = "d" * 40, "e" * 40
    github.files |= {
        (moved_on, file): Path(file).read_bytes() for file in (FINE, "results/baseline.jsonl")
    } | {
        ("b" * 40, FINE): Path(FINE).read_bytes() + b"# old\n",
        ("b" * 40, "results/baseline.jsonl"): b"old\n",
    }
    assert job(FINE, GITHUB_SHA=merge) == 0
    (notice,) = verdict()["notices"]
    assert "results/baseline.jsonl" in notice
    github.parents[merge] = [moved_on, "a" * 40]
    assert job(FINE, GITHUB_SHA=merge) == 0
    assert verdict()["notices"] == []
    assert verdict()["policy"]["same_as_base"] is True
