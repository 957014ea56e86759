"""Ratios of sums: questions whose denominator is gone no longer count, and nothing may pass for that.

An answer without a claim has no wrong one. It holds nothing against a bound; that is done before.
"""

from __future__ import annotations

from gateline.comparison import Comparison
from gateline.estimate import Estimate
from gateline.findings import Status
from gateline.remark import Said, said

BY_CHANCE = 0.025
"""How often as many or more would be gone where denominators come and go by chance."""


def find_emptied(comparison: Comparison, estimate: Estimate) -> Said | None:
    """Return a sentence where a ratio lost questions because their denominator became 0, else None.

    They are more than the policy lets be left out, after those that gained a denominator are taken off, and more
    than chance makes of as many that changed (sign test, one-sided; of reduced runs over groups of questions). None
    where the metric is no ratio.
    """
    from scipy.special import bdtr

    ratio, sides = comparison.metrics[estimate.metric].ratio, []
    if ratio is not None:
        sides = comparison.with_denominator(estimate.metric, estimate.slice)
    if ratio is None or len(sides) < 2:
        return None
    before, after = sides
    had, have = int(before.sum()), int(after.sum())
    gone, gained = int((before > after).sum()), int((before < after).sum())
    most = comparison.pairs.labels.terms.missing.drop_at_most * had
    if had - have <= most + 1e-9 or bdtr(gained, gone + gained, 0.5) > BY_CHANCE:
        return None
    return said("note.denominators-gone", field=ratio[1], had=str(had), have=str(have))


def mind_emptied(comparison: Comparison, estimate: Estimate, status: Status) -> tuple[Status, list[Said]]:
    """Return what a change may be called: what would pass is left open where denominators are gone.

    What is open anyway stays open and says so too, as its rule may let it through.
    """
    found = None if status is Status.FAIL else find_emptied(comparison, estimate)
    return (status, []) if found is None else (Status.INCONCLUSIVE, [found])
