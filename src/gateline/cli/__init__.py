"""The command line: arguments, environment, exit codes. Nothing outside this folder prints or exits.

Exit codes: 0 passed, 1 the gate said no, 2 there is no verdict; whatever nobody thought of is 2, never Python's 1.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from gateline.cli.arguments import COMMANDS, make_parser
from gateline.cli.guarded import GuardedStreams
from gateline.cli.usage import JUDGING, heading_of

NO_VERDICT = 2


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; never raises."""
    _open_closed_streams()
    with GuardedStreams():
        try:
            return _flush(_run(arguments))
        except KeyboardInterrupt:
            _forget_earlier(arguments)
            print("gateline: stopped, nothing was decided", file=sys.stderr)
            return NO_VERDICT


def _run(arguments: Sequence[str]) -> int:
    verbosity, heading = 0, heading_of("check")
    try:
        options = make_parser().parse_args(_with_default_help(arguments))
        verbosity, heading = options.verbose, heading_of(options.command)
        if options.unreadable and options.command not in ("check", "ci"):  # those two say so in their verdict
            from gateline.cli.output import print_note

            print_note(f"{heading}: {options.unreadable}")
            return NO_VERDICT
        if options.command not in JUDGING:  # those have a folder of fixed names
            from gateline.cli.overwriting import refuse_overwriting

            refuse_overwriting(options)
        module = importlib.import_module(f"gateline.cli.{COMMANDS[options.command]}")
        return int(getattr(module, f"run_{options.command}")(options))
    except SystemExit as stop:  # argparse has said what is wrong, or has printed help
        code = stop.code if isinstance(stop.code, int) else NO_VERDICT
        if code:
            _forget_earlier(arguments)
        return code
    except Exception as error:
        _forget_earlier(arguments)
        return _tell(error, verbosity, heading)


def _forget_earlier(arguments: Sequence[str]) -> None:
    """Leave no pass of an earlier run behind where this one ends without a verdict of its own."""
    from gateline.cli.earlier import find_output_folder, remove_reports

    remove_reports(find_output_folder(arguments))


def _with_default_help(arguments: Sequence[str]) -> list[str]:
    return list(arguments) or ["--help"]


def _open_closed_streams() -> None:
    """Let output go nowhere where the caller has closed a stream (`>&-`), for which Python has None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # open itself: pathlib would take longer to import than the rest of a start
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def _flush(code: int) -> int:
    """Hand out the last of stdout, or else the interpreter would end with an exit code of its own."""
    try:
        sys.stdout.flush()
    except OSError as error:
        from gateline.cli.output import forget_stdout

        forget_stdout()
        return code if isinstance(error, BrokenPipeError) else code or NO_VERDICT
    return code


def _tell(error: Exception, verbosity: int, heading: str) -> int:
    """Say what went wrong: in the words of the error where it is ours, else that it is our bug."""
    from gateline.cli.output import print_error, print_note, print_problems, print_trace
    from gateline.errors import GatelineError

    if isinstance(error, GatelineError):
        print_problems(error, heading, verbosity=verbosity)
        return NO_VERDICT
    print_trace(error, verbosity)
    print_note(f"{heading}: this is a bug in gateline: {type(error).__name__}: {str(error)[:300]}")
    print_error("  please report it with the command; -vv shows where it happened")
    return NO_VERDICT
