"""What a verdict tells of questions that failed a hard rule or got worse. Records only; nothing is looked for here."""

from __future__ import annotations

from gateline.record import Record


class LostSample(Record):
    """A question that fails a hard rule, or got worse."""

    id: str
    baseline: float | None
    candidate: float | None
    gain: float | None
    slices: list[str]
    """The slices that rules look at and that hold it."""
    question: str | None = None
    """Only with `--with-excerpts`."""


class Losses(Record):
    """The questions that fail one hard rule on single samples, or that got worse in one metric."""

    metric: str
    rule: str | None
    """The hard rule; null for what got worse in the metric, looked at over the whole run."""
    slice: str | None
    """The slice of the hard rule."""
    width: float | None
    """Width of the metric's range; null without one."""
    number: int
    """How many there are."""
    samples: list[LostSample]
    """The worst of them, worst first: at most 1,000 of a rule, 100 of a metric."""
