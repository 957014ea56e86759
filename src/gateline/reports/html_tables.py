"""The tables of the HTML report: cells that are finished HTML, in the order of the verdict.

This module computes no number; the template turns tables into rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from markupsafe import Markup

from gateline import figures
from gateline.amounts import found, from_to, interval, judged_scale, needed
from gateline.reports.escape import clean, html_name
from gateline.reports.facts import rule_word
from gateline.reports.tables import counted, heads_of, without_empty_columns, worst_title
from gateline.spelling import Spelling
from gateline.wording import subject

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import ChangedSample, Curve, Verdict, WorstSample

_STATUS_SIGNS = {"fail": "✕", "inconclusive": "?", "waived": "!", "skipped": "–", "pass": "✓"}
_SHARES = {0.5: "P50", 0.9: "P90", 0.95: "P95", 0.99: "P99"}
_MOST_OF_VALUE = 120
_CHECKS = (
    "column.check",
    ">column.from-to",
    ">column.found",
    ">column.interval",
    ">column.needed",
    ">column.counted",
    ">column.could-show",
)
_PROVENANCE = ("column.fact", "column.baseline", "column.candidate", "column.policy")
_MOVED = (">column.baseline", ">column.candidate", ">column.change", "column.text")
_WORST = ("column.question", "column.metric", "column.slice", *_MOVED)
_CHANGED = ("column.question", "column.metric", *_MOVED)
"""Keys of the columns' titles; those that start with `>` hold numbers."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of finished cells."""

    caption: Markup
    heads: tuple[str, ...]
    """Column titles; those that start with `>` hold numbers."""
    rows: list[tuple[Markup, ...]] = field(default_factory=list)


def provenance(verdict: Verdict, spelling: Spelling) -> Table:
    """Return how the runs were made: what differs first."""
    sides = [run.provenance if run is not None else {} for run in (verdict.baseline, verdict.candidate)]
    differing = {changed.field for changed in verdict.changed}
    rows = [
        _row(
            Markup(f"<strong>{html_name(changed.field)}</strong>"),
            Markup(f'<span class="differs">{_value(changed.baseline, spelling)}</span>'),
            Markup(f'<span class="differs">{_value(changed.candidate, spelling)}</span>'),
            rule_word(changed.rule, spelling),
        )
        for changed in verdict.changed
    ]
    same = spelling.say("html.provenance-same")
    rows += [
        _row(
            Markup(html_name(name)),
            _value(sides[0].get(name), spelling),
            _value(sides[1].get(name), spelling),
            same,
        )
        for name in sorted({*sides[0], *sides[1]} - differing)
    ]
    differences = spelling.say("count.differences", count=len(differing))
    caption = spelling.say("joint.named", name=spelling.say("title.provenance"), text=differences)
    return Table(Markup(caption), heads_of(_PROVENANCE, spelling), rows)


def checks(findings: Iterable[Finding], caption: str, spelling: Spelling) -> Table:
    """Return checks with the numbers that they were decided by."""
    rows = [
        _row(
            Markup("{} {}<br>{}").format(
                status(finding, spelling),
                Markup(html_name(finding.rule)),
                Markup(subject(finding, spelling)),
            ),
            Markup(from_to(finding, spelling, unit_once=True)),
            kept_together(found(finding, spelling, with_unit=False)),
            span(finding, spelling),
            kept_together(needed(finding, spelling)),
            counted(finding, spelling),
            _could_show(finding, spelling),
        )
        for finding in findings
    ]
    return Table(Markup(caption), *without_empty_columns(heads_of(_CHECKS, spelling), rows))


def _could_show(finding: Finding, spelling: Spelling) -> Markup:
    """Return the smallest change that the samples could have shown."""
    if finding.smallest_visible_change is None:
        return Markup("")
    return Markup(judged_scale(finding, spelling).full(finding.smallest_visible_change))


def curve_table(curve: Curve, spelling: Spelling) -> Table:
    """Return the quantiles that people ask for."""
    rows = []
    for at, share in enumerate(curve.probabilities):
        if share in _SHARES:
            values = [curve.candidate] if curve.baseline is None else [curve.baseline, curve.candidate]
            rows.append(_row(_SHARES[share], *(figures.number(value[at]) for value in values)))
    before = () if curve.baseline is None else (">column.baseline",)
    heads = heads_of(("column.share", *before, ">column.candidate"), spelling)
    what = html_name(curve.field)
    if curve.unit:
        what = spelling.say("curve.in-unit", field=what, unit=spelling.text(curve.unit))
    answers = spelling.say("count.answers", count=curve.samples)
    return Table(Markup(spelling.say("joint.parts").join([what, answers])), heads, rows)


def worst_samples(verdict: Verdict, spelling: Spelling) -> Table:
    """Return the questions that got worse most in checks that are not plainly fine."""
    rows = [
        _row(
            *_named(sample),
            Markup("" if sample.slice is None else html_name(sample.slice)),
            *_moved(sample, verdict, spelling),
            clean(sample.question or "", 300),
        )
        for sample in verdict.worst
    ]
    return Table(
        Markup(worst_title(verdict, spelling)), *without_empty_columns(heads_of(_WORST, spelling), rows)
    )


def changed_samples(verdict: Verdict, spelling: Spelling) -> Table:
    """Return the questions that changed most, over the whole run."""
    rows = [
        _row(*_named(sample), *_moved(sample, verdict, spelling), clean(sample.question or "", 300))
        for sample in verdict.changed_samples
    ]
    caption = Markup(spelling.say("html.changed-caption"))
    return Table(caption, *without_empty_columns(heads_of(_CHANGED, spelling), rows))


def _named(sample: WorstSample | ChangedSample) -> tuple[Markup, Markup]:
    return Markup(html_name(sample.id)), Markup(html_name(sample.metric))


def _moved(
    sample: WorstSample | ChangedSample, verdict: Verdict, spelling: Spelling
) -> tuple[Markup, Markup, Markup]:
    """Return the values of both runs and the change."""
    finding = next((one for one in verdict.findings if one.metric == sample.metric), None)
    values, gains = figures.scales_of_sample(sample, finding, spelling.text, spelling.texts)
    change = gains.full(sample.gain, sign=True)
    tone = "worse" if sample.gain < 0 else "better"
    return (
        Markup(values.full(sample.baseline)),
        Markup(values.full(sample.candidate)),
        Markup(f'<span class="{tone}">{change}</span>'),
    )


def span(finding: Finding, spelling: Spelling) -> Markup:
    """Return the interval, which a line break may part before its dots only."""
    return Markup(interval(finding, spelling).replace("… ", "…\u00a0"))


def kept_together(number: str) -> Markup:
    """Return a finished number with its sign and unit that no line break parts."""
    return Markup(number.replace(" ", "\u00a0"))


def status(finding: Finding, spelling: Spelling) -> Markup:
    """Return the outcome as a sign, a word and a colour."""
    key = finding.status.value
    return Markup('<span class="status {}"><span aria-hidden="true">{}</span> {}</span>').format(
        key, _STATUS_SIGNS[key], spelling.say(f"status.{key}")
    )


def _value(value: str | None, spelling: Spelling) -> Markup:
    return Markup(spelling.say("word.none") if value is None else html_name(value, _MOST_OF_VALUE))


def _row(*cells: str) -> tuple[Markup, ...]:
    """Return cells, escaped where they are not finished."""
    return tuple(Markup.escape(cell) for cell in cells)
