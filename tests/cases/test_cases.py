"""Real incidents, each in a folder of its own: what went wrong in public must not go wrong here.

The cases lie in `../shared/cases` beside the project; a small set of them is shipped in `shipped/`, so that a clone
alone tests them too. The runner there, `run_cases.py`, says what each must come to.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared" / "cases"
SHIPPED = HERE / "shipped"
COMMAND = f"{sys.executable} -m gateline"

LATER: dict[str, str] = {}
"""Cases that need what is not there yet. One that passes all the same is an error, so that the list can't rot."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the runner of the cases needs a POSIX shell")


def find_cases(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("[0-9][0-9][0-9]-*/expected.json"))


def judge(case: Path) -> list[str]:
    """Return what the runner finds wrong with a case; it runs as a process, so that its open files are its own."""
    command = [sys.executable, case.parent / "tools" / "run_cases.py", case.parent, "--only", case.name, "-v"]
    done = subprocess.run([*command, "--command", COMMAND], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert lines and lines[-1] in ("1 passed, 0 failed", "0 passed, 1 failed"), done.stdout + done.stderr
    return lines[:-1] if done.returncode else []


@pytest.mark.skipif(
    not SHARED.is_dir(), reason="the folder ../shared/cases is not there; shipped/ has some of them"
)
@pytest.mark.parametrize("case", find_cases(SHARED), ids=lambda case: case.name)
def test_the_case(case: Path) -> None:
    reasons = judge(case)
    later = LATER.get(case.name[:3])
    if later is None:
        assert reasons == []
    else:
        assert reasons, f"{case.name} passes now: take it out of the table LATER ({later})"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder ../shared/cases is not there")
def test_the_table_names_cases_that_exist() -> None:
    assert LATER.keys() <= {case.name[:3] for case in find_cases(SHARED)}


@pytest.mark.skipif(SHARED.is_dir(), reason="the same cases are run from ../shared/cases")
@pytest.mark.parametrize("case", find_cases(SHIPPED), ids=lambda case: case.name)
def test_the_shipped_case(case: Path) -> None:
    assert judge(case) == []


def test_some_cases_are_shipped() -> None:
    assert len(find_cases(SHIPPED)) >= 15


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder ../shared/cases is not there")
def test_shipped_cases_are_those_of_the_shared_folder() -> None:
    """A case is changed there and copied, never here."""
    for case in [*find_cases(SHIPPED), SHIPPED / "tools"]:
        for file in case.iterdir():
            assert file.read_bytes() == (SHARED / case.name / file.name).read_bytes(), file
