"""Runs a policy on copies of paired runs and counts what it says.

Each copy has a generator of its own, keyed by seed and number, so that the counts do not depend on how the work is
shared out. It prints nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gateline.comparison import Comparison
from gateline.doctor.copies import Change, put_in, redo_answers, swap_sides
from gateline.errors import NotComparable
from gateline.findings import Finding, Status
from gateline.pairing import Pairs
from gateline.policy import Policy
from gateline.rules import Rule
from gateline.samples import Floats

Check = tuple[str, str | None]
"""Rule and slice."""

SHOWN, PROOF, PASSED, TRIED, BLOCKED = "fails", "blocks unshown", "passes", "tried", "blocked"


@dataclass(frozen=True)
class Ground:
    """What is tried: a policy on paired runs."""

    policy: Policy
    pairs: Pairs
    redone: float | None
    """None where two runs are swapped; else the share of answers of the one run that are made anew."""
    changes: Sequence[Change]
    seed: int
    families: Mapping[Check, int]
    """Checks that are judged, with the number of checks over which each one's interval is widened."""

    def asked(self, change: Change) -> list[tuple[Rule, str | None, int]]:
        """Return the checks that a drop is held against: those of its slice and of the whole run.

        A drop in the whole run is held against all checks of the metric. What an improvement asks for is no drop.
        """
        return [
            (rule, place, self.families[rule.id, place])
            for rule in self.policy.rules
            for place in self._places(rule.id)
            if rule.metric == change.metric
            and rule.kind != "improvement"
            and (change.slice is None or place in (None, change.slice))
        ]

    def _places(self, rule: str) -> list[str | None]:
        return [place for name, place in self.families if name == rule]


@dataclass
class Counts:
    """What was counted over copies; counts of two shares of the work can be added."""

    copies: int = 0
    no_verdict: int = 0
    reason: str | None = None
    """Why the first copy without a verdict had none."""
    false_alarms: int = 0
    unshown: int = 0
    lucky_gains: int = 0
    checks: Counter[tuple[Check, str]] = field(default_factory=Counter)
    changes: Counter[tuple[int, str]] = field(default_factory=Counter)
    """By position of the change: how often it was tried, how often a rule blocked, and failed."""
    settled: set[Check] = field(default_factory=set)

    def add(self, other: Counts) -> None:
        """Add the counts of other copies."""
        for name in ("copies", "no_verdict", "false_alarms", "unshown", "lucky_gains"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.reason = self.reason or other.reason
        self.checks += other.checks
        self.changes += other.changes
        self.settled |= other.settled


def try_copies(ground: Ground, numbers: Sequence[int], powers: int) -> Iterator[Counts]:
    """Return the counts of each copy in turn; a drop is put into those with a number below `powers`."""
    for number in numbers:
        counts = Counts(copies=1)
        generator = np.random.default_rng([ground.seed, number])
        pairs = make_copy(ground, generator)
        chances = generator.random(len(pairs.ids))
        _judge_copy(ground, pairs, counts)
        if number < powers:
            for position, change in enumerate(ground.changes):
                _judge_change(ground, position, change, pairs, chances, counts)
        yield counts


def judge(policy: Policy, pairs: Pairs, *, plans: bool = False) -> list[Finding]:
    """Return the findings of all rules, with `plans` also what each could show. Raises NotComparable like a gate."""
    comparison = Comparison(pairs, policy.metrics, policy.statistics, plans=plans)
    return [finding for rule in policy.rules for finding in rule.check(comparison)]


def make_copy(ground: Ground, generator: np.random.Generator) -> Pairs:
    """Return the pairs as they might have come out had nothing changed."""
    if ground.redone is None:
        return swap_sides(ground.pairs, generator)
    return redo_answers(ground.pairs, ground.redone, generator)


def _judge_copy(ground: Ground, pairs: Pairs, counts: Counts) -> None:
    try:
        findings = judge(ground.policy, pairs)
    except NotComparable as error:
        counts.no_verdict += 1
        counts.reason = error.problems[0].message
        return
    against = [one for one in findings if one.kind != "improvement"]
    gains = [one for one in findings if one.kind == "improvement"]
    shown = any(one.status is Status.FAIL for one in against)
    counts.false_alarms += shown
    counts.unshown += not shown and any(one.blocks for one in against)
    counts.lucky_gains += bool(gains) and all(one.status is Status.PASS for one in gains)
    for one in findings:
        check = (one.rule, one.slice)
        if one.status is Status.PASS:
            counts.checks[check, PASSED] += 1
            counts.settled.add(check)
        elif one.status is Status.FAIL:
            counts.checks[check, SHOWN] += 1
        elif one.blocks:
            counts.checks[check, PROOF] += 1


def _judge_change(
    ground: Ground, position: int, change: Change, pairs: Pairs, chances: Floats, counts: Counts
) -> None:
    """Put a drop into a copy and see whether the checks of that slice and of the whole run notice."""
    changed = put_in(change, pairs, ground.policy.metrics[change.metric], chances)
    if changed is None:
        return
    counts.changes[position, TRIED] += 1
    comparison = Comparison(changed, ground.policy.metrics, ground.policy.statistics, plans=False)
    blocked = shown = False
    try:
        for rule, place, family in ground.asked(change):
            estimate = comparison.estimate(
                rule.metric, place, candidate_alone=rule.looks_at_candidate_alone()
            )
            status = rule.settle(comparison, estimate, family).status
            shown |= status is Status.FAIL
            blocked |= status is Status.FAIL or (
                status is Status.INCONCLUSIVE and rule.if_inconclusive == "fail"
            )
            if status in (Status.PASS, Status.FAIL):
                counts.settled.add((rule.id, place))
    except NotComparable:
        blocked = True  # no verdict is no pass
    counts.changes[position, BLOCKED] += blocked
    counts.changes[position, SHOWN] += shown
