"""How long gateline takes, as ratios to plain Python measured in the same run.

Seconds differ between machines; a ratio to `python -c "import numpy, …"` measured in turn with it does not. Prints
Markdown tables, or JSON with `--json`. With `--check` the exit code is 1 where a limit of the table is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

IMPORTS = "import numpy, scipy.special, pydantic, yaml, jinja2"
READ_PLAINLY = """
import orjson, sys
with open(sys.argv[1], "rb") as stream:
    records = [orjson.loads(line) for line in stream]
print(len(records))
"""
READ_AS_RUN = """
import sys
from gateline.readers import read_run
print(len(read_run(sys.argv[1])))
"""

READ_PARQUET_PLAINLY = """
import sys
from pyarrow import parquet
rows = 0
for path in sys.argv[1:]:
    for batch in parquet.ParquetFile(path).iter_batches(batch_size=4096):
        rows += len(batch.to_pylist())
print(rows)
"""


@dataclass(frozen=True)
class Cost:
    """What one process cost."""

    seconds: float
    """By the wall clock."""
    processor: float
    """Seconds of processor time, of all cores; less disturbed by what else runs on the machine."""
    megabytes: float


@dataclass
class Measured:
    """One row: a command beside what it is measured against, or against a fixed number of seconds."""

    what: str
    beside: str
    costs: list[Cost] = field(default_factory=list)
    besides: list[Cost] = field(default_factory=list)
    most_times: float | None = None
    most_seconds: float | None = None
    most_megabytes: float | None = None

    @property
    def ratios(self) -> list[float]:
        """Return the ratio of each repetition."""
        return [cost.seconds / beside.seconds for cost, beside in zip(self.costs, self.besides, strict=True)]

    @property
    def processor_ratios(self) -> list[float]:
        """Return the ratio of processor times of each repetition."""
        return [
            cost.processor / beside.processor for cost, beside in zip(self.costs, self.besides, strict=True)
        ]

    @property
    def processor(self) -> float:
        """Return the median processor time."""
        return statistics.median(cost.processor for cost in self.costs)

    @property
    def seconds(self) -> float:
        """Return the median time."""
        return statistics.median(cost.seconds for cost in self.costs)

    @property
    def megabytes(self) -> float:
        """Return the largest memory of any repetition."""
        return max(cost.megabytes for cost in self.costs)

    @property
    def holds(self) -> bool:
        """Return whether every limit is kept, by the median."""
        return (
            (self.most_times is None or statistics.median(self.ratios) <= self.most_times)
            and (self.most_seconds is None or self.seconds <= self.most_seconds)
            and (self.most_megabytes is None or self.megabytes <= self.most_megabytes)
        )

    def limits(self) -> str:
        """Return the limits in words."""
        said = [
            f"≤ {self.most_times:g} ×" if self.most_times else "",
            f"≤ {self.most_seconds:g} s" if self.most_seconds else "",
            f"≤ {self.most_megabytes:g} MB" if self.most_megabytes else "",
        ]
        return ", ".join(text for text in said if text) or "–"


def run(command: Sequence[str], allowed: Sequence[int] = (0,)) -> Cost:
    """Run a command and return its time and largest resident memory."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        sys.exit(f"{' '.join(command)}\nended with {process.returncode}: {said.decode(errors='replace')}")
    per_megabyte = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / per_megabyte)


def measure(row: Measured, command: Sequence[str], beside: Sequence[str] | None, times: int) -> Measured:
    """Run both commands in turn, once unmeasured and then `times` times."""
    for number in range(times + 1):
        costs = [run(one, allowed=(0, 1)) for one in (beside, command) if one is not None]
        if number:
            row.costs.append(costs[-1])
            row.besides += costs[:-1]
    return row


# ---- the input


def write_case(folder: Path, samples: int, labels: dict[str, int], kinds: Sequence[str]) -> list[str]:
    """Write two runs and a policy with a tolerance over all slices for each metric; return the arguments of `check`."""
    for name, seed, worse in (("baseline", 1, 0.0), ("candidate", 2, 0.01)):
        write_run(folder / f"{name}.jsonl", samples, labels, kinds, seed, worse)
    text = ["version: 1", "name: speed", f"slices: {{by: [{', '.join(labels)}], at_least: 5}}", "metrics:"]
    text += [f"  m{number}: {DEFINITIONS[kind]}" for number, kind in enumerate(kinds)]
    text.append("rules:")
    for number, kind in enumerate(kinds):
        bound = "10%" if kind in ("latency", "cost") else "0.05"
        text.append(f"  - {{kind: tolerance, metric: m{number}, slices: true, worse_by_at_most: {bound}}}")
    (folder / "policy.yml").write_text("\n".join(text) + "\n")
    files = [str(folder / name) for name in ("policy.yml", "baseline.jsonl", "candidate.jsonl")]
    return [
        "check",
        "--policy",
        files[0],
        "--baseline",
        files[1],
        "--candidate",
        files[2],
        "--on",
        "2026-01-01",
    ]


DEFINITIONS = {
    "pass": "{better: higher, range: [0, 1], show_as: percent}",
    "score": "{better: higher, range: [0, 1]}",
    "ratio": "{better: lower, ratio: [wrong, claims]}",
    "latency": "{better: lower, unit: ms, summary: p95}",
    "cost": "{better: lower, unit: USD}",
}


def write_run(
    path: Path, samples: int, labels: dict[str, int], kinds: Sequence[str], seed: int, worse: float
) -> None:
    """Write one run: questions of differing difficulty, shared by both runs, and noise of its own."""
    shared, own = random.Random(0), random.Random(seed)
    draw: dict[str, Callable[[float], float]] = {
        "pass": lambda skill: float(own.random() < skill),
        "score": lambda skill: round(min(1.0, max(0.0, own.gauss(skill, 0.15))), 4),
        "latency": lambda skill: round(own.lognormvariate(6.5 - skill, 0.5), 1),
        "cost": lambda skill: round(own.lognormvariate(-6.0 - skill, 0.4), 6),
    }
    with path.open("w") as stream:
        for number in range(samples):
            skill = shared.betavariate(6, 2) - worse
            metrics = {f"m{at}": draw[kind](skill) for at, kind in enumerate(kinds) if kind != "ratio"}
            if "ratio" in kinds:
                claims = own.randint(1, 12)
                metrics |= {"claims": claims, "wrong": sum(own.random() > skill for _ in range(claims))}
            slices = {label: f"{label}-{shared.randrange(values)}" for label, values in labels.items()}
            record = {"id": f"q-{number:07d}", "slices": slices, "metrics": metrics}
            stream.write(json.dumps(record) + "\n")


def write_parquet(
    path: Path, samples: int, labels: dict[str, int], kinds: Sequence[str], seed: int, worse: float
) -> None:
    """Write one large run of pass/fail values and scores; the labels of a question are those of every run."""
    import numpy as np
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import parquet

    shared, own = np.random.default_rng(0), np.random.default_rng(seed)
    columns: dict[str, object] = {"id": [f"q-{number:07d}" for number in range(samples)]}
    for label, values in labels.items():
        texts = np.array([f"{label}-{number}" for number in range(values)])
        columns[f"slices.{label}"] = texts[shared.integers(0, values, samples)]
    for at, kind in enumerate(kinds):
        score = own.beta(6, 2, samples) - worse
        passed = (own.random(samples) < 0.75 - worse).astype(float)
        columns[f"metrics.m{at}"] = passed if kind == "pass" else np.clip(score, 0.0, 1.0)
    parquet.write_table(pa.table(columns), path)


# ---- what is asked


def measure_start(folder: Path, times: int) -> list[Measured]:
    """Measure what a person waits for on an everyday policy."""
    kinds = ["pass"] * 4 + ["score"] * 6
    arguments = write_case(folder, 200, {f"label{n}": 5 for n in range(5)}, kinds)
    row = Measured(
        "`check`, 200 samples × 10 metrics × 25 slices", f'`python -c "{IMPORTS}"`', most_times=2.5
    )
    rows = [measure(row, [*gateline(), *arguments], [sys.executable, "-c", IMPORTS], times)]
    for word in ("--help", "--version"):
        row = Measured(f"`gateline {word}`", "`python -c pass`", most_times=3.0)
        rows.append(measure(row, [*gateline(), word], [sys.executable, "-c", "pass"], 3 * times))
    return rows


def measure_large(folder: Path, times: int) -> list[Measured]:
    """Measure a nightly run: 20,000 samples, 10,000 resamples."""
    rows = []
    mixes = {
        "means": ["pass"] * 4 + ["score"] * 6,
        "7 means, a ratio, P95 latency and cost relative to the baseline": [*["pass"] * 3, *["score"] * 4,
                                                                            "ratio", "latency", "cost"],
    }  # fmt: skip
    for name, kinds in mixes.items():
        arguments = write_case(folder, 20_000, {f"label{n}": 5 for n in range(4)}, kinds)
        row = Measured(f"`check`, 20,000 samples × 10 metrics × 20 slices: {name}", f'`python -c "{IMPORTS}"`',
                       most_seconds=6.0, most_megabytes=1024.0)  # fmt: skip
        beside = [sys.executable, "-c", IMPORTS]
        rows.append(measure(row, [*gateline(), *arguments], beside, max(1, times // 3)))
    return rows


def measure_reading(folder: Path, times: int, samples: int = 1_000_000) -> list[Measured]:
    """Measure reading alone, beside a parser that keeps every record as an object."""
    path = folder / "million.jsonl"
    write_run(path, samples, {"language": 4, "topic": 25}, ["pass"] * 4 + ["score"] * 6, 1, 0.0)
    row = Measured(f"reading {samples:,} JSONL records × 10 metrics", "`orjson.loads` a line, all kept")
    command = [sys.executable, "-c", READ_AS_RUN, str(path)]
    beside = [sys.executable, "-c", READ_PLAINLY, str(path)]
    return [measure(row, command, beside, max(1, times // 5))]


def measure_million(folder: Path, times: int, samples: int = 1_000_000) -> list[Measured]:
    """Measure a check of a million samples from Parquet, beside making Python objects of the same rows."""
    kinds = ["pass"] * 4 + ["score"] * 6
    labels = {f"label{number}": 5 for number in range(4)}
    arguments = write_case(folder, 1, labels, kinds)
    paths = [folder / f"{name}.parquet" for name in ("baseline", "candidate")]
    for seed, path in enumerate(paths, start=2):
        write_parquet(path, samples, labels, kinds, seed, worse=0.001 * (seed - 2))
    for at, path in zip((4, 6), paths, strict=True):
        arguments[at] = str(path)
    row = Measured(f"`check`, {samples:,} samples × 10 metrics × 20 slices from Parquet",
                   "the rows of both files as Python objects, batch by batch", most_seconds=60.0,
                   most_megabytes=3600.0)  # fmt: skip
    beside = [sys.executable, "-c", READ_PARQUET_PLAINLY, *map(str, paths)]
    return [measure(row, [*gateline(), *arguments], beside, max(1, times // 5))]


def measure_doctor(folder: Path, times: int) -> list[Measured]:
    """Measure `doctor` with 500 copies of 200 questions, means and with a ratio, P95 and relative cost among them."""
    rows = []
    for name, kinds in {"4 means": ["pass"] * 2 + ["score"] * 2, "3 means, a ratio, P95 and cost":
                        ["pass", "pass", "score", "ratio", "latency", "cost"]}.items():  # fmt: skip
        arguments = write_case(folder, 200, {"label0": 5}, kinds)
        policy, baseline, candidate = arguments[2], arguments[4], arguments[6]
        row = Measured(f"`doctor`, 500 copies of 200 samples × 5 slices: {name}", f'`python -c "{IMPORTS}"`',
                       most_seconds=60.0)  # fmt: skip
        command = [*gateline(), "doctor", policy, "--baseline", baseline, "--candidate", candidate]
        rows.append(measure(row, command, [sys.executable, "-c", IMPORTS], max(1, times // 5)))
    return rows


PARTS = {
    "start": measure_start,
    "doctor": measure_doctor,
    "large": measure_large,
    "reading": measure_reading,
    "million": measure_million,
}


def gateline() -> list[str]:
    """Return the command as a user types it, or the module where it is not installed."""
    script = Path(sys.executable).with_name("gateline")
    return [str(script)] if script.exists() else [sys.executable, "-m", "gateline"]


def render(rows: Sequence[Measured]) -> str:
    """Return one Markdown table."""
    columns = [
        "what",
        "beside",
        "ratio (lowest … highest)",
        "of processor time",
        "seconds",
        "processor",
        "memory",
    ]
    lines = [f"| {' | '.join([*columns, 'limit', 'held'])} |", "|---|---|--:|--:|--:|--:|--:|---|---|"]
    for row in rows:
        ratios = row.ratios
        lines.append(
            f"| {row.what} | {row.beside} | {statistics.median(ratios):.2f} ({min(ratios):.2f} … {max(ratios):.2f}) "
            f"| {statistics.median(row.processor_ratios):.2f} | {row.seconds:.2f} s | {row.processor:.2f} s "
            f"| {row.megabytes:.0f} MB | {row.limits()} | {'yes' if row.holds else 'NO'} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures how long gateline takes.")
    parser.add_argument("--only", choices=PARTS, action="append", help="one part; may be repeated")
    parser.add_argument("--times", type=int, default=9, help="repetitions of the short commands (default: 9)")
    parser.add_argument("--json", action="store_true", help="all single measurements as JSON")
    parser.add_argument("--check", action="store_true", help="exit code 1 where a limit is missed")
    options = parser.parse_args()
    rows: list[Measured] = []
    for part in options.only or PARTS:
        folder = Path(tempfile.mkdtemp(prefix="gateline-speed-"))
        try:
            rows += PARTS[part](folder, options.times)
        finally:
            shutil.rmtree(folder)
    if options.json:
        print(json.dumps([asdict(row) | {"holds": row.holds} for row in rows], indent=2))
    else:
        print(render(rows))
    return 1 if options.check and not all(row.holds for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
