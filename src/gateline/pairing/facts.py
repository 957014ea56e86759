"""What pairing tells of the two runs, in the form that the verdict holds."""

from __future__ import annotations

from typing import Literal

from gateline.record import Record


class ChangedField(Record):
    """A fact of provenance in which the runs differ."""

    field: str
    baseline: str | None
    candidate: str | None
    rule: Literal["must_match", "may_change", "unlisted"]
    """Where the policy lists it."""


class LeftOutIds(Record):
    """Questions that only one run has."""

    samples: int
    ids: list[str]
    """At most 20 of them, sorted."""
    slices: dict[str, int]
    """How many of them stand in each slice."""
    passed: int | None = None
    """Of those with a pass/fail value of the policy's first metric, how many had passed; null where unknown."""


class LeftOutValues(Record):
    """Values of one metric in one run that could not be used, or that count as the worst."""

    metric: str
    run: Literal["baseline", "candidate"]
    slice: str | None
    """Null for the whole run."""
    cause: str
    """`no_answer`, `no_score`, `cached` or `price_unknown`."""
    counted_as: Literal["worst", "left out"]
    samples: int
    """How many questions."""
    of: int
    """Out of how many."""
    ids: list[str]
    """At most 5 of them, sorted."""


class IndependentRuns(Record):
    """How many questions each run has where they answered other questions."""

    baseline: int
    candidate: int
    baseline_slices: dict[str, int]
    """Questions of the baseline in each slice that a rule looks at."""
    candidate_slices: dict[str, int]
    """Questions of the candidate in each slice that a rule looks at."""


class Pairing(Record):
    """What was compared with what."""

    paired: int
    """Questions that both runs have (first run: that the candidate has; independent runs: 0)."""
    clusters: int
    """Independent groups among them."""
    attempts: bool
    """Whether a question stands in a run more than once."""
    identical: bool
    """Whether both files hold the same records."""
    carried_over: int = 0
    """Questions whose record in the candidate is the baseline's, measured times or ids of runs and all: they were not
    answered again. 0 where there are no more than chance explains."""
    only_in_baseline: LeftOutIds
    only_in_candidate: LeftOutIds
    no_answer: list[LeftOutValues]
    """The system under test failed."""
    no_score: list[LeftOutValues]
    """Nothing is known."""
    slices: dict[str, int]
    """Pairs in each slice that a rule looks at."""
    independent: IndependentRuns | None = None
    """Null where the runs answered the same questions."""
