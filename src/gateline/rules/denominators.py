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
    than chance makes of as many that changed (sign test, one-sided). None where the metric is no ratio.
    """
    from scipy.special import bdtr

    ratio, values = comparison.metrics[estimate.metric].ratio, comparison.pairs.metrics.get(estimate.metric)
    if ratio is None or values is None or values.baseline is None:
        return None
    before, after = values.baseline.weight, values.candidate.weight
    if before is None or after is None:
        return None
    rows = comparison.rows(estimate.metric, estimate.slice)
    gone = int(((before[rows] > 0) & (after[rows] == 0)).sum())
    gained = int(((before[rows] == 0) & (after[rows] > 0)).sum())
    had = int((before[rows] > 0).sum())
    most = comparison.pairs.labels.terms.missing.drop_at_most * had
    if gone - gained <= most + 1e-9 or bdtr(gained, gone + gained, 0.5) > BY_CHANCE:
        return None
    return said("note.denominators-gone", field=ratio[1], gone=str(gone), had=str(had))


def mind_emptied(comparison: Comparison, estimate: Estimate, status: Status) -> tuple[Status, list[Said]]:
    """Return what a change may be called: what would pass is left open where denominators are gone."""
    found = find_emptied(comparison, estimate) if status is Status.PASS else None
    return (status, []) if found is None else (Status.INCONCLUSIVE, [found])
