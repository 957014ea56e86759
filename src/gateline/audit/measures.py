"""What is measured where both have a label: how often the judge is wrong, in which way, and beyond chance.

Each number has its interval over clusters and its own denominator; one that has no denominator is None with the
reason. It sees labels as numbers. It must not read files nor decide whether a judge is good enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gateline.audit.kinds import MOST_LEVELS
from gateline.findings import Measure
from gateline.samples import Floats
from gateline.statistics import Paired, Settings, Statistic, gain, gain_interval, value_interval
from gateline.statistics.correlation import correlate
from gateline.statistics.interval import Interval
from gateline.statistics.kappa import cohens_kappa, kappa_interval
from gateline.statistics.prediction_powered import JudgedSamples
from gateline.statistics.rogan_gladen import measure_separation

MEAN = Statistic("mean")
ALONE = "needs labels in at least 2 clusters"
NO_RANGE = "one value is all that was seen, and no range is known"
NO_CHANCE = "both use one and the same label only"


@dataclass(frozen=True)
class Measured:
    """A number with the ends of its interval, in its own unit; None where there is none, with the reason."""

    value: float | None
    low: float | None = None
    high: float | None = None
    samples: int = 0
    """Its denominator: the labels it rests on."""
    reason: str = ""


@dataclass(frozen=True)
class Confusion:
    """Counts of pass/fail labels, the first word of each being right or wrong by what people say."""

    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int


@dataclass(frozen=True)
class Level:
    """How sure the intervals are (two-sided), and the seed of those that are drawn."""

    confidence: float
    settings: Settings


def measured(value: float | None, interval: Interval | None, samples: int, reason: str = "") -> Measured:
    """Return a number with its interval; without an interval it says why."""
    if interval is None:
        return Measured(value, samples=samples, reason=reason or ALONE)
    return Measured(value, interval.low, interval.high, samples, reason)


def count_confusion(samples: JudgedSamples) -> Confusion:
    """Count pass/fail labels of both."""
    yes, said_yes = samples.human == 1.0, samples.judge == 1.0
    return Confusion(
        int((yes & said_yes).sum()),
        int((yes & ~said_yes).sum()),
        int((~yes & said_yes).sum()),
        int((~yes & ~said_yes).sum()),
    )


def measure_pass_fail(samples: JudgedSamples, level: Level) -> dict[str, Measured]:
    """Return the rates of pass/fail labels; all of `samples` have both labels.

    Sensitivity is the share of what people pass that the judge passes, the false-positive rate the share of what
    they fail; either is None where people gave no such label. `separation` is the difference of the two: 0 for a
    judge that knows nothing.
    """
    human, judge = samples.human, samples.judge
    found = {
        "sensitivity": _rate_within(samples, human == 1.0, "1", level),
        "false_positive_rate": _rate_within(samples, human == 0.0, "0", level),
    }
    apart = measure_separation(samples, level=level.confidence, seed=level.settings.seed)
    found["separation"] = measured(apart.value, apart.interval, human.size, apart.reason)
    found["human_rate"] = mean_of(human, samples, (0.0, 1.0), level)
    found["judge_rate"] = mean_of(judge, samples, (0.0, 1.0), level)
    found["bias"] = _bias(samples, 1.0, level)
    return found | measure_agreement(samples, 2, level)


def measure_graded(samples: JudgedSamples, bounds: tuple[float, float], level: Level) -> dict[str, Measured]:
    """Return bias, error and correlations of graded labels, and for few whole-numbered grades a weighted kappa."""
    human, judge = samples.human, samples.judge
    width = bounds[1] - bounds[0] or None
    found = {
        "human_mean": mean_of(human, samples, bounds if width else None, level),
        "judge_mean": mean_of(judge, samples, bounds if width else None, level),
        "bias": _bias(samples, width, level),
        "absolute_error": mean_of(np.abs(judge - human), samples, (0.0, width) if width else None, level),
    }
    for name, ranks in (("spearman", True), ("pearson", False)):
        one = correlate(human, judge, samples.cluster, level=level.confidence, ranks=ranks)
        reason = (
            "one of the two never changes" if one.value is None else "needs labels in at least 5 clusters"
        )
        found[name] = measured(one.value, one.interval, human.size, reason if one.interval is None else "")
    grades = np.unique(np.concatenate([human, judge]))
    if (grades % 1.0 == 0.0).all() and grades[-1] - grades[0] < MOST_LEVELS and grades.size > 1:
        codes = replace(samples, human=human - grades[0], judge=judge - grades[0])
        found["weighted_kappa"] = _kappa(codes, int(grades[-1] - grades[0]) + 1, level, weighted=True)
    return found


def measure_agreement(samples: JudgedSamples, categories: int, level: Level) -> dict[str, Measured]:
    """Return how often both say the same, and Cohen's kappa; labels are codes 0 … categories − 1."""
    same = (samples.human == samples.judge).astype(np.float64)
    return {
        "agreement": mean_of(same, samples, (0.0, 1.0), level),
        "kappa": _kappa(samples, categories, level, weighted=False),
    }


def count_table(samples: JudgedSamples, categories: int) -> list[list[int]]:
    """Count labels: a row for each of people's, a column for each of the judge's."""
    table = np.zeros((categories, categories), dtype=np.int64)
    np.add.at(table, (samples.human.astype(np.int64), samples.judge.astype(np.int64)), 1)
    rows: list[list[int]] = table.tolist()
    return rows


def mean_of(
    values: Floats, samples: JudgedSamples, bounds: tuple[float, float] | None, level: Level
) -> Measured:
    """Return the mean of one number a sample (n), with its interval; None of no sample.

    `bounds` is the range of the numbers, None where one value is all that was ever seen: then there is no interval.
    """
    if values.size == 0:
        return Measured(None, reason="no sample")
    if bounds is None:
        return Measured(float(values.mean()), samples=values.size, reason=NO_RANGE)
    interval = value_interval(
        _paired(values, values, samples), "candidate", MEAN, level=level.confidence, bounds=bounds,
        settings=level.settings,
    )  # fmt: skip
    return measured(float(values.mean()), interval, values.size)


def _rate_within(samples: JudgedSamples, rows: NDArray[np.bool_], label: str, level: Level) -> Measured:
    if not rows.any():
        return Measured(None, reason=f"no sample with the human label {label}")
    some = JudgedSamples(samples.judge[rows], samples.human[rows], samples.cluster[rows], samples.keys)
    return mean_of(some.judge, some, (0.0, 1.0), level)


def _bias(samples: JudgedSamples, width: float | None, level: Level) -> Measured:
    paired = _paired(samples.human, samples.judge, samples)
    interval = gain_interval(
        paired, MEAN, sign=1.0, relative=False, level=level.confidence, width=width, settings=level.settings
    )
    return measured(gain(paired, MEAN, 1.0), interval, len(paired))


def _kappa(samples: JudgedSamples, categories: int, level: Level, *, weighted: bool) -> Measured:
    table = np.array(count_table(samples, categories), dtype=np.float64)
    value = cohens_kappa(table, weighted=weighted)
    if value is None:
        return Measured(None, samples=samples.human.size, reason=NO_CHANCE)
    interval = kappa_interval(
        samples.human.astype(np.int64),
        samples.judge.astype(np.int64),
        samples.cluster,
        categories=categories,
        level=level.confidence,
        seed=level.settings.seed,
        weighted=weighted,
    )
    return measured(value, interval, samples.human.size)


def _paired(first: Floats, second: Floats, samples: JudgedSamples) -> Paired:
    return Paired(first, second, None, None, samples.cluster, samples.keys)


def measure_judge(
    measure: Measure, samples: JudgedSamples, bounds: tuple[float, float] | None, level: Level
) -> Measured:
    """Return one measure of a judge over the samples that people labelled; `bounds` is the metric's range.

    A bias is told without its sign. None with the reason where there is no label, or the measure needs labels of 0
    and 1 and there are others.
    """
    if not samples.judge.size:
        return Measured(None, reason="people labelled no sample here by chance")
    assert bounds is not None
    yes_or_no = np.isin(np.concatenate([samples.judge, samples.human]), (0.0, 1.0)).all()
    if measure == "bias":
        found = measure_pass_fail(samples, level) if yes_or_no else measure_graded(samples, bounds, level)
        return _without_sign(found["bias"])
    if yes_or_no:
        return (measure_pass_fail(samples, level) | measure_agreement(samples, 2, level))[measure]
    if measure == "agreement":
        same = (np.abs(samples.judge - samples.human) <= 1e-9).astype(np.float64)
        return mean_of(same, samples, (0.0, 1.0), level)
    return Measured(None, samples=samples.judge.size, reason=f"{measure} needs values of 0 and 1 alone")


def count_basis(measure: Measure, samples: JudgedSamples) -> int:
    """Return how many labels a measure rests on: of an error rate, those of its class, of a difference the fewer."""
    yes, no = int((samples.human == 1.0).sum()), int((samples.human == 0.0).sum())
    counts = {"sensitivity": yes, "false_positive_rate": no, "separation": min(yes, no)}
    return counts.get(measure, samples.human.size)


def _without_sign(found: Measured) -> Measured:
    if found.value is None or found.low is None or found.high is None:
        return found
    far = max(abs(found.low), abs(found.high))
    near = 0.0 if found.low <= 0.0 <= found.high else min(abs(found.low), abs(found.high))
    return Measured(abs(found.value), near, far, found.samples, found.reason)
