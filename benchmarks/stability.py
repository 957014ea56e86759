"""How often another seed turns a verdict whose bound lies near its limit.

    python benchmarks/stability.py --seeds 200

For each kind of paired data of `coverage.py`, and one of clusters, a data set is drawn and its lower end found to far
more digits than a check needs (the median of 25 seeds at 200,000 draws each). Limits are then set at small distances on
either side of that end, in percent of the interval's half width, and each seed judges: is the lower end at or above the
limit, as a tolerance asks? A cell is the share of seeds that judge otherwise than most; beside it, how many of them say
that the limit was near. What is evaluated rather than drawn has no seed to depend on: that all seeds give one end is
checked.

Exits with 1 where, over all cells of a kind, more than 1 % of the verdicts turn.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from coverage import KINDS, Kind, latency

from gateline.statistics import Interval, Paired, Settings, Statistic, cluster_keys, gain_interval

DISTANCES = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Percent of the half width, on either side of the end."""
SAFE_DRAWS = 200_000
SAFE_SEEDS = 25
JUDGED = (
    *KINDS,
    Kind(
        "latency P95, two questions a cluster",
        latency,
        Statistic("quantile", 0.95),
        width=None,
        cluster_size=2,
    ),
)
ALLOWED = 0.01


@dataclass(frozen=True)
class Row:
    """One kind and size: whether its ends depend on the seed, and what each distance gave."""

    kind: str
    count: int
    drawn: bool
    turned: tuple[float, ...] = ()
    said_near: tuple[float, ...] = ()
    spread: float = 0.0
    """Standard deviation of the end over the seeds at the policy's own 10,000 draws, in percent of the half width."""

    @property
    def all_turned(self) -> float:
        """Return the share of all verdicts that turned."""
        return float(np.mean(self.turned)) if self.turned else 0.0


def judge(
    kind: Kind, paired: Paired, seed: int, limit: float | None = None, resamples: int = 10_000
) -> Interval:
    found = gain_interval(
        paired,
        kind.statistic,
        sign=1.0,
        relative=kind.relative,
        level=0.95,
        width=kind.width,
        settings=Settings(seed=seed, resamples=resamples),
        limits=() if limit is None else (limit,),
    )
    if found is None or found.low is None or found.high is None:
        raise ValueError(f"{kind.name}: no interval to compare with a limit")
    return found


def measure(task: tuple[int, int, int, int]) -> Row:
    which, count, seeds, seed = task
    kind = JUDGED[which]
    pairs = kind.make(np.random.default_rng([seed, which, count]), count)
    keys = cluster_keys([str(number) for number in range(count)])
    paired = Paired(*pairs, np.arange(count) // kind.cluster_size, keys)
    plain = [judge(kind, paired, one) for one in range(seeds)]
    ends = np.array([interval.low for interval in plain])
    if plain[0].resamples is None:
        if np.ptp(ends) != 0.0:
            raise AssertionError(f"{kind.name}, n = {count}: evaluated, and yet seeds differ")
        return Row(kind.name, count, drawn=False)
    safe = [judge(kind, paired, 1_000_000 + one, resamples=SAFE_DRAWS) for one in range(SAFE_SEEDS)]
    end = float(np.median([interval.low for interval in safe]))
    half = 0.5 * float(np.median([interval.high - interval.low for interval in safe]))
    turned, said = [], []
    for distance in DISTANCES:
        passing, near = [], []
        for side in (-1.0, 1.0):
            limit = end + side * distance / 100.0 * half
            found = [judge(kind, paired, one, limit) for one in range(seeds)]
            share = float(np.mean([interval.low >= limit for interval in found]))
            passing.append(min(share, 1.0 - share))
            near.append(float(np.mean([bool(interval.notes) for interval in found])))
        turned.append(float(np.mean(passing)))
        said.append(float(np.mean(near)))
    spread = 100.0 * float(np.std(ends)) / half
    return Row(kind.name, count, True, tuple(turned), tuple(said), spread)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the data sets")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 500])
    parser.add_argument("--only", default="", help="only the kinds with this text in their name")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    tasks = [
        (which, count, options.seeds, options.seed)
        for which, kind in enumerate(JUDGED)
        if options.only in kind.name
        for count in options.sizes
    ]
    heads = " | ".join(f"{distance:g} %" for distance in DISTANCES)
    print(f"| paired data | n | spread at 10,000 draws | {heads} | all |")
    print("|---|--:|--:|" + "--:|" * (len(DISTANCES) + 1))
    worst = 0.0
    with ProcessPoolExecutor(options.processes) as pool:
        for row in pool.map(measure, tasks):
            if row.drawn:
                pairs = zip(row.turned, row.said_near, strict=True)
                cells = " | ".join(f"{100 * turned:.1f} % ({100 * near:.0f} %)" for turned, near in pairs)
                print(
                    f"| {row.kind} | {row.count} | {row.spread:.2f} % | {cells} | {100 * row.all_turned:.2f} % |",
                    flush=True,
                )
            else:
                same = " | ".join("0" for _ in DISTANCES)
                print(f"| {row.kind} | {row.count} | evaluated, not drawn | {same} | 0 |", flush=True)
            worst = max(worst, row.all_turned)
    print(
        f"\nIn brackets: how many say that the limit is near. Most verdicts turned in a row: {100 * worst:.2f} %."
    )
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
