"""How exactly and how fast the distribution of a percentile's gain is evaluated.

    python benchmarks/quantile_gains.py

For clusters of several shapes, both runs' values are drawn. Each row gives the largest difference between chances at
five gains and those with nodes half as far apart (an integral that has converged does not change; of single samples,
whose chances come from their counts, it is the other way of finding them), how far plain draws of the same weights are
off in their own standard errors, and how long one search of both ends takes as a multiple of the 10,000 draws that a
check makes anyway, the same process measuring both, median and range of `--repeats`.

Exits with 1 where a chance changes by more than 2e-7.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gateline.statistics import Paired, cluster_keys, joint_tails, quantile_gains
from gateline.statistics.draws import Grouping, QuantileGain
from gateline.statistics.pairs import Statistic
from gateline.statistics.weights import KeyedWeights

ALLOWED = 2e-7
TAILS = (0.0005, 0.025, 0.5, 0.975, 0.9995)
DRAWS = 40_000


def shapes(generator: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """Return sizes of clusters."""
    return {
        "100 of one sample": np.ones(100, dtype=np.int64),
        "2,000 of one sample": np.ones(2_000, dtype=np.int64),
        "50 of two": np.full(50, 2),
        "60 of 1 to 11": generator.integers(1, 12, 60),
        "one of 80, 100 of one": np.append(80, np.ones(100, dtype=np.int64)),
        "59 of 60, 30, 20, 15 … 1": np.maximum(60 // np.arange(1, 60), 1),
    }


def draw_runs(
    size: NDArray[np.int64], noise: float, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return latencies of both runs, whose questions are as slow in either, and the cluster of each."""
    cluster = np.repeat(np.arange(size.size), size)
    question = generator.normal(6.0, 0.4, size.size)[cluster] + generator.normal(0.0, 0.3, cluster.size)
    before, after = (np.round(np.exp(question + generator.normal(0.0, noise, cluster.size))) for _ in "ab")
    return before, after, cluster


def chances(
    runs: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]],
    probability: float,
    gains: list[float],
    finer: bool,
) -> NDArray[np.float64]:
    """Return P(gain ≤ each of these), as a check finds it or from nodes half as far apart."""
    *values, cluster = runs
    before, after = (quantile_gains._Run.of(each, cluster, probability) for each in values)
    if finer:
        step = joint_tails._STEP
        joint_tails._STEP = 0.5 * step
        both = quantile_gains._Quantiles(
            before, after, quantile_gains._OfClusters(before, after, probability)
        )
        joint_tails._STEP = step
    else:
        both = quantile_gains._Quantiles.of(before, after, probability)
    found = quantile_gains._Gains.of(both, 1.0, relative=False)
    return np.array([found._at_most(gain) for gain in gains])


def draw_gains(
    runs: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]],
    probability: float,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Return gains under plain exponential weights: nothing of gateline's in it."""
    *values, cluster = runs
    drawn = []
    for _ in range(DRAWS // 5_000):
        weights = generator.exponential(size=(5_000, int(cluster.max()) + 1))[:, cluster]
        picked = []
        for each in values:
            order = np.argsort(each, kind="stable")
            sums = np.cumsum(weights[:, order], axis=1)
            rank = (sums < probability * (1.0 - 1e-12) * sums[:, -1:]).sum(axis=1)
            picked.append(each[order][np.minimum(rank, each.size - 1)])
        drawn.append(picked[1] - picked[0])
    return np.concatenate(drawn)


def seconds(action: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def rows(repeats: int, seed: int) -> Iterator[tuple[str, float]]:
    """Return a line of the table, and the change by halving, of each case."""
    generator = np.random.default_rng(seed)
    for name, size in shapes(generator).items():
        for probability in (0.5, 0.95):
            for noise in (0.3, 0.02):
                runs = draw_runs(size, noise, generator)
                drawn = draw_gains(runs, probability, generator)
                gains = np.quantile(drawn, TAILS, method="inverted_cdf").tolist()
                found, finer = (chances(runs, probability, gains, halved) for halved in (False, True))
                change = float(np.abs(found - finer).max())
                seen = np.array([np.mean(drawn <= gain) for gain in gains])
                error = np.sqrt(np.maximum(finer * (1.0 - finer), 1e-5) / DRAWS)
                off = float(np.max(np.abs(seen - finer) / error))
                ratios = [time_search(runs, probability, (gains[1], gains[3])) for _ in range(repeats)]
                yield (
                    (
                        f"| {name} | P{100 * probability:.0f} | {noise} | {change:.0e} | {off:.1f} "
                        f"| {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f}) |"
                    ),
                    change,
                )


def time_search(
    runs: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]],
    probability: float,
    guess: tuple[float, float],
) -> float:
    """Return the time of a search of both ends, over that of 10,000 draws."""
    before, after, cluster = runs
    keys = cluster_keys([str(number) for number in range(int(cluster.max()) + 1)])
    paired = Paired(before, after, None, None, cluster, keys)
    grouping = Grouping.of(paired)

    def draw() -> None:
        formula = QuantileGain.of(paired, grouping, Statistic("quantile", probability), 1.0, relative=False)
        formula.draw(KeyedWeights(0, grouping.keys), 0, None)

    draw()  # weights are kept, as from one check to the next
    search = seconds(
        lambda: quantile_gains.find_quantile_gain_ends(
            *runs, probability, 1.0, 0.025, relative=False, guess=guess
        )
    )
    return search / seconds(draw)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    print(
        "| clusters | quantile | noise | change with half the steps | draws off by | time, in 10,000 draws |"
    )
    print("|---|---|--:|--:|--:|--:|")
    worst = 0.0
    for line, change in rows(chosen.repeats, chosen.seed):
        print(line, flush=True)
        worst = max(worst, change)
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
