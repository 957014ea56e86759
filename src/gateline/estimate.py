"""What is known of one metric in one slice: its values, their gain, and on how many samples they rest.

It computes nothing and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateline.findings import Calibrated, Judged


@dataclass(frozen=True)
class Estimate:
    """One metric in one slice, summed up."""

    metric: str
    slice: str | None
    samples: int
    """Usable pairs (of a candidate's own value: usable candidate samples)."""
    clusters: int
    baseline: float | None
    """None where there is no baseline, or its value rests on other samples than the candidate's."""
    candidate: float | None
    gain: float | None
    relative_gain: float | None
    """Gain as a share of the baseline's size; None where that is 0."""
    better: int | None
    worse: int | None
    same: int | None
    size: float = 0.0
    """The summary of the values without their signs, of the greater side: what rounding grows with."""
    calibration: Calibrated | None = None
    """The judge's own numbers, where people's labels are to correct those above."""

    def size_of(self, judged: Judged) -> float:
        """Return the size in the unit of the number that is judged."""
        return self.size / abs(self.baseline) if judged == "relative_gain" and self.baseline else self.size
