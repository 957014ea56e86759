"""The number that people would see: the judge's with its error carried into it.

Two ways: the correction of Rogan and Gladen for pass/fail labels, and the prediction-powered mean. Both rest on the
samples that people looked at having been chosen without regard to what the judge says of them; whether the judge sees
the two parts alike is measured, because that much can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateline.audit.measures import Level, Measured, mean_of, measured
from gateline.corrected import find_unlike
from gateline.statistics.prediction_powered import ENOUGH_TO_TUNE, JudgedSamples, prediction_powered_mean
from gateline.statistics.rogan_gladen import correct_rate

ALL_LABELLED = "people have labelled every sample: their own number needs no correction"

FEW_LABELLED = (
    f"fewer than {ENOUGH_TO_TUNE} labelled clusters can't say how far to believe the judge: labels alone"
)


@dataclass(frozen=True)
class Correction:
    """What the judge says of all samples, what people say of some, and the two ways of putting them together."""

    samples: int
    """Samples with a judge's label."""
    labelled: int
    """Of these, samples with a human label too."""
    judge: Measured
    """The judge's mean over all its labels, uncorrected."""
    human: Measured
    """The mean of people's labels alone."""
    corrected_rate: Measured | None
    """Rogan and Gladen's; None where labels are not pass/fail."""
    prediction_powered: Measured
    trust: float
    """Weight of the judge in the prediction-powered mean, 0 to 1."""
    unlike: str = ""
    """How the labelled samples differ from the others in the judge's eyes; empty where they don't, or can't."""


def correct(
    samples: JudgedSamples, bounds: tuple[float, float], level: Level, *, pass_fail: bool
) -> Correction:
    """Return both corrections over the samples that the judge has a label for."""
    known = samples.has_label
    labelled = JudgedSamples(samples.judge[known], samples.human[known], samples.cluster[known], samples.keys)
    width = bounds[1] - bounds[0]
    limits = bounds if width > 0.0 else None
    powered = prediction_powered_mean(samples, level=level.confidence, bounds=limits, settings=level.settings)
    complete = bool(known.all())
    few = powered.labelled_clusters < ENOUGH_TO_TUNE
    return Correction(
        samples=known.size,
        labelled=int(known.sum()),
        judge=mean_of(samples.judge, samples, limits, level),
        human=mean_of(labelled.human, labelled, limits, level),
        corrected_rate=_corrected(samples, level) if pass_fail else None,
        prediction_powered=Measured(None, reason=ALL_LABELLED)
        if complete
        else measured(powered.value, powered.interval, known.size, FEW_LABELLED if few else ""),
        trust=0.0 if complete else powered.trust,
        unlike="" if complete else _find_unlike(samples, bounds, level),
    )


def _corrected(samples: JudgedSamples, level: Level) -> Measured:
    found = correct_rate(samples, level=level.confidence, seed=level.settings.seed)
    reason = found.reason or ("cut off at the end of 0 to 1" if found.cut_off else "")
    return measured(found.value, found.interval, samples.judge.size, reason)


def _find_unlike(samples: JudgedSamples, bounds: tuple[float, float], level: Level) -> str:
    """Say how the judge sees the labelled samples and the others differently, if the interval excludes 0."""
    means = find_unlike(samples, bounds, level=level.confidence, seed=level.settings.seed)
    if means is None:
        return ""
    return (
        f"the judge's mean is {means[0]:.3g} over the samples that people labelled and {means[1]:.3g} over "
        "the others: they may not be a random part, and then no correction holds"
    )
