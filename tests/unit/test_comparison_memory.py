"""What a comparison keeps is bounded, and what it forgot it finds again: memory decides nothing."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from gateline import comparison
from gateline.gate import check, compare
from gateline.policy import load_policy

ROOT = Path(__file__).parents[2]
BASELINE, CANDIDATE = (
    str(ROOT / "gates/data/refchecker" / f"{name}.jsonl") for name in ("baseline", "candidate")
)
POLICY = str(ROOT / "gates/rag.yml")


@pytest.mark.parametrize("most", [0, 250, 700])
def test_a_verdict_is_the_same_however_few_pairs_are_kept(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    whole = check(POLICY, BASELINE, CANDIDATE, on=datetime.date(2026, 1, 1)).to_json()
    monkeypatch.setattr(comparison, "MOST_KEPT", most)
    assert check(POLICY, BASELINE, CANDIDATE, on=datetime.date(2026, 1, 1)).to_json() == whole


def test_the_pairs_that_are_kept_do_not_grow_with_metrics_and_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MOST_KEPT", 400)
    policy = load_policy(POLICY)
    compared = compare(policy, BASELINE, CANDIDATE)
    asked = 0
    for metric in compared.metrics:
        for place in (None, *compared.pairs.labels.family("setting")):
            compared.interval(metric, place, "gain")
            asked += len(compared.rows(metric, place))
            assert sum(map(len, compared._paired.values())) <= 400
    assert asked > 1200
