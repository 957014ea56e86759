"""Where end points lie: about the gain seen, about 0, at the ends of the range, at what was seen of one run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, stdtrit
from statistics_pairs import pair

from gateline.statistics import Note, Settings, Statistic, gain_interval, value_interval
from gateline.statistics.end_points import EndPoints, ratio_rows_of_gain

MEAN, RATIO = Statistic("mean"), Statistic("ratio")
DRAWS = 400_000


def gain_of(paired, *, statistic=MEAN, sign=1.0, relative=False, width=1.0):
    return gain_interval(
        paired,
        statistic,
        sign=sign,
        relative=relative,
        level=0.95,
        width=width,
        settings=Settings(),
    )


def value_of(paired, side, statistic, bounds):
    return value_interval(paired, side, statistic, level=0.95, bounds=bounds, settings=Settings())


def tail_of(clusters):
    return ndtr(math.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, 0.025))


def draw_mean(sums, sizes, ends):
    """Draw a mean with two end points of half an average cluster, from the definition, and return its two tails."""
    generator = np.random.default_rng(1)
    weights = generator.standard_exponential((sums.size, DRAWS))
    points = generator.standard_gamma(0.5, size=(2, DRAWS))
    drawn = (sums @ weights + sizes.mean() * (np.array(ends) @ points)) / (
        sizes @ weights + sizes.mean() * points.sum(axis=0)
    )
    tail = tail_of(sums.size)
    return tuple(np.quantile(drawn, [tail, 1.0 - tail]))


# --- a gain ---


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("mostly", [0.7, -0.7])
def test_the_end_points_of_a_mean_lie_about_the_gain_seen_and_inside_the_range(mostly, sign):
    # Clusters of one to three pairs; one goes against the trend, so that one end point would lie outside of −1 … 1.
    generator = np.random.default_rng(4)
    sizes = generator.integers(1, 4, size=14)
    cluster = np.repeat(np.arange(14), sizes)
    change = mostly + generator.choice([-0.25, 0.0, 0.25], size=cluster.size)
    change[cluster == 0] = -np.sign(mostly) * 0.5
    candidate = np.where(mostly > 0, 1.0, 0.0) * np.ones(cluster.size)
    paired = pair(candidate - change, candidate, cluster=cluster)
    sums = sign * np.bincount(cluster, change)
    centre = sums.sum() / sizes.sum()
    distance = np.abs(sums / sizes - centre).max()
    assert abs(centre) + distance > 1.0
    ends = np.clip([centre - distance, centre + distance], -1.0, 1.0)
    low, high = draw_mean(sums, sizes, ends)
    found = gain_of(paired, sign=sign)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01 * (high - low))
    assert found.notes == ()


@pytest.mark.parametrize("change", [0.3, -0.3])
def test_equal_differences_leave_the_end_points_about_zero_and_the_interval_says_so(change):
    # Nothing differs between the clusters, so nothing is known of how they vary: about the gain it would have no width.
    before = np.linspace(0.31, 0.69, 20)
    found = gain_of(pair(before, before + change))
    low, high = draw_mean(np.full(20, change), np.ones(20), (-abs(change), abs(change)))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01 * (high - low))
    assert found.notes == (Note("note.differences-equal"),)


def test_the_size_of_equal_differences_does_not_decide_whether_they_are_equal():
    for change in (1e-5, 0.3):
        for spread in (1e-3, 0.0):
            changes = change * (1.0 + spread * np.linspace(-1.0, 1.0, 20))
            found = gain_of(pair(np.zeros(20), changes))
            assert bool(found.notes) == (spread == 0.0), (change, spread)


@pytest.mark.parametrize("zeros", [0, 1])
def test_a_relative_gain_over_negative_values_is_that_of_the_mirrored_runs(zeros):
    generator = np.random.default_rng(2)
    before = generator.lognormal(size=25)
    before[:zeros] = 0.0
    after = before * generator.lognormal(sigma=0.2, size=25) + 0.1
    plain = gain_of(pair(before, after), relative=True, width=None)
    mirrored = gain_of(pair(-before, -after), relative=True, sign=-1.0, width=None)
    assert (mirrored.low, mirrored.high) == pytest.approx((plain.low, plain.high), rel=1e-9)
    nearly = np.maximum(before, 1e-12)
    near = gain_of(pair(nearly, after), relative=True, width=None)
    assert (near.low, near.high) == pytest.approx(
        (plain.low, plain.high), abs=1e-4 * (plain.high - plain.low)
    )


@pytest.mark.parametrize("upper", [False, True])
def test_the_end_points_of_ratios_lie_about_the_average_of_both_runs(upper):
    paired = pair([3.0, 2.0, 4.0], [1.0, 4.0, 2.0], baseline_weight=[5, 4, 5], candidate_weight=[4, 6, 4])
    for apart in (False, True):
        end_points = EndPoints(0.25, apart=apart)
        rows = ratio_rows_of_gain(paired, end_points, relative=False, upper=upper)
        some = [place for place in (0, 1) if not apart or place == int(upper)]
        points = rows.columns[3:]
        average = 0.5 * (9 / 14 + 7 / 14)
        for point, place in zip(points, some, strict=True):
            side = 1.0 if place else -1.0
            assert point[0] / point[1] + rows.middle == pytest.approx(average - side * 0.125)
            assert point[2] / point[3] + rows.middle == pytest.approx(average + side * 0.125)
        assert list(rows.shape[3:]) == ([0.75] if apart else [0.5, 0.5])
        together = rows.columns[:3].sum(axis=0)
        assert together[0] / together[1] + rows.middle == pytest.approx(9 / 14)
        assert together[2] / together[3] + rows.middle == pytest.approx(7 / 14)


# --- the value of one run ---


def claims():
    generator = np.random.default_rng(6)
    wholes = generator.integers(0, 6, size=(2, 30)).astype(float)
    parts = generator.binomial(wholes.astype(int), [[0.3], [0.7]]).astype(float)
    return parts, wholes


@pytest.mark.parametrize("statistic", [MEAN, RATIO])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), None, (0.0, None), (None, 1.0)])
def test_the_value_of_one_run_is_read_from_that_run_alone(statistic, bounds):
    parts, wholes = claims()
    if statistic is MEAN:
        parts, wholes = [0.2 + 0.1 * parts[0], 0.1 + 0.15 * parts[1]], (None, None)  # no end in common
    both = pair(*parts, baseline_weight=wholes[0], candidate_weight=wholes[1])
    for side, values, weights in zip(("baseline", "candidate"), parts, wholes, strict=True):
        alone = pair(values, values, baseline_weight=weights, candidate_weight=weights)
        assert value_of(both, side, statistic, bounds) == value_of(alone, side, statistic, bounds)


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_without_a_range_the_ratios_seen_are_the_range(side):
    parts, wholes = claims()
    parts, wholes = parts + 0.5 * wholes, wholes + 0.5 * wholes  # ratios inside 1/3 … 1
    paired = pair(*parts, baseline_weight=wholes[0], candidate_weight=wholes[1])
    place = 0 if side == "baseline" else 1
    some = wholes[place] > 0.0
    assert not some.all()  # a question without a claim has no ratio
    ratios = parts[place][some] / wholes[place][some]
    seen = (float(ratios.min()), float(ratios.max()))
    found = value_of(paired, side, RATIO, None)
    expected = value_of(paired, side, RATIO, seen)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert found != value_of(paired, side, RATIO, (0.0, 1.5))
