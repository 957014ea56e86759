"""The fuzzers by coverage run for some seconds each, so that they still work and find nothing near the real files.

Long runs are by hand; CONTRIBUTING.md says how.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parent / "run.py"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None,
    reason="atheris is not installed (pip install --group fuzz; there are wheels for Linux up to Python 3.13)",
)


@pytest.mark.parametrize("what", ["policy", "verdict", "readers"])
def test_the_fuzzer_finds_nothing_in_a_short_run(tmp_path: Path, what: str) -> None:
    command = [
        sys.executable,
        RUN,
        what,
        "--few",
        "--seconds",
        "5",
        "--seed",
        "1",
        "--corpus",
        tmp_path / "corpus",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert "INITED" in done.stderr
    assert not list(tmp_path.glob("crash-*"))
