"""What follows from an examination, in sentences: what the gate blocks without reason, misses, and how to mend it.

It computes nothing but which counts are too high or too low.
"""

from __future__ import annotations

from gateline.doctor.facts import CheckFacts, Examination, PowerFacts
from gateline.figures import about
from gateline.findings import Status

MOST_BLOCKED = 0.05
"""Share of unchanged copies that a gate may block before people learn to ignore it."""
LEAST_CAUGHT = 0.5
"""Share of copies with a drop that must be caught for a place to count as guarded."""
DROP = 0.10
"""The drop that a guarded place catches."""


def conclude(found: Examination) -> list[str]:
    """Return what follows; a sentence that begins with a dash belongs to the one before."""
    told = [*_tell_blocked(found), *_tell_gains(found), *_tell_missed(found), *_tell_undecided(found)]
    if found.noise == "swapped" and (found.blocked.share > MOST_BLOCKED or missed(found)):
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
    return [check for check in found.checks if not check.decides and check.kind != "improvement"]


def missed(found: Examination) -> list[PowerFacts]:
    """Return the places in which a loss of 10 points is caught in less than half of the copies."""
    return [
        one
        for one in found.powers
        if one.drop == DROP and one.blocked is not None and one.blocked.share < LEAST_CAUGHT
    ]


def say_needs(check: CheckFacts) -> str:
    """Return how many samples a check has and would need, as far as that can be said."""
    if check.needs is None or check.needs <= check.samples:
        return f"has {check.samples:,} samples"
    return f"has {check.samples:,} samples, would need about {about(check.needs)}"


def _tell_blocked(found: Examination) -> list[str]:
    share = f"{100 * found.blocked.share:.1f} %"
    guilty = sorted(
        (one for one in found.checks if one.kind != "improvement" and _blocks(one) > MOST_BLOCKED),
        key=lambda one: -_blocks(one),
    )
    if found.blocked.share <= MOST_BLOCKED:
        return [f"An unchanged system is blocked in {share} of the copies: people can live with that."]
    lines = [
        f"An unchanged system is blocked in {share} of the copies; above 5 % people learn to ignore a gate."
    ]
    return lines + [f"- {one.rule} ({place_of(one.metric, one.slice)}) {_why_blocked(one)}" for one in guilty]


def _blocks(check: CheckFacts) -> float:
    return check.fails.share + check.blocks_unshown.share


def _why_blocked(check: CheckFacts) -> str:
    share = f"blocks {100 * _blocks(check):.1f} %"
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


def _why_alone(check: CheckFacts) -> str:
    """Return why a check that judges one run blocks: the runs miss it, chance carries them across, or no proof."""
    runs = f"the runs themselves ({check.now})"
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
    places = missed(found)
    if not places:
        least = min(
            (one.blocked.share for one in found.powers if one.drop == DROP and one.blocked is not None),
            default=None,
        )
        if least is None:
            return []
        return [
            f"What gets worse by 10 points is caught in {100 * least:.0f} % of the copies or more, wherever it is put."
        ]
    lines = [
        "What gets worse by 10 points is caught in less than half of the copies here: these places are not guarded."
    ]
    return lines + [f"- {place_of(one.metric, one.slice)}: {_why_missed(one)}" for one in places]


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
        return f"{share}; has {power.samples:,} samples"
    return f"{share}; has {power.samples:,} samples, about {about(power.needs)} would catch it 4 times in 5"


def _tell_undecided(found: Examination) -> list[str]:
    checks = undecided(found)
    if not checks:
        return []
    lines = ["These checks settled nothing in any copy, whatever was put in."]
    return lines + [f"- {one.rule} ({place_of(one.metric, one.slice)}) {say_needs(one)}" for one in checks]
