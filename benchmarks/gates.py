"""How often a whole gate is wrong on real runs: false alarms between equals, and what it catches between unequals.

    python benchmarks/gates.py --draws 300                # --minutes 20 ends earlier, with fewer draws

For each shared pair of runs of one and the same system, samples of 200 questions with the sides of the two runs
swapped at random by cluster (as `gateline doctor` does); a failed check is a false alarm. For each pair in which one
run is worse by the notes, samples of 200 questions with the worse run as the candidate; a failed check is a catch.
The policy is one for all: the primary metric may lose 2 points of its range overall, and 5 in each slice, as a family
(5 % and 10 % of the baseline without a range). The same with percentile intervals stands beside it.

In brackets: the 95 % interval of a share over the draws alone. The data sets are what they are: draws of one pair can't
say how another system would fare.

Exits with 1 where the false alarms of gateline's own intervals, over all pairs, are above 5 % (noise allowed for).
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import yaml
from scipy.special import betaincinv

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "data"))
from real_pairs import RealPair, names

from gateline.comparison import Comparison
from gateline.doctor.copies import swap_sides
from gateline.findings import Status
from gateline.gate import compare
from gateline.pairing import MetricValues, Pairs
from gateline.policy import PolicyFile, load_policy
from gateline.statistics import classical
from gateline.statistics.weights import CHUNK, ResampledCounts

METHODS = ("bayesian", "percentile")
CLEARLY = 3.0
"""Standard errors from which the notes count one run as worse."""
BLOCK = 10
"""Draws of a pair before the next one's: when the time ends, all have as many."""


@dataclass(frozen=True)
class Row:
    """One pair: how many of its draws failed, by method."""

    name: str
    is_null: bool
    questions: int
    draws: int
    failed: dict[str, int]

    def with_more(self, other: Row | None) -> Row:
        """Return the sum of both."""
        if other is None:
            return self
        failed = {method: self.failed[method] + other.failed[method] for method in METHODS}
        return replace(self, draws=self.draws + other.draws, failed=failed)


class KeptCounts(ResampledCounts):
    """The counts of the percentile intervals, kept for each number of clusters: most of the time goes there else."""

    def row(self, cluster: int, chunk: int) -> np.ndarray:
        """Return the same counts as without keeping."""
        return counts_of(self._seed, self.size, chunk)[cluster].astype(np.float32)


@lru_cache(maxsize=200)
def counts_of(seed: int, size: int, chunk: int) -> np.ndarray:
    """Return the counts of a chunk as bytes: at most 2 MB for 200 clusters."""
    source = ResampledCounts(seed, size)
    counts = np.empty((size, CHUNK), dtype=np.uint8)  # 256 of one cluster among `size` draws do not occur
    for cluster in range(size):
        counts[cluster] = source.row(cluster, chunk)
    return counts


def policy_of(pair: RealPair) -> dict:
    ranged = "range" in pair.policy([])["metrics"][pair.primary]
    overall, each = (0.02, 0.05) if ranged else ("5%", "10%")
    rules = [{"id": "overall", "kind": "tolerance", "metric": pair.primary, "worse_by_at_most": overall}]
    if pair.labels:
        rules.append(
            {
                "id": "slices",
                "kind": "tolerance",
                "metric": pair.primary,
                "worse_by_at_most": each,
                "slices": True,
            }
        )
    return pair.policy(rules)


def sample(pairs: Pairs, size: int, generator: np.random.Generator) -> Pairs:
    """Keep whole clusters until there are `size` questions; the others count as not asked."""
    kept = np.zeros(len(pairs.ids), dtype=bool)
    for code in generator.permutation(len(pairs.cluster_names)):
        if kept.sum() >= size:
            break
        kept |= pairs.cluster == code
    metrics = {}
    for name, values in pairs.metrics.items():
        sides = [replace(side, usable=side.usable & kept) for side in values.sides]
        metrics[name] = MetricValues(*sides, values.expected[kept[values.expected]])
    return replace(pairs, metrics=metrics)


def turned(pairs: Pairs) -> Pairs:
    """Exchange the runs, so that the worse one is the candidate."""
    metrics = {
        name: MetricValues(values.candidate, values.baseline, values.expected)
        for name, values in pairs.metrics.items()
    }
    return replace(pairs, metrics=metrics)


def fails(policy: PolicyFile, pairs: Pairs, method: str) -> bool:
    settings = policy.policy.statistics.model_copy(update={"method": method, "resamples": 2_000})
    comparison = Comparison(pairs, policy.policy.metrics, settings, plans=False)
    return any(
        finding.status is Status.FAIL for rule in policy.policy.rules for finding in rule.check(comparison)
    )


@cache
def load(name: str) -> tuple[PolicyFile, Pairs, bool] | None:
    """Return the policy, all pairs, and whether both runs are one system; None where the notes can't tell."""
    pair = RealPair(name)
    worse_by = pair.gain_in_errors(pair.primary)
    if not pair.is_null and abs(worse_by) < CLEARLY:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.yml"
        file.write_text(yaml.safe_dump(policy_of(pair)), encoding="utf-8")
        policy = load_policy(file)
        whole = compare(
            policy, str(pair.folder / "baseline.jsonl"), str(pair.folder / "candidate.jsonl")
        ).pairs
    if not pair.is_null and worse_by > 0:
        whole = turned(whole)
    return policy, whole, pair.is_null


def measure(task: tuple[str, int, int, int, int]) -> Row | None:
    """Count the failed checks of the draws `first` up to, not including, `last`."""
    classical.ResampledCounts = KeptCounts
    name, first, last, size, seed = task
    loaded = load(name)
    if loaded is None:
        return None
    policy, whole, is_null = loaded
    counts = dict.fromkeys(METHODS, 0)
    for number in range(first, last):
        generator = np.random.default_rng([seed, number])
        pairs = sample(whole, size, generator)
        pairs = swap_sides(pairs, generator) if is_null else replace(pairs, identical=False)
        for method in METHODS:
            counts[method] += fails(policy, pairs, method)
    return Row(name, is_null, min(size, len(whole.ids)), last - first, counts)


def count_alarms(options: argparse.Namespace) -> list[Row]:
    """Return the counts of each pair; all pairs have as many draws, fewer than asked for where the time ends."""
    until = time.monotonic() + 60.0 * options.minutes
    rows: dict[str, Row] = {}
    with ProcessPoolExecutor(options.processes) as pool:
        for first in range(0, options.draws, BLOCK):
            last = min(first + BLOCK, options.draws)
            tasks = [(name, first, last, options.size, options.seed) for name in names()]
            for row in filter(None, pool.map(measure, tasks)):
                rows[row.name] = row.with_more(rows.get(row.name))
            if time.monotonic() > until:
                print(f"time is up after {last} of {options.draws} draws", file=sys.stderr)
                break
    return list(rows.values())


def share_with_ends(some: int, count: int) -> str:
    """Say a share in percent, in brackets its 95 % interval over the draws alone (Clopper and Pearson 1934)."""
    low = betaincinv(some, count - some + 1, 0.025) if some else 0.0
    high = betaincinv(some + 1, count - some, 0.975) if some < count else 1.0
    return f"{100 * some / count:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=math.inf, help="ask for no more draws after that")
    options = parser.parse_args()
    if not names():
        print("needs ../shared/data, which is not part of the repository")
        return 2
    rows = count_alarms(options)
    draws = rows[0].draws
    alarms = {}
    for is_null, title in ((True, "one system twice: false alarms"), (False, "a worse candidate: caught")):
        print(f"\n| {title} | questions | gateline | percentile |\n|---|--:|--:|--:|")
        some = [row for row in rows if row.is_null is is_null]
        for row in some:
            shares = " | ".join(f"{100 * row.failed[method] / draws:.1f} %" for method in METHODS)
            print(f"| {row.name} | {row.questions} | {shares} |")
        count = draws * len(some)
        total = {method: sum(row.failed[method] for row in some) for method in METHODS}
        print("| **all** | | " + " | ".join(share_with_ends(total[m], count) for m in METHODS) + " |")
        alarms[is_null] = total["bayesian"] / count
    noise = 2.0 * math.sqrt(0.05 * 0.95 / draws)
    worst = max((row for row in rows if row.is_null), key=lambda row: row.failed["bayesian"])
    most = worst.failed["bayesian"] / draws
    print(f"\n{draws} draws of each pair; most false alarms of one pair: {worst.name}, {100 * most:.1f} %")
    return int(alarms[True] > 0.05 or most > 0.05 + noise)


if __name__ == "__main__":
    sys.exit(main())
