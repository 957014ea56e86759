"""Vacuous passes: nothing to judge, or a bound that no number breaks, is never a pass."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gateline.cli import run
from gateline.errors import PolicyError
from gateline.files import is_surely_absent
from gateline.findings import Status
from gateline.policy import read_policy
from gateline.verdict import Verdict
from runs import LIMIT, TOLERANCE, check_gate, write_gate

GATES = Path(__file__).resolve().parents[2] / "gates"
EMPTY = {
    "no byte": "",
    "blank lines": "\n \n\r\n",
    "a byte order mark": "\ufeff",
    "a header of its own format": '{"gateline": 1, "run": {"judge": "j"}}\n',
    "an empty list": "[]\n",
    "an empty list under a name": '{"results": []}\n',
    "an empty object": "{}\n",
    "null": "null\n",
    "a header of a table": "id,score\n",
    "a header in quotes": '\ufeff"id";"score"\r\n',
}


@pytest.mark.parametrize("side", ["baseline", "candidate", "both"])
@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY.keys())
@pytest.mark.parametrize("rule", [LIMIT, TOLERANCE, "{kind: every, metric: score, at_least: 0}"])
def test_a_file_without_a_sample_is_no_verdict_on_whichever_side(
    tmp_path: Path, text: str, side: str, rule: str
) -> None:
    write_gate(tmp_path, "a*5 1>1", rule, missing="{drop_at_most: 1}")
    for name in ("baseline", "candidate") if side == "both" else (side,):
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    verdict = check_gate(tmp_path)
    assert (verdict.verdict, verdict.exit_code, verdict.findings) == ("invalid", 2, [])
    assert verdict.problems
    named = " ".join(str(problem.where) for problem in verdict.problems)
    assert ("baseline" if side == "both" else side) in named


def _numbers(text: str) -> list[tuple[int, int, int]]:
    """Return line, start and end of each number that stands as a value in a policy, comments left out."""
    import yaml

    return [
        (token.start_mark.line, token.start_mark.column, token.end_mark.column)
        for token in yaml.scan(text)
        if isinstance(token, yaml.ScalarToken) and token.plain and token.value.rstrip("%").replace(".", "").isdigit()
    ]  # fmt: skip


@pytest.mark.parametrize("odd", [".nan", ".inf", "-.inf", "nan", "1e999", "-1e999"])
@pytest.mark.parametrize("policy", ["rag.yml", "refusals.yml", "short.yml"])
def test_a_number_that_is_none_is_refused_wherever_a_policy_may_hold_one(policy: str, odd: str) -> None:
    """Every number of the shipped policies by turns, its line named; the policy as it is is read."""
    text = (GATES / policy).read_text(encoding="utf-8")
    read_policy(text, policy)
    places = _numbers(text)
    assert len(places) >= 5
    for line, start, end in places:
        lines = text.split("\n")
        lines[line] = lines[line][:start] + odd + lines[line][end:]
        with pytest.raises(PolicyError) as raised:
            read_policy("\n".join(lines), policy)
        told = [str(problem) for problem in raised.value.problems]
        assert any(one.startswith(f"{policy}:{line + 1} ") for one in told) or lines[line].startswith(
            "version"
        ), (
            lines[line],
            told,
        )


def _no_file(_: Path) -> None:
    """Leave the place empty."""


FILES = {"policy": "policy.yml", "baseline": "baseline.jsonl", "candidate": "candidate.jsonl"}
BASELINES = {
    "is not there": _no_file,
    "is a folder": Path.mkdir,
    "is a link to nothing": lambda path: path.symlink_to("nothing"),
    "is a link to itself": lambda path: path.symlink_to(path.name),
    "holds nothing": Path.touch,
    "is no result file": lambda path: path.write_bytes(b"\x00\xff\x00"),
    "may not be read": lambda path: (
        path.write_text('{"id": "a1", "metrics": {"score": 1}}\n'),
        path.chmod(0),
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="links and modes are POSIX")
@pytest.mark.parametrize("make", BASELINES.values(), ids=BASELINES.keys())
@pytest.mark.parametrize("first_run", [False, True])
def test_a_baseline_that_cannot_be_read_is_no_verdict_and_named(
    tmp_path: Path, make: object, first_run: bool
) -> None:
    """Only where there is none, and a first run is allowed, fixed limits alone are judged, and that is said."""
    folder = write_gate(tmp_path, "a*5 1>1", LIMIT, TOLERANCE)
    baseline = folder / "baseline.jsonl"
    baseline.unlink()
    assert callable(make)
    make(baseline)
    if baseline.is_file() and baseline.stat().st_size > 10 and os.access(baseline, os.R_OK):
        pytest.skip("this user may read everything")
    out = folder / "out"
    arguments = [f"--{name}={folder / file}" for name, file in FILES.items()]
    code = run(["check", *arguments, f"--output-dir={out}", *(["--first-run"] if first_run else [])])
    verdict = Verdict.model_validate_json((out / "verdict.json").read_bytes())
    assert verdict.exit_code == code
    if not first_run or os.path.lexists(baseline):
        assert (verdict.verdict, code, verdict.findings) == ("invalid", 2, [])
        assert "baseline" in " ".join(map(str, verdict.problems))
        return
    found = {finding.rule: finding for finding in verdict.findings}
    assert (found["floor"].status, found["holds"].status) == (Status.PASS, Status.SKIPPED)
    assert "no baseline" in " ".join([*verdict.notices, *found["holds"].notes, *verdict.because])


@pytest.mark.skipif(os.name != "posix", reason="links are POSIX")
def test_only_a_name_that_surely_nothing_has_is_absent(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").symlink_to("gone")
    (tmp_path / "round").symlink_to("round")
    there = [
        "file",
        "link",
        "folder",
        "folder/run.jsonl",
        "folder/a/run.jsonl",
        "round",
        "round/run.jsonl",
        "",
    ]
    absent = ["none", "none/run.jsonl", "file/run.jsonl", "x" * 5000, "a\0b"]
    assert [name for name in there if is_surely_absent(f"{tmp_path}/{name}")] == []
    assert [name for name in absent if not is_surely_absent(f"{tmp_path}/{name}")] == []


@pytest.mark.parametrize(
    "code", [errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.ELOOP, errno.ENOMEM]
)
def test_trouble_with_looking_is_no_proof_that_nothing_is_there(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("gateline.files.os.lstat", refuse)
    assert not is_surely_absent("baseline.jsonl")
