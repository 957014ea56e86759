"""What people would say of a run or a gain: the judge's numbers corrected by people's labels of some samples.

Arrays in, numbers out, and whether there are labels enough, of these answers and chosen by chance, for them to count.
It reads no labels and holds nothing against a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gateline.calibration import Flags, PeopleLabels
from gateline.estimate import Estimate
from gateline.findings import Calibrated
from gateline.metric import Metric
from gateline.remark import Said, said
from gateline.samples import Floats
from gateline.statistics import Interval, Paired, Settings

if TYPE_CHECKING:
    from gateline.statistics.prediction_powered import JudgedSamples, PredictionPowered

BY_CHANCE, BY_CHANCE_IN_A_SLICE = 0.99, 0.999
"""Confidence with which the judge must see the labelled samples differently for them to be no random part; more in
slices, of which there are many."""


@dataclass(frozen=True)
class Correction:
    """A prediction-powered number, and why it must not be used."""

    powered: PredictionPowered
    lack: Said | None
    """What people's labels lack for the number to count; None where they lack nothing."""

    def interval(self) -> tuple[Interval | None, list[Said]]:
        """Return the interval of a number that counts, else nothing and why."""
        if self.lack is not None:
            return None, [self.lack]
        if self.powered.interval is None:
            return None, [said("note.too-few-labels", count=self.powered.labelled_clusters, least="2")]
        return self.powered.interval, []


def correct_number(
    judge: Paired, people: PeopleLabels, metric: Metric, settings: Settings, *, place: str | None, alone: bool,
    level: float,
) -> Correction | None:  # fmt: skip
    """Return the prediction-powered gain, or with `alone` the candidate's mean, in the slice `place`.

    None without a sample, and where a value has no end: nothing can be corrected then.
    """
    from gateline.statistics import prediction_powered as powered

    seen, human = _by_judge_and_people(judge, people, metric, alone=alone)
    if not len(seen) or not np.isfinite(seen).all():
        return None
    samples = powered.JudgedSamples(seen, human, judge.cluster, judge.keys)
    away = people.candidate_elsewhere if alone else people.candidate_elsewhere | people.baseline_elsewhere
    bounds = metric.range if alone or metric.width is None else (-metric.width, metric.width)
    lack = find_lack(samples, away, people, bounds, settings, place)
    if alone:
        found = powered.prediction_powered_mean(samples, level=level, bounds=metric.range, settings=settings)
    else:
        found = powered.prediction_powered_gain(samples, level=level, width=metric.width, settings=settings)
    return Correction(found, lack)


def find_lack(
    samples: JudgedSamples,
    away: Flags,
    people: PeopleLabels,
    bounds: tuple[float, float] | None,
    settings: Settings,
    place: str | None,
) -> Said | None:
    """Return what people's labels lack to speak for all n samples: number, answers, chance, or the judge's direction.

    `away` (n) says of which samples there is a label of another answer than is judged; `bounds` is the range of the
    judge's numbers.
    """
    labelled, clusters = int(samples.has_label.sum()), samples.sums.labelled_clusters
    elsewhere = int((away & ~samples.has_label).sum())
    if elsewhere > people.elsewhere_at_most * (labelled + elsewhere):
        return said("note.labels-elsewhere", count=elsewhere, labels=str(labelled + elsewhere))
    if clusters < people.at_least:
        return said("note.too-few-labels", count=clusters, least=str(people.at_least))
    level = BY_CHANCE if place is None else BY_CHANCE_IN_A_SLICE
    unlike = find_unlike(samples, bounds, level=level, seed=settings.seed)
    if unlike is not None:
        return said("note.labels-not-by-chance", labelled=f"{unlike[0]:.3g}", others=f"{unlike[1]:.3g}")
    return _find_contradiction(samples, level)


def _find_contradiction(samples: JudgedSamples, level: float) -> Said | None:
    """Say that people see the opposite of the judge, where the interval of the correlation lies below 0.

    One of the two then has its scale turned round, and a number corrected by such labels is the opposite of the truth.
    """
    from gateline.statistics.correlation import correlate

    known = samples.has_label
    found = correlate(
        samples.judge[known], samples.human[known], samples.cluster[known], level=level, ranks=False
    )
    if (
        found.value is None
        or found.interval is None
        or found.interval.high is None
        or found.interval.high >= 0
    ):
        return None
    return said("note.labels-turned", correlation=f"{found.value:.2f}")


def find_unlike(
    samples: JudgedSamples, bounds: tuple[float, float] | None, *, level: float, seed: int
) -> tuple[float, float] | None:
    """Return the judge's mean over labelled samples and over the others, where they differ by more than chance.

    None where the interval of the difference holds 0, or one part has fewer than 2 clusters.
    """
    from gateline.statistics.mean_differences import ClusterMean, difference_ends

    known = samples.has_label
    _, member = np.unique(samples.cluster, return_inverse=True)
    ends = bounds or (float(samples.judge.min()), float(samples.judge.max()))

    def part(rows: Flags) -> ClusterMean:
        total = np.bincount(member, np.where(rows, samples.judge, 0.0))
        return ClusterMean(total.astype(np.float64), np.bincount(member, rows).astype(np.float64), ends)

    others, looked_at = part(~known), part(known)
    if min(others.clusters, looked_at.clusters) < 2:
        return None
    found = difference_ends(others, looked_at, level=level, seed=seed)
    return None if found.low <= 0.0 <= found.high else (looked_at.value, others.value)


def correct_estimate(
    found: Estimate,
    judge: Paired,
    people: PeopleLabels,
    metric: Metric,
    settings: Settings,
    *,
    alone: bool,
    filled: Flags,
) -> Estimate:
    """Put what people would say in place of what the judge says; no number where their labels don't count.

    `filled` marks samples whose value is not known and taken to be as bad as can be (`assume_worst`): no label of
    others says anything of them, so they count beside what people would say of the rest.
    """
    seen, _ = _by_judge_and_people(judge, people, metric, alone=alone)
    rest, known, some = np.flatnonzero(~filled), judge, people
    if filled.any():
        known = Paired(
            judge.baseline[rest], judge.candidate[rest], None, None, judge.cluster[rest], judge.keys
        )
        some = people.at(rest)
    powered = correct_number(
        known, some, metric, settings, place=found.slice, alone=alone,
        level=settings.confidence,
    )  # fmt: skip
    if powered is None or not np.isfinite(seen).all():  # values as bad as can be, without a range
        return found
    told = Calibrated(
        baseline=found.baseline,
        candidate=found.candidate,
        gain=found.gain,
        labelled=powered.powered.labelled,
        labelled_clusters=powered.powered.labelled_clusters,
        trust=0.0 if powered.lack else powered.powered.trust,
        corrects=powered.lack is None,
    )
    nothing = replace(found, baseline=None, candidate=None, gain=None, relative_gain=None, calibration=told)
    if powered.lack is not None or powered.powered.value is None:
        return nothing
    value = (powered.powered.value * len(rest) + float(seen[filled].sum())) / len(seen)
    if alone:
        return replace(nothing, candidate=value)
    baseline, candidate = correct_sides(known, some, metric, powered.powered.trust)
    relative = value / abs(baseline) if baseline else None
    return replace(nothing, baseline=baseline, candidate=candidate, gain=value, relative_gain=relative)


def correct_sides(judge: Paired, people: PeopleLabels, metric: Metric, trust: float) -> tuple[float, float]:
    """Return baseline and candidate as people would see them; there must be a pair with labels of both runs.

    Both rest on the same labelled pairs and the same weight of the judge, so that they differ by the gain, but where
    the metric's range cuts one off.
    """
    both = ~np.isnan(people.baseline + people.candidate)
    low, high = metric.range or (-np.inf, np.inf)

    def corrected(seen: Floats, human: Floats) -> float:
        mean = human[both].mean() + trust * (seen.mean() - seen[both].mean())
        return float(min(max(mean, low), high))

    return corrected(judge.baseline, people.baseline), corrected(judge.candidate, people.candidate)


def _by_judge_and_people(
    judge: Paired, people: PeopleLabels, metric: Metric, *, alone: bool
) -> tuple[Floats, Floats]:
    """Return what the judge and what people say of each sample: the candidate's value, or the gain."""
    if alone:
        return judge.candidate, people.candidate
    return (
        metric.sign * (judge.candidate - judge.baseline),
        metric.sign * (people.candidate - people.baseline),
    )
