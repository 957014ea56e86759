"""A verdict in words: the bold sentence, the counts, what would let the change through.

This module computes nothing and decides nothing; the sentences about one finding are made in `wording`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline import figures
from gateline.wording import PLAIN, Spelling, describe, found, joined, needed, plural, subject

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import Verdict

BLOCKED, PASSED, WARNED, NO_VERDICT = "blocked", "passed", "passed with warnings", "no verdict"


def outcome(verdict: Verdict) -> str:
    """Return `blocked`, `passed`, `passed with warnings` or `no verdict`."""
    if verdict.verdict == "invalid":
        return NO_VERDICT
    if verdict.verdict == "fail":
        return BLOCKED
    return WARNED if verdict.warns or loosening(verdict) else PASSED


def loosening(verdict: Verdict) -> bool:
    """Return whether this change loosens its own policy: by one of its changes, or by what comes of them together."""
    base = verdict.policy.under_base
    lets_through = base is not None and verdict.verdict == "pass" and base.verdict != "pass"
    return lets_through or any(change.loosens for change in verdict.policy.changes)


def blockers(verdict: Verdict) -> list[Finding]:
    """Return the findings that make the verdict a fail, worst first."""
    if verdict.verdict != "fail":
        return []
    strict = verdict.fail_on == "inconclusive"
    return [f for f in verdict.findings if f.blocks or (strict and f.status.value == "inconclusive")]


def headline(verdict: Verdict, spelling: Spelling = PLAIN) -> str:
    """Return the sentence that a reader with five seconds reads."""
    if verdict.verdict == "invalid":
        return _headline_of_problems(verdict, spelling)
    blocking = blockers(verdict)
    if blocking:
        return describe(blocking[0], spelling) + _more(len(blocking) - 1, "check blocks", "checks block")
    if verdict.verdict == "fail":
        return joined(verdict.because[:1], spelling) or "The gate said no."
    if verdict.first_run:
        return f"There is no baseline yet, so only fixed limits were judged. {_what_passed(verdict)}"
    if verdict.pairing is not None and verdict.pairing.identical:
        return (
            f"Baseline and candidate hold the same records, so nothing was compared. {_what_passed(verdict)}"
        )
    warning = [f for f in verdict.findings if f.warns]
    if warning:
        return f"Nothing blocks, but look at this: {describe(warning[0], spelling)}" + _more(
            len(warning) - 1, "check needs a look", "checks need a look"
        )
    if len(verdict.findings) == 1:
        return describe(verdict.findings[0], spelling)
    return f"{_what_passed(verdict)}{_what_it_was_for(verdict, spelling)}"


def counts_line(verdict: Verdict) -> str:
    """Return how many checks had which outcome: `14 checks: 2 fail · 1 inconclusive · 11 pass`."""
    total = sum(verdict.counts.values())
    order = ("fail", "inconclusive", "waived", "skipped", "pass")
    unsettled = sum(one.blocks and one.status.value == "inconclusive" for one in verdict.findings)
    blocking = f" ({unsettled} {'blocks' if unsettled == 1 else 'block'})" if unsettled else ""
    parts = [
        f"{verdict.counts[word]} {word}{blocking if word == 'inconclusive' else ''}"
        for word in order
        if verdict.counts.get(word)
    ]
    return f"{plural(total, 'check')}: {' · '.join(parts)}" if parts else "No check was made"


def unblock(verdict: Verdict, spelling: Spelling = PLAIN) -> str:
    """Return one line that says what would let the change through; empty where nothing stands in its way."""
    if verdict.verdict == "invalid":
        return joined((problem.hint for problem in verdict.problems[:1]), spelling)
    blocking = blockers(verdict)
    if not blocking:
        return ""
    worst = blocking[0]
    steps = [_mend(worst, spelling)]
    if worst.hard:
        steps.append(f"{spelling.name(worst.rule)} is a hard rule and can't be waived")
    else:
        where = f"{spelling.name(verdict.policy.file)} (rule in line {worst.line})"
        steps.append(f"or, if it is meant, record a waiver for {spelling.name(worst.rule)} in {where}")
    others = _more(len(blocking) - 1, "check has to be settled as well", "checks have to be settled as well")
    return "; ".join(steps) + "." + others


def _more(count: int, one: str, many: str) -> str:
    return "" if count <= 0 else f" {count:,} more {one if count == 1 else many}."


def _mend(finding: Finding, spelling: Spelling) -> str:
    """Return what has to become true for one finding."""
    what = subject(finding, spelling, joint=" in ")
    if finding.kind == "every":
        ids = [spelling.name(one) for one in finding.failing[:3]]
        rest = (finding.failing_count or 0) - len(ids)
        more = f" and {rest:,} more" if rest > 0 else ""
        return f"mend {', '.join(ids)}{more}" if ids else f"give {what} samples"
    if finding.samples == 0 or figures.judged_value(finding) is None:
        return f"make {what} measurable"
    if (
        finding.status.value == "inconclusive"
        and finding.samples_needed is not None
        and finding.missed_by <= 0
    ):
        count = figures.about(finding.samples_needed)
        return f"show it for {what} with about {count} samples (now {finding.samples:,})"
    now = f"now {found(finding, spelling)}"
    return f"bring {what} to {needed(finding, spelling)} ({now})"


def _headline_of_problems(verdict: Verdict, spelling: Spelling) -> str:
    if not verdict.problems:
        return f"Nothing was decided: {joined(verdict.because[:1], spelling) or 'no check could be judged'}."
    first = verdict.problems[0]
    where = f" ({spelling.text(first.where)})" if first.where else ""
    if len(verdict.problems) > 1:
        return f"Nothing was decided, because of {len(verdict.problems):,} problems."
    return f"Nothing was decided: {spelling.text(first.message.rstrip(' .'))}{where}."


def _what_passed(verdict: Verdict) -> str:
    """Return what a pass rests on, naming what was not shown."""
    counts = verdict.counts
    passed, open_ones, skipped = (counts.get(word, 0) for word in ("pass", "inconclusive", "skipped"))
    all_pass = passed == sum(counts.values()) > 1
    parts = [f"All {plural(passed, 'check')} pass" if all_pass else f"{plural(passed, 'check')} passed"]
    if all_pass and passed == 2:
        parts = ["Both checks pass"]
    if open_ones:
        parts.append(f"{open_ones:,} can't be settled and may pass by the policy")
    if skipped:
        parts.append(f"{skipped:,} not judged")
    questions = f" on {plural(verdict.pairing.paired, 'question')}" if verdict.pairing else ""
    return f"{', '.join(parts)}{questions}."


def _what_it_was_for(verdict: Verdict, spelling: Spelling) -> str:
    """Return the sentence of the improvement that was asked for and shown."""
    shown = [f for f in verdict.findings if f.kind == "improvement" and f.status.value == "pass"]
    return f" {describe(shown[0], spelling)}" if shown else ""
