"""The chance that two sets of single samples both weigh at least a share.

With weights of one exponential each (Rubin 1981), divided by their sum, any four disjoint sets of samples have weights
(w₁₁, w₁₀, w₀₁, w₀₀) ~ Dirichlet(their counts). The chance P(w₁₁ + w₁₀ ≥ p and w₁₁ + w₀₁ ≥ p) is an integral in two
variables whose inner part is an incomplete beta function. Clusters of several samples have no such form: `joint_tails`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_OUTER, _INNER = 40, 20
"""Nodes of the two integrals; the outer one crosses the width of the inner one many times."""
_NEGLIGIBLE = 1e-9
"""Probability that is left out at either end of a variable."""


def both_weigh_enough(both: Whole, first: Whole, second: Whole, neither: Whole, probability: float) -> Floats:
    """Return P(w₁₁ + w₁₀ ≥ p and w₁₁ + w₀₁ ≥ p), (w₁₁, w₁₀, w₀₁, w₀₀) ~ Dirichlet(both, first, second, neither).

    Arrays of whole counts ≥ 0, shape (k,); `probability` p lies inside 0 … 1. Absolute error below 2e-7 for counts
    that add up to 20,000 at most (docs/statistics.md, section 6).
    """
    size = both + first + second + neither
    found = np.empty(size.size)
    nested = (first == 0) | (second == 0)  # one set holds the other, and the smaller one decides
    found[nested] = weighs_enough(both[nested], size[nested], probability)
    for place in np.flatnonzero(~nested):
        counts = (int(both[place]), int(first[place]), int(second[place]), int(neither[place]))
        found[place] = _integrate(*counts, probability)
    return found


def _integrate(both: int, first: int, second: int, neither: int, probability: float) -> float:
    """Return the probability by the sets that weigh little: those outside of a high quantile, inside a low one."""
    if both > 0 and (probability >= 0.5 or neither == 0):
        return _weigh_little(neither, first, second, both, 1.0 - probability)
    # Both weigh enough unless one doesn't.
    reached = weighs_enough(both + np.array([first, second]), both + first + second + neither, probability)
    little = _weigh_little(both, first, second, neither, probability) if neither > 0 else 0.0
    return float(max(reached.sum() - 1.0 + little, 0.0))


def _weigh_little(both: int, first: int, second: int, neither: int, most: float) -> float:
    """Return P(w₁₁ + w₁₀ ≤ most and w₁₁ + w₀₁ ≤ most) for counts of at least 1, `both` of at least 0."""
    if both > 0:
        outer, weight = _nodes_of_beta(both, first + second + neither, most)
    else:
        outer, weight = np.zeros(1), np.ones(1)
    room = np.maximum((most - outer) / (1.0 - outer), 0.0)  # below 0 where so little is out of reach
    nodes, shares = _rule(_INNER)
    least, highest = betaincinv(first, second + neither, [_NEGLIGIBLE, 1.0 - _NEGLIGIBLE])
    high = np.clip(room, least, highest)[:, None]
    inner = least + (high - least) * nodes
    density = np.exp(
        (first - 1) * np.log(inner)
        + (second + neither - 1) * np.log1p(-inner)
        - betaln(first, second + neither)
    )
    reached = betainc(second, neither, np.minimum(room[:, None] / (1.0 - inner), 1.0))
    return float(weight @ ((high - least)[:, 0] * ((density * reached) @ shares)))


def _nodes_of_beta(first: int, second: int, most: float) -> tuple[Floats, Floats]:
    """Return points of a Beta variable up to `most`, and their probabilities."""
    nodes, shares = _rule(_OUTER)
    least, highest = betaincinv(first, second, [_NEGLIGIBLE, 1.0 - _NEGLIGIBLE])
    high = min(max(most, least), highest)
    at = least + (high - least) * nodes
    density = np.exp((first - 1) * np.log(at) + (second - 1) * np.log1p(-at) - betaln(first, second))
    return at, (high - least) * shares * density


@lru_cache(maxsize=2)
def _rule(count: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss and Legendre on 0 … 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def weighs_enough(count: Whole, size: int | Whole, probability: float) -> Floats:
    """Return P(a set of `count` of `size` samples weighs at least p); both of any shapes that fit."""
    count, size = np.broadcast_arrays(count, size)
    found = np.where(count >= size, 1.0, 0.0)
    some = (count > 0) & (count < size)
    found[some] = betainc(size[some] - count[some], count[some], 1.0 - probability)
    return found
