"""The action, the image's recipe, the workflows and the GitLab job: what they promise is what the program knows."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil

import pytest
import yaml
from examples import find_examples
from readme import ROOT, run_gateline, variable_of

from gateline.cli.arguments import make_parser

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
DATA = "gates/data/refchecker"
FILES = {"baseline": f"{DATA}/baseline.jsonl", "candidate": f"{DATA}/candidate.jsonl"}


def options_of(command):
    commands = next(one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction))
    return [action for action in commands.choices[command]._actions if action.dest not in ("help", "verbose")]


def test_inputs_are_the_variables_that_ci_knows():
    variables = {variable_of(action, "ci") for action in options_of("ci")}
    assert None not in variables
    # the token is no option: a command line can be read by every process of the machine
    assert set(ACTION["runs"]["env"]) == variables | {"GATELINE_TOKEN"}
    for variable, value in ACTION["runs"]["env"].items():
        name = variable.removeprefix("GATELINE_").lower().replace("_", "-")
        assert value == f"${{{{ inputs.{name} }}}}"
    assert set(ACTION["inputs"]) == {value[11:-3] for value in ACTION["runs"]["env"].values()}
    assert ACTION["runs"]["args"] == ["ci"]


def test_inputs_are_required_and_preset_as_the_options_are():
    for action in options_of("ci"):
        told = ACTION["inputs"][action.option_strings[0].removeprefix("--")]
        assert told["required"] == action.required
        if action.dest == "fail_on":
            assert told["default"] == action.default
        elif action.nargs == 0:
            assert told["default"] == "false"


def run_action(workspace, tmp_path, **inputs):
    """Run `gateline ci` with the environment that a runner makes of the action's inputs, but without the image."""
    values = {name: told.get("default", "") for name, told in ACTION["inputs"].items()} | inputs
    runner = {"GITHUB_OUTPUT": tmp_path / "output", "GITHUB_STEP_SUMMARY": tmp_path / "summary"}
    for file in runner.values():
        file.write_text("")
    env = {name: str(values[given[11:-3]]) for name, given in ACTION["runs"]["env"].items()}
    base = {
        name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "SYSTEMROOT", "LANG")
    }
    done = run_gateline(
        "gateline ci",
        cwd=workspace,
        env={**base, **env, "GITHUB_ACTIONS": "true", **{name: str(path) for name, path in runner.items()}},
    )
    told = dict(line.split("=", 1) for line in runner["GITHUB_OUTPUT"].read_text().splitlines())
    return done, told, runner["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    shutil.copytree(ROOT / "gates", folder / "gates")
    return folder


def test_a_step_that_blocks(workspace, tmp_path):
    done, outputs, summary = run_action(workspace, tmp_path, policy="gates/rag.yml", **FILES)
    assert done.returncode == 1
    assert set(outputs) == set(ACTION["outputs"])
    verdict = json.loads((workspace / outputs["verdict-file"]).read_text(encoding="utf-8"))
    assert (
        (outputs["verdict"], outputs["failed"])
        == ("fail", "1")
        == (verdict["verdict"], str(verdict["counts"]["fail"]))
    )
    assert outputs["inconclusive"] == str(verdict["counts"]["inconclusive"])
    assert outputs["verdict-file"] == f"{ACTION['inputs']['output-dir']['default']}/verdict.json"
    assert "rag: blocked" in summary
    line = next(
        n
        for n, text in enumerate((workspace / "gates/rag.yml").read_text().splitlines(), 1)
        if "answers-hold-where-text-is-given" in text
    )
    assert f"::error file=gates/rag.yml,line={line}," in done.stdout
    made = {path.name for path in (workspace / "gateline-out").iterdir()}
    assert made == {"verdict.json", "comment.md", "junit.xml", "report.html"}


def test_a_first_run_needs_to_be_said(workspace, tmp_path):
    inputs = {"policy": "gates/rag.yml", "candidate": FILES["candidate"]}
    assert run_action(workspace, tmp_path, **inputs)[0].returncode == 2
    done, outputs, _ = run_action(workspace, tmp_path, **inputs, **{"first-run": "true"})
    assert (done.returncode, outputs["verdict"]) == (0, "pass")


def test_a_policy_loosened_by_the_change_is_told(workspace, tmp_path):
    strict = (workspace / "gates/rag.yml").read_text(encoding="utf-8")
    loose = re.sub(r"worse_by_at_most: 0\.0\d+", "worse_by_at_most: 0.9", strict)
    assert loose != strict
    (workspace / "loose.yml").write_text(loose, encoding="utf-8")
    done, outputs, summary = run_action(
        workspace, tmp_path, policy="loose.yml", **FILES, **{"base-policy": "gates/rag.yml"}
    )
    assert (done.returncode, outputs["verdict"]) == (0, "pass")
    assert "loosens the policy" in summary
    assert "worse_by_at_most" in summary


def test_the_image_is_made_as_the_hosts_need_it():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    names = [name for name, _ in steps]
    assert names.count("FROM") == 2
    assert not {"USER", "WORKDIR", "VOLUME", "SHELL"} & set(names)
    last = dict(steps[len(names) - 1 - names[::-1].index("FROM") :])
    assert json.loads(last["ENTRYPOINT"])[-1].endswith("/gateline")
    assert "RUN" not in last
    assert not re.search(r"apt-get|\bgit\b|gcc", "\n".join(step for _, step in steps))


def test_the_builder_is_given_what_the_image_is_made_of():
    copied = re.findall(
        r"^COPY (?!--)(.+) \S+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    passed = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(" ".join(copied).split()) == set(passed)


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem
)
def test_workflows_hold_no_rights_and_pin_what_they_use(workflow):
    told = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert told["permissions"] == {}
    for job in told["jobs"].values():
        # what a release may do beyond reading is listed job by job in test_release.py
        assert job["permissions"] == {"contents": "read"} or workflow.stem == "release"
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(use == "./" or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", use) for use in used)


def gitlab_job():
    return next(
        yaml.safe_load(example.text) for example in find_examples("gitlab") if "image:" in example.text
    )


def test_the_gitlab_job_runs_its_script_and_names_known_variables():
    job = gitlab_job()["gateline"]
    assert job["image"]["entrypoint"] == [""], (
        "else the image's entrypoint swallows the script and the job passes"
    )
    assert job["artifacts"]["when"] == "always"
    known = {variable_of(action, "ci") for action in options_of("ci")} | {"GATELINE_TOKEN"}
    text = (ROOT / "docs" / "gitlab.md").read_text(encoding="utf-8")
    assert set(re.findall(r"GATELINE_\w+", text)) <= known


@pytest.mark.parametrize("taken", ["gl-code-quality-report.json", "rag/gl-code-quality-report.json"])
def test_a_joint_report_that_cannot_be_written_is_a_note_and_changes_no_exit_code(workspace, taken):
    """A folder lies where the file should; the gates are rag, which blocks, and short, which passes."""
    (workspace / "out" / taken).mkdir(parents=True)
    given = [f"--{name} {value}" for name, value in FILES.items()]
    done = run_gateline(
        " ".join(["gateline ci --policy gates/rag.yml --policy gates/short.yml --output-dir out", *given]),
        cwd=workspace,
        env={"PATH": os.environ["PATH"], "GITLAB_CI": "true"},
    )
    assert done.returncode == 1, done.stderr
    assert "gateline: the reports of several gates can't be joined: " in done.stderr
    assert (workspace / "out" / "short" / "verdict.json").is_file()
    assert not any(file.is_file() for file in (workspace / "out").glob("gl-code-quality-report.json"))
