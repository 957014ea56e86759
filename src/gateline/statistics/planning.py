"""What a sample could show, and how many more would settle it: told beside an interval, never deciding."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from gateline.statistics.end_points import adjusted_deviate, end_points_of_gain
from gateline.statistics.intervals import gain_interval
from gateline.statistics.pairs import Floats, Paired, Statistic
from gateline.statistics.settings import Settings

_POWER = 0.8


def smallest_visible_change(
    paired: Paired,
    statistic: Statistic,
    *,
    relative: bool,
    level: float,
    width: float | None,
    settings: Settings,
) -> float | None:
    """Return the smallest true change that this slice would show with 80 % power.

    It is (deviate of the level + 0.84) standard errors of the gain over clusters, about 2.8 at 95 %, with
    the end points of the interval counted in: their spread, and how far one that stands alone pulls the end of its
    side. Level and width as in `gain_interval`.

    Returns:
        A change in the unit of the gain, above 0; None below 2 clusters or where no error can be estimated.
    """
    if len(paired.clusters) < 2:
        return None
    if statistic.kind == "quantile":
        error, pull = _drawn_error(paired, statistic, relative=relative, settings=settings), 0.0
    else:
        error, pull = _standard_error(paired, statistic, relative=relative, width=width)
    if error is None or not math.isfinite(error) or error <= 0.0:
        return None
    return (float(ndtri(_POWER)) - adjusted_deviate(level, len(paired.clusters))) * error + pull


def samples_needed(estimate: float, half_width: float, limit: float, samples: int) -> int | None:
    """Return about how many samples would settle on which side of a limit the estimate lies.

    Half the width falls with the root of the number: n·(half width / distance)². None where the estimate
    sits on the limit, or so near that the number means nothing (over a billion).
    """
    distance = abs(estimate - limit)
    if not (distance > 0.0 and math.isfinite(half_width)):
        return None
    needed = samples * (half_width / distance) ** 2
    return math.ceil(needed - 1e-9) if needed < 1e9 else None


def _standard_error(
    paired: Paired, statistic: Statistic, *, relative: bool, width: float | None
) -> tuple[float | None, float]:
    """Return the linearised standard error of the gain of a mean, a total or a ratio, over clusters, and the pull.

    The pull is how far an end point that stands alone moves the centre of its end of the interval.
    """
    clusters = paired.clusters
    first = _influence_of_ratio(clusters.baseline, clusters.baseline_weight)
    second = _influence_of_ratio(clusters.candidate, clusters.candidate_weight)
    # A weight's variance is its shape; of two end points the pulls cancel and the variances add up.
    end_points = end_points_of_gain(paired, statistic, width)
    reach, weight = end_points.reach / len(clusters), end_points.shape
    pull, how_many = (weight * reach, 1.0) if end_points.apart else (0.0, 2.0)
    spread = how_many * weight * reach**2
    if relative:
        before = float(clusters.baseline.sum() / clusters.baseline_weight.sum())
        after = float(clusters.candidate.sum() / clusters.candidate_weight.sum())
        if before == 0.0:
            return None, 0.0
        # The derivative of after/|before|.
        influence = (second - first * (after / before)) / abs(before)
        pull, spread = pull / abs(before), spread / before**2
    else:
        influence = second - first
    count = len(clusters)
    error = math.sqrt(float((influence**2).sum()) * count / (count - 1) + spread)
    scale = float(len(paired)) if statistic.kind == "total" and not relative else 1.0
    return scale * error, scale * pull


def _drawn_error(paired: Paired, statistic: Statistic, *, relative: bool, settings: Settings) -> float | None:
    """Return the standard error of the gain of a quantile, from the middle 95 % of its draws."""
    rough = gain_interval(
        paired,
        statistic,
        sign=1.0,
        relative=relative,
        level=0.95,
        width=None,
        settings=settings,
    )
    if rough is None or rough.low is None or rough.high is None:
        return None
    return (rough.high - rough.low) / (-2.0 * adjusted_deviate(0.95, len(paired.clusters)))


def _influence_of_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return how far each cluster moves a ratio of sums."""
    below = float(denominator.sum())
    if below <= 0.0:
        return np.full(numerator.size, math.nan)
    influence: Floats = (numerator - numerator.sum() / below * denominator) / below
    return influence
