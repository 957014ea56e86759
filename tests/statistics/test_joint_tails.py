"""The chance that two sets of samples both weigh enough, beside counts, exact tails and plain draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.statistics.dirichlet_tails import both_weigh_enough
from gateline.statistics.gamma_sums import log_lower_tail, merge_equal_rows
from gateline.statistics.joint_tails import JointTail


def weigh(size, first, second, share):
    """Return the chance of two sets."""
    size, *sets = (np.array(each) for each in (size, first, second))
    return JointTail(size, [tuple(sets)], share).chance()


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(st.integers(20, 60), st.integers(0, 9), st.integers(0, 9), st.integers(20, 60)),
    st.sampled_from([0.05, 0.3, 0.5, 0.8, 0.95]),
)
def test_single_samples_weigh_what_their_counts_say(counts, share):
    kinds = np.repeat([(1, 1), (1, 0), (0, 1), (0, 0)], counts, axis=0)
    expected = both_weigh_enough(*(np.array([count]) for count in counts), share)[0]
    assert weigh(np.ones(len(kinds), dtype=int), *kinds.T, share) == pytest.approx(expected, abs=2e-6)


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


def test_samples_join_and_leave_on_a_walk():
    size = np.full(40, 2)
    nothing, half, most = (np.full(40, count) for count in (0, 1, 2))
    tail = JointTail(size, [(nothing, nothing), (half, half), (most, most)], 0.85)
    tail.move(list(range(40)), first=1, second=1)
    tail.move(list(range(30)), first=1)
    tail.move(list(range(5, 35)), second=1)
    first, second = [2] * 30 + [1] * 10, [1] * 5 + [2] * 30 + [1] * 5
    assert tail.chance() == pytest.approx(weigh(size, first, second, 0.85), abs=1e-9)
    assert 0.1 < tail.chance() < 0.9
    tail.move([34, 33, 34], second=-1)
    second[33], second[34] = 1, 0
    assert tail.chance() == pytest.approx(weigh(size, first, second, 0.85), abs=1e-9)
