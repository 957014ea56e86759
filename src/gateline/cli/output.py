"""How the command line speaks and writes: streams, colour, and files that are whole or not there."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from gateline.errors import GatelineError, InputError
from gateline.reports.escape import terminal_text

WIDTH_OF_A_PIPE = 100


def print_report(text: str) -> None:
    """Print a report on stdout; a reader that stops early is no reason to change the exit code."""
    _speak_utf8(sys.stdout)
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_note(text: str) -> None:
    """Print a line on stderr."""
    _speak_utf8(sys.stderr)
    with contextlib.suppress(BrokenPipeError):
        print(f"gateline: {terminal_text(text)}", file=sys.stderr)


def print_problems(error: GatelineError) -> None:
    """Print all problems of an error on stderr; the first line says that nothing was decided."""
    _speak_utf8(sys.stderr)
    problems = error.problems
    with contextlib.suppress(BrokenPipeError):
        if len(problems) == 1:
            print(f"gateline: no verdict: {terminal_text(str(problems[0]))}", file=sys.stderr)
            return
        headline = terminal_text(error.headline)
        joint = "" if headline.startswith("in ") else ":"
        print(f"gateline: no verdict: {len(problems)} problems{joint} {headline}", file=sys.stderr)
        for problem in problems:
            print(f"  {terminal_text(str(problem))}", file=sys.stderr)


def wants_colour(environment: dict[str, str], is_terminal: bool) -> bool:
    """Return whether to colour: NO_COLOR, then FORCE_COLOR, then whether stdout is a terminal."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "") not in ("", "0", "false"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"


def terminal_width() -> int:
    """Return the width to write for: the terminal's, or a page's where there is none."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return max(40, shutil.get_terminal_size((WIDTH_OF_A_PIPE, 24)).columns)
    return WIDTH_OF_A_PIPE


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is whole or not there: beside it first, then renamed; readable by all.

    In a container that runs as root the file is given to the folder's owner, so that the next step can delete it.
    Raises InputError where it can't be written.
    """
    made: list[Path] = []
    temporary = None
    try:
        made = _make_folder(path.parent)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(temporary).chmod(0o644)
        _give_to_owner([*made, Path(temporary)], path.parent)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        for folder in reversed(made):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise InputError(
            f"can't be written: {error.strerror or error}", str(path), "give another --output-dir or --output"
        ) from None


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and its parents, open to all whatever the umask is; return those that were made."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir()
        one.chmod(0o755)
    return list(reversed(missing))


def _give_to_owner(paths: list[Path], folder: Path) -> None:
    if os.geteuid() != 0:
        return
    made = set(paths)
    while folder in made:
        folder = folder.parent
    owner = folder.stat()
    for path in paths:
        with contextlib.suppress(OSError):
            os.chown(path, owner.st_uid, owner.st_gid)


def _speak_utf8(stream: object) -> None:
    """Let a terminal without UTF-8 show a question mark rather than end the program."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
