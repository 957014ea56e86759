"""The report for a terminal or a job log.

Plain lines, in colour where asked. This module does not look at the terminal: width and colour are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gateline.reports import bars, facts
from gateline.reports.escape import IN_TERMINAL, display_width, guard_lines, terminal_name, terminal_text
from gateline.reports.headline import (
    BLOCKED,
    NO_VERDICT,
    PASSED,
    WARNED,
    blockers,
    counts_line,
    headline,
    loosening,
    outcome,
    unblock,
)
from gateline.wording import describe, plural

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import StatedProblem, Verdict

NAME = "text"

_SIGNS = {BLOCKED: "✗", PASSED: "✓", WARNED: "!", NO_VERDICT: "?"}
_COLOURS = {BLOCKED: "31", PASSED: "32", WARNED: "33", NO_VERDICT: "35"}
_ROW_COLOURS = {"-": "31", "!": "33", "+": "32"}
_STATUS_SIGNS = {"fail": "✗", "inconclusive": "!", "waived": "!", "skipped": "·", "pass": "✓"}
_NARROWEST = 40
_MOST_LISTED = 10


def render(
    verdict: Verdict,
    *,
    width: int = 100,
    colour: bool = False,
    quiet: bool = False,
    verbose: bool = False,
) -> str:
    """Return the report; `quiet` is one line, `verbose` lists every check and every fact of provenance."""
    page = _Page(max(width, _NARROWEST), colour)
    word = outcome(verdict)
    if word == NO_VERDICT:
        _write_no_verdict(page, verdict, quiet)
        return page.text()
    title = f"{_SIGNS[word]} {terminal_name(verdict.policy.name)}: {word}"
    sentence = headline(verdict, IN_TERMINAL)
    if quiet:
        return guard_lines(f"{page.paint(title, _COLOURS[word])}: {sentence}\n")
    page.lines.append(page.paint(title, "1;" + _COLOURS[word]))
    page.write(sentence)
    _write_policy(page, verdict)
    _write_bars(page, verdict)
    _write_findings(page, verdict, verbose)
    _write_facts(page, verdict, verbose)
    return page.text()


class _Page:
    """Lines of a given width."""

    def __init__(self, width: int, colour: bool):
        self.width, self.colour = width, colour
        self.lines: list[str] = []

    def paint(self, text: str, code: str) -> str:
        """Return the text in a colour, as it is where colour is off."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def write(self, sentence: str, first: str = "", hanging: str = "") -> None:
        """Add a sentence, broken at blanks: `first` stands before its first line, `hanging` before others."""
        self.lines += _wrap(sentence, self.width, first, hanging)

    def section(self, title: str) -> None:
        """Add a blank line and a title."""
        self.lines += ["", self.paint(title, "1")]

    def text(self) -> str:
        """Return the page; no line of it is a workflow command."""
        return guard_lines("\n".join(line.rstrip() for line in self.lines) + "\n")


def _wrap(sentence: str, width: int, first: str = "", hanging: str = "") -> list[str]:
    """Break a sentence at its blanks by display width; a longer word stays whole."""
    lines: list[str] = []
    line, used, empty = first, display_width(first), True
    for word in re.split(" (?!%)", sentence):
        room = display_width(word) + (0 if empty else 1)
        if not empty and used + room > width:
            lines.append(line)
            line, used, empty = hanging, display_width(hanging), True
            room = display_width(word)
        line += word if empty else f" {word}"
        used += room
        empty = False
    return [*lines, line]


def _write_no_verdict(page: _Page, verdict: Verdict, quiet: bool) -> None:
    """Say first that nothing was decided, then why, a line a problem."""
    problems = verdict.problems
    place = _common_file(problems)
    count = plural(len(problems), "problem") if problems else "no check could be judged"
    title = f"gateline: no verdict: {count}{f' in {terminal_name(place)}' if place else ''}"
    if quiet:
        reason = terminal_text(problems[0].message if problems else "; ".join(verdict.because[:1]))
        page.lines.append(f"{page.paint(title, _COLOURS[NO_VERDICT])}: {reason}")
        return
    page.lines.append(page.paint(title, "1;" + _COLOURS[NO_VERDICT]))
    page.lines += [f"  {_problem(problem)}" for problem in problems]
    if not problems:
        page.lines += [f"  {terminal_text(sentence)}" for sentence in verdict.because]
        _list(page, "not judged", verdict.findings, _MOST_LISTED)
    for line in facts.left_out(verdict, IN_TERMINAL):
        page.write(line, "  ", "    ")


def _problem(problem: StatedProblem) -> str:
    """Return `file:line  key: message   (hint)` in one line, which editors make clickable."""
    where = f"{terminal_text(problem.where, 200)}: " if problem.where else ""
    hint = f"   ({terminal_text(problem.hint)})" if problem.hint else ""
    return f"{where}{terminal_text(problem.message)}{hint}"


def _common_file(problems: Sequence[StatedProblem]) -> str:
    """Return the file that all problems stand in, empty where they don't stand in one."""
    files = {problem.where.split("  ")[0].partition(":")[0] for problem in problems}
    return files.pop() if len(files) == 1 else ""


def _write_policy(page: _Page, verdict: Verdict) -> None:
    """Say loudly that this change loosens its own policy; nothing otherwise."""
    if not loosening(verdict):
        return
    page.section("This change loosens the policy")
    page.write(facts.under_base(verdict, IN_TERMINAL), "  ", "  ")
    for change in verdict.policy.changes[:_MOST_LISTED]:
        page.write(facts.policy_change(change, IN_TERMINAL), "  ", "    ")


def _write_bars(page: _Page, verdict: Verdict) -> None:
    """Draw what is not plainly fine, where the width allows."""
    rows = bars.draw(verdict.findings, IN_TERMINAL, columns=page.width)
    if not rows or max(map(display_width, rows)) > page.width:
        return
    page.lines.append("")
    page.lines += [page.paint(row, _ROW_COLOURS[row[0]]) if row[0] in _ROW_COLOURS else row for row in rows]


def _write_findings(page: _Page, verdict: Verdict, verbose: bool) -> None:
    """List what blocks and what needs a look; with `verbose` everything else as well."""
    blocking = blockers(verdict)
    warning = [f for f in verdict.findings if f.warns and f not in blocking]
    if verbose or len(blocking) > 1:  # a single one stands in the headline already
        _list(page, "blocks", blocking, None if verbose else _MOST_LISTED)
    _list(page, "needs a look", warning, None if verbose else _MOST_LISTED)
    if verbose:
        _list(
            page,
            "other checks",
            [f for f in verdict.findings if f not in blocking and f not in warning],
            None,
        )


def _list(page: _Page, title: str, findings: Sequence[Finding], most: int | None) -> None:
    if not findings:
        return
    page.section(f"{title} ({len(findings):,})")
    for finding in findings[:most]:
        sign = _STATUS_SIGNS[finding.status.value]
        rule = f"{terminal_name(finding.rule)}: "
        page.write(rule + describe(finding, IN_TERMINAL), f"  {sign} ", "    ")
    if most is not None and len(findings) > most:
        page.lines.append(f"    and {len(findings) - most:,} more, see -v or verdict.json")


def _write_facts(page: _Page, verdict: Verdict, verbose: bool) -> None:
    """Say what the verdict rests on, and what to do next."""
    page.lines.append("")
    all_pass = verdict.counts.get("pass") == len(verdict.findings)  # then the headline has counted them
    parts = ("" if all_pass else counts_line(verdict), facts.compared(verdict))
    page.write(" ".join(f"{part}." for part in parts if part))
    for notice in verdict.notices:
        page.write(terminal_text(notice), "note: ", "  ")
    _write_some(page, "left out: ", facts.left_out(verdict, IN_TERMINAL), verbose)
    _write_some(page, "changed: ", facts.changed_fields(verdict, IN_TERMINAL), verbose)
    policy = facts.policy_line(verdict)
    if policy and not loosening(verdict):
        page.write(policy)
    if verdict.verdict == "fail" and verdict.exit_code == 0:
        page.write("The exit code is 0 because --fail-on is never.")
    if verbose:
        page.write(facts.method(verdict, IN_TERMINAL))
        page.write(f"Again: {terminal_text(facts.command(verdict), 2_000)}", "", "  ")
    step = unblock(verdict, IN_TERMINAL)
    if step:
        page.write(f"To unblock: {step}", "", "  ")
    if not verbose:
        page.write("All checks: -v, or verdict.json.")


def _write_some(page: _Page, label: str, lines: Iterable[str], verbose: bool) -> None:
    known = list(lines)
    shown = known if verbose else known[:_MOST_LISTED]
    for line in shown:
        page.write(line, label, "  ")
    if len(known) > len(shown):
        page.lines.append(f"{label}and {len(known) - len(shown):,} more")
