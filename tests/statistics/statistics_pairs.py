"""Pairs for the tests of statistics, built from plain arrays."""

from __future__ import annotations

import numpy as np

from gateline.statistics import Paired, Settings, cluster_keys, gain_interval

FEW = Settings(resamples=1_000)


def pair(baseline, candidate, *, baseline_weight=None, candidate_weight=None, cluster=None, names=None):
    """Build pairs; without `cluster` each pair is a cluster of its own."""
    baseline, candidate = np.asarray(baseline, dtype=float), np.asarray(candidate, dtype=float)
    codes = np.arange(baseline.size) if cluster is None else np.asarray(cluster)
    if names is None:
        names = [f"question {code}" for code in range(int(codes.max(initial=-1)) + 1)]
    weights = [
        None if weight is None else np.asarray(weight, dtype=float)
        for weight in (baseline_weight, candidate_weight)
    ]
    return Paired(baseline, candidate, weights[0], weights[1], codes, cluster_keys(names))


def take(paired, rows):
    """Take some rows of pairs, in the order given."""
    weights = [
        None if weight is None else weight[rows]
        for weight in (paired.baseline_weight, paired.candidate_weight)
    ]
    return Paired(
        paired.baseline[rows],
        paired.candidate[rows],
        weights[0],
        weights[1],
        paired.cluster[rows],
        paired.keys,
    )


def interval_of(
    paired, statistic, *, sign=1.0, relative=False, level=0.95, width=None, chosen=FEW, limits=()
):
    """Return the interval of a gain, with few draws unless more are chosen."""
    return gain_interval(
        paired,
        statistic,
        sign=sign,
        relative=relative,
        level=level,
        width=width,
        settings=chosen,
        limits=limits,
    )
