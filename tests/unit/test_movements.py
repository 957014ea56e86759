"""How single questions moved, against numpy: the spread of differences, curves of times, the samples shown."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.gate import Options, check
from gateline.movements import PROBABILITIES
from gateline.verdict import Spread, Verdict
from runs import DAY

POLICY = """\
version: 1
name: moves
samples: {at_least: 1}
metrics:
  score: {better: higher, range: [-10, 10]}
  loss: {better: lower, field: score, range: [-10, 10]}
  latency_p50: {better: lower, field: latency_ms, unit: ms, summary: p50}
  latency_p95: {better: lower, field: latency_ms, unit: ms, summary: p95}
rules:
  - {kind: tolerance, metric: score, worse_by_at_most: 1}
  - {kind: tolerance, metric: loss, worse_by_at_most: 1}
  - {kind: limit, metric: latency_p50, at_most: 1000}
  - {kind: limit, metric: latency_p95, at_most: 1000}
"""


def judge(folder: Path, before: list[float] | None, after: list[float], **options: Any) -> Verdict:
    files: dict[str, Path] = {}
    for name, values in (("baseline", before), ("candidate", after)):
        if values is None:
            continue
        records = [
            {
                "id": f"q{at:03}",
                "question": f"What is {at}?",
                "metrics": {"score": value, "latency_ms": 100 + abs(value)},
            }
            for at, value in enumerate(values)
        ]
        files[name] = folder / f"{name}.jsonl"
        files[name].write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    policy = folder / "policy.yml"
    policy.write_text(POLICY, encoding="utf-8")
    verdict = check(policy, files.get("baseline"), files["candidate"], on=DAY, options=Options(**options))
    assert verdict.verdict != "invalid", verdict.because
    return verdict


def spread_of(verdict: Verdict, metric: str) -> Spread | None:
    return next((one for one in verdict.spreads if one.metric == metric), None)


values = st.lists(st.tuples(st.integers(-10, 10), st.integers(-10, 10)), min_size=1, max_size=40)


@given(values)
def test_a_spread_counts_every_pair_once(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]]
) -> None:
    before, after = map(list, zip(*pairs, strict=True))
    folder = tmp_path_factory.mktemp("spread")
    gains = np.array(after) - np.array(before)
    verdict = judge(folder, before, after)
    found = spread_of(verdict, "score")
    if not gains.any():
        assert found is None
        return
    assert found is not None
    assert (found.worse, found.same, found.better) == (
        (gains < 0).sum(),
        (gains == 0).sum(),
        (gains > 0).sum(),
    )
    assert (sum(found.worse_bars), sum(found.better_bars)) == (found.worse, found.better)
    assert found.samples == len(gains)
    for at, (low, high) in enumerate(zip(found.edges[:-1], found.edges[1:], strict=True)):
        last = at == len(found.better_bars) - 1
        inside = (gains > low + 1e-6) & ((gains <= high + 1e-6) | last)
        assert found.better_bars[at] == inside.sum()
    assert found.farthest_worse == (gains.min() if gains.min() < 0 else None)
    assert found.farthest_better == (gains.max() if gains.max() > 0 else None)
    mirrored = spread_of(verdict, "loss")
    assert mirrored is not None
    assert (mirrored.worse_bars, mirrored.better_bars) == (found.better_bars, found.worse_bars)
    assert mirrored.edges == found.edges


@given(values)
def test_swapping_the_runs_mirrors_the_spread(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]]
) -> None:
    before, after = map(list, zip(*pairs, strict=True))
    folder = tmp_path_factory.mktemp("swap")
    one, other = (spread_of(judge(folder, *runs), "score") for runs in ((before, after), (after, before)))
    if one is None or other is None:
        assert one is other is None
        return
    assert (one.worse_bars, one.better_bars, one.edges) == (other.better_bars, other.worse_bars, other.edges)


def test_a_few_far_ones_do_not_press_the_others_together(tmp_path: Path) -> None:
    before = [0.0] * 200
    after = [0.01 * (1 + at % 10) for at in range(199)] + [10.0]
    found = spread_of(judge(tmp_path, before, after), "score")
    assert found is not None
    assert found.edges[-1] == pytest.approx(0.1)
    assert found.better_bars[-1] == 19 + 1
    assert found.farthest_better == 10


@pytest.mark.parametrize("count", [1, 7, 100])
def test_a_curve_is_the_quantiles_that_rules_judge(tmp_path: Path, count: int) -> None:
    random = np.random.default_rng(count)
    before, after = random.uniform(-9, 9, (2, count)).round(3).tolist()
    verdict = judge(tmp_path, before, after)
    assert [curve.field for curve in verdict.curves] == ["latency_ms"], (
        "P50 and P95 of one field are one curve"
    )
    curve = verdict.curves[0]
    for told, values in ((curve.baseline, before), (curve.candidate, after)):
        times = sorted(100 + abs(value) for value in values)
        ranks = [math.ceil(Fraction(round(100 * share), 100) * count) for share in PROBABILITIES]
        expected = [times[rank - 1] for rank in ranks]
        assert told == pytest.approx(expected)
    judged = {finding.metric: finding.candidate for finding in verdict.findings}
    assert curve.candidate[curve.probabilities.index(0.5)] == judged["latency_p50"]
    assert curve.candidate[curve.probabilities.index(0.95)] == judged["latency_p95"]


def test_the_samples_that_changed_most_are_those(tmp_path: Path) -> None:
    after = [float(value) for value in (0, -3, 2, -1, 5, -4, 0, 1, -2, -5, 4, 3, -6, 6)]
    verdict = judge(tmp_path, [0.0] * len(after), after)
    shown = [(one.id, one.gain) for one in verdict.changed_samples if one.metric == "score"]
    order = np.argsort(after, kind="stable")
    expected = [*order[:5], *order[::-1][:5]]
    assert shown == [(f"q{at:03}", after[at]) for at in expected]
    assert all(one.question is None for one in verdict.changed_samples)
    told = judge(tmp_path, [0.0] * len(after), after, with_excerpts=True)
    assert {one.question for one in told.changed_samples} >= {"What is 12?", "What is 13?"}


def test_without_a_baseline_only_times_are_drawn(tmp_path: Path) -> None:
    verdict = judge(tmp_path, None, [1.0, 2.0], first_run=True)
    assert verdict.spreads == verdict.changed_samples == []
    assert [curve.baseline for curve in verdict.curves] == [None]


def test_the_same_run_twice_has_nothing_to_draw(tmp_path: Path) -> None:
    verdict = judge(tmp_path, [1.0, 2.0], [1.0, 2.0])
    assert verdict.spreads == verdict.changed_samples == []
    assert verdict.curves[0].baseline == verdict.curves[0].candidate
