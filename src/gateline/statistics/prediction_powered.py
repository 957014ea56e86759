"""Prediction-powered inference: people's labels where there are some, a judge's everywhere.

The estimate is the judge's mean over all samples, weighed by how far the judge is to be believed, plus what people
say more than that on the samples they labelled (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382;
the weight: Angelopoulos, Duchi and Zrnic 2023, PPI++). A judge that is wrong in a constant way does no harm, and one
that knows nothing gets the weight 0. The labelled samples must be chosen at random, or by something that has nothing
to do with how wrong the judge is; nothing here can check that.

Arrays in, an estimate out: no files, no policies, no rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateline.statistics.end_points import ENOUGH_DIFFER, MORE_TO_COME
from gateline.statistics.interval import Interval
from gateline.statistics.mean_differences import ClusterMean, difference_ends
from gateline.statistics.pairs import place_clusters
from gateline.statistics.settings import Settings

Floats: TypeAlias = NDArray[np.float64]
Keys: TypeAlias = NDArray[np.uint64]
Bounds: TypeAlias = tuple[float | None, float | None]

ENOUGH_TO_TUNE = 10
"""Labelled clusters from which on the weight of the judge is estimated; with fewer it is 0."""
_SAME = 1e-12


@dataclass(frozen=True)
class JudgedSamples:
    """What a judge says of n samples, and what people say of some of them.

    `judge` (n) holds no NaN; `human` (n) is NaN where nobody has looked. Both are values of one run, or gains of the
    candidate over the baseline (above 0 where it is better). `cluster[i]` is the code of the cluster of sample i, an
    index into `keys`. A sample that the judge could not score must be left out before: it is in neither mean.
    """

    judge: Floats
    human: Floats
    cluster: NDArray[np.int64]
    keys: Keys

    def __post_init__(self) -> None:
        """Refuse a judge without a value."""
        if not np.isfinite(self.judge).all():
            raise ValueError("a sample without a judge's value has no place here")

    @cached_property
    def has_label(self) -> NDArray[np.bool_]:
        """Whether people have looked at each sample (n)."""
        known: NDArray[np.bool_] = ~np.isnan(self.human)
        return known

    @cached_property
    def sums(self) -> _Sums:
        """The sums of each cluster, in the order of the keys."""
        return _Sums.of(self)


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A prediction-powered estimate, and the two numbers it stands between.

    `value` is None where no sample has a label. `judge` is the judge's mean over all samples, `human` the mean of
    the labels, `rectifier` the mean of human − judge where both are known (the judge's bias with its sign turned).
    `trust` is the weight of the judge, 0 to 1: 0 below `ENOUGH_TO_TUNE` labelled clusters, unless the caller set it.
    The interval is None below 2 labelled clusters.
    """

    value: float | None
    interval: Interval | None
    judge: float
    human: float | None
    rectifier: float | None
    trust: float
    samples: int
    labelled: int
    labelled_clusters: int


def prediction_powered_gain(
    samples: JudgedSamples,
    *,
    level: float,
    width: float | None,
    settings: Settings,
    trust: float | None = None,
) -> PredictionPowered:
    """Return the gain of a candidate that people would see.

    Args:
        samples: gains of each pair, by the judge and, where there are labels of both runs, by people.
        level: two-sided confidence, above 0.5.
        width: width of the metric's range, None where it has none.
        settings: the seed; used below 10 labelled clusters only, where the interval is drawn.
        trust: the weight of the judge; None means to estimate it (`tune_trust`).

    Returns:
        The estimate in the unit of the metric. Its end points: those of the judge's gain as in `gain_interval`, and
        those of the rectifier at what is possible while fewer than 10 labelled clusters disagree, else at the
        largest distance seen.
    """
    possible = None if width is None else (-width, width)
    return _estimate(samples, level=level, bounds=possible, of_gain=True, settings=settings, trust=trust)


def prediction_powered_mean(
    samples: JudgedSamples,
    *,
    level: float,
    bounds: Bounds | None,
    settings: Settings,
    trust: float | None = None,
) -> PredictionPowered:
    """Return the mean of one run that people would see.

    As `prediction_powered_gain`, with the metric's range as `bounds` (None for an end that it lacks). Estimate and
    interval are cut off at the range. With a weight of 0 the interval is that of `value_interval` for the labels
    alone.
    """
    known = None
    if bounds is not None and bounds[0] is not None and bounds[1] is not None:
        known = (bounds[0], bounds[1])
    found = _estimate(samples, level=level, bounds=known, of_gain=False, settings=settings, trust=trust)
    return _cut_off(found, bounds or (None, None))


def tune_trust(samples: JudgedSamples) -> float:
    """Return the weight of the judge that makes the interval narrowest: 0 for useless, 1 for as good as people.

    The slope of people's values on the judge's over labelled clusters, cut off at 0 and 1. With the judge's mean
    taken over all samples, labelled ones included, it is the plug-in weight of PPI++ (Angelopoulos, Duchi and Zrnic
    2023, section 6), which counts the unlabelled ones alone and so has the factor 1/(1 + n/N) beside it. It is 0
    below 10 labelled clusters, where a slope would fit noise, and where every sample has a label.
    """
    sums = samples.sums
    if sums.labelled_clusters < ENOUGH_TO_TUNE or samples.has_label.all():
        return 0.0
    human = sums.human - sums.human.sum() / sums.labelled.sum() * sums.labelled
    judge = sums.judge_labelled - sums.judge_labelled.sum() / sums.labelled.sum() * sums.labelled
    below = float(judge @ judge)
    if below <= _SAME * float(sums.judge_labelled @ sums.judge_labelled):
        return 0.0
    return min(max(float(human @ judge) / below, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums per cluster (m), in the order of the keys: how the samples stood in the file leaves no trace."""

    count: Floats
    labelled: Floats
    judge: Floats
    judge_labelled: Floats
    human: Floats
    disagreeing: int  # labelled clusters with a sample that people and judge see differently
    judge_differing: int  # clusters with a judge's value that is not 0

    @staticmethod
    def of(samples: JudgedSamples) -> _Sums:
        used, member = place_clusters(samples.cluster, samples.keys)
        known = samples.has_label
        human = np.where(known, samples.human, 0.0)

        def total(values: Floats) -> Floats:
            return np.bincount(member, values, minlength=used.size).astype(np.float64)

        def clusters_with(rows: NDArray[np.bool_]) -> int:
            return int(np.unique(member[rows]).size)

        largest = float(np.max(np.abs(np.concatenate([samples.judge, human])), initial=0.0))
        return _Sums(
            count=total(np.ones(member.size)),
            labelled=total(known.astype(np.float64)),
            judge=total(samples.judge),
            judge_labelled=total(np.where(known, samples.judge, 0.0)),
            human=total(human),
            disagreeing=clusters_with(known & (np.abs(human - samples.judge) > _SAME * largest)),
            judge_differing=clusters_with(np.abs(samples.judge) > _SAME * largest),
        )

    @property
    def labelled_clusters(self) -> int:
        return int(np.count_nonzero(self.labelled))


def _estimate(
    samples: JudgedSamples,
    *,
    level: float,
    bounds: tuple[float, float] | None,
    of_gain: bool,
    settings: Settings,
    trust: float | None,
) -> PredictionPowered:
    if samples.judge.size == 0:
        return PredictionPowered(None, None, float("nan"), None, None, 0.0, 0, 0, 0)
    sums, known = samples.sums, samples.has_label
    judge, labelled = float(samples.judge.mean()), int(known.sum())
    if labelled == 0:
        return PredictionPowered(None, None, judge, None, None, 0.0, known.size, 0, 0)
    tuned = trust is None
    weight = tune_trust(samples) if trust is None else trust
    human = float(samples.human[known].mean())
    judge_labelled = float(samples.judge[known].mean())
    value = human + weight * (judge - judge_labelled)
    interval = None
    if sums.labelled_clusters >= 2:
        # The difference of two means over the same clusters: weight·judge over all, less what to take off it.
        seen = (samples.judge, samples.human[known])
        excess = ClusterMean(
            weight * sums.judge_labelled - sums.human,
            sums.labelled,
            _ends_of_excess(sums, weight, bounds, seen, full=weight == 0.0 and not of_gain),
            fitted=int(tuned and 0.0 < weight < 1.0),
        )
        everywhere = ClusterMean(
            weight * sums.judge, sums.count, _ends_of_judge(sums, weight, bounds, seen, of_gain=of_gain)
        )
        ends = difference_ends(excess, everywhere, level=level, seed=settings.seed)
        low, high = min(ends.low, value), max(ends.high, value)
        interval = Interval(low, high, level, "bayesian", ends.draws or None, ends.notes)
    return PredictionPowered(
        value=value,
        interval=interval,
        judge=judge,
        human=human,
        rectifier=human - judge_labelled,
        trust=weight,
        samples=known.size,
        labelled=labelled,
        labelled_clusters=sums.labelled_clusters,
    )


def _ends_of_excess(
    sums: _Sums,
    weight: float,
    bounds: tuple[float, float] | None,
    seen: tuple[Floats, Floats],
    *,
    full: bool,
) -> tuple[float, float]:
    """Return the end points of weight·judge − human: what is possible, or what was seen where enough disagree."""
    some = sums.labelled > 0.0
    excess = (weight * sums.judge_labelled - sums.human)[some] / sums.labelled[some]
    centre = float((weight * sums.judge_labelled - sums.human).sum() / sums.labelled.sum())
    distance = float(np.abs(excess - centre).max())
    if bounds is None:
        return _ends_without_range(centre, distance, sums.labelled_clusters, seen)
    possible = (weight * bounds[0] - bounds[1], weight * bounds[1] - bounds[0])
    width = bounds[1] - bounds[0]
    if full or sums.disagreeing < ENOUGH_DIFFER or distance <= 1e-9 * width:
        return possible
    return max(centre - distance, possible[0]), min(centre + distance, possible[1])


def _ends_of_judge(
    sums: _Sums,
    weight: float,
    bounds: tuple[float, float] | None,
    seen: tuple[Floats, Floats],
    *,
    of_gain: bool,
) -> tuple[float, float]:
    """Return the end points of weight·judge: as `value_interval` and `gain_interval` have them."""
    if weight == 0.0:
        return 0.0, 0.0
    means = sums.judge / sums.count
    centre = float(sums.judge.sum() / sums.count.sum())
    distance = float(np.abs(means - centre).max())
    if bounds is None:
        low, high = _ends_without_range(centre, distance, sums.count.size, seen)
    elif not of_gain or sums.judge_differing < ENOUGH_DIFFER or distance <= 1e-9 * bounds[1]:
        low, high = bounds
    else:
        low, high = max(centre - distance, bounds[0]), min(centre + distance, bounds[1])
    return weight * low, weight * high


def _ends_without_range(
    centre: float, distance: float, clusters: int, seen: tuple[Floats, Floats]
) -> tuple[float, float]:
    largest = max(float(np.abs(values).max(initial=0.0)) for values in seen)
    reach = distance * (1.0 + MORE_TO_COME / clusters**0.5) if distance > _SAME * largest else largest
    return centre - reach, centre + reach


def _cut_off(found: PredictionPowered, bounds: Bounds) -> PredictionPowered:
    def within(number: float | None) -> float | None:
        if number is None:
            return None
        least, most = bounds
        number = number if least is None else max(number, least)
        return number if most is None else min(number, most)

    interval = found.interval
    if interval is not None:
        interval = replace(interval, low=within(interval.low), high=within(interval.high))
    return replace(found, value=within(found.value), interval=interval)
