"""Small random evaluations and policies for the properties, and one way to run the whole gate on them.

Values lie on a coarse grid, so that ties, boundaries and constant columns come up often.
"""

from __future__ import annotations

import copy
import datetime
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck
from hypothesis import strategies as st

from gateline.findings import Finding
from gateline.gate import Options, check
from gateline.verdict import Verdict
from tries import make_tries

Record = dict[str, Any]
Policy = dict[str, Any]
ON = datetime.date(2026, 6, 1)
tries = make_tries(HealthCheck.data_too_large, HealthCheck.filter_too_much)


@dataclass(frozen=True)
class World:
    """Two runs and a policy."""

    baseline: list[Record]
    candidate: list[Record]
    policy: Policy
    options: Options = field(default_factory=Options)

    def changed(self, change: Callable[[World], None]) -> World:
        """Return a copy with a change made to it."""
        made = copy.deepcopy(self)
        change(made)
        return made

    def with_rules(self, *rules: dict[str, Any]) -> World:
        """Return a copy with other rules."""
        return replace(self, policy={**self.policy, "rules": [dict(rule) for rule in rules]})

    def judge(self, base_policy: Policy | None = None) -> Verdict:
        """Run the whole gate on files of this world."""
        with files_of(self, base_policy) as (policy, baseline, candidate, base):
            return check(policy, baseline, candidate, on=ON, base_policy=base, options=self.options)


@contextmanager
def files_of(
    world: World, base_policy: Policy | None = None
) -> Iterator[tuple[Path, Path, Path, Path | None]]:
    """Write the world to files; their names are the same each time."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="gateline-property-") as folder:
        try:
            os.chdir(folder)
            Path("policy.yml").write_text(json.dumps(world.policy), encoding="utf-8")  # JSON is YAML
            Path("baseline.jsonl").write_text(to_lines(world.baseline), encoding="utf-8")
            Path("candidate.jsonl").write_text(to_lines(world.candidate), encoding="utf-8")
            base = None
            if base_policy is not None:
                base = Path("base.yml")
                base.write_text(json.dumps(base_policy), encoding="utf-8")
            yield Path("policy.yml"), Path("baseline.jsonl"), Path("candidate.jsonl"), base
        finally:
            os.chdir(here)


def to_lines(records: Sequence[Record]) -> str:
    """Return records as JSON Lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


def of_rule(verdict: Verdict) -> dict[tuple[str, str | None], Finding]:
    """Return the findings by rule and slice."""
    return {(finding.rule, finding.slice): finding for finding in verdict.findings}


def numbers_of(finding: Finding) -> dict[str, Any]:
    """Return all that a finding says, but for the line of its rule."""
    return finding.model_dump(mode="json", exclude={"line"})


# ---- policies

BOUNDED = ("ok", "score")
METRICS: dict[str, dict[str, Any]] = {
    "ok": {"better": "higher", "range": [0, 1], "show_as": "percent"},
    "score": {"better": "higher", "range": [0, 1]},
    "loss": {"better": "lower", "field": "score", "range": [0, 1]},
    "slow": {"better": "lower", "field": "latency_ms", "unit": "ms", "summary": "p90"},
    "time": {"better": "lower", "field": "latency_ms", "unit": "ms"},
    "wrong_rate": {"better": "lower", "range": [0, 1], "ratio": ["wrong", "claims"]},
    "errors": {"better": "lower", "field": "wrong", "range": [0, 4], "summary": "total"},
}
PLACES: tuple[dict[str, Any], ...] = ({}, {"slice": "risky"}, {"slice": "language=de"}, {"slices": True})


@st.composite
def rules(
    draw: st.DrawFn, kinds: Sequence[str] = ("limit", "every", "tolerance", "improvement"),
    metrics: Sequence[str] = tuple(METRICS), *, may_be_hard: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Draw one rule."""
    metric, kind = draw(st.sampled_from(metrics)), draw(st.sampled_from(kinds))
    rule: dict[str, Any] = {"kind": kind, "metric": metric, **draw(st.sampled_from(PLACES))}
    unit = 400.0 if metric in ("slow", "time") else 2.0 if metric == "errors" else 1.0
    if kind in ("limit", "every"):
        name = draw(st.sampled_from(["at_least", "at_most"]))
        rule[name] = draw(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])) * unit
    else:
        name = "worse_by_at_most" if kind == "tolerance" else "better_by_at_least"
        rule[name] = draw(st.sampled_from([0.0, 0.05, 0.1, 0.25, "5%", "25%"]))
        if isinstance(rule[name], float):
            rule[name] *= unit
    if may_be_hard and draw(st.integers(0, 4)) == 0:
        rule["hard"] = True
    else:
        rule["on_inconclusive"] = draw(st.sampled_from(["fail", "warn", "pass"]))
        if kind != "every":
            rule["decide_by"] = draw(st.sampled_from(["value", "interval"]))
    return rule


def policy_of(rules: Sequence[dict[str, Any]], **parts: Any) -> Policy:
    """Return a policy that judges even the smallest evaluation."""
    numbered = [{"id": f"rule-{number}", **rule} for number, rule in enumerate(rules)]
    return {
        "version": 1,
        "name": "world",
        "samples": {"at_least": 2},
        "metrics": copy.deepcopy(METRICS),
        "missing": {"drop_at_most": 1},
        "slices": {"by": ["language"], "named": {"risky": {"risk": "high"}}, "at_least": 2},
        "statistics": {"resamples": 1000},
        "rules": numbered,
    } | parts


# ---- runs

_SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@st.composite
def answers(draw: st.DrawFn, *, complete: bool) -> dict[str, Any]:
    """Draw what a run says on one question, without its id and labels."""
    claims = draw(st.integers(1, 4))
    metrics: dict[str, Any] = {
        "ok": draw(st.sampled_from([1, 1, 1, 0])),
        "score": draw(_SCORES),
        "claims": claims,
        "wrong": draw(st.integers(0, claims)),
    }
    record = {"metrics": metrics, "latency_ms": draw(st.sampled_from([80.0, 100.0, 120.0, 200.0, 900.0]))}
    if not complete:
        lost = draw(st.integers(0, 15))
        if lost < 3:
            metrics[("ok", "score", "wrong")[lost]] = None
        elif lost < 5:
            record["error"] = ("no_answer", "judge_failed")[lost - 3]
    return record


@st.composite
def worlds(
    draw: st.DrawFn, *, rule: st.SearchStrategy[dict[str, Any]] | None = None, complete: bool = False,
    fewest: int = 4, most: int = 24, most_rules: int = 4, labelled: bool = False,
) -> World:  # fmt: skip
    """Draw two runs of the same questions, and a policy."""
    number = draw(st.integers(fewest, most))
    baseline: list[Record] = []
    candidate: list[Record] = []
    for position in range(number):
        labels: dict[str, Any] = {
            "language": draw(st.sampled_from(["de", "en"] if labelled else ["de", "en", None])),
            "risk": draw(st.sampled_from(["high", "low", "low"])),
        }
        if position < 2:  # so that every slice that a rule may name is there
            labels = {"language": "de", "risk": "high"}
        before = draw(answers(complete=complete))
        after = copy.deepcopy(before) if draw(st.booleans()) else draw(answers(complete=complete))
        for side, answer in ((baseline, before), (candidate, after)):
            side.append({"id": f"q{position:03d}", "slices": dict(labels), **answer})
    drawn = draw(st.lists(rules() if rule is None else rule, min_size=1, max_size=most_rules))
    return World(baseline, candidate, policy_of(drawn))
