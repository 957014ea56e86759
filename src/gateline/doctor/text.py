"""An examination as text for a terminal. It computes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from gateline.doctor.conclusion import place_of
from gateline.doctor.facts import Examination, PowerFacts, Rate
from gateline.reports.escape import terminal_name, terminal_text

_NAME_WIDTH = 44


def render_text(found: Examination, width: int) -> str:
    """Return the whole report, no line wider than `width` but where a table needs it."""
    parts = [_heading(found), _alarms(found), _powers(found), _conclusion(found)]
    return "\n\n".join(_wrap(part, width) for part in parts if part) + "\n"


def noise_sentence(found: Examination) -> str:
    """Return where the noise of the copies is from."""
    if found.redone is None:
        return "the sides of the two runs swapped at random, cluster by cluster"
    return (
        f"there is but one run, so that its noise is assumed: {found.redone:.0%} of the answers are another "
        "question's; give a second run of the same system as --candidate to know it"
    )


def alarm_sentences(found: Examination) -> list[str]:
    """Return what happened in the copies in which nothing changed, one sentence each."""
    said = [
        f"Blocked: {say_rate(found.blocked)} of the copies, though nothing changed. That is the sum of two:",
        f"False alarms: {say_rate(found.false_alarms)}: a check was shown to be broken, by bad luck or by its limit.",
        f"Want of proof: {say_rate(found.unshown)}: none was, but one with on_inconclusive: fail had no proof.",
    ]
    if found.lucky_gains is not None:
        said.append(
            f"Lucky gains: {say_rate(found.lucky_gains)} of the copies show every improvement that the policy asks "
            "for, by good luck. What it asks for is left out of the other numbers."
        )
    if found.no_verdict:
        said.append(f"No verdict: {found.no_verdict} of {found.copies} copies.")
    if found.always_blocks:
        names = ", ".join(found.always_blocks)
        said.append(f"Failing already on the runs as they are, whatever changes: {names}.")
    return said


def say_rate(rate: Rate) -> str:
    """Return `1.2 % (0.5 to 2.6 %)`."""
    return f"{100 * rate.share:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f} %)"


def rows_of(found: Examination) -> Iterator[tuple[str, list[PowerFacts]]]:
    """Return the drops of each metric and slice in turn."""
    places = dict.fromkeys((one.metric, one.slice) for one in found.powers)
    for metric, slice_ in places:
        drops = [one for one in found.powers if (one.metric, one.slice) == (metric, slice_)]
        yield place_of(metric, slice_), drops


def drop_title(drop: PowerFacts) -> str:
    """Return the heading of a column."""
    if drop.drop == 0.0:
        return "nothing"
    return f"{100 * drop.drop:g} points"


def _heading(found: Examination) -> str:
    groups = "" if found.clusters == found.questions else f" in {found.clusters:,} groups"
    return (
        f"{terminal_name(found.policy)}: examined on {found.questions:,} questions{groups}\n"
        f"{found.copies:,} copies in which nothing changed: {noise_sentence(found)}."
    )


def _alarms(found: Examination) -> str:
    return "\n".join(terminal_text(one, 1_000) for one in alarm_sentences(found))


def _powers(found: Examination) -> str:
    rows = list(rows_of(found))
    if not rows:
        return ""
    name_width = min(_NAME_WIDTH, max(len(name) for name, _ in rows))
    titles = [drop_title(drop) for drop in rows[0][1]]
    lines = ["How often its own checks block when this gets worse by"]
    lines.append(" " * (name_width + 2) + "".join(f"{title:>11}" for title in titles))
    for name, drops in rows:
        shown = terminal_text(name, name_width)
        relative = "" if drops[0].of_range else "  (% of itself)"
        lines.append(f"  {shown:<{name_width}}" + "".join(f"{_share(drop):>11}" for drop in drops) + relative)
    return "\n".join([*lines, "", power_sentence(found)])


def power_sentence(found: Examination) -> str:
    """Return of which copies and checks the table of losses is, so that nobody holds it against the first numbers."""
    tried = max((one.blocked.of for one in found.powers if one.blocked is not None), default=0)
    copies = f"the first {tried:,} of the {found.copies:,} copies" if tried < found.copies else "all copies"
    return (
        f"These are shares of {copies}, and each line asks the checks of its metric alone; what is blocked above is "
        f"the whole gate in all {found.copies:,}. So 'nothing' may differ from it."
    )


def _share(drop: PowerFacts) -> str:
    return "–" if drop.blocked is None else f"{100 * drop.blocked.share:.0f} %"


def _conclusion(found: Examination) -> str:
    lines = [
        f"  {terminal_text(one, 1_000)}" if one.startswith("- ") else terminal_text(one, 1_000)
        for one in found.conclusion
    ]
    return "\n".join(["What follows", *lines])


def _wrap(part: str, width: int) -> str:
    """Wrap sentences; the lines of a table, which hold runs of blanks, stay."""
    lines = []
    for line in part.split("\n"):
        indent = len(line) - len(line.lstrip())
        table = "  " in line.strip()
        lines.append(
            line if table or len(line) <= width else fill(line, width, subsequent_indent=" " * (indent + 2))
        )
    return "\n".join(lines)
