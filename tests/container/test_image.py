"""The image, really built and run: as a GitHub runner starts it, as `docker run` does, as a GitLab runner does.

Needs a Docker engine and the base image (or a registry). Without them every test here is skipped with the reason;
GATELINE_CONTAINER_TESTS=1 turns the reason into a failure, =0 skips without asking.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WANTED = os.environ.get("GATELINE_CONTAINER_TESTS", "")
IMAGE = "gateline:container-tests"
DATA = "gates/data/refchecker"
GATE = ["--baseline", f"{DATA}/baseline.jsonl", "--candidate", f"{DATA}/candidate.jsonl"]
OWNER = 1001


def docker(*words, check=True, env=None):
    return subprocess.run(
        ["docker", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=check,
        timeout=900,
        env={**os.environ, **(env or {})},
    )


def give_up(reason):
    if WANTED not in ("", "0"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """The image, built once: of several test processes the first builds, the others find its layers."""
    if WANTED == "0":
        pytest.skip("GATELINE_CONTAINER_TESTS=0")
    if shutil.which("docker") is None:
        give_up("no docker command")
    if (asked := docker("version", check=False)).returncode:
        give_up(f"no Docker engine: {asked.stderr.strip()[-200:]}")
    networks = docker("network", "ls", "--format", "{{.Name}}").stdout.split()
    with (tmp_path_factory.getbasetemp().parent / "image.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = docker(
            "build",
            "-q",
            *([] if "bridge" in networks else ["--network", "host"]),
            "-t",
            IMAGE,
            ROOT,
            check=False,
        )
    if built.returncode:
        told = built.stderr.strip()[-400:]
        if any(
            sign in told for sign in ("pull", "resolve", "registry", "no such host", "manifest", "dial tcp")
        ):
            give_up(f"the base image can't be had: {told}")
        pytest.fail(told)
    return IMAGE


@pytest.fixture
def workspace(image, tmp_path):
    """A checkout that belongs to an ordinary user, as on a runner."""
    folder = tmp_path / "workspace"
    shutil.copytree(ROOT / "gates", folder / "gates")
    (folder / "reports").mkdir()
    if os.geteuid() == 0:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, OWNER, OWNER)
    return folder


def run(workspace, *arguments, options=(), mode="rw", check=False):
    """`docker run` in a workspace, without any network."""
    return docker(
        "run",
        "--rm",
        "--network",
        "none",
        "-v",
        f"{workspace}:/w:{mode}",
        "-w",
        "/w",
        *options,
        IMAGE,
        *arguments,
        check=check,
    )


def listing(folder):
    return {path: (path.lstat().st_uid, path.lstat().st_mtime_ns) for path in [folder, *folder.rglob("*")]}


def run_action(workspace, tmp_path, inputs):
    """Start the container as actions/runner does (ContainerActionHandler.cs of 2.336)."""
    commands = tmp_path / "file_commands"
    commands.mkdir(exist_ok=True)
    files = {name: commands / f"{name}_{uuid.uuid4()}" for name in ("set_output", "step_summary", "set_env")}
    for file in files.values():
        file.touch()
    values = {name: told.get("default", "") for name, told in ACTION["inputs"].items()} | inputs
    env = {f"INPUT_{name.upper()}": str(value) for name, value in values.items()}
    env |= {name: str(values[given[11:-3]]) for name, given in ACTION["runs"]["env"].items()}
    env |= {
        "GITHUB_OUTPUT": f"/github/file_commands/{files['set_output'].name}",
        "GITHUB_STEP_SUMMARY": f"/github/file_commands/{files['step_summary'].name}",
        "GITHUB_ENV": f"/github/file_commands/{files['set_env'].name}",
        "GITHUB_WORKSPACE": "/github/workspace",
        "GITHUB_EVENT_NAME": "pull_request",
        "HOME": "/github/home",
        "GITHUB_ACTIONS": "true",
        "CI": "true",
    }
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    names = [word for name in env for word in ("-e", name)]
    done = docker(
        "run",
        "--rm",
        "--network",
        "none",
        "--workdir",
        "/github/workspace",
        *names,
        "-v",
        f"{home}:/github/home",
        "-v",
        f"{commands}:/github/file_commands",
        "-v",
        f"{workspace}:/github/workspace",
        IMAGE,
        *ACTION["runs"]["args"],
        check=False,
        env=env,
    )
    assert list(home.iterdir()) == []
    assert files["set_env"].read_text() == ""
    outputs = dict(line.split("=", 1) for line in files["set_output"].read_text().splitlines())
    return done, outputs, files["step_summary"].read_text(encoding="utf-8")


def test_the_action_blocks_and_its_files_belong_to_the_workspace(workspace, tmp_path):
    before = listing(workspace)
    inputs = {
        "policy": "gates/rag.yml",
        "baseline": GATE[1],
        "candidate": GATE[3],
        "output-dir": "reports/new",
    }
    done, outputs, summary = run_action(workspace, tmp_path, inputs)
    assert done.returncode == 1, done.stderr
    assert set(outputs) == set(ACTION["outputs"])
    assert (outputs["verdict"], outputs["failed"]) == ("fail", "1")
    assert "rag: blocked" in summary
    assert "::error file=gates/rag.yml,line=" in done.stdout
    after = listing(workspace)
    made = {path for path in after if path not in before}
    names = {"verdict.json", "comment.md", "junit.xml", "report.html"}
    assert made == {workspace / "reports/new", *(workspace / "reports/new" / name for name in names)}
    assert {after[path][0] for path in made} == {workspace.stat().st_uid}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o644}
    changed = {path for path in before if after[path] != before[path]}
    assert changed == {workspace / "reports"}, "nothing else is touched"
    assert after[workspace / "reports"][0] == before[workspace / "reports"][0]
    assert json.loads((workspace / outputs["verdict-file"]).read_text(encoding="utf-8"))["exit_code"] == 1


def test_the_action_without_a_candidate_has_no_verdict(workspace, tmp_path):
    inputs = {"policy": "gates/short.yml", "baseline": GATE[1], "candidate": "none.jsonl"}
    done, outputs, summary = run_action(workspace, tmp_path, inputs)
    assert (done.returncode, outputs["verdict"]) == (2, "invalid")
    assert "no verdict" in summary


def test_an_ordinary_user_can_run_it(workspace):
    if os.geteuid() != 0 and os.geteuid() != OWNER:
        pytest.skip("the workspace must belong to the user in the container")
    done = run(
        workspace,
        "check",
        "--policy",
        "gates/short.yml",
        *GATE,
        "--output-dir",
        "reports",
        options=("--user", OWNER),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.stat().st_uid for path in (workspace / "reports").iterdir()} == {OWNER}


@pytest.mark.parametrize(("policy", "code"), [("rag", 1), ("short", 2)])
def test_a_workspace_that_can_not_be_written(workspace, policy, code):
    """The verdict is told all the same; it never turns into a pass, nor a fail into something else."""
    done = run(
        workspace, "check", "--policy", f"gates/{policy}.yml", *GATE, "--output-dir", "reports", mode="ro"
    )
    assert done.returncode == code
    assert f"{policy}: " in done.stdout
    assert "reports/verdict.json" in done.stderr
    assert "can't be written" in done.stderr
    assert list((workspace / "reports").iterdir()) == []


def test_it_needs_no_rights_and_writes_nowhere_else(workspace):
    options = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "65534")
    done = run(workspace, "check", "--policy", "gates/rag.yml", *GATE, options=options, mode="ro")
    assert (done.returncode, done.stderr) == (1, "")
    assert "rag: blocked" in done.stdout


def test_same_bytes_inside_and_outside(workspace):
    """Another Python, another numpy and another scipy: the same verdict.json."""
    command = ["check", "--policy", "gates/rag.yml", *GATE, "--format", "json", "--on", "2026-12-01"]
    outside = subprocess.run(
        [sys.executable, "-P", "-m", "gateline", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    inside = run(workspace, *command)
    assert (inside.returncode, inside.stdout) == (outside.returncode, outside.stdout)
    assert json.loads(inside.stdout)["verdict"] == "fail"


def test_a_gitlab_runner_can_run_a_script_in_it(workspace):
    """A runner with `entrypoint: [""]` hands a script to a shell on stdin."""
    env = {
        "GATELINE_POLICY": "gates/rag.yml",
        "GATELINE_BASELINE": GATE[1],
        "GATELINE_CANDIDATE": GATE[3],
        "GATELINE_OUTPUT_DIR": "reports",
        "CI": "true",
        "GITLAB_CI": "true",
    }
    options = [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
    done = subprocess.run(
        [
            "docker",
            "run",
            "--rm",
            "-i",
            "--network",
            "none",
            "-v",
            f"{workspace}:/w",
            "-w",
            "/w",
            *options,
            "--entrypoint",
            "",
            IMAGE,
            "sh",
        ],
        input="set -e\necho before\ngateline ci\necho after\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert done.returncode == 1
    assert done.stdout.startswith("before\n")
    assert "after\n" not in done.stdout
    assert "::error" not in done.stdout, "workflow commands are for GitHub"
    assert (workspace / "reports/junit.xml").read_text(encoding="utf-8").count("<failure") == 1


def test_parquet_can_be_read(workspace):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    for side in ("baseline", "candidate"):
        lines = (ROOT / DATA / f"{side}.jsonl").read_text(encoding="utf-8").splitlines()[1:]
        records = [json.loads(line) for line in lines]
        parquet.write_table(pyarrow.Table.from_pylist(records), workspace / f"{side}.parquet")
    done = run(
        workspace,
        "check",
        "--policy",
        "gates/short.yml",
        "--baseline",
        "baseline.parquet",
        "--candidate",
        "candidate.parquet",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "300 questions" in done.stdout


def test_the_image_holds_what_it_needs_and_no_more(image):
    config = json.loads(docker("image", "inspect", image).stdout)[0]["Config"]
    assert config["Entrypoint"] == ["/opt/gateline/bin/gateline"]
    assert not config.get("User")
    assert config.get("WorkingDir") in ("", "/", None)
    look = [
        "command -v gcc cc make ld",
        "find /opt/gateline -name '*.py' -path '*/gateline/*' | wc -l",
        "find /opt/gateline -name '*.pyc' -path '*/gateline/*' | wc -l",
        "ls /opt/gateline/bin",
        "ls /source",
    ]
    done = docker(
        "run", "--rm", "--network", "none", "--entrypoint", "sh", image, "-c", "; ".join(look), check=False
    )
    sources, compiled, *programs = done.stdout.split()
    assert sources == compiled != "0", "bytecode is made at build time"
    assert "pip" not in programs
    assert "/source" in done.stderr, "the sources stay in the build stage"


def test_without_arguments_it_says_what_it_can_do(image):
    done = docker("run", "--rm", "--network", "none", image)
    assert "usage: gateline" in done.stdout
