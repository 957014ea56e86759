"""The usable pairs of one metric in one slice, their clusters, and the plain statistics of them.

Nothing here is random, and nothing here knows a policy, a rule or a file.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Keys: TypeAlias = NDArray[np.uint64]
Side: TypeAlias = Literal["baseline", "candidate"]

_SAME = 1e-12
"""Two values that differ by less than this share of the largest value are the same but for rounding."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """What is computed of a run: the mean, a ratio of sums, the total, or a quantile.

    A quantile carries its `probability`, 0.95 for P95.
    """

    kind: Literal["mean", "ratio", "total", "quantile"]
    probability: float | None = None

    def __post_init__(self) -> None:
        """Refuse a quantile without a probability inside 0 … 1, and a probability elsewhere."""
        if self.kind == "quantile":
            if self.probability is None or not 0.0 < self.probability < 1.0:
                raise ValueError(
                    f"the probability of a quantile lies between 0 and 1, not {self.probability}"
                )
        elif self.probability is not None:
            raise ValueError(f"only a quantile has a probability, not a {self.kind}")

    def share_below(self) -> float:
        """Return the probability of a quantile."""
        if self.probability is None:
            raise ValueError(f"a {self.kind} is no quantile")
        return self.probability


@dataclass(frozen=True)
class Paired:
    """The usable pairs of one metric in one slice: n values of each run, no NaN, row i the same sample.

    For a ratio the values are numerators and the weights denominators (≥ 0); else the weights are None.
    `cluster[i]` is the code of the cluster of pair i, an index into `keys`; `keys` may hold the clusters of
    the whole comparison, used here or not.
    """

    baseline: Floats
    candidate: Floats
    baseline_weight: Floats | None
    candidate_weight: Floats | None
    cluster: NDArray[np.int64]
    keys: Keys

    def __len__(self) -> int:
        return int(self.baseline.size)

    @cached_property
    def clusters(self) -> Clusters:
        """The sums of each cluster that has a pair here."""
        return Clusters.of(self)

    def values(self, side: Side) -> Floats:
        """Return the values of one run."""
        return self.baseline if side == "baseline" else self.candidate

    def weights(self, side: Side) -> Floats | None:
        """Return the denominators of one run, None where the metric is no ratio."""
        return self.baseline_weight if side == "baseline" else self.candidate_weight

    @cached_property
    def shares_weights(self) -> bool:
        """Whether both runs have the same denominators, so that the difference of ratios is one ratio."""
        before, after = self.baseline_weight, self.candidate_weight
        return before is None or after is None or bool(np.array_equal(before, after))


def place_clusters(cluster: NDArray[np.int64], keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes of the clusters that have a sample (m), and the place among them of each sample's cluster (n).

    They stand in the order of their keys: neither the order of the rows nor other clusters leave a trace.
    """
    if cluster.size * 16 < keys.size:  # sorting a few is faster than a look at all clusters of the run
        used, position = np.unique(cluster, return_inverse=True)
    else:
        occurs = np.zeros(keys.size, dtype=bool)
        occurs[cluster] = True
        used = np.flatnonzero(occurs)
        position = (np.cumsum(occurs) - 1)[cluster]
    kept = keys[used]
    if (kept[:-1] <= kept[1:]).all():
        return used, position
    order = np.argsort(kept, kind="stable")
    place = np.empty(used.size, dtype=np.int64)
    place[order] = np.arange(used.size)
    return used[order], place[position]


@dataclass(frozen=True, slots=True)
class Clusters:
    """Sums per cluster, in the order of the keys: row order and other clusters leave no trace.

    Arrays of m clusters: `baseline`, `candidate` sums of values; `gain` sums of candidate − baseline; `count`
    pairs; `baseline_weight`, `candidate_weight` sums of denominators (the counts for a metric that is no
    ratio). `member[i]` is the row here of the cluster of pair i. `differing` counts the clusters with a
    pair that is not the same in both runs.
    """

    keys: Keys
    member: NDArray[np.int64]
    count: Floats
    baseline: Floats
    candidate: Floats
    gain: Floats
    baseline_weight: Floats
    candidate_weight: Floats
    differing: int

    @staticmethod
    def of(paired: Paired) -> Clusters:
        """Sum the pairs of each cluster."""
        used, member = place_clusters(paired.cluster, paired.keys)

        def total(values: Floats) -> Floats:
            return np.bincount(member, values, minlength=used.size).astype(np.float64)

        count = np.bincount(member, minlength=used.size).astype(np.float64)
        difference = paired.candidate - paired.baseline
        differs = np.abs(difference) > _SAME * max(_largest(paired.baseline), _largest(paired.candidate))
        baseline_weight = candidate_weight = count
        if paired.baseline_weight is not None and paired.candidate_weight is not None:
            baseline_weight, candidate_weight = total(paired.baseline_weight), total(paired.candidate_weight)
            differs |= paired.baseline_weight != paired.candidate_weight
        return Clusters(
            keys=paired.keys[used],
            member=member,
            count=count,
            baseline=total(paired.baseline),
            candidate=total(paired.candidate),
            gain=total(difference),
            baseline_weight=baseline_weight,
            candidate_weight=candidate_weight,
            differing=int(np.count_nonzero(np.bincount(member[differs], minlength=used.size))),
        )

    def __len__(self) -> int:
        return int(self.keys.size)


def cluster_keys(names: Sequence[str]) -> Keys:
    """Return a key of 64 bits for each cluster name: its blake2b hash, the same in every comparison."""
    digests = b"".join(
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def order_clusters(names: Sequence[str]) -> tuple[Keys, NDArray[np.int64]]:
    """Return the keys of clusters in ascending order, and the place among them of each name's: sorted once for all."""
    keys = cluster_keys(names)
    order = np.argsort(keys, kind="stable")
    place = np.empty(keys.size, dtype=np.int64)
    place[order] = np.arange(keys.size)
    return keys[order], place


def evaluate(values: Floats, weights: Floats | None, statistic: Statistic) -> float:
    """Return the plain statistic of one run.

    Args:
        values: (n,) numbers without NaN; the numerators of a ratio.
        weights: (n,) denominators of a ratio, else None.
        statistic: what to compute. A quantile is the inverse of the distribution function (type 1 of
        Hyndman and
            Fan 1996): always a value that occurs.

    Returns:
        The statistic in the unit of the metric; NaN where there is no value, or a ratio's denominators sum
        to 0.
    """
    if values.size == 0:
        return math.nan
    if statistic.kind == "quantile":
        rank = max(math.ceil(values.size * statistic.share_below() - 1e-9), 1)
        return float(np.partition(values, rank - 1)[rank - 1])
    if statistic.kind == "ratio":
        if weights is None:
            raise ValueError("a ratio needs denominators")
        below = float(weights.sum())
        return float(values.sum()) / below if below > 0.0 else math.nan
    total = float(values.sum())
    return total if statistic.kind == "total" else total / values.size


def gain(paired: Paired, statistic: Statistic, sign: float, *, relative: bool = False) -> float:
    """Return how much better the candidate is.

    Args:
        paired: the pairs.
        statistic: what is computed of each run.
        sign: +1 where higher is better, −1 where lower is better.
        relative: divide by the size of the baseline.

    Returns:
        The gain, above 0 where the candidate is better; NaN where it can't be computed (no pair, no
        denominator, a relative gain over a baseline of 0).
    """
    if len(paired) == 0:
        return math.nan
    before = evaluate(paired.baseline, paired.baseline_weight, statistic)
    if statistic.kind in ("mean", "total"):
        # The differences first: a constant that both runs carry then leaves no rounding behind.
        change = evaluate(paired.candidate - paired.baseline, None, statistic)
    else:
        change = evaluate(paired.candidate, paired.candidate_weight, statistic) - before
    if relative:
        return sign * change / abs(before) if before != 0.0 else math.nan
    return sign * change


def _largest(values: Floats) -> float:
    return float(np.max(np.abs(values), initial=0.0))
