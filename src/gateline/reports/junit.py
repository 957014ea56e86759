"""The verdict as JUnit XML: a test case a check, so that GitLab and others show it without a token.

A check that was not shown to hold is never a passed test: what blocks is a failure; what is unsettled, waived
or not judged is a skipped test with its reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.reports.escape import guard_lines, xml_text
from gateline.reports.headline import blockers, headline
from gateline.wording import describe

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import Verdict

NAME = "junit"


def render(verdict: Verdict) -> str:
    """Return the XML; for no verdict it is one test case with an error."""
    if verdict.verdict == "invalid":
        cases, outcomes = [_error_case(verdict)], ["error"]
    else:
        blocking = {id(finding) for finding in blockers(verdict)}
        outcomes = [_outcome(finding, id(finding) in blocking) for finding in verdict.findings]
        names = _unlike([_name(finding) for finding in verdict.findings])
        cases = [
            _case(verdict, finding, name, outcome)
            for finding, name, outcome in zip(verdict.findings, names, outcomes, strict=True)
        ]
    counts = (
        f'tests="{len(cases)}" failures="{outcomes.count("failure")}" errors="{outcomes.count("error")}" '
        f'skipped="{outcomes.count("skipped")}" time="0"'
    )
    name = xml_text(verdict.policy.name)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="gateline" {counts}>',
        f'<testsuite name="{name}" {counts}>',
        *cases,
        f"<system-out>{xml_text(headline(verdict))}</system-out>",
        "</testsuite>",
        "</testsuites>",
    ]
    return guard_lines("\n".join(lines) + "\n").replace(
        "##[", "&#35;#["
    )  # a command of the runner, on a job's log


def _outcome(finding: Finding, blocks: bool) -> str:
    """Return `failure`, `skipped`, or nothing for a passed test."""
    status = finding.status.value
    if blocks or status == "fail":
        return "failure"
    return "" if status == "pass" else "skipped"


def _case(verdict: Verdict, finding: Finding, name: str, outcome: str) -> str:
    opening = _opening(verdict, name, finding.line)
    if not outcome:
        return f"{opening}/>"
    text = xml_text(describe(finding))
    if outcome == "failure":
        kind = xml_text(f"{finding.kind} {finding.status.value}")
        return f'{opening}><failure type="{kind}" message="{text}">{text}</failure></testcase>'
    message = xml_text(finding.status.value)
    return f'{opening}><skipped message="{message}: {text}">{text}</skipped></testcase>'


def _error_case(verdict: Verdict) -> str:
    """Return the one test case of a run without a verdict."""
    reasons = [
        ": ".join(part for part in (problem.where, problem.message) if part)
        + (f" ({problem.hint})" if problem.hint else "")
        for problem in verdict.problems
    ] or list(verdict.because)
    text = "\n".join(xml_text(reason) for reason in reasons)
    message = xml_text(headline(verdict))
    opening = _opening(verdict, "verdict", 1)
    return f'{opening}><error type="no verdict" message="{message}">{text}</error></testcase>'


def _opening(verdict: Verdict, name: str, line: int) -> str:
    where = f'file="{xml_text(verdict.policy.file)}" line="{line}"'
    return f'<testcase classname="{xml_text(verdict.policy.name)}" name="{xml_text(name)}" {where} time="0"'


def _name(finding: Finding) -> str:
    parts = (finding.rule, finding.metric, finding.slice)
    return " · ".join(part for part in parts if part is not None)


def _unlike(names: list[str]) -> list[str]:
    """Number the names that look alike once escaped: GitLab counts test cases of one name once."""
    seen: dict[str, int] = {}
    unlike = []
    for name in names:
        shown = xml_text(name)
        seen[shown] = seen.get(shown, 0) + 1
        unlike.append(name if seen[shown] == 1 else f"{name} ({seen[shown]})")
    return unlike
