"""The two real pairs that are part of the repository (gates/data): figures by plain sums and textbook formulas."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats

from gateline.findings import Finding, Status
from gateline.gate import check

SHIPPED = Path(__file__).resolve().parents[2] / "gates" / "data"
Runs = list[tuple[dict[str, Any], dict[str, Any]]]


def _read(name: str) -> Runs:
    """Return the records of both runs by pair, read without gateline."""
    sides = []
    for run in ("baseline", "candidate"):
        lines = (SHIPPED / name / f"{run}.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        sides.append({record["id"]: record for record in records if "gateline" not in record})
    assert sides[0].keys() == sides[1].keys()
    return [(sides[0][key], sides[1][key]) for key in sides[0]]


def _judge(
    name: str, metrics: dict[str, Any], rules: list[dict[str, Any]], folder: Path
) -> dict[str, Finding]:
    policy = {
        "version": 1,
        "name": name,
        "metrics": metrics,
        "slices": {"by": ["setting" if name == "refchecker" else "expected"]},
        "rules": rules,
    }
    (folder / "policy.yml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    files = [SHIPPED / name / f"{run}.jsonl" for run in ("baseline", "candidate")]
    verdict = check(folder / "policy.yml", *files, on=datetime.date(2026, 1, 1))
    return {f"{finding.rule} {finding.slice}": finding for finding in verdict.findings}


def test_gpt4_hallucinates_less_than_chatgpt(tmp_path: Path) -> None:
    """A ratio of sums with other denominators in each run; its standard error by the delta method."""
    runs = _read("refchecker")
    rates = {"rate": {"better": "lower", "range": [0, 1], "ratio": ["unsupported_claims", "claims"]}}
    found = _judge("refchecker", rates, [{"id": "less", "kind": "improvement", "metric": "rate"}], tmp_path)[
        "less None"
    ]
    assert found.interval is not None
    assert found.interval.low is not None
    assert found.interval.high is not None
    sums = np.array([[[record["metrics"][name] for name in ("unsupported_claims", "claims")] for record in pair]
                     for pair in runs], dtype=float)  # fmt: skip
    wrong, claims = sums[:, :, 0], sums[:, :, 1]
    rate = wrong.sum(axis=0) / claims.sum(axis=0)
    assert (found.baseline, found.candidate) == pytest.approx(tuple(rate))
    assert found.gain == pytest.approx(rate[0] - rate[1])
    influence = (wrong - rate * claims) / claims.mean(axis=0)
    error = (influence[:, 0] - influence[:, 1]).std(ddof=1) / math.sqrt(len(runs))
    assert (found.interval.high - found.interval.low) / (
        2 * stats.t.ppf(0.975, len(runs) - 1)
    ) == pytest.approx(error, rel=0.1)
    assert (rate[0] - rate[1]) / error > 2.2
    assert found.status is Status.PASS


def test_llama_without_its_prompt_refuses_fewer_harmless_questions(tmp_path: Path) -> None:
    """Where it differs, the exact sign test says the same; where nothing differs, 200 samples prove 5 points, not 0."""
    runs = _read("xstest")
    metrics = {"appropriate": {"better": "higher", "range": [0, 1]}}
    rules: list[dict[str, Any]] = [
        {"id": "gain", "kind": "improvement", "metric": "appropriate"},
        {"id": "holds", "kind": "tolerance", "metric": "appropriate", "slices": True, "worse_by_at_most": 0},
        {
            "id": "near",
            "kind": "tolerance",
            "metric": "appropriate",
            "slices": True,
            "worse_by_at_most": 0.05,
        },
    ]
    found = _judge("xstest", metrics, rules, tmp_path)
    for place in (None, "comply", "refuse"):
        pairs = [pair for pair in runs if place in (None, pair[0]["slices"]["expected"])]
        steps = [
            after["metrics"]["appropriate"] - before["metrics"]["appropriate"] for before, after in pairs
        ]
        up, down = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
        finding = found["gain None" if place is None else f"holds expected={place}"]
        assert (finding.samples, finding.better, finding.worse) == (len(pairs), up, down)
        assert finding.gain == pytest.approx(sum(steps) / len(steps))
        if place == "refuse":
            assert (up, down, finding.status) == (0, 0, Status.INCONCLUSIVE)
        else:
            assert stats.binomtest(up, up + down, alternative="greater").pvalue < 1e-6
            assert finding.status is Status.PASS
    assert found["near expected=refuse"].status is Status.PASS
