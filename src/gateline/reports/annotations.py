"""The verdict as GitHub annotations on the lines of the policy: workflow commands for standard output.

A runner shows few annotations a step, so there are at most five errors and five warnings. This module prints
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.reports import facts, language_of
from gateline.reports.escape import (
    IN_TERMINAL,
    Commands,
    command_property,
    command_text,
    terminal_name,
    terminal_text,
)
from gateline.reports.headline import NO_VERDICT, blockers, loosening, message_of
from gateline.reports.looks import needing_a_look
from gateline.wording import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateline.findings import Finding
    from gateline.spelling import Spelling
    from gateline.verdict import StatedProblem, Verdict

NAME = "annotations"

_MOST = 5


def render(verdict: Verdict, *, language: str | None = None) -> Commands:
    """Return workflow commands, a line each: errors for what blocks, warnings for what needs a look."""
    spelling = IN_TERMINAL.speaking(language_of(verdict, language))
    if verdict.verdict == "invalid":
        return _about_problems(verdict, spelling)
    blocking = blockers(verdict)
    warning = needing_a_look(verdict)
    lines = []
    if loosening(verdict):
        message = spelling.join_sentences(
            [facts.policy_line(verdict, spelling), facts.under_base(verdict, spelling)]
        )
        title = spelling.say("annotation.loosened")
        lines.append(_command("warning", verdict.policy.file, 1, title, message))
    lines += _about_findings("error", verdict, blocking, spelling)
    lines += _about_findings("warning", verdict, warning, spelling)
    return Commands("".join(f"{line}\n" for line in lines))


def _about_findings(level: str, verdict: Verdict, findings: list[Finding], spelling: Spelling) -> list[str]:
    """Return a command for each of the first five, and one that counts the rest."""
    file, name = verdict.policy.file, terminal_name(verdict.policy.name)
    lines = []
    for position, finding in enumerate(findings[:_MOST]):
        message = describe(finding, spelling, fail_on=verdict.fail_on)
        more = len(findings) - _MOST
        if position == _MOST - 1 and more > 0:
            message = spelling.join_sentences([message, spelling.say("annotation.more", count=more)])
        title = spelling.say("joint.named", name=name, text=terminal_name(finding.rule))
        lines.append(_command(level, file, finding.line, title, message))
    return lines


def _about_problems(verdict: Verdict, spelling: Spelling) -> Commands:
    """Return one error that says why there is no verdict."""
    reasons = _tell_apart(verdict.problems, spelling) or list(verdict.because)
    parts = [terminal_text(reason) for reason in reasons[:_MOST]]
    if len(reasons) > _MOST:
        parts.append(spelling.say("list.rest", count=len(reasons) - _MOST))
    message = spelling.say("joint.clauses").join(parts)
    word = spelling.say(f"outcome.{NO_VERDICT}")
    title = spelling.say("joint.named", name=terminal_name(verdict.policy.name), text=word)
    return Commands(_command("error", verdict.policy.file, 1, title, message) + "\n")


def _tell_apart(problems: Sequence[StatedProblem], spelling: Spelling) -> list[str]:
    """Return the messages, each once; those that are alike say of which files they are."""
    messages = [message_of(problem, spelling) for problem in problems]
    told = [
        spelling.say("joint.named", name=problem.where, text=message)
        if messages.count(message) > 1 and problem.where
        else message
        for problem, message in zip(problems, messages, strict=True)
    ]
    return list(dict.fromkeys(told))


def _command(level: str, file: str, line: int, title: str, message: str) -> str:
    """Return one workflow command.

    https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
    """
    place = f"file={command_property(terminal_text(file))},line={line}"
    return f"::{level} {place},title={command_property(title)}::{command_text(message)}"
