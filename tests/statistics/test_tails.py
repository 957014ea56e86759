"""Tails of gamma combinations: against Beta tails of any size, the textbook's series, and what a search may cost."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betaincc
from scipy.stats import norm

from gateline.statistics import tails
from gateline.statistics.gamma_sums import find_ends, merge_equal_rows
from gateline.statistics.tails import SERIES_IS_EXACT, Tail


def share_at(first, second, depth):
    """Return the share of the first of two gamma weights that lies so many deviates above its mean."""
    share = first / (first + second)
    return share + depth * math.sqrt(share * (1.0 - share) / (first + second + 1.0))


BETAS = [
    (first, second, depth)
    for first, second in itertools.product((0.5, 2.0, 40.0, 900.0, 30_000.0), repeat=2)
    for depth in (0.02, 0.3, 0.9, 1.5, 2.5, 6.0)
    if share_at(first, second, depth) < 1.0
]


def beta_tail(first, second, depth):
    """Return rows G_a·(1 − q) − G_b·q, whose tail is that of a share above q, and the log of that tail."""
    q = share_at(first, second, depth)
    exact = float(betaincc(first, second, q))
    assert exact > 1e-290
    return np.array([1.0 - q, -q]), np.array([first, second]), math.log(exact)


@pytest.mark.parametrize(("first", "second", "depth"), BETAS)
def test_the_contour_gives_a_beta_tail_to_a_millionth(first, second, depth):
    c, shape, exact = beta_tail(first, second, depth)
    tail = Tail.at(c, shape, 0.0)
    assert float(shape @ (c / (1.0 - tail.saddle * c))) == pytest.approx(
        0.0, abs=1e-7 * math.sqrt(tail.variance)
    )
    assert tail.log_probability_by_contour() == pytest.approx(exact, abs=2e-6)
    assert tail.log_probability() == pytest.approx(exact, abs=2e-6)
    for start in (0.5 * tail.saddle, tail.saddle, 0.999 / (1.0 - c[0]), -1.0, 1e9):
        assert Tail.at(c, shape, start).saddle == pytest.approx(tail.saddle, rel=1e-6)


@pytest.mark.parametrize(("first", "second", "depth"), BETAS)
def test_the_series_is_that_of_the_textbook_and_exact_where_it_says_so(first, second, depth):
    """Lugannani and Rice: 1 − Φ(w) + φ(w)·(1/u − 1/w), and the second term of Daniels 1987, by cumulants."""
    c, shape, exact = beta_tail(first, second, depth)
    tail = Tail.at(c, shape, 0.0)
    tilted = c / (1.0 - tail.saddle * c)
    cumulants = [math.factorial(order - 1) * float(shape @ tilted**order) for order in (2, 3, 4)]
    u = tail.saddle * math.sqrt(cumulants[0])
    w = math.sqrt(2.0 * float(shape @ np.log(1.0 - tail.saddle * c)))
    found, size = tail.log_probability_by_series()
    if min(u, w) <= 0.05:
        assert math.isnan(found)
        assert size == math.inf
        return
    skewness, kurtosis = cumulants[1] / cumulants[0] ** 1.5, cumulants[2] / cumulants[0] ** 2
    one = norm.sf(w) + norm.pdf(w) * (1.0 / u - 1.0 / w)
    correction = (kurtosis / 8.0 - 5.0 * skewness**2 / 24.0) / u - skewness / (2.0 * u**2) - u**-3 + w**-3
    two = one + norm.pdf(w) * correction
    if two > 0.5 * one > 0.0:
        assert found == pytest.approx(math.log(two), abs=1e-4 if u < 0.2 else 1e-7)
        terms = max(kurtosis / 8.0, 5.0 * skewness**2 / 24.0)
        assert size == (pytest.approx(terms, rel=1e-6) if u > 1.3 else math.inf)
    else:
        assert size == math.inf
        assert found == pytest.approx(math.log(one), abs=1e-6) if one > 0.0 else math.isnan(found)
    if size < SERIES_IS_EXACT:
        assert found == pytest.approx(exact, abs=3e-6)


@pytest.mark.parametrize(("c", "shape"), [
    ([-0.71, 0.62], [2.0, 0.1]),  # the second term is more than half of the first
    ([0.39, -0.58, 0.11], [0.05, 1.0, 0.05]),
    ([-0.11, 1.42], [2.0, 0.05]),  # the first alone is below 0
    ([2.05, -0.08], [0.05, 2.0]),
])  # fmt: skip
def test_where_the_series_fails_its_first_term_or_nothing_is_given(c, shape):
    tail = Tail.at(np.array(c), np.array(shape), 0.0)
    u, w = tail.standard_saddle(), math.sqrt(-2.0 * tail.exponent)
    one = norm.sf(w) + norm.pdf(w) * (1.0 / u - 1.0 / w)
    found, size = tail.log_probability_by_series()
    assert size == math.inf
    assert found == pytest.approx(math.log(one), abs=1e-9) if one > 0.0 else math.isnan(found)


def by_inversion(c, shape):
    """Return P(Σ G·c ≥ 0) by the integral of Gil-Pelaez along the imaginary axis, on a log scale."""

    def integrand(log_t):
        t = math.exp(log_t)
        size = -0.5 * float(np.log1p((t * c) ** 2) @ shape)
        return math.exp(size) * math.sin(float(np.arctan(t * c) @ shape))

    return 0.5 + quad(integrand, -40.0, 40.0, limit=2_000, epsabs=1e-11)[0] / math.pi


@pytest.mark.parametrize("seed", range(12))
def test_the_contour_agrees_with_an_integral_along_another_path(seed):
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(3, 12))
    c = generator.standard_t(3, size=rows) * generator.choice([1.0, 0.05], rows)
    shape = generator.choice([0.5, 1.0, 1.0, 7.0], rows)
    c -= float(shape @ c) / shape.sum() + 0.1 * generator.random() * np.abs(c).max()
    c[0], shape[0] = max(c[0], 0.3), 0.5
    if float(shape @ c) >= 0.0:
        c[1] -= (float(shape @ c) + 0.1) / shape[1]
    found = math.exp(Tail.at(c, shape, 0.0).log_probability_by_contour())
    assert found == pytest.approx(by_inversion(c, shape), abs=1e-8)


def test_an_end_costs_few_steps(monkeypatch):
    """Counted, not timed: of both ends 8.4 tails on average, each found in 3 steps, and 5 walked; at most 11 and 6."""
    counts = {"tails": 0, "steps": 0, "walks": 0}

    def counted(name, function):
        def call(*given):
            counts[name] += 1
            return function(*given)

        return call

    monkeypatch.setattr(Tail, "at", staticmethod(counted("tails", Tail.at)))
    monkeypatch.setattr(Tail, "_walk", counted("walks", Tail._walk))
    monkeypatch.setattr(tails, "_step_towards_root", counted("steps", tails._step_towards_root))
    most, total, ends = dict.fromkeys(counts, 0), dict.fromkeys(counts, 0), 0
    generator = np.random.default_rng(0)
    cases = [(np.array([0.0, 1.0]), np.ones(2), np.array([n - k + 0.5, k + 0.5]))
             for n in (3, 20, 200, 20_000) for k in (0, 1, n // 2, n - 1)]  # fmt: skip
    for rows in (3, 10, 40, 150):
        values = np.round(generator.standard_t(2, size=rows), 1)
        cases.append((values, generator.integers(1, 5, rows).astype(float), np.ones(rows)))
    below = np.array(
        [1.0, 1.0, 0.0, 2.0, 1.0]
    )  # where one has no denominator the support has no end on its side
    cases += [(np.array([1.0, 2.0, above, 0.5, -3.0]), below, np.ones(5)) for above in (-1.0, 2.0, -20.0)]
    for case in cases:
        for deviate in (-1.0, -1.96, -3.0):
            counts.update(dict.fromkeys(counts, 0))
            find_ends(merge_equal_rows(*case), deviate)
            ends += 1
            for name, count in counts.items():
                most[name], total[name] = max(most[name], count), total[name] + count
    assert most["tails"] <= 11
    assert most["walks"] <= 7
    assert total["tails"] / ends < 8.8
    assert total["steps"] / ends < 27.0
    assert total["walks"] / ends < 5.3


@pytest.mark.parametrize(
    ("first", "second", "depth"), [(0.5, 2.0, 0.3), (40.0, 0.5, 0.02), (2.0, 900.0, 6.0)]
)
def test_where_the_bent_contour_gives_nothing_a_straight_one_decides(monkeypatch, first, second, depth):
    c, shape, exact = beta_tail(first, second, depth)
    bent, bends = Tail._walk, []

    def fail_once(tail, spread, near, far, step):
        bends.append((near, far))
        return bent(tail, spread, near, far, step) if len(bends) > 1 else 0.0

    monkeypatch.setattr(Tail, "_walk", fail_once)
    found = Tail.at(c, shape, 0.0).log_probability_by_contour()
    assert bends[1:] == [(0.0, 0.0)]
    assert found == pytest.approx(exact, abs=2e-5)
