"""How much worse a metric may become: what the questions at hand can show, within what a person would accept.

A tolerance that nothing could breach is none, and is not proposed. Nothing here makes a text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gateline.proposal.choices import ProposedMetric
from gateline.proposal.yaml_words import round_down, round_up, round_up_to_two_digits
from gateline.samples import Floats
from gateline.statistics import Paired, Settings, Statistic, gain_interval

SHOWN_AT = 2.8
"""Standard errors of a change that is found four times in five with two-sided 95 % confidence: 1.96 + 0.84."""
WIDEST = 0.1
"""Share of the range beyond which a tolerance guards nothing that a person cares for."""
WIDEST_BY_VALUE = 0.05
"""The same, where the plain value decides."""
FEW = 30
"""Questions below which an interval may never settle anything; then the plain value decides."""
MANY = 400
"""Questions from which on the interval needs no computing: it is 1.96 standard errors to either side."""
FEWEST_OF_ITSELF = 5
"""Questions below which an interval of a metric without a range says nothing."""
WIDEST_SETTLED = 0.2
"""Share of the range up to which a tolerance is widened so that two equal runs are shown to be within it."""
OF_ONE_VALUE = 0.02
"""Share of the range that a single number may fall by."""


@dataclass(frozen=True)
class Tolerance:
    """A bound on how much worse a metric may become, with what it rests on."""

    bound: float
    """In the metric's unit, or a share of the baseline where `is_share`."""
    is_share: bool = False
    by_value: bool = False
    """Whether the plain value has to decide, as no interval over so few questions could."""
    shows: float | None = None
    """The smallest change that the questions show four times in five; None where the values say nothing of it."""
    needed: int | None = None
    """About how many independent questions would show a change as small as the bound; None where there are enough."""
    is_widened: bool = False
    """Whether it is as wide as the questions can settle, and wider than they should be held to."""


@dataclass(frozen=True)
class Sample:
    """The values of a metric in a run or a slice."""

    values: Floats
    """Usable values (n)."""
    cluster: npt.NDArray[np.int64]
    """Position of the group of each among `keys` (n)."""
    keys: npt.NDArray[np.uint64]
    """Keys of groups, for the draws of the gate."""

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.values)

    @cached_property
    def independent(self) -> int:
        """Return how many groups there are among the values."""
        return len(np.unique(self.cluster))


def choose_tolerance(
    metric: ProposedMetric, sample: Sample, level: float = 0.95, *, must_settle: bool = True
) -> Tolerance | None:
    """Return a tolerance for the mean of some values; None where a run as bad as can be would not breach one.

    The smallest detectable change is 2.8 standard errors of the difference of two means. With a correlation of one
    half between the runs, that error is sd / sqrt(n), n independent groups. The bound is that, rounded up to 1, 2 or
    5 times a power of ten, at most a tenth of the range (without one: of the mean), and less than could be shown at
    `level` (two-sided) of a run with nothing but worst values. Where it `must_settle`, two equal runs are shown to be
    within it: it is widened for that up to a fifth of the range, or else the plain value decides.
    """
    values, independent = sample.values, sample.independent
    ends, mean = metric.range, float(values.mean())
    spread = _spread(values, ends)
    if spread == 0:
        return Tolerance(WIDEST, is_share=True, by_value=independent == 1) if mean else Tolerance(0.0)
    shows = SHOWN_AT * spread / math.sqrt(independent)
    bound = round_up(shows)
    if ends is None:
        told = _of_itself(values, mean, bound, shows, independent)
        if not must_settle or told.by_value or independent >= MANY:
            return told
        quiet = _unsettled_without_change(metric, sample, level, relative=told.is_share)
        return replace(told, by_value=told.bound <= quiet)
    room = mean - ends[0] if metric.better == "higher" else ends[1] - mean
    if room < 1e-9:
        return None
    width = ends[1] - (
        ends[0] if values.min() < 0 else max(ends[0], 0.0)
    )  # a scale of -1 to 1 used from 0 on
    wanted = min(bound, (WIDEST if independent > 1 else OF_ONE_VALUE) * width)
    shown = room - shows if independent >= MANY else loss_shown_of_the_worst(metric, sample, level)
    by_value = shown <= 0 and independent < FEW
    if by_value:
        shown, wanted = room, min(wanted, WIDEST_BY_VALUE * width)
    if shown <= 0:
        return None
    wanted = min(wanted, round_down(shown / 2))
    is_widened = False
    quiet = (
        0.0
        if by_value or not must_settle or independent >= MANY
        else _unsettled_without_change(metric, sample, level)
    )
    if wanted <= quiet:
        settled = round_up_to_two_digits(1.05 * quiet)
        is_widened = settled <= WIDEST_SETTLED * width and settled < shown
        by_value = not is_widened
        wanted = settled if is_widened else min(wanted, WIDEST_BY_VALUE * width, round_down(room / 2))
    needed = None if is_widened else _needed(shows, wanted, independent)
    return Tolerance(wanted, by_value=by_value, shows=shows, needed=needed, is_widened=is_widened)


def loss_shown_of_the_worst(metric: ProposedMetric, sample: Sample, level: float) -> float:
    """Return the loss that the gate would take for shown where each value became the worst; 0 for none."""
    _, high = _ends_of_gain(metric, sample, np.full(len(sample), _worst_of(metric)), level)
    return 0.0 if high is None else -high


def loss_shown_of_most(metric: ProposedMetric, sample: Sample, level: float, share: float) -> float:
    """Return the loss that the gate would take for shown wherever at least that share of what there is was lost.

    It is the least of all that many questions can lose, from the fewest that hold the share between them, those that
    have most to lose first, up to all: an interval over few groups is another one where all of them differ. 0 or less
    where one of these losses is not shown.
    """
    worst = _worst_of(metric)
    losses = np.abs(sample.values - worst)
    order = np.argsort(-losses, kind="stable")
    lost = np.cumsum(losses[order])
    if not lost.size or not lost[-1] > 0:
        return 0.0
    fewest = int(np.searchsorted(lost, share * lost[-1] * (1 - 1e-9))) + 1
    shown = math.inf
    for count in range(fewest, int((losses > 0).sum()) + 1):
        after = sample.values.copy()
        after[order[:count]] = worst
        _, high = _ends_of_gain(metric, sample, after, level)
        shown = min(shown, 0.0 if high is None else -high)
        if shown <= 0:
            break
    return shown


def _worst_of(metric: ProposedMetric) -> float:
    assert metric.range is not None
    return metric.range[0] if metric.better == "higher" else metric.range[1]


def _unsettled_without_change(
    metric: ProposedMetric, sample: Sample, level: float, *, relative: bool = False
) -> float:
    """Return the loss that the gate can't rule out where no value changed."""
    low, _ = _ends_of_gain(metric, sample, sample.values, level, relative=relative)
    return math.inf if low is None else -low


def _ends_of_gain(
    metric: ProposedMetric, sample: Sample, after: Floats, level: float, *, relative: bool = False
) -> tuple[float | None, float | None]:
    """Return the ends of the gate's interval of the gain from the values to others; None for an end without one."""
    found = gain_interval(
        Paired(sample.values, after, None, None, sample.cluster, sample.keys),
        Statistic("mean"),
        sign=1.0 if metric.better == "higher" else -1.0,
        relative=relative,
        level=level,
        width=metric.range[1] - metric.range[0] if metric.range else None,
        settings=Settings(),
    )
    return (None, None) if found is None else (found.low, found.high)


def _of_itself(values: Floats, mean: float, bound: float, shows: float, independent: int) -> Tolerance:
    """Return a tolerance for a metric without a range: at most a tenth of itself, or of what the values span."""
    by_value = independent < FEWEST_OF_ITSELF
    if (values > 0).all() or (values < 0).all():
        most = WIDEST * abs(mean)
        if by_value or bound > most:
            needed = _needed(shows, most, independent)
            return Tolerance(WIDEST, is_share=True, by_value=by_value, shows=shows, needed=needed)
        return Tolerance(bound, shows=shows)
    bound = min(bound, WIDEST * float(values.max() - values.min()))
    return Tolerance(bound, by_value=by_value, shows=shows, needed=_needed(shows, bound, independent))


def _needed(shows: float, bound: float, independent: int) -> int | None:
    if bound >= shows:
        return None
    return math.ceil(independent * (shows / bound) ** 2)


def _spread(values: Floats, ends: tuple[float, float] | None) -> float:
    """Return the standard deviation of values; on a scale, all the same is no certainty."""
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    if ends is None or not math.isfinite(spread):
        return spread if math.isfinite(spread) else 0.0
    width = ends[1] - ends[0]
    at_ends = bool(((values == ends[0]) | (values == ends[1])).all())
    if at_ends or spread == 0:
        share = ((float(values.mean()) - ends[0]) / width * len(values) + 0.5) / (len(values) + 1)
        share = min(max(share, 0.0), 1.0)
        spread = max(spread, width * math.sqrt(share * (1 - share)))
    return spread
