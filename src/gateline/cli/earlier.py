"""What an earlier run left in the output folder: a pass that stayed there would speak for a run that failed.

It looks at no content and touches no name but the reports' own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

FILES = {"verdict.json": "json", "comment.md": "markdown", "junit.xml": "junit", "report.html": "html"}
"""File in the output folder -> report that fills it."""

FOLDER_OF_CI = "gateline-out"
"""Where `ci` writes when no folder is named."""


def remove_reports(folder: str | None, names: Iterable[str] = FILES) -> None:
    """Remove reports from a folder as far as that can be done; a folder of such a name stays."""
    if folder is None:
        return
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            (Path(folder) / name).unlink(missing_ok=True)


def find_output_folder(arguments: Sequence[str]) -> str | None:
    """Return the output folder that arguments name which can't be parsed, None where no gate was asked for."""
    command = next((one for one in arguments if not one.startswith("-")), None)
    if command not in ("check", "ci"):
        return None
    folder = os.environ.get("GATELINE_OUTPUT_DIR") or (FOLDER_OF_CI if command == "ci" else None)
    for place, argument in enumerate(arguments):
        name, has_value, value = argument.partition("=")
        if name == "--output-dir":
            following = arguments[place + 1 : place + 2]
            folder = value if has_value else following[0] if following else folder
    return folder or None
