"""The image, really built and run: as `docker run` does, as a GitHub runner starts it, as a GitLab runner does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from engine import docker
from running import ACTION, DATA, GATE, IMAGE, OWNER, ROOT, listing, run, run_action


def test_the_action_blocks_and_its_files_belong_to_the_workspace(workspace, tmp_path):
    before = listing(workspace)
    inputs = {
        "policy": "gates/rag.yml",
        "baseline": GATE[1],
        "candidate": GATE[3],
        "output-dir": "reports/new",
    }
    step = run_action(workspace, tmp_path, inputs)
    outputs = step.outputs
    assert step.returncode == 1, step.stderr
    assert step.home == []
    assert step.files["env"] == step.files["path"] == step.files["state"] == ""
    assert set(outputs) == set(ACTION["outputs"])
    assert (outputs["verdict"], outputs["failed"]) == ("fail", "1")
    assert "rag: blocked" in step.files["step_summary"]
    assert "::error file=gates/rag.yml,line=" in step.stdout
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
    step = run_action(workspace, tmp_path, inputs)
    assert (step.returncode, step.outputs["verdict"]) == (2, "invalid")
    assert "no verdict" in step.files["step_summary"]


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
        "command -v gcc cc make ld git",
        "find /opt/gateline -name '*.py' -path '*/gateline/*' | wc -l",
        "find /opt/gateline -name '*.pyc' -path '*/gateline/*' | wc -l",
        "ls /opt/gateline/bin",
        "ls /source",
    ]
    done = docker(
        "run", "--rm", "--network", "none", "--entrypoint", "sh", image, "-c", "; ".join(look), check=False
    )
    sources, compiled, *programs = done.stdout.split()  # no compiler and no git come before
    assert sources == compiled != "0", "bytecode is made at build time"
    assert "pip" not in programs
    assert "/source" in done.stderr, "the sources stay in the build stage"


def test_without_arguments_it_says_what_it_can_do(image):
    done = docker("run", "--rm", "--network", "none", image)
    assert "usage: gateline" in done.stdout


def test_it_says_the_version_of_this_tree(image):
    import gateline

    done = docker("run", "--rm", "--network", "none", image, "--version")
    assert (done.stdout, done.stderr) == (f"gateline {gateline.__version__}\n", "")


@pytest.mark.parametrize(
    ("policy", "candidate", "code"),
    [
        ("gates/rag.yml", GATE[3], 1),
        ("gates/short.yml", GATE[3], 0),
        ("gates/short.yml", "none.jsonl", 2),
        ("none.yml", GATE[3], 2),
    ],
)
def test_the_exit_code_is_the_gate_s_own(workspace, policy, candidate, code):
    done = run(workspace, "check", "--policy", policy, *GATE[:3], candidate, "--output-dir", "reports")
    assert done.returncode == code, done.stderr
    told = json.loads((workspace / "reports" / "verdict.json").read_text(encoding="utf-8"))
    assert told["exit_code"] == code


CASES = ROOT / "tests" / "cases" / "shipped"


def test_every_shipped_case_is_judged_as_outside(image):
    """What was left out of the packages in the image is missed by no case: the same verdicts, byte for byte."""
    folders = sorted(
        path.name
        for path in CASES.iterdir()
        if all((path / name).exists() for name in ("policy.yml", "baseline.jsonl", "candidate.jsonl"))
    )
    assert len(folders) > 20
    script = f"""if True:
        import os
        from gateline.cli import run
        for name in {folders}:
            os.chdir(os.path.join(os.environ["CASES"], name))
            run(["check", "--policy", "policy.yml", "--baseline", "baseline.jsonl", "--candidate", "candidate.jsonl",
                 "--on", "2026-06-01", "--format", "json"])"""
    inside = docker(
        "run", "--rm", "--network", "none", "--read-only", "-v", f"{CASES}:/w:ro", "-e", "CASES=/w",
        "--entrypoint", "/opt/gateline/bin/python", image, "-c", script, check=False,
    )  # fmt: skip
    outside = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True, text=True, encoding="utf-8", check=False, env={**os.environ, "CASES": str(CASES)},
    )  # fmt: skip
    assert outside.stdout.count('"schema": "gateline.verdict/1"') == len(folders)
    assert inside.stdout == outside.stdout


def test_of_scipy_only_what_stays_in_the_image_is_imported():
    """The image holds of scipy the special functions alone; another import would fail there, perhaps late."""
    used = set()
    for path in (ROOT / "src").rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\s*(?:from|import) (scipy[\w.]*)", line):
                used.add(found[1])
    assert used == {"scipy.special"}


def test_every_package_of_the_extra_all_is_in_the_image(image):
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    chosen = re.findall(r"[\w-]+", extras["all"][0].partition("[")[2])
    wanted = {re.match(r"[\w.-]+", one)[0] for name in chosen for one in extras[name]}
    look = "from importlib.metadata import distributions; print(*(one.name for one in distributions()))"
    done = docker(
        "run", "--rm", "--network", "none", "--entrypoint", "/opt/gateline/bin/python", image, "-c", look
    )
    there = {name.lower().replace("_", "-") for name in done.stdout.split()}
    assert {"pyarrow", "orjson"} <= wanted
    assert {name.lower().replace("_", "-") for name in wanted} <= there
