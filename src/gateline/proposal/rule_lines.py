"""The rules of a proposed policy as text: what each holds, and what the questions at hand can show of it."""

from __future__ import annotations

from dataclasses import dataclass

from gateline.figures import about
from gateline.proposal.floors import Floor, choose_floor
from gateline.proposal.selection import Chosen, Selection
from gateline.proposal.tolerances import Tolerance, choose_tolerance
from gateline.proposal.yaml_words import number, quote, round_up_to_two_digits
from gateline.statistics import Statistic, evaluate

HEADROOM = 1.25
MOST_BY_SLICE = 3
"""Metrics that are also judged slice by slice."""


@dataclass(frozen=True)
class HeldBySlice:
    """A metric that is judged slice by slice, and its bound there."""

    chosen: Chosen
    tolerance: Tolerance
    samples: int
    """Independent questions of the slice that asked for the widest bound."""


def propose_rules(selection: Selection) -> list[str]:
    """Return the rules as lines: a tolerance for each score, in each slice for some, a limit for time and cost."""
    scores = [one for one in selection.metrics if not one.metric.is_red_line]
    lines = ["rules:"]
    if scores:
        lines += [
            "  # Not worse than the baseline by more than this many samples can show, a tenth of the range at most, or",
            "  # as much more as so few samples need to tell noise from a loss. Where the bound is finer than they can",
            "  # show, the comment says how many would be needed; until then such a loss only warns.",
        ]
    lines += [_hold(one, one.tolerance, "holds", one.sample.independent) for one in scores if one.tolerance]
    lines += _hold_slices(selection)
    return lines + [_draw_line(one) for one in selection.metrics if one.metric.is_red_line]


def choose_held_by_slice(selection: Selection) -> list[HeldBySlice]:
    """Return the scores that are judged slice by slice, with the widest bound that a large slice asks for."""
    held: list[HeldBySlice] = []
    for one in selection.metrics:
        if one.metric.is_red_line or len(held) == MOST_BY_SLICE:
            continue
        level = 1 - 0.05 / max(1, len(one.large))
        found = [
            (choose_tolerance(one.metric, sample, level, must_settle=False), sample.independent)
            for sample in one.large.values()
        ]
        tolerances = [(told, size) for told, size in found if told is not None and not told.by_value]
        if tolerances:
            told, size = max(tolerances, key=lambda pair: (pair[0].bound, pair[0].needed or 0))
            held.append(HeldBySlice(one, told, size))
    return held


def find_floor(selection: Selection) -> Floor:
    """Return from how many questions on the policy judges a slice."""
    return choose_floor(
        [
            (one.chosen, None if one.tolerance.is_share else one.tolerance.bound)
            for one in choose_held_by_slice(selection)
        ]
    )


def _hold_slices(selection: Selection) -> list[str]:
    rules: list[str] = []
    for one in choose_held_by_slice(selection):
        part = one.chosen.part
        labels = [label.name for label in selection.labels if part is None or label.name != part.label]
        slices = "true" if len(labels) == len(selection.labels) else f"[{', '.join(map(quote, labels))}]"
        settings = f", slices: {slices}, on_inconclusive: pass"
        rules.append(_hold(one.chosen, one.tolerance, "by-slice", one.samples, settings))
    if not rules:
        return []
    return ["  # In each slice only a shown loss blocks; what a small slice can't settle passes.", *rules]


def _hold(one: Chosen, tolerance: Tolerance, word: str, samples: int, settings: str = "") -> str:
    name, rule = one.metric.name, quote(f"{one.metric.name}-{word}")
    bound = f"{tolerance.bound * 100:g}%" if tolerance.is_share else number(tolerance.bound)
    note = ""
    if tolerance.by_value:
        settings += ", decide_by: value"
        note = "  # too few samples for an interval: the plain value decides, and chance alone may break it"
    elif tolerance.is_widened:
        note = f"  # two equal runs of {samples:,} samples are shown to be no further apart"
    elif tolerance.needed is not None:
        note = f"  # {samples:,} show {tolerance.shows:.2g}; {bound} needs about {about(tolerance.needed)}"
    return f"  - {{id: {rule}, kind: tolerance, metric: {quote(name)}{settings}, worse_by_at_most: {bound}}}{note}"


def choose_worst(one: Chosen) -> float | None:
    """Return what a failed request counts in a time or a cost; None where this run has failed ones or lacks numbers.

    It is beyond all that this run took and twice the limit, so that failing is never fast or cheap. Where requests
    fail already, that would move the number itself, and what it should be is for a person to say.
    """
    if not one.metric.is_red_line or one.left_out > 0 or one.has_failed:
        return None
    worst = max(float(one.sample.values.max()), 2 * HEADROOM * _sum_up(one))
    return round_up_to_two_digits(worst) if worst > 0 else None


def _sum_up(one: Chosen) -> float:
    """Return what this run took, as the gate sums it up."""
    statistic = Statistic("quantile", 0.95) if one.metric.summary == "p95" else Statistic("mean")
    return evaluate(one.sample.values, None, statistic)


def _draw_line(one: Chosen) -> str:
    """Return a limit with head-room above what this run took, as the gate sums it up."""
    metric, seen = one.metric, _sum_up(one)
    name, rule = quote(metric.name), quote(f"{metric.name}-line")
    if not seen > 0:
        return f"  - {{id: {rule}, kind: tolerance, metric: {name}, worse_by_at_most: 0, decide_by: value}}"
    limit = round_up_to_two_digits(seen * HEADROOM)
    shown = f"{metric.summary} of this run: {seen:.4g}, and 25 % of head-room"
    return f"  - {{id: {rule}, kind: limit, metric: {name}, at_most: {number(limit)}}}  # {shown}"
