"""What a rule found: one number of one metric in one slice, held against one bound.

A finding carries everything that a report shows, so that reports compute nothing. This module decides nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from gateline.metric import Layer
from gateline.record import Record
from gateline.remark import Remark


class Status(StrEnum):
    """The outcome of one check."""

    PASS = "pass"
    """The number, or its whole interval, lies on the good side of the bound."""
    WAIVED = "waived"
    """It does not, and a waiver that still counts lets it through."""
    SKIPPED = "skipped"
    """Not judged, for a stated reason: a small slice of a family, or no baseline yet."""
    INCONCLUSIVE = "inconclusive"
    """The data can't settle it."""
    FAIL = "fail"
    """The number, or its whole interval, lies on the bad side of the bound."""


Judged = Literal["gain", "relative_gain", "candidate"]
"""The number that is held against the bound."""

_TOO_SMALL = "note.small-slice"
"""Key of the note on a slice of a family that is too small to be judged."""
_LOST = frozenset({"note.left-out", "note.none-usable", "note.denominators-gone", "note.unknown-samples"})
"""Keys of notes on values that a check should have had and has not."""
_PLAINLY = 384
"""A hundred times the square of 1.96: chance alone lets worse pairs outnumber better ones by so much one time in 40."""

BoundText = float | str
"""A bound as the policy has it: a number in the metric's unit, or `10%`."""


class FoundInterval(Record):
    """The interval that decides, of the number that is judged."""

    of: Judged
    """Which number: the gain, the gain relative to the baseline, or the candidate's own value."""
    low: float | None
    """Lower end, in the number's unit (relative gain: a share, 0.1 is 10 %); null where it can't be estimated."""
    high: float | None
    """Upper end; null where it can't be estimated."""
    level: float
    """Two-sided confidence, after widening over the slices of the rule."""
    method: str
    """`bayesian`, `percentile`, `bca` or `order-statistic`."""
    resamples: int | None
    """Draws used; null where the distribution was evaluated exactly."""


class Calibrated(Record):
    """What the judge says without people's labels, where these correct the numbers of a finding."""

    baseline: float | None
    """The judge's value of the baseline, uncorrected."""
    candidate: float | None
    """The judge's value of the candidate, uncorrected."""
    gain: float | None
    """The judge's gain, uncorrected."""
    labelled: int
    """Samples that people labelled by chance (for a gain: in both runs)."""
    labelled_clusters: int
    """Independent groups among them."""
    trust: float
    """Weight of the judge, 0 (people alone) to 1 (as good as people)."""
    corrects: bool = True
    """Whether the labels count. Where they don't, a fail is the judge's own with its numbers, and anything else is
    inconclusive without numbers."""


Measure = Literal["agreement", "kappa", "bias", "sensitivity", "false_positive_rate", "separation"]
"""How a judge is measured against people."""


class UsedWaiver(Record):
    """The waiver that let a finding through."""

    up_to: float | str | None
    """The ceiling, in the unit of the rule's bound."""
    until: str
    """Last day that counts, as YYYY-MM-DD."""
    by: str
    """Who answers for it."""
    reason: str
    """Why."""


class Finding(Record):
    """One check of one rule."""

    rule: str
    """Id of the rule in the policy."""
    kind: str
    """`limit`, `every`, `tolerance`, `improvement` or `calibration`."""
    status: Status
    """The outcome."""
    blocks: bool
    """Whether this finding alone makes the verdict a fail."""
    hard: bool
    """Decided by the plain value, never waived."""
    metric: str
    """Name of the metric in the policy."""
    slice: str | None
    """Null for the whole run, the name of a named slice, or `label=value`."""
    direction: Literal["higher", "lower"]
    """Which way is better for the metric."""
    summary: str
    """How a run is summed up: `mean`, `ratio`, `total`, `p50` … `p99`."""
    show_as: Literal["number", "percent"]
    """How people read the metric."""
    unit: str | None
    """The metric's unit, such as `ms` or `USD`."""
    samples: int
    """Usable pairs in the slice (a limit: usable candidate samples)."""
    clusters: int
    """Independent groups among them."""
    baseline: float | None
    """The baseline's summary over the usable pairs."""
    candidate: float | None
    """The candidate's summary over the same pairs."""
    gain: float | None
    """How much better the candidate is, in the metric's unit; negative is worse, for latency as for accuracy."""
    relative_gain: float | None
    """The gain as a share of the baseline; null where the baseline is 0."""
    judged: Judged
    """Which of the three numbers the bound holds."""
    threshold: float | None
    """The bound as a value of the number that is judged: a gain at least this, or a candidate at least or at most
    this. For two bounds, the one that is breached last."""
    interval: FoundInterval | None
    """The interval of the number that is judged; null where there is none."""
    better: int | None
    """Pairs in which the candidate is better."""
    worse: int | None
    """Pairs in which it is worse."""
    same: int | None
    """Pairs that are equal."""
    decide_by: Literal["value", "interval"]
    """What is held against the bound."""
    on_inconclusive: Literal["fail", "warn", "pass"]
    """What an inconclusive outcome does."""
    at_most: BoundText | list[BoundText] | None = None
    """The bound as the policy has it, under its name there."""
    at_least: BoundText | list[BoundText] | None = None
    """The bound as the policy has it, under its name there."""
    worse_by_at_most: BoundText | list[BoundText] | None = None
    """The bound as the policy has it, under its name there."""
    better_by_at_least: BoundText | list[BoundText] | None = None
    """The bound as the policy has it, under its name there."""
    family: int
    """Checks of this rule over which the interval was widened; 1 when it stands alone."""
    smallest_visible_change: float | None
    """The smallest change that this slice could show with 80 % power, in the unit of the number that is judged."""
    samples_needed: int | None
    """About how many samples would settle an inconclusive check; null where more would not help."""
    failing: list[str] = Field(default_factory=list)
    """`every`: ids of samples that miss the bound, worst first (at most 20)."""
    failing_count: int | None = None
    """`every`: how many samples miss the bound."""
    notes: list[str] = Field(default_factory=list)
    """Plain sentences that belong to the number, in English: how it was made, why it is not judged."""
    notes_said: list[Remark | None] = Field(default_factory=list)
    """The same by key and values, in the same order; null for one that has only its text."""
    line: int
    """Line of the rule in the policy file."""
    layer: Layer | None = None
    """The part of a RAG system that the metric looks at; null where neither policy nor name tells."""
    message: str = ""
    """The finding in one English sentence."""
    baseline_samples: int | None = None
    """Usable samples of the baseline where the runs answered other questions; then `samples` and `clusters` are those
    of the candidate. Null where samples are pairs."""
    calibration: Calibrated | None = None
    """The judge's own numbers and how many labels of people there are; null where the policy names no labels."""
    measure: Measure | None = None
    """`calibration`: what of the judge is measured; it stands in `candidate`."""
    waiver: UsedWaiver | None = None
    """The waiver that let it through."""

    @property
    def bound(self) -> tuple[str, BoundText | list[BoundText]] | None:
        """Return the bound's policy name and its value as the policy has it."""
        for name in ("at_most", "at_least", "worse_by_at_most", "better_by_at_least"):
            value = getattr(self, name)
            if value is not None:
                return name, value
        return None

    @property
    def missed_by(self) -> float:
        """Return by how much the judged number misses its threshold, in units of the threshold; 0 or less: not.

        Where a slice was too small to be judged, it is held against the bound as the policy has it.
        """
        value = getattr(self, self.judged)
        threshold = self._threshold_in_words() if self.is_too_small else self.threshold
        if value is None or threshold is None:
            return 0.0
        missed = value - threshold if self.at_most is not None else threshold - value
        return float(missed / max(abs(threshold), 1e-3))

    @property
    def is_too_small(self) -> bool:
        """Return whether it was not judged because its slice has too few samples."""
        return self.status is Status.SKIPPED and any(
            remark is not None and remark.key == _TOO_SMALL for remark in self.notes_said
        )

    @property
    def fell_unjudged(self) -> bool:
        """Return whether a slice too small to be judged fell plainly."""
        return self.is_too_small and self.fell_plainly

    @property
    def fell_plainly(self) -> bool:
        """Return whether it fell further than its rule allows, and not by a few pairs; whatever its interval says.

        Far more pairs got worse than better: McNemar's statistic with the continuity correction of Edwards (1948),
        at 1.96. It settles nothing: a check that so fell and does not block is told, not judged.
        """
        if self.gain is None or self.worse is None or self.better is None:
            return False
        more = self.worse - self.better - 1
        is_plain = more > 0 and 100 * more**2 >= _PLAINLY * (
            self.worse + self.better
        )  # in whole numbers of any size
        return is_plain and self.gain < 0 and self.missed_by > 0

    @property
    def warns(self) -> bool:
        """Return whether people should look at it though it does not block."""
        return (
            self.status is Status.WAIVED
            or self.fell_unjudged
            or (
                self.status is Status.INCONCLUSIVE
                and not self.blocks
                and (self.on_inconclusive == "warn" or self.lost_evidence)
            )
        )

    @property
    def lost_evidence(self) -> bool:
        """Return whether it is not settled and values are missing that it should rest on.

        A rule may let through what so few samples can't show; what was not shown to it is another thing.
        """
        return self.status is Status.INCONCLUSIVE and any(
            remark is not None and remark.key in _LOST for remark in self.notes_said
        )

    def _threshold_in_words(self) -> float | None:
        """Return the bound as the policy has it, as a value of the number that would be judged; None for odd words."""
        name, written = self.bound or ("", [])
        parts = written if isinstance(written, list) else [written]
        of_baseline = name in ("worse_by_at_most", "better_by_at_least")
        if not parts or (of_baseline and self.baseline is None):
            return None
        try:
            sizes = [
                float(one.rstrip(" %")) / 100 * (abs(self.baseline or 0.0) if of_baseline else 1.0)
                if isinstance(one, str)
                else float(one)
                for one in parts
            ]
        except ValueError:
            return None
        return -max(sizes) if name == "worse_by_at_most" else min(sizes)  # of two, both must be breached
