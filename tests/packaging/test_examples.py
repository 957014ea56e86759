"""The YAML that the documents show: hosts' schemas and linters take it, and the GitLab jobs are really run."""

from __future__ import annotations

import http.server
import io
import json
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from examples import find_examples, write_examples
from readme import ROOT

import gateline
from gateline.cli.arguments import make_parser
from gitlab_local import find_program, make_repository, run_local

DATA = ROOT / "gates" / "data" / "refchecker"
COMPONENT = re.compile(r"\$CI_SERVER_FQDN/GROUP/gateline/gateline@v[\d.]+")
HERE = "$CI_SERVER_FQDN/$CI_PROJECT_PATH/gateline@$CI_COMMIT_SHA"


def find_tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (dependency group hosts)")
    return found


def run_tool(name, *arguments):
    done = subprocess.run(
        [find_tool(name), *map(str, arguments)], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    write_examples(folder)
    return folder


def test_every_block_is_known_for_what_it_is():
    found = {}
    for example in find_examples():
        found.setdefault(example.kind, set()).add(example.document.name)
    assert found["github"] >= {"README.md", "github.md", "forks.md"}
    assert found["gitlab"] == {"README.md", "gitlab.md"}
    assert found["pre-commit"] == {"local.md"}
    for example in find_examples("other"):
        keys = set(yaml.safe_load(example.text))
        assert not keys & {"on", "stages", "default", "workflow", "services", "include"}, example.name


def test_workflows_are_what_github_takes(folder):
    files = list((folder / ".github/workflows").iterdir())
    assert len(files) == len(find_examples("github"))
    run_tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files)


def test_workflows_are_safe(folder):
    run_tool("zizmor", "--offline", "--quiet", folder)


def test_gitlab_files_are_what_gitlab_takes(folder):
    schema = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]
    run_tool("check-jsonschema", *schema, *(folder / "gitlab").iterdir())


def test_configurations_are_what_pre_commit_takes(folder):
    files = list((folder / "pre-commit").iterdir())
    assert files
    run_tool("pre-commit", "validate-config", *files)


def test_scripts_are_what_a_shell_takes(folder):
    scripts = sorted((folder / "scripts").iterdir())
    assert {"release-image-4", "ci-tests-3"} <= {script.stem for script in scripts}
    run_tool("shellcheck", "--severity", "info", *scripts)


@contextmanager
def gitlab_server():
    """A GitLab that has the artifacts of one job on main, and keeps the notes of one merge request."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.write(DATA / "baseline.jsonl", "results/candidate.jsonl")
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def answer(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            token = self.headers.get("private-token") or self.headers.get("job-token")
            seen.append((self.command, self.path, token, body.decode()))
            if self.path == "/api/v4/projects/77/jobs/artifacts/main/download?job=evaluate":
                self.reply(200, content.getvalue())
            elif self.path.startswith("/api/v4/projects/77/merge_requests/5/notes"):
                self.reply(*(201, b"{}") if self.command == "POST" else (200, b"[]"))
            elif self.path == "/api/v4/user":
                self.reply(200, b'{"username": "project_77_bot"}')
            else:
                self.reply(404, b'{"message": "404 File Not Found"}')

        def reply(self, status, body):
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815  (the server's names)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/api/v4", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.mark.parametrize("example", find_examples("gitlab"), ids=lambda example: example.name)
def test_a_pipeline_shown_runs_the_gate(request, tmp_path, example):
    """In this machine's shell, with the component taken from this tree, and results as the example expects them."""
    program = find_program(request.config.cache.mkdir("gitlab-ci-local"))
    project = tmp_path / "project"
    for folder in ("gates", "templates"):
        shutil.copytree(ROOT / folder, project / folder)
    (project / "results").mkdir()
    shutil.copy(DATA / "baseline.jsonl", project / "results")
    policy = (ROOT / "gates" / "rag.yml").read_text(encoding="utf-8")
    expected = re.findall(r"gates/(\w+)\.yml", example.text)
    for name in expected:
        named = re.sub(r"^name: .+$", f"name: {name}", policy, flags=re.MULTILINE)
        (project / "gates" / f"{name}.yml").write_text(named, encoding="utf-8")
    if "evaluate.py" in example.text:
        script = "import shutil, sys; shutil.copy('kept.jsonl', sys.argv[sys.argv.index('--out') + 1])\n"
        (project / "evaluate.py").write_text(script, encoding="utf-8")
        shutil.copy(DATA / "candidate.jsonl", project / "kept.jsonl")
    else:
        shutil.copy(DATA / "candidate.jsonl", project / "results")
    (project / ".gitlab-ci.yml").write_text(COMPONENT.sub(HERE, example.text), encoding="utf-8")
    make_repository(project)
    with gitlab_server() as (address, seen):
        variables = {
            "CI_API_V4_URL": address, "CI_PROJECT_ID": "77", "CI_MERGE_REQUEST_IID": "5",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "GITLAB_TOKEN": "glpat-0123456789abcdef",
        }  # fmt: skip
        done = run_local(program, project, variables=variables)
    told = done.stdout + done.stderr
    assert done.returncode == 1, told
    assert len(re.findall(r"finished in .+ FAIL 1\b", told)) == len(expected), told
    kept = (project / ".gitlab-ci-local" / "artifacts").rglob("verdict.json")
    verdicts = [json.loads(file.read_text(encoding="utf-8")) for file in kept]
    assert sorted(verdict["policy"]["name"] for verdict in verdicts) == sorted(expected)
    assert {(verdict["verdict"], verdict["exit_code"]) for verdict in verdicts} == {("fail", 1)}
    notes = [
        json.loads(body)["body"] for method, path, _, body in seen if method == "POST" and "/notes" in path
    ]
    assert sorted(re.findall(r"^### .+ (\w+): blocked$", "\n".join(notes), re.MULTILINE)) == sorted(expected)
    assert {token for _, _, token, _ in seen} == {"glpat-0123456789abcdef"}
    assert "glpat-0123456789abcdef" not in told


LOCAL = (ROOT / "docs" / "local.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```sh\n(.+?)^```$", LOCAL, re.DOTALL | re.MULTILINE)


@pytest.fixture
def released(tmp_path):
    """A repository with results at a tag v1.2, and newer ones that lie there."""
    project = tmp_path / "project"
    for folder in ("gates", "results"):
        (project / folder).mkdir(parents=True)
    shutil.copy(ROOT / "gates" / "rag.yml", project / "gates")
    shutil.copy(DATA / "baseline.jsonl", project / "results" / "answers.jsonl")
    shutil.copy(DATA / "baseline.jsonl", project / "results" / "baseline.jsonl")
    make_repository(project)
    subprocess.run(["git", "tag", "v1.2"], cwd=project, check=True)
    shutil.copy(DATA / "candidate.jsonl", project / "results" / "answers.jsonl")
    return project


def run_script(script, folder):
    """Run a script that a page shows, with this gateline and nothing else of this machine's settings."""
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder.parent)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("script", [script for script in SCRIPTS if "docker" not in script])
def test_a_script_shown_for_the_own_machine_says_what_the_gate_says(released, script):
    done = run_script(script, released)
    assert done.returncode == 1, done.stderr
    assert "rag: blocked" in done.stdout
    made = {file.parent.relative_to(released).as_posix() for file in released.rglob("verdict.json")}
    assert made == set(re.findall(r"--output-dir ([\w.-]+)", script)) or made == {"out/rag"}
    for file in released.rglob("verdict.json"):
        verdict = json.loads(file.read_text(encoding="utf-8"))
        assert verdict["baseline"]["origin"]["source"] == "git:v1.2:results/answers.jsonl"
    if "--base-policy" in script:
        assert (released / "last-policy.yml").read_bytes() == (released / "gates" / "rag.yml").read_bytes()
    if "esac" in script:
        assert done.stdout.splitlines()[-1] == "the gate says no"


@pytest.mark.parametrize("script", [script for script in SCRIPTS if "docker" not in script])
def test_a_candidate_that_was_not_evaluated_again_is_no_release(released, script):
    shutil.copy(released / "results" / "baseline.jsonl", released / "results" / "answers.jsonl")
    done = run_script(script, released)
    assert done.returncode == 2, done.stdout
    assert "nothing in it says that it is another run" in done.stdout + done.stderr
    if "esac" in script:
        assert done.stdout.splitlines()[-1] == "nothing was decided"


def test_the_hooks_shown_are_of_this_version_and_know_their_arguments():
    (example,) = find_examples("pre-commit")
    (repo,) = yaml.safe_load(example.text)["repos"]
    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert repo["rev"] == f"v{gateline.__version__}"
    assert [hook["id"] for hook in repo["hooks"]] == [hook["id"] for hook in offered]
    arguments = repo["hooks"][1]["args"]
    assert make_parser().parse_args(["check", *arguments]).policy == "gates/rag.yml"
    for hook in offered:
        assert f"`{hook['files']}`" in LOCAL or hook["id"] == "gateline-check"
