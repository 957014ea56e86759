"""Real runs: the gate must say what is known of them, and never the opposite."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from real_pairs import RealPair, by_rule, names
from scipy import stats

from gateline.findings import Finding, Status

pytestmark = pytest.mark.skipif(
    not names(), reason="needs ../shared/data, which is not part of the repository"
)

PAIRS = [RealPair(name) for name in names()]
CLEAR = 3.0
"""Standard errors from which the notes' word must be the gate's."""


@pytest.fixture(params=PAIRS, ids=lambda pair: pair.name)
def pair(request: pytest.FixtureRequest) -> RealPair:
    found: RealPair = request.param
    return found


def _judged_metrics(pair: RealPair) -> list[str]:
    return [metric for metric in (pair.primary, "latency_ms", "cost_usd") if metric in pair.references]


def test_the_verdict_agrees_with_the_notes_and_is_never_the_opposite(pair: RealPair, tmp_path: Path) -> None:
    metrics = _judged_metrics(pair)
    rules: list[dict[str, Any]] = []
    for metric in metrics:
        rules.append({"id": f"{metric} holds", "kind": "tolerance", "metric": metric, "worse_by_at_most": 0})
        rules.append({"id": f"{metric} gains", "kind": "improvement", "metric": metric})
    verdict = pair.judge(rules, tmp_path)
    found = by_rule(verdict)
    for metric in metrics:
        errors = pair.gain_in_errors(metric)
        holds, gains = found[f"{metric} holds"].status, found[f"{metric} gains"].status
        said = f"{metric}: {errors:+.2f} standard errors better; tolerance {holds}, improvement {gains}"
        if errors >= CLEAR:
            assert (holds, gains) == (Status.PASS, Status.PASS), said
        elif errors <= -CLEAR:
            assert (holds, gains) == (Status.FAIL, Status.FAIL), said
        else:
            assert not (errors > -1.0 and holds is Status.FAIL), said
            assert not (errors < 1.0 and gains is Status.PASS), said
            if abs(errors) < 1.5:
                assert Status.INCONCLUSIVE in (holds, gains), said
    worse = any(pair.gain_in_errors(metric) <= -CLEAR for metric in metrics)
    assert not worse or verdict.verdict == "fail"


def test_two_runs_of_the_same_system_never_fail_a_tolerance(pair: RealPair, tmp_path: Path) -> None:
    if not pair.is_null:
        pytest.skip("the two runs are not of the same system")
    metrics = [metric for metric in pair.directions if metric not in ("latency_ms", "cost_usd")]
    rules = [
        {"id": f"{metric} {place}", "kind": "tolerance", "metric": metric, "worse_by_at_most": 0}
        | ({"slices": True} if place == "by slice" else {})
        for metric in metrics
        for place in ("overall", "by slice")
    ]
    verdict = pair.judge(rules, tmp_path)
    assert verdict.verdict == "pass", verdict.because
    assert [finding.message for finding in verdict.findings if finding.status is Status.FAIL] == []


def test_estimates_are_those_of_the_notes_overall_and_in_each_slice(pair: RealPair, tmp_path: Path) -> None:
    metrics = list(pair.directions)
    rules: list[dict[str, Any]] = [
        {"id": f"{metric} {place}", "kind": "tolerance", "metric": metric, "worse_by_at_most": 0}
        | ({"slices": True, "on_inconclusive": "pass"} if place == "by slice" else {})
        for metric in metrics
        for place in ("overall", "by slice")
    ]
    verdict = pair.judge(rules, tmp_path)
    assert verdict.verdict != "invalid", verdict.because
    found = {(finding.metric, finding.slice): finding for finding in verdict.findings}
    places = {None: pair.truth["overall"], **pair.truth["slices"]}
    compared = 0
    for place, of_metrics in places.items():
        for metric in metrics:
            known = of_metrics.get(metric)
            if known is None or "diff" not in known:
                continue
            _compare(found[metric, place], known, pair.directions[metric], f"{metric} in {place}")
            compared += 1
    assert compared >= len(metrics)


def _compare(finding: Finding, known: dict[str, Any], better: str, where: str) -> None:
    """Compare with what truth.json holds, to its five decimals."""
    assert (finding.samples, finding.clusters) == (known["n"], known["clusters"]), where
    assert finding.baseline == pytest.approx(known["baseline"], abs=6e-6), where
    assert finding.candidate == pytest.approx(known["candidate"], abs=6e-6), where
    sign = 1 if better == "higher" else -1
    assert finding.gain == pytest.approx(sign * known["diff"], abs=6e-6), where
    up, down = (finding.better, finding.worse) if sign > 0 else (finding.worse, finding.better)
    assert (up, down) == (known["up"], known["down"]), where


def test_the_width_of_the_interval_is_that_of_the_notes_standard_error(
    pair: RealPair, tmp_path: Path
) -> None:
    """The clustered standard error was computed by other code; from 200 clusters on the two must agree."""
    metrics = [
        metric
        for metric in pair.directions
        if pair.truth["overall"].get(metric, {}).get("clusters", 0) >= 200
        and pair.truth["overall"][metric]["se"]
    ]
    if not metrics:
        pytest.skip("fewer than 200 clusters, or nothing differs")
    rules = [
        {
            "id": metric,
            "kind": "tolerance",
            "metric": metric,
            "worse_by_at_most": 0,
            "on_inconclusive": "pass",
        }
        for metric in metrics
    ]
    found = by_rule(pair.judge(rules, tmp_path))
    ordinary = []
    for metric in metrics:
        known, interval = pair.truth["overall"][metric], found[metric].interval
        assert interval is not None
        assert interval.low is not None
        assert interval.high is not None
        clusters = known["clusters"]
        deviate = math.sqrt(clusters / (clusters - 1)) * stats.t.ppf(0.975, clusters - 1)
        found_error = (interval.high - interval.low) / (2 * deviate)
        # Two end points, each half a cluster at ±R, add R²/n² to the variance: little, unless one sample stands out.
        widest = math.hypot(known["se"], pair.reach(metric) / clusters)
        slack = 1 + 0.10 + 0.5e-5 / known["se"]
        assert found_error >= known["se"] / slack, metric
        if (
            widest < 2 * known["se"]
        ):  # else nearly nothing differs, and the end points' own shape is what is seen
            assert found_error <= widest * slack, metric
        if widest < 1.02 * known["se"]:
            ordinary.append(metric)
    if pair.name.startswith(("bfcl", "alpaca", "gsm8k", "bbh")):
        assert pair.primary in ordinary
