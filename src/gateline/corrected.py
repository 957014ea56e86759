"""What people would say of a run or a gain: the judge's numbers corrected by people's labels of some samples.

Arrays in, numbers out; it reads no labels and holds nothing against a bound.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gateline.findings import Calibrated
from gateline.metric import Metric
from gateline.samples import Floats
from gateline.statistics import Paired, Settings

if TYPE_CHECKING:
    from gateline.comparison import Estimate
    from gateline.statistics.prediction_powered import PredictionPowered

Labels = tuple[Floats, Floats]
"""People's labels of both runs for each pair, NaN where nobody has looked."""


def correct_number(
    judge: Paired, people: Labels, metric: Metric, settings: Settings, *, alone: bool, level: float
) -> PredictionPowered | None:
    """Return the prediction-powered gain, or with `alone` the candidate's mean.

    None without a sample, and where a value has no end: nothing can be corrected then.
    """
    from gateline.statistics import prediction_powered as powered

    said = judge.candidate if alone else metric.sign * (judge.candidate - judge.baseline)
    human = people[1] if alone else metric.sign * (people[1] - people[0])
    if not len(said) or not np.isfinite(said).all():
        return None
    samples = powered.JudgedSamples(said, human, judge.cluster, judge.keys)
    if alone:
        return powered.prediction_powered_mean(samples, level=level, bounds=metric.range, settings=settings)
    return powered.prediction_powered_gain(samples, level=level, width=metric.width, settings=settings)


def correct_estimate(
    found: Estimate, judge: Paired, people: Labels, metric: Metric, settings: Settings, *, alone: bool
) -> Estimate:
    """Put what people would say in place of what the judge says; no number where people said nothing."""
    powered = correct_number(judge, people, metric, settings, alone=alone, level=settings.confidence)
    if powered is None:  # values as bad as can be, without a range
        return found
    told = Calibrated(
        baseline=found.baseline,
        candidate=found.candidate,
        gain=found.gain,
        labelled=powered.labelled,
        labelled_clusters=powered.labelled_clusters,
        trust=powered.trust,
    )
    nothing = replace(found, baseline=None, candidate=None, gain=None, relative_gain=None, calibration=told)
    if powered.value is None:
        return nothing
    if alone:
        return replace(nothing, candidate=powered.value)
    baseline, candidate = correct_sides(judge, people, metric, powered.trust)
    relative = powered.value / abs(baseline) if baseline else None
    return replace(
        nothing, baseline=baseline, candidate=candidate, gain=powered.value, relative_gain=relative
    )


def correct_sides(judge: Paired, people: Labels, metric: Metric, trust: float) -> tuple[float, float]:
    """Return baseline and candidate as people would see them; there must be a pair with labels of both runs.

    Both rest on the same labelled pairs and the same weight of the judge, so that they differ by the gain, but where
    the metric's range cuts one off.
    """
    both = ~np.isnan(people[0] + people[1])
    low, high = metric.range or (-np.inf, np.inf)

    def corrected(said: Floats, human: Floats) -> float:
        mean = human[both].mean() + trust * (said.mean() - said[both].mean())
        return float(min(max(mean, low), high))

    return corrected(judge.baseline, people[0]), corrected(judge.candidate, people[1])
