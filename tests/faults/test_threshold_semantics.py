"""Thresholds: points are points and percent are percent, each rule has its own, and a value must lie in its range."""

from __future__ import annotations

from fractions import Fraction

import pytest
from drawn import EIGHTHS, QUICK, make_both, tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.findings import Status
from runs import judge, judge_one, make_pairs

OPEN = {"metrics": "{score: {better: higher}}", **QUICK}
LOWER = {"metrics": "{score: {better: lower}}", **QUICK}


@tries(80)
@given(
    st.lists(st.tuples(st.integers(1, 64), st.integers(0, 64)), min_size=1, max_size=6),
    st.integers(0, 40),
    st.booleans(),
    st.booleans(),
)
def test_a_number_is_points_and_a_percentage_is_of_the_baseline(
    rows: list[tuple[int, int]], amount: int, percent: bool, lower: bool
) -> None:
    """Held against exact fractions, for metrics of either direction, without rounding and at the bound itself."""
    before = Fraction(sum(one for one, _ in rows), 64 * len(rows))
    after = Fraction(sum(two for _, two in rows), 64 * len(rows))
    loss = (after - before) * (1 if lower else -1)
    allowed = Fraction(amount, 100) * (before if percent else 1)
    bound = f"{amount}%" if percent else str(amount / 100)
    runs = make_both([one / 64 for one, _ in rows], [two / 64 for _, two in rows])
    rule = f"{{kind: tolerance, metric: score, decide_by: value, worse_by_at_most: {bound}}}"
    finding = judge_one(runs, rule, **(LOWER if lower else OPEN))
    assert finding.status is (Status.FAIL if loss > allowed else Status.PASS)
    assert finding.gain == pytest.approx(float(-loss), abs=1e-12)
    assert finding.relative_gain == pytest.approx(float(-loss / before), abs=1e-12)
    assert finding.judged == ("relative_gain" if percent else "gain")
    assert finding.bound == ("worse_by_at_most", bound if percent else amount / 100)


@tries(40)
@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=10),
    st.sampled_from(["0%", "10%", "500%", "99999%"]),
    st.sampled_from(["mean", "total"]),
)
def test_no_rise_from_0_is_within_a_percentage_of_it(scores: list[int], bound: str, summary: str) -> None:
    """And nothing becomes infinite or 100 %."""
    runs = make_both([0.0] * len(scores), [one / 8 for one in scores])
    rule = f"{{kind: tolerance, metric: score, decide_by: value, worse_by_at_most: {bound}}}"
    finding = judge_one(runs, rule, metrics=f"{{score: {{better: lower, summary: {summary}}}}}", **QUICK)
    assert finding.relative_gain is None
    assert finding.status is (Status.FAIL if any(scores) else Status.PASS)
    total = sum(scores) / 8
    assert finding.gain == pytest.approx(-total if summary == "total" else -total / len(scores))


@tries(60)
@given(
    st.lists(
        st.one_of(
            EIGHTHS,
            st.floats(1.001, 1e9),
            st.floats(-1e9, -0.001),
            st.sampled_from([1.0000000002, -1e-12, 1 + 2**-52]),
        ),
        min_size=1,
        max_size=10,
    ),
    st.booleans(),
)
def test_a_value_outside_of_its_range_is_refused_by_its_id_and_rounding_is_not(
    scores: list[float], in_the_baseline: bool
) -> None:
    """However the mean comes out: two wrong values may cancel."""
    good, odd = [0.5] * len(scores), scores
    runs = make_both(*((odd, good) if in_the_baseline else (good, odd)))
    outside = [row for row, score in enumerate(scores) if not -1e-6 <= score <= 1 + 1e-6]
    if outside:
        with pytest.raises(InputError) as raised:
            make_pairs(runs, "{kind: limit, metric: score, at_least: 0}")
        told = " ".join(map(str, raised.value.problems))
        assert all(f"'q{row}'" in told for row in outside[:3])
        return
    rule = "{kind: limit, metric: score, at_least: 0}"
    finding = judge_one(runs[::-1] if in_the_baseline else runs, rule, **QUICK)
    assert finding.candidate == pytest.approx(sum(min(max(one, 0.0), 1.0) for one in scores) / len(scores))


TOPICS = ["medical", "billing", "talk"]
LIMITS = st.integers(0, 8).map(lambda number: number / 16)


@tries(40)
@given(
    losses=st.lists(st.integers(-4, 4), min_size=3, max_size=3),
    limits=st.lists(LIMITS, min_size=3, max_size=3),
    overall=LIMITS,
    hard=LIMITS,
)
def test_each_rule_holds_its_own_slice_to_its_own_bound(
    losses: list[int], limits: list[float], overall: float, hard: float
) -> None:
    """A lenient bound elsewhere, for the same or for more questions, loosens nothing."""
    labels = [
        {"topic": topic, "risk": "high" if topic == "medical" else "low"}
        for topic in TOPICS
        for _ in range(4)
    ]
    after = [0.5 - loss / 8 for loss in losses for _ in range(4)]
    rules = [
        f"{{id: {topic}, kind: tolerance, metric: score, slice: {topic}, worse_by_at_most: {limit}, decide_by: value}}"
        for topic, limit in zip(TOPICS, limits, strict=True)
    ]
    rules.append(
        f"{{id: all, kind: tolerance, metric: score, worse_by_at_most: {overall}, decide_by: value}}"
    )
    rules.append(
        f"{{id: red, kind: tolerance, metric: score, slice: red, worse_by_at_most: {hard}, hard: true}}"
    )
    named = ", ".join(f"{topic}: {{topic: {topic}}}" for topic in TOPICS)
    found = judge(
        make_both([0.5] * 12, after, slices=labels),
        *rules,
        slices=f"{{named: {{{named}, red: {{risk: high}}}}, at_least: 1}}",
        **QUICK,
    )
    expected = {topic: (loss / 8, limit) for topic, loss, limit in zip(TOPICS, losses, limits, strict=True)}
    expected |= {"all": (sum(losses) / 24, overall), "red": (losses[0] / 8, hard)}
    for finding in found:
        loss, limit = expected[finding.rule]
        assert finding.status is (Status.FAIL if loss > limit + 1e-12 else Status.PASS)
        assert finding.bound == ("worse_by_at_most", limit)
        assert finding.gain == pytest.approx(-loss)
