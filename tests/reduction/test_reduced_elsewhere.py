"""What needs single samples says of a reduced file what it is and what to take instead, and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateline.cli import run

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "gates" / "data" / "refchecker"
POLICY = str(ROOT / "gates" / "short.yml")
BASELINE, CANDIDATE = (str(LOGS / f"{side}.jsonl") for side in ("baseline", "candidate"))


@pytest.fixture(params=[".json", ".parquet"])
def reduced(request, tmp_path, monkeypatch):
    """A reduced file; the test's folder."""
    pytest.importorskip("duckdb")
    if request.param == ".parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    name = f"sums{request.param}"
    assert run(["reduce", "--policy", POLICY, "-o", name, CANDIDATE]) == 0
    return name


COMMANDS = [
    ["inspect", "SUMS"],
    ["init", "SUMS"],
    ["convert", "SUMS", "-o", "out.jsonl"],
    ["score", "SUMS", CANDIDATE, "-o", "out.jsonl"],
    ["score", CANDIDATE, "SUMS", "-o", "out.jsonl"],
    ["golden", "SUMS"],
    ["golden", CANDIDATE, "SUMS"],
    ["audit", "--human", "SUMS", "--judge", CANDIDATE],
    ["audit", "--human", CANDIDATE, "--judge", "SUMS"],
    ["doctor", POLICY, "--baseline", "SUMS"],
    ["reduce", "SUMS", "--policy", POLICY, "-o", "out.json"],
    ["reduce", "s?ms.*", "--policy", POLICY, "-o", "out.json"],
    ["check", "--policy", POLICY, "--baseline", BASELINE, "--candidate", "SUMS", "--read-as", "jsonl"],
    ["check", "--policy", POLICY, "--baseline", BASELINE, "--candidate", f"SUMS\n{CANDIDATE}"],
]


@pytest.mark.parametrize(
    "command",
    COMMANDS,
    ids=lambda command: f"{command[0]}-{command.index('SUMS') if 'SUMS' in command else 'x'}",
)
def test_what_needs_single_samples_says_what_it_was_given(reduced, capsys, tmp_path, command):
    capsys.readouterr()
    assert run([part.replace("SUMS", reduced) for part in command]) == 2
    shown = capsys.readouterr()
    told = " ".join((shown.out + shown.err).split())
    assert f"{reduced}: is a reduced file" in told
    assert "take the log" in told
    assert [path.name for path in tmp_path.iterdir()] == [reduced]


def test_check_takes_it_and_a_file_that_only_speaks_of_sums_is_read(reduced, tmp_path, capsys):
    assert run(["check", "--policy", POLICY, "--baseline", reduced, "--candidate", reduced]) == 0
    records = [json.dumps({"id": f"q{n}", "gateline.reduced": n, "correct": 1}) for n in range(3)]
    (tmp_path / "log.jsonl").write_text("\n".join(records))
    assert run(["inspect", "log.jsonl"]) == 0
