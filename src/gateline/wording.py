"""A finding in words: the one sentence, and the short texts that stand in tables.

All reports and `Finding.message` take their sentences from here, so that two of them never say it
differently. This module computes nothing and decides nothing; how texts from files are made harmless is the
caller's choice, given as a `Spelling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateline import figures

if TYPE_CHECKING:
    from gateline.findings import Finding

_MOST_IDS = 5


@dataclass(frozen=True, slots=True)
class Spelling:
    """How texts that came from files are set into a sentence."""

    name: Callable[[str], str]
    """For names: metrics, slices, rules, ids, files."""
    text: Callable[[str], str]
    """For sentences and units."""


PLAIN = Spelling(name=str, text=str)


def describe(finding: Finding, spelling: Spelling = PLAIN) -> str:
    """Return the finding in one sentence.

    It says metric and slice, from → to, how sure, how much was allowed, and counted cases.
    """
    status = finding.status.value
    if status == "skipped":
        reason = joined(finding.notes, spelling) or "no reason was given"
        return f"{_subject(finding, spelling)} is not judged: {reason}."
    if finding.kind == "every":
        sentence = _describe_every(finding, spelling)
    elif figures.judged_value(finding) is None:
        sentence = _describe_nothing(finding, spelling)
    elif finding.judged == "candidate":
        sentence = _describe_limit(finding, spelling)
    else:
        sentence = _describe_change(finding, spelling)
    return f"{sentence}{_rest(finding, spelling)}."


def plural(count: int, one: str, many: str = "") -> str:
    """Return `1 check`, `2 checks`, `1,200 checks`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def subject(finding: Finding, spelling: Spelling = PLAIN, joint: str = " · ") -> str:
    """Return metric and slice: `answer_correct · language=de`."""
    metric = spelling.name(finding.metric)
    return metric if finding.slice is None else f"{metric}{joint}{spelling.name(finding.slice)}"


def needed(finding: Finding, spelling: Spelling = PLAIN) -> str:
    """Return the bound as a comparison with the number that is judged: `≥ −5.0`, `≤ 2,500 ms`."""
    sign = "≤" if finding.at_most is not None else "≥"
    if finding.kind == "every":
        name, bound = finding.bound or ("at_least", "")
        sign = {"at_most": "≤ ", "at_least": "≥ "}.get(name, f"≥ {figures.MINUS}")
        return f"each {sign}{_as_written(bound, finding, spelling)}"
    if finding.threshold is None:
        return figures.UNKNOWN
    scale = _scale(finding, spelling)
    limit = finding.threshold
    more = ">" if finding.kind == "improvement" and limit == 0 else sign
    return f"{more} {scale.bare(limit, sign=finding.judged != 'candidate')}{_short_unit(finding, scale)}"


def found(finding: Finding, spelling: Spelling = PLAIN, *, with_unit: bool = True) -> str:
    """Return the number that is judged, as it stands in a table: `−14.4`, `2,640 ms`, `3 of 40 miss`."""
    if finding.kind == "every" and finding.failing_count is not None:
        return f"{finding.failing_count:,} of {finding.samples:,} miss"
    value = figures.judged_value(finding)
    if value is None:
        return figures.UNKNOWN
    scale = _scale(finding, spelling)
    unit = _short_unit(finding, scale) if with_unit else ""
    return scale.bare(value, sign=finding.judged != "candidate") + unit


def interval(finding: Finding, spelling: Spelling = PLAIN) -> str:
    """Return the interval of the number that is judged, as it stands in a table: `−24.5 … −5.4`."""
    ends = figures.ends_of(finding)
    if ends is None:
        return figures.UNKNOWN if finding.interval is not None or finding.decide_by == "interval" else ""
    scale = _scale(finding, spelling)
    signed = finding.judged != "candidate"
    return f"{scale.bare(ends[0], sign=signed)} … {scale.bare(ends[1], sign=signed)}"


def from_to(finding: Finding, spelling: Spelling = PLAIN, *, unit_once: bool = False) -> str:
    """Return `81.0 % → 66.6 %`, or the candidate's value alone where there is no baseline."""
    scale = figures.scale_of_values(finding, _unit(finding, spelling))
    if finding.baseline is None:
        return scale.full(finding.candidate)
    if unit_once:
        return f"{scale.bare(finding.baseline)} → {scale.full(finding.candidate)}"
    return f"{scale.full(finding.baseline)} → {scale.full(finding.candidate)}"


def _describe_change(finding: Finding, spelling: Spelling) -> str:
    """Say a gain, absolute or relative, against its bound."""
    scale = _scale(finding, spelling)
    moved = _moved(finding, spelling)
    start = f"{_subject(finding, spelling)} {moved}, {_amount(finding, spelling)}"
    ends = figures.ends_of(finding)
    bound = _allowed(finding, spelling)
    if finding.status.value == "inconclusive":
        if ends is None:
            return f"{start}, but {_lack(finding) or 'no interval can be given'}, where {bound}"
        if lack := _lack(finding):
            return f"{start}, but {lack} ({_level(finding)} interval: {_span(ends, scale)}), where {bound}"
        span = f"the {_level(finding)} interval ({_span(ends, scale)})"
        return f"{start}, but {span} doesn't settle it, where {bound}"
    sure = "" if ends is None else f" ({_level(finding)} interval: {_span(ends, scale)})"
    return f"{start}{sure}, where {bound}"


def _describe_limit(finding: Finding, spelling: Spelling) -> str:
    """Say the candidate's own value against a fixed bound."""
    scale = _scale(finding, spelling)
    verb = "adds up to" if finding.summary == "total" else "is"
    before = f" (baseline {scale.full(finding.baseline)})" if finding.baseline is not None else ""
    start = f"{_subject(finding, spelling)} {verb} {scale.full(finding.candidate)}{before}"
    ends = figures.ends_of(finding)
    bound = _limit_text(finding, scale)
    if ends is None:
        gap = (
            f", but {_lack(finding) or 'no interval can be given'}"
            if finding.status.value == "inconclusive"
            else ""
        )
        return f"{start}{gap}, where {bound}"
    span = f"{scale.bare(ends[0])} to {scale.full(ends[1])}"
    if finding.status.value == "inconclusive":
        if lack := _lack(finding):
            return f"{start}, but {lack} ({_level(finding)} interval: {span}), where {bound}"
        return f"{start}, but the {_level(finding)} interval ({span}) doesn't settle it, where {bound}"
    return f"{start}, {_level(finding)} interval {span}, where {bound}"


def _lack(finding: Finding) -> str:
    """Return what leaves it open whatever the numbers say, nothing where only they do; the notes say how much."""
    if any(".at_least is " in note for note in finding.notes):
        return "there are too few samples"
    return "too much is left out" if any(" are left out" in note for note in finding.notes) else ""


def _describe_every(finding: Finding, spelling: Spelling) -> str:
    """Say how many single samples miss their bound, and which."""
    name, written = finding.bound or ("", "")
    bound = f"{name.replace('_', ' ')} {_as_written(written, finding, spelling)}"
    if name == "worse_by_at_most":
        bound += " against the baseline"
    where = "" if finding.slice is None else f" in {spelling.name(finding.slice)}"
    count = finding.failing_count
    metric = spelling.name(finding.metric)
    if finding.samples == 0 or count is None:
        return f"{metric}{where} has no usable sample, where each must be {bound}"
    if count == 0 and finding.status.value == "fail":
        return f"{metric}{where} can't be shown to hold {bound}: {joined(finding.notes, spelling)}"
    if count == 0:
        return f"All {plural(finding.samples, 'sample')}{where} hold {metric} {bound}"
    ids = [spelling.name(one) for one in finding.failing[:_MOST_IDS]]
    more = f" and {count - len(ids):,} more" if count > len(ids) else ""
    verb = "misses" if count == 1 else "miss"
    share = f"{count:,} of {plural(finding.samples, 'sample')}{where}"
    return f"{share} {verb} {metric} {bound}: {', '.join(ids)}{more}"


def _describe_nothing(finding: Finding, spelling: Spelling) -> str:
    """Say that there is no number to judge."""
    if finding.samples == 0:
        return f"{_subject(finding, spelling)} has no usable sample, where {_allowed(finding, spelling)}"
    start = f"{_subject(finding, spelling)} {_moved(finding, spelling)}"
    bound = _allowed(finding, spelling)
    return f"{start}, but the number that the rule judges can't be computed, where {bound}"


def _rest(finding: Finding, spelling: Spelling) -> str:
    """Return what follows the numbers: counted cases, what would settle it, what is done, the waiver."""
    parts = [_counted(finding)]
    status = finding.status.value
    if status == "inconclusive":
        if finding.samples_needed is not None:
            noun = "sample" if finding.samples_needed == 1 else "samples"
            parts.append(f"about {figures.about(finding.samples_needed)} {noun} would settle it")
        if finding.notes:
            parts.append(joined(finding.notes, spelling))
        parts.append(_consequence(finding))
    if status == "skipped" and finding.smallest_visible_change is not None:
        change = _scale(finding, spelling).full(finding.smallest_visible_change)
        parts.append(f"it could show a change of {change} at best")
    if finding.decide_by == "value" and figures.ends_of(finding) is not None:
        parts.append("decided by the value, not the interval")
    if finding.hard and status == "fail":
        parts.append("a hard rule")
    if finding.waiver is not None and status == "waived":
        waiver = finding.waiver
        ceiling = "" if waiver.up_to is None else f" up to {_as_written(waiver.up_to, finding, spelling)}"
        who = f"until {spelling.text(waiver.until)} by {spelling.text(waiver.by)}"
        parts.append(f"waived{ceiling} {who}: {spelling.text(waiver.reason)}")
    return "".join(f"; {part}" for part in parts if part)


def _consequence(finding: Finding) -> str:
    """Return what an inconclusive outcome does."""
    if finding.blocks:
        return "the rule asks for proof, so it blocks"
    return "let through with a warning" if finding.on_inconclusive == "warn" else "let through by the rule"


def _counted(finding: Finding) -> str:
    """Return `13 worse, 1 better of 90 pairs`, and the groups where questions are not independent."""
    groups = ""
    if finding.clusters and finding.clusters != finding.samples:
        groups = f" in {plural(finding.clusters, 'group')}"
    if finding.kind == "every" or not finding.samples:
        return ""
    if finding.judged == "candidate":
        return f"{plural(finding.samples, 'sample')}{groups}"
    if finding.worse is None or finding.better is None:
        return f"{plural(finding.samples, 'pair')}{groups}"
    return f"{finding.worse:,} worse, {finding.better:,} better of {plural(finding.samples, 'pair')}{groups}"


def _subject(finding: Finding, spelling: Spelling) -> str:
    return subject(finding, spelling, joint=" in ")


def _moved(finding: Finding, spelling: Spelling) -> str:
    """Return how the value moved; up and down of the number, not better and worse."""
    if finding.baseline is None or finding.candidate is None:
        return f"is {from_to(finding, spelling)}"
    if finding.candidate == finding.baseline:
        scale = figures.scale_of_values(finding, _unit(finding, spelling))
        return f"stayed at {scale.full(finding.candidate)}"
    return f"{'rose' if finding.candidate > finding.baseline else 'fell'} {from_to(finding, spelling)}"


def _amount(finding: Finding, spelling: Spelling) -> str:
    """Return `14.4 points worse`; for a relative bound `4.4 % of the baseline (35 ms) worse`."""
    scale = figures.scale_of_gains(finding, _unit(finding, spelling))
    if finding.gain is None:
        return "by an unknown amount"
    absolute = scale.full(abs(finding.gain))
    word = _word(finding.gain, scale)
    if finding.judged != "relative_gain" or finding.relative_gain is None:
        return f"{absolute} {word}" if word else "no change"
    share = figures.scale_of_shares(finding).full(abs(finding.relative_gain))
    return f"{share} of the baseline ({absolute}) {word}" if word else "no change"


def _allowed(finding: Finding, spelling: Spelling) -> str:
    """Return the bound of a rule in words: `up to 5.0 points worse is allowed`."""
    if finding.kind == "limit" or finding.judged == "candidate":
        return _limit_text(finding, _scale(finding, spelling))
    bound = finding.bound
    if bound is not None and isinstance(bound[1], list) and len(bound[1]) > 1:
        return _both_allowed(finding, spelling)
    amount = _threshold_text(finding, spelling)
    if finding.kind == "improvement":
        return f"at least {amount} better is needed" if finding.threshold else "any gain is needed"
    return f"up to {amount} worse is allowed" if finding.threshold else "nothing worse is allowed"


def _both_allowed(finding: Finding, spelling: Spelling) -> str:
    """Return two bounds that count only together."""
    written = finding.bound[1] if finding.bound else []
    bounds = written if isinstance(written, list) else [written]
    texts = [_as_written(one, finding, spelling) for one in bounds]
    either = " or ".join(texts)
    if finding.kind == "improvement":
        return f"at least {either} better is needed, whichever is less"
    return f"up to {either} worse is allowed, whichever is more"


def _threshold_text(finding: Finding, spelling: Spelling) -> str:
    """Return the size of the bound, with its unit; a share of the baseline also in the metric's unit."""
    if finding.threshold is None:
        return _as_written(finding.bound[1] if finding.bound else "", finding, spelling)
    size = _scale(finding, spelling).full(abs(finding.threshold))
    if finding.judged != "relative_gain":
        return size
    if finding.baseline is None:
        return f"{size} of the baseline"
    absolute = figures.scale_of_gains(finding, _unit(finding, spelling))
    return f"{size} of the baseline ({absolute.full(abs(finding.threshold * finding.baseline))})"


def _limit_text(finding: Finding, scale: figures.Scale) -> str:
    if finding.threshold is None:
        return "the bound is unknown"
    limit = scale.full(finding.threshold)
    return f"at most {limit} is allowed" if finding.at_most is not None else f"at least {limit} is needed"


def _as_written(bound: object, finding: Finding, spelling: Spelling) -> str:
    """Return a bound of the policy with its unit.

    A percentage is of the baseline, but for a limit it is the number itself.
    """
    if isinstance(bound, list):
        return " and ".join(_as_written(one, finding, spelling) for one in bound)
    if isinstance(bound, int | float):
        scale = figures.scale_for(float(bound), finding, _unit(finding, spelling))
        return scale.full(float(bound))
    if isinstance(bound, str) and bound.endswith("%"):
        share = spelling.text(bound[:-1].strip()) + " %"
        own = finding.at_most is not None or finding.at_least is not None
        return share if own else f"{share} of the baseline"
    return spelling.text(str(bound))


def _span(ends: tuple[float, float], scale: figures.Scale) -> str:
    """Return an interval of a gain in words: `5.4 to 24.5 worse`, `4.9 worse to 1.5 better`."""
    low, high = ends
    unit = scale.unit if scale.unit == " %" else ""
    if low == high == 0:
        return "no change"
    if high <= 0:
        return f"{scale.bare(abs(high))} to {scale.bare(abs(low))}{unit} worse"
    if low >= 0:
        return f"{scale.bare(low)} to {scale.bare(high)}{unit} better"
    return f"{scale.bare(abs(low))}{unit} worse to {scale.bare(high)}{unit} better"


def _word(gain: float, scale: figures.Scale) -> str:
    """Return `worse` or `better`; nothing for a gain that is shown as zero."""
    if not any(digit in "123456789" for digit in scale.bare(gain)):
        return ""
    return "worse" if gain < 0 else "better"


def _level(finding: Finding) -> str:
    return figures.confidence_text(finding.interval.level) if finding.interval is not None else ""


def _scale(finding: Finding, spelling: Spelling) -> figures.Scale:
    return figures.judged_scale(finding, _unit(finding, spelling))


def _unit(finding: Finding, spelling: Spelling) -> str | None:
    return None if finding.unit is None else spelling.text(finding.unit)


def _short_unit(finding: Finding, scale: figures.Scale) -> str:
    """Return the unit as it stands in a table: points go without saying beside a signed number."""
    return "" if scale.unit == " points" and finding.show_as == "percent" else scale.unit


def joined(sentences: Iterable[str], spelling: Spelling = PLAIN) -> str:
    """Join sentences with semicolons, so that they can stand inside one."""
    return "; ".join(spelling.text(sentence.rstrip(" .")) for sentence in sentences)
