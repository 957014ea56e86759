"""A metric says where its numbers stand, which way is better and how a run is summed up."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateline.metric import Metric


def metric(**fields: Any) -> Metric:
    return Metric.model_validate({"better": "higher", **fields})


def refused(**fields: Any) -> str:
    with pytest.raises(ValidationError) as raised:
        metric(**fields)
    return str(raised.value.errors()[0]["msg"])


@pytest.mark.parametrize(
    ("summary", "quantile"),
    [("mean", None), ("total", None), ("median", 0.5), ("p50", 0.5), ("p95", 0.95), ("p1", 0.01)],
)
def test_the_summary_tells_the_quantile(summary: str, quantile: float | None) -> None:
    assert metric(summary=summary).quantile == quantile


@pytest.mark.parametrize("summary", ["p0", "p100", "p5.5", "p05", "average", "P95", 95, None])
def test_a_summary_that_is_not_known_is_refused(summary: object) -> None:
    assert "must be mean, median, total or p50 … p99" in refused(summary=summary)


def test_a_gain_has_the_sign_of_better() -> None:
    assert (metric().sign, metric(better="lower").sign) == (1, -1)


@pytest.mark.parametrize(
    ("fields", "worst"),
    [
        ({"range": [0, 1]}, 0.0),
        ({"range": [0, 1], "better": "lower"}, 1.0),
        ({"range": [0, 1], "worst": 0.5}, 0.5),
        ({"better": "lower", "worst": 30000}, 30000.0),
        ({}, None),
        ({"ratio": ["a", "b"], "range": [0, 1]}, None),
    ],
)
def test_the_worst_value_is_the_bad_end_of_the_range_or_what_the_policy_says(
    fields: Any, worst: float | None
) -> None:
    assert metric(**fields).worst_value == worst


def test_the_ends_of_a_range_may_be_percentages() -> None:
    assert metric(range=["0%", "100%"]).range == (0.0, 1.0)
    assert metric(range=[1, 5]).width == 4.0
    assert metric().width is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"range": [1, 0]}, "range: the first number must be below the second, not [1.0, 0.0]"),
        ({"range": [1, 1]}, "range: the first number must be below the second, not [1.0, 1.0]"),
        ({"ratio": ["a", "b"], "field": "c"}, "ratio stands alone: leave out 'field' and 'summary'"),
        ({"ratio": ["a", "b"], "summary": "p95"}, "ratio stands alone: leave out 'field' and 'summary'"),
        ({"ratio": ["a", "b"], "worst": 1}, "a ratio has no worst value for a single sample"),
        ({"range": [0, 1], "worst": 2}, "worst must lie in the range [0.0, 1.0], not 2.0"),
        ({"better": "lwer"}, "'higher' or 'lower'"),
        ({"range": [0, float("nan")]}, "finite number"),
        ({"worst": float("inf")}, "finite number"),
    ],
)
def test_a_metric_that_contradicts_itself_is_refused(fields: Any, said: str) -> None:
    assert said in refused(**fields)


def test_money_and_time_are_known_by_field_and_unit() -> None:
    assert metric().is_cost("cost_usd")
    assert metric(field="total_cost").is_cost("x")
    assert metric(unit="EUR").is_cost("x")
    assert not metric(field="score").is_cost("cost")
    assert metric().is_time("latency_ms")
    assert metric(unit="s").is_time("x")
    assert not metric(unit="USD").is_time("x")


def test_a_ratio_is_called_so() -> None:
    assert metric(ratio=["a", "b"]).summary_name == "ratio"
    assert metric(summary="p95").summary_name == "p95"
