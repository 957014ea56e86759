"""The arguments of every command. Imports nothing but argparse, so that `--help` is there at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import gateline
from gateline.cli.usage import Parser, epilog_of
from gateline.cli.variables import NO, YES, variable
from gateline.cli.variables import setting as _setting
from gateline.cli.variables import switch as _switch
from gateline.texts import languages

TYPE_CHECKING = False  # the module typing is slower to import than all else here
if TYPE_CHECKING:
    from typing import Any

COMMANDS = {
    "check": "checking",
    "ci": "job",
    "publish": "publishing",
    "lint": "policies",
    "explain": "policies",
    "schema": "policies",
    "inspect": "data",
    "init": "data",
    "convert": "data",
    "score": "scores",
    "golden": "scores",
    "doctor": "examining",
    "audit": "audits",
    "harvest": "queues",
    "review": "queues",
    "reduce": "reducing",
}
"""Command -> module of this folder that runs it."""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = Parser(
        prog="gateline",
        description="A regression gate for RAG systems: may this change be merged?",
        epilog=epilog_of(""),
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gateline {gateline.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, add in _ADD.items():
        summary, fill = add
        one = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog=epilog_of(name),
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        one.set_defaults(unreadable=None)
        fill(one)
        _add_verbosity(one)
    return parser


class _Files(argparse.Action):
    """Joins the files of one run, which are named one by one, as lines; given ones replace the environment's."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: Any = None,
    ) -> None:
        """Add a file to those given before it."""
        named = getattr(namespace, self.dest)
        setattr(namespace, self.dest, values if named is self.default else f"{named}\n{values}")


def _add_verbosity(parser: argparse.ArgumentParser) -> None:
    said = (variable("--verbose") or "").strip().lower()
    level = int(said) if said in ("0", "1", "2") else int(said in YES)
    if said not in ("", "2", *YES, *NO):
        parser.set_defaults(unreadable=f"--verbose is '{said}' in the environment; write 0, 1 or 2")
    parser.add_argument(
        "-v", "--verbose", action="count", default=level, help="show all findings; -vv also where a bug is"
    )


def _add_gate(
    parser: argparse.ArgumentParser, policies: str = "the policy, a YAML file", **options: Any
) -> None:
    _setting(parser, "--policy", metavar="P", required=True, help=policies, **options)
    _setting(
        parser,
        "--baseline",
        metavar="B",
        action=_Files,
        help="results of the baseline: a path, git:REVISION:PATH, or in a CI job artifact:NAME",
    )
    _setting(
        parser,
        "--candidate",
        metavar="C",
        action=_Files,
        required=True,
        help="results of the candidate: a path, a folder or a pattern; given several times, files of one run that are "
        "joined on id (so with --baseline)",
    )
    _setting(
        parser,
        "--output-dir",
        metavar="D",
        help="write verdict.json, comment.md, junit.xml and report.html there",
    )
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
    _switch(parser, "--first-run", help="allow that there is no baseline yet: only fixed limits are judged")
    _switch(
        parser,
        "--require-fresh",
        help="no verdict where the candidate, or a part of it, is the baseline and was not evaluated again",
    )
    _switch(
        parser,
        "--with-excerpts",
        help="let reports hold texts of questions (artifacts of public repositories are public)",
    )
    _add_language(parser)


def _add_language(parser: argparse.ArgumentParser) -> None:
    _setting(
        parser,
        "--lang",
        choices=list(languages()),
        help="language of comment and reports (default: the policy's lang, else en)",
    )


def _add_check(parser: argparse.ArgumentParser) -> None:
    _add_gate(parser)
    _setting(
        parser,
        "--format",
        choices=["text", "markdown", "json", "junit", "html"],
        default="text",
        help="format of the report on stdout (default: text)",
    )
    _switch(parser, "-q", "--quiet", help="one line")


class _Several(argparse.Action):
    """Collects the values of an option that may stand several times; the first takes the variable's place."""

    def __call__(self, parser: object, namespace: argparse.Namespace, value: Any, _: object = None) -> None:
        """Add a value."""
        known = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*(known if isinstance(known, list) else []), value])


def _add_ci(parser: argparse.ArgumentParser) -> None:
    _add_gate(parser, "a policy, a pattern such as gates/*.yml, or the option several times", action=_Several)
    _add_comment(parser)


def _add_publish(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verdict", metavar="VERDICT", nargs="+", help="a verdict.json that another job made")
    _add_comment(parser)
    _add_language(parser)


def _add_comment(parser: argparse.ArgumentParser) -> None:
    _setting(
        parser,
        "--comment",
        choices=["always", "changes", "never"],
        default="always",
        help="when to comment on the pull request; changes: no first comment while all is well (default: always)",
    )
    _switch(parser, "--remove-comment", help="take an earlier comment away when all is well again")


def _add_policies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policy", metavar="POLICY", nargs="+", help="the policy, a YAML file; or several")


def _add_policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policy", metavar="POLICY", help="the policy, a YAML file")


def _add_schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "of", nargs="?", choices=["policy", "verdict"], default="policy", help="of what (default: policy)"
    )


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a result file")
    _setting(parser, "--read-as", metavar="READER", help="force a reader instead of looking at the file")
    _setting(parser, "--id", metavar="FIELD", help="field that identifies a question (default: id)")
    _switch(parser, "--json", help="as JSON")


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="RESULT", help="a result file, best the baseline's")
    _setting(parser, "--read-as", metavar="READER", help="force a reader instead of looking at the file")
    _setting(parser, "--id", metavar="FIELD", help="field that identifies a question (default: id)")
    _setting(parser, "--name", help="name of the gate (default: made of the file's name)")
    _setting(parser, "--output", "-o", metavar="FILE", help="the policy to write (default: gates/NAME.yml)")
    _setting(parser, "--workflow", metavar="FILE", help="also write a GitHub workflow that runs it")


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a result file")
    _setting(parser, "--read-as", metavar="READER", help="force a reader instead of looking at the file")
    _setting(parser, "--id", metavar="FIELD", help="field that identifies a question (default: id)")
    _setting(parser, "--output", "-o", metavar="FILE", required=True, help="the JSON Lines file to write")


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "golden", metavar="GOLDEN", help="the golden set: JSON Lines, qrels, a folder in BEIR's layout"
    )
    parser.add_argument(
        "outputs", metavar="OUTPUTS", help="what the system put out: JSON Lines, a TREC run file"
    )
    _setting(parser, "--output", "-o", metavar="FILE", required=True, help="the JSON Lines file to write")
    _setting(
        parser,
        "--k",
        metavar="K,…",
        default="10",
        help="cut-offs of rankings, such as 1,3,5,10 (default: 10)",
    )
    _setting(
        parser, "--id", metavar="FIELD", help="field that identifies a question (default: id or query_id)"
    )


def _add_golden(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="a golden set; of several, each is a split")
    _setting(
        parser, "--id", metavar="FIELD", help="field that identifies a question (default: id or query_id)"
    )
    _switch(parser, "--json", help="as JSON")


def _add_harvest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verdict", metavar="VERDICT", help="a verdict.json")
    _setting(parser, "--output", "-o", metavar="FILE", required=True, help="the regression set, JSON Lines")
    _setting(parser, "--golden", metavar="GOLDEN", help="golden set with the questions and their labels")
    _setting(parser, "--candidate", metavar="C", help="the run that was judged, for what no golden set says")
    _setting(
        parser,
        "--worse-by",
        metavar="NUMBER",
        help="loss that is much, or METRIC=NUMBER,… (default: half of the metric's range)",
    )


def _add_audit(parser: argparse.ArgumentParser) -> None:
    _setting(parser, "--human", metavar="H", required=True, help="people's labels, in any readable format")
    _setting(parser, "--judge", metavar="J", required=True, help="the judge's labels of the same ids")
    _setting(parser, "--metric", metavar="NAME", help="column of the labels (default: the only metric)")
    _setting(parser, "--judge-metric", metavar="NAME", help="the judge's column, where it has another name")
    _setting(parser, "--slices", metavar="LABEL,…", help="labels to tell apart")
    _setting(parser, "--cluster", metavar="LABEL", help="samples that share it are not independent")
    _setting(parser, "--threshold", metavar="T", help="numbers from T on are a pass, in both files")
    _setting(parser, "--confidence", metavar="C", default="0.95", help="of each interval (default: 0.95)")
    _setting(parser, "--read-as", metavar="READER", help="force a reader instead of looking at the files")
    _setting(parser, "--id", metavar="FIELD", help="field that identifies a sample (default: id)")
    _switch(parser, "--judge-everywhere", help="people labelled a random part of what the judge has seen")
    _switch(parser, "--json", help="as JSON")


def _add_review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verdict", metavar="VERDICT", help="a verdict.json")
    _setting(parser, "-n", "--number", metavar="N", default="50", help="samples to look at (default: 50)")
    _setting(parser, "--output", "-o", metavar="FILE", required=True, help="the queue to write, JSON Lines")
    _setting(parser, "--policy", metavar="P", help="its policy (default: the verdict's)")
    _setting(parser, "--baseline", metavar="B", help="its baseline (default: the verdict's)")
    _setting(parser, "--candidate", metavar="C", help="its candidate (default: the verdict's)")
    _setting(parser, "--metric", metavar="NAME,…", help="what to label (default: judged metrics of answers)")
    _setting(parser, "--high-risk", metavar="SLICE,…", help="costly slices (default: hard rules')")
    _setting(parser, "--threshold", metavar="METRIC=T,…", help="from T on it is good (default: the middle)")
    _setting(parser, "--random-share", metavar="S", default="30%", help="part by chance (default: 30%%)")
    _setting(parser, "--seed", metavar="SEED", default="0", help="draws others (default: 0)")
    _setting(parser, "--read-as", metavar="READER", help="force a reader instead of looking at the files")


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policy", metavar="POLICY", help="a YAML file")
    _setting(parser, "--baseline", metavar="B", required=True, help="results of a run of the system")
    _setting(
        parser,
        "--candidate",
        metavar="C",
        help="results of a second run, which shows how much a run differs from the next; without it that is assumed",
    )
    _setting(parser, "--copies", metavar="N", default="500", help="copies to judge (default: 500)")
    _setting(parser, "--seed", metavar="N", default="0", help="seed of the copies (default: 0)")
    _setting(
        parser,
        "--redone",
        metavar="SHARE",
        default="0.1",
        help="with one run: share of answers assumed to change from run to run (default: 0.1)",
    )
    _setting(parser, "--output", "-o", metavar="FILE", help="also write an HTML page with curves")
    _switch(parser, "--json", help="as JSON")


def _add_reduce(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="LOG", nargs="+", help="JSON Lines or Parquet: files, folders, patterns"
    )
    _setting(parser, "--policy", metavar="P", required=True, help="the policy that will judge, a YAML file")
    _setting(
        parser, "--output", "-o", metavar="FILE", required=True, help="NAME.parquet or NAME.json to write"
    )
    _setting(
        parser,
        "--engine",
        choices=("duckdb", "spark"),
        default="duckdb",
        help="what sums up (default: duckdb)",
    )
    _setting(parser, "--groups", metavar="N", default="1024", help="groups of clusters (default: 1024)")
    _setting(
        parser, "--memory", metavar="SIZE", help="most memory of the engine, such as 4GB (default: its own)"
    )


_ADD: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": ("compare two result files under a policy and say pass, fail or no verdict", _add_check),
    "ci": (
        "the same inside a CI job, from GATELINE_… variables, with comment, step summary, annotations and outputs",
        _add_ci,
    ),
    "publish": (
        "post a verdict that another job made, such as the run of a pull request from a fork",
        _add_publish,
    ),
    "lint": ("check a policy without data", _add_policies),
    "explain": ("say a policy in plain sentences", _add_policy),
    "schema": ("print the JSON Schema of policies (for editors) or of verdict.json", _add_schema),
    "inspect": ("show what a reader recognises in a result file", _add_inspect),
    "init": ("write a first policy from a result file", _add_init),
    "convert": ("write any readable format as gateline's own JSON Lines", _add_convert),
    "score": ("compute metrics from labels: a golden set and outputs to a run for check", _add_score),
    "golden": (
        "check golden sets: duplicates, leaks, contradictions, and what each slice can show",
        _add_golden,
    ),
    "harvest": ("keep the questions that a verdict saw fail in a regression set, once each", _add_harvest),
    "review": ("choose the samples that a person should look at, as a queue that audit reads", _add_review),
    "audit": ("hold a judge against people: its errors, and the number people would see", _add_audit),
    "doctor": (
        "try a policy on copies of your own runs: its false alarms, what it catches, what it can't decide",
        _add_doctor,
    ),
    "reduce": (
        "sum a log of any size up for a policy, to a small file that check takes for a run",
        _add_reduce,
    ),
}
