"""The chance that two sets of samples both weigh enough, beside volumes of the simplex, exact tails and plain draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.statistics.gamma_sums import log_lower_tail, merge_equal_rows
from gateline.statistics.joint_tails import JointTail


def weigh(size, first, second, share):
    """Return the chance of two sets."""
    size, *sets = (np.array(each) for each in (size, first, second))
    chance = JointTail(size, [tuple(sets)], share)
    chance.add(1.0)
    return chance.take_sum()


def singles(both, first, second, neither):
    """Return sizes and sets of clusters of one sample."""
    kinds = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    return [1] * len(kinds), [a for a, _ in kinds], [b for _, b in kinds]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_four_single_samples_have_a_volume_of_the_simplex(share):
    """Uniform on the simplex: both complements weigh at most q with probability 6 ∫ (q − u)² du = 2 q³, q ≤ 1/2."""
    if share >= 0.5:
        expected = 2.0 * (1.0 - share) ** 3
    else:
        one_little = 3.0 * share**2 - 2.0 * share**3  # Beta(2, 2)
        expected = 1.0 - 2.0 * one_little + 2.0 * share**3
    assert weigh(*singles(1, 1, 1, 1), share) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize(
    ("counts", "share"),
    [
        ((180, 8, 7, 5), 0.95),
        ((0, 3, 4, 2), 0.5),
        ((0, 3, 4, 2), 0.4),
        ((0, 3, 4, 0), 0.4),
        ((30, 5, 5, 0), 0.9),
        ((5, 0, 3, 2), 0.6),
        ((5, 3, 0, 2), 0.6),
        ((5, 0, 0, 2), 0.6),
        ((90, 10, 20, 80), 0.5),
        ((3, 2, 5, 100), 0.05),
        ((1715, 276, 294, 1715), 0.5),
        ((67, 933, 920, 18080), 0.05),
    ],
)
def test_two_overlapping_sets_weigh_what_drawn_weights_do(counts, share):
    draws = 400_000
    weights = np.random.default_rng(3).standard_gamma(np.array(counts, dtype=float), size=(draws, 4))
    weights /= weights.sum(axis=1, keepdims=True)
    seen = np.mean(np.minimum(weights[:, 1], weights[:, 2]) + weights[:, 0] >= share)
    found = weigh(*singles(*counts), share)
    assert abs(found - seen) <= 5.0 * math.sqrt(max(found * (1.0 - found), 1e-6) / draws)


@st.composite
def sets(draw):
    """Return sizes of clusters, one of them perhaps as large as all others, and two sets."""
    size = np.array(draw(st.lists(st.integers(1, 8), min_size=2, max_size=30)))
    if draw(st.booleans()):
        size[0] = size.sum()
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    first, second = generator.binomial(size, draw(st.floats(0.02, 0.98)), size=(2, size.size))
    return size, first, second


@settings(max_examples=40, deadline=None)
@given(sets(), st.sampled_from([0.05, 0.3, 0.5, 0.9, 0.95]))
def test_sets_of_clusters_weigh_what_drawn_weights_do(clusters, share):
    size, first, second = clusters
    weights = np.random.default_rng(5).exponential(size=(100_000, size.size))
    needed = share * (1.0 - 1e-12) * (weights @ size)
    seen = np.mean((weights @ first >= needed) & (weights @ second >= needed))
    found = weigh(size, first, second, share)
    assert abs(found - seen) <= 5.5 * math.sqrt(max(found * (1.0 - found), 1e-5) / 100_000)


@settings(max_examples=25, deadline=None)
@given(sets(), st.sampled_from([0.05, 0.5, 0.9]))
def test_of_a_set_inside_the_other_the_smaller_one_decides(clusters, share):
    size, first, second = clusters
    inner, outer = np.minimum(first, second), np.maximum(first, second)
    rows = merge_equal_rows(-inner.astype(float), size.astype(float), np.ones(size.size))
    expected = math.exp(log_lower_tail(rows, -share * (1.0 - 1e-12)))
    for pair in ((inner, outer), (outer, inner)):
        assert weigh(size, *pair, share) == pytest.approx(expected, abs=2e-6)


def test_a_sum_adds_and_takes_off_and_begins_anew():
    size = np.full(40, 2)
    nothing, half, most = (np.full(40, count) for count in (0, 1, 2))
    most[0] = 1
    chance = JointTail(size, [(nothing, nothing), (half, half), (most, most)], 0.85)
    chance.move(list(range(40)), first=1, second=1)
    chance.move(list(range(30)), first=1)
    chance.move(list(range(5, 35)), second=1)
    chance.add(1.0)
    once = chance.take_sum()
    first, second = [2] * 30 + [1] * 10, [1] * 5 + [2] * 30 + [1] * 5
    assert once == pytest.approx(weigh(size, first, second, 0.85), abs=1e-9)
    chance.move([34], second=-1)
    chance.add(1.0)
    chance.move([34], second=1)
    chance.add(-1.0)
    second[34] = 1
    assert 0.01 < once - weigh(size, first, second, 0.85) < 0.5
    assert chance.take_sum() == pytest.approx(weigh(size, first, second, 0.85) - once, abs=1e-9)
    assert chance.take_sum() == 0.0
