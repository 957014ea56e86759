"""What of a slice is not known: nothing may pass because of it, and nothing may be let through without a word of it.

It holds nothing against a bound but at the worst; a rule does that before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.errors import NotComparable
from gateline.findings import Status
from gateline.remark import Said, said

if TYPE_CHECKING:
    from gateline.comparison import Comparison, Estimate
    from gateline.rules.base import Outcome, Rule


def say_none_usable(rule: Rule, comparison: Comparison, place: str | None) -> Said:
    """Return why there is nothing to judge: none of the values that there should be, or none was asked for."""
    asked = comparison.asked(rule.metric, place)
    return said("note.none-usable", count=asked) if asked else said("note.no-usable-sample")


def mind_left_out(rule: Rule, comparison: Comparison, estimate: Estimate, outcome: Outcome) -> None:
    """Let nothing pass because of what is not known, and note it where nothing is settled anyway.

    A hard rule must hold by value were every left-out value as bad as can be; else what is known settles nothing,
    and NotComparable is raised. Any other rule is inconclusive where it would not hold and more is left out of its
    slice than the policy allows; also where its interval settles nothing, since its rule may let that through.
    """
    looked_at = {Status.PASS} if rule.hard else {Status.PASS, Status.INCONCLUSIVE}
    if outcome.status not in looked_at:
        return
    lost = len(comparison.lost(rule.metric, estimate.slice))
    left_out = comparison.left_out(rule.metric, estimate.slice) + lost
    asked = comparison.asked(rule.metric, estimate.slice)
    too_many = left_out > comparison.pairs.labels.terms.missing.drop_at_most * asked + 1e-9
    if not left_out or not (rule.hard or too_many):
        return
    if not lost and _holds_at_worst(rule, comparison, estimate):
        return
    found = said("note.left-out", left_out=f"{left_out:.3g}", asked=str(asked))
    if rule.hard:
        subject: Said | str = rule.metric
        if estimate.slice:
            subject = said("finding.subject", metric=rule.metric, slice=estimate.slice)
        raise NotComparable(
            said("problem.hard-not-shown", rule=rule.id, subject=subject, reason=found),
            comparison.pairs.sides[-1].run.file,
            said("hint.hard-not-shown"),
        )
    outcome.status = Status.INCONCLUSIVE
    outcome.notes.append(found)


def _holds_at_worst(rule: Rule, comparison: Comparison, estimate: Estimate) -> bool:
    worst = comparison.if_worst()
    alone = rule.looks_at_candidate_alone()
    by_value = rule.model_copy(update={"decide_by": "value"})
    filled = worst.estimate(rule.metric, estimate.slice, candidate_alone=alone)
    return by_value.judge(worst, filled, 1).status is Status.PASS
