"""Ratios of sums: who says nothing has nothing wrong, and must not pass for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from gateline.findings import Finding
from runs import judge_one, make_run, records

METRICS = "{score: {better: higher}, rate: {better: BETTER, ratio: [part, claims]}}"
RULES = {
    "tolerance": "{kind: tolerance, metric: rate, worse_by_at_most: 0.1}",
    "improvement": "{kind: improvement, metric: rate, better_by_at_least: 0}",
}


def judge_ratio(before: list[int], after: list[int], *, kind: str = "tolerance", better: str = "lower",
                **parts: str) -> Finding:  # fmt: skip
    """Judge runs by their claims; half of the claims are bad before, and what is left after is good."""
    runs = records(f"a*{len(before)} 1>1")
    for side, claims, bad in zip(runs, (before, after), (0.5, 0.0), strict=True):
        for record, count in zip(side, claims, strict=True):
            share = bad if better == "lower" else 1 - bad
            record["metrics"] |= {"claims": float(count), "part": share * count}
    metrics = METRICS.replace("BETTER", better)
    made = (make_run(runs[0], "baseline.jsonl"), make_run(runs[1]))
    return judge_one(made, RULES[kind], metrics=metrics, **parts)


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("better", ["lower", "higher"])
@given(
    gone=st.integers(0, 60),
    gained=st.integers(0, 60),
    kept=st.integers(20, 60),
    allowed=st.sampled_from([0, 2, 20]),
)
def test_a_ratio_passes_only_while_no_more_denominators_are_gone_than_chance_and_policy_allow(
    kind: str, better: str, gone: int, gained: int, kept: int, allowed: int
) -> None:
    """By scipy's binomial test, in either direction of the metric and for all rules that compare two runs."""
    before, after = [4] * (kept + gone) + [0] * gained, [4] * kept + [0] * gone + [4] * gained
    found = judge_ratio(before, after, kind=kind, better=better, missing=f"{{drop_at_most: {allowed}%}}")
    by_chance = (
        gone + gained == 0 or binomtest(gone, gone + gained, alternative="greater").pvalue > 0.025
    )  # fmt: skip
    within = gone - gained <= allowed / 100 * (kept + gone) + 1e-9
    assert found.status.value == ("pass" if by_chance or within else "inconclusive")
    told = [note for note in found.notes if f"{gone} of {kept + gone} questions that had claims" in note]
    assert bool(told) == (found.status.value == "inconclusive")


def test_a_fail_is_not_softened_by_denominators_that_are_gone() -> None:
    found = judge_ratio([4] * 60, [4] * 40 + [0] * 20, better="higher")
    worse = judge_ratio([4] * 40 + [0] * 20, [4] * 60, better="higher")
    assert (found.status.value, worse.status.value) == ("inconclusive", "pass")
    runs = records("a*60 1>1")
    for record in runs[0]:
        record["metrics"] |= {"claims": 4.0, "part": 0.0}
    for number, record in enumerate(runs[1]):
        record["metrics"] |= {"claims": 4.0 * (number < 40), "part": 2.0 * (number < 40)}
    fails = judge_one(
        (make_run(runs[0], "baseline.jsonl"), make_run(runs[1])),
        RULES["tolerance"],
        metrics=METRICS.replace("BETTER", "lower"),
    )
    assert fails.status.value == "fail"


def test_denominators_that_come_and_go_by_chance_leave_few_passes_open() -> None:
    """Two draws of one system, in a tenth of whose answers no claim is made."""
    rng = np.random.default_rng(7)
    draws = [[(4 * (rng.random(150) > 0.1)).astype(int).tolist() for _ in range(2)] for _ in range(300)]
    found = [judge_ratio(before, after).status.value for before, after in draws]
    assert set(found) <= {"pass", "inconclusive"}
    assert found.count("inconclusive") / len(found) <= 0.05
