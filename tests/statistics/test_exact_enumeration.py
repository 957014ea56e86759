"""For a handful of samples every resample can be written down; the drawn intervals must be those of the whole list."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gateline.statistics import Paired, Settings, Statistic, cluster_keys, gain_interval

SLACK = 0.004
"""Over twice the standard error of a tail of 2.5 % in 10,000 draws."""


@pytest.mark.parametrize("count", [3, 4, 5, 6])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_percentile_interval_is_that_of_all_resamples(count: int, level: float) -> None:
    values = np.random.default_rng(count)
    baseline, candidate = values.random(count), values.random(count)
    differences = candidate - baseline
    means = np.sort(
        [differences[list(drawn)].mean() for drawn in itertools.product(range(count), repeat=count)]
    )
    paired = Paired(
        baseline,
        candidate,
        None,
        None,
        np.arange(count),
        cluster_keys([f"q{number}" for number in range(count)]),
    )
    found = gain_interval(
        paired,
        Statistic("mean"),
        sign=1,
        relative=False,
        level=level,
        width=1.0,
        settings=Settings(method="percentile"),
    )
    tail = (1 - level) / 2
    assert found is not None
    for end, share in ((found.low, tail), (found.high, 1 - tail)):
        below, above = np.quantile(means, [share - SLACK, share + SLACK], method="inverted_cdf")
        assert below - 1e-12 <= end <= above + 1e-12
