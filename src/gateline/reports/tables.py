"""The folded tables of the comment: worst samples, all checks, how the runs were made.

Rows are finished Markdown, worst first, so that a table can be cut at any row. This module computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateline import figures
from gateline.reports.escape import IN_MARKDOWN, Markdown, markdown_name, markdown_text
from gateline.reports.facts import RULE_WORDS
from gateline.reports.layers import sections, worse_slices
from gateline.wording import found, from_to, interval, needed, plural, subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateline.findings import Finding
    from gateline.verdict import Verdict, WorstSample

STATUS_SIGNS = {"fail": "❌", "inconclusive": "❓", "waived": "⚠️", "skipped": "➖", "pass": "✅"}

_MOST_OF_VALUE = 40
_NBSP = "\u00a0"
"""Keeps a number and its unit in one line of a narrow column."""


@dataclass(frozen=True, slots=True)
class Table:
    """A folded table."""

    title: Markdown
    heads: tuple[str, ...]
    """Column titles; those that start with `>` are aligned to the right."""
    rows: tuple[Markdown, ...]
    """Rows without the outer pipes."""
    things: str
    """What a row is, in the plural."""

    @property
    def head(self) -> Markdown:
        """Return the two lines above the rows."""
        titles = " | ".join(head.removeprefix(">") for head in self.heads)
        rules = " | ".join("--:" if head.startswith(">") else "---" for head in self.heads)
        return Markdown(f"| {titles} |\n| {rules} |\n")


def all_tables(verdict: Verdict) -> list[Table]:
    """Return the tables that have rows, in the order of the comment."""
    tables = [worst_samples(verdict), all_checks(verdict), provenance(verdict)]
    return [table for table in tables if table.rows]


def tables_by_layer(verdict: Verdict) -> list[Table]:
    """Return the tables of the full report, in the order in which one looks for what broke."""
    tables = [provenance(verdict)]
    for section in sections(verdict):
        title = f"{section.title}: {plural(len(section.findings), 'check')}"
        tables.append(_checks(title, section.findings))
    worse = worse_slices(verdict)
    tables += [_checks(f"Slices that got worse: {len(worse):,}", worse), worst_samples(verdict)]
    return [table for table in tables if table.rows]


def worst_samples(verdict: Verdict) -> Table:
    """Return the questions that got worse most."""
    metrics = {finding.metric: finding for finding in reversed(verdict.findings)}
    with_question = any(sample.question for sample in verdict.worst)
    heads = ["question", "metric", "slice", ">baseline", ">candidate", ">change"]
    rows = [_sample_row(sample, metrics.get(sample.metric), with_question) for sample in verdict.worst]
    title = Markdown(f"The {plural(len(rows), 'sample')} that got worse most")
    if len(rows) == 1:
        title = Markdown("The sample that got worse")
    return Table(title, (*heads, "text") if with_question else tuple(heads), tuple(rows), "samples")


def all_checks(verdict: Verdict) -> Table:
    """Return every check with the numbers it was decided by."""
    count = len(verdict.findings)
    return _checks("The check" if count == 1 else f"All {plural(count, 'check')}", verdict.findings)


def provenance(verdict: Verdict) -> Table:
    """Return how the runs were made, what differs first and in bold."""
    sides = [run.provenance if run is not None else {} for run in (verdict.baseline, verdict.candidate)]
    rows = [
        _row(
            f"**{markdown_name(field.field)}**",
            f"**{_value(field.baseline)}**",
            f"**{_value(field.candidate)}**",
            RULE_WORDS[field.rule],
        )
        for field in verdict.changed
    ]
    different = {field.field for field in verdict.changed}
    rows += [
        _row(markdown_name(name), _value(sides[0].get(name)), _value(sides[1].get(name)), "same")
        for name in sorted({*sides[0], *sides[1]} - different)
    ]
    title = f"How the runs were made ({plural(len(different), 'difference')})"
    return Table(Markdown(title), ("fact", "baseline", "candidate", "policy"), tuple(rows), "facts")


def _checks(title: str, findings: Sequence[Finding]) -> Table:
    heads = ("check", ">from → to", ">found [interval]", "needed", ">worse / better of")
    return Table(Markdown(title), heads, tuple(_check_row(finding) for finding in findings), "checks")


def _check_row(finding: Finding) -> Markdown:
    status = finding.status.value
    numbers = (
        from_to(finding, IN_MARKDOWN, unit_once=True),
        _found(finding),
        needed(finding, IN_MARKDOWN),
    )
    return _row(
        f"{STATUS_SIGNS[status]} {status} · {markdown_name(finding.rule)}<br>{subject(finding, IN_MARKDOWN)}",
        *(number.replace(" ", _NBSP) for number in numbers),
        _counted(finding),
    )


def _found(finding: Finding) -> str:
    """Return `−14.4 [−24.5 … −5.4]`."""
    span = interval(finding, IN_MARKDOWN)
    return found(finding, IN_MARKDOWN, with_unit=False) + (f" [{span}]" if span else "")


def _counted(finding: Finding) -> str:
    """Return `13 / 1 of 90`, and in how many independent groups where that is fewer."""
    groups = f" in {finding.clusters:,}" if finding.clusters and finding.clusters != finding.samples else ""
    if finding.worse is None or finding.better is None:
        return f"{finding.samples:,}{groups}"
    return f"{finding.worse:,} / {finding.better:,} of {finding.samples:,}{groups}"


def _sample_row(sample: WorstSample, finding: Finding | None, with_question: bool) -> Markdown:
    scales = figures.scales_of_sample(sample, finding, IN_MARKDOWN.text)
    cells = [
        markdown_name(sample.id),
        markdown_name(sample.metric),
        "" if sample.slice is None else markdown_name(sample.slice),
        scales[0].full(sample.baseline),
        scales[0].full(sample.candidate),
        scales[1].full(sample.gain, sign=True),
    ]
    if with_question:
        cells.append(markdown_text(sample.question or "", 200))
    return _row(*cells)


def _value(value: str | None) -> str:
    return "none" if value is None else markdown_name(value, _MOST_OF_VALUE)


def _row(*cells: str) -> Markdown:
    return Markdown(" | ".join(cells))
