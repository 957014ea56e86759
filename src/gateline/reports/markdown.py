"""The comment under a pull request, and the step summary: the verdict for a reader with 5 s, 30 s or 5 min.

The template says where things stand; this module says what stands there, and how much of it fits. It posts
nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from gateline.amounts import found, from_to, interval
from gateline.reports import bars, facts, language_of, tables
from gateline.reports.diagnosis import Pointer, diagnose
from gateline.reports.escape import IN_FENCE, IN_MARKDOWN, JOINER, Markdown, fence_text, markdown_text
from gateline.reports.headline import (
    BLOCKED,
    NO_VERDICT,
    PASSED,
    WARNED,
    counts_line,
    headline,
    hint_of,
    loosening,
    message_of,
    outcome,
    outcome_word,
    unblock,
)
from gateline.reports.layers import unseen_layers
from gateline.reports.sandbox import make_template
from gateline.wording import subject

if TYPE_CHECKING:
    import jinja2

    from gateline.spelling import Spelling
    from gateline.verdict import StatedProblem, Verdict

_Item = TypeVar("_Item")

NAME = "markdown"

GITHUB_COMMENT = 65_536
"""Characters of a comment; GitHub refuses a longer body with 422."""
STEP_SUMMARY = 1_048_576
"""Bytes of a step summary; GitHub drops a longer one."""

_SIGNS = {BLOCKED: "❌", PASSED: "✅", WARNED: "⚠️", NO_VERDICT: "❓"}
_MOST_LINES = 12
_DIGITS = 32
"""Of a marker's digest: people who choose names must not find two with the same."""
_COLUMNS = 100
"""Characters of a fenced block that GitHub shows on a desktop without a scroll bar."""


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
    whole: str | None = None,
    preface: str = "",
    foot: str = "",
    language: str | None = None,
) -> str:
    """Return the comment, at most `limit` long in UTF-16 units and bytes, where that is 2,000 or more.

    Without `short_when_fine` it is the full report of a step summary: long, its checks by layer, with a diagnosis.
    What does not fit is left out: first rows at the end of the folded tables, then the folded parts as a
    whole, then the drawing and the sentences. It says how much is missing and where the `whole` is.
    `preface` is a sentence that stands before everything, `foot` a small one after it.
    """
    texts = language_of(verdict, language)
    if whole is None:
        whole = texts.say("whole.summary", summary=texts.say("whole.the-summary"), file="`verdict.json`")
    page = _Page(verdict, short_when_fine, Markdown(whole), (preface, foot), IN_MARKDOWN.speaking(texts))
    return page.text(_largest_room(page, limit))


def render_summary(verdict: Verdict, language: str | None = None) -> str:
    """Return the step summary: the full report by layer, at most 1 MiB."""
    return render(
        verdict, limit=STEP_SUMMARY, short_when_fine=False, whole="`verdict.json`", language=language
    )


def marker(name: str) -> str:
    """Return the hidden first line by which a gate finds its own comment; no two names have the same one.

    A name that can't stand there as it is has a digest beside it, in a place where no other marker has anything.
    """
    shown = _marker_name(name)
    if shown.replace(JOINER, "") == name:
        return f"<!-- gateline: {shown} -->"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"<!-- gateline {digest}: {shown} -->"


class _Page:
    """All parts of the comment, escaped, ready to be shown in more or less room."""

    def __init__(
        self,
        verdict: Verdict,
        short_when_fine: bool,
        whole: Markdown,
        around: tuple[str, str],
        spelling: Spelling,
    ):
        self.verdict, self.whole, self.spelling = verdict, whole, spelling
        self.preface, self.foot = around
        self.word = outcome(verdict)
        beyond = any(one.status.value == "inconclusive" and one.missed_by > 0 for one in verdict.findings)
        self.is_short = short_when_fine and self.word == PASSED and not beyond
        make = tables.all_tables if short_when_fine else tables.tables_by_layer
        self.tables = [] if self.is_short else make(verdict, spelling)
        pointers = [] if short_when_fine else diagnose(verdict)
        self.diagnosis = [_pointer(pointer, spelling) for pointer in pointers]
        self.blind_spots = "" if short_when_fine or not verdict.findings else unseen_layers(verdict, spelling)

    def text(self, room: Room) -> str:
        """Return the comment in the given room."""
        parts = {"say": self._say, **self._head(room), **self._body(room)}
        if not self.is_short:
            parts |= self._folded(room)
        return _template().render(parts)

    def _say(self, key: str, **fields: Any) -> Markdown:
        """Return a text of the catalogue, which needs no escaping; the fields must be finished."""
        return Markdown(self.spelling.say(key, **fields))

    def _head(self, room: Room) -> dict[str, Any]:
        policy, spelling = self.verdict.policy, self.spelling
        said = self.verdict.verdict == "pass"  # then the headline says it
        sentence = spelling.say("markdown.too-long") if room.bare else headline(self.verdict, spelling)
        return {
            "marker": Markdown(marker(policy.name)),
            "title": self._say(
                "joint.named",
                name=f"{_SIGNS[self.word]} {markdown_text(policy.name, 60)}",
                text=outcome_word(self.verdict, spelling),
            ),
            "preface": self.preface,
            "foot": self.foot,
            "headline": Markdown(sentence),
            "loosened": loosening(self.verdict),
            "under_base": Markdown("" if room.bare or said else facts.under_base(self.verdict, spelling)),
            "policy_changes": _some(
                policy.changes,
                0 if room.bare else _MOST_LINES,
                lambda change: facts.policy_change(change, spelling),
                spelling,
            ),
        }

    def _body(self, room: Room) -> dict[str, Any]:
        verdict, spelling = self.verdict, self.spelling
        most = 0 if room.bare else _MOST_LINES
        counted = not self.is_short and verdict.findings
        lines = [
            spelling.sentence(counts_line(verdict, spelling)) if counted else "",
            facts.compared_and_lacking(verdict, spelling),
            facts.too_small(verdict, spelling),
            facts.baseline_line(verdict, spelling),
            "" if loosening(verdict) else facts.policy_line(verdict, spelling),
            spelling.say("markdown.all-checks", whole=self.whole) if self.is_short else "",
        ]
        problems = verdict.problems if len(verdict.problems) > 1 else []
        notices = _some(facts.notices(verdict, spelling), most, spelling.text, spelling)
        if verdict.verdict == "fail" and verdict.exit_code == 0:
            notices.insert(0, Markdown(facts.never_fails("`fail-on`", "`never`", spelling)))
        return {
            "is_short": self.is_short,
            "facts_line": Markdown(spelling.join_sentences(lines)),
            "bars": [Markdown(row) for row in self._bars(room)],
            "bars_legend": self._say("markdown.legend", bound="`:`", span="`├──●──┤`", arrows="`◄` `►`"),
            "problems": _some(problems, most, lambda problem: _problem(problem, spelling), spelling),
            "has_verdict": verdict.verdict != "invalid",
            "unblock": Markdown("" if room.bare else unblock(verdict, spelling)),
            "notices": notices,
        }

    def _bars(self, room: Room) -> list[str]:
        if not room.bars:
            return []
        return bars.draw(self.verdict.findings, IN_FENCE.speaking(self.spelling.texts), room.bars, _COLUMNS)

    def _folded(self, room: Room) -> dict[str, Any]:
        verdict, spelling = self.verdict, self.spelling
        left_out = facts.left_out(verdict, spelling) if room.folded else []
        named = (
            ("title.baseline", facts.run_facts(verdict.baseline, spelling)),
            ("title.candidate", facts.run_facts(verdict.candidate, spelling)),
            ("title.policy", facts.policy_file(verdict, spelling)),
        )
        runs = [
            *(spelling.say("joint.named", name=spelling.say(key), text=text) for key, text in named),
            facts.method(verdict, spelling),
            spelling.say(
                "markdown.made-by",
                version=markdown_text(verdict.gateline),
                day=markdown_text(verdict.judged_on),
            ),
        ]
        command = fence_text(facts.command(verdict), 4_000)
        return {
            "diagnosis": self.diagnosis if room.folded else [],
            "blind_spots": self.blind_spots,
            "tables": [self._shown(table, room) for table in self.tables] if room.folded else [],
            "facts": [*_some(left_out, _MOST_LINES, str, spelling), *(Markdown(run) for run in runs if run)]
            if room.folded
            else [],
            "command": Markdown(command),
            "everything": "" if room.folded else self._say("markdown.everything-left-out", whole=self.whole),
        }

    def _shown(self, table: tables.Table, room: Room) -> dict[str, Any]:
        """Return a table cut to the room, saying how many rows are missing and where they are."""
        rows = table.rows if room.rows is None else table.rows[: room.rows]
        missing = len(table.rows) - len(rows)
        note = Markdown("")
        if missing:
            things = self.spelling.say(table.things, count=len(table.rows))
            note = self._say(
                "markdown.rows-left-out", missing=f"{missing:,}", things=things, whole=self.whole
            )
        return {"title": table.title, "head": table.head, "rows": rows, "left_out": note}


def _some(
    items: Sequence[_Item], most: int, write: Callable[[_Item], str], spelling: Spelling
) -> list[Markdown]:
    """Return the first items, written, and how many more there are; what is not shown is not written either."""
    lines = [Markdown(write(item)) for item in items[:most]]
    more = len(items) - most
    return [*lines, Markdown(spelling.say("list.rest", count=more))] if more > 0 else lines


def _problem(problem: StatedProblem, spelling: Spelling) -> Markdown:
    """Return one reason for no verdict: place, message, hint."""
    message = spelling.text(message_of(problem, spelling))
    if problem.where:
        message = spelling.say("joint.named", name=spelling.name(problem.where), text=message)
    if problem.hint:
        message = spelling.say(
            "joint.with-aside", text=message, aside=spelling.text(hint_of(problem, spelling))
        )
    return Markdown(message)


def _pointer(pointer: Pointer, spelling: Spelling) -> Markdown:
    """Return where to look, and the checks that it rests on."""
    sentences = [pointer.sentence(spelling)]
    if pointer.place is not None:
        sentences.append(spelling.say("pointer.within", slice=spelling.name(pointer.place)))
    checks = spelling.say("joint.clauses").join(
        spelling.say(
            "pointer.check",
            rule=spelling.name(finding.rule),
            subject=subject(finding, spelling),
            values=from_to(finding, spelling),
            found=found(finding, spelling),
            interval=interval(finding, spelling),
        )
        for finding in pointer.evidence
    )
    return Markdown(spelling.join_sentences([*sentences, spelling.say("pointer.evidence", checks=checks)]))


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

    source = files("gateline.reports").joinpath("templates/comment.md.j2").read_text(encoding="utf-8")
    # Escaping by itself would mind HTML only; `finalize` minds Markdown as well.
    return make_template(source, autoescape=False, finalize=_finalize)


def _finalize(value: object) -> str:
    """Escape what is not finished, whatever the template does with it."""
    return value if isinstance(value, Markdown) else markdown_text(str(value))
