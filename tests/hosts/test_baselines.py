"""Where a baseline comes from: a real git repository, zips of every kind, and what is none yet."""

from __future__ import annotations

import io
import os
import subprocess
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_in import zipped

from gateline.baselines import find_baseline
from gateline.errors import HostError, InputError
from gateline.git import find_root, list_at, read_at
from gateline.hosts import _artifact
from gateline.hosts._artifact import Artifact, take_file
from gateline.hosts.github import Job
from gateline.verdict import Origin

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]


def git(folder, *arguments, **environment):
    done = subprocess.run(
        [*GIT, *arguments], cwd=folder, capture_output=True, text=True, check=True, env=environment or None
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    folder = tmp_path / "repository"
    (folder / "runs").mkdir(parents=True)
    (folder / "runs" / "main.jsonl").write_bytes(b"first\r\n\xff")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    day = "2026-01-05T23:30:00-0500"  # the sixth in UTC
    git(
        folder,
        "commit",
        "-q",
        "-m",
        "one",
        GIT_AUTHOR_DATE=day,
        GIT_COMMITTER_DATE=day,
        PATH=os.environ["PATH"],
    )
    (folder / "runs" / "main.jsonl").write_text("second\n")
    monkeypatch.chdir(folder)
    return folder


def test_a_file_at_a_revision_is_byte_for_byte_what_was_committed(repository):
    found = read_at("main", "runs/main.jsonl")
    assert (found.content, found.made_on) == (b"first\r\n\xff", "2026-01-06")
    assert found.commit == git(repository, "rev-parse", "HEAD")
    (repository / "runs" / "deep").mkdir()
    assert read_at("HEAD", "./runs/main.jsonl", repository / "runs" / "deep").content == found.content
    assert find_root(repository / "runs" / "new.yml") == repository


def test_a_link_is_no_file_and_says_so(repository):
    (repository / "runs" / "link.jsonl").symlink_to("main.jsonl")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "two")
    with pytest.raises(HostError, match="symbolic link"):
        read_at("HEAD", "runs/link.jsonl")


def test_a_partial_clone_that_has_no_texts_is_not_a_file_that_is_not_there(repository, tmp_path):
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repository}", "partial")
    git(tmp_path / "partial", "remote", "set-url", "origin", f"file://{tmp_path}/gone")
    with pytest.raises(HostError, match="does not have the text"):
        read_at("HEAD", "runs/main.jsonl", tmp_path / "partial")
    assert read_at("HEAD", "runs/none.jsonl", tmp_path / "partial").content is None
    assert list_at("HEAD", "runs", tmp_path / "partial") == ["main.jsonl"]


def test_the_files_of_a_folder_at_a_revision_without_its_folders(repository):
    (repository / "runs" / "deep").mkdir()
    (repository / "runs" / "deep" / "x.jsonl").write_text("x")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "two")
    assert list_at("HEAD", "runs") == list_at("HEAD", "./runs/", repository / "runs") == ["main.jsonl"]
    assert list_at("HEAD", "none") == list_at("HEAD", ".") == []


def test_a_tag_of_a_commit_is_that_commit(repository):
    git(repository, "tag", "-a", "v1", "-m", "one")
    assert read_at("v1", "runs/main.jsonl").commit == git(repository, "rev-parse", "HEAD")


def test_a_file_that_the_commit_does_not_have_is_none(repository):
    assert read_at("main", "runs/none.jsonl").content is None


@pytest.mark.parametrize(
    ("revision", "path", "said"),
    [
        ("no-such-branch", "x", "does not have the revision"),
        ("--upload-pack=touch x", "x", "not a revision"),
        ("main", "runs", "is not a file"),
        ("HEAD:runs", "x", "does not have the revision"),
    ],
)
def test_what_git_cannot_give_is_told(repository, revision, path, said):
    with pytest.raises(HostError, match=said):
        read_at(revision, path)


def test_a_pointer_of_large_file_storage_is_no_result(repository):
    (repository / "large.jsonl").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n"
    )
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "large")
    with pytest.raises(HostError, match="pointer of Git LFS"):
        read_at("HEAD", "large.jsonl")


def test_no_git_and_no_repository_are_told(repository, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(HostError, match="not a git repository"):
        read_at("main", "x", tmp_path / "elsewhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="git is not here"):
        read_at("main", "x")


# --- settings


def test_a_path_stays_a_path(repository):
    assert find_baseline("runs/main.jsonl", "c.jsonl", None).path == "runs/main.jsonl"
    assert find_baseline(None, "c.jsonl", None).missing == ""
    assert find_baseline("runs/none.jsonl", "c.jsonl", None).missing == "runs/none.jsonl is not there"
    assert find_baseline("C:\\runs\\main.jsonl", "c.jsonl", None).path == "C:\\runs\\main.jsonl"


def test_several_files_are_missing_only_where_none_is_there(repository):
    both = "runs/none.jsonl\nruns/main.jsonl"
    assert (find_baseline(both, "c.jsonl", None).path, find_baseline(both, "c.jsonl", None).missing) == (
        both,
        "",
    )
    assert find_baseline("runs/*.jsonl", "c.jsonl", None).missing == ""
    assert find_baseline("a\nb", "c.jsonl", None).missing == "a, b is not there"
    assert find_baseline("runs/*.csv", "c.jsonl", None).missing == "runs/*.csv is not there"
    with pytest.raises(InputError, match="git:main:x can't be joined with other files"):
        find_baseline("runs/main.jsonl\ngit:main:x", "c.jsonl", None)


def test_from_git(repository):
    found = find_baseline("git:main:runs/main.jsonl", "c.jsonl", None)
    assert (found.content, found.name) == (b"first\r\n\xff", "main.jsonl")
    commit = git(repository, "rev-parse", "HEAD")
    assert found.origin == Origin(source="git:main:runs/main.jsonl", commit=commit, made_on="2026-01-06")
    assert (
        find_baseline("git:main:runs/none.jsonl", "c.jsonl", None).missing
        == "runs/none.jsonl is not there at main"
    )


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("git:main", "needs a revision and a path"),
        ("git::x", "needs a revision and a path"),
        ("git:nowhere:x", "git:nowhere:x can't be fetched: git does not have the revision nowhere"),
        ("artifact:", "needs a name"),
        ("artifact:results", "in a job of GitHub Actions or GitLab CI only"),
    ],
)
def test_settings_that_cannot_be_followed(repository, setting, said):
    with pytest.raises(InputError, match=said) as raised:
        find_baseline(setting, "c.jsonl", None)
    assert raised.value.problems[0].hint


def test_from_an_artifact(environment, github):
    number = github.add_artifact("results", zipped(**{"runs/candidate.jsonl": "x", "runs/log.txt": "y"}))
    job = Job(environment, github)
    found = find_baseline("artifact:results", "out/candidate.jsonl", job)
    assert (found.content, found.name) == (b"x", "candidate.jsonl")
    assert found.origin == Origin(
        source="artifact:results",
        branch="main",
        commit=f"{number:040x}",
        made_on="2026-01-05",
        run=number + 50_000,
    )
    assert find_baseline("artifact:results:runs/log.txt", "c.jsonl", job).content == b"y"
    assert (
        find_baseline("artifact:others", "c.jsonl", job).missing
        == "no successful run on main has left an artifact others"
    )
    with pytest.raises(InputError, match=r"holds no file called c\.jsonl; it holds runs/") as raised:
        find_baseline("artifact:results", "c.jsonl", job)
    assert raised.value.problems[0].hint == "name one as artifact:results:PATH"


# --- zips


def take(content, wanted=None, like="c.jsonl"):
    return take_file(Artifact("results", content, "main"), wanted, like)


def test_the_only_file_is_taken_whatever_its_name():
    assert take(zipped(**{"deep/": "", "deep/a.csv": "1"})) == ("deep/a.csv", b"1")


@pytest.mark.parametrize("names", [["a/c.jsonl", "b/c.jsonl"], []])
def test_what_does_not_tell_is_refused(names):
    with pytest.raises(HostError, match=r"files called c\.jsonl|holds nothing"):
        take(zipped(**dict.fromkeys(names, "1")))


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/cron.d/x",
        "/etc/passwd",
        "..\\..\\x.jsonl",
        "a\nb\x1b[31m.jsonl",
        ".bashrc",
        "..",
        "ä" * 300,
    ],
)
def test_the_path_within_a_zip_leads_nowhere(environment, github, name, tmp_path):
    github.add_artifact("results", zipped(**{name: "x"}))
    found = find_baseline("artifact:results", "c.jsonl", Job(environment, github))
    assert found.name
    assert (tmp_path / found.name).resolve().parent == tmp_path.resolve()
    assert len(found.name) <= 80
    assert not found.name.startswith(".")
    assert found.name.isprintable()


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(_artifact, "MOST_UNPACKED", 100_000)
    assert len(take(zipped(a="0" * 100_000))[1]) == 100_000
    with pytest.raises(HostError, match="has more than 100,000 bytes"):
        take(zipped(a="0" * 100_001))


def test_an_entry_that_lies_about_its_size_is_refused(monkeypatch):
    monkeypatch.setattr(_artifact, "MOST_UNPACKED", 1000)
    content = bytearray(zipped(a="0" * 5000))
    place = content.rindex(b"PK\x01\x02") + 24
    content[place : place + 4] = (10).to_bytes(4, "little")
    with pytest.raises(HostError, match=r"unpacked|more than"):
        take(bytes(content))


def test_too_many_files_and_locked_files_are_refused(monkeypatch):
    monkeypatch.setattr(_artifact, "_MOST_ENTRIES", 3)
    with pytest.raises(HostError, match="more than 3 files"):
        take(zipped(a="", b="", c="", d=""))
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("a", "x")
    locked = bytearray(held.getvalue())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + place] |= 1
    with pytest.raises(HostError, match="can't be unpacked"):
        take(bytes(locked))


@given(st.binary(max_size=200), st.integers(0, 300), st.integers(0, 255))
def test_bytes_of_any_kind_are_a_file_or_a_told_trouble(noise, place, value):
    good = bytearray(zipped(a="some text " * 20))
    good[place % len(good)] = value
    for content in (noise, bytes(good), bytes(good[: place % len(good)])):
        try:
            assert isinstance(take(content)[1], bytes)
        except HostError as error:
            assert "results" in str(error)
