"""The GitLab component in gateline's image, run by gitlab-ci-local's Docker executor as a runner would.

The entrypoint of an image swallows a job's script where the job does not set it: what then happens is shown as well.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from engine import build, docker
from running import DATA, IMAGE, ROOT

from gitlab_local import find_program, make_repository, run_local

HELPER = "gateline-tests-gitlab-helper"
GATE = {"baseline": f"{DATA}/baseline.jsonl", "candidate": f"{DATA}/candidate.jsonl", "image": IMAGE}
COMPONENT = "$CI_SERVER_FQDN/$CI_PROJECT_PATH/gateline@$CI_COMMIT_SHA"


@pytest.fixture(scope="module")
def program(request):
    return find_program(request.config.cache.mkdir("gitlab-ci-local"))


@pytest.fixture(scope="module")
def executor(base, engine_name, tmp_path_factory):
    """Options for an engine without a network: no pulling, and a helper image made of this machine's rsync."""
    if (
        engine_name == "at hand"
        and "bridge" in docker("network", "ls", "--format", "{{.Name}}").stdout.split()
    ):
        return ["--pull-policy", "if-not-present"]
    context = tmp_path_factory.mktemp("helper")
    rsync = shutil.which("rsync")
    linked = subprocess.run(["ldd", rsync], capture_output=True, text=True, check=True).stdout
    (context / "lib").mkdir()
    for library in re.findall(r"=> (/\S+)", linked):
        if not re.search(r"/(libc|libm|libpthread|ld-linux)[.-]", library):
            shutil.copy(library, context / "lib")
    shutil.copy(rsync, context / "rsync")
    recipe = f"FROM {base}\nCOPY rsync /usr/bin/rsync\nCOPY lib /usr/local/lib\nRUN ldconfig\n"
    (context / "Dockerfile").write_text(recipe, encoding="utf-8")
    build(context, HELPER)
    tried = docker("run", "--rm", "--network", "none", HELPER, "rsync", "--version", check=False)
    if tried.returncode:
        pytest.skip(f"no helper image can be made here: {tried.stderr.strip()[-200:]}")
    return ["--pull-policy", "if-not-present", "--network", "host", "--helper-image", HELPER]


@pytest.fixture
def project(image, tmp_path):
    def make(config):
        folder = tmp_path / "project"
        shutil.copytree(ROOT / "gates", folder / "gates")
        shutil.copytree(ROOT / "templates", folder / "templates")
        (folder / ".gitlab-ci.yml").write_text(json.dumps(config), encoding="utf-8")
        make_repository(folder)
        return folder

    return make


def included(policy):
    inputs = {"policy": f"gates/{policy}.yml", **GATE}
    return {"include": [{"component": COMPONENT, "inputs": inputs}]}


def kept(folder):
    return folder / ".gitlab-ci-local" / "artifacts" / "gateline" / "gateline-out"


@pytest.mark.parametrize(("policy", "code"), [("rag", 1), ("short", 0), ("none", 2)])
def test_the_job_ends_as_the_gate_does_and_keeps_the_reports(program, executor, project, policy, code):
    folder = project(included(policy))
    done = run_local(program, folder, "gateline", *executor, docker=True)
    told = done.stdout + done.stderr
    assert done.returncode == min(code, 1), told
    assert (f"FAIL {code}" in told) == (code != 0)
    assert IMAGE in told, "it ran in the image"
    verdict = json.loads((kept(folder) / "verdict.json").read_text(encoding="utf-8"))
    assert verdict["exit_code"] == code
    suite = ElementTree.parse(kept(folder) / "junit.xml").getroot()
    assert bool(suite.findall(".//failure") or suite.findall(".//error")) == (code != 0)
    assert bool(json.loads((kept(folder) / "gl-code-quality-report.json").read_text())) == (code != 0)


def test_without_an_entrypoint_of_its_own_a_job_runs_no_script(program, executor, project):
    """The trap that the component avoids: of a job that names the image alone, not one line of the script is run."""
    job = {
        "image": IMAGE,
        "variables": {
            "GATELINE_POLICY": "gates/rag.yml",
            "GATELINE_BASELINE": GATE["baseline"],
            "GATELINE_CANDIDATE": GATE["candidate"],
        },
        "script": ["touch gateline-out-of-reach", "gateline ci"],
        "artifacts": {"when": "always", "paths": ["gateline-out/", "gateline-out-of-reach"]},
    }
    folder = project({"gateline": job})
    done = run_local(program, folder, "gateline", *executor, docker=True)
    assert not kept(folder).exists()
    assert list(folder.rglob("gateline-out-of-reach")) == []
    assert "rag: blocked" not in done.stdout
    mended = {**job, "image": {"name": IMAGE, "entrypoint": [""]}}
    (folder / ".gitlab-ci.yml").write_text(json.dumps({"gateline": mended}), encoding="utf-8")
    done = run_local(program, folder, "gateline", *executor, docker=True)
    assert done.returncode == 1
    assert "rag: blocked" in done.stdout
    assert (kept(folder) / "verdict.json").exists()
