"""`gateline reduce` beside reading the whole log: seconds, as ratios, and bytes of what is left.

    python benchmarks/reduce.py --questions 1000000 --large 10000000 --runs 3

Logs are made by DuckDB. Each round reduces both logs of `--questions` and checks the sums, and checks the logs
themselves, one after the other; medians over the rounds are printed with the smallest and the largest. The log of
`--large` records is reduced once.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

POLICY = """
version: 1
name: large
samples: {cluster: doc}
metrics:
  good: {better: higher, range: [0, 1], show_as: percent}
  faith: {better: higher, range: [0, 1]}
  claims: {better: lower, ratio: [bad, all]}
  latency: {better: lower, field: latency_ms, unit: ms, summary: p95}
slices: {by: [lang], named: {risky: {risk: high}}}
rules:
  - {kind: tolerance, metric: good, worse_by_at_most: 0.02}
  - {kind: tolerance, metric: good, worse_by_at_most: 0.05, slices: true}
  - {kind: tolerance, metric: faith, worse_by_at_most: 0.02, slice: risky}
  - {kind: tolerance, metric: claims, worse_by_at_most: 0.02}
  - {kind: tolerance, metric: latency, worse_by_at_most: 5%}
"""
LOG = """
COPY (SELECT concat('q', i) AS id, concat('d', i // 5) AS doc,
  ['de', 'en', 'fr'][1 + CAST(hash(i) % 3 AS INT)] AS "slices.lang",
  CASE WHEN hash(i + 7) % 10 = 0 THEN 'high' ELSE 'low' END AS "slices.risk",
  CASE WHEN hash(i * 3 + 1) % 1000 < 900 - {run} * 5 * (hash(i * 5 + 2) % 2) THEN 1.0 ELSE 0.0 END AS "metrics.good",
  CAST(hash(i * 7 + {run}) % 1000 AS DOUBLE) / 1000 AS "metrics.faith",
  CAST(hash(i * 11 + {run}) % 4 AS DOUBLE) AS "metrics.bad", CAST(4 + hash(i * 13) % 5 AS DOUBLE) AS "metrics.all",
  exp(6 + (hash(i * 17 + {run}) % 10000) / 5000.0) AS latency_ms
FROM range({records}) AS t(i)) TO '{path}' (FORMAT parquet)
"""


def make_log(path: Path, records: int, run: int) -> Path:
    import duckdb

    duckdb.connect().execute(LOG.format(run=run, records=records, path=path))
    return path


def gateline(*arguments: object) -> float:
    """Run the command and return its seconds."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "gateline", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return time.perf_counter() - begin


def middle(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        policy = folder / "policy.yml"
        policy.write_text(POLICY)
        logs = [make_log(folder / f"{run}.parquet", options.questions, run) for run in (0, 1)]
        sums = [folder / f"{run}.reduced.parquet" for run in (0, 1)]
        reducing, judging, direct = [], [], []
        for _ in range(options.runs):
            pairs = zip(logs, sums, strict=True)
            reducing.append(sum(gateline("reduce", log, "--policy", policy, "-o", one) for log, one in pairs))
            judging.append(
                gateline("check", "--policy", policy, "--baseline", sums[0], "--candidate", sums[1])
            )
            direct.append(
                gateline("check", "--policy", policy, "--baseline", logs[0], "--candidate", logs[1])
            )
        print(
            f"{options.questions:,} questions in each run, {options.runs} rounds: median (smallest to largest)"
        )
        print(
            f"reduce both: {middle(reducing)}; check the sums: {middle(judging)}; check the logs: {middle(direct)}"
        )
        ratios = [d / (r + j) for d, r, j in zip(direct, reducing, judging, strict=True)]
        print(f"the direct path takes {statistics.median(ratios):.2f} times as long as reducing and judging")
        print(f"a log of {logs[0].stat().st_size:,} bytes becomes {sums[0].stat().st_size:,} bytes")
        for log in logs:
            log.unlink()
        if options.large:
            log = make_log(folder / "large.parquet", options.large, 0)
            seconds = gateline("reduce", log, "--policy", policy, "-o", sums[0])
            size = sums[0].stat().st_size
            print(f"{options.large:,} records: {seconds:.1f} s, {log.stat().st_size:,} bytes become {size:,}")


if __name__ == "__main__":
    main()
