"""An audit of a judge as text for the terminal, or as JSON. It computes nothing."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from gateline.audit.measures import Measured
from gateline.audit.review import DECIDES, Audit, Part
from gateline.errors import count_of
from gateline.figures import UNKNOWN, confidence_text, number, spell
from gateline.reports.escape import cut, display_width, terminal_name, terminal_text

LABELS = {"pass/fail": "pass/fail labels", "graded": "graded labels", "categories": "categories"}
NAMES = {
    "sensitivity": "sensitivity",
    "false_positive_rate": "false-positive rate",
    "separation": "sensitivity − f.-p. rate",
    "human_rate": "rate by people",
    "judge_rate": "rate by judge",
    "human_mean": "mean by people",
    "judge_mean": "mean by judge",
    "bias": "bias (judge − people)",
    "absolute_error": "mean absolute error",
    "agreement": "agreement",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "kappa, squared weights",
    "spearman": "Spearman's correlation",
    "pearson": "Pearson's correlation",
}
"""What each number is called, in the order in which they are shown."""
SHORT = {
    "sensitivity": "sens.",
    "false_positive_rate": "f.-p.",
    "bias": "bias",
    "absolute_error": "error",
    "agreement": "agree",
    "kappa": "kappa",
    "spearman": "corr.",
}
"""Columns of the table of slices."""
_PLAIN = {"kappa", "weighted_kappa", "spearman", "pearson"}
"""Numbers that are no shares, whatever the labels are."""
_POINTS = {"bias", "separation"}
WIDEST = 100
SHORTEST = 12
"""Columns that the name of a slice keeps in the narrowest terminal."""


def to_json(audit: Audit) -> str:
    """Return the audit as JSON; a number that there is none of is null, with the reason beside it."""
    found = {"gateline": 1, **asdict(audit), "is_better_than_chance": audit.is_better_than_chance}
    return json.dumps(found, ensure_ascii=False, indent=2)


def render_text(audit: Audit, width: int = 80) -> str:
    """Return the audit in lines of about `width` columns: what was compared, the numbers, slices, the conclusion."""
    width = min(max(width, 40), WIDEST)
    parts = [_render_head(audit, width), _render_counts(audit), _render_measures(audit, width)]
    if audit.overall.correction is not None:
        parts.append(_render_correction(audit, width))
    if audit.slices:
        parts.append(_render_slices(audit, width))
    parts.append(_wrap(_conclude(audit), width))
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _render_head(audit: Audit, width: int) -> list[str]:
    part = audit.overall
    said = (
        f"{terminal_text(audit.judge)} ({terminal_name(audit.judge_metric)}) against people in "
        f"{terminal_text(audit.human)} ({terminal_name(audit.human_metric)}): {LABELS[audit.kind]}, "
        f"{part.both:,} of {count_of(part.samples, 'sample', 'samples')} {'has' if part.both == 1 else 'have'} both"
    )
    if part.clusters != part.both:
        said += f", in {count_of(part.clusters, 'cluster', 'clusters')}"
    lines = _wrap(said, width)
    if part.missing:
        count = sum(part.missing.values())
        causes = ", ".join(f"{terminal_name(cause)} {number:,}" for cause, number in part.missing.items())
        said = f"no judge's label: {count:,} ({spell(count / part.samples * 100, 1)} %): {causes}"
        if part.human_where_missing is not None:
            name = "human_rate" if audit.kind == "pass/fail" else "human_mean"
            there = _found(name, Measured(part.human_where_missing), audit)
            said += f"; {NAMES[name]} there {there}"
        lines += _wrap(said, width)
    if part.without_human:
        lines += _wrap(f"judge's label only: {part.without_human:,}", width)
    return lines


def _render_counts(audit: Audit) -> list[str]:
    part = audit.overall
    if part.confusion is not None:
        found = part.confusion
        rows = [
            ("", "judge 1", "judge 0"),
            ("people 1", f"TP {found.true_positives:,}", f"FN {found.false_negatives:,}"),
            ("people 0", f"FP {found.false_positives:,}", f"TN {found.true_negatives:,}"),
        ]
        return _table(rows)
    if part.table is not None and len(audit.categories) <= 6:
        names = [terminal_name(name) for name in audit.categories]
        head = ("people \\ judge", *names)
        return _table([head, *((name, *(f"{count:,}" for count in row))
                               for name, row in zip(names, part.table, strict=True))])  # fmt: skip
    return []


def _render_measures(audit: Audit, width: int) -> list[str]:
    found = audit.overall.measures
    rows = [("", "found", f"{confidence_text(audit.confidence)} interval")]
    rows += [_row(NAMES[name], name, found[name], audit) for name in NAMES if name in found]
    return [*_table(rows), *_reasons([(NAMES[name], found[name]) for name in NAMES if name in found], width)]


def _render_correction(audit: Audit, width: int) -> list[str]:
    found = audit.overall.correction
    assert found is not None
    name = "human_rate" if audit.kind == "pass/fail" else "human_mean"
    numbers = [
        (f"judge alone, {found.samples:,}", found.judge),
        (f"people alone, {found.labelled:,}", found.human),
        ("Rogan–Gladen", found.corrected_rate),
        ("prediction-powered", found.prediction_powered),
    ]
    known = [(title, one) for title, one in numbers if one is not None]
    rows = [("what people would say of all", "found", "interval")]
    rows += [_row(title, name, one, audit) for title, one in known]
    lines = _table(rows)
    lines += _reasons([(title, one) for title, one in known[2:] if one.reason], width)
    if found.prediction_powered.value is not None:
        lines += _wrap(
            f"  weight of the judge: {spell(found.trust, 2)} (0 people alone, 1 as good as people)", width
        )
    return lines


def _render_slices(audit: Audit, width: int) -> list[str]:
    shown = [name for name in SHORT if any(name in part.measures for part in audit.slices)]
    rows = [("slice", "both", *(SHORT[name] for name in shown), "")]
    for part in audit.slices:
        numbers = [_found(name, part.measures.get(name), audit) for name in shown]
        sign = {"better": "", "worse": "✗", "not shown": "!"}[part.better_than_chance]
        rows.append(
            (f"{terminal_name(part.label)}={terminal_name(part.value)}", f"{part.both:,}", *numbers, sign)
        )
    while _width(rows) > width and len(rows[0]) > 4:
        rows = [(*row[:2], *row[3:]) for row in rows]
    if (over := _width(rows) - width) > 0:
        longest = max(display_width(row[0]) for row in rows)
        rows = [(cut(row[0], max(longest - over, SHORTEST)), *row[1:]) for row in rows]
    lines = _table(rows)
    if any(part.better_than_chance != "better" for part in audit.slices):
        lines += _wrap("! not shown to be better than chance there, ✗ worse; --json has the intervals", width)
    return lines


def _conclude(audit: Audit) -> str:
    part: Part = audit.overall
    name = DECIDES[audit.kind]
    found = part.measures[name]
    if part.better_than_chance == "better":
        said = "✓ the judge is better than chance"
    elif part.better_than_chance == "worse":
        said = "✗ the judge is worse than chance: it says the opposite of what people say, so nothing can be corrected"
    else:
        said = "✗ the judge is not shown to be better than chance, so nothing can be corrected"
    if found.value is None:
        return f"{said}: no {NAMES[name]}, {found.reason}"
    low, high = (_spell(name, end, audit) for end in (found.low, found.high))
    interval = (
        f"; {confidence_text(audit.confidence)} interval {low} … {high}" if found.low is not None else ""
    )
    return f"{said}: {NAMES[name]} {_found(name, found, audit)}{interval}"


def _row(title: str, name: str, found: Measured, audit: Audit) -> tuple[str, str, str]:
    if found.low is None or found.high is None:
        return title, _found(name, found, audit), ""
    low, high = (_spell(name, end, audit) for end in (found.low, found.high))
    return title, _found(name, found, audit), f"{low} … {high}"


def _found(name: str, found: Measured | None, audit: Audit) -> str:
    if found is None or found.value is None:
        return UNKNOWN
    text = _spell(name, found.value, audit)
    return f"{text} %" if _is_share(name, audit) and name not in _POINTS else text


def _spell(name: str, value: float | None, audit: Audit) -> str:
    if value is None:
        return UNKNOWN
    signed = name in _POINTS
    if _is_share(name, audit):
        return spell(value * 100, 1, sign=signed)
    return spell(value, 2, sign=signed) if name in _PLAIN else number(value, sign=signed)


def _is_share(name: str, audit: Audit) -> bool:
    return name not in _PLAIN and (audit.kind == "pass/fail" or name == "agreement")


def _reasons(found: Sequence[tuple[str, Measured]], width: int) -> list[str]:
    return [line for title, one in found if one.reason for line in _wrap(f"  {title}: {one.reason}", width)]


def _width(rows: Sequence[Sequence[str]]) -> int:
    return max(display_width(line) for line in _table(rows))


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Set rows in columns, the first to the left and the others to the right."""
    widths = [max(display_width(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0] + " " * (widths[0] - display_width(row[0]))]
        cells += [" " * (width - display_width(cell)) + cell
                  for cell, width in zip(row[1:], widths[1:], strict=True)]  # fmt: skip
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
