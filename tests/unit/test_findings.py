"""A finding names its bound as the policy does and knows when people should look at it."""

from __future__ import annotations

import pytest

from gateline.findings import Status
from runs import judge_one

RUNS = "a*180 1>1 b*20 1>0"


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        ("{kind: limit, metric: score, at_least: 75%}", ("at_least", "75%")),
        ("{kind: limit, metric: score, at_most: 1}", ("at_most", 1.0)),
        ("{kind: tolerance, metric: score, worse_by_at_most: [2%, 0.1]}", ("worse_by_at_most", ["2%", 0.1])),
        ("{kind: improvement, metric: score}", ("better_by_at_least", 0.0)),
        ("{kind: every, metric: score, worse_by_at_most: 0.5}", ("worse_by_at_most", 0.5)),
    ],
)
def test_the_bound_stands_under_its_name_in_the_policy(rule: str, bound: object) -> None:
    finding = judge_one(RUNS, rule)
    assert finding.bound == bound
    assert [
        name
        for name in ("at_most", "at_least", "worse_by_at_most", "better_by_at_least")
        if getattr(finding, name) is not None
    ] == [bound[0]]  # type: ignore[index]


def test_a_finding_without_a_bound_has_none() -> None:
    finding = judge_one(RUNS, "{kind: limit, metric: score, at_least: 0.5}")
    assert finding.model_copy(update={"at_least": None}).bound is None


@pytest.mark.parametrize(
    ("status", "blocks", "burden", "warns"),
    [
        (Status.WAIVED, False, "warn", True),
        (Status.INCONCLUSIVE, False, "warn", True),
        (Status.INCONCLUSIVE, True, "fail", False),
        (Status.INCONCLUSIVE, False, "pass", False),
        (Status.FAIL, True, "warn", False),
        (Status.SKIPPED, False, "warn", False),
        (Status.PASS, False, "warn", False),
    ],
)
def test_people_are_asked_to_look_at_what_was_let_through(
    status: Status, blocks: bool, burden: str, warns: bool
) -> None:
    finding = judge_one(RUNS, "{kind: limit, metric: score, at_least: 0.5}")
    assert (
        finding.model_copy(update={"status": status, "blocks": blocks, "on_inconclusive": burden}).warns
        is warns
    )
