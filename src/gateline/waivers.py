"""Waivers: what we let pass for now, up to a ceiling, until a day, answered for by somebody."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from gateline.bounds import Line
from gateline.comparison import Comparison
from gateline.findings import Finding, Status, UsedWaiver
from gateline.remark import Said, said
from gateline.rules import Rule
from gateline.settings import Name, Part

NOTICE_DAYS = 14
"""In its last days a waiver says that it is about to end."""


def _read_day(value: object) -> object:
    """Take a day as YYYY-MM-DD only: a number would be read as seconds since 1970."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        with contextlib.suppress(ValueError):
            return datetime.date.fromisoformat(value)
    raise ValueError(f"must be a day as YYYY-MM-DD, not {value}")


class Waiver(Part):
    """One rule let through for a while."""

    rule: Name
    """Id of the rule."""
    slice: Name | None = None
    """Only in this slice; in all of the rule's slices when left out."""
    up_to: Line
    """The bound that counts for the plain value in place of the rule's own, in the same sense and unit."""
    until: Annotated[datetime.date, BeforeValidator(_read_day)]
    """Last day that counts."""
    by: Name
    """Who answers for it."""
    reason: Name
    """Why."""

    def covers(self, finding: Finding) -> bool:
        """Return whether the finding is one that this waiver speaks of."""
        return self.rule == finding.rule and self.slice in (None, finding.slice)


def loosen(rule: Rule, waiver: Waiver) -> Rule:
    """Return the rule with the waiver's ceiling in place of its bound."""
    name = next(iter(rule.bound_fields()))
    ceiling: Any = waiver.up_to if name in ("at_least", "at_most") else (waiver.up_to,)
    return rule.model_copy(update={name: ceiling})


def apply_waivers(
    findings: Sequence[Finding],
    waivers: Sequence[Waiver],
    rules: dict[str, Rule],
    comparison: Comparison,
    on: datetime.date,
) -> tuple[list[Finding], list[Said]]:
    """Return the findings with those let through that a waiver covers, and what a person should know of waivers.

    Only what blocks can be waived, a hard rule never, and only while the plain value stays within the ceiling; so
    a waiver can't make a verdict worse. It moves the bound and not the proof: what rests on too few samples, or on
    too much left out, is not let through.
    """
    used: set[int] = set()
    unknown: set[int] = set()
    result = []
    for finding in findings:
        number = None
        for n, waiver in enumerate(waivers):
            status = _judge_at_ceiling(waiver, finding, rules, comparison, on)
            if status is Status.PASS:
                number = n
                break
            if status is Status.INCONCLUSIVE:
                unknown.add(n)
        if number is None:
            result.append(finding)
            continue
        used.add(number)
        waiver = waivers[number]
        told = UsedWaiver(
            up_to=waiver.up_to.text, until=waiver.until.isoformat(), by=waiver.by, reason=waiver.reason
        )
        result.append(finding.model_copy(update={"status": Status.WAIVED, "blocks": False, "waiver": told}))
    notices: list[Said] = []
    for n, waiver in enumerate(waivers):
        short = "notice.waiver-unknown" if n in unknown else "notice.waiver-too-short"
        notices += _notices(waiver, n in used, short, findings, on)
    return result, notices


def _judge_at_ceiling(
    waiver: Waiver, finding: Finding, rules: dict[str, Rule], comparison: Comparison, on: datetime.date
) -> Status | None:
    """Return what the finding would be with the ceiling as its bound; None where the waiver doesn't speak of it."""
    if not finding.blocks or finding.hard or not waiver.covers(finding) or on > waiver.until:
        return None
    rule = rules[finding.rule]
    loosened = loosen(rule, waiver).model_copy(update={"decide_by": "value"})
    estimate = comparison.estimate(
        finding.metric, finding.slice, candidate_alone=rule.looks_at_candidate_alone()
    )
    return loosened.settle(comparison, estimate, 1).status


def _notices(
    waiver: Waiver, used: bool, short: str, findings: Sequence[Finding], on: datetime.date
) -> list[Said]:
    name = said("notice.waiver", rule=waiver.rule)
    if waiver.slice:
        name = said("notice.waiver-in", rule=waiver.rule, slice=waiver.slice)
    until = waiver.until.isoformat()
    if on > waiver.until:
        return [said("notice.waiver-ended", waiver=name, until=until)]
    if not used:
        covered = [finding for finding in findings if waiver.covers(finding)]
        if any(finding.blocks for finding in covered):
            return [said(short, waiver=name, ceiling=str(waiver.up_to))]
        # what was not judged, or is not settled, does not say that its bound is met
        judged = [finding.status for finding in covered if finding.status is not Status.SKIPPED]
        met = set(judged) == {Status.PASS} or not covered
        return [said("notice.waiver-not-needed", waiver=name)] if met else []
    left = (waiver.until - on).days
    if left < NOTICE_DAYS:
        if left == 0:
            return [said("notice.waiver-last-day", waiver=name, until=until, by=waiver.by)]
        return [said("notice.waiver-ends", waiver=name, until=until, by=waiver.by, count=left)]
    return []
