"""The exact distribution against Beta, hypoexponential and drawn distributions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betainc, betaincinv, log_ndtr, ndtr

from gateline.statistics.gamma_sums import find_ends, log_lower_tail, merge_equal_rows


def jeffreys_rows(passed, count):
    return merge_equal_rows(np.array([0.0, 1.0]), np.ones(2), np.array([count - passed + 0.5, passed + 0.5]))


COUNTS = [
    (count, passed)
    for count in (2, 3, 5, 10, 20, 50, 200, 1_000, 20_000, 1_000_000)
    for passed in sorted({0, 1, 2, count // 2, int(0.9 * count), count - 1, count})
]


@pytest.mark.parametrize(("count", "passed"), COUNTS)
def test_one_pass_fail_run_has_the_ends_of_jeffreys(count, passed):
    for deviate in (-0.7, -1.96, -3.0, -6.0, -12.0):
        low, high = find_ends(jeffreys_rows(passed, count), deviate)
        expected_low = betaincinv(passed + 0.5, count - passed + 0.5, ndtr(deviate))
        expected_high = 1.0 - betaincinv(count - passed + 0.5, passed + 0.5, ndtr(deviate))
        width = expected_high - expected_low
        assert low == pytest.approx(expected_low, abs=1e-6 * width)
        assert high == pytest.approx(expected_high, abs=1e-6 * width)


@pytest.mark.parametrize(("count", "passed"), COUNTS)
def test_the_distribution_function_is_that_of_beta(count, passed):
    rows = jeffreys_rows(passed, count)
    centre = rows.mean()
    spread = math.sqrt(centre * (1.0 - centre) / count)
    for step in (-4.0, -2.0, -1.0, -0.3, -0.1, -0.01, 0.0, 1e-3, 0.1, 0.5, 1.0, 2.0, 4.0):
        q = centre + step * spread
        if 0.0 < q < 1.0:
            expected = betainc(passed + 0.5, count - passed + 0.5, q)
            assert math.exp(log_lower_tail(rows, q)) == pytest.approx(expected, abs=1e-6)


def test_nothing_lies_outside_of_the_support():
    rows = jeffreys_rows(3, 10)
    assert log_lower_tail(rows, -0.1) == -math.inf
    assert log_lower_tail(rows, 0.0) == -math.inf
    assert log_lower_tail(rows, 1.0) == 0.0


def chance_above(values, threshold):
    """P(Σ G·v ≥ threshold) for exponential weights and values that all differ (hypoexponential, closed form)."""
    signs = 1.0 if threshold >= 0.0 else -1.0
    total = 0.0
    for j, value in enumerate(values):
        if value * signs > 0.0:
            others = np.delete(values, j)
            total += math.exp(-threshold / value) * np.prod(value / (value - others))
    return total if threshold >= 0.0 else 1.0 - total


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7])
def test_exponential_weights_have_the_hypoexponential_distribution(count):
    generator = np.random.default_rng(count)
    for _ in range(20):
        values = generator.normal(size=count)
        rows = merge_equal_rows(values, np.ones(count), np.ones(count))
        for share in (0.05, 0.2, 0.5, 0.8, 0.95):
            q = values.min() + share * (values.max() - values.min())
            expected = chance_above(q - values, 0.0)
            assert math.exp(log_lower_tail(rows, q)) == pytest.approx(expected, rel=2e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_half_weight_and_unequal_denominators_agree_with_numerical_integration(seed):
    generator = np.random.default_rng(seed)
    numerator, denominator = generator.normal(size=5), generator.uniform(0.2, 3.0, size=5)
    end = (-4.0, 1.5)  # numerator and denominator of the row of shape one half
    rows = merge_equal_rows(
        np.append(numerator, end[0]), np.append(denominator, end[1]), np.append(np.ones(5), 0.5)
    )
    for q in (rows.mean() - 0.6, rows.mean() - 0.2, rows.mean() + 0.3):
        values, step = q * denominator - numerator, q * end[1] - end[0]

        def integrand(root, values=values, step=step):
            # Gamma(1/2) as the half square of a normal variable takes the pole out of its density.
            return chance_above(values, -0.5 * root**2 * step) * 2.0 * math.exp(-0.5 * root**2)

        expected = quad(integrand, 0.0, 12.0, epsabs=1e-11, limit=200)[0] / math.sqrt(2.0 * math.pi)
        assert math.exp(log_lower_tail(rows, q)) == pytest.approx(expected, rel=2e-6, abs=1e-8)


@pytest.mark.parametrize(("count", "seed"), list(itertools.product((4, 15, 60), (1, 2))))
def test_the_ends_leave_the_tails_that_draws_leave(count, seed):
    generator = np.random.default_rng([count, seed])
    numerator = np.round(generator.standard_t(2, size=count), 1)
    denominator = generator.integers(1, 5, size=count).astype(float)
    shape = np.where(generator.random(count) < 0.2, 0.5, 1.0)
    draws = 1_000_000
    above, below = np.zeros(draws), np.zeros(draws)
    for a, b, c in zip(numerator, denominator, shape, strict=True):
        weight = generator.standard_gamma(c, size=draws)
        above += weight * a
        below += weight * b
    drawn = above / below
    rows = merge_equal_rows(numerator, denominator, shape)
    for deviate in (-1.0, -1.96, -2.8):
        tail = ndtr(deviate)
        low, high = find_ends(rows, deviate)
        allowed = 5.0 * math.sqrt(tail * draws)
        assert np.count_nonzero(drawn <= low) == pytest.approx(tail * draws, abs=allowed)
        assert np.count_nonzero(drawn >= high) == pytest.approx(tail * draws, abs=allowed)


def test_a_family_of_any_size_gets_an_end_inside_the_support():
    rows = merge_equal_rows(np.array([0.1, 0.3, -1.0, 1.0]), np.ones(4), np.array([1.0, 1.0, 0.5, 0.5]))
    ends = [find_ends(rows, deviate) for deviate in (-2.0, -5.0, -18.0, -450.0)]
    for (low, high), (wider_low, wider_high) in itertools.pairwise(ends):
        assert -1.0 <= wider_low <= low < high <= wider_high <= 1.0
    assert ends[-1] == (-1.0, 1.0)


def test_a_row_without_a_denominator_leaves_no_end_of_the_support():
    rows = merge_equal_rows(np.array([1.0, 2.0, 1.0]), np.array([1.0, 1.0, 0.0]), np.ones(3))
    low, high = find_ends(rows, -1.96)
    # Q = (G1 + 2·G2 + G3)/(G1 + G2): P(Q ≤ q) by the closed form.
    assert chance_above(np.array([high - 1.0, high - 2.0, -1.0]), 0.0) == pytest.approx(
        1 - ndtr(-1.96), rel=1e-6
    )
    assert chance_above(np.array([low - 1.0, low - 2.0, -1.0]), 0.0) == pytest.approx(ndtr(-1.96), rel=1e-5)
    assert 1.0 < low < high < math.inf
    assert find_ends(rows, -60.0)[1] == math.inf


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("value", [0.3, 0.0, -7e20])
def test_equal_rows_have_one_end(value, rows):
    merged = merge_equal_rows(np.full(rows, value), np.ones(rows), np.ones(rows))
    assert find_ends(merged, -1.96) == (pytest.approx(value), pytest.approx(value))


def test_rows_are_merged_once_and_those_that_are_nothing_are_left_out():
    merged = merge_equal_rows(
        np.array([2.0, 0.0, -1.0, 2.0, 0.0, 2.0]),
        np.array([1.0, 0.0, 3.0, 1.0, 2.0, 4.0]),
        np.array([1.0, 1.0, 0.5, 2.0, 1.0, 1.0]),
    )
    assert list(zip(merged.numerator, merged.denominator, merged.shape, strict=True)) == [
        (-1.0, 3.0, 0.5),
        (0.0, 2.0, 1.0),
        (2.0, 1.0, 3.0),
        (2.0, 4.0, 1.0),
    ]
    equal = merge_equal_rows(np.array([1.0, 0.0, 1.0, -2.0]), np.array([3.0, 0.0, 3.0, 3.0]), np.ones(4))
    assert equal.numerator.tolist() == [-2.0, 1.0]
    assert equal.denominator.tolist() == [3.0, 3.0]
    assert equal.shape.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("unit", [1e-30, 1e-9, 1e9, 1e30])
def test_the_units_of_values_and_of_denominators_are_free(unit):
    values, below = np.array([0.2, -0.1, 0.7, 0.0]), np.array([1.0, 2.0, 1.5, 1.0])
    low, high = find_ends(merge_equal_rows(values, below, np.ones(4)), -1.96)
    for above, under in ((unit, 1.0), (1.0, unit), (unit, unit)):
        found = find_ends(merge_equal_rows(above * values, under * below, np.ones(4)), -1.96)
        assert found == pytest.approx((low * above / under, high * above / under), rel=1e-6)


values = st.lists(st.integers(-20, 20).map(lambda step: step / 20), min_size=2, max_size=30)


@settings(deadline=None, max_examples=100)
@given(values=values, deviate=st.floats(-6.0, -0.7), scale=st.floats(1e-12, 1e12), shift=st.floats(-3.0, 3.0))
def test_ends_move_with_scale_and_shift_and_mirror(values, deviate, scale, shift):
    values = np.array([*values, -1.0, 1.0])
    shape = np.append(np.ones(values.size - 2), [0.5, 0.5])
    low, high = find_ends(merge_equal_rows(values, np.ones(values.size), shape), deviate)
    assert -1.0 <= low < high <= 1.0
    moved = find_ends(merge_equal_rows(scale * (values + shift), np.ones(values.size), shape), deviate)
    assert moved == pytest.approx((scale * (low + shift), scale * (high + shift)), rel=1e-7, abs=1e-7 * scale)
    mirrored = find_ends(merge_equal_rows(-values, np.ones(values.size), shape), deviate)
    assert mirrored == pytest.approx((-high, -low), rel=1e-9, abs=1e-12)


@settings(deadline=None, max_examples=100)
@given(values=values, deviate=st.floats(-12.0, -0.7))
def test_the_tail_at_an_end_is_the_tail_asked_for(values, deviate):
    values = np.array([*values, -1.0, 1.0])
    rows = merge_equal_rows(values, np.ones(values.size), np.append(np.ones(values.size - 2), [0.5, 0.5]))
    low, high = find_ends(rows, deviate)
    if low > -1.0 + 1e-9:
        assert log_lower_tail(rows, low) == pytest.approx(log_ndtr(deviate), abs=2e-5 * deviate**2 + 2e-6)
    if high < 1.0 - 1e-9:
        assert log_lower_tail(rows.negated(), -high) == pytest.approx(
            log_ndtr(deviate), abs=2e-5 * deviate**2 + 2e-6
        )


@pytest.mark.parametrize(
    ("count", "lost", "gained"),
    [(200, 0, 0), (2_000, 3, 0), (20_000, 1, 0), (200_000, 5, 0), (200_000, 2, 2)],
)
def test_a_large_sample_in_which_little_differs(count, lost, gained):
    # The weights of the pairs that are the same act together like a constant: Q is nearly a difference of gammas.
    rows = merge_equal_rows(
        np.array([0.0, -1.0, 1.0]), np.ones(3), np.array([count - lost - gained, lost + 0.5, gained + 0.5])
    )
    generator = np.random.default_rng([count, lost])
    draws = 1_000_000
    below, above = generator.standard_gamma(lost + 0.5, draws), generator.standard_gamma(gained + 0.5, draws)
    drawn = (above - below) / (generator.standard_gamma(count - lost - gained, draws) + above + below)
    for deviate in (-1.0, -1.96, -3.0):
        tail = ndtr(deviate)
        low, high = find_ends(rows, deviate)
        allowed = 5.0 * math.sqrt(tail * draws)
        assert np.count_nonzero(drawn <= low) == pytest.approx(tail * draws, abs=allowed)
        assert np.count_nonzero(drawn >= high) == pytest.approx(tail * draws, abs=allowed)
