"""The release: which tag may go out, what each job may do, and its scripts run with programs that only take notes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from readme import ROOT

import gateline

TEXT = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load(TEXT)
JOBS = WORKFLOW["jobs"]
CHANGELOG = """# Changelog

## [{version}] - {day}

### Added

- A thing.

## [0.0.9] - 2026-01-02

- An older thing.
"""


@pytest.fixture
def tree(tmp_path):
    """The files that the script reads, with a changelog that is ready."""

    def make(day="2026-12-01", version=gateline.__version__, changelog=CHANGELOG):
        for folder in (".ci", "src/gateline"):
            (tmp_path / folder).mkdir(parents=True)
        shutil.copy(ROOT / ".ci" / "release.py", tmp_path / ".ci")
        shutil.copy(ROOT / "src" / "gateline" / "__init__.py", tmp_path / "src" / "gateline")
        text = changelog.format(version=version, day=day)
        (tmp_path / "CHANGELOG.md").write_text(text, encoding="utf-8")
        return tmp_path

    return make


def run_check(folder, *arguments):
    return subprocess.run(
        [sys.executable, ".ci/release.py", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_tag_of_this_version_gets_its_part_of_the_changelog(tree):
    done = run_check(tree(), f"v{gateline.__version__}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "### Added\n\n- A thing.\n", "")


@pytest.mark.parametrize(
    ("tag", "given", "said"),
    [
        (f"v{gateline.__version__}9", {}, f"the code is version {gateline.__version__}"),
        (gateline.__version__, {}, f"the tag must be v{gateline.__version__}"),
        (f"v{gateline.__version__}", {"day": "unreleased"}, "write the day of the release, YYYY-MM-DD"),
        (f"v{gateline.__version__}", {"version": "9.9.9"}, "the newest entry of CHANGELOG.md is 9.9.9"),
        (
            f"v{gateline.__version__}",
            {"changelog": "# Changelog\n"},
            "the newest entry of CHANGELOG.md is none",
        ),
        (f"v{gateline.__version__}", {"changelog": "## [{version}] - {day}\n\n"}, "says nothing of"),
    ],
)
def test_any_other_tag_stops_the_release(tree, tag, given, said):
    done = run_check(tree(**given), tag)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("release: ")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_it_starts_with_a_tag_and_nothing_leaves_before_all_was_tried():
    assert WORKFLOW[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads the key `on` as true
    needed = {name: set(job.get("needs", [])) if not isinstance(job.get("needs"), str) else {job["needs"]}
              for name, job in JOBS.items()}  # fmt: skip
    assert needed == {
        "build": set(), "image": {"build"}, "pypi": {"build", "image"}, "github": {"build", "image", "pypi"}
    }  # fmt: skip
    steps = [step.get("uses") or step["run"] for step in JOBS["build"]["steps"]]
    order = [
        next(number for number, step in enumerate(steps) if sign in step)
        for sign in (".ci/release.py", "-m build", "-m pytest", "upload-artifact")
    ]
    assert order == sorted(order)


def test_each_job_has_the_rights_that_it_needs_and_no_more():
    sign = {"id-token": "write", "attestations": "write"}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "build": {"contents": "read"},
        "image": {"contents": "read", "packages": "write", **sign},
        "pypi": {"id-token": "write"},
        "github": {"contents": "write", **sign},
    }
    assert "secrets." not in TEXT
    assert JOBS["pypi"]["environment"] == "pypi"


def test_the_job_that_publishes_runs_no_code_of_the_repository():
    assert [step["uses"].split("@")[0] for step in JOBS["pypi"]["steps"]] == [
        "actions/download-artifact",
        "pypa/gh-action-pypi-publish",
    ]


NOTING = """#!/usr/bin/env bash
printf '%s\\n' "$(basename "$0") $*" >> "$NOTED"
case "$*" in
  login*) cat > /dev/null ;;
  "image inspect"*RepoDigests*0*) echo "python@sha256:ba5e" ;;
  "image inspect"*RepoDigests*) printf '%s\\n' "elsewhere/candidate@sha256:bad" "ghcr.io/owner/gateline@sha256:900d" ;;
  *gates/rag.yml*) exit "${CODE_OF_RAG:-1}" ;;
esac
"""


def run_step(folder: Path, name: str, job: str, **more: str):
    """Run a step's script as a runner does (bash -e), with programs that only note what they are asked."""
    step = next(step for step in JOBS[job]["steps"] if step.get("name") == name)
    programs = folder / "bin"
    programs.mkdir()
    for program in ("docker", "gh"):
        (programs / program).write_text(NOTING, encoding="utf-8")
        (programs / program).chmod(0o755)
    shutil.copy(ROOT / "Dockerfile", folder)
    env = {
        "PATH": f"{programs}:{os.environ['PATH']}", "NOTED": str(folder / "noted"), "REPOSITORY": "Owner/Gateline",
        "GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "TAG": "v1.2.3", "ACTOR": "someone", "TOKEN": "s3cret", "SERVER": "https://github.com", "COMMIT": "c0ffee",
        "IMAGE": "ghcr.io/owner/gateline", "DIGEST": "sha256:900d", **more,
    }  # fmt: skip
    assert set(step.get("env", {})) <= {*env, "GH_TOKEN", "GH_REPO"}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done, (folder / "noted").read_text(encoding="utf-8")


def test_the_image_is_built_on_a_base_that_is_pinned(tmp_path):
    done, noted = run_step(tmp_path, "Build on the base image of today, by its digest", "image")
    assert done.returncode == 0, done.stderr
    base = re.search(
        r"^ARG PYTHON_IMAGE=(.+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert noted.splitlines()[0] == f"docker pull -q {base[1]}"
    assert "--build-arg PYTHON_IMAGE=python@sha256:ba5e " in noted
    assert "--label org.opencontainers.image.version=1.2.3 " in noted


@pytest.mark.parametrize(("code", "goes_on"), [("1", True), ("0", False), ("2", False), ("125", False)])
def test_an_image_that_does_not_block_is_not_pushed(tmp_path, code, goes_on):
    done, noted = run_step(tmp_path, "It blocks, and it passes", "image", CODE_OF_RAG=code)
    assert (done.returncode == 0) == goes_on
    assert ("gates/short.yml" in noted) == goes_on


def test_the_image_is_pushed_by_its_version_and_known_by_its_digest(tmp_path):
    done, noted = run_step(tmp_path, "Push", "image")
    assert done.returncode == 0, done.stderr
    assert "docker push ghcr.io/owner/gateline:1.2.3\n" in noted
    assert (tmp_path / "output").read_text() == "name=ghcr.io/owner/gateline\ndigest=sha256:900d\n"
    assert (tmp_path / "summary").read_text() == "`ghcr.io/owner/gateline:1.2.3@sha256:900d`\n"
    assert "s3cret" not in noted + done.stdout + done.stderr


def test_the_release_names_the_image_by_its_digest(tmp_path):
    (tmp_path / "notes.md").write_text("### Added\n", encoding="utf-8")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "gateline-1.2.3.tar.gz").touch()
    done, noted = run_step(tmp_path, "Make the release", "github")
    assert done.returncode == 0, done.stderr
    assert noted.startswith(
        "gh release create v1.2.3 --verify-tag --title gateline 1.2.3 --notes-file notes.md dist/"
    )
    notes = (tmp_path / "notes.md").read_text(encoding="utf-8")
    assert notes == "### Added\n\nImage: ghcr.io/owner/gateline:1.2.3@sha256:900d\n"
