"""The chance that two sets of single samples both weigh enough, beside volumes of the simplex and plain draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gateline.statistics.dirichlet_tails import both_weigh_enough


def weigh(counts: tuple[int, int, int, int], probability: float) -> float:
    return float(both_weigh_enough(*(np.array([count]) for count in counts), probability)[0])


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_the_probability_of_four_single_pairs_is_a_volume_of_the_simplex(probability):
    """Uniform on the simplex: both complements weigh at most q with probability 6 ∫ (q − u)² du = 2 q³, q ≤ 1/2."""
    if probability >= 0.5:
        expected = 2.0 * (1.0 - probability) ** 3
    else:
        one_little = 3.0 * probability**2 - 2.0 * probability**3  # Beta(2, 2)
        expected = 1.0 - 2.0 * one_little + 2.0 * probability**3
    assert weigh((1, 1, 1, 1), probability) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("counts", "probability"),
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
def test_the_probability_of_two_overlapping_sets_is_that_of_drawn_weights(counts, probability):
    draws = 400_000
    weights = np.random.default_rng(3).standard_gamma(np.array(counts, dtype=float), size=(draws, 4))
    weights /= weights.sum(axis=1, keepdims=True)
    seen = np.mean(np.minimum(weights[:, 1], weights[:, 2]) + weights[:, 0] >= probability)
    found = weigh(counts, probability)
    assert abs(found - seen) <= 5.0 * math.sqrt(max(found * (1.0 - found), 1e-6) / draws)


def test_what_is_out_of_reach_has_no_chance():
    """Twenty of 42 samples weigh less than a twentieth with a chance below 1e-12: both sets weigh enough."""
    assert weigh((20, 1, 1, 20), 0.05) == pytest.approx(1.0, abs=1e-9)
    assert weigh((20, 1, 1, 20), 0.95) == pytest.approx(0.0, abs=1e-9)
