"""What was found out about a gate; all that its reports show."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gateline.findings import Status
from gateline.record import Record

SCHEMA = "gateline.doctor/1"


class Rate(Record):
    """How often something happened, with its own uncertainty."""

    count: int
    of: int
    share: float
    """`count` / `of`."""
    low: float
    """Lower end of the 95 % interval of Jeffreys (Brown, Cai and DasGupta 2001) that the number of copies allows."""
    high: float
    """Upper end of it."""


class CheckFacts(Record):
    """One check of the policy, on copies in which nothing changed."""

    rule: str
    kind: str
    metric: str
    slice: str | None
    hard: bool
    samples: int
    """Usable pairs."""
    at_least: int
    """Fewest with which the policy decides there; 0 where any number will do."""
    passes: Rate
    """Shown to hold."""
    fails: Rate
    """Shown not to hold though nothing changed."""
    blocks_unshown: Rate
    """Not settled, and blocks because the rule asks for proof."""
    visible_change: float | None
    """The smallest change that the check shows with 80 % power, in the unit of the number it judges."""
    allowed: float | None
    """The size of its bound in the same unit; null where it judges the candidate alone."""
    needs: int | None
    """About how many samples of the slice would show a change as small as the bound; null where it can't be said."""
    bound: str
    """What it allows or asks for, in words."""
    now: str
    """What the two runs have, as they are."""
    status: Status
    """What it says of the runs as they are."""
    summary: str
    """How a run is summed up: `mean`, `ratio`, `total`, `p50` … `p99`."""
    holds_plainly: bool | None
    """Whether the plain values of the runs as they are keep the bound; null where it judges no run alone."""
    beyond: list[Literal["baseline", "candidate"]]
    """The runs whose plain value lies beyond a bound on one run; empty where none does, or none is known."""
    decides: bool
    """Whether it settled anything: it passed in one copy at least, or failed with the largest drop put in."""


class PowerFacts(Record):
    """One drop that was put into one metric and slice."""

    metric: str
    slice: str | None
    drop: float
    """0 for none; share of the metric's range; of the candidate's own values where the metric has none."""
    of_range: bool
    """Whether the metric has a range."""
    blocked: Rate | None
    """How often a rule on this metric blocked; null where the metric has not so far to fall."""
    shown: Rate | None
    """How often one was shown to be broken, so that it did not block for want of proof alone."""
    samples: int | None
    """Usable pairs of the check that holds it against the baseline in just this place; null where none does."""
    allowed: bool
    """Whether that check lets it be."""
    needs: int | None
    """About how many pairs would show it to that check 80 times in 100; null where it is caught in half of the copies
    or more, or where it can't be said."""


class Examination(Record):
    """All that was found out."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    gateline: str
    policy: str
    """Name of the gate."""
    policy_file: str
    baseline: str
    candidate: str | None
    noise: Literal["swapped", "redone"]
    """Where the noise of the copies is from: the sides of the two runs swapped, or a share of answers made anew."""
    redone: float | None
    """The share of answers that was assumed to change; null where two runs show it."""
    questions: int
    clusters: int
    copies: int
    seed: int
    blocked: Rate
    """Copies that a rule other than an improvement blocks though nothing changed: false alarms and want of proof."""
    false_alarms: Rate
    """Copies in which a rule other than an improvement was shown to be broken though nothing changed."""
    unshown: Rate
    """Copies, of those without a false alarm, that blocked because a check asks for proof and had none."""
    lucky_gains: Rate | None
    """Copies in which all improvements that the policy asks for were shown though nothing changed; null without any."""
    always_blocks: list[str]
    """Rules that hold the candidate's own value and fail on the runs as they are."""
    no_verdict: int
    """Copies that had no verdict at all."""
    no_verdict_reason: str | None
    """Why the first of these had none."""
    no_noise: bool
    """Whether the two runs say the same of every question, so that nothing is known of chance."""
    judge_alone: list[str]
    """Metrics that people's labels correct in a check; copies have no labels, so the judge alone counts here."""
    waived: list[str]
    """Rules that a waiver of the policy lets through; no waiver is applied here."""
    checks: list[CheckFacts]
    powers: list[PowerFacts]
    conclusion: list[str]
    """What follows, in sentences; those that begin with a dash belong to the one before them."""
