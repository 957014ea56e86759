"""`lint`, `explain` and `schema`: policies without data."""

from __future__ import annotations

import argparse
import json
import textwrap

from gateline.cli.output import print_problems, print_report, terminal_width
from gateline.cli.usage import heading_of
from gateline.errors import GatelineError
from gateline.explanation import explain, review
from gateline.policy import Policy, load_policy


def run_lint(options: argparse.Namespace) -> int:
    """Check policies; problems end with exit code 2, what is only worth a thought does not."""
    return max(_lint(path, options.verbose) for path in options.policy)


def _lint(path: str, verbosity: int) -> int:
    """Check one policy and say its own problems, so that those of the next are said, too."""
    try:
        policy = load_policy(path)
    except GatelineError as error:
        print_problems(error, heading_of("lint"), verbosity=verbosity)
        return 2
    lines = [f"{policy.file}: {note}" for note in review(policy)]
    rules = len(policy.policy.rules)
    fine = f"{policy.file}: fine: {rules} {'rule' if rules == 1 else 'rules'}"
    return 0 if print_report("\n".join([*lines, fine])) else 2


def run_explain(options: argparse.Namespace) -> int:
    """Say a policy in plain sentences."""
    return 0 if print_report(_wrap(explain(load_policy(options.policy)), terminal_width())) else 2


def _wrap(text: str, width: int) -> str:
    """Return a text of plain lines and bullets, each broken to the width between words."""
    lines = []
    for line in text.split("\n"):
        hanging = "  " if line.startswith("- ") else ""
        broken = textwrap.wrap(
            line, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
        )
        lines += broken or [""]
    return "\n".join(lines)


def run_schema(options: argparse.Namespace) -> int:
    """Print a JSON Schema."""
    if options.of == "verdict":
        from gateline.reports.machine import verdict_schema

        schema = verdict_schema()
    else:
        from gateline.described_schema import DescribedSchema

        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "gateline.policy/1",
            **Policy.model_json_schema(schema_generator=DescribedSchema),
        }
    return 0 if print_report(json.dumps(schema, ensure_ascii=False, indent=2)) else 2
