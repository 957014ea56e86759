"""Starts the image as others do: as `docker run` in a workspace, and as a GitHub runner starts a Docker action.

What a runner does for a Docker action was read in actions/runner 2.336 (ContainerActionHandler, DockerCommandManager,
FileCommandManager): names and contents of variables, mounts, and files for commands.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path

import yaml
from engine import docker

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
IMAGE = "gateline:container-tests"
DATA = "gates/data/refchecker"
GATE = ["--baseline", f"{DATA}/baseline.jsonl", "--candidate", f"{DATA}/candidate.jsonl"]
OWNER = 1001
COMMANDS = {"path": "add_path_", "env": "set_env_", "step_summary": "step_summary_", "state": "save_state_",
            "output": "set_output_"}  # fmt: skip


def run(workspace, *arguments, options=(), mode="rw", check=False):
    """`docker run` in a workspace, without any network."""
    return docker(
        "run", "--rm", "--network", "none", "-v", f"{workspace}:/w:{mode}", "-w", "/w", *options, IMAGE, *arguments,
        check=check,
    )  # fmt: skip


def listing(folder):
    return {path: (path.lstat().st_uid, path.lstat().st_mtime_ns) for path in [folder, *folder.rglob("*")]}


@dataclass
class Step:
    """A step that has run the action, or another command in its image."""

    returncode: int
    stdout: str
    stderr: str
    files: dict[str, str]
    """What each of the runner's command files holds."""
    home: list[Path]

    @property
    def outputs(self):
        return dict(line.split("=", 1) for line in self.files["output"].splitlines())

    @property
    def everything(self):
        return "\n".join([self.stdout, self.stderr, *self.files.values()])


def run_action(
    workspace, temp, inputs, *, event="pull_request", payload=None, network="none", words=None, **github
):
    """Run the action in a workspace, for an event; `words` take the place of its arguments.

    `github` are values of the runner's own context, such as `api_url`, that differ from the usual.
    """
    temp = Path(temp) / f"_temp-{uuid.uuid4()}"
    for name in ("_github_home", "_runner_file_commands", "_github_workflow"):
        (temp / name).mkdir(parents=True)
    (temp / "_github_workflow" / "event.json").write_text(json.dumps(payload or {}), encoding="utf-8")
    suffix = uuid.uuid4()
    files = {name: temp / "_runner_file_commands" / f"{start}{suffix}" for name, start in COMMANDS.items()}
    for file in files.values():
        file.touch()
    env = {**_inputs(inputs), **_context(event, payload or {}, github)}
    env |= {f"GITHUB_{name.upper()}": f"/github/file_commands/{file.name}" for name, file in files.items()}
    mounts = {
        temp: "/github/runner_temp",
        temp / "_github_home": "/github/home",
        temp / "_github_workflow": "/github/workflow",
        temp / "_runner_file_commands": "/github/file_commands",
        workspace: "/github/workspace",
    }
    done = docker(
        "run", "--name", f"step-{suffix}", "--workdir", "/github/workspace", "--rm",
        *(word for name in env for word in ("-e", name)), "--network", network,
        *(word for here, there in mounts.items() for word in ("-v", f"{here}:{there}")),
        IMAGE, *(ACTION["runs"]["args"] if words is None else words),
        check=False, env=env,
    )  # fmt: skip
    told = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    return Step(done.returncode, done.stdout, done.stderr, told, list((temp / "_github_home").iterdir()))


def _inputs(given):
    """Return the inputs as variables of their own, and as action.yml hands them on."""
    values = {name: told.get("default", "") for name, told in ACTION["inputs"].items()}
    values["token"] = ""
    values |= given
    env = {f"INPUT_{name.replace(' ', '_').upper()}": str(value) for name, value in values.items()}
    handed = {
        name: text.removeprefix("${{ inputs.").removesuffix(" }}")
        for name, text in ACTION["runs"]["env"].items()
    }
    return env | {name: str(values[source]) for name, source in handed.items()}


def _context(event, payload, given):
    change = payload.get("pull_request") or {}
    context = {
        "action": "__self", "action_ref": "", "action_repository": "", "actor": "octocat", "actor_id": "583231",
        "api_url": "https://api.github.com", "base_ref": (change.get("base") or {}).get("ref", ""),
        "event_name": event, "event_path": "/github/workflow/event.json", "graphql_url": "https://api.github.com/graphql",
        "head_ref": (change.get("head") or {}).get("ref", ""), "job": "gate", "ref": "refs/heads/main",
        "ref_name": "main", "ref_protected": "false", "ref_type": "branch",
        "repository": (payload.get("repository") or {}).get("full_name", "acme/rag-app"), "repository_id": "1",
        "repository_owner": "acme", "repository_owner_id": "1", "retention_days": "90", "run_attempt": "1",
        "run_id": "1658821493", "run_number": "3", "server_url": "https://github.com", "sha": "a" * 40,
        "triggering_actor": "octocat", "workflow": "gate", "workflow_ref": "", "workflow_sha": "",
        "workspace": "/github/workspace", "actions": "true",
    } | given  # fmt: skip
    return {
        **{f"GITHUB_{name.upper()}": value for name, value in context.items()},
        "CI": "true", "HOME": "/github/home", "RUNNER_ARCH": "X64", "RUNNER_ENVIRONMENT": "github-hosted",
        "RUNNER_NAME": "GitHub Actions 2", "RUNNER_OS": "Linux", "RUNNER_TEMP": "/github/runner_temp",
        "RUNNER_TOOL_CACHE": "/opt/hostedtoolcache", "RUNNER_WORKSPACE": "/home/runner/work/rag-app",
        "ACTIONS_RUNTIME_URL": "http://127.0.0.1:9/", "ACTIONS_RUNTIME_TOKEN": "runtime-token-0123456789",
        "ACTIONS_RESULTS_URL": "http://127.0.0.1:9/",
    }  # fmt: skip
