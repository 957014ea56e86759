"""What follows from an examination, in sentences: what the gate blocks without reason, misses, and how to mend it.

It computes nothing but which counts are too high or too low.
"""

from __future__ import annotations

from gateline.doctor.facts import CheckFacts, Examination, PowerFacts, Rate
from gateline.errors import count_of, name_some
from gateline.figures import about
from gateline.findings import Status

MOST_BLOCKED = 0.05
"""Share of unchanged copies that a gate may block before people learn to ignore it."""
LEAST_CAUGHT = 0.5
"""Share of copies with a drop that must be caught for a place to count as guarded."""
DROP = 0.10
"""The drop that a guarded place catches."""
FEW = 20
"""Copies below which a count says more than a share does."""


def conclude(found: Examination) -> list[str]:
    """Return what follows; a sentence that begins with a dash belongs to the one before."""
    blocked, lost = _tell_blocked(found), _tell_missed(found)
    told = [*blocked, *lost] if _is_noisy(found) or not missed(found) else [*lost, *blocked]
    told += [*_tell_limits_of_copies(found), *_tell_gains(found), *_tell_undecided(found)]
    noisy = found.noise == "swapped" and not found.no_noise
    if noisy and (found.blocked.share > MOST_BLOCKED or missed(found)):
        told.append(
            "All that sets these two runs apart counts as noise here. If they are of two systems, two runs of one "
            "system will look better."
        )
    return told


def place_of(metric: str, slice_: str | None) -> str:
    """Return metric and slice as they stand in a table."""
    return metric if slice_ is None else f"{metric} · {slice_}"


def undecided(found: Examination) -> list[CheckFacts]:
    """Return the checks that settled nothing in any copy; an improvement has nothing to settle in them."""
    return [check for check in found.checks if not can_decide(check)]


def can_decide(check: CheckFacts) -> bool:
    """Return whether a check settled something, or is of a kind that copies say nothing of."""
    return check.decides or check.kind in ("improvement", "calibration")


def missed(found: Examination) -> list[PowerFacts]:
    """Return the places in which a loss of 10 points is caught in less than half of the copies."""
    return [
        one
        for one in found.powers
        if one.drop == DROP and one.blocked is not None and one.blocked.share < LEAST_CAUGHT
    ]


def say_needs(check: CheckFacts) -> str:
    """Return how many samples a check has and would need, as far as that can be said."""
    if check.kind == "calibration":
        return "needs people's labels, which copies don't have"
    has = say_has(check.samples)
    fewest = "slices.at_least" if check.slice is not None else "samples.at_least"
    if check.needs is not None and check.needs > max(check.samples, check.at_least):
        return f"{has}, would need about {about(check.needs)}"
    if 0 < check.samples < check.at_least:
        return f"{has}, where {fewest} asks for {check.at_least:,}"
    return has


def say_has(samples: int) -> str:
    """Return `has 1 sample`."""
    return f"has {count_of(samples, 'sample', 'samples')}" if samples else "has no usable sample"


def say_copies(rate: Rate) -> str:
    """Return `1.2 % of the copies`, or of few copies `1 of 3 copies`."""
    if rate.of < FEW:
        return f"{rate.count:,} of {count_of(rate.of, 'copy', 'copies')}"
    return f"{100 * rate.share:.1f} % of the copies"


def say_ends(rate: Rate) -> str:
    """Return the interval of a rate: `0.5 to 2.6 %`."""
    return f"{100 * rate.low:.1f} to {100 * rate.high:.1f} %"


def _tell_blocked(found: Examination) -> list[str]:
    if not found.blocked.of:
        return ["No copy had a verdict, so that nothing is known of what this gate blocks."]
    if found.no_noise and found.blocked.share <= MOST_BLOCKED:
        return []  # nothing but chance could block, and there is none
    if _asks_for_gains_alone(found):
        return []
    share = say_copies(found.blocked)
    guilty = sorted(
        (one for one in found.checks if one.kind != "improvement" and _blocks(one) > MOST_BLOCKED),
        key=lambda one: -_blocks(one),
    )
    alone = [one.metric for one in guilty if one.metric in found.judge_alone]
    if found.blocked.high <= MOST_BLOCKED:
        lines = _tell_quiet(found, share)
    elif found.blocked.low > MOST_BLOCKED:
        said = f"An unchanged system is blocked in {share}; above 5 % people learn to ignore a gate."
        lines = [" ".join([said, *_say_caught(found)])]
    else:
        ends = say_ends(found.blocked)
        said = f"An unchanged system is blocked in {share} ({ends}). Above 5 % people learn to ignore "
        told = (
            f"{said}a gate, and these copies can't tell on which side of that it lies: more (--copies) can."
        )
        lines = [" ".join([told, *([] if missed(found) and not _is_noisy(found) else _say_caught(found))])]
    if found.blocked.share > MOST_BLOCKED:
        lines += [
            f"- {one.rule} ({place_of(one.metric, one.slice)}) "
            + (_why_judge(one) if one.metric in alone else _why_blocked(one))
            for one in guilty
        ]
    return lines


def _is_noisy(found: Examination) -> bool:
    """Return whether false alarms are the worst of it: so many that people learn to ignore the gate."""
    return bool(found.blocked.of) and found.blocked.share > MOST_BLOCKED and not _asks_for_gains_alone(found)


def _asks_for_gains_alone(found: Examination) -> bool:
    return all(
        one.kind == "improvement" for one in found.checks
    )  # such a gate blocks what is unchanged by design


def _tell_quiet(found: Examination, share: str) -> list[str]:
    """Say that a gate raises few false alarms; that is good only of one that catches something."""
    if missed(found):
        return []  # then it stands in one sentence with what the gate misses
    caught = _say_caught(found)
    if not caught:
        return [
            f"An unchanged system is blocked in {share}. What this gate catches is not known: no loss could be put in."
        ]
    return [f"An unchanged system is blocked in {share}: people can live with that. {caught[0]}"]


def _say_caught(found: Examination) -> list[str]:
    """Return one sentence on what is caught of a loss of 10 points; none where none could be put in."""
    tried = [one for one in found.powers if one.drop == DROP and one.blocked is not None]
    if not tried:
        return []
    places = missed(found)
    if places:
        where = _say_how_many(len(places), len(tried))
        return [
            f"What gets worse by 10 points is caught in less than half of the copies {where}: no guard there."
        ]
    least = min(one.blocked.share for one in tried if one.blocked is not None)
    share = "all copies" if least == 1.0 else f"{100 * least:.0f} % of the copies or more"
    counted = " This counts what is blocked without reason too." if found.blocked.share > MOST_BLOCKED else ""
    return [f"What gets worse by 10 points is caught in {share}, wherever it is put.{counted}"]


def _say_how_many(some: int, of: int) -> str:
    """Return `in 2 of 5 places`."""
    if of == 1:
        return "in the one place that is looked at"
    return f"in all {of:,} places" if some == of else f"in {some:,} of {of:,} places"


def _tell_limits_of_copies(found: Examination) -> list[str]:
    """Say what the copies can't show of this gate."""
    told = []
    if found.no_verdict > MOST_BLOCKED * found.copies:
        told.append(
            f"{found.no_verdict:,} of {count_of(found.copies, 'copy', 'copies')} had no verdict, which stops a change "
            "as well, and are left out of the other numbers."
        )
    if found.no_noise:
        told.append(
            "The two runs say the same of every question, so that there is no chance in these copies: how often it "
            "blocks a change of nothing is not known from them. Take a second run of the same system that was made "
            "anew, or leave --candidate out."
        )
    if found.judge_alone:
        told.append(
            f"People's labels correct {name_some(found.judge_alone)} in a check. The copies have no labels: all that "
            "is told here of it is the judge's alone, and rules of kind calibration were not tried."
        )
    if found.waived:
        told.append(
            f"No waiver is applied here: {name_some(found.waived)} is let through in a check for now."
        )
    return told


def _blocks(check: CheckFacts) -> float:
    return check.fails.share + check.blocks_unshown.share


def _why_judge(check: CheckFacts) -> str:
    return (
        f"blocks {100 * _blocks(check):.1f} % by what the judge says alone; in a check people's labels correct it "
        f"({check.now}, {check.bound})"
    )


def _why_blocked(check: CheckFacts) -> str:
    share = f"blocks {100 * _blocks(check):.1f} %"
    if not check.samples:
        return f"{share}: it has no usable sample, and what can't be shown blocks"
    if check.kind == "every":
        return f"{share}: {_why_every(check)}"
    if check.allowed is None:
        return f"{share}: it holds the candidate alone, and {_why_alone(check)}"
    if check.fails.count >= check.blocks_unshown.count:
        return (
            f"{share}: chance alone breaks it ({check.bound}); it {say_needs(check)}: more, or a wider bound"
        )
    return (
        f"{share}: it asks for proof ({check.bound}, on_inconclusive: fail) and seldom has it; it {say_needs(check)}: "
        "more, a wider bound, or on_inconclusive: warn"
    )


def _why_every(check: CheckFacts) -> str:
    """Return why a check of single samples blocks: more samples would break it sooner."""
    if check.blocks_unshown.count > check.fails.count:
        return f"some samples have no value to hold against its bound ({check.bound})"
    return (
        f"a single sample breaks it ({check.bound}), and it {say_has(check.samples)}; more break it sooner. "
        "A wider bound, or a rule on the mean"
    )


def _why_alone(check: CheckFacts) -> str:
    """Return why a check that judges one run blocks: the runs miss it, chance carries them across, or no proof."""
    runs = f"the runs themselves ({check.now})"
    if check.beyond == ["baseline"] and check.status is not Status.FAIL:
        return (
            f"the baseline lies beyond what it wants ({check.now}, {check.bound}), and a copy has answers of both "
            "runs; examine it on runs of the system as it is now"
        )
    if check.status is Status.FAIL or check.holds_plainly is False:
        return f"{runs} lie beyond what it wants ({check.bound}); move the limit, or mend the system first"
    if check.holds_plainly is None:
        return f"chance alone breaks it ({check.bound}); it {say_needs(check)}: more, or leave it more room"
    holds = f"{runs} keep it ({check.bound})"
    if check.blocks_unshown.count > check.fails.count:
        return (
            f"{holds}, but the interval reaches beyond, and it asks for proof (on_inconclusive: fail); "
            f"it {say_needs(check)}; leave it more room, or on_inconclusive: warn"
        )
    if check.summary.startswith("p"):
        what = f"a few answers near the {check.summary} carry copies across"
    else:
        what = "so near the limit that chance carries copies across"
    return f"{holds}, but {what}; it {say_needs(check)}; leave it more room, or ask more questions"


def _tell_gains(found: Examination) -> list[str]:
    return [
        f"{one.rule} asks for a gain ({one.bound}), which an unchanged system does not have: it blocks such a change "
        f"by design, and is left out of the numbers above. Of the runs as they are it says: {one.status.value}."
        for one in found.checks
        if one.kind == "improvement"
    ]


def _tell_missed(found: Examination) -> list[str]:
    """Say which places are not guarded, the worst first; a gate that blocks little else is told beside them."""
    places = missed(found)
    nothing_known = not found.blocked.of or _asks_for_gains_alone(found)
    if not places:
        quiet = found.no_noise and found.blocked.share <= MOST_BLOCKED
        return _say_caught(found) if nothing_known or quiet else []  # else it stands beside the false alarms
    ordered = sorted(places, key=lambda one: one.blocked.share if one.blocked is not None else 1.0)
    lines = [f"- {place_of(one.metric, one.slice)}: {_why_missed(one)}" for one in ordered]
    if _is_noisy(found):
        return ["These places are not guarded against a loss of 10 points.", *lines]
    (said,) = _say_caught(found)
    if not nothing_known and not found.no_noise and found.blocked.high <= MOST_BLOCKED:
        said += (
            f" That an unchanged system is blocked in {say_copies(found.blocked)} is good only of a gate that catches "
            "something."
        )
    return [said, *lines]


def _why_missed(power: PowerFacts) -> str:
    assert power.blocked is not None
    share = f"{100 * power.blocked.share:.0f} %" + (
        "" if power.of_range else ", where it gets worse by 10 % of itself"
    )
    if power.samples is None:
        return f"{share}; no rule compares it with the baseline just there"
    if power.allowed:
        return f"{share}; the rule there allows as much"
    if power.needs is None or power.needs <= power.samples:
        return f"{share}; {say_has(power.samples)}"
    return f"{share}; {say_has(power.samples)}, about {about(power.needs)} would catch it 4 times in 5"


def _tell_undecided(found: Examination) -> list[str]:
    checks = undecided(found)
    if not checks:
        return []
    lines = ["These checks settled nothing in any copy, whatever was put in."]
    return lines + [f"- {one.rule} ({place_of(one.metric, one.slice)}) {say_needs(one)}" for one in checks]
