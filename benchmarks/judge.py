"""How often the prediction-powered interval holds what people say of all samples, on real labels.

    python benchmarks/judge.py --runs 1000 --seed 1

For each set with labels of people and of a judge, people's labels are kept for a random share of the samples and the
others are hidden. Two designs:

- *drawn*: the set stands for all questions there are; each run draws a set of the same size from it, with
  replacement, and keeps some labels. The target is people's mean over the whole set. An honest interval covers it at
  its nominal rate.
- *split*: each run hides labels of the set itself. The target, people's mean over this very set, is then known in
  part, so an interval that is honest for questions yet to come covers it more often.

It prints a Markdown table: coverage of the prediction-powered interval in both designs, with the Monte-Carlo error,
that of people's labels alone and of the judge alone, the mean width against people alone, and the mean weight of the
judge. Exits with 1 where the prediction-powered interval of design *drawn* covers less than the nominal rate by more
than one point beyond three Monte-Carlo errors, or is wider than people alone by more than 2 %.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gateline.statistics import Paired, Settings, Statistic, cluster_keys, gain_interval, value_interval
from gateline.statistics.prediction_powered import (
    JudgedSamples,
    prediction_powered_gain,
    prediction_powered_mean,
)

Floats = NDArray[np.float64]
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LEVEL = 0.95
MEAN = Statistic("mean")
SETTINGS = Settings()
TOLERATED = 0.01
WIDER = 1.02


@dataclass(frozen=True)
class LabelledSet:
    """Labels of people and of a judge of the same samples; gains of pairs where `is_gain`."""

    name: str
    human: Floats
    judge: Floats
    group: NDArray[np.int64]
    bounds: tuple[float, float]
    is_gain: bool = False


@dataclass(frozen=True)
class Outcome:
    """What one run found: whether each interval holds the target, widths, and the weight of the judge."""

    powered: bool
    human: bool
    judge: bool
    width: float
    human_width: float
    trust: float


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def make_set(
    name: str,
    rows: list[tuple[float | None, float | None, str]],
    bounds: tuple[float, float],
    *,
    is_gain: bool,
) -> LabelledSet:
    """Take the samples that both have a label for."""
    known = [(human, judge, group) for human, judge, group in rows if human is not None and judge is not None]
    _, codes = np.unique([group for _, _, group in known], return_inverse=True)
    return LabelledSet(
        name,
        np.array([human for human, _, _ in known], dtype=float),
        np.array([judge for _, judge, _ in known], dtype=float),
        codes.astype(np.int64),
        bounds,
        is_gain,
    )


def judge_set(folder: str, judge: str, to_number: Callable[[object], float | None]) -> LabelledSet:
    rows = [
        (to_number(one["human"]), to_number(one["judges"][judge]), one["id"].split("|")[-1])
        for one in read_lines(DATA / "judges" / folder / "items.jsonl")
    ]
    return make_set(f"{folder.removeprefix('judge_')}, {judge}", rows, (0.0, 1.0), is_gain=False)


def pair_set(folder: str, human: str, judge: str) -> LabelledSet:
    """Return the gains of a pair by people and by a judge."""
    runs = [read_lines(DATA / "pairs" / folder / f"{side}.jsonl") for side in ("baseline", "candidate")]
    before = {one["id"]: one["metrics"] for one in runs[0]}

    def gain(after: dict, metric: str) -> float | None:
        first, second = before.get(after["id"], {}).get(metric), after["metrics"].get(metric)
        return None if first is None or second is None else second - first

    rows = [
        (gain(one["metrics"] | one, human), gain(one["metrics"] | one, judge), one["id"]) for one in runs[1]
    ]
    return make_set(f"gain of {folder}, {judge}", rows, (-1.0, 1.0), is_gain=True)


def labelled_sets() -> list[LabelledSet]:
    def number(value: object) -> float | None:
        return None if value is None else float(value)  # type: ignore[arg-type]

    def first_wins(value: object) -> float | None:
        return None if value is None else float(value == "first")

    sets = [judge_set("judge_xstest_llama2", judge, number) for judge in ("gpt4", "string")]
    sets += [judge_set("judge_pandalm", judge, first_wins) for judge in ("gpt35", "pandalm7b")]
    sets += [judge_set("judge_frank_bbc", judge, number) for judge in ("factcc", "dep_entail", "qags")]
    for judge in ("judge_gpt4_refused", "judge_string_refused"):
        sets.append(pair_set("xstest_llama2orig_to_new", "refused", judge))
    for judge in ("auto_factcc", "auto_dep_entail", "auto_qags"):
        sets.append(pair_set("frank_bbc_tconv_to_berts2s", "human_factuality", judge))
    return sets


def choose(one: LabelledSet, generator: np.random.Generator, *, drawn: bool, share: float) -> JudgedSamples:
    """Return a run's samples: whole groups, and whole groups of them labelled."""
    groups = int(one.group.max()) + 1
    members = np.split(np.argsort(one.group, kind="stable"), np.cumsum(np.bincount(one.group))[:-1])
    taken = generator.integers(0, groups, groups) if drawn else np.arange(groups)
    rows = np.concatenate([members[group] for group in taken])
    codes = np.repeat(np.arange(groups), [members[group].size for group in taken])
    labelled = generator.permutation(groups) < round(share * groups)
    human = np.where(labelled[codes], one.human[rows], math.nan)
    return JudgedSamples(one.judge[rows], human, codes, cluster_keys([str(code) for code in range(groups)]))


def run_once(one: LabelledSet, samples: JudgedSamples) -> Outcome:
    target = float(one.human.mean())
    known = samples.has_label
    if one.is_gain:
        width = one.bounds[1]
        powered = prediction_powered_gain(samples, level=LEVEL, width=width, settings=SETTINGS)
    else:
        powered = prediction_powered_mean(samples, level=LEVEL, bounds=one.bounds, settings=SETTINGS)
    assert powered.interval is not None
    people = plain_interval(one, samples.human[known], samples, known)
    alone = plain_interval(one, samples.judge, samples, np.ones(known.size, dtype=bool))
    return Outcome(
        holds(powered.interval, target),
        holds(people, target),
        holds(alone, target),
        powered.interval.high - powered.interval.low,
        people.high - people.low,
        powered.trust,
    )


def plain_interval(one: LabelledSet, values: Floats, samples: JudgedSamples, rows: NDArray[np.bool_]):
    """Return the interval that the gate makes of a number without a judge's error."""
    zeros = np.zeros(values.size)
    paired = Paired(zeros, values, None, None, samples.cluster[rows], samples.keys)
    if one.is_gain:
        return gain_interval(
            paired, MEAN, sign=1.0, relative=False, level=LEVEL, width=one.bounds[1], settings=SETTINGS
        )
    return value_interval(paired, "candidate", MEAN, level=LEVEL, bounds=one.bounds, settings=SETTINGS)


def holds(interval, target: float) -> bool:
    return interval.low - 1e-12 <= target <= interval.high + 1e-12


def measure(task: tuple[int, bool, float, int, int]) -> list[Outcome]:
    place, drawn, share, runs, seed = task
    one = labelled_sets()[place]
    generator = np.random.default_rng([seed, place, int(drawn)])
    return [run_once(one, choose(one, generator, drawn=drawn, share=share)) for _ in range(runs)]


def summarise(one: LabelledSet, drawn: list[Outcome], split: list[Outcome]) -> dict:
    covered = float(np.mean([run.powered for run in drawn]))
    return {
        "set": one.name,
        "samples": int(one.human.size),
        "groups": int(one.group.max()) + 1,
        "drawn": covered,
        "error": math.sqrt(covered * (1.0 - covered) / len(drawn)),
        "split": float(np.mean([run.powered for run in split])),
        "people": float(np.mean([run.human for run in drawn])),
        "judge": float(np.mean([run.judge for run in drawn])),
        "width": float(np.mean([run.width for run in drawn]) / np.mean([run.human_width for run in drawn])),
        "trust": float(np.mean([run.trust for run in drawn])),
    }


def is_missed(row: dict) -> bool:
    return row["drawn"] + 3.0 * row["error"] + TOLERATED < LEVEL or row["width"] > WIDER


def print_table(rows: list[dict]) -> None:
    print("| set, judge | samples | drawn | split | people alone | judge alone | width / people | weight |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print(
            f"| {row['set']} | {row['samples']} | {row['drawn'] * 100:.1f} ± {row['error'] * 100:.1f} | "
            f"{row['split'] * 100:.1f} | {row['people'] * 100:.1f} | {row['judge'] * 100:.1f} | "
            f"{row['width']:.2f} | {row['trust']:.2f} |"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.2, help="share of the groups that people label")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"the labelled sets are not there: {DATA}", file=sys.stderr)
        return 2
    sets = labelled_sets()
    tasks = [
        (place, drawn, options.share, options.runs, options.seed)
        for place in range(len(sets))
        for drawn in (True, False)
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(measure, tasks))
    rows = [summarise(one, found[2 * place], found[2 * place + 1]) for place, one in enumerate(sets)]
    if options.json:
        print(json.dumps({"level": LEVEL, "rows": rows, "missed": [r["set"] for r in rows if is_missed(r)]}))
    else:
        print_table(rows)
        for row in rows:
            if is_missed(row):
                print(f"missed: {row['set']}")
    return 1 if any(is_missed(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
