"""The report for a terminal or a job log.

Plain lines, in colour where asked. This module does not look at the terminal: width and colour are handed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gateline import figures
from gateline.amounts import found, interval, needed
from gateline.errors import MOST_PROBLEMS
from gateline.reports import bars, facts, language_of
from gateline.reports.escape import (
    IN_TERMINAL,
    display_width,
    guard_lines,
    terminal_name,
    terminal_text,
)
from gateline.reports.headline import (
    BLOCKED,
    NO_VERDICT,
    PASSED,
    WARNED,
    blockers,
    counts_line,
    describe_in,
    headline,
    hint_of,
    loosening,
    message_of,
    outcome,
    outcome_word,
    told_in_headline,
    unblock,
)
from gateline.reports.lines import split_words, wrap
from gateline.reports.looks import needing_a_look
from gateline.wording import subject

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.spelling import Spelling
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
    with_files: bool = False,
    language: str | None = None,
) -> str:
    """Return the report; `quiet` is one line, `verbose` lists every check and every fact of provenance.

    `with_files` says that `verdict.json` is written as well, so that it may be pointed to.
    """
    spelling = IN_TERMINAL.speaking(language_of(verdict, language))
    page = _Page(max(width, _NARROWEST), colour, spelling, with_files)
    key = outcome(verdict)
    if key == NO_VERDICT:
        _write_no_verdict(page, verdict, quiet, verbose)
        return page.text()
    name = f"{_SIGNS[key]} {terminal_name(verdict.policy.name)}"
    title = spelling.say("joint.named", name=name, text=outcome_word(verdict, spelling))
    sentence = headline(verdict, spelling)
    if quiet:
        line = spelling.say("joint.named", name=page.paint(title, _COLOURS[key]), text=sentence)
        return guard_lines(f"{line}\n")
    page.lines.append(page.paint(title, "1;" + _COLOURS[key]))
    page.write(sentence)
    _write_policy(page, verdict)
    _write_bars(page, verdict)
    _write_findings(page, verdict, verbose)
    _write_facts(page, verdict, verbose)
    return page.text()


class _Page:
    """Lines of a given width, in one language."""

    def __init__(self, width: int, colour: bool, spelling: Spelling, with_files: bool):
        self.width, self.colour, self.spelling, self.with_files = width, colour, spelling, with_files
        self.lines: list[str] = []

    def paint(self, text: str, code: str) -> str:
        """Return the text in a colour, as it is where colour is off."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def write(self, sentence: str, first: str = "", hanging: str = "") -> None:
        """Add a sentence, broken to the width: `first` stands before its first line, `hanging` before others."""
        words = split_words(sentence, self.spelling.texts.breaks_between_characters)
        self.lines += wrap(words, self.width, first, hanging)

    def section(self, title: str) -> None:
        """Add a blank line and a title."""
        self.lines += ["", self.paint(title, "1")]

    def text(self) -> str:
        """Return the page; no line of it is a workflow command."""
        return guard_lines("\n".join(line.rstrip() for line in self.lines) + "\n")


def _write_no_verdict(page: _Page, verdict: Verdict, quiet: bool, verbose: bool) -> None:
    """Say first that nothing was decided, then why, a line a problem."""
    spelling = page.spelling
    problems = verdict.problems
    place = _common_file(problems)
    if not problems:
        count = spelling.say("headline.nothing-judged")
    elif place:
        count = spelling.say("count.problems-in", count=len(problems), file=terminal_name(place))
    else:
        count = spelling.say("count.problems", count=len(problems))
    title = spelling.say("text.no-verdict", problems=count)
    if quiet:
        reason = message_of(problems[0], spelling) if problems else "; ".join(verdict.because[:1])
        name = page.paint(title, _COLOURS[NO_VERDICT])
        page.lines.append(spelling.say("joint.named", name=name, text=terminal_text(reason)))
        return
    page.lines.append(page.paint(title, "1;" + _COLOURS[NO_VERDICT]))
    shown = problems if verbose else problems[:MOST_PROBLEMS]
    page.lines += [f"  {_problem(problem, spelling)}" for problem in shown]
    if len(problems) > len(shown):
        rest = "text.rest-in-file" if page.with_files else "text.rest-elsewhere"
        page.lines.append(f"  {spelling.say(rest, count=len(problems) - len(shown))}")
    if not problems:
        page.lines += [f"  {terminal_text(sentence)}" for sentence in verdict.because]
        _list(page, "text.not-judged", verdict, verdict.findings, _MOST_LISTED)
    for line in facts.left_out(verdict, spelling):
        page.write(line, "  ", "    ")


def _problem(problem: StatedProblem, spelling: Spelling) -> str:
    """Return `file:line  key: message   (hint)` in one line, which editors make clickable."""
    where = f"{terminal_text(problem.where, 200)}: " if problem.where else ""
    hint = spelling.say("joint.aside", text=terminal_text(hint_of(problem, spelling))) if problem.hint else ""
    return f"{where}{terminal_text(message_of(problem, spelling))}{hint and '   ' + hint}"


def _common_file(problems: Sequence[StatedProblem]) -> str:
    """Return the file that all problems stand in, empty where they don't stand in one."""
    files = {problem.where.split("  ")[0].partition(":")[0] for problem in problems}
    return files.pop() if len(files) == 1 else ""


def _write_policy(page: _Page, verdict: Verdict) -> None:
    """Say loudly that this change loosens its own policy; nothing otherwise."""
    if not loosening(verdict):
        return
    page.section(page.spelling.say("text.loosened"))
    if verdict.verdict != "pass":  # the headline of a pass says it
        page.write(facts.under_base(verdict, page.spelling), "  ", "  ")
    for change in verdict.policy.changes[:_MOST_LISTED]:
        page.write(facts.policy_change(change, page.spelling), "  ", "    ")


def _write_bars(page: _Page, verdict: Verdict) -> None:
    """Draw what is not plainly fine; where the width does not allow it, list the numbers."""
    rows = bars.draw(verdict.findings, page.spelling, columns=page.width)
    if not rows:
        return
    page.lines.append("")
    widest = max(map(display_width, rows))
    if widest > page.width:
        _write_numbers(page, verdict)
        page.write(page.spelling.say("text.too-narrow", columns=widest), "  ", "  ")
        return
    page.lines += [page.paint(row, _ROW_COLOURS[row[0]]) if row[0] in _ROW_COLOURS else row for row in rows]


def _write_numbers(page: _Page, verdict: Verdict) -> None:
    """List what the drawing would show, for a page that is too narrow for it."""
    drawn = [finding for finding in verdict.findings if bars.is_drawn(finding)]
    for finding in drawn[:_MOST_LISTED]:
        line = page.spelling.say(
            "text.found-interval-needed" if figures.ends_of(finding) else "text.found-needed",
            interval=interval(finding, page.spelling),
            rule=page.spelling.name(finding.rule),
            subject=subject(finding, page.spelling),
            found=found(finding, page.spelling),
            needed=needed(finding, page.spelling),
        )
        page.write(line, f"{bars.sign(finding)} ", "  ")
    if len(drawn) > _MOST_LISTED:
        page.lines.append("  " + page.spelling.say("list.rest", count=len(drawn) - _MOST_LISTED))


def _write_findings(page: _Page, verdict: Verdict, verbose: bool) -> None:
    """List what blocks and what needs a look; with `verbose` everything else as well."""
    blocking = blockers(verdict)
    warning = needing_a_look(verdict)
    if verbose or len(blocking) > 1:  # a single one stands in the headline already
        _list(page, "text.blocks", verdict, blocking, None if verbose else _MOST_LISTED)
    _list(page, "text.needs-a-look", verdict, warning, None if verbose else _MOST_LISTED)
    if verbose:
        _list(
            page,
            "text.other-checks",
            verdict,
            [f for f in verdict.findings if f not in blocking and f not in warning],
            None,
        )


def _list(page: _Page, title: str, verdict: Verdict, findings: Sequence[Finding], most: int | None) -> None:
    """List findings with their sentences; the one in the headline is not said again."""
    if not findings:
        return
    spelling = page.spelling
    page.section(spelling.say("text.counted-title", title=spelling.say(title), number=f"{len(findings):,}"))
    above = told_in_headline(verdict)
    for finding in findings[:most]:
        sign = _sign(finding)
        sentence = describe_in(verdict, finding, spelling)
        if finding is above:
            sentence = spelling.sentence(spelling.say("text.said-above"))
        page.write(
            spelling.say("joint.named", name=terminal_name(finding.rule), text=sentence), f"  {sign} ", "    "
        )
    if most is not None and len(findings) > most:
        rest = "text.rest-in-file" if page.with_files else "text.rest-elsewhere"
        page.lines.append(f"    {spelling.say(rest, count=len(findings) - most)}")


def _sign(finding: Finding) -> str:
    """Return the sign of a check: that of its outcome, or of what its rule makes of it."""
    if finding.warns and finding.status.value == "skipped":
        return _STATUS_SIGNS["inconclusive"]
    unasked = finding.status.value == "inconclusive" and not finding.warns and not finding.blocks
    return bars.LET_THROUGH if unasked else _STATUS_SIGNS[finding.status.value]


def _write_facts(page: _Page, verdict: Verdict, verbose: bool) -> None:
    """Say what the verdict rests on, and what to do next."""
    spelling = page.spelling
    page.lines.append("")
    all_pass = verdict.counts.get("pass") == len(verdict.findings)  # then the headline has counted them
    counts = "" if all_pass else spelling.sentence(counts_line(verdict, spelling))
    page.write(spelling.join_sentences([counts, facts.compared(verdict, spelling)]))
    small = facts.too_small(verdict, spelling)
    if small:
        page.write(small, "", "  ")
    for notice in facts.notices(verdict, spelling):
        page.write(terminal_text(notice), spelling.say("text.note"), "  ")
    _write_some(page, spelling.say("text.left-out"), facts.left_out(verdict, spelling), verbose)
    _write_some(page, spelling.say("text.changed"), facts.changed_fields(verdict, spelling), verbose)
    policy = facts.policy_line(verdict, spelling)
    if policy and not loosening(verdict):
        page.write(policy)
    if verdict.verdict == "fail" and verdict.exit_code == 0:
        page.write(facts.never_fails("--fail-on", "never", spelling))
    if verbose:
        page.write(facts.method(verdict, spelling))
        page.write(spelling.say("text.again", command=terminal_text(facts.command(verdict), 2_000)), "", "  ")
    step = unblock(verdict, spelling)
    if step:
        key = "text.to-verdict" if verdict.verdict == "invalid" else "text.to-unblock"
        page.write(spelling.say(key, step=step), "", "  ")
    if not verbose:
        page.write(spelling.say("text.all-checks-in-file" if page.with_files else "text.all-checks"))


def _write_some(page: _Page, label: str, lines: Iterable[str], verbose: bool) -> None:
    known = list(lines)
    shown = known if verbose else known[:_MOST_LISTED]
    for line in shown:
        page.write(line, label, "  ")
    if len(known) > len(shown):
        page.lines.append(label + page.spelling.say("list.rest", count=len(known) - len(shown)))
