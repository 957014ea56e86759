"""The shared pairs of real runs: what is known of each, and a policy made from it."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from gateline.findings import Finding
from gateline.gate import check
from gateline.verdict import Verdict

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
ON = datetime.date(2026, 1, 1)
FEWEST = 10
"""truth.json tells slices from ten samples on."""


@cache
def _index() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "INDEX.json").read_text(encoding="utf-8"))["pairs"]
    return found


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def names() -> list[str]:
    """Return the pairs that are at hand."""
    return sorted(_index()) if (DATA / "INDEX.json").exists() else []


@dataclass(frozen=True)
class RealPair:
    """One pair, read without gateline."""

    name: str

    @property
    def folder(self) -> Path:
        return DATA / "pairs" / self.name

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The records of both runs."""
        return [record for run in ("baseline", "candidate") for record in _read(self.folder / f"{run}.jsonl")]

    @cached_property
    def truth(self) -> dict[str, Any]:
        """What truth.json says: sums made when the data were collected, by other code."""
        truth: dict[str, Any] = json.loads((self.folder / "truth.json").read_text(encoding="utf-8"))
        return truth

    @property
    def primary(self) -> str:
        return str(_index()[self.name]["primary"])

    @property
    def is_null(self) -> bool:
        """Whether both runs are of the same system, by the notes."""
        return bool(_index()[self.name]["true_null_in_quality"])

    @property
    def directions(self) -> dict[str, str]:
        """Metric -> better, of those that have a direction."""
        found = _index()[self.name]["directions"]
        return {metric: better for metric, better in found.items() if better != "none"}

    @property
    def references(self) -> dict[str, dict[str, Any]]:
        """Metric -> difference, standard error (clustered), z and the notes' word."""
        found: dict[str, dict[str, Any]] = _index()[self.name]["reference"]
        return found

    @property
    def labels(self) -> list[str]:
        return sorted({label for record in self.records for label in record["slices"]})

    def gain_in_errors(self, metric: str) -> float:
        """Return how many standard errors the candidate is better by the notes; 0 where nothing differs."""
        z = self.references[metric]["z"]
        sign = 1 if self.directions[metric] == "higher" else -1
        return 0.0 if z is None else sign * float(z)

    def has_cluster(self) -> bool:
        return any("group" in record for record in self.records)

    def reach(self, metric: str) -> float:
        """Return how far from 0 the end points of the metric's interval lie (docs/statistics.md), over the clusters.

        The largest mean difference of a cluster, or the width of the range where fewer than 10 clusters differ;
        without a range the largest difference and more, for what has not been seen yet.
        """
        before, after = (
            {record["id"]: record for record in _read(self.folder / f"{run}.jsonl")}
            for run in ("baseline", "candidate")
        )
        gains: dict[str, list[float]] = {}
        for name in before.keys() & after.keys():
            values = [(one["metrics"] | one).get(metric) for one in (before[name], after[name])]
            if None not in values:
                gains.setdefault(before[name].get("group", name), []).append(values[1] - values[0])
        differing = [sum(found) / len(found) for found in gains.values() if any(found)]
        if len(differing) < 10 and "range" in self._definition(metric):
            return 1.0
        largest = max(map(abs, differing), default=0.0)
        return largest if "range" in self._definition(metric) else largest * (1 + 5 / math.sqrt(len(gains)))

    def policy(self, rules: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a policy with every metric that has a direction."""
        samples = {"at_least": FEWEST, "on_mismatch": "intersect"} | (
            {"cluster": "group"} if self.has_cluster() else {}
        )
        return {
            "version": 1,
            "name": self.name,
            "samples": samples,
            "metrics": {metric: self._definition(metric) for metric in self.directions},
            "missing": {"drop_at_most": 0.5},
            "slices": {"by": self.labels, "at_least": FEWEST},
            "rules": rules,
        }

    def _definition(self, metric: str) -> dict[str, Any]:
        definition: dict[str, Any] = {"better": self.directions[metric]}
        values = [record["metrics"].get(metric) for record in self.records]
        known = [value for value in values if value is not None]
        if metric in ("latency_ms", "cost_usd"):
            definition["unit"] = "ms" if metric == "latency_ms" else "USD"
        elif known and min(known) >= 0 and max(known) <= 1:
            definition["range"] = [0, 1]
        return definition

    def judge(self, rules: list[dict[str, Any]], folder: Path) -> Verdict:
        """Run the whole gate on the pair's files."""
        file = folder / "policy.yml"
        file.write_text(yaml.safe_dump(self.policy(rules), sort_keys=False), encoding="utf-8")
        return check(file, self.folder / "baseline.jsonl", self.folder / "candidate.jsonl", on=ON)


def by_rule(verdict: Verdict) -> dict[str, Finding]:
    """Return the findings of rules that look at one place, by rule id."""
    assert verdict.verdict != "invalid", verdict.because
    return {finding.rule: finding for finding in verdict.findings}
