"""The hooks of pre-commit, really installed from this tree and run in a repository of a user."""

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

from gateline.cli.arguments import make_parser
from gitlab_local import make_repository

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
DATA = "gates/data/refchecker"
INSTALLED_FROM = ["src", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"]


def find_pre_commit() -> str:
    beside = Path(sys.executable).with_name("pre-commit")
    found = str(beside) if beside.exists() else shutil.which("pre-commit")
    if found is None:
        pytest.skip("pre-commit is not installed (dependency group hosts)")
    return found


def test_each_hook_is_a_command_that_exists():
    for hook in HOOKS:
        program, command = hook["entry"].split()
        assert (program, hook["language"]) == ("gateline", "python")
        arguments = ["gates/a.yml", "gates/b.yml"] if hook.get("pass_filenames", True) else []
        needed = {"lint": [], "check": ["--policy", "p", "--candidate", "c"]}[command]
        assert make_parser().parse_args([command, *needed, *arguments]).command == command


def test_the_manifest_is_one():
    done = subprocess.run(
        [find_pre_commit(), "validate-manifest", ".pre-commit-hooks.yaml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A home of its own for the environments that pre-commit makes; skips where packages can't be fetched."""
    find_pre_commit()
    words = ["-q", "--no-deps", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"]
    asked = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            *words,
            "-d",
            tmp_path_factory.mktemp("asked"),
            "hatchling",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if asked.returncode:
        pytest.skip(f"no packages can be fetched: {asked.stderr.strip()[-200:]}")
    # git's own variables, set where these tests run in a hook, would name another repository
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit"))}


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    """This tree as a repository that others take the hooks from."""
    folder = tmp_path_factory.mktemp("origin") / "gateline"
    folder.mkdir()
    for name in INSTALLED_FROM:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    make_repository(folder)
    return folder


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "gates", folder / "gates")
    make_repository(folder)
    return folder


def run_pre_commit(project, environment, *arguments):
    return subprocess.run(
        [find_pre_commit(), *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )


def test_lint_stops_a_policy_with_a_slip_of_the_pen(project, hooks, environment):
    policy = project / "gates" / "short.yml"
    policy.write_text(policy.read_text(encoding="utf-8").replace("tolerance", "tolerence"), encoding="utf-8")
    done = run_pre_commit(project, environment, "try-repo", str(hooks), "gateline-lint", "--all-files")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "gateline: error: " in done.stdout
    assert "'tolerance'" in done.stdout
    assert "gates/rag.yml: fine" in done.stdout, "one bad policy does not hide the others"
    assert ".jsonl" not in done.stdout, "data are no policies"


def test_the_hooks_let_pass_what_is_fine_and_stop_what_the_gate_blocks(project, hooks, environment):
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=hooks, capture_output=True, text=True, check=True
    ).stdout.strip()

    def run_with(policy):
        args = ["--policy", f"gates/{policy}.yml", "--baseline", f"git:HEAD:{DATA}/baseline.jsonl"]
        check = {"id": "gateline-check", "args": [*args, "--candidate", f"{DATA}/candidate.jsonl"]}
        config = {"repos": [{"repo": str(hooks), "rev": revision, "hooks": [{"id": "gateline-lint"}, check]}]}
        (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        subprocess.run(["git", "add", ".pre-commit-config.yaml"], cwd=project, check=True)
        return run_pre_commit(project, environment, "run", "--all-files")

    blocked = run_with("rag")
    assert blocked.returncode == 1, blocked.stdout + blocked.stderr
    assert re.search(r"^gateline lint\.+Passed$", blocked.stdout, re.MULTILINE)
    assert re.search(r"^gateline check\.+Failed$", blocked.stdout, re.MULTILINE)
    assert "rag: blocked" in blocked.stdout
    passed = run_with("short")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "short: passed" in passed.stdout
