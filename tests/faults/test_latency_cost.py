"""Times and costs: what came out of a cache was not measured, and a price that is not known is not nothing."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import QUICK, make_both, make_side, tries
from hypothesis import assume, given
from hypothesis import strategies as st

from gateline.errors import NotComparable
from gateline.findings import Status
from runs import judge_one, make_pairs

ALL = {"missing": "{drop_at_most: 1}", **QUICK}
TIMES = "{median: {better: lower, field: latency_ms, unit: ms, summary: p50}}"
COSTS = "{cost: {better: lower, field: cost_usd, unit: USD, summary: total}}"
SLOWER = "{kind: tolerance, metric: median, worse_by_at_most: 10%, decide_by: value}"
DEARER = "{kind: tolerance, metric: cost, worse_by_at_most: 10%, decide_by: value}"
ROWS = st.lists(
    st.tuples(st.integers(200, 2000), st.integers(200, 2000), st.booleans()), min_size=3, max_size=12
)


@tries(40)
@given(ROWS)
def test_answers_from_a_cache_count_for_neither_time_nor_cost(rows: list[tuple[int, int, bool]]) -> None:
    """Where a fast look-up and a cost of 0 stand beside them, the fresh ones alone are compared."""
    fresh = [(one, two) for one, two, cached in rows if not cached]
    assume(fresh)
    score = [1.0] * len(rows)
    before = make_side(
        score, "b", latency_ms=[float(one) for one, _, _ in rows], cost_usd=[one / 1e6 for one, _, _ in rows]
    )
    after = make_side(
        score,
        "c",
        latency_ms=[2.0 if cached else float(two) for _, two, cached in rows],
        cost_usd=[0.0 if cached else two / 1e6 for _, two, cached in rows],
        cached=[cached for _, _, cached in rows],
    )
    time = judge_one((before, after), SLOWER, metrics=TIMES, **ALL)
    cost = judge_one((before, after), DEARER, metrics=COSTS, **ALL)
    assert time.samples == cost.samples == len(fresh)
    olds, news = (np.array(side, dtype=float) for side in zip(*fresh, strict=True))
    medians = [float(np.quantile(side, 0.5, method="inverted_cdf")) for side in (olds, news)]
    assert (time.baseline, time.candidate) == tuple(medians)
    assert time.status is (Status.FAIL if medians[1] > medians[0] * 1.1 + 1e-9 else Status.PASS)
    assert (cost.baseline, cost.candidate) == pytest.approx((olds.sum() / 1e6, news.sum() / 1e6))
    if len(fresh) / len(rows) < 0.98:
        with pytest.raises(NotComparable):
            make_pairs((before, after), SLOWER, metrics=TIMES)


@tries(40)
@given(st.lists(st.sampled_from(["known", "zero", "null"]), min_size=1, max_size=12), st.integers(1, 10**6))
def test_a_price_that_is_not_known_makes_no_run_cheaper(prices: list[str], tokens: int) -> None:
    """No cost, or a cost of 0 with tokens spent, is missing: past 2 % of the samples there is no verdict."""
    score, unknown = [1.0] * len(prices), len([one for one in prices if one != "known"])
    before = make_side(score, "b", cost_usd=[0.003] * len(prices), tokens=[900] * len(prices))
    values = {"known": 0.004, "zero": 0.0, "null": float("nan")}
    after = make_side(score, "c", cost_usd=[values[one] for one in prices], tokens=[tokens] * len(prices))
    if unknown:
        with pytest.raises(NotComparable):
            make_pairs((before, after), DEARER, metrics=COSTS)
    finding = judge_one((before, after), DEARER, metrics=COSTS, **ALL)
    known = len(prices) - unknown
    assert finding.samples == known
    if known:
        assert (finding.baseline, finding.candidate) == pytest.approx((0.003 * known, 0.004 * known))
        assert finding.status is Status.FAIL
    else:
        assert (finding.gain, finding.status) == (None, Status.INCONCLUSIVE)


def test_only_what_is_said_to_be_free_costs_nothing() -> None:
    runs = make_both([1.0] * 30, [1.0] * 30, cost_usd=[0.0] * 30, tokens=[900] * 30)
    free = COSTS.replace("unit: USD", "unit: USD, free: true")
    assert judge_one(runs, DEARER, metrics=free, **QUICK).status is Status.PASS
    with pytest.raises(NotComparable):
        make_pairs(runs, DEARER, metrics=COSTS)
