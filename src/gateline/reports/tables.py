"""The folded tables of the comment: worst samples, all checks, how the runs were made.

Rows are finished Markdown, worst first, so that a table can be cut at any row. This module computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gateline import figures
from gateline.amounts import found, from_to, interval, needed
from gateline.reports.escape import Markdown, markdown_name, markdown_text
from gateline.reports.facts import rule_word
from gateline.reports.layers import sections, worse_slices
from gateline.wording import subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateline.findings import Finding
    from gateline.reports.layers import Section
    from gateline.spelling import Spelling
    from gateline.verdict import Verdict, WorstSample

Cell = TypeVar("Cell", bound=str)

STATUS_SIGNS = {"fail": "❌", "inconclusive": "❓", "waived": "⚠️", "skipped": "➖", "pass": "✅"}

_WORST = (
    "column.question",
    "column.metric",
    "column.slice",
    ">column.baseline",
    ">column.candidate",
    ">column.change",
    "column.text",
)
_CHECKS = ("column.check", ">column.from-to", ">column.found-interval", "column.needed", ">column.counted")
_PROVENANCE = ("column.fact", "column.baseline", "column.candidate", "column.policy")
"""Keys of the columns' titles; those that start with `>` hold numbers."""
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
    """Key of the text that counts rows."""

    @property
    def head(self) -> Markdown:
        """Return the two lines above the rows."""
        titles = " | ".join(head.removeprefix(">") for head in self.heads)
        rules = " | ".join("--:" if head.startswith(">") else "---" for head in self.heads)
        return Markdown(f"| {titles} |\n| {rules} |\n")


def all_tables(verdict: Verdict, spelling: Spelling) -> list[Table]:
    """Return the tables that have rows, in the order of the comment."""
    tables = [
        worst_samples(verdict, spelling),
        all_checks(verdict, spelling),
        provenance(verdict, spelling),
    ]
    return [table for table in tables if table.rows]


def tables_by_layer(verdict: Verdict, spelling: Spelling) -> list[Table]:
    """Return the tables of the full report, in the order in which one looks for what broke."""
    tables = [provenance(verdict, spelling)]
    tables += [
        _checks(section_title(section, spelling), section.findings, spelling) for section in sections(verdict)
    ]
    worse = worse_slices(verdict)
    tables += [
        _checks(spelling.say("title.worse-slices", count=len(worse)), worse, spelling),
        worst_samples(verdict, spelling),
    ]
    return [table for table in tables if table.rows]


def section_title(section: Section, spelling: Spelling) -> str:
    """Return `Retrieval: 3 checks`."""
    checks = spelling.say("count.checks", count=len(section.findings))
    return spelling.say("joint.named", name=section.title(spelling), text=checks)


def heads_of(columns: Sequence[str], spelling: Spelling) -> tuple[str, ...]:
    """Return the titles of columns, given by their keys; a `>` before one stays: the column holds numbers."""
    return tuple(
        (">" if column.startswith(">") else "") + spelling.say(column.removeprefix(">")) for column in columns
    )


def worst_samples(verdict: Verdict, spelling: Spelling) -> Table:
    """Return the questions that got worse most."""
    metrics = {finding.metric: finding for finding in reversed(verdict.findings)}
    cells = [_sample_cells(sample, metrics.get(sample.metric), spelling) for sample in verdict.worst]
    heads, kept = without_empty_columns(heads_of(_WORST, spelling), cells)
    rows = tuple(_row(*row) for row in kept)
    return Table(Markdown(worst_title(verdict, spelling)), heads, rows, "count.samples")


def without_empty_columns(
    heads: tuple[str, ...], rows: Sequence[tuple[Cell, ...]]
) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Return titles and rows without the columns in which nothing stands in any row."""
    kept = [at for at in range(len(heads)) if not rows or any(row[at] for row in rows)]
    return tuple(heads[at] for at in kept), [tuple(row[at] for at in kept) for row in rows]


def worst_title(verdict: Verdict, spelling: Spelling) -> str:
    """Return how many samples are shown, and of how many that got worse."""
    shown, known = len(verdict.worst), verdict.worse_samples
    if known is None or known < shown:
        return spelling.say("title.worst-samples", count=shown)
    if known == shown:
        return spelling.say("title.worse-samples", count=shown)
    return spelling.say("title.worst-samples-of", count=shown, of=f"{known:,}")


def all_checks(verdict: Verdict, spelling: Spelling) -> Table:
    """Return every check with the numbers it was decided by."""
    return _checks(spelling.say("title.all-checks", count=len(verdict.findings)), verdict.findings, spelling)


def provenance(verdict: Verdict, spelling: Spelling) -> Table:
    """Return how the runs were made, what differs first and in bold."""
    sides = [run.provenance if run is not None else {} for run in (verdict.baseline, verdict.candidate)]
    rows = [
        _row(
            f"**{markdown_name(field.field)}**",
            f"**{_value(field.baseline, spelling)}**",
            f"**{_value(field.candidate, spelling)}**",
            rule_word(field.rule, spelling),
        )
        for field in verdict.changed
    ]
    different = {field.field for field in verdict.changed}
    same = spelling.say("provenance.same")
    rows += [
        _row(
            markdown_name(name),
            _value(sides[0].get(name), spelling),
            _value(sides[1].get(name), spelling),
            same,
        )
        for name in sorted({*sides[0], *sides[1]} - different)
    ]
    differences = spelling.say("count.differences", count=len(different))
    title = Markdown(spelling.say("title.provenance-counted", differences=differences))
    return Table(title, heads_of(_PROVENANCE, spelling), tuple(rows), "count.facts")


def _checks(title: str, findings: Sequence[Finding], spelling: Spelling) -> Table:
    rows = tuple(_check_row(finding, spelling) for finding in findings)
    return Table(Markdown(title), heads_of(_CHECKS, spelling), rows, "count.checks")


def _check_row(finding: Finding, spelling: Spelling) -> Markdown:
    status = finding.status.value
    numbers = (
        from_to(finding, spelling, unit_once=True),
        _found(finding, spelling),
        needed(finding, spelling),
    )
    word = spelling.say(f"status.{status}")
    return _row(
        f"{STATUS_SIGNS[status]} {word} · {markdown_name(finding.rule)}<br>{subject(finding, spelling)}",
        *(number.replace(" ", _NBSP) for number in numbers),
        counted(finding, spelling),
    )


def _found(finding: Finding, spelling: Spelling) -> str:
    """Return `−14.4 [−24.5 … −5.4]`."""
    span = interval(finding, spelling)
    return found(finding, spelling, with_unit=False) + (f" [{span}]" if span else "")


def counted(finding: Finding, spelling: Spelling) -> str:
    """Return `13 / 1 of 90`, in how many independent groups where that is fewer, and how many labels correct it."""
    number = f"{finding.samples:,}"
    if finding.worse is not None and finding.better is not None:
        moved = f"{finding.worse:,} / {finding.better:,}"
        number = spelling.say("cell.moved-of", moved=moved, samples=number)
    if finding.clusters and finding.clusters != finding.samples:
        number = spelling.say("cell.in-groups", number=number, groups=f"{finding.clusters:,}")
    told = finding.calibration
    if told is not None and told.corrects and finding.kind != "every":
        number = spelling.say("cell.labelled", number=number, count=told.labelled)
    return number


def _sample_cells(sample: WorstSample, finding: Finding | None, spelling: Spelling) -> tuple[str, ...]:
    scales = figures.scales_of_sample(sample, finding, spelling.text, spelling.texts)
    return (
        markdown_name(sample.id),
        markdown_name(sample.metric),
        "" if sample.slice is None else markdown_name(sample.slice),
        scales[0].full(sample.baseline),
        scales[0].full(sample.candidate),
        scales[1].full(sample.gain, sign=True),
        markdown_text(sample.question or "", 200),
    )


def _value(value: str | None, spelling: Spelling) -> str:
    return spelling.say("word.none") if value is None else markdown_name(value, _MOST_OF_VALUE)


def _row(*cells: str) -> Markdown:
    return Markdown(" | ".join(cells))
