"""Runs GitLab jobs on this machine with gitlab-ci-local (npm); where it can't be had, a test is skipped and says why.

The version is the last one that runs on Node 20. GITLAB_CI_LOCAL names another program. It knows no job of ours.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VERSION = "4.73.0"
_OLDEST_NODE = 20


def find_program(cache: Path) -> str:
    """Return the program's path, installed once into a folder that stays from run to run; skips where there is none."""
    if shutil.which("rsync") is None:
        pytest.skip("gitlab-ci-local needs rsync")
    given = os.environ.get("GITLAB_CI_LOCAL") or shutil.which("gitlab-ci-local")
    if given:
        return given
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("gitlab-ci-local needs node and npm")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.match(r"v(\d+)", version)[1]) < _OLDEST_NODE:
        pytest.skip(f"gitlab-ci-local needs Node {_OLDEST_NODE}, this is {version.strip()}")
    program = cache / "node_modules" / ".bin" / "gitlab-ci-local"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _install(npm, cache)
    return str(program)


def _install(npm: str, folder: Path) -> None:
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=30000"]
    done = subprocess.run(
        [npm, "install", "--prefix", str(folder), *options, f"gitlab-ci-local@{VERSION}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode:
        pytest.skip(f"gitlab-ci-local can't be installed: {done.stderr.strip()[-300:]}")


def make_repository(folder: Path) -> None:
    """Make a folder a repository whose remote is a GitLab project, as gitlab-ci-local needs it."""
    git = [
        "git",
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@example.com",
        "-c",
        "init.defaultBranch=main",
    ]
    for command in (
        ["init", "-q"],
        ["remote", "add", "origin", "https://gitlab.example.com/group/project.git"],
        ["add", "--all"],
        ["commit", "-q", "-m", "all"],
    ):
        subprocess.run([*git, *command], cwd=folder, check=True, capture_output=True)


def run_local(
    program: str, folder: Path, *arguments: str, variables: dict[str, str] | None = None, docker: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run gitlab-ci-local in a folder, as in a pipeline of a merge request.

    Jobs run in this machine's shell with this environment's gateline, or each in its image.
    """
    given = {"CI_PIPELINE_SOURCE": "merge_request_event", "GITLAB_CI": "true", **(variables or {})}
    executor = [] if docker else ["--force-shell-executor", "--shell-isolation"]
    words = [word for name, value in given.items() for word in ("--variable", f"{name}={value}")]
    words += ["--ignore-predefined-vars", ",".join(given)]
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [program, *arguments, *executor, *words, "--home", str(home)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        check=False,
        timeout=300,
    )
