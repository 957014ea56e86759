"""Whole outputs, compared letter for letter with the files under tests/golden.

`GATELINE_REWRITE_GOLDEN=1 pytest tests/unit/reports/test_golden.py` writes them anew; read the difference before
committing it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateline import reports
from gateline.verdict import Verdict

from .layered import whole_system_verdict
from .verdicts import (
    design_verdict,
    fine_verdict,
    invalid_verdict,
    loosened_verdict,
    many_kinds_verdict,
    unlike_verdict,
)

FOLDER = Path(__file__).parents[2] / "golden"
REWRITE = os.environ.get("GATELINE_REWRITE_GOLDEN") == "1"

OUTPUTS: dict[str, tuple[Callable[[], Verdict], str, dict[str, Any]]] = {
    "blocked-60.txt": (design_verdict, "text", {"width": 60}),
    "blocked-100.txt": (design_verdict, "text", {"width": 100}),
    "blocked-verbose-120.txt": (design_verdict, "text", {"width": 120, "verbose": True}),
    "blocked-colour.txt": (design_verdict, "text", {"colour": True}),
    "blocked.md": (design_verdict, "markdown", {}),
    "blocked.xml": (design_verdict, "junit", {}),
    "blocked.json": (design_verdict, "json", {}),
    "blocked-commands.txt": (design_verdict, "annotations", {}),
    "blocked.html": (design_verdict, "html", {}),
    "layers.html": (whole_system_verdict, "html", {}),
    "layers-summary.md": (whole_system_verdict, "markdown", {"short_when_fine": False}),
    "passed.txt": (fine_verdict, "text", {}),
    "passed.md": (fine_verdict, "markdown", {}),
    "passed-summary.md": (fine_verdict, "markdown", {"short_when_fine": False}),
    "loosened.txt": (loosened_verdict, "text", {}),
    "loosened.md": (loosened_verdict, "markdown", {}),
    "no-verdict.txt": (invalid_verdict, "text", {}),
    "no-verdict.md": (invalid_verdict, "markdown", {}),
    "no-verdict.xml": (invalid_verdict, "junit", {}),
    "no-verdict.json": (invalid_verdict, "json", {}),
    "blocked.zh.txt": (design_verdict, "text", {"verbose": True, "language": "zh"}),
    "blocked.zh.md": (design_verdict, "markdown", {"language": "zh"}),
    "blocked.zh.html": (design_verdict, "html", {"language": "zh"}),
    "blocked.zh.xml": (design_verdict, "junit", {"language": "zh"}),
    "layers.zh.html": (whole_system_verdict, "html", {"language": "zh"}),
    "layers-summary.zh.md": (
        whole_system_verdict,
        "markdown",
        {"short_when_fine": False, "language": "zh"},
    ),
    "passed.zh.txt": (fine_verdict, "text", {"language": "zh"}),
    "passed.zh.md": (fine_verdict, "markdown", {"language": "zh"}),
    "passed.zh.html": (fine_verdict, "html", {"language": "zh"}),
    "loosened.zh.md": (loosened_verdict, "markdown", {"language": "zh"}),
    "no-verdict.zh.txt": (unlike_verdict, "text", {"language": "zh"}),
    "no-verdict.zh.md": (unlike_verdict, "markdown", {"language": "zh"}),
    "no-verdict.zh.html": (unlike_verdict, "html", {"language": "zh"}),
    "many-kinds.zh.txt": (many_kinds_verdict, "text", {"width": 80, "language": "zh"}),
    "many-kinds.txt": (many_kinds_verdict, "text", {"width": 110}),
    "many-kinds.md": (many_kinds_verdict, "markdown", {}),
}


@pytest.mark.parametrize("file", OUTPUTS)
def test_output_is_what_it_was(file: str) -> None:
    make, report, options = OUTPUTS[file]
    made = reports.render(report, make(), **options)
    path = FOLDER / file
    if REWRITE:
        path.write_text(made, encoding="utf-8", newline="\n")
    assert made == path.read_bytes().decode("utf-8")


def test_every_golden_file_is_compared() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == set(OUTPUTS)
