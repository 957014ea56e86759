"""The interval of a gain and of one run's value: chooses the method and says what it did.

It decides no rule. See docs/statistics.md for the derivation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scipy.special import ndtr

from gateline.statistics.classical import find_bca_ends, find_percentile_ends
from gateline.statistics.drawn import Ends, Evaluate, Sample, find_drawn_ends
from gateline.statistics.draws import Formula, Fraction, Grouping, QuantileGain, RatioGain
from gateline.statistics.end_points import (
    EndPoints,
    adjusted_deviate,
    end_points_of_gain,
    ratio_rows_of_gain,
    rows_of_gain,
    rows_of_value,
)
from gateline.statistics.gamma_sums import find_ends, find_lower_end, find_upper_end
from gateline.statistics.interval import Interval, finite, kept_within, make_interval, scaled
from gateline.statistics.notes import Note
from gateline.statistics.order_statistics import (
    QuantileEnds,
    find_clustered_quantile_ends,
    find_quantile_ends,
    samples_needed_for_quantile,
)
from gateline.statistics.pairs import Paired, Side, Statistic, evaluate, gain
from gateline.statistics.ratio_gains import find_gain_end
from gateline.statistics.settings import Settings
from gateline.statistics.weights import KeyedWeights

_ENOUGH_TO_EXPAND = 10
"""Clusters from which on the expansion of `ratio_gains` is better than draws."""
_MANY_BEYOND = 100
"""Clusters beyond a quantile from which on the draws of its gain are near normal."""
_FEWEST_BEYOND = 2
"""Clusters expected beyond a quantile without which no resampling knows its tail: with 1 the ends miss 6 to 7 %."""
_MOST_EVALUATED = 100_000
"""Pairs up to which a quantile's gain is evaluated near a limit: some seconds."""
_NONE = EndPoints(0.0)


def gain_interval(
    paired: Paired,
    statistic: Statistic,
    *,
    sign: float,
    relative: bool,
    level: float,
    width: float | None,
    settings: Settings,
    limits: Sequence[float] = (),
) -> Interval | None:
    """Return the interval of the gain (above 0 where the candidate is better).

    Args:
        paired: the usable pairs.
        statistic: what is computed of each run.
        sign: +1 where higher is better, −1 where lower is better.
        relative: divide by the size of the baseline of the same draw.
        level: two-sided confidence, above 0.5.
        width: width of the metric's range, None where it has none.
        settings: method, draws and seed.
        limits: what the ends will be compared with; decides only whether more draws are needed.

    Returns:
        The interval in the unit of the gain; None with fewer than 2 clusters, or where the gain itself has
        no value.
    """
    estimate = gain(paired, statistic, sign, relative=relative)
    if not math.isfinite(estimate) or len(paired.clusters) < 2:
        return None
    scale = float(len(paired)) if statistic.kind == "total" and not relative else 1.0
    limits = [limit / scale for limit in limits]
    estimate /= scale
    if settings.method != "bayesian":
        formula = _gain_formula(paired, statistic, sign, relative=relative, end_points=_NONE)
        return scaled(_classical(formula, paired, estimate, level, settings, limits=limits), scale)
    deviate = adjusted_deviate(level, len(paired.clusters))
    if statistic.kind == "quantile":
        share = statistic.share_below()
        rarer = min(share, 1.0 - share)
        needed = math.ceil(_FEWEST_BEYOND / rarer - 1e-9)
        if len(paired.clusters) < needed:
            return Interval(None, None, level, "bayesian", None, (_no_tail(needed, len(paired.clusters)),))
        formula = _gain_formula(paired, statistic, sign, relative=relative, end_points=_NONE)
        smooth = len(paired.clusters) * rarer >= _MANY_BEYOND
        evaluate = _way_to_evaluate(paired, share, sign, relative=relative)
        ends = _draw_ends(formula, paired, deviate, settings, limits, smooth=smooth, evaluate=evaluate)
        return make_interval(ends, estimate, level, ends.draws or None)
    end_points = end_points_of_gain(paired, statistic, width)
    evaluated = _evaluate_ends(paired, sign, end_points, width, deviate, relative=relative)
    if evaluated is None:
        evaluated = _expand_ends(paired, sign, deviate, relative=relative, end_points=end_points)
    if evaluated is not None:
        interval = make_interval(replace(evaluated, notes=end_points.notes), estimate, level, None)
    else:
        formula = _gain_formula(paired, statistic, sign, relative=relative, end_points=end_points)
        ends = _draw_ends(formula, paired, deviate, settings, limits, end_points=end_points)
        interval = make_interval(
            replace(ends, notes=end_points.notes + ends.notes), estimate, level, ends.draws
        )
    return scaled(interval, scale)


def value_interval(
    paired: Paired,
    side: Side,
    statistic: Statistic,
    *,
    level: float,
    bounds: tuple[float | None, float | None] | None,
    settings: Settings,
    limits: Sequence[float] = (),
) -> Interval | None:
    """Return the interval of one run's value.

    Args:
        paired: the usable pairs; only one side is read.
        side: which run.
        statistic: what is computed of the run.
        level: two-sided confidence, above 0.5.
        bounds: the metric's range, None where it has none (or for one end of it).
        settings: method, draws and seed.
        limits: what the ends will be compared with; decides only whether more draws are needed.

    Returns:
        The interval in the unit of the metric; None with fewer than 2 clusters, or where the value does not
        exist.
    """
    estimate = evaluate(paired.values(side), paired.weights(side), statistic)
    if not math.isfinite(estimate) or len(paired.clusters) < 2:
        return None
    if statistic.kind == "quantile":
        return _quantile_interval(paired, side, statistic.share_below(), level)
    scale = float(len(paired)) if statistic.kind == "total" else 1.0
    if settings.method != "bayesian":
        clusters = paired.clusters
        sums = (
            (clusters.baseline, clusters.baseline_weight)
            if side == "baseline"
            else (clusters.candidate, clusters.candidate_weight)
        )
        formula = Fraction.of(Grouping.of(paired), *sums)
        return scaled(
            _classical(
                formula,
                paired,
                estimate / scale,
                level,
                settings,
                limits=[limit / scale for limit in limits],
            ),
            scale,
        )
    deviate = adjusted_deviate(level, len(paired.clusters))
    low, high = find_ends(rows_of_value(paired, side, bounds), deviate)
    exact = make_interval(Ends(low, high, 0), estimate / scale, level, None)
    return scaled(kept_within(exact, bounds, estimate / scale), scale)


def _evaluate_ends(
    paired: Paired,
    sign: float,
    end_points: EndPoints,
    width: float | None,
    deviate: float,
    *,
    relative: bool,
) -> Ends | None:
    """Return the ends of a gain that is one ratio of sums, None where it isn't one."""
    lower = rows_of_gain(paired, sign, end_points, width, relative=relative, upper=False)
    if lower is None:
        return None
    if not end_points.apart:
        return Ends(*find_ends(lower, deviate), 0)
    upper = rows_of_gain(paired, sign, end_points, width, relative=relative, upper=True)
    assert upper is not None  # it is one ratio of sums for either end
    return Ends(find_lower_end(lower, deviate), find_upper_end(upper, deviate), 0)


def _expand_ends(
    paired: Paired, sign: float, deviate: float, *, relative: bool, end_points: EndPoints
) -> Ends | None:
    """Return the ends of a gain of ratios by expansion, None where it must be drawn."""
    if len(paired.clusters) < _ENOUGH_TO_EXPAND:
        return None
    low, high = (
        find_gain_end(
            ratio_rows_of_gain(paired, end_points, relative=relative, upper=upper), deviate, upper=upper
        )
        for upper in (False, True)
    )
    if low is None or high is None:
        return None
    return Ends(low, high, 0) if sign > 0.0 else Ends(-high, -low, 0)


def _draw_ends(
    formula: Formula,
    paired: Paired,
    deviate: float,
    settings: Settings,
    limits: Sequence[float],
    *,
    smooth: bool = False,
    end_points: EndPoints = _NONE,
    evaluate: Evaluate | None = None,
) -> Ends:
    weights = KeyedWeights(settings.seed, Grouping.of(paired).keys)
    sample = Sample(
        lambda chunk: formula.draw(weights, chunk, weights.end_points(chunk, end_points.shape)),
        apart=end_points.apart,
    )
    tail = float(ndtr(deviate))
    return find_drawn_ends(
        sample,
        tail,
        resamples=settings.resamples,
        clusters=weights.size,
        limits=limits,
        smooth=smooth,
        evaluate=evaluate,
    )


def _way_to_evaluate(paired: Paired, probability: float, sign: float, *, relative: bool) -> Evaluate | None:
    """Return how the ends of a quantile's gain are found without draws, None where they can only be drawn."""
    if len(paired) > _MOST_EVALUATED:
        return None

    def evaluate(tail: float, low: float, high: float) -> tuple[float, float]:
        from gateline.statistics.quantile_gains import find_quantile_gain_ends

        runs = paired.baseline, paired.candidate, paired.clusters.member
        return find_quantile_gain_ends(*runs, probability, sign, tail, relative=relative, guess=(low, high))

    return evaluate


def _gain_formula(
    paired: Paired, statistic: Statistic, sign: float, *, relative: bool, end_points: EndPoints
) -> Formula:
    grouping = Grouping.of(paired)
    if statistic.kind == "quantile":
        return QuantileGain.of(paired, grouping, statistic, sign, relative=relative)
    if paired.shares_weights and not relative and end_points.reach == 0.0:
        return Fraction.of(grouping, sign * paired.clusters.gain, paired.clusters.baseline_weight)
    return RatioGain.of(
        paired, grouping, sign, relative=relative, reach=end_points.reach, apart=end_points.apart
    )


def _classical(
    formula: Formula,
    paired: Paired,
    estimate: float,
    level: float,
    settings: Settings,
    *,
    limits: Sequence[float],
) -> Interval:
    size, draws, seed = Grouping.of(paired).size, settings.resamples, settings.seed
    if settings.method == "bca":
        ends = find_bca_ends(formula, size, estimate=estimate, level=level, resamples=draws, seed=seed)
    else:
        ends = find_percentile_ends(formula, size, level=level, resamples=draws, seed=seed, limits=limits)
    return Interval(finite(ends.low), finite(ends.high), level, settings.method, ends.draws, ends.notes)


def _quantile_interval(paired: Paired, side: Side, probability: float, level: float) -> Interval:
    values = paired.values(side)
    if len(paired.clusters) < len(paired):
        deviate = adjusted_deviate(level, len(paired.clusters))
        ends = find_clustered_quantile_ends(values, paired.clusters, probability, deviate)
        counts = {"samples": f"{len(paired)}", "clusters": f"{len(paired.clusters)}"}
        notes = (Note("note.weighed-by-cluster", counts),)
        return Interval(ends.low, ends.high, level, "bayesian", None, notes + _too_few(ends, None))
    ends = find_quantile_ends(values, probability, 0.5 * (1.0 - level))
    needed = samples_needed_for_quantile(probability, level)
    return Interval(
        ends.low, ends.high, level, "order-statistic", None, _too_few(ends, (*needed, len(paired)))
    )


def _no_tail(needed: int, clusters: int) -> Note:
    return Note("note.quantile-gain-needs", {"needed": f"{needed:,}", "samples": f"{clusters:,}"})


def _too_few(ends: QuantileEnds, needed: tuple[int, int, int] | None) -> tuple[Note, ...]:
    notes = []
    for name, end, at in (("upper", ends.high, 0), ("lower", ends.low, 1)):
        if end is None and needed:
            counts = {"needed": f"{needed[at]:,}", "samples": f"{needed[2]:,}"}
            notes.append(Note(f"note.{name}-end-needs-samples", counts))
        elif end is None:
            notes.append(Note(f"note.{name}-end-needs-clusters"))
    return tuple(notes)
