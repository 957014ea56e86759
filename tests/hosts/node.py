"""Programs of npm that tests run: installed once, at a fixed version, into a folder that is kept."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

GIVEN = os.environ.get("GATELINE_NODE_MODULES", "")  # read now: each test's environment is a clean one
"""A node_modules folder that already holds the programs; 0 says that none is to be installed."""


class NotThereError(Exception):
    """A program can't be had, and why."""


def find_program(package: str, version: str, program: str, cache: Path) -> Path:
    """Return the path of a program, after installing its package into `cache` where it is not there yet.

    Raises NotThereError where there is no npm, or it reaches no registry. Scripts of packages are not run.
    """
    if GIVEN not in ("", "0"):
        found = shutil.which(program, path=f"{GIVEN}/.bin")
        if found is None:
            raise NotThereError(f"{GIVEN} holds no {program}")
        return Path(found)
    npm = shutil.which("npm")
    if npm is None or GIVEN == "0":
        raise NotThereError(f"no npm to install {package} with" if npm is None else "GATELINE_NODE_MODULES=0")
    folder = cache / f"{package.replace('/', '-').strip('@')}-{version}"
    made = folder / "node_modules" / ".bin" / program
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several test processes the first installs, the others wait
        if not (folder / "whole").exists():
            told = subprocess.run(
                [npm, "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save",
                 f"{package}@{version}"],
                capture_output=True, text=True, check=False, timeout=300,
            )  # fmt: skip
            if told.returncode:
                raise NotThereError(f"npm could not install {package}: {told.stderr.strip()[-200:]}")
            (folder / "whole").touch()
    return made
