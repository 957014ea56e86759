"""Logs for the tests of `reduce`: made by a seed, with all that goes wrong in real ones where that is asked for."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

POLICY = """
version: 1
name: sums
samples: {at_least: 30CLUSTER}
provenance: {must_match: [judge.model]}
missing: {drop_at_most: 20%}
statistics: {method: METHOD, resamples: 2000}
metrics:
  good: {better: higher, range: [0, 1], show_as: percent}
  rank: {better: higher, range: [0, 1]}
  rank_free: {better: higher, field: rank}
  context: {better: higher, range: [0, 1], applies_to: risky}
  claims: {better: lower, ratio: [bad, all], range: [0, 1]}
  latency: {better: lower, field: latency_ms, unit: ms, summary: p95}
  latency_mean: {better: lower, field: latency_ms, unit: ms}
  cost: {better: lower, field: cost_usd, unit: USD}
  spent: {better: lower, field: cost_usd, unit: USD, summary: total}
slices:
  by: [lang]
  named: {risky: {risk: high}, mixed: {risk: [high, low], lang: [de, (none)]}}
rules:
  - {kind: tolerance, metric: good, worse_by_at_most: 0.05}
  - {kind: tolerance, metric: good, worse_by_at_most: 0.1, slices: true}
  - {kind: tolerance, metric: good, worse_by_at_most: 0.1, slice: risky}
  - {kind: tolerance, metric: good, worse_by_at_most: 0.1, slice: mixed}
  - {kind: tolerance, metric: rank, worse_by_at_most: 0.1, slice: "risk=low"}
  - {kind: tolerance, metric: rank, worse_by_at_most: 10%, slices: [lang]}
  - {kind: limit, metric: rank_free, at_least: 0.1, decide_by: interval}
  - {kind: tolerance, metric: rank_free, worse_by_at_most: 0.1}
  - {kind: tolerance, metric: context, worse_by_at_most: 0.1}
  - {kind: limit, metric: good, at_least: 0.5, decide_by: interval}
  - {kind: limit, metric: good, at_least: 0.5, hard: true, id: floor}
  - {kind: tolerance, metric: claims, worse_by_at_most: 0.05}
  - {kind: tolerance, metric: claims, worse_by_at_most: 20%, id: claims-relative}
  - {kind: limit, metric: claims, at_most: 0.9, decide_by: interval}
  - {kind: tolerance, metric: latency, worse_by_at_most: 10%}
  - {kind: tolerance, metric: latency, worse_by_at_most: 500, slice: risky}
  - {kind: limit, metric: latency, at_most: 5000, decide_by: interval}
  - {kind: improvement, metric: latency_mean, better_by_at_least: 1%}
  - {kind: tolerance, metric: cost, worse_by_at_most: 10%}
  - {kind: tolerance, metric: spent, worse_by_at_most: 10%}
  - {kind: tolerance, metric: spent, worse_by_at_most: 1, id: spent-absolute}
  - {kind: limit, metric: spent, at_most: 10, decide_by: interval}
"""


def policy_text(*, cluster: str | None = None, method: str = "bayesian") -> str:
    return POLICY.replace("CLUSTER", f", cluster: {cluster}" if cluster else "").replace("METHOD", method)


def make_records(
    seed: int, *, questions: int = 400, harsh: bool = False, lost: int = 7
) -> list[dict[str, Any]]:
    """Return the records of one run.

    Questions, labels and clusters are the same for every seed. `harsh` adds attempts, failures, failed judges, nulls
    and cached answers; those that leave a value out hit the same questions in every run, chosen by `lost`.
    """
    own, shared, out = random.Random(seed), random.Random(99), random.Random(lost)
    records = []
    for number in range(questions):
        base, lang, risk = (
            shared.random(),
            shared.choice(["de", "en", "fr", None]),
            shared.choice(["high", "low"]),
        )
        document = shared.randint(0, 120)
        for attempt in range(2 if harsh and number % 10 == 0 else 1):
            record: dict[str, Any] = {
                "id": f"q{number}", "doc": f"d{document}", "attempt": attempt,
                "slices": {"risk": risk, **({"lang": lang} if lang else {})},
                "metrics": {
                    "good": int(base + 0.3 * own.random() > 0.35), "rank": round(1 / own.randint(1, 9), 4),
                    "bad": own.randint(0, 2), "all": own.randint(2, 6), "context": round(own.random(), 3),
                },
                "latency_ms": round(1000 * math.exp(own.gauss(0, 0.5)), 1),
                "cost_usd": round(0.001 + 0.004 * own.random(), 6),
            }  # fmt: skip
            if harsh:
                spoil(record, out.random())
            records.append(record)
    return records


def spoil(record: dict[str, Any], fate: float) -> None:
    if 0.06 < fate < 0.08:
        record["error"] = "no_answer"
        record["metrics"]["good"] = None
    if fate < 0.02:
        record["error"] = "judge_failed"
    elif fate < 0.04:
        record["metrics"].update(rank=None, bad=None, context=None)
    elif fate < 0.06:
        record["cached"] = True


def write_log(path: Path, records: list[dict[str, Any]], judge: str = "j1") -> str:
    head = {"gateline": 1, "run": {"judge.model": judge}}
    path.write_text("".join(json.dumps(one) + "\n" for one in [head, *records]), encoding="utf-8")
    return str(path)
