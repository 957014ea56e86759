"""`gateline reduce` beside reading the whole log: seconds, as ratios, memory, and bytes of what is left.

    python benchmarks/reduce.py --questions 1000000 --large 10000000 --runs 3

Logs are made by DuckDB. Each round reduces both logs of `--questions` and checks the sums, and checks the logs
themselves, one after the other; medians over the rounds are printed with the smallest and the largest. The log of
`--large` records is reduced in turn with the least that any sum by question needs in the same engine: one pass that
groups the records by id and cluster and sums their columns up. Memory is the largest resident size of a process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
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


PLAIN_PASS = """
import sys
import duckdb
duckdb.sql(
    "SELECT doc, count(*), sum(g), sum(f), sum(b), sum(a), sum(l) FROM (SELECT id, any_value(doc) AS doc, "
    'avg("metrics.good") AS g, avg("metrics.faith") AS f, avg("metrics.bad") AS b, avg("metrics.all") AS a, '
    "avg(latency_ms) AS l FROM read_parquet(?) GROUP BY id) GROUP BY doc", params=[sys.argv[1]]
).arrow()
"""
"""Records to questions to clusters, with no missing values, slices, checks or sketches."""


@dataclass(frozen=True)
class Cost:
    """What one process cost."""

    seconds: float
    processor: float
    """Seconds of all cores."""
    megabytes: float


def make_log(path: Path, records: int, run: int) -> Path:
    import duckdb

    duckdb.connect().execute(LOG.format(run=run, records=records, path=path))
    return path


def run(command: Sequence[object]) -> Cost:
    """Run a command and return what it cost."""
    begin = time.perf_counter()
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(said.decode(errors="replace"))
    per_megabyte = 1024 * 1024 if sys.platform == "darwin" else 1024
    seconds = time.perf_counter() - begin
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / per_megabyte)


def gateline(*arguments: object) -> Cost:
    """Run gateline."""
    return run([sys.executable, "-m", "gateline", *arguments])


def middle(numbers: Sequence[float], unit: str = " s") -> str:
    return f"{statistics.median(numbers):.1f}{unit} ({min(numbers):.1f} to {max(numbers):.1f})"


def tell(what: str, costs: Sequence[Cost]) -> None:
    seconds, processor = [one.seconds for one in costs], [one.processor for one in costs]
    most = max(one.megabytes for one in costs)
    print(f"  {what}: {middle(seconds)}, of all cores {middle(processor)}, at most {most:,.0f} MB")


def measure_both_paths(folder: Path, policy: Path, questions: int, rounds: int) -> None:
    """Reduce two logs and judge the sums, and judge the logs themselves."""
    logs = [make_log(folder / f"{number}.parquet", questions, number) for number in (0, 1)]
    sums = [folder / f"{number}.reduced.parquet" for number in (0, 1)]
    reducing, judging, direct, ratios = [], [], [], []
    for _ in range(rounds):
        each = [
            gateline("reduce", log, "--policy", policy, "-o", one)
            for log, one in zip(logs, sums, strict=True)
        ]
        reducing += each
        judging.append(gateline("check", "--policy", policy, "--baseline", sums[0], "--candidate", sums[1]))
        direct.append(gateline("check", "--policy", policy, "--baseline", logs[0], "--candidate", logs[1]))
        ratios.append(direct[-1].seconds / (sum(one.seconds for one in each) + judging[-1].seconds))
    print(f"{questions:,} questions in each run, {rounds} rounds: median (smallest to largest)")
    tell("reduce one log", reducing)
    tell("check the sums", judging)
    tell("check the logs", direct)
    print(
        f"  check of the logs takes {middle(ratios, ' times')} as long as reducing both and checking the sums"
    )
    print(f"  a log of {logs[0].stat().st_size:,} bytes becomes {sums[0].stat().st_size:,} bytes")
    for log in logs:
        log.unlink()


def measure_large(folder: Path, policy: Path, records: int, rounds: int) -> None:
    """Reduce one large log, in turn with a plain pass."""
    log, sums = make_log(folder / "large.parquet", records, 0), folder / "large.reduced.parquet"
    reducing, plain = [], []
    for _ in range(rounds):
        plain.append(run([sys.executable, "-c", PLAIN_PASS, log]))
        reducing.append(gateline("reduce", log, "--policy", policy, "-o", sums))
    print(f"{records:,} records, {rounds} rounds")
    tell("reduce", reducing)
    tell("a plain pass in the same engine", plain)
    ratios = [one.processor / beside.processor for one, beside in zip(reducing, plain, strict=True)]
    print(f"  reduce takes {middle(ratios, ' times')} the processor time of the plain pass")
    print(f"  {log.stat().st_size:,} bytes become {sums.stat().st_size:,}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=1_000_000, help="of each of two logs; 0: none")
    parser.add_argument("--large", type=int, default=10_000_000, help="records of the large log; 0: none")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        policy = folder / "policy.yml"
        policy.write_text(POLICY)
        if options.questions:
            measure_both_paths(folder, policy, options.questions, options.runs)
        if options.large:
            measure_large(folder, policy, options.large, options.runs)


if __name__ == "__main__":
    main()
