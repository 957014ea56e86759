"""The tables of the HTML report: cells that are finished HTML, in the order of the verdict.

This module computes no number; the template turns tables into rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from markupsafe import Markup

from gateline import figures
from gateline.reports.escape import IN_HTML, clean, html_name
from gateline.reports.facts import RULE_WORDS
from gateline.reports.page_texts import COLUMNS
from gateline.wording import found, from_to, interval, needed, plural, subject

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import ChangedSample, Curve, Verdict, WorstSample

_STATUS_SIGNS = {"fail": "✕", "inconclusive": "?", "waived": "!", "skipped": "–", "pass": "✓"}
_SHARES = {0.5: "P50", 0.9: "P90", 0.95: "P95", 0.99: "P99"}
_MOST_OF_VALUE = 120


@dataclass(frozen=True, slots=True)
class Table:
    """A table of finished cells."""

    caption: Markup
    heads: tuple[str, ...]
    """Column titles; those that start with `>` hold numbers."""
    rows: list[tuple[Markup, ...]] = field(default_factory=list)


def provenance(verdict: Verdict) -> Table:
    """Return how the runs were made: what differs first."""
    sides = [run.provenance if run is not None else {} for run in (verdict.baseline, verdict.candidate)]
    differing = {changed.field for changed in verdict.changed}
    rows = [
        _row(
            Markup(f"<strong>{html_name(changed.field)}</strong>"),
            Markup(f'<span class="differs">{_value(changed.baseline)}</span>'),
            Markup(f'<span class="differs">{_value(changed.candidate)}</span>'),
            RULE_WORDS[changed.rule],
        )
        for changed in verdict.changed
    ]
    rows += [
        _row(Markup(html_name(name)), _value(sides[0].get(name)), _value(sides[1].get(name)), "the same")
        for name in sorted({*sides[0], *sides[1]} - differing)
    ]
    caption = Markup(f"How the runs were made: {plural(len(differing), 'difference')}")
    return Table(caption, COLUMNS["provenance"], rows)


def checks(findings: Iterable[Finding], caption: str) -> Table:
    """Return checks with the numbers that they were decided by."""
    rows = [
        _row(
            Markup("{} {}<br>{}").format(
                status(finding), Markup(html_name(finding.rule)), Markup(subject(finding, IN_HTML))
            ),
            Markup(from_to(finding, IN_HTML, unit_once=True)),
            kept_together(found(finding, IN_HTML, with_unit=False)),
            span(finding),
            kept_together(needed(finding, IN_HTML)),
            _counted(finding),
            _could_show(finding),
        )
        for finding in findings
    ]
    return Table(Markup(caption), COLUMNS["checks"], rows)


def _counted(finding: Finding) -> str:
    """Return `13 / 1 of 90`, and in how many independent groups where that is fewer."""
    groups = f" in {finding.clusters:,}" if finding.clusters and finding.clusters != finding.samples else ""
    if finding.worse is None or finding.better is None:
        return f"{finding.samples:,}{groups}"
    return f"{finding.worse:,} / {finding.better:,} of {finding.samples:,}{groups}"


def _could_show(finding: Finding) -> Markup:
    """Return the smallest change that the samples could have shown."""
    if finding.smallest_visible_change is None:
        return Markup("")
    unit = None if finding.unit is None else IN_HTML.text(finding.unit)
    return Markup(figures.judged_scale(finding, unit).full(finding.smallest_visible_change))


def curve_table(curve: Curve) -> Table:
    """Return the quantiles that people ask for."""
    rows = []
    for at, share in enumerate(curve.probabilities):
        if share in _SHARES:
            values = [curve.candidate] if curve.baseline is None else [curve.baseline, curve.candidate]
            rows.append(_row(_SHARES[share], *(figures.number(value[at]) for value in values)))
    first, before, after = COLUMNS["curve"]
    heads = (first, after) if curve.baseline is None else (first, before, after)
    unit = f" in {IN_HTML.text(curve.unit)}" if curve.unit else ""
    caption = Markup(f"{html_name(curve.field)}{unit}, {plural(curve.samples, 'answer')}")
    return Table(caption, heads, rows)


def worst_samples(verdict: Verdict) -> Table:
    """Return the questions that got worse most in checks that are not plainly fine."""
    rows = [
        _row(
            *_named(sample),
            Markup("" if sample.slice is None else html_name(sample.slice)),
            *_moved(sample, verdict),
            clean(sample.question or "", 300),
        )
        for sample in verdict.worst
    ]
    return _without_empty_text(Table(Markup(plural(len(rows), "sample")), COLUMNS["worst"], rows))


def changed_samples(verdict: Verdict) -> Table:
    """Return the questions that changed most, over the whole run."""
    rows = [
        _row(*_named(sample), *_moved(sample, verdict), clean(sample.question or "", 300))
        for sample in verdict.changed_samples
    ]
    caption = Markup("Of each metric up to five samples on each side, over the whole run")
    return _without_empty_text(Table(caption, COLUMNS["changed"], rows))


def _named(sample: WorstSample | ChangedSample) -> tuple[Markup, Markup]:
    return Markup(html_name(sample.id)), Markup(html_name(sample.metric))


def _moved(sample: WorstSample | ChangedSample, verdict: Verdict) -> tuple[Markup, Markup, Markup]:
    """Return the values of both runs and the change."""
    finding = next((one for one in verdict.findings if one.metric == sample.metric), None)
    values, gains = figures.scales_of_sample(sample, finding, IN_HTML.text)
    change = gains.full(sample.gain, sign=True)
    tone = "worse" if sample.gain < 0 else "better"
    return (
        Markup(values.full(sample.baseline)),
        Markup(values.full(sample.candidate)),
        Markup(f'<span class="{tone}">{change}</span>'),
    )


def _without_empty_text(table: Table) -> Table:
    """Drop the last column where no sample has a text."""
    if any(row[-1] for row in table.rows):
        return table
    return Table(table.caption, table.heads[:-1], [row[:-1] for row in table.rows])


def span(finding: Finding) -> Markup:
    """Return the interval, which a line break may part before its dots only."""
    return Markup(interval(finding, IN_HTML).replace("… ", "…\u00a0"))


def kept_together(number: str) -> Markup:
    """Return a finished number with its sign and unit that no line break parts."""
    return Markup(number.replace(" ", "\u00a0"))


def status(finding: Finding) -> Markup:
    """Return the outcome as a sign, a word and a colour."""
    word = finding.status.value
    return Markup('<span class="status {0}"><span aria-hidden="true">{1}</span> {0}</span>').format(
        word, _STATUS_SIGNS[word]
    )


def _value(value: str | None) -> Markup:
    return Markup("none" if value is None else html_name(value, _MOST_OF_VALUE))


def _row(*cells: str) -> tuple[Markup, ...]:
    """Return cells, escaped where they are not finished."""
    return tuple(Markup.escape(cell) for cell in cells)
