"""The rate that a judge of known error would have seen as it did: the correction of Rogan and Gladen.

A judge with sensitivity a and false-positive rate b sees a rate f as b + (a − b)·f, so f = (seen − b)/(a − b)
(Rogan and Gladen 1978, American Journal of Epidemiology 107). Unlike the prediction-powered estimate it supposes that
a and b are the same wherever it is used, which a new system under test may break. Where a and b can't be told apart,
nothing can be corrected, and the result says so rather than divide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateline.statistics.end_points import adjusted_deviate
from gateline.statistics.interval import Interval
from gateline.statistics.mean_differences import ClusterMean, Floats, difference_ends
from gateline.statistics.merged_draws import MergedRows, draw_ends
from gateline.statistics.prediction_powered import JudgedSamples

_DO_NOT_HOLD = "no rate from 0 to 1 would make this judge see what it saw: elsewhere its errors are others"
_BEYOND = 1e9
"""A rate beyond all that is possible; finite, so that a quantile beside it can be interpolated."""


@dataclass(frozen=True, slots=True)
class Separation:
    """Sensitivity − false-positive rate (Youden's J), 0 for a judge that flips a coin, with its interval.

    None where a class has no label, with the reason.
    """

    value: float | None
    interval: Interval | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """The corrected rate, 0 to 1, with its interval; None with the reason where nothing can be corrected.

    `cut_off` says that the formula left 0 … 1 and was brought back.
    """

    value: float | None
    interval: Interval | None
    cut_off: bool = False
    reason: str = ""


def expected_judge_rate(rate: float, sensitivity: float, false_positive_rate: float) -> float:
    """Return the rate that a judge sees where the true one is `rate`: b + (a − b)·f."""
    return false_positive_rate + (sensitivity - false_positive_rate) * rate


def corrected_rate(seen: float, sensitivity: float, false_positive_rate: float) -> float | None:
    """Return the true rate behind a judged one, not cut off at 0 and 1; None where a = b."""
    separation = sensitivity - false_positive_rate
    return (seen - false_positive_rate) / separation if separation != 0.0 else None


def measure_separation(samples: JudgedSamples, *, level: float, seed: int) -> Separation:
    """Return sensitivity − false-positive rate of a judge of 0 and 1, over the samples that people labelled.

    The interval is the Bayesian bootstrap over clusters with end points 0 and 1 for each rate; None with fewer than
    2 clusters of either class.
    """
    sums = _Counts.of(samples)
    for count, word in ((sums.positives, "1"), (sums.negatives, "0")):
        if not count.any():
            return Separation(None, None, f"no sample with the human label {word}")
    false_positives = ClusterMean(sums.false_positives, sums.negatives, (0.0, 1.0))
    true_positives = ClusterMean(sums.true_positives, sums.positives, (0.0, 1.0))
    value = true_positives.value - false_positives.value
    if min(false_positives.clusters, true_positives.clusters) < 2:
        return Separation(value, None, "fewer than 2 clusters in one of the classes")
    ends = difference_ends(false_positives, true_positives, level=level, seed=seed)
    low, high = max(min(ends.low, value), -1.0), min(max(ends.high, value), 1.0)
    return Separation(value, Interval(low, high, level, "bayesian", ends.draws or None, ends.notes))


def correct_rate(samples: JudgedSamples, *, level: float, seed: int) -> CorrectedRate:
    """Return the rate of 1 that people would see, from the judged rate of all samples.

    Args:
        samples: judge and human labels of 0 and 1; sensitivity and false-positive rate come from the labelled ones,
            the judged rate from all.
        level: two-sided confidence, above 0.5.
        seed: of the draws.

    Returns:
        The rate, cut off at 0 and 1. There is none unless the interval of sensitivity − false-positive rate lies
        above 0. The interval draws all three rates together, with end points of 0 and 1 for each; a draw in which
        the judge is no better than chance counts one half beyond either end.
    """
    separation = measure_separation(samples, level=level, seed=seed)
    if separation.value is None or separation.interval is None:
        return CorrectedRate(None, None, reason=separation.reason)
    if separation.interval.low is None or separation.interval.low <= 0.0:
        return CorrectedRate(None, None, reason="the judge is not shown to be better than chance")
    sums = _Counts.of(samples)
    columns = np.column_stack(
        [sums.true_positives, sums.positives, sums.false_positives, sums.negatives, sums.seen, sums.count]
    )
    shares = [
        columns[:, place].sum() / max(columns[:, place + 1].sum(), 1.0) for place in (0, 2, 4)
    ]  # a, b and the judged rate
    found = corrected_rate(float(shares[2]), float(shares[0]), float(shares[1]))
    if found is None:
        return CorrectedRate(None, None, reason="the judge is not shown to be better than chance")
    value = min(max(found, 0.0), 1.0)
    ends = np.zeros((6, 6))
    for place in (0, 2, 4):
        size = float(columns[:, place + 1].sum()) / int(np.count_nonzero(columns[:, place + 1]))
        ends[place, [place, place + 1]] = size
        ends[place + 1, place + 1] = size
    clusters = min(int(np.count_nonzero(columns[:, place])) for place in (1, 3))
    deviate = adjusted_deviate(level, clusters)
    drawn = draw_ends(MergedRows.of(columns, ends), _correct_draws, deviate, seed=seed)
    if drawn.high <= 0.0 or drawn.low >= 1.0:
        return CorrectedRate(None, None, reason=_DO_NOT_HOLD)
    low, high = max(min(drawn.low, value), 0.0), min(max(drawn.high, value), 1.0)
    interval = Interval(low, high, level, "bayesian", drawn.draws, drawn.notes)
    return CorrectedRate(value, interval, cut_off=value != found)


def _correct_draws(sums: Floats) -> Floats:
    """Return draws of the corrected rate twice, far below and above where a draw can't be corrected: (2, draws)."""
    sensitivity, false_positive_rate, seen = (sums[place] / sums[place + 1] for place in (0, 2, 4))
    separation = sensitivity - false_positive_rate
    usable = separation > 0.0
    rate = (seen - false_positive_rate) / np.where(usable, separation, 1.0)
    return np.stack([np.where(usable, rate, -_BEYOND), np.where(usable, rate, _BEYOND)])


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts of each cluster (m)."""

    true_positives: Floats
    positives: Floats
    false_positives: Floats
    negatives: Floats
    seen: Floats
    count: Floats

    @staticmethod
    def of(samples: JudgedSamples) -> _Counts:
        _, member = np.unique(samples.cluster, return_inverse=True)
        said_yes, yes, no = samples.judge == 1.0, samples.human == 1.0, samples.human == 0.0

        def total(rows: object) -> Floats:
            return np.bincount(member, np.asarray(rows, dtype=np.float64)).astype(np.float64)

        return _Counts(
            total(yes & said_yes), total(yes), total(no & said_yes), total(no), total(said_yes),
            total(np.ones(member.size)),
        )  # fmt: skip
