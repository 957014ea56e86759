"""How errors of the command line begin, and the parser that says so. It knows no option.

Imports nothing but argparse, so that `--help` is there at once.
"""

from __future__ import annotations

import argparse
import sys

JUDGING = frozenset({"check", "ci", "publish"})
"""Commands that were to give a verdict."""
_VARIABLES = (
    "every option can also be set in the environment as GATELINE_<OPTION>, "
    "such as GATELINE_FAIL_ON=inconclusive"
)
_REFUSED = {"audit": "the judge is no better than chance", "golden": "the golden set has errors"}
"""Commands that end with 1, and what that says."""


def heading_of(command: str) -> str:
    """Return how errors of a command begin: that there is no verdict only where there was to be one."""
    return "no verdict" if command in JUDGING else "error"


def epilog_of(command: str) -> str:
    """Return what stands below the options of a command, or of the whole for an empty name: its exit codes."""
    if command in JUDGING or not command:
        codes = "0 passed (warnings allowed), 1 the gate said no, 2 there is no verdict"
    else:
        refused = f", 1 {_REFUSED[command]}" if command in _REFUSED else ""
        codes = f"0 done{refused}, 2 it could not be done; this command gives no verdict"
    return f"exit codes: {codes}\n{_VARIABLES}"


class Parser(argparse.ArgumentParser):
    """A parser whose errors begin like all others: nothing was decided, or nothing was done."""

    _command = ""
    """The command whose arguments are read, once the whole line's parser knows it."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Read arguments like any parser, and remember the command for what is unknown in the end."""
        known, rest = super().parse_known_args(args, namespace)
        self._command = getattr(known, "command", None) or ""
        return known, rest

    def error(self, message: str) -> None:  # type: ignore[override]
        """Print how it is used and what is wrong, and end with 2."""
        self.print_usage(sys.stderr)
        command = self.prog.partition(" ")[2] or self._command
        mistyped = message.partition("argument COMMAND: invalid choice: '")[2].partition("'")[0]
        if mistyped and not command:
            message = f"there is no command '{mistyped}'{_nearest_of(mistyped, message)}"
        self.exit(2, f"gateline: {heading_of(command or 'check')}: {message}\n")


def _nearest_of(mistyped: str, message: str) -> str:
    """Return a hint at the command that was meant, of those that argparse lists."""
    from gateline.errors import did_you_mean

    listed = message.partition("(choose from ")[2].rstrip(")").replace("'", "").split(", ")
    hint = did_you_mean(mistyped, listed)
    return f"  ({hint})" if hint else ""
