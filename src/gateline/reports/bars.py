"""Intervals drawn with characters, one row a check, on one axis scaled by each rule's own bound.

For people who ask whether it is one thing or many, and real or noise. This module draws; what stands in the
columns comes from `wording`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateline import figures
from gateline.amounts import found, interval, needed
from gateline.reports.escape import cut, display_width
from gateline.spelling import Spelling
from gateline.wording import subject

if TYPE_CHECKING:
    from gateline.findings import Finding

SIGNS = {"fail": "-", "inconclusive": "!", "waived": "!", "skipped": " ", "pass": "+"}
LET_THROUGH = "?"
"""Of what is not settled and needs no look, because its rule lets it through."""

_HALF = 12
"""Columns on each side of the axis."""
_BOUND_AT = 3
"""Columns from the axis to a bound: half a bar shows four times what a rule allows."""
_LIMIT_UNIT = 0.05
"""For a limit, the share of the bound that takes as many columns as the allowance of a tolerance."""
_NAME_WIDTHS = (38, 32, 26, 20)
"""Columns that names may take, tried in turn until the drawing fits."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the numbers of one check stand, in columns from the axis; negative is worse."""

    value: float
    low: float | None
    high: float | None
    bound: float | None


def is_drawn(finding: Finding) -> bool:
    """Return whether a check belongs into the drawing: not plainly fine, or what the change is for."""
    return _is_open(finding) or (finding.status.value == "pass" and finding.kind == "improvement")


def draw(findings: Sequence[Finding], spelling: Spelling, rows: int = 12, columns: int = 100) -> list[str]:
    """Return the drawing as lines: a header, a row a check in the given order, and how many were left out.

    Nothing is drawn where all is fine. Names are cut until the drawing fits the columns; where it can't, it
    is as narrow as it gets.
    """
    drawn = [finding for finding in findings if is_drawn(finding)]
    if not any(map(_is_open, drawn)):
        return []
    lines: list[str] = []
    for widest in _NAME_WIDTHS:
        lines = _draw_rows(drawn[:rows], spelling, widest)
        if max(map(display_width, lines)) <= columns:
            break
    if len(drawn) > rows:
        lines.append(f"  {spelling.say('list.rest', count=len(drawn) - rows)}")
    return lines


def _draw_rows(shown: Sequence[Finding], spelling: Spelling, widest: int) -> list[str]:
    """Return the header and a row a check."""
    title, names = _names(shown, spelling, widest)
    name_width = max(map(display_width, [title, *names]))
    cells = [
        (found(finding, spelling, with_unit=False), interval(finding, spelling), needed(finding, spelling))
        for finding in shown
    ]
    heads = (spelling.say("column.found"), spelling.say("column.interval"), spelling.say("column.needed"))
    widths = [max(display_width(row[i]) for row in [heads, *cells]) for i in range(3)]
    lines = [f"  {_pad(title, name_width)}  {_axis_title(spelling)}  {_row(heads, widths)}".rstrip()]
    for finding, name, cell in zip(shown, names, cells, strict=True):
        lines.append(
            f"{sign(finding)} {_pad(name, name_width)}  {bar(place(finding))}  {_row(cell, widths)}".rstrip()
        )
    return lines


def sign(finding: Finding) -> str:
    """Return the sign of a row: what blocks, what needs a look, what holds."""
    if finding.blocks:
        return SIGNS["fail"]
    if finding.warns:
        return SIGNS["inconclusive"]
    return LET_THROUGH if finding.status.value == "inconclusive" else SIGNS[finding.status.value]


def place(finding: Finding) -> Place | None:
    """Return where a check's numbers stand on the axis; None where there is no number.

    A gain stands at its share of the bound, so that the bound of every rule is equally far from the axis. A
    limit has its bound on the axis, and 5 % of the bound is as far as a tolerance's bound.
    """
    value = figures.judged_value(finding)
    if value is None or finding.threshold is None or finding.kind == "every" or not math.isfinite(value):
        return None
    ends = figures.ends_of(finding)
    if finding.judged == "candidate":
        sign = -1.0 if finding.at_most is not None else 1.0
        numbers = [sign * (number - finding.threshold) for number in (value, *(ends or ()))]
        unit = abs(finding.threshold) * _LIMIT_UNIT
        bound = None
    else:
        numbers = [value, *(ends or ())]
        unit = abs(finding.threshold)
        bound = finding.threshold
    if unit == 0:
        unit = max(map(abs, numbers)) / 2 or 1.0
    columns = [number / unit * _BOUND_AT for number in numbers]
    low, high = (min(columns[1:]), max(columns[1:])) if ends else (None, None)
    at = None if not bound else bound / unit * _BOUND_AT
    return Place(columns[0], low, high, at)


def bar(numbers: Place | None) -> str:
    """Return one bar: `├───●──┤` on the axis `│` with the bound `:`, arrows where it leaves the drawing."""
    cells = [" "] * (2 * _HALF + 1)
    cells[_HALF] = "│"
    if numbers is None:
        return "".join(cells)
    if numbers.bound is not None:
        cells[round(numbers.bound) + _HALF] = ":"
    if numbers.low is not None and numbers.high is not None:
        _draw_span(cells, _column(numbers.low, numbers.bound), _column(numbers.high, numbers.bound))
    value = _column(numbers.value, numbers.bound)
    if value < 0:
        cells[0] = "◄"
    elif value >= len(cells):
        cells[-1] = "►"
    elif cells[value] in "◄►":  # an arrow stays: the interval goes on beyond it
        cells[value + 1 if value == 0 else value - 1] = "●"
    else:
        cells[value] = "●"
    return "".join(cells)


def _is_open(finding: Finding) -> bool:
    return finding.status.value in ("fail", "inconclusive", "waived") or finding.fell_unjudged


def _names(shown: Sequence[Finding], spelling: Spelling, widest: int) -> tuple[str, list[str]]:
    """Return the title of the first column and a name a row, no two of them alike.

    A metric that all rows share stands in the title; two rules on one metric and slice are told apart by their id.
    """
    title = ""
    names = [subject(finding, spelling) for finding in shown]
    if len(shown) > 1 and len({finding.metric for finding in shown}) == 1:
        metric = spelling.name(shown[0].metric)
        title = cut(spelling.say("joint.named", name=spelling.say("column.metric"), text=metric), widest)
        names = [
            spelling.say("bars.all-samples") if f.slice is None else spelling.name(f.slice) for f in shown
        ]
    alike = {name for name in names if names.count(name) > 1}
    pairs = zip(names, shown, strict=True)
    names = [
        spelling.say("joint.named", name=spelling.name(f.rule), text=name) if name in alike else name
        for name, f in pairs
    ]
    return title, [cut(name, widest) for name in names]


def _draw_span(cells: list[str], low: int, high: int) -> None:
    """Draw an interval over the cells; the axis and the bound stay visible through it."""
    first, last = max(low, 0), min(high, len(cells) - 1)
    for column in range(first, last + 1):
        cells[column] = {"│": "┼", ":": ":"}.get(cells[column], "─")
    if first < last:
        cells[first], cells[last] = "├", "┤"
    if low < 0:
        cells[0] = "◄"
    if high >= len(cells):
        cells[-1] = "►"


def _column(distance: float, bound: float | None) -> int:
    """Return the cell of a distance from the axis, -1 or the number of cells where it lies beyond the drawing.

    A distance that is not zero never falls on the axis, and one that is not the bound never on the bound.
    """
    limited = min(max(distance, -_HALF - 1.0), _HALF + 1.0)
    nearest = round(limited)
    for mark in (0.0, bound):
        if mark is not None and nearest == round(mark) and abs(distance - mark) > 1e-9:
            nearest += 1 if distance > mark else -1
            break
    return nearest + _HALF


def _axis_title(spelling: Spelling) -> str:
    worse, better = (
        cut(f"◄ {spelling.say('word.worse')}", _HALF),
        cut(f"{spelling.say('word.better')} ►", _HALF),
    )
    return f"{_pad(worse, _HALF)}0{_pad_left(better, _HALF)}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return the columns right of the bars: numbers to the right, the bound to the left."""
    value, span, bound = cells
    return f"{_pad_left(value, widths[0])}  {_pad(span, widths[1])}  {bound}"


def _pad(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def _pad_left(text: str, width: int) -> str:
    return " " * (width - display_width(text)) + text
