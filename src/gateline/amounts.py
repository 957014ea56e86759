"""The numbers of a finding in words: bounds, intervals, moves and how much better or worse.

`wording` makes sentences of these; tables and drawings take them as they are. This module computes nothing and
decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline import figures
from gateline.spelling import PLAIN, Spelling

if TYPE_CHECKING:
    from gateline.findings import Finding

__all__ = [
    "allowed",
    "amount",
    "as_written",
    "found",
    "from_to",
    "interval",
    "judged_scale",
    "level",
    "limit",
    "needed",
    "span",
    "value_scale",
]


def needed(finding: Finding, spelling: Spelling = PLAIN) -> str:
    """Return the bound as a comparison with the number that is judged: `≥ −5.0`, `≤ 2,500 ms`."""
    sign = "≤" if finding.at_most is not None else "≥"
    if finding.kind == "every":
        name, bound = finding.bound or ("at_least", "")
        sign = {"at_most": "≤ ", "at_least": "≥ "}.get(name, f"≥ {figures.MINUS}")
        return spelling.say("needed.each", bound=f"{sign}{as_written(bound, finding, spelling)}")
    if finding.threshold is None:
        return figures.UNKNOWN
    scale = judged_scale(finding, spelling)
    least = finding.threshold
    more = ">" if finding.kind == "improvement" and least == 0 else sign
    return f"{more} {scale.bare(least, sign=finding.judged != 'candidate')}{_short_unit(finding, scale)}"


def found(finding: Finding, spelling: Spelling = PLAIN, *, with_unit: bool = True) -> str:
    """Return the number that is judged, as it stands in a table: `−14.4`, `2,640 ms`, `3 of 40 miss`."""
    if finding.kind == "every" and finding.failing_count is not None:
        return spelling.say("found.missing", count=finding.failing_count, samples=f"{finding.samples:,}")
    value = figures.judged_value(finding)
    if value is None:
        return figures.UNKNOWN
    scale = judged_scale(finding, spelling)
    unit = _short_unit(finding, scale) if with_unit else ""
    return scale.bare(value, sign=finding.judged != "candidate") + unit


def interval(finding: Finding, spelling: Spelling = PLAIN) -> str:
    """Return the interval of the number that is judged, as it stands in a table: `−24.5 … −5.4`."""
    ends = figures.ends_of(finding)
    if ends is None:
        return figures.UNKNOWN if finding.interval is not None or finding.decide_by == "interval" else ""
    scale = judged_scale(finding, spelling)
    signed = finding.judged != "candidate"
    return f"{scale.bare(ends[0], sign=signed)} … {scale.bare(ends[1], sign=signed)}"


def from_to(finding: Finding, spelling: Spelling = PLAIN, *, unit_once: bool = False) -> str:
    """Return `81.0 % → 66.6 %`, or the candidate's value alone where there is no baseline."""
    scale = value_scale(finding, spelling)
    if finding.baseline is None:
        return scale.full(finding.candidate)
    if unit_once:
        return f"{scale.bare(finding.baseline)} → {scale.full(finding.candidate)}"
    return f"{scale.full(finding.baseline)} → {scale.full(finding.candidate)}"


def amount(finding: Finding, spelling: Spelling) -> str:
    """Return `14.4 points worse`; for a relative bound `4.4 % of the baseline (35 ms) worse`."""
    scale = figures.scale_of_gains(finding, _unit(finding, spelling), spelling.texts)
    if finding.gain is None:
        return spelling.say("amount.unknown")
    way = _way(finding.gain, scale)
    if not way:
        return spelling.say("amount.none")
    absolute = scale.full(abs(finding.gain))
    if finding.judged != "relative_gain" or finding.relative_gain is None:
        return spelling.say("amount.worse" if way == "worse" else "amount.better", amount=absolute)
    share = figures.scale_of_shares(finding, spelling.texts).full(abs(finding.relative_gain))
    key = "amount.relative-worse" if way == "worse" else "amount.relative-better"
    return spelling.say(key, share=share, absolute=absolute)


def allowed(finding: Finding, spelling: Spelling) -> str:
    """Return the bound of a rule in words: `up to 5.0 points worse is allowed`."""
    if finding.kind == "limit" or finding.judged == "candidate":
        return limit(finding, spelling)
    bound = finding.bound
    if bound is not None and isinstance(bound[1], list) and len(bound[1]) > 1:
        either = spelling.say("joint.or").join(as_written(one, finding, spelling) for one in bound[1])
        if finding.kind == "improvement":
            return spelling.say("bound.better-by-either", amounts=either)
        return spelling.say("bound.worse-by-both", amounts=either)
    size = allowance(finding, spelling)
    if finding.kind == "improvement":
        return spelling.say("bound.any-gain" if _is_zero(finding) else "bound.better-by", amount=size)
    return spelling.say("bound.no-loss" if _is_zero(finding) else "bound.worse-by", amount=size)


def limit(finding: Finding, spelling: Spelling) -> str:
    """Return a fixed bound in words: `at most 2,500 ms is allowed`."""
    if finding.threshold is None and finding.bound is None:
        return spelling.say("bound.unknown")
    key = "bound.at-most" if finding.at_most is not None else "bound.at-least"
    return spelling.say(key, limit=_limit_size(finding, spelling))


def _limit_size(finding: Finding, spelling: Spelling) -> str:
    """Return the size of a fixed bound: as it was held, or as the policy has it where nothing was."""
    if finding.threshold is not None:
        return judged_scale(finding, spelling).full(finding.threshold)
    return as_written(finding.bound[1] if finding.bound else "", finding, spelling)


def _is_zero(finding: Finding) -> bool:
    """Return whether no distance is allowed or asked for; where nothing was held, the policy's bound tells."""
    if finding.threshold is not None:
        return not finding.threshold
    written = finding.bound[1] if finding.bound else 0.0
    parts = written if isinstance(written, list) else [written]
    return not any(digit in "123456789" for part in parts for digit in str(part))


def as_written(bound: object, finding: Finding, spelling: Spelling) -> str:
    """Return a bound of the policy with its unit.

    A percentage is of the baseline, but for a limit it is the number itself.
    """
    if isinstance(bound, list):
        return spelling.say("joint.and").join(as_written(one, finding, spelling) for one in bound)
    if isinstance(bound, int | float):
        scale = figures.scale_for(float(bound), finding, _unit(finding, spelling), spelling.texts)
        return scale.full(float(bound))
    if isinstance(bound, str) and bound.endswith("%"):
        share = spelling.text(bound[:-1].strip()) + spelling.say("unit.percent")
        own = finding.at_most is not None or finding.at_least is not None
        return share if own else spelling.say("share.of-baseline", share=share)
    return spelling.text(str(bound))


def span(ends: tuple[float, float], scale: figures.Scale, spelling: Spelling) -> str:
    """Return an interval of a gain in words: `5.4 to 24.5 worse`, `4.9 worse to 1.5 better`."""
    low, high = ends
    unit = scale.unit if scale.kind == "percent" else ""
    if low == high == 0:
        return spelling.say("amount.none")
    if high <= 0:
        return spelling.say("span.worse", near=scale.bare(abs(high)), far=f"{scale.bare(abs(low))}{unit}")
    if low >= 0:
        return spelling.say("span.better", near=scale.bare(low), far=f"{scale.bare(high)}{unit}")
    return spelling.say(
        "span.across", worse=f"{scale.bare(abs(low))}{unit}", better=f"{scale.bare(high)}{unit}"
    )


def level(finding: Finding, spelling: Spelling) -> str:
    """Return the confidence of a finding's interval; empty where there is none."""
    if finding.interval is None:
        return ""
    return figures.confidence_text(finding.interval.level, spelling.texts)


def judged_scale(finding: Finding, spelling: Spelling) -> figures.Scale:
    """Return how the number is shown that is held against the bound."""
    return figures.judged_scale(finding, _unit(finding, spelling), spelling.texts)


def value_scale(finding: Finding, spelling: Spelling) -> figures.Scale:
    """Return how the metric's own values are shown."""
    return figures.scale_of_values(finding, _unit(finding, spelling), spelling.texts)


def allowance(finding: Finding, spelling: Spelling) -> str:
    """Return the size of the bound, with its unit; a share of the baseline also in the metric's unit."""
    if finding.threshold is None:
        return as_written(finding.bound[1] if finding.bound else "", finding, spelling)
    size = judged_scale(finding, spelling).full(abs(finding.threshold))
    if finding.judged != "relative_gain":
        return size
    if finding.baseline is None:
        return spelling.say("share.of-baseline", share=size)
    absolute = abs(finding.threshold * finding.baseline)
    scale = figures.scale_of_gains(finding, _unit(finding, spelling), spelling.texts).showing(absolute)
    return spelling.say("share.of-baseline-in-unit", share=size, absolute=scale.full(absolute))


def _way(gain: float, scale: figures.Scale) -> str:
    """Return `worse` or `better`; nothing for a gain that is shown as zero."""
    if not any(digit in "123456789" for digit in scale.bare(gain)):
        return ""
    return "worse" if gain < 0 else "better"


def _unit(finding: Finding, spelling: Spelling) -> str | None:
    return None if finding.unit is None else spelling.text(finding.unit)


def _short_unit(finding: Finding, scale: figures.Scale) -> str:
    """Return the unit as it stands in a table: points go without saying beside a signed number."""
    return "" if scale.kind == "points" and finding.show_as == "percent" else scale.unit
