"""Degenerate statistics: constants, one sample, a few, and pairs that differ in how hard they are."""

from __future__ import annotations

import math

import pytest
from drawn import EIGHTHS, QUICK, make_both, tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.findings import Status
from runs import judge_one

METHODS = ["bayesian", "percentile", "bca"]
BOUNDED = "{score: {better: higher, range: [0, 1]}}"
OPEN = "{score: {better: higher}}"


def draws(method: str) -> str:
    return f"{{resamples: 1000, method: {method}}}"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metrics", [BOUNDED, OPEN])
@tries(8)
@given(
    questions=st.integers(2, 40),
    change=st.integers(-4, 4),
    allowed=st.sampled_from([0.0, 0.0625, 0.25]),
)
def test_a_change_that_all_share_never_passes_a_bound_that_it_breaks(
    method: str, metrics: str, questions: int, change: int, allowed: float
) -> None:
    before, after = [0.5] * questions, [0.5 + change / 8] * questions
    rule = f"{{kind: tolerance, metric: score, worse_by_at_most: {allowed}}}"
    finding = judge_one(make_both(before, after), rule, metrics=metrics, statistics=draws(method))
    gain = change / 8
    assert finding.gain == pytest.approx(gain, abs=1e-12)
    assert finding.interval is not None
    low, high = finding.interval.low, finding.interval.high
    assert low is not None and high is not None
    assert not math.isnan(low) and not math.isnan(high)
    assert low <= gain + 1e-12 and gain - 1e-12 <= high
    if gain < -allowed:
        assert finding.status is not Status.PASS
    else:
        assert finding.status is not Status.FAIL
    if metrics == OPEN and method != "bayesian":  # drawn from one value alone: an interval without width
        assert (low, high) == pytest.approx((gain, gain), abs=1e-12)
        assert finding.status is (Status.FAIL if gain < -allowed else Status.PASS)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rule",
    [
        "{kind: improvement, metric: score}",
        "{kind: tolerance, metric: score, worse_by_at_most: 0.02}",
        "{kind: limit, metric: score, at_least: 0.25, decide_by: interval}",
    ],
)
@tries(6)
@given(before=EIGHTHS, after=EIGHTHS)
def test_one_sample_settles_nothing_by_interval(rule: str, method: str, before: float, after: float) -> None:
    finding = judge_one(make_both([before], [after]), rule, statistics=draws(method))
    assert (finding.samples, finding.interval) == (1, None)
    assert finding.status is Status.INCONCLUSIVE


@tries(15)
@given(st.lists(st.tuples(st.just(0.0), st.integers(1, 8)), min_size=2, max_size=5))
def test_up_to_five_lucky_samples_are_no_improvement(rows: list[tuple[float, int]]) -> None:
    """Five equal signs have a two-sided p of 1/16 by the sign test; six are the first below 5 %."""
    runs = make_both([before for before, _ in rows], [after / 8 for _, after in rows])
    finding = judge_one(runs, "{kind: improvement, metric: score}", **QUICK)
    assert finding.gain is not None and finding.gain > 0
    assert finding.status is Status.INCONCLUSIVE
    assert finding.interval is not None and finding.interval.low is not None and finding.interval.low < 0


@tries(20)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 64)), min_size=3, max_size=30))
def test_how_hard_each_question_is_plays_no_part(rows: list[tuple[int, int, int]]) -> None:
    """What is added to both runs of a question leaves the gain and its interval as they are."""
    rule = "{kind: tolerance, metric: score, worse_by_at_most: 0.1}"
    alike, apart = (
        judge_one(
            make_both(
                [(before + hard * far) / 8 for before, _, hard in rows],
                [(after + hard * far) / 8 for _, after, hard in rows],
            ),
            rule,
            metrics="{score: {better: higher, range: [0, 16]}}",
            **QUICK,
        )
        for far in (0, 1)
    )
    assert apart.gain == pytest.approx(alike.gain, abs=1e-9)
    assert apart.status == alike.status
    assert alike.interval is not None and apart.interval is not None
    assert (apart.interval.low, apart.interval.high) == pytest.approx(
        (alike.interval.low, alike.interval.high), abs=1e-9
    )
