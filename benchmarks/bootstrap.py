"""gateline's intervals beside those of scipy and arch: the same pairs, the same 10,000 resamples, in one run.

    python benchmarks/bootstrap.py            # needs arch

The work: 95 % intervals of the gains of ten metrics in the whole and in twenty slices (210 intervals), or of one
quantile's gain. scipy.stats.bootstrap and arch.bootstrap.IIDBootstrap each draw pairs with replacement and take the
percentile interval, vectorised as their manuals advise; gateline does it by its own method, and once more by its
percentile method. Each row runs the three in turn, several times; a ratio is taken within a repetition and the median
told with the lowest and highest. The intervals are printed to agree: the largest difference of an end from gateline's
percentile interval, in percent of the width.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import scipy
from arch.bootstrap import IIDBootstrap
from numpy.typing import NDArray

from gateline.statistics import Paired, Settings, Statistic, cluster_keys, gain_interval

Floats = NDArray[np.float64]
Ends = list[tuple[float, float]]
DRAWS = 10_000
METRICS, SLICES = 10, 20
MEAN, P95 = Statistic("mean"), Statistic("quantile", 0.95)


def make_pairs(count: int, metrics: int) -> tuple[Floats, Floats]:
    """Return scores of shape (count, metrics) of two runs that share their questions' difficulty."""
    generator = np.random.default_rng([count, metrics])
    question = generator.normal(size=(count, 1))
    before, after = (question + generator.normal(size=(count, metrics)) for _ in range(2))
    return 1.0 / (1.0 + np.exp(-before)), 1.0 / (1.0 + np.exp(-after - 0.05))


def parts(count: int, slices: int) -> list[NDArray[np.int64]]:
    """Return the whole, and rows of each slice."""
    rows = np.arange(count)
    return [rows, *(rows[rows % slices == one] for one in range(slices))] if slices else [rows]


def by_gateline(before: Floats, after: Floats, slices: int, statistic: Statistic, method: str) -> Ends:
    keys = cluster_keys([str(number) for number in range(before.shape[0])])
    settings = Settings(method=method, resamples=DRAWS)
    ends = []
    for rows in parts(before.shape[0], slices):
        for column in range(before.shape[1]):
            pair = (before[rows, column], after[rows, column])
            found = gain_interval(
                Paired(*pair, None, None, rows, keys),
                statistic,
                sign=1.0,
                relative=False,
                level=0.95,
                width=1.0 if statistic.kind == "mean" else None,
                settings=settings,
            )
            assert found is not None and found.low is not None and found.high is not None
            ends.append((found.low, found.high))
    return ends


def by_scipy(before: Floats, after: Floats, slices: int, statistic: Statistic) -> Ends:
    from scipy import stats

    def gain(one: Floats, other: Floats, axis: int = -1) -> Floats:
        if statistic.kind == "mean":
            return other.mean(axis=axis) - one.mean(axis=axis)
        low, high = (np.quantile(side, 0.95, axis=axis, method="inverted_cdf") for side in (one, other))
        return high - low

    ends = []
    for rows in parts(before.shape[0], slices):
        for column in range(before.shape[1]):
            found = stats.bootstrap(
                (before[rows, column], after[rows, column]),
                gain,
                paired=True,
                vectorized=True,
                n_resamples=DRAWS,
                batch=1_000,
                method="percentile",
                rng=np.random.default_rng(1),
            ).confidence_interval
            ends.append((float(found.low), float(found.high)))
    return ends


def by_arch(before: Floats, after: Floats, slices: int, statistic: Statistic) -> Ends:
    def gain(one: Floats, other: Floats) -> Floats:
        if statistic.kind == "mean":
            return (other - one).mean(axis=0)
        low, high = (np.quantile(side, 0.95, axis=0, method="inverted_cdf") for side in (one, other))
        return np.atleast_1d(high - low)

    ends: Ends = []
    for rows in parts(before.shape[0], slices):  # all metrics of a slice in one resample
        bootstrap = IIDBootstrap(before[rows], after[rows], seed=np.random.default_rng(1))
        found = bootstrap.conf_int(gain, reps=DRAWS, method="percentile", size=0.95)
        ends += [(float(low), float(high)) for low, high in found.T]
    return ends


def seconds(work: Callable[[], Ends]) -> tuple[float, Ends]:
    start = time.perf_counter()
    ends = work()
    return time.perf_counter() - start, ends


def differ(ends: Ends, other: Ends) -> float:
    """Return the largest difference of an end in percent of the width."""
    one, two = np.array(ends), np.array(other)
    return float(100.0 * np.max(np.abs(one - two) / (two[:, 1] - two[:, 0])[:, None]))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 2_000])
    options = parser.parse_args()
    print(f"scipy {scipy.__version__}, {DRAWS:,} resamples, {options.repetitions} repetitions\n")
    print(
        "| work | gateline | its percentile | scipy ÷ gateline | arch ÷ gateline | ends differ: scipy, arch |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    for count in options.sizes:
        for what, statistic, metrics, slices in (
            (f"means: {METRICS} metrics × (whole + {SLICES} slices)", MEAN, METRICS, SLICES),
            ("P95: 1 metric", P95, 1, 0),
        ):
            before, after = make_pairs(count, metrics)
            data = (before, after, slices, statistic)
            by_gateline(*data, "bayesian")  # once unmeasured
            rows = []
            for _ in range(options.repetitions):
                ours, _ = seconds(lambda data=data: by_gateline(*data, "bayesian"))
                plain, ends = seconds(lambda data=data: by_gateline(*data, "percentile"))
                scipys, scipy_ends = seconds(lambda data=data: by_scipy(*data))
                archs, arch_ends = seconds(lambda data=data: by_arch(*data))
                rows.append(
                    (
                        ours,
                        plain,
                        scipys / ours,
                        archs / ours,
                        differ(scipy_ends, ends),
                        differ(arch_ends, ends),
                    )
                )
            middle = [statistics.median(row[place] for row in rows) for place in range(6)]
            spans = [
                f"{middle[k]:.3g} ({min(r[k] for r in rows):.3g} to {max(r[k] for r in rows):.3g})"
                for k in (2, 3)
            ]
            print(
                f"| {what}, n = {count:,} | {middle[0]:.3g} s | {middle[1]:.3g} s | {spans[0]} | {spans[1]} "
                f"| {middle[4]:.1f} %, {middle[5]:.1f} % |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
