"""How the command line speaks and writes: streams, colour, and files that are whole or not there."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gateline.errors import MOST_PROBLEMS, GatelineError, InputError
from gateline.files import is_special
from gateline.reports.escape import terminal_text
from gateline.reports.lines import wrap_page

WIDTH_OF_A_PIPE = 100
_PLAINLY = "gateline.plainly"
_PLAIN = {
    "−": "-", "–": "-", "—": "-", "·": "|", "…": "...", "→": "->", "≤": "<=", "≥": ">=", "×": "x", "±": "+-",
    "∞": "inf", "✓": "ok", "✗": "x", "◄": "<", "►": ">", "█": "#", "─": "-", "│": "|", "├": "[", "┤": "]", "┼": "+",
    "●": "o", "≈": "~", "’": "'", "“": '"', "”": '"',
}  # fmt: skip
"""What stands in for the signs of reports where the stream's encoding has none."""


def print_report(text: str) -> bool:
    """Print a report on stdout, and return whether that went well.

    A reader that stops early is no trouble: it has seen what it wanted.
    """
    _replace_what_cannot_be_shown(sys.stdout)
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        print_note(f"the report could not be printed: {error.strerror or error}")
        return False
    return True


def forget_stdout() -> None:
    """Let the interpreter's last flush go nowhere: nobody takes our output any more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(text: str, *, may_wrap: bool = True) -> None:
    """Print a finished text on stderr, set into lines where that is a terminal; elsewhere each line stays one."""
    width = _width_of_errors() if may_wrap else None
    if width is not None:
        text = wrap_page(text, width)
    _replace_what_cannot_be_shown(sys.stderr)
    with contextlib.suppress(OSError):
        print(text.rstrip("\n"), file=sys.stderr, flush=True)


def _width_of_errors() -> int | None:
    """Return the width of the terminal that errors go to; None where they go anywhere else."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr.isatty():
            columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(sys.stderr.fileno()).columns
            return max(40, columns) if columns > 0 else None
    return None


def print_note(text: str) -> None:
    """Print a line on stderr."""
    print_error(f"gateline: {terminal_text(text)}")


def print_problems(error: GatelineError, heading: str = "no verdict", *, verbosity: int = 0) -> None:
    """Print the problems of an error on stderr; the first line says that nothing was decided, or nothing done.

    Of very many the first are shown, and how many there are: who mends those has mended most. With -v all are.
    """
    problems = error.problems
    if len(problems) == 1:
        print_note(f"{heading}: {problems[0]}")
        return
    joint = "" if error.headline.startswith("in ") else ":"
    print_note(f"{heading}: {len(problems)} problems{joint} {error.headline}")
    most = MOST_PROBLEMS if verbosity == 0 else len(problems)
    for problem in problems[:most]:
        print_error(f"  {terminal_text(str(problem))}")
    if len(problems) > most:
        print_error(f"  and {len(problems) - most:,} more, see -v")


def print_trace(error: Exception, verbosity: int) -> None:
    """Print where an error happened, if that is asked for with -vv."""
    if verbosity >= 2:
        import traceback

        print_error("".join(traceback.format_exception(error)), may_wrap=False)


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
    """Write one file as `write_together` does."""
    write_together({path: text})


def write_together(texts: Mapping[Path, str | bytes]) -> None:
    """Write files so that each is whole or not there: all beside their places first, then renamed.

    What is no file, such as `/dev/stdout`, a pipe or a device, is written to and never replaced. Readable by all. In a
    container that runs as root they are given to the folder's owner, so that the next step can delete them. Raises
    InputError where one can't be written; then none is new.
    """
    made: list[Path] = []
    ready: dict[Path, Path] = {}
    path = Path()
    try:
        for path, text in texts.items():
            if _is_written_to(path):
                continue
            made += _make_folder(path.parent)
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            ready[path] = Path(temporary)
            with os.fdopen(handle, "wb") as stream:
                stream.write(_bytes(text))
            ready[path].chmod(0o644)
            _give_to_owner([*made, ready[path]], path.parent)
        for path, written in ready.items():
            written.replace(path)
        for path, text in texts.items():
            if path not in ready:
                path.write_bytes(_bytes(text))
    except OSError as error:
        for left in ready.values():
            left.unlink(missing_ok=True)
        for folder in reversed(made):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise _unwritable(path, error) from None


def _is_written_to(path: Path) -> bool:
    return path.parts[:2] == ("/", "dev") or is_special(path)


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"can't be written: {error.strerror or error}", str(path), "give another --output-dir or --output"
    )


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and its parents, open to all whatever the umask is; return those that were made."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(exist_ok=True)  # another leg of the same job may be as far
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


def _replace_what_cannot_be_shown(stream: object) -> None:
    """Let a terminal without UTF-8 show signs of its own rather than end the program: a minus stays one."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        codecs.register_error(_PLAINLY, _say_plainly)
        reconfigure(errors=_PLAINLY)


def _say_plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign, "?") for sign in lost), error.end
