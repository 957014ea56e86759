"""A checkout of a repository with gates and their results, and git in it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCKED, FINE = "gates/rag.yml", "gates/short.yml"
BASELINE = "results/baseline.jsonl"


def lay_out(folder, *policies):
    """Make a folder with these policies, and the baseline and candidate that they compare."""
    (folder / "gates").mkdir(parents=True)
    for policy in policies:
        shutil.copy(ROOT / policy, folder / policy)
    shutil.copytree(ROOT / "gates" / "data" / "refchecker", folder / "results")
    return folder


def git(*arguments):
    quiet = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.autocrlf=false"]
    done = subprocess.run(["git", *quiet, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()
