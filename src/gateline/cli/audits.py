"""`audit`: the judge against people."""

from __future__ import annotations

import argparse

from gateline.cli.output import print_note, print_report, terminal_width
from gateline.errors import PolicyError
from gateline.reports.escape import guard_json


def run_audit(options: argparse.Namespace) -> int:
    """Hold a judge against people; one that is not shown to be better than chance ends with exit code 1."""
    from pydantic import ValidationError

    from gateline.audit import Question, review_judge
    from gateline.cli.audit_text import render_text, to_json
    from gateline.statistics import Settings

    question = Question(
        human=options.human,
        judge=options.judge,
        metric=options.metric,
        judge_metric=options.judge_metric,
        slices=_names(options.slices),
        cluster=options.cluster,
        threshold=_number(options.threshold, "--threshold"),
        judge_everywhere=options.judge_everywhere,
        read_as=options.read_as,
        id_field=options.id,
    )
    try:
        settings = Settings(confidence=_number(options.confidence, "--confidence") or 0.0)
    except ValidationError:
        raise PolicyError(
            f"must be above 0.5 and below 1, not {options.confidence}", "--confidence", "0.95 is usual"
        ) from None
    audit = review_judge(question, settings)
    for warning in audit.warnings:
        print_note(warning)
    if not print_report(guard_json(to_json(audit)) if options.json else render_text(audit, terminal_width())):
        return 2
    return 0 if audit.is_better_than_chance else 1


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))


def _number(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise PolicyError(f"must be a number, not '{text}'", option) from None
