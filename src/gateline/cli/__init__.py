"""The command line: arguments, environment, exit codes. Nothing outside this folder prints or exits.

Exit codes: 0 passed, 1 the gate said no, 2 there is no verdict; whatever nobody thought of is 2, never Python's 1.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from gateline.cli.arguments import COMMANDS, make_parser

NO_VERDICT = 2


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; never raises."""
    verbosity = 0
    try:
        options = make_parser().parse_args(_with_default_help(arguments))
        verbosity = getattr(options, "verbose", 0)
        module = importlib.import_module(f"gateline.cli.{COMMANDS[options.command]}")
        code = int(getattr(module, f"run_{options.command}")(options))
        sys.stdout.flush()
    except SystemExit as stop:  # argparse has said what is wrong, or has printed help
        return stop.code if isinstance(stop.code, int) else NO_VERDICT
    except BrokenPipeError:
        _forget_stdout()
        return NO_VERDICT
    except KeyboardInterrupt:
        print("gateline: stopped, nothing was decided", file=sys.stderr)
        return NO_VERDICT
    except Exception as error:
        return _tell(error, verbosity)
    return code


def _with_default_help(arguments: Sequence[str]) -> list[str]:
    return list(arguments) or ["--help"]


def _tell(error: Exception, verbosity: int) -> int:
    """Say what went wrong: in the words of the error where it is ours, else that it is our bug."""
    from gateline.errors import GatelineError

    if isinstance(error, GatelineError):
        from gateline.cli.output import print_problems

        print_problems(error)
        return NO_VERDICT
    if verbosity >= 2:
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    print(
        f"gateline: no verdict: this is a bug in gateline: {type(error).__name__}: {str(error)[:300]}",
        file=sys.stderr,
    )
    print("  please report it with the command; -vv shows where it happened", file=sys.stderr)
    return NO_VERDICT


def _forget_stdout() -> None:
    """Let the interpreter's last flush go nowhere: whoever read our output has closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
