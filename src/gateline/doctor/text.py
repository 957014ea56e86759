"""An examination as text for a terminal. It computes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gateline.doctor.conclusion import place_of, say_copies, say_ends
from gateline.doctor.facts import Examination, PowerFacts, Rate
from gateline.errors import count_of
from gateline.reports.escape import display_width, terminal_name, terminal_text, wrap_points

_NAME_WIDTH = 44
_NARROW = 20
"""Columns that a name must have at least to stand in one line with its numbers."""
_WIDTH_OF_TABLES = 60
"""Columns of a terminal in which two blanks part the numbers; one does in a narrower one."""


def render_text(found: Examination, width: int) -> str:
    """Return the whole report, no line wider than `width` columns, of which there must be 40."""
    parts = [_wrap_all(_heading(found), width), _wrap_all(_alarms(found), width)]
    if found.powers:
        parts += [_table(found, width), _wrap_all([power_sentence(found)], width)]
    parts.append(_wrap_all(_conclusion(found), width))
    return "\n\n".join(parts) + "\n"


def noise_sentence(found: Examination) -> str:
    """Return where the noise of the copies is from."""
    if found.redone is None:
        return "the sides of the two runs swapped at random, cluster by cluster"
    return (
        f"there is but one run, so that its noise is assumed: {100 * found.redone:g} % of the answers are another "
        "question's; give a second run of the same system as --candidate to know it"
    )


def alarm_sentences(found: Examination) -> list[str]:
    """Return what happened in the copies in which nothing changed, one sentence each."""
    said = [
        f"Blocked: {say_rate(found.blocked)}, though nothing changed. That is the sum of two:",
        f"False alarms: {say_rate(found.false_alarms)}: a check was shown to be broken, by bad luck or by its limit.",
        f"Want of proof: {say_rate(found.unshown)}: none was, but one with on_inconclusive: fail had no proof.",
    ]
    if found.lucky_gains is not None:
        said.append(
            f"Lucky gains: {say_rate(found.lucky_gains)}: every improvement that the policy asks for was shown, by "
            "good luck. What it asks for is left out of the other numbers."
        )
    if found.no_verdict:
        reason = f", such as: {found.no_verdict_reason}" if found.no_verdict_reason else ""
        copies = count_of(found.copies, "copy", "copies")
        said.append(f"No verdict: {found.no_verdict:,} of {copies}{reason}.")
    if found.always_blocks:
        names = ", ".join(found.always_blocks)
        said.append(f"Failing already on the runs as they are, whatever changes: {names}.")
    return said


def say_rate(rate: Rate) -> str:
    """Return `1.2 % of the copies (0.5 to 2.6 %)`."""
    return f"{say_copies(rate)} ({say_ends(rate)})"


def rows_of(found: Examination) -> Iterator[tuple[str, list[PowerFacts]]]:
    """Return the drops of each metric and slice in turn, with a mark where they are in percent of itself."""
    places = dict.fromkeys((one.metric, one.slice) for one in found.powers)
    for metric, slice_ in places:
        drops = [one for one in found.powers if (one.metric, one.slice) == (metric, slice_)]
        yield place_of(metric, slice_) + ("" if drops[0].of_range else " (%)"), drops


def drop_title(drop: PowerFacts) -> str:
    """Return the heading of a column."""
    if drop.drop == 0.0:
        return "nothing"
    return f"{100 * drop.drop:g} points"


def heading(found: Examination) -> str:
    """Return on how many questions and copies it rests."""
    groups = "" if found.clusters == found.questions else f" in {count_of(found.clusters, 'group', 'groups')}"
    return f"{count_of(found.questions, 'question', 'questions')}{groups}"


def copies_sentence(found: Examination) -> str:
    """Return how many copies there are, and where their noise is from."""
    return f"{count_of(found.copies, 'copy', 'copies')} in which nothing changed: {noise_sentence(found)}."


def _heading(found: Examination) -> list[str]:
    return [f"{terminal_name(found.policy)}: examined on {heading(found)}", copies_sentence(found)]


def _alarms(found: Examination) -> list[str]:
    return [terminal_text(one, 1_000) for one in alarm_sentences(found)]


def _table(found: Examination, width: int) -> str:
    """Return the losses put in and how often they are blocked; a name too long has a line of its own."""
    rows = [(terminal_text(name, 1_000), [_share(drop) for drop in drops]) for name, drops in rows_of(found)]
    titles = [drop_title(drop) for drop in found.powers[: len(rows[0][1])]]
    gap = 2 if width >= _WIDTH_OF_TABLES else 1
    cells = [gap + len(title) for title in titles]
    longest = max(display_width(name) for name, _ in rows)
    room = width - 2 - sum(cells)
    name_width = min(_NAME_WIDTH, longest, room) if room >= min(_NARROW, longest) else 0
    lines = [_wrap("How often its own checks block when this gets worse by", width)]
    lines.append(_cells("", 2 + name_width, titles, cells))
    for name, shares in rows:
        if name_width:
            lines.append(_cells(f"  {terminal_text(name, name_width)}", 2 + name_width, shares, cells))
        else:
            lines += [f"  {terminal_text(name, width - 2)}", _cells("", 2, shares, cells)]
    return "\n".join(lines)


def _cells(name: str, name_width: int, texts: list[str], widths: list[int]) -> str:
    padded = name + " " * (name_width - display_width(name))
    return padded + "".join(f"{text:>{width}}" for text, width in zip(texts, widths, strict=True))


def power_sentence(found: Examination) -> str:
    """Return of which copies and checks the table of losses is, so that nobody holds it against the first numbers."""
    tried = max((one.blocked.of for one in found.powers if one.blocked is not None), default=0)
    if not tried:
        return "Nothing could be put in (–): no value can get so much worse."
    copies = f"the first {tried:,} of the {found.copies:,} copies" if tried < found.copies else "all copies"
    said = (
        f"These are shares of {copies}, and each line asks the checks of its metric alone; what is blocked above is "
        f"the whole gate{' in all ' if found.copies > 1 else ' in '}{found.copies:,}. So 'nothing' may differ from it."
    )
    if not all(one.of_range for one in found.powers):
        said += " (%): in percent of itself, as it has no range."
    if any(one.blocked is None for one in found.powers):
        said += " –: it has not so far to fall."
    return said


def _share(drop: PowerFacts) -> str:
    return "–" if drop.blocked is None else f"{100 * drop.blocked.share:.0f} %"


def _conclusion(found: Examination) -> list[str]:
    lines = [
        f"  {terminal_text(one, 1_000)}" if one.startswith("- ") else terminal_text(one, 1_000)
        for one in found.conclusion
    ]
    return ["What follows", *lines]


def _wrap_all(lines: list[str], width: int) -> str:
    return "\n".join(_wrap(line, width) for line in lines)


def _wrap(line: str, width: int) -> str:
    """Return a sentence in lines of at most `width` columns; what has no blank is broken where it must be."""
    indent = " " * (len(line) - len(line.lstrip()))
    lines, current, blank = [], indent, ""
    for word in re.split(r"\s+(?!%|$)", line.strip()):  # a number keeps its percent sign
        for piece in _pieces(word, width - len(indent) - 2):
            if current.strip() and display_width(current + blank + piece) > width:
                lines.append(current)
                current, blank = f"{indent}  ", ""
            current += blank + piece
            blank = ""
        blank = " "
    return "\n".join([*lines, current])


def _pieces(word: str, most: int) -> Iterator[str]:
    """Return the parts of a word that stay together, none wider than `most` columns."""
    for piece in wrap_points(word):
        yield from (piece[start : start + most] for start in range(0, len(piece), most))
