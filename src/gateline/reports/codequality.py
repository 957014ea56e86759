"""The verdict as a GitLab code quality report: an issue for each check that does not plainly hold, on its policy line.

GitLab compares the report with the target branch's by fingerprint, so a finding keeps its fingerprint while its numbers
move. This module writes no file.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from gateline.reports import facts, language_of
from gateline.reports.escape import IN_TERMINAL, terminal_name, terminal_text
from gateline.reports.headline import blockers, headline, loosening
from gateline.wording import describe

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import Verdict

NAME = "codequality"

_MOST_OF_DESCRIPTION = 1_000


def render(verdict: Verdict, *, language: str | None = None) -> str:
    """Return the JSON list, worst first; empty where every check plainly holds.

    Fingerprints and names of checks are the same in every language.
    https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
    """
    spelling = IN_TERMINAL.speaking(language_of(verdict, language))
    seen: Counter[str] = Counter()
    issues = []
    if verdict.verdict == "invalid":
        issues.append(_issue(verdict, seen, ("no verdict",), "blocker", headline(verdict, spelling), 1))
    if loosening(verdict):
        text = spelling.join_sentences(
            [facts.policy_line(verdict, spelling), facts.under_base(verdict, spelling)]
        )
        issues.append(_issue(verdict, seen, ("loosened policy",), "major", text, 1))
    blocking = {id(finding) for finding in blockers(verdict)}
    for finding in verdict.findings:
        severity = _severity(finding, id(finding) in blocking)
        if severity:
            place = (finding.rule, finding.metric, finding.slice or "")
            text = describe(finding, spelling, fail_on=verdict.fail_on)
            issues.append(_issue(verdict, seen, place, severity, text, finding.line))
    return json.dumps(issues, ensure_ascii=False, indent=2) + "\n"


def _severity(finding: Finding, blocks: bool) -> str:
    """Return GitLab's word; empty for what holds or was not judged."""
    if blocks:
        return "critical" if finding.hard else "major"
    if finding.warns:
        return "minor"
    return "info" if finding.status.value in ("inconclusive", "fail") else ""


def _issue(
    verdict: Verdict, seen: Counter[str], place: tuple[str, ...], severity: str, text: str, line: int
) -> dict[str, object]:
    name = verdict.policy.name
    key = json.dumps([name, *place])
    seen[key] += 1
    fingerprint = hashlib.sha256(f"{key} {seen[key]}".encode("utf-8", "replace")).hexdigest()
    return {
        "description": terminal_text(f"{terminal_name(name)}: {text}", _MOST_OF_DESCRIPTION),
        "check_name": terminal_name(place[0]),
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": terminal_text(verdict.policy.file).removeprefix("./"), "lines": {"begin": line}},
    }
