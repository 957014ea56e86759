"""The documents of harvest and review: every command in them is run, and every output is the program's.

`GATELINE_REWRITE_GOLDEN=1 pytest tests/unit/test_queue_docs.py` writes the outputs anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REWRITE = os.environ.get("GATELINE_REWRITE_GOLDEN") == "1"
PART = re.compile(
    r"(?P<before>(<!-- write: (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n)(?P<text>.*?)(?P<after>```\n)",
    re.DOTALL,
)


def run_commands(text: str, folder: Path) -> str:
    """Return the commands of a block, each with what it prints on either stream."""
    told = []
    for command in (line for line in text.splitlines() if line.startswith("$ ")):
        words = re.sub(r"^gateline ", f'"{sys.executable}" -P -m gateline ', command[2:])
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("GATELINE_", "COLUMNS"))
        }
        done = subprocess.run(
            ["bash", "-c", words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            env={**kept, "NO_COLOR": "1"},
            check=False,
        )
        told.append(f"{command}\n{done.stdout}".rstrip("\n") + "\n")
    return "".join(told)


def fill_in(document: str, folder: Path) -> str:
    """Return a document with the outputs of its commands, run from top to bottom in a folder with the gates."""

    def fill(part: re.Match[str]) -> str:
        if part["file"]:
            (folder / part["file"]).write_text(part["text"], encoding="utf-8")
        text = run_commands(part["text"], folder) if part["kind"] == "console" else part["text"]
        return part["before"] + text + part["after"]

    return PART.sub(fill, document)


@pytest.mark.parametrize("name", ["regression-set.md", "review.md"])
def test_the_document_shows_what_the_program_does(name: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "gates", tmp_path / "gates")
    path = ROOT / "docs" / name
    document = path.read_text(encoding="utf-8")
    made = fill_in(document, tmp_path)
    if REWRITE:
        path.write_text(made, encoding="utf-8")
    assert made == path.read_text(encoding="utf-8"), "GATELINE_REWRITE_GOLDEN=1 writes it anew"
