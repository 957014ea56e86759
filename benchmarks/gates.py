"""How often a whole gate is wrong on real runs: false alarms between equals, and what it catches between unequals.

    python benchmarks/gates.py --draws 300

For each shared pair of runs of one and the same system, samples of 200 questions with the sides of the two runs
swapped at random by cluster (as `gateline doctor` does); a failed check is a false alarm. For each pair in which one
run is worse by the notes, samples of 200 questions with the worse run as the candidate; a failed check is a catch.
The policy is one for all: the primary metric may lose 2 points of its range overall, and 5 in each slice, as a family
(5 % and 10 % of the baseline without a range). The same with percentile intervals stands beside it.

Exits with 1 where the false alarms of gateline's own intervals, over all pairs, are above 5 % (noise allowed for).
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache
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


class KeptCounts(ResampledCounts):
    """The counts of the percentile intervals, made once for each number of clusters: nine tenths of the time else."""

    def row(self, cluster: int, chunk: int) -> np.ndarray:
        """Return the same counts as without keeping."""
        if chunk:
            return super().row(cluster, chunk)
        return counts_of(self._seed, self.size)[cluster].astype(np.float32)


@lru_cache(maxsize=200)
def counts_of(seed: int, size: int) -> np.ndarray:
    """Return the counts of the first chunk as bytes: at most 2 MB for 200 clusters."""
    source = ResampledCounts(seed, size)
    counts = np.empty((size, CHUNK), dtype=np.uint8)  # 256 of one cluster among `size` draws does not occur
    for cluster in range(size):
        counts[cluster] = source.row(cluster, 0)
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


def measure(task: tuple[str, int, int, int]) -> tuple[str, str, int, dict[str, int]] | None:
    classical.ResampledCounts = KeptCounts
    name, draws, size, seed = task
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
    counts = dict.fromkeys(METHODS, 0)
    for number in range(draws):
        generator = np.random.default_rng([seed, number])
        pairs = sample(whole, size, generator)
        pairs = swap_sides(pairs, generator) if pair.is_null else replace(pairs, identical=False)
        for method in METHODS:
            counts[method] += fails(policy, pairs, method)
    return name, "same" if pair.is_null else "worse", min(size, len(whole.ids)), counts


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
    options = parser.parse_args()
    if not names():
        print("needs ../shared/data, which is not part of the repository")
        return 2
    tasks = [(name, options.draws, options.size, options.seed) for name in names()]
    with ProcessPoolExecutor(options.processes) as pool:
        rows = []
        for row in pool.map(measure, tasks):
            if row is not None:
                rows.append(row)
                print(f"{row[0]}: {row[3]}", file=sys.stderr, flush=True)
    alarms = {}
    for kind, title in (("same", "one system twice: false alarms"), ("worse", "a worse candidate: caught")):
        print(f"\n| {title} | questions | gateline | percentile |\n|---|--:|--:|--:|")
        some = [row for row in rows if row[1] == kind]
        for name, _, size, counts in some:
            shares = " | ".join(f"{100 * counts[method] / options.draws:.1f} %" for method in METHODS)
            print(f"| {name} | {size} | {shares} |")
        count = options.draws * len(some)
        total = {method: sum(row[3][method] for row in some) for method in METHODS}
        print("| **all** | | " + " | ".join(share_with_ends(total[m], count) for m in METHODS) + " |")
        alarms[kind] = total["bayesian"] / count
    noise = 2.0 * math.sqrt(0.05 * 0.95 / options.draws)
    worst = max((row for row in rows if row[1] == "same"), key=lambda row: row[3]["bayesian"])
    print(f"\nmost false alarms of one pair: {worst[0]}, {100 * worst[3]['bayesian'] / options.draws:.1f} %")
    return int(alarms["same"] > 0.05 or worst[3]["bayesian"] / options.draws > 0.05 + noise)


if __name__ == "__main__":
    sys.exit(main())
