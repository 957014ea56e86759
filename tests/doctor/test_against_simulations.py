"""The rates of `doctor` are those of the gate itself: every way to swap the sides is written to files and checked."""

from __future__ import annotations

import datetime
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gateline.doctor import Examination, Plan, examination, examine
from gateline.gate import check
from gateline.policy import load_policy

Records = list[dict[str, Any]]
POLICY = """\
version: 1
name: simulated
samples: {{at_least: 5, cluster: document}}
metrics: {{correct: {{better: higher, range: [0, 1], show_as: percent}}}}
rules:
{rules}
"""
RULES = {
    "value": "  - {id: line, kind: tolerance, metric: correct, worse_by_at_most: 0.05, decide_by: value}",
    "interval": "  - {id: line, kind: tolerance, metric: correct, worse_by_at_most: 0.05}",
    "proof": "  - {id: line, kind: tolerance, metric: correct, worse_by_at_most: 0.3, on_inconclusive: fail}",
    "limit": "  - {id: line, kind: limit, metric: correct, at_least: 0.5, on_inconclusive: fail}",
    "slice": "  - {id: line, kind: tolerance, metric: correct, slice: 'part=a', worse_by_at_most: 0.1, hard: true}",
}
DOCUMENTS = 6


def make_runs(attempts: int, seed: int) -> tuple[Records, Records]:
    """Return two runs whose documents, of 1 to 6 questions, go up and down as wholes."""
    generator = np.random.default_rng(seed)
    before: Records = []
    after: Records = []
    for document in range(DOCUMENTS):
        level, shift = generator.uniform(0.3, 0.9), generator.normal(0.0, 0.3)
        for question in range(int(generator.integers(1, 7))):
            for attempt in range(attempts):
                for run, chance in ((before, level), (after, level + shift)):
                    run.append(
                        {
                            "id": f"{document}-{question}",
                            "attempt": attempt,
                            "document": f"d{document}",
                            "part": "a" if question % 2 == 0 else "b",
                            "metrics": {"correct": int(generator.random() < chance)},
                        }
                    )
    return before, after


def write(file: Path, records: Records) -> str:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(file)


def swap(before: Records, after: Records, swapped: set[str]) -> tuple[Records, Records]:
    pairs = [
        (two, one) if one["document"] in swapped else (one, two)
        for one, two in zip(before, after, strict=True)
    ]
    return [one for one, _ in pairs], [two for _, two in pairs]


@pytest.mark.parametrize(
    ("rule", "attempts"),
    [("value", 3), ("interval", 1), ("interval", 3), ("proof", 3), ("limit", 1), ("slice", 3)],
)
def test_a_gate_blocks_as_often_as_it_does_in_all_ways_to_swap_the_sides(
    tmp_path: Path, rule: str, attempts: int
) -> None:
    policy = tmp_path / "policy.yml"
    policy.write_text(POLICY.format(rules=RULES[rule]))
    before, after = make_runs(attempts, seed=attempts)
    blocked = failed = 0
    names = [f"d{number}" for number in range(DOCUMENTS)]
    ways = [
        {name for name, is_swapped in zip(names, way, strict=True) if is_swapped}
        for way in itertools.product((False, True), repeat=DOCUMENTS)
    ]
    for swapped in ways:
        one, two = swap(before, after, swapped)
        files = write(tmp_path / "b.jsonl", one), write(tmp_path / "c.jsonl", two)
        verdict = check(policy, *files, on=datetime.date(2026, 6, 1))
        assert verdict.verdict in ("pass", "fail")
        blocked += verdict.verdict == "fail"
        failed += any(finding.status == "fail" for finding in verdict.findings)
    copies = 400
    found = examine(
        load_policy(policy),
        write(tmp_path / "b.jsonl", before),
        write(tmp_path / "c.jsonl", after),
        Plan(copies=copies, processes=1),
    )
    assert found.no_verdict == 0
    for rate, count in ((found.blocked, blocked), (found.false_alarms, failed)):
        chance = count / len(ways)
        assert rate.share == pytest.approx(
            chance, abs=4 * math.sqrt(max(chance * (1 - chance), 0.001) / copies)
        )


def simulate(before: Records, after: Records, drop: float, bound: float, runs: int) -> float:
    """Return how often the mean over questions falls by more than the bound, with sides swapped and answers broken."""
    generator = np.random.default_rng(11)
    ids = list(dict.fromkeys(record["id"] for record in before))
    documents = [name.partition("-")[0] for name in ids]
    means = np.zeros((2, len(ids)))
    for side, run in enumerate((before, after)):
        for place, name in enumerate(ids):
            means[side, place] = np.mean(
                [record["metrics"]["correct"] for record in run if record["id"] == name]
            )
    beyond = 0
    for _ in range(runs):
        swapped = generator.random(DOCUMENTS) < 0.5
        sides = np.where([swapped[int(name)] for name in documents], means[::-1], means)
        broken = generator.random(len(ids)) < drop * len(ids) / sides[1].sum()
        gain = np.where(broken, 0.0, sides[1]).mean() - sides[0].mean()
        beyond += gain < -bound - 1e-9
    return beyond / runs


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_drop_is_caught_as_often_as_in_a_simulation_of_ones_own(
    tmp_path: Path, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = 500
    monkeypatch.setattr(examination, "MOST_POWER_COPIES", copies)
    policy = tmp_path / "policy.yml"
    policy.write_text(POLICY.format(rules=RULES["value"]))
    before, after = make_runs(attempts, seed=attempts + 10)
    found: Examination = examine(
        load_policy(policy),
        write(tmp_path / "b.jsonl", before),
        write(tmp_path / "c.jsonl", after),
        Plan(copies=copies, processes=1),
    )
    for power in found.powers:
        assert power.blocked is not None
        assert power.blocked.of == copies
        chance = simulate(before, after, power.drop, 0.05, 4_000)
        error = math.sqrt(max(chance * (1 - chance), 0.001) * (1 / copies + 1 / 4_000))
        assert power.blocked.share == pytest.approx(chance, abs=4 * error), power.drop
    assert found.powers[-1].blocked.share > found.powers[0].blocked.share
