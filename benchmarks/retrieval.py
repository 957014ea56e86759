"""How long all retrieval metrics take beside ranx, and how much memory, on one machine in one run.

    python benchmarks/retrieval.py [--queries 100000] [--retrieved 100] [--repeats 3] [--json] [--check]

Two rows: the metrics alone, from rankings and labels in memory; and everything, from a run file and a qrels file to
the values. ranx compiles its code when first called: it is warmed up on a small collection before the clock starts.
Each tool runs in a process of its own, in turn with the other. `--check` ends with exit code 1 where gateline takes
more than 1.5 times as long as ranx or more than 1,000 MB. Needs `pip install ranx`.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_TIMES, MOST_MEGABYTES = 1.5, 1000.0
CUTOFFS = (1, 3, 5, 10, 100)
RANX = [
    f"{name}@{k}"
    for name in ("recall", "precision", "hit_rate", "mrr", "map", "ndcg", "ndcg_burges")
    for k in CUTOFFS
]
RANX += ["mrr", "map"]

MEASURE = """
import gc, json, resource, sys, time
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def done(name, seconds, values): print(json.dumps({"what": name, "seconds": seconds, "megabytes": peak(), **values}))
"""
OURS = (
    MEASURE
    + """
from gateline.golden import GoldenSet
from gateline.readers import read_run
from gateline.scoring import score
qrels, run, cutoffs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
start = time.perf_counter()
golden, outputs = read_run(qrels), read_run(run)
read = time.perf_counter()
scores = score(GoldenSet(golden), outputs, cutoffs)
end = time.perf_counter()
means = {name: float(scores.measured[name].value.mean()) for name in ("ndcg@10", "ap", "recall@100")}
done("gateline", [end - read, end - start], means)
"""
)
THEIRS = (
    MEASURE
    + """
import warnings; warnings.simplefilter("ignore")
import ranx
qrels, run, metrics = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
small = ranx.Qrels({"q": {"a": 1, "b": 2}, "r": {"a": 1}}), ranx.Run({"q": {"a": 1.0, "c": 0.5}, "r": {"b": 1.0}})
ranx.evaluate(*small, metrics)
start = time.perf_counter()
golden, outputs = ranx.Qrels.from_file(qrels, kind="trec"), ranx.Run.from_file(run, kind="trec")
read = time.perf_counter()
found = ranx.evaluate(golden, outputs, metrics)
end = time.perf_counter()
names = {"ndcg@10": "ndcg_burges@10", "ap": "map", "recall@100": "recall@100"}
done("ranx", [end - read, end - start], {ours: float(found[theirs]) for ours, theirs in names.items()})
"""
)


def write_collection(folder: Path, queries: int, retrieved: int) -> tuple[Path, Path]:
    """Write a run and its labels: ten judged documents a query, about half of them retrieved; no equal scores."""
    chance = random.Random(7)
    documents = [f"doc-{number:06d}" for number in range(200_000)]
    qrels, run = folder / "qrels.txt", folder / "a.run"
    with qrels.open("w") as labels, run.open("w") as rankings:
        for query in range(queries):
            found = chance.sample(documents, retrieved)
            judged = chance.sample(found, 5) + chance.sample(documents, 5)
            labels.writelines(f"q{query} 0 {one} {chance.randint(0, 3)}\n" for one in dict.fromkeys(judged))
            rankings.writelines(
                f"q{query} Q0 {one} {rank} {retrieved - rank + chance.random() / 2:.6f} bench\n"
                for rank, one in enumerate(found, 1)
            )
    return qrels, run


def measure(code: str, *arguments: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(arguments: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = map(str, write_collection(Path(folder), arguments.queries, arguments.retrieved))
        ours, theirs = [], []
        for _ in range(arguments.repeats):
            ours.append(measure(OURS, qrels, run, json.dumps(CUTOFFS)))
            theirs.append(measure(THEIRS, qrels, run, json.dumps(RANX)))
    for name in ("ndcg@10", "ap", "recall@100"):
        if abs(ours[0][name] - theirs[0][name]) > 1e-9:
            sys.exit(f"the tools disagree on {name}: {ours[0][name]} and {theirs[0][name]}")
    seconds = [
        [statistics.median(one["seconds"][part] for one in side) for part in (0, 1)]
        for side in (ours, theirs)
    ]
    return {
        "queries": arguments.queries,
        "retrieved": arguments.retrieved,
        "metrics": {"gateline": seconds[0][0], "ranx": seconds[1][0], "times": seconds[0][0] / seconds[1][0]},
        "from files": {
            "gateline": seconds[0][1],
            "ranx": seconds[1][1],
            "times": seconds[0][1] / seconds[1][1],
        },
        "megabytes": {
            "gateline": max(one["megabytes"] for one in ours),
            "ranx": max(one["megabytes"] for one in theirs),
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--retrieved", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    found = compare(arguments)
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print(f"{found['queries']:,} queries, {found['retrieved']} retrieved, {len(RANX)} metrics\n")
        print("| | gateline | ranx | times |\n|---|---|---|---|")
        for row in ("metrics", "from files"):
            one = found[row]
            print(f"| {row} | {one['gateline']:.2f} s | {one['ranx']:.2f} s | {one['times']:.2f} |")
        print(f"| memory | {found['megabytes']['gateline']:.0f} MB | {found['megabytes']['ranx']:.0f} MB | |")
    good = (
        max(found["metrics"]["times"], found["from files"]["times"]) <= MOST_TIMES
        and found["megabytes"]["gateline"] <= MOST_MEGABYTES
    )
    return 1 if arguments.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
