"""The chance that two sets of samples both weigh at least a share, while samples join and leave them.

Each cluster has one exponential weight G (Rubin 1981). Of a cluster with n samples, a in the first set and b in the
second, the sets weigh at least p where Σ G·X ≥ 0 and Σ G·Y ≥ 0, with X = a − p·n and Y = b − p·n. That chance is a
contour integral of exp(K(s, t))/(s·t), K(s, t) = −Σ log(1 − s·X − t·Y), over (s, t) with real parts above 0.

Where the two sums are close relatives, its integrand decays slowly where s + t stays the same. There it is taken apart
by which sum is the smaller one, 0 ≤ ΣGX ≤ ΣGY or 0 ≤ ΣGY ≤ ΣGX: with u = s + t the kernels are 1/(u·t) and 1/(u·s).
All are sums over nodes in a plane, by the trapezoid rule along u₀(1 + i·sinh v), which converges geometrically
(Trefethen and Weideman 2014, section 5). A sample that joins or leaves changes one factor of each node's product.

It knows clusters, sets and a share. It must not know what a quantile or a gain is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Complex: TypeAlias = NDArray[np.complex128]
TwoSets: TypeAlias = tuple[Whole, Whole]
"""(m,) samples of each cluster in the first set, and in the second."""
Plane: TypeAlias = tuple[Complex, Complex, Complex]
"""Nodes s and t, and their weights."""

_STEP = 0.0625
_COARSE = 4
"""Steps between the nodes at which it is looked which nodes weigh enough to be taken."""
_LIGHT = 1e-13
"""What a node may weigh at most that is left out; there are some 100,000."""
_FARTHEST = 14.0
"""Where nodes of u end at the latest: sinh 14 is 600,000."""
_LOG_NEGLIGIBLE = -27.0
_LARGEST = 1e5
"""How far s and t are followed at most, where samples weigh 1."""
_INSIDE = 0.25
"""How near to the first pole the contours may start, as a share of the way."""
_APART = 10.0
"""Standard deviations between the two sums, on average, from which on the smaller one decides."""
_ALIKE = 0.6
"""Correlation of the two sums from which on they are taken apart in any case."""
_SAME = 1e-12
"""Share of a cluster's samples; floats this close to 0 are 0."""
_KEPT_NUMBERS = 12_000_000
"""Of factors that are kept (192 MB): most clusters are alike."""


class JointTail:
    """Two sets of samples, and the chance that both weigh at least a share.

    Absolute error of one chance: below 1e-7, with two clusters or more expected outside of a set and inside
    (docs/statistics.md, section 6).
    """

    def __init__(self, size: Whole, along: Sequence[TwoSets], share: float) -> None:
        """Begin with the smallest sets.

        Args:
            size: (m,) samples of each cluster, at least 1.
            along: the smallest sets that will be asked, some between, and the largest ones. What lies far outside of
                them is lost where numbers end.
            share: what each set has to weigh at least, inside 0 … 1.
        """
        self._share = share
        self._size, self._first, self._second = (each.tolist() for each in (size, *along[0]))
        self._nodes = _Nodes.lay(size, along, share)
        self._known: dict[tuple[int, int, int], tuple[Complex, Complex]] = {}
        self._product = self._nodes.product(size, along[0], share)
        self._sums = _Sums.of(size, along[0], share)

    def chance(self) -> float:
        """Return the chance that both present sets weigh enough."""
        deciding = self._sums.deciding()
        if deciding in ("certain", "impossible"):
            return float(deciding == "certain")
        part = self._nodes.parts[deciding]
        return float((self._nodes.kernel[part] @ self._product[part]).real)

    def move(self, clusters: list[int], *, first: int = 0, second: int = 0) -> None:
        """Let one sample of each of these clusters join (+1) or leave (−1) a set; a cluster may stand there twice."""
        for cluster in clusters:
            size, a, b = self._size[cluster], self._first[cluster], self._second[cluster]
            self._product *= self._linear(size, a, b)[0]
            self._product *= self._linear(size, a + first, b + second)[1]
            self._sums.move(size, a, b, -1)
            self._sums.move(size, a + first, b + second, 1)
            self._first[cluster], self._second[cluster] = a + first, b + second

    def _linear(self, size: int, first: int, second: int) -> tuple[Complex, Complex]:
        """Return 1 − s·X − t·Y of a cluster, and its inverse: of most clusters they are known."""
        kind = (size, first, second)
        if kind not in self._known:
            if 2 * (len(self._known) + 1) * self._product.size > _KEPT_NUMBERS:
                self._known.clear()
            linear = self._nodes.linear(size, first, second, self._share)
            self._known[kind] = linear, 1.0 / linear
        return self._known[kind]


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Where the integrand is taken, and with what weight; the parts tell of both sets or of one of them."""

    s: Complex
    t: Complex
    kernel: Complex
    parts: dict[str, slice]

    @staticmethod
    def lay(size: Whole, along: Sequence[TwoSets], share: float) -> _Nodes:
        """Take the nodes of fine grids around those of coarse ones that weigh enough in any of the sets."""
        contours = _Contours.of(size, along, share)
        coarse = contours.planes(_COARSE * _STEP)
        everywhere = _Nodes.join(
            coarse, [np.ones_like(kernel, dtype=np.bool_) for _, _, kernel in coarse], ()
        )
        weighty = np.zeros(everywhere.s.size, dtype=np.bool_)
        for sets in along:
            weighty |= np.abs(everywhere.kernel * everywhere.product(size, sets, share)) > _LIGHT
        fine = contours.planes(_STEP)
        taken, first = [], 0
        for (_, _, rough), (_, _, kernel) in zip(coarse, fine, strict=True):
            near = _with_neighbours(weighty[first : first + rough.size].reshape(rough.shape))
            rows, columns = (
                _coarse_places(*counts) for counts in zip(kernel.shape, rough.shape, strict=True)
            )
            taken.append(near[rows[:, None], columns])
            first += rough.size
        return _Nodes.join(fine, taken, contours.line(_STEP))

    @staticmethod
    def join(
        planes: Sequence[Plane], taken: Sequence[Flags], line: tuple[Complex, Complex] | tuple[()]
    ) -> _Nodes:
        """Put the taken nodes of the planes one after the other, then those of a line for one set alone."""
        columns = [[column[where] for column in plane] for plane, where in zip(planes, taken, strict=True)]
        if line:
            u, of_u = line
            columns += [[u, np.zeros_like(u), of_u], [np.zeros_like(u), u, of_u]]
        ends = np.cumsum([0, *(column[0].size for column in columns)]).tolist()
        s, t, kernel = (np.concatenate(column) for column in zip(*columns, strict=True))
        places = {"split": (0, 2), "whole": (2, 3), "first": (3, 4), "second": (4, 5)} if line else {}
        return _Nodes(s, t, kernel, {name: slice(ends[a], ends[b]) for name, (a, b) in places.items()})

    def linear(self, size: int, first: int, second: int, share: float) -> Complex:
        """Return 1 − s·X − t·Y of a cluster."""
        linear: Complex = (share * size - first) * self.s + (share * size - second) * self.t
        linear += 1.0
        return linear

    def product(self, size: Whole, sets: TwoSets, share: float) -> Complex:
        """Return exp(K) of all clusters."""
        product = np.ones(self.s.size, dtype=np.complex128)
        for n, a, b, times in _kinds(size, sets):
            power: Complex = (1.0 / self.linear(n, a, b, share)) ** times
            product *= power
        return product


@dataclass(frozen=True, slots=True)
class _Contours:
    """Where u and t cross the real axis, and how far they are followed."""

    u_start: float
    t_start: float
    u_end: float
    """In v of u₀(1 + i·sinh v)."""

    @staticmethod
    def of(size: Whole, along: Sequence[TwoSets], share: float) -> _Contours:
        """Choose them by the spread of both sums and of their difference, clear of all poles."""
        first, second = (one - share * size for one in along[len(along) // 2])
        spread = max(math.sqrt(0.5 * float(first @ first + second @ second)), _SAME)
        apart = max(math.sqrt(float((second - first) @ (second - first))), 1.0)
        largest = float(size.max())
        u_start = min(0.7 / spread, _INSIDE / (largest * (1.0 - share)))
        t_start = min(1.0 / apart, _INSIDE / largest)
        # Clusters whose samples all stay where they are pull alike in every product.
        least, most = along[0], along[-1]
        stays = (least[0] == least[1]) & (most[0] == least[0]) & (most[1] == least[1])
        values, count = np.unique(first[stays], return_counts=True)
        v = np.arange(_STEP, _FARTHEST, _STEP)
        pull = -0.5 * np.log1p(np.multiply.outer(u_start * np.sinh(v), values) ** 2) @ count
        u_end = float(v[np.argmax(pull < _LOG_NEGLIGIBLE)]) if pull[-1] < _LOG_NEGLIGIBLE else _FARTHEST
        return _Contours(u_start, t_start, u_end)

    def line(self, step: float) -> tuple[Complex, Complex]:
        """Return nodes of u for one set alone, and their weights."""
        return _upper_half(*_walk(self.u_start, self.u_end, step))

    def planes(self, step: float) -> list[Plane]:
        """Return the planes of u with t, of u with s, and of s with t."""
        u, of_u = self.line(step)
        t, of_t = _walk(self.t_start, math.asinh(_LARGEST / self.t_start), step)
        both_u, both_t = np.broadcast_arrays(u[:, None], t)
        # Without u, nothing but the other clusters makes it small where s + t stays the same.
        w, of_w = _walk(self.u_start, math.asinh(_LARGEST / self.u_start), step)
        s, of_s = _upper_half(w, of_w)
        both_s, both_w = np.broadcast_arrays(s[:, None], w)
        return [
            (both_u - both_t, both_t, np.outer(of_u, of_t)),
            (both_t, both_u - both_t, np.outer(of_u, of_t)),
            (both_s, both_w, np.outer(of_s, of_w)),
        ]


class _Sums:
    """What decides whether both sets weigh enough: clusters by the signs of X, Y and Y − X, and their spread."""

    def __init__(self, share: float) -> None:
        """Begin without a cluster."""
        self._share = share
        self._above, self._below = [0, 0, 0], [0, 0, 0]
        self._sums = [0.0, 0.0]
        """Σ X and Σ Y."""
        self._squares = [0.0, 0.0, 0.0]
        """Σ X², Σ Y² and Σ (Y − X)²."""

    @staticmethod
    def of(size: Whole, sets: TwoSets, share: float) -> _Sums:
        """Count all clusters."""
        sums = _Sums(share)
        for kind in _kinds(size, sets):
            sums.move(*kind)
        return sums

    def move(self, size: int, first: int, second: int, times: int) -> None:
        """Count so many clusters of a kind more, or less."""
        needed, slack = self._share * size, _SAME * size
        values = first - needed, second - needed, second - first
        for at, value in enumerate(values):
            if value > slack:
                self._above[at] += times
            elif value < -slack:
                self._below[at] += times
            self._squares[at] += times * value * value
        self._sums[0] += times * values[0]
        self._sums[1] += times * values[1]

    def deciding(self) -> str:
        """Return the part of the nodes that tells the chance, or that it is `certain` or `impossible`."""
        first, second = self._alone(0), self._alone(1)
        if "impossible" in (first, second):
            return "impossible"
        if first == "certain":
            return "certain" if second == "certain" else "second"
        if second == "certain" or not self._below[2]:
            return "first"
        if not self._above[2]:
            return "second"
        xx, yy, dd = self._squares
        alike = 0.5 * (xx + yy - dd) / math.sqrt(xx * yy)
        if alike < _ALIKE and self._sums[0] * self._sums[1] < 0.0:
            return "whole"
        apart = (self._sums[1] - self._sums[0]) / math.sqrt(dd)
        return "split" if abs(apart) <= _APART else ("first" if apart > 0.0 else "second")

    def _alone(self, at: int) -> str:
        if not self._below[at]:
            return "certain"
        return "open" if self._above[at] else "impossible"


def _kinds(size: Whole, sets: TwoSets) -> list[tuple[int, int, int, int]]:
    """Return size, samples in the first set and in the second of clusters that are alike, and how many there are."""
    kinds, count = np.unique(np.stack([size, *sets]), axis=1, return_counts=True)
    return list(zip(*kinds.tolist(), count.tolist(), strict=True))


def _with_neighbours(taken: Flags) -> Flags:
    """Take the nodes beside taken ones too."""
    padded = np.pad(taken, 1)
    wide = padded[:-2] | padded[1:-1] | padded[2:]
    return wide[:, :-2] | wide[:, 1:-1] | wide[:, 2:]


def _coarse_places(fine: int, coarse: int) -> Whole:
    """Return of each node of a fine grid which one of the coarse grid is the nearest."""
    return np.minimum((np.arange(fine) + _COARSE // 2) // _COARSE, coarse - 1)


def _walk(start: float, end: float, step: float) -> tuple[Complex, Complex]:
    """Return start·(1 + i·sinh v) from v = −end to end, and the weights of dz/(2πi·z)."""
    steps = math.ceil(end / (_COARSE * _STEP)) * round(_COARSE * _STEP / step)
    v = step * np.arange(-steps, steps + 1.0)
    nodes = start * (1.0 + 1j * np.sinh(v))
    return nodes, step * start * np.cosh(v) / (2.0 * math.pi * nodes)


def _upper_half(nodes: Complex, weights: Complex) -> tuple[Complex, Complex]:
    """Return the nodes on and above the real axis: those above it stand for their mirror images too."""
    middle = nodes.size // 2
    return nodes[middle:], np.append(weights[middle], 2.0 * weights[middle + 1 :])
