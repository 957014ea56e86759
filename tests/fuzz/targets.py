"""What must hold whatever stands in a file, as functions of that file: the fuzzers here and by coverage call them.

Each raises AssertionError where it does not hold. The whole command line runs, in this process.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from gateline.cli import run
from gateline.errors import GatelineError
from gateline.inspection import inspect_run
from gateline.proposal import propose_policy
from gateline.readers import read_run

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "tests" / "formats" / "files"
OWN = ROOT / "gates" / "data"
ON = "2026-06-01"
REPORTS = {"verdict.json", "comment.md", "junit.xml", "report.html"}
NO_READER = {".md", ".yaml", ".qrels"}


@dataclass(frozen=True)
class Fixture:
    """A real result file, or a folder of them of which one is damaged."""

    group: str
    """The tool that wrote it."""
    root: Path
    """What a user would name."""
    part: Path
    """The file to damage: the root itself, or a file in it."""


FOLDERS = (
    "evalscope/candidate",
    "evalscope/v1_candidate",
    "evalscope/perf/candidate",
    "lm_eval/candidate",
    "mteb/own/results/harbor__candidate",
    "mteb/results/codefuse-ai__F2LLM-v2-80M",
    "trec/beir/harbor",
)
GROUPS = ("gateline", "csv", "json", "parquet", *sorted(path.name for path in FILES.iterdir()))
_made = tempfile.TemporaryDirectory(prefix="gateline-fuzz-files-")


@cache
def fixtures(group: str) -> list[Fixture]:
    """Return the files of a tool that a reader reads, by themselves or as part of a folder."""
    if group in ("csv", "json", "parquet"):
        path = _write_general(group)
        return [Fixture(group, path, path)]
    if group == "gateline":
        return [Fixture(group, path, path) for path in sorted(OWN.rglob("*candidate*.jsonl"))]
    found: list[Fixture] = []
    for folder in FOLDERS:
        if folder.split("/")[0] == group:
            root = FILES / folder
            found += [Fixture(group, root, path) for path in sorted(root.rglob("*")) if path.is_file()]
    inside = {one.part for one in found}
    others = (path for path in sorted((FILES / group).rglob("*")) if path.is_file() and path not in inside)
    found += [Fixture(group, path, path) for path in others if path.suffix not in NO_READER]
    return [one for one in found if _reads(one.root)]


def _write_general(ending: str) -> Path:
    """Write some of the records shipped here as a table, a JSON list or Parquet."""
    path = Path(_made.name) / f"candidate.{ending}"
    lines = (OWN / "refchecker" / "candidate.jsonl").read_text(encoding="utf-8").splitlines()[1:61]
    records = [json.loads(line) for line in lines]
    if ending == "json":
        path.write_text(json.dumps(records), encoding="utf-8")
        return path
    flat = [
        {"id": one["id"]}
        | {f"metrics.{name}": value for name, value in one["metrics"].items()}
        | {f"slices.{name}": value for name, value in one["slices"].items()}
        for one in records
    ]
    if ending == "csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(flat[0]))
            writer.writeheader()
            writer.writerows(flat)
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(flat), path)
    return path


@cache
def _reads(path: Path) -> bool:
    try:
        return len(read_run(path)) > 0
    except GatelineError:
        return False


@cache
def policy_for(root: Path) -> str:
    """Return the policy that `init` writes for a file, or one for a file of which no gate can be made."""
    try:
        return propose_policy(read_run(root), name="fuzz")
    except GatelineError:
        return (
            "version: 1\nname: fuzz\nmetrics: {score: {better: higher}}\n"
            "rules: [{kind: limit, metric: score, at_least: 0.5}]\n"
        )


@contextmanager
def own_folder() -> Iterator[Path]:
    """Work in an empty folder that is gone afterwards."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="gateline-fuzz-") as folder:
        try:
            os.chdir(folder)
            yield Path(folder)
        finally:
            os.chdir(here)


def call(*arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process; return exit code and both streams. It must not crash."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([*arguments, "-vv"] if arguments[0] != "explain" else arguments)
    text = err.getvalue()
    assert code in (0, 1, 2), code
    assert "bug in gateline" not in text, text
    assert "bug in gateline" not in out.getvalue(), out.getvalue()
    assert "Traceback" not in text, text
    assert "Warning:" not in text, text
    if code == 2:
        assert (text + out.getvalue()).strip(), "no verdict, and not a word why"
    return code, out.getvalue(), text


def expect_whole(folder: Path, code: int) -> dict[str, Any] | None:
    """Check that a folder of reports holds whole files only, or none; return the verdict."""
    if not folder.exists():
        return None
    names = {path.name for path in folder.iterdir()}
    assert names in (REPORTS, set()), names
    if not names:
        return None
    told = json.loads((folder / "verdict.json").read_bytes().decode("utf-8"), parse_constant=_refuse)
    assert told["exit_code"] == code
    ElementTree.parse(folder / "junit.xml")
    assert (folder / "report.html").read_bytes().decode("utf-8").rstrip().endswith("</html>")
    assert len((folder / "comment.md").read_bytes().decode("utf-8")) > 0
    return told  # type: ignore[no-any-return]


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def judge_result_file(fixture: Fixture, content: bytes) -> str:
    """Read a damaged file by `inspect`, and judge it as candidate and as baseline; return what came out.

    No verdict may be a pass without the samples that it speaks of.
    """
    with own_folder() as folder:
        named, part = lay_out(fixture, folder)
        part.write_bytes(content)
        named = named.relative_to(folder)
        (folder / "policy.yml").write_text(policy_for(fixture.root), encoding="utf-8")
        before = _listing(folder)
        readable, _, _ = call("inspect", str(named))
        whole = str(fixture.root)
        common = ["check", "--policy", "policy.yml", "--on", ON, "--output-dir", "out"]
        code, _, _ = call(*common, "--baseline", whole, "--candidate", str(named))
        told = expect_whole(folder / "out", code)
        if code == 0:
            assert readable == 0
            _expect_enough(told)
        if readable == 0:
            other, _, _ = call(*common, "--baseline", str(named), "--candidate", whole)
            expect_whole(folder / "out", other)
        after = {path for path in _listing(folder) if path.parts[0] != "out"}
        assert after == before, after ^ before
    return {0: "passed", 1: "blocked", 2: "no verdict"}[code] if readable == 0 else "unreadable"


def read_or_refused(named: Path, what: object) -> bool:
    """Read a file and all its numbers; return whether that was possible. A refusal must say something."""
    try:
        run = read_run(named)
        inspect_run(run)
        for metric in run.metrics:
            run.numbers(metric)
    except GatelineError as error:
        assert str(error), what
        return False
    return True


def lay_out(fixture: Fixture, folder: Path) -> tuple[Path, Path]:
    """Copy a file, or its whole folder, and return what a user names and the copy of the file to damage."""
    named = folder / fixture.root.name
    if fixture.root == fixture.part:
        shutil.copyfile(fixture.root, named)
    else:
        shutil.copytree(fixture.root, named)
    return named, named / fixture.part.relative_to(fixture.root)


def _listing(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def _expect_enough(told: dict[str, Any] | None) -> None:
    """A pass stands on samples of both runs, and each finding that passed on numbers."""
    assert told is not None
    assert not told["problems"]
    assert told["candidate"]["samples"] and told["baseline"]["samples"]
    assert told["findings"]
    for finding in told["findings"]:
        if finding["status"] == "pass":
            assert finding["samples"] > 0, finding


def judge_policy(content: bytes) -> str:
    """Read a damaged policy by lint, explain and check; return what came out. What lint refuses is judged by nobody."""
    with own_folder() as folder:
        (folder / "policy.yml").write_bytes(content)
        linted, _, _ = call("lint", "policy.yml")
        explained, _, _ = call("explain", "policy.yml")
        assert (explained == 2) == (linted == 2)
        code, _, _ = call(
            "check", "--policy", "policy.yml", "--on", ON, "--output-dir", "out",
            "--baseline", str(OWN / "refchecker" / "baseline.jsonl"),
            "--candidate", str(OWN / "refchecker" / "candidate.jsonl"),
        )  # fmt: skip
        told = expect_whole(folder / "out", code)
        if linted == 2:
            assert code == 2
        if code == 0:
            _expect_enough(told)
        assert {path.name for path in folder.iterdir()} <= {"policy.yml", "out"}
    return {0: "passed", 1: "blocked", 2: "no verdict"}[code]


def render_verdict(content: bytes) -> str:
    """Read a damaged verdict.json as `publish` does; each report of one that is read must be whole."""
    from gateline import reports
    from gateline.verdict_file import read_verdict

    with own_folder() as folder:
        (folder / "verdict.json").write_bytes(content)
        try:
            verdict = read_verdict("verdict.json")
        except GatelineError as error:
            assert str(error)
            return "refused"
    for language in ("en", "zh"):
        for name in reports.names():
            text = reports.render(name, verdict, language=language)
            text.encode("utf-8")
            if name == "junit":
                ElementTree.fromstring(text)
            if name == "html":
                assert text.rstrip().endswith("</html>")
    return "read"
