"""Workflows with the action, run by act: this repository's self-test, and the one that the README shows.

act reads the workflow and action.yml as GitHub does, starts each step, and hands outputs on. Where the engine has no
network for builds, action.yml names the image that was built already in place of the Dockerfile; nothing else differs.
"""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from running import DATA, IMAGE, ROOT
from stand_in import PULL_REQUEST, REPOSITORY, TOKEN


@pytest.fixture(scope="module")
def program():
    beside = Path(sys.executable).parent / "act"
    found = str(beside) if beside.exists() else shutil.which("act")
    if found is None:
        pytest.skip("no act: pip install --group containers")
    return found


@pytest.fixture
def checkout(image, bridge, tmp_path):
    """A clone of this tree with a remote, as act wants one."""
    folder = tmp_path / "clone"
    folder.mkdir()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    wanted = re.compile(r"(src|gates|\.github)/|[^/]*$")
    for name in (one for one in listed if one and wanted.match(one) and (ROOT / one).is_file()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    if not bridge:
        action = (folder / "action.yml").read_text(encoding="utf-8")
        changed = action.replace("image: Dockerfile", f"image: docker://{IMAGE}")
        assert changed != action
        (folder / "action.yml").write_text(changed, encoding="utf-8")
    git(folder, "init", "-q", "-b", "main", ".")
    git(folder, "remote", "add", "origin", f"https://github.com/{REPOSITORY}.git")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "all")
    return folder


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def run_act(program, base, folder, tmp_path, *words):
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return subprocess.run(
        [program, "-P", f"ubuntu-latest={base}", "--pull=false", "--json", *words],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False, timeout=900,
        env={**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home), "XDG_CONFIG_HOME": str(home)},
    )  # fmt: skip


def results(done):
    """Return the outcome of each step by its name, from act's log of JSON lines."""
    found = {}
    for line in done.stdout.splitlines():
        told = json.loads(line) if line.startswith("{") else {}
        if "stepResult" in told and told.get("stage") == "Main":
            found[told["step"]] = told["stepResult"]
    return found


def test_the_self_test_of_this_repository(program, base, checkout, tmp_path):
    done = run_act(program, base, checkout, tmp_path, "pull_request", "-W", ".github/workflows/self-test.yml")
    found = results(done)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert {name: found[name] for name in found if not name.startswith("actions/")} == {
        "A gate that blocks": "failure",
        "A gate that passes": "success",
        "A candidate that is not there": "failure",
        "Each said what it had to say": "success",
    }


def test_the_workflow_of_the_readme_comments_and_hands_its_outputs_on(
    program, base, checkout, github, tmp_path
):
    """With what a reader fills in: an evaluation, and a later step that reads the outputs."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = next(
        block for block in re.findall(r"```yaml\n(.+?)```", text, re.DOTALL) if "OWNER/gateline@" in block
    )
    workflow = yaml.safe_load(shown)
    workflow["on"] = workflow.pop(True)  # as YAML 1.1 reads the word
    steps = workflow["jobs"]["gate"]["steps"]
    for step in steps:
        if "OWNER/gateline@" in step.get("uses", ""):
            step["uses"], step["continue-on-error"] = "./", True
        elif "evaluate.py" in step.get("run", ""):
            step["run"] = f"mkdir -p results && cp {DATA}/*.jsonl results/"
    outputs = ["verdict", "failed", "verdict-file", "comment-posted"]
    said = " ".join(f"${{{{ steps.gate.outputs.{name} }}}}" for name in outputs)
    steps.append(
        {
            "name": "later",
            "env": {"SAID": f"${{{{ steps.gate.outcome }}}} {said}"},
            "run": 'echo "said: $SAID"',
        }
    )
    (checkout / ".github/workflows/gate.yml").write_text(yaml.safe_dump(workflow), encoding="utf-8")
    event = copy.deepcopy(PULL_REQUEST)
    (tmp_path / "event.json").write_text(json.dumps(event), encoding="utf-8")
    github.files[(event["pull_request"]["base"]["sha"], "gates/rag.yml")] = (
        ROOT / "gates/rag.yml"
    ).read_bytes()
    done = run_act(
        program, base, checkout, tmp_path, "pull_request", "-W", ".github/workflows/gate.yml",
        "-e", str(tmp_path / "event.json"), "-s", f"GITHUB_TOKEN={TOKEN}", "--env", f"GITHUB_API_URL={github.base}",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "said: failure fail 1 gateline-out/verdict.json true" in done.stdout
    (comment,) = github.comments
    assert comment["body"].startswith("<!-- gateline: rag -->\n")
    assert "### ❌ rag: blocked" in comment["body"]
    assert "Policy unchanged." in comment["body"]
    assert TOKEN not in done.stdout + done.stderr
