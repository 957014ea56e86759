"""The GitLab component: typed inputs, run by gitlab-ci-local in the shell of this machine.

tests/container runs it in the image.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from xml.etree import ElementTree

import pytest
import yaml
from readme import ROOT, variable_of

import gateline
from gateline.cli.arguments import make_parser
from gitlab_local import find_program, make_repository, run_local

FILE = ROOT / "templates" / "gateline.yml"
HEADER, BODY = yaml.safe_load_all(FILE.read_text(encoding="utf-8"))
INPUTS = HEADER["spec"]["inputs"]
((NAME, JOB),) = BODY.items()
DATA = "gates/data/refchecker"
GATE = {"baseline": f"{DATA}/baseline.jsonl", "candidate": f"{DATA}/candidate.jsonl"}
CODE_QUALITY = "gl-code-quality-report.json"
COMPONENT = "$CI_SERVER_FQDN/$CI_PROJECT_PATH/gateline@$CI_COMMIT_SHA"


def options_of_ci():
    commands = next(one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction))
    actions = commands.choices["ci"]._actions
    return {variable_of(one, "ci"): one for one in actions if one.dest not in ("help", "verbose")}


def inputs_by_variable():
    return {
        variable: re.fullmatch(r"\$\[\[ inputs\.([\w-]+) \]\] ?", value)[1]
        for variable, value in JOB["variables"].items()
    }


def test_each_input_is_a_variable_of_the_program_or_a_part_of_the_job():
    named = inputs_by_variable()
    assert set(options_of_ci()) == set(named)
    of_the_job = set(re.findall(r"inputs\.([\w-]+)", json.dumps({**BODY[NAME], "variables": None, NAME: 0})))
    assert set(INPUTS) == set(named.values()) | of_the_job
    assert of_the_job == {"job-name", "stage", "image", "artifact-name", "expire-in", "output-dir"}


def test_inputs_are_required_typed_and_preset_as_the_options_are():
    for variable, option in options_of_ci().items():
        told = INPUTS[inputs_by_variable()[variable]]
        assert ("default" not in told) == option.required
        if option.nargs == 0:
            assert (told["type"], told["default"]) == ("boolean", False)
        else:
            assert told["type"] == "string"
            # a language is a file of the program, and the program says which there are
            listed = None if option.choices is None or option.dest == "lang" else list(option.choices)
            assert told.get("options") == listed
            if listed:
                assert told["default"] == option.default
    assert all(told["description"].strip() for told in INPUTS.values())


def test_no_variable_is_a_yaml_boolean():
    """GitLab takes strings and whole numbers as variables only; an input that is all of a value keeps its type."""
    for variable, name in inputs_by_variable().items():
        alone = JOB["variables"][variable].endswith("]]")
        assert alone == (INPUTS[name]["type"] == "string")


def test_a_value_never_stands_in_a_script():
    assert JOB["script"] == ["gateline ci"]
    assert not {"before_script", "after_script"} & set(JOB)


def test_the_image_is_this_version_and_its_own_entrypoint_does_not_swallow_the_script():
    assert INPUTS["image"]["default"].endswith(f"gateline:{gateline.__version__}")
    assert JOB["image"] == {"name": "$[[ inputs.image ]]", "entrypoint": [""]}


def test_the_reports_are_the_files_that_the_program_writes():
    """A code quality report is sent as it is, so a pattern that fits two files would fail the upload."""
    artifacts = JOB["artifacts"]
    assert artifacts["when"] == "always"
    assert artifacts["paths"] == ["$[[ inputs.output-dir ]]/"]
    assert "*" not in artifacts["reports"]["codequality"]
    assert artifacts["expose_as"]


@pytest.fixture(scope="session")
def program(request):
    return find_program(request.config.cache.mkdir("gitlab-ci-local"))


@pytest.fixture
def project(tmp_path):
    """A project that holds the component, so that it is taken from there and not from a server."""

    def make(*includes, **more):
        folder = tmp_path / "project"
        shutil.copytree(ROOT / "gates", folder / "gates")
        shutil.copytree(ROOT / "templates", folder / "templates")
        listed = [{"component": COMPONENT, "inputs": inputs} for inputs in includes]
        (folder / ".gitlab-ci.yml").write_text(json.dumps({"include": listed, **more}), encoding="utf-8")
        make_repository(folder)
        return folder

    return make


def kept(folder, job="gateline"):
    """Return the folder with the job's artifacts."""
    return folder / ".gitlab-ci-local" / "artifacts" / job


@pytest.mark.parametrize(("policy", "code"), [("rag", 1), ("short", 0), ("none", 2)])
def test_the_job_ends_as_the_gate_does_and_keeps_the_reports(program, project, policy, code):
    folder = project({"policy": f"gates/{policy}.yml", **GATE})
    done = run_local(program, folder, "gateline")
    # gitlab-ci-local tells a failed job by 1, and the job's own code in its last line
    assert done.returncode == min(code, 1), done.stdout + done.stderr
    assert (f"FAIL {code}" in done.stdout + done.stderr) == (code != 0)
    reports = kept(folder) / "gateline-out"
    verdict = json.loads((reports / "verdict.json").read_text(encoding="utf-8"))
    assert verdict["exit_code"] == code
    suite = ElementTree.parse(reports / "junit.xml").getroot()
    assert bool(suite.findall(".//failure") or suite.findall(".//error")) == (code != 0)
    issues = json.loads((reports / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert bool(issues) == (code != 0)
    assert all(issue["location"]["path"] == f"gates/{policy}.yml" for issue in issues)


def test_every_input_does_what_it_says(program, project):
    inputs = {
        "policy": "gates/rag.yml",
        "candidate": GATE["candidate"],
        "first-run": True,
        "output-dir": "out/gate",
        "judged-on": "2026-12-01",
        "read-as": "jsonl",
        "job-name": "quality-gate",
        "stage": "gates",
        "comment": "never",
        "with-excerpts": True,
        "lang": "zh",
    }
    folder = project(inputs, stages=["gates"])
    done = run_local(program, folder, "--stage", "gates")
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads((kept(folder, "quality-gate") / "out/gate/verdict.json").read_text(encoding="utf-8"))
    assert (verdict["verdict"], verdict["judged_on"], verdict["baseline"]) == ("pass", "2026-12-01", None)
    page = (kept(folder, "quality-gate") / "out/gate/report.html").read_text(encoding="utf-8")
    assert '<html lang="zh' in page


def test_each_inclusion_is_a_gate_with_a_job_of_its_own(program, project):
    one = {"policy": "gates/rag.yml", **GATE, "output-dir": "out-rag", "job-name": "rag"}
    other = {"policy": "gates/short.yml", **GATE, "output-dir": "out-short", "job-name": "short"}
    folder = project(one, other)
    done = run_local(program, folder)
    assert done.returncode == 1
    for name, word in (("rag", "fail"), ("short", "pass")):
        verdict = json.loads((kept(folder, name) / f"out-{name}/verdict.json").read_text(encoding="utf-8"))
        assert (verdict["policy"]["name"], verdict["verdict"]) == (name, word)


def test_a_pattern_of_policies_is_several_gates_in_one_job(program, project):
    folder = project({"policy": "gates/*.yml", **GATE})
    done = run_local(program, folder, "gateline")
    assert done.returncode == 1
    names = {path.parent.name for path in (kept(folder) / "gateline-out").glob("*/junit.xml")}
    assert names == {"rag", "refusals", "short"}
    lists = [
        json.loads((kept(folder) / "gateline-out" / name / CODE_QUALITY).read_text(encoding="utf-8"))
        for name in sorted(names)
    ]
    joined = json.loads((kept(folder) / "gateline-out" / CODE_QUALITY).read_text(encoding="utf-8"))
    assert joined == [issue for issues in lists for issue in issues]
    assert {issue["location"]["path"] for issue in joined} == {"gates/rag.yml", "gates/refusals.yml"}
    assert len({issue["fingerprint"] for issue in joined}) == len(joined)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"fail-on": "sometimes"}, "list of allowed options"),
        ({"comment": "loudly"}, "list of allowed options"),
        ({"first-run": "perhaps"}, "boolean"),
        ({"output-dir": "../elsewhere"}, "does not match required regex"),
        ({"output-dir": "/etc"}, "does not match required regex"),
        ({"artifact-name": "a/$(id)"}, "does not match required regex"),
        ({"policy": None}, "input"),
    ],
)
def test_an_input_that_is_none_is_refused_before_anything_runs(program, project, changed, said):
    inputs = {"policy": "gates/rag.yml", **GATE, **changed}
    folder = project({name: value for name, value in inputs.items() if value is not None})
    done = run_local(program, folder, "gateline")
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
    assert "$ gateline ci" not in done.stdout
    assert not kept(folder).exists()


RULED = [
    ({"CI_PIPELINE_SOURCE": "merge_request_event"}, True),
    ({"CI_PIPELINE_SOURCE": "schedule"}, True),
    ({"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}, True),
    ({"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "topic", "CI_DEFAULT_BRANCH": "main"}, False),
    ({"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "", "CI_DEFAULT_BRANCH": ""}, False),
]


@pytest.mark.parametrize(("variables", "runs"), RULED)
def test_it_runs_for_merge_requests_schedules_and_the_default_branch(program, project, variables, runs):
    folder = project({"policy": "gates/short.yml", **GATE})
    done = run_local(program, folder, "--list-json", variables=variables)
    listed = json.loads(done.stdout[done.stdout.index("[") :])
    assert [job["name"] for job in listed if job["when"] != "never"] == (["gateline"] if runs else [])


HOSTILE = [
    '"; touch pwned; echo "',
    "'; touch pwned; echo '",
    "$(touch pwned)",
    "`touch pwned`",
    "x && touch pwned",
    "x\ntouch pwned\n",
    'x\' "$(touch pwned)" `touch pwned` ; touch pwned #',
    "--help",
    "*",
    ": [1, 2]",
    "${IFS}touch${IFS}pwned",
]


FREE_TEXT = ["policy", "candidate", "baseline", "base-policy", "read-as", "judged-on", "lang"]


def test_a_hostile_value_stays_a_value(program, project):
    """Each text in every free input of an inclusion of its own: none runs as a command, and none passes."""
    includes = [
        {**dict.fromkeys(FREE_TEXT, text), "job-name": f"gate-{number}", "output-dir": f"out-{number}"}
        for number, text in enumerate(HOSTILE)
    ]
    folder = project(*includes)
    done = run_local(program, folder)
    assert list(folder.rglob("pwned")) == []
    ended = dict(
        re.findall(r"^(gate-\d+) +finished in .+ FAIL (\d+)", done.stdout + done.stderr, re.MULTILINE)
    )
    assert ended == {f"gate-{number}": "2" for number in range(len(HOSTILE))}
    verdicts = [
        json.loads(file.read_text(encoding="utf-8")) for file in kept(folder, "").rglob("verdict.json")
    ]
    assert {verdict["verdict"] for verdict in verdicts} == {"invalid"}
    assert {verdict["policy"]["file"] for verdict in verdicts} >= set(HOSTILE[:5])


def test_a_hostile_name_of_a_job_is_a_name(program, project):
    folder = project({"policy": "gates/short.yml", **GATE, "job-name": HOSTILE[0]})
    done = run_local(program, folder)
    assert list(folder.rglob("pwned")) == []
    assert done.returncode == 0, done.stdout + done.stderr
