"""Intervals of correlation, kappa and the corrected rate: against numeric derivatives and draws made here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from gateline.statistics import cluster_keys
from gateline.statistics.correlation import Correlation, correlate
from gateline.statistics.end_points import adjusted_deviate
from gateline.statistics.kappa import _end_points, _merged_tables, cohens_kappa, kappa_interval
from gateline.statistics.merged_draws import DRAWS, MergedRows
from gateline.statistics.prediction_powered import JudgedSamples
from gateline.statistics.rogan_gladen import correct_rate, measure_separation


def weighted_correlation(first, second, weights, *, ranks):
    """Return the correlation under weights; a rank is the share of weight below, half of its own counted in."""
    if ranks:
        first, second = ((np.sign(values[:, None] - values) + 1) @ weights / 2 for values in (first, second))
    covariance = np.cov(first, second, aweights=weights, ddof=0)
    return covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])


def interval_by_derivatives(first, second, cluster, *, ranks, level):
    """Return the ends from the derivative of the correlation by each weight, taken numerically."""
    samples = first.size
    value = weighted_correlation(first, second, np.ones(samples), ranks=ranks)
    weights = np.ones(samples + 4)
    weights[samples:] = 0.25 if abs(value) > 1.0 - 1.0 / samples else 0.0
    low, high = first.min(), first.max()
    least, most = second.min(), second.max()
    first, second = np.append(first, [low, high, low, high]), np.append(second, [least, most, most, least])
    middle = weighted_correlation(first, second, weights, ranks=ranks)
    pulls = []
    for place in range(samples):
        more, less = weights.copy(), weights.copy()
        more[place] += 1e-4
        less[place] -= 1e-4
        ends = [weighted_correlation(first, second, one, ranks=ranks) for one in (more, less)]
        pulls.append((ends[0] - ends[1]) / 2e-4)
    clusters = np.unique(cluster).size
    by_cluster = [
        sum(pull for pull, one in zip(pulls, cluster, strict=True) if one == code) for code in set(cluster)
    ]
    error = math.sqrt(np.sum(np.square(by_cluster)) * clusters / (clusters - 1)) / (1.0 - middle**2)
    error = max(error, 1.0 / math.sqrt(samples - 3))
    reach = stats.t.ppf(0.5 + 0.5 * level, clusters - 2) * error
    ends = np.tanh(np.arctanh(middle) + np.array([-reach, reach]))
    return min(ends[0], value), max(ends[1], value)


@pytest.mark.parametrize("ranks", [False, True])
@pytest.mark.parametrize("noise", [2.0, 0.5, 0.15, 0.0])
@pytest.mark.parametrize(("clusters", "each"), [(5, 2), (9, 1), (30, 1), (12, 4)])
def test_the_ends_of_a_correlation_follow_from_the_derivative_by_each_weight(clusters, each, noise, ranks):
    """Ties, unlike scales, clusters, and near perfect ones, to which the corners of what was seen are added."""
    generator = np.random.default_rng([clusters, each, int(100 * noise)])
    cluster = np.repeat(np.arange(clusters), each)
    first = np.round(generator.gamma(2.0, 4.0, cluster.size))
    second = 100.0 - 3.0 * (first + np.round(noise * 4.0 * generator.normal(size=cluster.size)))
    for other in (second, -second):
        found = correlate(first, other, cluster, level=0.9, ranks=ranks)
        expected = interval_by_derivatives(first, other, cluster, ranks=ranks, level=0.9)
        assert (found.interval.low, found.interval.high) == pytest.approx(expected, abs=1e-6)
        assert (found.interval.level, found.interval.method, found.interval.resamples) == (
            0.9,
            "influence",
            None,
        )


def test_a_correlation_just_below_the_last_sample_is_not_near_perfect():
    """Between 1 − 2/n and 1 − 1/n no corner is added."""
    generator = np.random.default_rng(3)
    first = generator.normal(size=20)
    second = first + 0.4 * generator.normal(size=20)
    value = stats.pearsonr(first, second).statistic
    assert 1 - 2 / 20 < value < 1 - 1 / 20
    found = correlate(first, second, np.arange(20), level=0.95, ranks=False)
    expected = interval_by_derivatives(first, second, np.arange(20), ranks=False, level=0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("ranks", [False, True])
def test_a_rating_that_never_changes_has_no_correlation(ranks):
    moving, still = np.arange(8.0), np.full(8, 0.1)
    for pair in ((moving, still), (still, moving), (still, still)):
        assert correlate(*pair, np.arange(8), level=0.95, ranks=ranks) == Correlation(None, None)


def test_a_correlation_keeps_to_its_scale():
    generator = np.random.default_rng(4)
    first, second = generator.normal(size=(2, 12))
    found = correlate(first, second, np.arange(12), level=0.95, ranks=False)
    tiny = correlate(1e-15 * first, 1e15 * second, np.arange(12), level=0.95, ranks=False)
    assert tiny.value == pytest.approx(found.value, abs=1e-12)
    assert tiny.interval.low == pytest.approx(found.interval.low, abs=1e-12)


def kappa_by_hand(tables, *, weighted):
    """Return 1 − cost seen / cost by chance of tables (K, K, …), cell by cell."""
    total, size = tables.sum(axis=(0, 1)), len(tables)
    seen = chance = 0.0
    for row, column in np.ndindex(size, size):
        cost = (row - column) ** 2 if weighted else float(row != column)
        seen = seen + cost * tables[row, column] / total
        chance = chance + cost * tables[row].sum(axis=0) * tables[:, column].sum(axis=0) / total**2
    return 1.0 - seen / chance


def ends_of_draws(draws, tail):
    """Return the quantiles of draws at both ends, and five standard errors of each."""
    ends = np.quantile(draws, [tail, 1.0 - tail])
    step = 5.0 * math.sqrt(tail / draws.size)
    near = np.quantile(draws, [[tail - step, 1.0 - tail - step], [tail + step, 1.0 - tail + step]])
    return ends, (near[1] - near[0]) / 2.0


KAPPA = [
    # People's labels, the judge's, the cluster of each: uneven margins, a last category that one side never uses.
    ([0, 0, 0, 0, 0, 0, 1, 1, 2, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1], range(12), 0.9),
    (
        [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 2],
        [1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1],
        [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4],
        0.8,
    ),
    ([2, 2, 2, 1, 0, 2, 2, 2], [2, 2, 1, 1, 0, 2, 2, 2], [0, 0, 0, 0, 1, 1, 1, 1], 0.6),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("human", "judge", "cluster", "level"), KAPPA)
def test_the_interval_of_kappa_is_that_of_draws_made_here(human, judge, cluster, level, weighted):
    human, judge, cluster = np.array(human), np.array(judge), np.array(cluster)
    clusters = np.unique(cluster).size
    tables = np.zeros((3, 3, clusters))
    np.add.at(tables, (human, judge, cluster), 1.0)
    seen = tables.sum(axis=2)
    rows, columns = seen.sum(axis=1) / seen.sum(), seen.sum(axis=0) / seen.sum()
    agree, differ = np.diag((rows + columns) / 2.0), np.outer(rows, columns)
    differ[np.eye(3, dtype=bool)] = 0.0
    average = human.size / clusters
    parts = np.dstack([tables, average * agree / agree.sum(), average * differ / differ.sum()])
    generator = np.random.default_rng(7)
    weights = generator.standard_gamma(
        np.append(np.ones(clusters), [0.5, 0.5])[:, None], (clusters + 2, DRAWS)
    )
    draws = kappa_by_hand(parts @ weights, weighted=weighted)
    expected, allowed = ends_of_draws(draws, float(ndtr(adjusted_deviate(level, clusters))))
    value = kappa_by_hand(seen, weighted=weighted)
    found = kappa_interval(human, judge, cluster, categories=3, level=level, seed=5, weighted=weighted)
    assert cohens_kappa(seen, weighted=weighted) == pytest.approx(value, abs=1e-12)
    assert found.low == pytest.approx(min(expected[0], value), abs=allowed[0])
    assert found.high == pytest.approx(max(expected[1], value), abs=allowed[1])
    assert (found.level, found.method, found.resamples, found.notes) == (level, "bayesian", DRAWS, ())


def test_kappa_is_plain_unless_weights_are_asked_for():
    human, judge = np.array([0, 1, 2, 2, 0, 1]), np.array([0, 1, 0, 2, 1, 1])
    table = np.zeros((3, 3))
    np.add.at(table, (human, judge), 1.0)
    assert cohens_kappa(table) == cohens_kappa(table, weighted=False) != cohens_kappa(table, weighted=True)
    ends = [
        kappa_interval(human, judge, np.arange(6), categories=3, level=0.9, seed=1, **chosen)
        for chosen in ({}, {"weighted": False}, {"weighted": True})
    ]
    assert ends[0] == ends[1] != ends[2]


@pytest.mark.parametrize("weighted", [False, True])
def test_kappa_knows_shares_only(weighted):
    table = np.array([[7.0, 2.0, 0.0], [1.0, 5.0, 3.0], [0.0, 1.0, 4.0]])
    for scale in (1e-3, 0.04, 1e6):
        assert cohens_kappa(scale * table, weighted=weighted) == pytest.approx(
            cohens_kappa(table, weighted=weighted), abs=1e-12
        )


def test_labels_that_are_clusters_of_their_own_are_merged_as_others_are():
    generator = np.random.default_rng(2)
    cells = generator.integers(0, 7, 40)
    table = np.bincount(cells, minlength=9).reshape(3, 3).astype(float)
    ends = _end_points(table)
    rows, columns = table.sum(axis=1) / 40.0, table.sum(axis=0) / 40.0
    chance = np.outer(rows, columns) * (1.0 - np.eye(3))
    assert ends[0].reshape(3, 3) == pytest.approx(np.diag(0.5 * (rows + columns)), abs=1e-12)
    assert ends[1].reshape(3, 3) == pytest.approx(chance / chance.sum(), abs=1e-12)
    unfolded = np.zeros((40, 9))
    unfolded[np.arange(40), cells] = 1.0
    short, long = _merged_tables(cells, np.arange(40), 9, ends), MergedRows.of(unfolded, ends)
    assert np.array_equal(short.columns, long.columns)
    assert np.array_equal(short.shape, long.shape)


def samples_of(judge, human, cluster=None):
    cluster = np.arange(judge.size) if cluster is None else np.asarray(cluster)
    keys = cluster_keys([str(code) for code in range(int(cluster.max()) + 1)])
    return JudgedSamples(judge.astype(float), human.astype(float), cluster, keys)


def test_a_level_beyond_the_draws_is_said():
    generator = np.random.default_rng(6)
    human = (np.arange(400) % 3 == 0).astype(int)
    judge = np.where(generator.random(400) < 0.97, human, 1 - human)
    few = np.where(np.arange(400) < 20, human, math.nan)
    level = 1.0 - 1e-6
    for interval in (
        kappa_interval(human, judge, np.arange(400), categories=2, level=level, seed=1),
        correct_rate(samples_of(judge, human), level=level, seed=1).interval,
        measure_separation(samples_of(judge, few), level=level, seed=1).interval,
    ):
        assert interval.level == level
        assert [note.key for note in interval.notes] == ["note.family-takes-most-extreme"]
        assert interval.resamples == 200_000


RATES = [
    # Labelled 1 and said so, 1 and not, 0 and said so, 0 and not; unlabelled said to be 1 and 0; samples a cluster.
    ((9, 1, 2, 10), (20, 24), 1, 0.9),
    ((10, 2, 2, 12), (30, 12), 2, 0.8),
    ((5, 0, 1, 8), (3, 40), 1, 0.8),
    ((5, 2, 2, 9), (11, 9), 1, 0.6),
    (
        (4, 2, 1, 3),
        (30, 10),
        1,
        0.7,
    ),  # in a tenth of the draws the judge is no better than chance; above 1, cut off
    ((11, 1, 0, 9), (57, 2), 3, 0.7),
]


@pytest.mark.parametrize(("labelled", "rest", "each", "level"), RATES)
def test_the_interval_of_a_corrected_rate_is_that_of_draws_made_here(labelled, rest, each, level):
    told = [(1, 1), (1, 0), (0, 1), (0, 0), (math.nan, 1), (math.nan, 0)]
    human, judge = np.repeat(np.array(told, dtype=float), [*labelled, *rest], axis=0).T
    cluster = np.random.default_rng(sum(rest)).permutation(human.size) // each
    clusters = int(cluster.max()) + 1

    def per_cluster(rows):
        return np.bincount(cluster, rows, minlength=clusters)

    parts = []  # of the sensitivity, the false-positive rate and the judged rate: numerator and denominator
    for among in (human == 1, human == 0, np.ones(human.size, dtype=bool)):
        below = per_cluster(among)
        size = below.sum() / np.count_nonzero(below)
        parts.append((per_cluster(among & (judge == 1)), below, size, np.count_nonzero(below)))
    generator = np.random.default_rng(8)
    weights = generator.standard_exponential((clusters, 2 * DRAWS))
    rates = []
    for above, below, size, _ in parts:
        low, high = generator.standard_gamma(0.5, (2, 2 * DRAWS))
        rates.append((above @ weights + size * high) / (below @ weights + size * (low + high)))
    better = rates[0] > rates[1]
    corrected = (rates[2] - rates[1]) / (rates[0] - rates[1])
    tail = float(ndtr(adjusted_deviate(level, min(parts[0][3], parts[1][3]))))
    both = [
        np.where(better, corrected, beyond) for beyond in (-1e6, 1e6)
    ]  # what can't be corrected: half on each side
    ends, allowed = ends_of_draws(np.concatenate(both), tail)
    ratios = [above.sum() / below.sum() for above, below, _, _ in parts]
    value = (ratios[2] - ratios[1]) / (ratios[0] - ratios[1])
    found = correct_rate(samples_of(judge, human, cluster), level=level, seed=2)
    assert found.value == pytest.approx(min(max(value, 0.0), 1.0), abs=1e-12)
    assert found.cut_off is not (0.0 <= value <= 1.0)
    low, high = min(ends[0], found.value), max(ends[1], found.value)
    assert found.interval.low == pytest.approx(max(low, 0.0), abs=2.0 * allowed[0])
    assert found.interval.high == pytest.approx(min(high, 1.0), abs=2.0 * allowed[1])
    assert 0.0 <= found.interval.low <= found.interval.high <= 1.0
    assert (found.interval.level, found.interval.method, found.interval.notes) == (level, "bayesian", ())
    assert found.interval.resamples >= DRAWS


def test_a_class_in_one_cluster_gives_a_separation_without_an_interval_and_no_rate():
    human, judge = np.array([1, 1, 0, 0, 0]), np.array([1, 1, 0, 1, 0])
    one = samples_of(judge, human, [0, 0, 1, 2, 3])
    found = measure_separation(one, level=0.9, seed=1)
    assert found.value == pytest.approx(2 / 3)
    assert found.interval is None
    assert found.reason == "fewer than 2 clusters in one of the classes"
    rate = correct_rate(one, level=0.9, seed=1)
    assert (rate.value, rate.interval, rate.reason) == (None, None, found.reason)
    two = measure_separation(samples_of(judge, human, [0, 1, 2, 3, 3]), level=0.6, seed=1)
    assert (two.reason, two.interval.level, two.interval.method) == ("", 0.6, "bayesian")


@pytest.mark.parametrize("judge_is_right", [True, False])
def test_separation_stays_between_its_ends(judge_is_right):
    human = (np.arange(60) % 2).astype(float)
    found = measure_separation(
        samples_of(human if judge_is_right else 1.0 - human, human), level=0.95, seed=1
    )
    assert found.value == (1.0 if judge_is_right else -1.0)
    ends = (found.interval.low, found.interval.high)
    assert ends[1 if judge_is_right else 0] == found.value
    assert 0.8 < abs(ends[0 if judge_is_right else 1]) < 1.0
    assert found.interval.resamples is None


def test_where_draws_decide_the_separation_goes_with_the_seed_and_says_how_many():
    human, judge = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0]), np.array([1, 1, 0, 1, 0, 1, 0, 0, 0])
    first, again, other = (
        measure_separation(samples_of(judge, human), level=0.8, seed=seed).interval for seed in (1, 1, 2)
    )
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
    assert (first.low, first.high) == pytest.approx((other.low, other.high), abs=0.05)
    assert first.resamples == DRAWS
