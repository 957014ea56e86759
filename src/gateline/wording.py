"""A finding in words: the one sentence that says metric and slice, from → to, how sure, what was allowed.

All reports and `Finding.message` take their sentences from here, so that two of them never say it
differently; the words themselves stand in `texts`. This module computes nothing and decides nothing; how texts from
files are made harmless is the caller's choice, given as a `Spelling`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateline import figures
from gateline.amounts import (
    allowed,
    amount,
    as_written,
    judged_scale,
    level,
    limit,
    span,
    value_scale,
)
from gateline.remark import say_all
from gateline.spelling import PLAIN, Spelling

if TYPE_CHECKING:
    from gateline.findings import Finding

_MOST_IDS = 5
_MOST_TIMES_THE_SAMPLES = 100
"""Times the samples at hand beyond which nobody evaluates as many as would settle a check."""
_TOO_FEW = frozenset({"note.too-few-usable"})
_LEFT_OUT = frozenset({"note.left-out", "note.denominators-gone"})
"""Keys of notes that leave a check open whatever the numbers say."""


def describe(finding: Finding, spelling: Spelling = PLAIN, *, fail_on: str = "fail") -> str:
    """Return the finding in one sentence.

    It says metric and slice, from → to, how sure, how much was allowed, and counted cases. `fail_on` is the run's:
    with `inconclusive`, what is not settled blocks whatever its rule says.
    """
    if finding.status.value == "skipped":
        reason = _notes(finding, spelling) or spelling.say("finding.no-reason")
        if finding.is_too_small and finding.gain is not None and finding.candidate is not None:
            return spelling.sentence(_describe_too_small(finding, reason, spelling))
        text = spelling.say("finding.skipped", subject=_subject(finding, spelling), reason=reason)
        return spelling.sentence(text)
    if finding.kind == "every":
        sentence = _describe_every(finding, spelling)
    elif figures.judged_value(finding) is None:
        sentence = _describe_nothing(finding, spelling)
    elif finding.judged == "candidate":
        sentence = _describe_limit(finding, spelling)
    else:
        sentence = _describe_change(finding, spelling)
    return spelling.sentence(
        spelling.say("joint.clauses").join([sentence, *_rest(finding, spelling, fail_on)])
    )


def subject(finding: Finding, spelling: Spelling = PLAIN) -> str:
    """Return metric and slice as they stand in a table: `answer_correct · language=de`."""
    metric = _name(finding, spelling)
    return metric if finding.slice is None else f"{metric} · {spelling.name(finding.slice)}"


def subject_in_sentence(finding: Finding, spelling: Spelling = PLAIN) -> str:
    """Return metric and slice as they stand in a sentence: `answer_correct in language=de`."""
    metric = _name(finding, spelling)
    if finding.slice is None:
        return metric
    return spelling.say("finding.subject", metric=metric, slice=spelling.name(finding.slice))


def _name(finding: Finding, spelling: Spelling) -> str:
    """Return the metric, or what is measured of its judge."""
    metric = spelling.name(finding.metric)
    return metric if finding.measure is None else spelling.say(f"measure.{finding.measure}", metric=metric)


def _describe_change(finding: Finding, spelling: Spelling) -> str:
    """Say a gain, absolute or relative, against its bound."""
    start = spelling.say("change", moved=_moved(finding, spelling), amount=amount(finding, spelling))
    ends = figures.ends_of(finding)
    said = "" if ends is None else span(ends, judged_scale(finding, spelling), spelling)
    return _against(start, said, allowed(finding, spelling), finding, spelling)


def _describe_too_small(finding: Finding, reason: str, spelling: Spelling) -> str:
    """Say how a slice moved that has too few samples to be judged, and what so few could have shown."""
    start = spelling.say("change", moved=_moved(finding, spelling), amount=amount(finding, spelling))
    parts = [
        spelling.say("finding.too-small", start=start, reason=reason),
        _counted(finding, spelling),
    ]
    visible = finding.smallest_visible_change
    if visible is not None and finding.gain is not None and abs(finding.gain) < visible:
        change = judged_scale(finding, spelling).full(visible)
        parts.append(spelling.say("finding.could-show", change=change))
    return spelling.say("joint.clauses").join(part for part in parts if part)


def _describe_limit(finding: Finding, spelling: Spelling) -> str:
    """Say the candidate's own value against a fixed bound."""
    scale = judged_scale(finding, spelling)
    total = finding.summary == "total"
    said: dict[str, Any] = {"subject": _subject(finding, spelling), "value": scale.full(finding.candidate)}
    if finding.baseline is None:
        start = spelling.say("limit.total" if total else "limit.is", **said)
    else:
        key = "limit.total-before" if total else "limit.is-before"
        start = spelling.say(key, **said, before=scale.full(finding.baseline))
    ends = figures.ends_of(finding)
    if ends is None:
        return _against(start, "", limit(finding, spelling), finding, spelling)
    within = spelling.say("span.values", low=scale.bare(ends[0]), high=scale.full(ends[1]))
    return _against(start, within, limit(finding, spelling), finding, spelling)


def _against(start: str, within: str, bound: str, finding: Finding, spelling: Spelling) -> str:
    """Return what was seen, how sure that is, and the bound; `within` is the interval, empty where there is none."""
    fields: dict[str, Any] = {
        "start": start,
        "bound": bound,
        "level": level(finding, spelling),
        "interval": within,
    }
    lack = _lack(finding, spelling)
    if finding.status.value == "inconclusive":
        if not within:
            return spelling.say("against.lacking", **fields, lack=lack or spelling.say("lack.interval"))
        if lack:
            return spelling.say("against.lacking-within", **fields, lack=lack)
        return spelling.say("against.open", **fields)
    if not within:
        return spelling.say("against.plain", **fields)
    return spelling.say("against.value" if finding.judged == "candidate" else "against.change", **fields)


def _lack(finding: Finding, spelling: Spelling) -> str:
    """Return what leaves it open whatever the numbers say, nothing where only they do; the notes say how much."""
    keys = {remark.key for remark in finding.notes_said if remark is not None}
    if keys & _TOO_FEW:
        return spelling.say("lack.samples")
    return spelling.say("lack.values") if keys & _LEFT_OUT else ""


def _describe_every(finding: Finding, spelling: Spelling) -> str:
    """Say how many single samples miss their bound, and which."""
    metric = _subject(finding, spelling)
    count = finding.failing_count
    if finding.samples == 0 or count is None:
        return spelling.say("every.no-sample", metric=metric, bound=_bound_of_each(finding, spelling))
    if count == 0 and finding.status.value == "fail":
        return spelling.say(
            "every.not-shown",
            metric=metric,
            bound=_bound_of_each(finding, spelling),
            reason=_notes(finding, spelling),
        )
    where = finding.slice
    samples = spelling.say("count.samples", count=finding.samples)
    if where is not None:
        samples = spelling.say("every.in-slice", samples=samples, slice=spelling.name(where))
    fields: dict[str, Any] = {
        "samples": samples,
        "metric": spelling.name(finding.metric),
        "bound": _bound_of_each(finding, spelling),
    }
    if count == 0:
        return spelling.say("every.all-hold", **fields)
    ids = spelling.or_more((spelling.name(one) for one in finding.failing[:_MOST_IDS]), count)
    return spelling.say("every.some-miss", count=count, **fields, ids=ids)


def _bound_of_each(finding: Finding, spelling: Spelling) -> str:
    """Return the bound that each sample is held against: `at least 100 %`."""
    name, written = finding.bound or ("", "")
    bound = as_written(written, finding, spelling)
    key = {"at_least": "every.at-least", "at_most": "every.at-most", "worse_by_at_most": "every.worse-by"}
    return spelling.say(key[name], bound=bound) if name in key else bound


def _describe_nothing(finding: Finding, spelling: Spelling) -> str:
    """Say that there is no number to judge."""
    bound = allowed(finding, spelling)
    if finding.samples == 0:
        return spelling.say("nothing.no-sample", subject=_subject(finding, spelling), bound=bound)
    if finding.candidate is None and finding.baseline is None:
        return spelling.say("nothing.not-judged", subject=_subject(finding, spelling), bound=bound)
    return spelling.say("nothing.no-number", moved=_moved(finding, spelling), bound=bound)


def _rest(finding: Finding, spelling: Spelling, fail_on: str) -> list[str]:
    """Return what follows the numbers: counted cases, what would settle it, what is done, the waiver."""
    parts = _basis(finding, spelling)
    status = finding.status.value
    if status == "inconclusive":
        if finding.samples_needed is not None:
            parts.append(_what_would_settle(finding, finding.samples_needed, spelling))
        parts += [_notes(finding, spelling), _consequence(finding, spelling, fail_on)]
    if finding.decide_by == "value" and figures.ends_of(finding) is not None:
        parts.append(spelling.say("rest.by-value"))
    if finding.hard and status == "fail":
        parts.append(spelling.say("rest.hard"))
    if finding.waiver is not None and status == "waived":
        parts.append(_waived(finding, spelling))
    return [part for part in parts if part]


def _basis(finding: Finding, spelling: Spelling) -> list[str]:
    """Return what the number rests on: counted cases, labels of people, and what the judge says without them."""
    told, counted = finding.calibration, _counted(finding, spelling)
    if told is None or finding.kind == "every":
        return [counted]
    if told.corrects:
        value = _uncorrected(finding, spelling)
        return [spelling.say("rest.uncorrected", value=value, count=told.labelled, things=counted)]
    if finding.status.value == "fail":
        return [counted, spelling.say("rest.judge-stands", reason=_notes(finding, spelling))]
    return [counted, spelling.say("rest.judge-alone", value=_uncorrected(finding, spelling))]


def _uncorrected(finding: Finding, spelling: Spelling) -> str:
    """Return what the judge alone says."""
    told = finding.calibration
    assert told is not None
    alone = finding.model_copy(
        update={"baseline": told.baseline, "candidate": told.candidate, "gain": told.gain}
    )
    if finding.judged == "candidate":
        return value_scale(alone, spelling).full(told.candidate)
    return amount(alone, spelling)


def _waived(finding: Finding, spelling: Spelling) -> str:
    """Return who let it through, until when, how far, and why."""
    waiver = finding.waiver
    assert waiver is not None
    said: dict[str, Any] = {
        "until": spelling.text(waiver.until),
        "by": spelling.text(waiver.by),
        "reason": spelling.text(waiver.reason),
    }
    if waiver.up_to is None:
        return spelling.say("rest.waived", **said)
    return spelling.say("rest.waived-up-to", **said, ceiling=as_written(waiver.up_to, finding, spelling))


def is_within_reach(finding: Finding) -> bool:
    """Return whether the samples that would settle a check are a number that somebody could evaluate."""
    needed = finding.samples_needed
    return needed is not None and needed <= _MOST_TIMES_THE_SAMPLES * max(finding.samples, 1)


def _what_would_settle(finding: Finding, number: int, spelling: Spelling) -> str:
    if not is_within_reach(finding):
        return spelling.say("rest.out-of-reach")
    return spelling.say("rest.samples-needed", count=number, about=figures.about(number))


def _consequence(finding: Finding, spelling: Spelling, fail_on: str) -> str:
    """Return what an inconclusive outcome does."""
    if finding.blocks:
        return spelling.say("rest.blocks")
    if fail_on == "inconclusive":
        return spelling.say("rest.blocks-as-asked", option="fail-on inconclusive")
    return spelling.say("rest.warns" if finding.warns else "rest.let-through")


def _counted(finding: Finding, spelling: Spelling) -> str:
    """Return `13 worse, 1 better of 90 pairs`, and the groups where questions are not independent."""
    if finding.kind == "every" or not finding.samples:
        return ""
    of_pairs = finding.judged != "candidate"
    things = spelling.say("count.pairs" if of_pairs else "count.samples", count=finding.samples)
    if of_pairs and finding.baseline_samples is not None:
        before, after = f"{finding.baseline_samples:,}", f"{finding.samples:,}"
        things = spelling.say("rest.before-and-after", before=before, after=after)
    if finding.clusters and finding.clusters != finding.samples:
        groups = spelling.say("count.groups", count=finding.clusters)
        things = spelling.say("rest.in-groups", things=things, groups=groups)
    if not of_pairs or finding.worse is None or finding.better is None:
        return things
    return spelling.say(
        "rest.counted", worse=f"{finding.worse:,}", better=f"{finding.better:,}", pairs=things
    )


def _subject(finding: Finding, spelling: Spelling) -> str:
    return subject_in_sentence(finding, spelling)


def _notes(finding: Finding, spelling: Spelling) -> str:
    """Return the finding's notes as one clause; empty where it has none."""
    return spelling.join_clauses(say_all(finding.notes, finding.notes_said, spelling.texts))


def _moved(finding: Finding, spelling: Spelling) -> str:
    """Return how the value moved; up and down of the number, not better and worse."""
    scale = value_scale(finding, spelling)
    name = _subject(finding, spelling)
    if finding.baseline is None or finding.candidate is None:
        if finding.baseline is None:
            return spelling.say("moved.is", subject=name, value=scale.full(finding.candidate))
        before, after = scale.full(finding.baseline), scale.full(finding.candidate)
        return spelling.say("moved.is", subject=name, value=f"{before} → {after}")
    if finding.candidate == finding.baseline:
        return spelling.say("moved.stayed", subject=name, value=scale.full(finding.candidate))
    key = "moved.rose" if finding.candidate > finding.baseline else "moved.fell"
    before, after = scale.full(finding.baseline), scale.full(finding.candidate)
    return spelling.say(key, subject=name, before=before, after=after)
