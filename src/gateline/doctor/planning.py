"""What the checks of a gate could show, and how many questions would mend what they can't: planned on one copy.

Of one run held against itself no noise is known, and two systems differ by more than the copies do; a copy has the
noise that the copies have. It counts nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gateline.comparison import Comparison
from gateline.doctor.copies import Change, put_in
from gateline.doctor.trials import Check, Ground, judge, make_copy
from gateline.errors import NotComparable
from gateline.findings import Finding
from gateline.pairing import Pairs

_NUMBER = 2**32
"""Number of the copy; no other copy has it."""


@dataclass(frozen=True)
class Plans:
    """One copy of the runs, and what the gate says of it."""

    ground: Ground
    pairs: Pairs
    findings: dict[Check, Finding]

    @staticmethod
    def make(ground: Ground, findings: Sequence[Finding]) -> Plans:
        """Return the plans; those of `findings`, the runs as they are, where the copy has no verdict."""
        pairs = make_copy(ground, np.random.default_rng([ground.seed, _NUMBER]))
        try:
            planned: Sequence[Finding] = judge(ground.policy, pairs, plans=True)
        except NotComparable:
            planned = findings
        return Plans(ground, pairs, {(one.rule, one.slice): one for one in planned})

    def fewest(self, finding: Finding) -> int:
        """Return with how few samples a check may decide; 0 where any number will do."""
        (rule,) = (one for one in self.ground.policy.rules if one.id == finding.rule)
        return rule.fewest(self.pairs.labels.terms, finding.slice)[0]

    def looking(self, change: Change) -> list[Finding]:
        """Return the tolerances that hold a drop against the baseline in just its place."""
        return [
            one
            for one in self.findings.values()
            if one.kind == "tolerance"
            and one.samples
            and (one.metric, one.slice) == (change.metric, change.slice)
        ]

    def allows(self, change: Change) -> bool:
        """Return whether there is such a tolerance, and none of them is narrower than the drop."""
        looking = self.looking(change)
        return bool(looking) and all(self._beyond(change, one) <= 1e-12 for one in looking)

    def needed(self, change: Change) -> int | None:
        """Return about how many pairs would show the drop 80 times in 100; None where nothing is known of it.

        What a check shows 80 times in 100 shrinks with the root of the number; the part of the drop beyond what is
        allowed must be as large as that. The drop itself is put in first: it adds to the noise.
        """
        metric = self.ground.policy.metrics[change.metric]
        chances = np.random.default_rng([self.ground.seed, _NUMBER, 1]).random(len(self.pairs.ids))
        changed = put_in(change, self.pairs, metric, chances)
        if changed is None:
            return None
        comparison = Comparison(changed, self.ground.policy.metrics, self.ground.policy.statistics)
        needs = []
        for one in self.looking(change):
            beyond = self._beyond(change, one)
            if one.decide_by == "value" or beyond <= 1e-12:
                continue
            visible = comparison.smallest_visible_change(one.metric, one.slice, one.judged, one.family)
            if visible is not None:
                needed = math.ceil(one.samples * (visible / beyond) ** 2 - 1e-9)
                needs.append(max(needed, self.fewest(one)))
        return min(needs, default=None)

    def _beyond(self, change: Change, finding: Finding) -> float:
        """Return how far a drop goes beyond what a tolerance allows, in the unit that it judges."""
        width = self.ground.policy.metrics[change.metric].width
        before = abs(finding.baseline or 0.0)
        size = change.size * (width or before)
        if finding.judged == "relative_gain":
            size = size / before if before else 0.0
        return size - abs(finding.threshold or 0.0)
