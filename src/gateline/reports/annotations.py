"""The verdict as GitHub annotations on the lines of the policy: workflow commands for standard output.

A runner shows few annotations a step, so there are at most five errors and five warnings. This module prints
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.reports import facts
from gateline.reports.escape import (
    IN_TERMINAL,
    command_property,
    command_text,
    terminal_name,
    terminal_text,
)
from gateline.reports.headline import blockers, loosening
from gateline.wording import describe

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import Verdict

NAME = "annotations"

_MOST = 5


def render(verdict: Verdict) -> str:
    """Return workflow commands, a line each: errors for what blocks, warnings for what needs a look."""
    if verdict.verdict == "invalid":
        return _about_problems(verdict)
    blocking = blockers(verdict)
    warning = [f for f in verdict.findings if f.warns and f not in blocking]
    lines = []
    if loosening(verdict):
        message = " ".join([facts.policy_line(verdict), facts.under_base(verdict, IN_TERMINAL)])
        lines.append(_command("warning", verdict.policy.file, 1, "the policy is loosened", message))
    lines += _about_findings("error", verdict, blocking)
    lines += _about_findings("warning", verdict, warning)
    return "".join(f"{line}\n" for line in lines)


def _about_findings(level: str, verdict: Verdict, findings: list[Finding]) -> list[str]:
    """Return a command for each of the first five, and one that counts the rest."""
    file, name = verdict.policy.file, terminal_name(verdict.policy.name)
    lines = []
    for position, finding in enumerate(findings[:_MOST]):
        message = describe(finding, IN_TERMINAL)
        more = len(findings) - _MOST
        if position == _MOST - 1 and more > 0:
            message += f" And {more:,} more."
        lines.append(_command(level, file, finding.line, f"{name}: {terminal_name(finding.rule)}", message))
    return lines


def _about_problems(verdict: Verdict) -> str:
    """Return one error that says why there is no verdict."""
    reasons = [problem.message for problem in verdict.problems] or list(verdict.because)
    message = "; ".join(terminal_text(reason) for reason in reasons[:_MOST])
    if len(reasons) > _MOST:
        message += f"; and {len(reasons) - _MOST:,} more"
    title = f"{terminal_name(verdict.policy.name)}: no verdict"
    return _command("error", verdict.policy.file, 1, title, message) + "\n"


def _command(level: str, file: str, line: int, title: str, message: str) -> str:
    """Return one workflow command.

    https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
    """
    place = f"file={command_property(terminal_text(file))},line={line}"
    return f"::{level} {place},title={command_property(title)}::{command_text(message)}"
