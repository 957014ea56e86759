"""A review of golden sets as text for the terminal, or as JSON. It computes nothing."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict

from gateline.errors import count_of, name_some
from gateline.figures import spell
from gateline.golden.notes import Note
from gateline.golden.quality import FileFacts, Review
from gateline.golden.resolution import CHANGING
from gateline.reports.escape import display_width, terminal_name, terminal_text

MOST_NOTES = 20
SIGNS = {"error": "✗", "warning": "!"}


def to_json(review: Review) -> str:
    """Return the review as JSON."""
    found = {"gateline": 1, **asdict(review), "errors": len(review.errors)}
    return json.dumps(found, ensure_ascii=False, indent=2)


def render_text(review: Review, width: int = 80) -> str:
    """Return the review in lines of about `width` columns: the files and their slices, then what to mend."""
    width = min(max(width, 60), 120)
    parts = [_render_file(facts, width) for facts in review.files]
    parts.append(
        _wrap(
            f"smallest change: what a pass/fail metric must change by to be seen with 80 % power at 95 % confidence, "
            f"if {CHANGING * 100:g} % of the answers change anyway",
            width,
        )
    )
    for level in ("error", "warning"):
        notes = [note for note in review.notes if note.level == level]
        lines = [line for note in notes[:MOST_NOTES] for line in _render_note(note, width)]
        if len(notes) > MOST_NOTES:
            lines.append(f"and {len(notes) - MOST_NOTES} more; --json has all")
        if lines:
            parts.append(lines)
    errors, warnings = len(review.errors), len(review.notes) - len(review.errors)
    parts.append([f"{count_of(errors, 'error', 'errors')}, {count_of(warnings, 'warning', 'warnings')}"])
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _render_file(facts: FileFacts, width: int) -> list[str]:
    version = f"version {terminal_name(facts.version)}" if facts.version else "no version"
    head = (
        f"{terminal_text(facts.file)}: {count_of(facts.questions, 'question', 'questions')}, {version}, "
        f"sha256 {facts.sha256[:12]}"
    )
    if facts.is_harvested:
        told = (
            "regression set of gateline harvest: its questions are copies, and it is held against itself only"
        )
        return [*_wrap(head, width), *_wrap(told, width), "", *_render_slices(facts)]
    given = [f"{name} {number:,}" for name, number in facts.labelled.items() if number]
    if facts.unanswerable:
        given.append(f"unanswerable {facts.unanswerable:,}")
    lines = [*_wrap(head, width), *_wrap(f"labelled: {', '.join(given) or 'nothing'}", width), ""]
    absent = [name for name, number in facts.labelled.items() if not number]
    if absent:
        lines[-1:] = [*_wrap(f"labelled nowhere: {', '.join(absent)}", width), ""]
    return lines + _render_slices(facts)


def _render_slices(facts: FileFacts) -> list[str]:
    rows = [("slice", "questions", "smallest change")]
    for one in facts.slices:
        name = f"{terminal_name(one.label)}={terminal_name(one.value)}" if one.label else "all"
        seen = (
            "none can be seen"
            if one.visible_change is None
            else f"{spell(one.visible_change * 100, 1)} points"
        )
        rows.append((name, f"{one.questions:,}", seen))
    lines = []
    widths = [max(display_width(row[place]) for row in rows) for place in range(3)]
    for name, questions, seen in rows:
        lines.append(
            f"  {name}{' ' * (widths[0] - display_width(name))}  {questions:>{widths[1]}}  {seen:>{widths[2]}}"
        )
    return lines


def _render_note(note: Note, width: int) -> list[str]:
    place = f"{terminal_text(note.where)}: " if note.where else ""
    told = [terminal_name(name) for name in note.ids if f"'{name}'" not in note.message]
    named = f" ({name_some(told, 5)})" if told else ""
    return _wrap(f"{SIGNS[note.level]} {note.check}: {place}{terminal_text(note.message)}{named}", width)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
