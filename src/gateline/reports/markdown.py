"""The comment under a pull request, and the step summary: the verdict for a reader with 5 s, 30 s or 5 min.

The template says where things stand; this module says what stands there, and how much of it fits. It posts
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from gateline.reports import bars, facts, tables
from gateline.reports.diagnosis import Pointer, diagnose
from gateline.reports.escape import IN_FENCE, IN_MARKDOWN, Markdown, fence_text, markdown_text
from gateline.reports.headline import (
    BLOCKED,
    NO_VERDICT,
    PASSED,
    WARNED,
    counts_line,
    headline,
    loosening,
    outcome,
    unblock,
)
from gateline.reports.layers import unseen_layers
from gateline.wording import found, from_to, interval, subject

if TYPE_CHECKING:
    import jinja2

    from gateline.verdict import StatedProblem, Verdict

_Item = TypeVar("_Item")

NAME = "markdown"

GITHUB_COMMENT = 65_536
"""Characters of a comment; GitHub refuses a longer body with 422."""
STEP_SUMMARY = 1_048_576
"""Bytes of a step summary; GitHub drops a longer one."""

_SIGNS = {BLOCKED: "❌", PASSED: "✅", WARNED: "⚠️", NO_VERDICT: "❓"}
_MOST_LINES = 12
_COLUMNS = 100
"""Characters of a fenced block that GitHub shows on a desktop without a scroll bar."""
_WHOLE = "the job summary and `verdict.json`"
_LEGEND = (
    "Each row is scaled by its own bound `:` (a limit stands on the axis) · `├──●──┤` value and interval · "
    "`◄` `►` beyond the drawing"
)


@dataclass(frozen=True, slots=True)
class Room:
    """How much of the long parts is shown."""

    rows: int | None
    """Rows of each folded table; None for all of them."""
    bars: int = _MOST_LINES
    """Rows of the drawing."""
    folded: bool = True
    """Whether the folded parts are there at all."""
    bare: bool = False
    """Whether even the sentences are left out: heading and counts only."""


def render(
    verdict: Verdict,
    *,
    limit: int = GITHUB_COMMENT,
    short_when_fine: bool = True,
    whole: str = _WHOLE,
    preface: str = "",
) -> str:
    """Return the comment, at most `limit` long in UTF-16 units and bytes, where that is 2,000 or more.

    Without `short_when_fine` it is the full report of a step summary: always long, its checks by layer, with a
    diagnosis.
    What does not fit is left out: first rows at the end of the folded tables, then the folded parts as a
    whole, then the drawing and the sentences. It says how much is missing and where the `whole` is.
    `preface` is a sentence that stands before everything.
    """
    page = _Page(verdict, short_when_fine, Markdown(whole), preface)
    return page.text(_largest_room(page, limit))


def render_summary(verdict: Verdict) -> str:
    """Return the step summary: the full report by layer, at most 1 MiB."""
    return render(verdict, limit=STEP_SUMMARY, short_when_fine=False, whole="`verdict.json`")


def marker(name: str) -> str:
    """Return the hidden first line by which a gate finds its own comment."""
    return f"<!-- gateline: {_marker_name(name)} -->"


class _Page:
    """All parts of the comment, escaped, ready to be shown in more or less room."""

    def __init__(self, verdict: Verdict, short_when_fine: bool, whole: Markdown, preface: str):
        self.verdict, self.whole, self.preface = verdict, whole, preface
        self.word = outcome(verdict)
        beyond = any(one.status.value == "inconclusive" and one.missed_by > 0 for one in verdict.findings)
        self.is_short = short_when_fine and self.word == PASSED and not beyond
        make = tables.all_tables if short_when_fine else tables.tables_by_layer
        self.tables = [] if self.is_short else make(verdict)
        self.diagnosis = [] if short_when_fine else [_pointer(pointer) for pointer in diagnose(verdict)]
        self.blind_spots = "" if short_when_fine or not verdict.findings else unseen_layers(verdict)

    def text(self, room: Room) -> str:
        """Return the comment in the given room."""
        parts = {**self._head(room), **self._body(room)}
        if not self.is_short:
            parts |= self._folded(room)
        return _template().render(parts)

    def _head(self, room: Room) -> dict[str, Any]:
        policy = self.verdict.policy
        sentence = "The report is too long." if room.bare else headline(self.verdict, IN_MARKDOWN)
        return {
            "marker": Markdown(marker(policy.name)),
            "sign": Markdown(_SIGNS[self.word]),
            "policy_name": markdown_text(policy.name, 60),
            "word": Markdown(self.word),
            "preface": self.preface,
            "headline": Markdown(sentence),
            "loosened": loosening(self.verdict),
            "under_base": Markdown("" if room.bare else facts.under_base(self.verdict, IN_MARKDOWN)),
            "policy_changes": _some(
                policy.changes,
                0 if room.bare else _MOST_LINES,
                lambda change: facts.policy_change(change, IN_MARKDOWN),
            ),
        }

    def _body(self, room: Room) -> dict[str, Any]:
        verdict = self.verdict
        most = 0 if room.bare else _MOST_LINES
        lines = [
            "" if self.is_short or not verdict.findings else f"{counts_line(verdict)}.",
            f"{facts.compared(verdict)}." if verdict.pairing else "",
            facts.baseline_line(verdict, IN_MARKDOWN),
            "" if loosening(verdict) else facts.policy_line(verdict),
            f"All checks: {self.whole}." if self.is_short else "",
        ]
        problems = verdict.problems if len(verdict.problems) > 1 else []
        notices = _some(verdict.notices, most, markdown_text)
        if verdict.verdict == "fail" and verdict.exit_code == 0:
            notices.insert(0, Markdown("The exit code is 0 because `fail-on` is `never`."))
        return {
            "is_short": self.is_short,
            "facts_line": Markdown(" ".join(line for line in lines if line)),
            "bars": [Markdown(row) for row in self._bars(room)],
            "bars_legend": Markdown(_LEGEND),
            "problems": _some(problems, most, _problem),
            "unblock": Markdown("" if room.bare else unblock(verdict, IN_MARKDOWN)),
            "notices": notices,
        }

    def _bars(self, room: Room) -> list[str]:
        return bars.draw(self.verdict.findings, IN_FENCE, room.bars, _COLUMNS) if room.bars else []

    def _folded(self, room: Room) -> dict[str, Any]:
        verdict = self.verdict
        left_out = facts.left_out(verdict, IN_MARKDOWN) if room.folded else []
        runs = [
            f"Baseline: {facts.run_facts(verdict.baseline, IN_MARKDOWN)}",
            f"Candidate: {facts.run_facts(verdict.candidate, IN_MARKDOWN)}",
            f"Policy: {facts.policy_file(verdict, IN_MARKDOWN)}",
            facts.method(verdict, IN_MARKDOWN),
            f"gateline {markdown_text(verdict.gateline)}, on {markdown_text(verdict.judged_on)}",
        ]
        command = fence_text(facts.command(verdict), 4_000)
        return {
            "diagnosis": self.diagnosis if room.folded else [],
            "blind_spots": self.blind_spots,
            "tables": [_shown(table, room, self.whole) for table in self.tables] if room.folded else [],
            "facts": [*_some(left_out, _MOST_LINES, str), *(Markdown(run) for run in runs if run)]
            if room.folded
            else [],
            "command": Markdown(command),
            "everything": Markdown(
                "" if room.folded else f"Left out because it is too long: see {self.whole}."
            ),
        }


def _shown(table: tables.Table, room: Room, whole: Markdown) -> dict[str, Any]:
    """Return a table cut to the room, saying how many rows are missing and where they are."""
    rows = table.rows if room.rows is None else table.rows[: room.rows]
    missing = len(table.rows) - len(rows)
    note = f"{missing:,} of {len(table.rows):,} {table.things} left out: see {whole}." if missing else ""
    return {"title": table.title, "head": table.head, "rows": rows, "left_out": Markdown(note)}


def _some(items: Sequence[_Item], most: int, write: Callable[[_Item], str]) -> list[Markdown]:
    """Return the first items, written, and how many more there are; what is not shown is not written either."""
    lines = [Markdown(write(item)) for item in items[:most]]
    more = len(items) - most
    return [*lines, Markdown(f"and {more:,} more")] if more > 0 else lines


def _problem(problem: StatedProblem) -> Markdown:
    """Return one reason for no verdict: place, message, hint."""
    where = f"{IN_MARKDOWN.name(problem.where)}: " if problem.where else ""
    hint = f" ({markdown_text(problem.hint)})" if problem.hint else ""
    return Markdown(f"{where}{markdown_text(problem.message)}{hint}")


def _pointer(pointer: Pointer) -> Markdown:
    """Return where to look, and the checks that it rests on."""
    where = "" if pointer.place is None else f" In {IN_MARKDOWN.name(pointer.place)}."
    checks = "; ".join(
        f"{IN_MARKDOWN.name(f.rule)}: {subject(f, IN_MARKDOWN)} {from_to(f, IN_MARKDOWN)} "
        f"({found(f, IN_MARKDOWN)}, interval {interval(f, IN_MARKDOWN)})"
        for f in pointer.evidence
    )
    return Markdown(f"{pointer.sentence}{where} It rests on {checks}.")


def _largest_room(page: _Page, limit: int) -> Room:
    """Return the largest room that fits the limit; the barest where none does."""
    no_rows = Room(0)
    left = limit - _size(page.text(no_rows))
    if left >= 0:
        rows = _rows_that_fit(page.tables, left)
        return Room(rows if rows < max((len(table.rows) for table in page.tables), default=0) else None)
    for room in (Room(0, folded=False), Room(0, bars=0, folded=False)):
        if _size(page.text(room)) <= limit:
            return room
    return Room(0, bars=0, folded=False, bare=True)


def _rows_that_fit(shown: Sequence[tables.Table], left: int) -> int:
    """Return how many rows of each table fit into the bytes that are left.

    An empty table already has the sentence that names the missing rows, so the sum is never too small.
    """
    left -= sum(_size(table.head) for table in shown)
    longest = max((len(table.rows) for table in shown), default=0)
    for row in range(longest):
        left -= sum(_size(table.rows[row]) + len("|  |\n") for table in shown if row < len(table.rows))
        if left < 0:
            return row
    return longest


def _size(text: str) -> int:
    """Return the length by the strictest count: bytes, which are never fewer than UTF-16 units."""
    return len(text.encode("utf-8", "replace"))


def _marker_name(name: str) -> str:
    """Return a name that can't end the HTML comment it stands in."""
    harmless = fence_text(name, 200).replace("<", "‹").replace(">", "›")
    while "--" in harmless:
        harmless = harmless.replace("--", "-‐")
    return harmless.strip().removesuffix("-")


@cache
def _template() -> jinja2.Template:
    """Return the template, in a sandbox in which every value is escaped unless it is finished Markdown."""
    from importlib.resources import files

    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,  # it would escape HTML only; `finalize` escapes Markdown as well
        finalize=_finalize,
    )
    source = files("gateline.reports").joinpath("templates/comment.md.j2").read_text(encoding="utf-8")
    return environment.from_string(source)


def _finalize(value: object) -> str:
    """Escape what is not finished, whatever the template does with it."""
    return value if isinstance(value, Markdown) else markdown_text(str(value))
