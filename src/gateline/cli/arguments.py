"""The arguments of every command. Imports nothing but argparse, so that `--help` is there at once."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

import gateline

COMMANDS = {
    "check": "checking",
    "ci": "checking",
    "lint": "policies",
    "explain": "policies",
    "schema": "policies",
    "inspect": "data",
    "init": "data",
    "convert": "data",
}
"""Command -> module of this folder that runs it."""

_EPILOG = """exit codes: 0 passed (warnings allowed), 1 the gate said no, 2 there is no verdict
every option can also be set in the environment as GATELINE_<OPTION>, such as GATELINE_FAIL_ON=inconclusive"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors begin like all others: nothing was decided."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        self.exit(2, f"gateline: no verdict: {message}\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = _Parser(
        prog="gateline",
        description="A regression gate for RAG systems: may this change be merged?",
        epilog=_EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gateline {gateline.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, add in _ADD.items():
        summary, fill = add
        one = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog=_EPILOG,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        fill(one)
        one.add_argument(
            "-v", "--verbose", action="count", default=0, help="show all findings; -vv also where a bug is"
        )
    return parser


def _setting(parser: argparse.ArgumentParser, name: str, **options: object) -> None:
    """Add an option that the environment can set; an empty variable counts as unset, as CI hosts leave them."""
    value = os.environ.get("GATELINE_" + name.lstrip("-").upper().replace("-", "_")) or None
    if value is not None:
        options["default"] = value
        options.pop("required", None)
    parser.add_argument(name, **options)  # type: ignore[arg-type]


def _switch(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    value = os.environ.get("GATELINE_" + name.lstrip("-").upper().replace("-", "_"), "")
    said = value.strip().lower()
    if said not in ("", "0", "false", "no", "off", "1", "true", "yes", "on"):
        parser.set_defaults(unreadable=f"{name} is '{value}' in the environment; write true or false")
    parser.add_argument(name, action="store_true", default=said in ("1", "true", "yes", "on"), help=text)


def _add_gate(parser: argparse.ArgumentParser) -> None:
    _setting(parser, "--policy", metavar="P", required=True, help="the policy, a YAML file")
    _setting(parser, "--baseline", metavar="B", help="results of the baseline")
    _setting(parser, "--candidate", metavar="C", required=True, help="results of the candidate")
    _setting(parser, "--output-dir", metavar="D", help="write verdict.json, comment.md and junit.xml there")
    _setting(
        parser,
        "--base-policy",
        metavar="F",
        help="the base branch's policy: says whether this change loosens it",
    )
    _setting(
        parser, "--on", metavar="DATE", help="day on which waivers are looked at, YYYY-MM-DD (default: today)"
    )
    _setting(
        parser,
        "--fail-on",
        choices=["fail", "inconclusive", "never"],
        default="fail",
        help="which outcome ends with exit code 1 (default: fail)",
    )
    _setting(
        parser, "--read-as", metavar="READER", help="force a reader for both files instead of looking at them"
    )
    _switch(parser, "--first-run", "allow that there is no baseline yet: only fixed limits are judged")
    _switch(
        parser,
        "--with-excerpts",
        "let reports hold texts of questions (artifacts of public repositories are public)",
    )


def _add_check(parser: argparse.ArgumentParser) -> None:
    _add_gate(parser)
    _setting(
        parser,
        "--format",
        choices=["text", "markdown", "json", "junit"],
        default="text",
        help="format of the report on stdout (default: text)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="one line")


def _add_policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policy", metavar="POLICY", help="the policy, a YAML file")


def _add_schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "of", nargs="?", choices=["policy", "verdict"], default="policy", help="of what (default: policy)"
    )


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a result file")
    _setting(parser, "--read-as", metavar="READER", help="force a reader instead of looking at the file")
    parser.add_argument("--id", metavar="FIELD", help="field that identifies a question (default: id)")
    parser.add_argument("--json", action="store_true", help="as JSON")


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="RESULT", help="a result file, best the baseline's")
    _setting(parser, "--read-as", metavar="READER", help="force a reader instead of looking at the file")
    parser.add_argument("--id", metavar="FIELD", help="field that identifies a question (default: id)")
    parser.add_argument("--name", help="name of the gate (default: made of the file's name)")
    parser.add_argument(
        "--output", "-o", metavar="FILE", help="the policy to write (default: gates/NAME.yml)"
    )
    parser.add_argument("--workflow", metavar="FILE", help="also write a GitHub workflow that runs it")


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a result file")
    _setting(parser, "--read-as", metavar="READER", help="force a reader instead of looking at the file")
    parser.add_argument("--id", metavar="FIELD", help="field that identifies a question (default: id)")
    parser.add_argument("--output", "-o", metavar="FILE", required=True, help="the JSON Lines file to write")


_ADD: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": ("compare two result files under a policy and say pass, fail or no verdict", _add_check),
    "ci": (
        "the same inside a CI job, from GATELINE_… variables, with step summary, annotations and outputs",
        _add_gate,
    ),
    "lint": ("check a policy without data", _add_policy),
    "explain": ("say a policy in plain sentences", _add_policy),
    "schema": ("print the JSON Schema of policies (for editors) or of verdict.json", _add_schema),
    "inspect": ("show what a reader recognises in a result file", _add_inspect),
    "init": ("write a first policy from a result file", _add_init),
    "convert": ("write any readable format as gateline's own JSON Lines", _add_convert),
}
