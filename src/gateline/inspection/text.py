"""An inspection as a text for the terminal, readable from 60 columns on. It computes nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from gateline.errors import count_of, name_some
from gateline.inspection.facts import Inspection, LabelColumn, NumberColumn
from gateline.reports.escape import clean, display_width, terminal_name, terminal_text

NARROWEST = 60
WIDEST = 120
WIDE = 84
"""Columns from which there is room for the median and a note."""
NOTE_WIDTH = 20
TOP_VALUES = 12
SOME = 4
GUESSED = " ?"
CAUSES = {
    "null": "no value", "no_answer": "no answer", "error": "with an error", "cached": "cached",
    "price_unknown": "price unknown",
}  # fmt: skip


def render_text(inspection: Inspection, width: int = 80) -> str:
    """Return the inspection in lines of at most `width` columns (60 to 120), with a line feed at the end."""
    width = min(max(width, NARROWEST), WIDEST)
    parts = [_render_head(inspection, width)]
    if inspection.numbers:
        parts.append(_render_numbers(inspection.numbers, width))
    diagnoses = [clean(column.name, width) for column in inspection.numbers if column.is_diagnosis]
    if diagnoses:
        named = name_some(diagnoses, SOME)
        parts.append(["numbers of which none is better by being high or low", *_wrap(named, width)])
    if inspection.labels:
        parts.append(
            ["labels", *(line for label in inspection.labels for line in _render_label(label, width))]
        )
    if inspection.texts:
        parts.append(["texts", *_wrap(", ".join(map(terminal_name, inspection.texts)), width)])
    if inspection.provenance:
        facts = [
            f"{terminal_name(name)}: {terminal_text(value)}" for name, value in inspection.provenance.items()
        ]
        parts.append(["the whole run", *(line for fact in facts for line in _wrap(fact, width))])
    if inspection.warnings:
        told = [
            line for warning in inspection.warnings for line in _wrap(terminal_text(warning), width, "- ")
        ]
        parts.append(["to look at", *told])
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _render_head(inspection: Inspection, width: int) -> list[str]:
    samples = count_of(inspection.samples, "record", "records")
    if inspection.distinct_ids != inspection.samples:
        questions = count_of(inspection.distinct_ids, "question", "questions")
        samples += f" of {questions}, up to {inspection.attempts} attempts"
    return [
        *_wrap(terminal_text(inspection.file), width, ""),
        *_wrap(f"{_format(inspection)}, {samples}, identified by {_id_source(inspection)}", width),
        f"  sha256 {inspection.sha256[:32]}…",
    ]


def _id_source(inspection: Inspection) -> str:
    name = terminal_name(inspection.id_field)
    return name if inspection.made_ids else f"'{name}'"


def _format(inspection: Inspection) -> str:
    version = terminal_text(inspection.format_version)
    told = f"{inspection.format} {version}" if version else inspection.format
    other = inspection.reader not in ("", inspection.format)
    return f"{told} (--read-as {inspection.reader})" if other else told


def _render_numbers(columns: Sequence[NumberColumn], width: int) -> list[str]:
    is_wide = width >= WIDE
    heads = ["numbers", "values", "missing", "mean", *(["median"] if is_wide else []), "min", "max"]
    size = 8 if is_wide else 7
    name_width = width - (size + 1) * (len(heads) - 1) - (NOTE_WIDTH if is_wide else 0)
    lines = [_row(heads, name_width, size)]
    for column in columns:
        if column.is_diagnosis:
            continue
        numbers = [column.mean, *([column.median] if is_wide else []), column.low, column.high]
        counts = [str(column.values), str(sum(column.missing.values()))]
        cells = [
            "  " + clean(column.name, name_width - 2),
            *counts,
            *(_number(value, size) for value in numbers),
        ]
        note = f"  {_note(column)}" if is_wide else ""
        lines.append((_row(cells, name_width, size) + note).rstrip())
        if set(column.missing) - {"null"}:  # that there is no value, the column of numbers says
            causes = ", ".join(f"{times:,} {CAUSES[cause]}" for cause, times in column.missing.items())
            lines += _wrap(f"missing: {causes}", width, "    ")
    if is_wide and any(_note(column).endswith(GUESSED) for column in columns if not column.is_diagnosis):
        lines.append("  ? guessed from names and values: the file does not say it")
    return lines


def _note(column: NumberColumn) -> str:
    """Return direction and scale of a score, with a question mark where the file does not say them."""
    if column.kind not in {"score", "number"}:
        return column.kind
    said: list[str] = [column.better] if column.better and column.kind == "score" else []
    if column.is_pass_fail and column.kind == "score" and not column.is_stated:
        said.append("pass/fail")
    elif column.range is not None:
        said.append(f"{column.range[0]:g} to {column.range[1]:g}")
    return ", ".join(said) + ("" if column.is_stated or not said else GUESSED)


def _row(cells: Sequence[str], name_width: int, size: int) -> str:
    name = cells[0] + " " * max(0, name_width - display_width(cells[0]))
    return (name + "".join(f" {cell:>{size}}" for cell in cells[1:])).rstrip()


def _number(value: float | None, most: int) -> str:
    """Return a number in at most `most` characters, with four digits where there is room."""
    if value is None:
        return "-"
    if abs(value) >= 1e7 or 0 < abs(value) < 1e-3:
        text = f"{value:.2g}"
    else:
        text = f"{value:.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"
    return text if len(text) <= most else f"{value:.1g}"


def _render_label(label: LabelColumn, width: int) -> list[str]:
    shown = [f"{terminal_name(text)} {times:,}" for text, times in list(label.counts.items())[:TOP_VALUES]]
    rest = list(label.counts.values())[TOP_VALUES:]
    if label.blank:
        shown.append(f"(none) {label.blank:,}")
    if rest:
        shown.append(f"and {len(rest):,} more")
    return _wrap(f"{terminal_name(label.name)}: {', '.join(shown)}", width)


def _wrap(text: str, width: int, start: str = "  ") -> list[str]:
    """Return a text in lines; wide characters make a line longer than asked, as everywhere in terminals."""
    after = " " * (len(start) + 2)
    return textwrap.wrap(text, width, initial_indent=start, subsequent_indent=after) or [start]
