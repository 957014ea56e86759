"""What is left out of a reduced run counts against it under a hard rule as in the log, however bad it may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Reduce
from gateline.gate import check
from runs import DAY

ASKED = 60


def policy_of(summary: str, rule: str, better: str) -> str:
    return f"""version: 1
name: left-out
samples: {{at_least: 10}}
missing: {{drop_at_most: 20%}}
metrics: {{took: {{better: {better}, field: steps, summary: {summary}}}}}
rules: [{{id: never, hard: true, metric: took, {rule}}}]
"""


def write(path: Path, values: list[float | None]) -> str:
    records: list[dict[str, Any]] = [
        {"id": f"q{place}", "metrics": {"steps": value}} for place, value in enumerate(values)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("better", "summary"),
    [(way, summary) for way in ("lower", "higher") for summary in ("mean", "total")]
    + [("lower", "p90"), ("higher", "p10")],  # towards the other end a percentile stands what is not known
)
@pytest.mark.parametrize(
    "rule",
    [
        "kind: tolerance, worse_by_at_most: 1",
        "kind: tolerance, worse_by_at_most: 10%",
        "kind: improvement, better_by_at_least: 0",
    ],
)
def test_without_a_worst_value_nothing_that_is_left_out_lets_a_hard_rule_hold(
    tmp_path: Path, reduce_log: Reduce, better: str, summary: str, rule: str
) -> None:
    """All that is known got better; of a seventh of the questions nothing is known, and it may be of any size."""
    policy = tmp_path / "policy.yml"
    policy.write_text(policy_of(summary, rule, better))
    before, after = (50.0, 20.0) if better == "lower" else (20.0, 50.0)
    known = [before + place % 5 for place in range(ASKED)]
    scored: list[float | None] = [after + place % 5 if place % 7 else None for place in range(ASKED)]
    for gone in (scored, [after + place % 5 for place in range(ASKED)]):
        logs = [write(tmp_path / "before.jsonl", list(known)), write(tmp_path / "after.jsonl", list(gone))]
        direct = check(policy, *logs, on=DAY)
        reduced = check(policy, *(reduce_log(log, str(policy)) for log in logs), on=DAY)
        wanted = "invalid" if None in gone else "pass"
        assert direct.verdict == reduced.verdict == wanted
        if None in gone:
            assert "the hard rule never can't be shown to hold" in direct.because[0]
            assert "the hard rule never can't be shown to hold" in reduced.because[0]
