"""The verdict as JUnit XML: a test case a check, so that GitLab and others show it without a token.

A check that was not shown to hold is never a passed test: what blocks is a failure; what is unsettled, waived
or not judged is a skipped test with its reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.reports import language_of
from gateline.reports.escape import guard_lines, xml_text
from gateline.reports.headline import blockers, headline, hint_of, message_of
from gateline.spelling import PLAIN, Spelling
from gateline.wording import describe

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import StatedProblem, Verdict

NAME = "junit"


def render(verdict: Verdict, *, language: str | None = None) -> str:
    """Return the XML; for no verdict it is one test case with an error.

    Names, attributes and types are the same in every language, so that a test keeps its history.
    """
    spelling = PLAIN.speaking(language_of(verdict, language))
    if verdict.verdict == "invalid":
        cases, outcomes = [_error_case(verdict, spelling)], ["error"]
    else:
        blocking = {id(finding) for finding in blockers(verdict)}
        outcomes = [_outcome(finding, id(finding) in blocking) for finding in verdict.findings]
        names = _unlike([_name(finding) for finding in verdict.findings])
        cases = [
            _case(verdict, finding, name, outcome, spelling)
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
        f"<system-out>{xml_text(headline(verdict, spelling))}</system-out>",
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


def _case(verdict: Verdict, finding: Finding, name: str, outcome: str, spelling: Spelling) -> str:
    opening = _opening(verdict, name, finding.line)
    if not outcome:
        return f"{opening}/>"
    text = describe(finding, spelling, fail_on=verdict.fail_on)
    if outcome == "failure":
        kind = xml_text(f"{finding.kind} {finding.status.value}")
        shown = xml_text(text)
        return f'{opening}><failure type="{kind}" message="{shown}">{shown}</failure></testcase>'
    message = spelling.say("joint.named", name=spelling.say(f"status.{finding.status.value}"), text=text)
    return f'{opening}><skipped message="{xml_text(message)}">{xml_text(text)}</skipped></testcase>'


def _error_case(verdict: Verdict, spelling: Spelling) -> str:
    """Return the one test case of a run without a verdict."""
    reasons = [_reason(problem, spelling) for problem in verdict.problems] or list(verdict.because)
    text = "\n".join(xml_text(reason) for reason in reasons)
    message = xml_text(headline(verdict, spelling))
    opening = _opening(verdict, "verdict", 1)
    return f'{opening}><error type="no verdict" message="{message}">{text}</error></testcase>'


def _reason(problem: StatedProblem, spelling: Spelling) -> str:
    """Return place, message and hint of a problem."""
    text = message_of(problem, spelling)
    if problem.where:
        text = spelling.say("joint.named", name=problem.where, text=text)
    if problem.hint:
        text = spelling.say("joint.with-aside", text=text, aside=hint_of(problem, spelling))
    return text


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
