"""What an interval hands on to the way it is made, whichever way: direction, level, share, end points, notes."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr, ndtri, stdtrit
from statistics_pairs import interval_of, pair

from gateline.statistics import Note, Settings, Statistic, cluster_keys, value_interval
from gateline.statistics.drawn import Draws, _end, _guarded_ends, _nearest_limit
from gateline.statistics.interval import Interval, kept_within
from gateline.statistics.pairs import order_clusters
from gateline.statistics.quantile_gains import find_quantile_gain_ends

MEDIAN, P95, RATIO = Statistic("quantile", 0.5), Statistic("quantile", 0.95), Statistic("ratio")
DRAWS = 400_000
gain_of = partial(interval_of, chosen=Settings(resamples=4_000))


def tail_of(clusters, level=0.95):
    return float(ndtr(math.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, 0.5 * (1.0 - level))))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("count", [8, 14])
def test_a_ratio_of_which_few_clusters_differ_agrees_with_draws_whichever_way_it_is_made(
    count, relative, sign
):
    # Of 8 clusters it is drawn, of 14 expanded. Fewer than 10 differ: each end has the end point of its own side.
    generator = np.random.default_rng(count)
    before = generator.integers(2, 6, size=count).astype(float)
    after = before.copy()
    after[:4] += 1.0
    baseline, candidate = np.round(0.6 * before), np.round(0.6 * before)
    candidate[:4] += [1.0, 1.0, 1.0, 0.0]
    paired = pair(baseline, candidate, baseline_weight=before, candidate_weight=after)
    assert paired.clusters.differing == 4
    weights = generator.standard_exponential((count, DRAWS))
    point = generator.standard_gamma(0.75, size=DRAWS)
    first, second = baseline.sum() / before.sum(), candidate.sum() / after.sum()
    if relative:
        places = [(first, first - 1.0), (first, first + 1.0)]
    else:
        middle = 0.5 * (first + second)
        places = [(middle + 0.5, middle - 0.5), (middle - 0.5, middle + 0.5)]
    gains = []
    for one, other in places:
        low = (baseline @ weights + before.mean() * point * one) / (before @ weights + before.mean() * point)
        high = (candidate @ weights + after.mean() * point * other) / (after @ weights + after.mean() * point)
        gains.append((high - low) / low if relative else high - low)
    tail = tail_of(count)
    expected = sign * np.quantile(gains[0], tail), sign * np.quantile(gains[1], 1.0 - tail)
    found = gain_of(paired, RATIO, sign=sign, relative=relative, width=1.0)
    spread = abs(expected[1] - expected[0])
    assert (found.resamples is None) == (count >= 10)
    # 4,000 draws are within 0.03 of the width but for a chance of 1 in 1,000.
    allowed = 0.03 if count >= 10 else 0.08
    assert (found.low, found.high) == pytest.approx(tuple(sorted(expected)), abs=allowed * spread)


@pytest.mark.parametrize("relative", [False, True])
def test_a_quantile_near_a_limit_is_evaluated_as_what_it_is(relative):
    generator = np.random.default_rng(8)
    before, after = generator.lognormal(size=(2, 90))
    paired = pair(before, after)
    ends = find_quantile_gain_ends(before, after, np.arange(90), 0.5, 1.0, tail_of(90), relative=relative)
    found = gain_of(paired, MEDIAN, relative=relative, limits=(ends[0],))
    assert (found.low, found.high) == ends
    assert [note.key for note in found.notes] == ["note.limit-near-evaluated"]


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("clusters", [120, 60])
def test_every_interval_says_the_level_it_was_made_at(level, clusters):
    generator = np.random.default_rng(3)
    paired = pair(*generator.lognormal(size=(2, 120)), cluster=np.arange(120) % clusters)
    for statistic in (Statistic("mean"), Statistic("total"), MEDIAN, P95):
        assert gain_of(paired, statistic, level=level).level == level
        found = value_interval(
            paired, "baseline", statistic, level=level, bounds=None, settings=Settings(resamples=1_000)
        )
        assert found.level == level


@pytest.mark.parametrize(("family", "word"), [(5, "more"), (200, "most")])
def test_a_family_too_deep_for_draws_takes_a_draw_further_out_on_either_side_and_says_which(family, word):
    generator = np.random.default_rng(2)
    weights = generator.integers(1, 5, size=(2, 9)).astype(float)
    paired = pair(*generator.lognormal(size=(2, 9)), baseline_weight=weights[0], candidate_weight=weights[1])
    level = 1.0 - 0.05 / family
    expected = 200_000 * tail_of(9, level)
    assert (expected - 3.0 * math.sqrt(expected) < 1.0) == (word == "most")
    assert expected < 50.0
    found = gain_of(paired, RATIO, level=level)
    turned = gain_of(paired, RATIO, level=level, sign=-1.0)
    assert [note.key for note in found.notes] == [f"note.family-takes-{word}-extreme"]
    assert found.notes[0].values["draws"] == "200,000"
    assert found.low < 0.0 < found.high
    assert (turned.low, turned.high) == (-found.high, -found.low)


@pytest.mark.parametrize("rows", [1, 2])
def test_the_draw_further_out_is_three_standard_errors_of_the_count_away(rows):
    # 20 of 1,000 are expected beyond the end; three standard errors of that count are 13.4.
    ordered = np.sort(np.random.default_rng(rows).normal(size=rows * 1_000))
    low, high = _guarded_ends(Draws(ordered, ordered), 1_000, 0.02)
    assert np.count_nonzero(ordered < low) == math.floor(rows * (20 - 3 * math.sqrt(20))) - 1
    assert np.count_nonzero(ordered > high) == math.floor(rows * (20 - 3 * math.sqrt(20))) - 1
    most = _guarded_ends(Draws(ordered, ordered), 1_000, 0.001)
    assert most == (ordered.min(), ordered.max())


def test_a_tail_continued_from_normal_draws_is_that_of_the_normal_distribution():
    ordered = ndtri((np.arange(4_000) + 0.5) / 4_000)
    draws = Draws(ordered, 10.0 + ordered)
    for tail in (0.2, 0.0125, 0.001, 1e-6):  # 50 of 4,000 lie beyond the second
        assert _end(draws, 4_000, tail, upper=False) == pytest.approx(ndtri(tail), abs=0.01)
        assert _end(draws, 4_000, tail, upper=True) == pytest.approx(10.0 - ndtri(tail), abs=0.01)


@pytest.mark.parametrize(("tail", "expected"), [(0.025, 100), (0.001, 50)])
def test_a_limit_is_near_within_three_standard_errors_of_the_count_beyond_the_end(tail, expected):
    # Of 4,000 draws; a tail that holds less than 50 is as uncertain as the point it is continued from.
    ordered = ndtri((np.arange(4_000) + 0.5) / 4_000)
    draws = Draws(ordered, ordered)
    error = math.sqrt((1.0 - tail) / expected) if expected == 100 else 1.0 / math.sqrt(expected)
    for standard_errors, near in ((2.8, True), (-2.8, True), (3.2, False), (-3.2, False)):
        limit = float(ndtri(tail * (1.0 + standard_errors * error)))
        for one in (limit, -limit):
            found = _nearest_limit(draws, 4_000, tail, (5.0, one))
            assert found == (one if near else None), (standard_errors, one)


@pytest.mark.parametrize(
    ("ends", "bounds", "estimate", "expected"),
    [
        ((-1e-12, 1.0 + 1e-12), (0.0, 1.0), 0.5, (0.0, 1.0)),
        ((0.25, 0.75), (0.0, 1.0), 0.5, (0.25, 0.75)),
        ((-1.0, 2.0), None, 0.5, (-1.0, 2.0)),
        ((-1.0, 2.0), (0.0, None), 0.5, (0.0, 2.0)),
        ((-1.0, 2.0), (None, 1.0), 0.5, (-1.0, 1.0)),
        ((None, 2.0), (0.0, 1.0), 0.5, (None, 1.0)),
        ((-1.0, None), (0.0, 1.0), 0.5, (0.0, None)),
        ((-0.5, 1.5), (0.0, 1.0), 1.25, (0.0, 1.25)),
        ((-0.5, 1.5), (0.0, 1.0), -0.25, (-0.25, 1.0)),
    ],
)
def test_an_interval_is_cut_off_at_the_range_and_keeps_its_estimate(ends, bounds, estimate, expected):
    notes = (Note("note.no-range"),)
    found = kept_within(Interval(*ends, 0.9, "bayesian", None, notes), bounds, estimate)
    assert found == Interval(*expected, 0.9, "bayesian", None, notes)


def test_clusters_put_in_order_keep_their_keys():
    names = [f"document {number}" for number in range(50)]
    keys, place = order_clusters(names)
    assert (np.diff(keys.astype(object)) > 0).all()
    assert np.array_equal(keys[place], cluster_keys(names))


def test_only_a_quantile_has_a_share():
    assert P95.share_below() == 0.95
    with pytest.raises(ValueError, match="a mean is no quantile"):
        Statistic("mean").share_below()
    for share in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            Statistic("quantile", share)
