"""Ratios of sums: who says nothing has nothing wrong, and must not pass for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from gateline.findings import Finding
from gateline.gate import check
from gateline.policy import load_policy
from gateline.reduction.engines import start_engine
from gateline.reduction.file import to_bytes
from gateline.reduction.plan import make_plan
from gateline.reduction.summing import sum_up
from runs import DAY, Record, check_gate, judge_one, make_run, records, write_gate

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
    told = [
        note
        for note in found.notes
        if f"{kept + gone} questions have claims in the baseline and {kept + gained} in" in note
    ]
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


@pytest.mark.parametrize(("place", "status"), [("language=de", "pass"), ("language=en", "inconclusive")])
def test_denominators_that_are_gone_in_one_slice_leave_that_slice_open(place: str, status: str) -> None:
    runs = records("a*60 de 1>1 b*60 en 1>1")
    for side, bad in zip(runs, (0.5, 0.0), strict=True):
        for record in side:
            record["metrics"] |= {"claims": 4.0, "part": bad * 4.0}
    for record in runs[1][80:]:
        record["metrics"] |= {"claims": 0.0, "part": 0.0}
    made = (make_run(runs[0], "baseline.jsonl"), make_run(runs[1]))
    rule = f"{{kind: tolerance, metric: rate, worse_by_at_most: 0.1, slice: {place}}}"
    found = judge_one(made, rule, metrics=METRICS.replace("BETTER", "lower"), missing="{drop_at_most: 2%}")
    assert found.status.value == status
    told = any("60 questions have claims in the baseline and 20 in" in note for note in found.notes)
    assert told is (status == "inconclusive")


@pytest.mark.parametrize(("gone", "status"), [(8, "pass"), (9, "inconclusive")])
def test_as_many_may_be_gone_as_the_policy_lets_be_left_out(gone: int, status: str) -> None:
    """8 of 100 are within 8 %, though eight that went and none that came are no chance."""
    found = judge_ratio([4] * 100, [4] * (100 - gone) + [0] * gone, missing="{drop_at_most: 8%}")
    assert found.status.value == status


def test_denominators_that_come_and_go_by_chance_leave_few_passes_open() -> None:
    """Two draws of one system, in a tenth of whose answers no claim is made."""
    rng = np.random.default_rng(7)
    draws = [[(4 * (rng.random(150) > 0.1)).astype(int).tolist() for _ in range(2)] for _ in range(300)]
    found = [judge_ratio(before, after).status.value for before, after in draws]
    assert set(found) <= {"pass", "inconclusive"}
    assert found.count("inconclusive") / len(found) <= 0.05


@pytest.mark.parametrize("groups", [16, 1 << 20])
@pytest.mark.parametrize(("gone", "status"), [(0, "pass"), (2, "pass"), (60, "inconclusive")])
def test_sums_of_a_log_tell_it_as_the_log_does(tmp_path: Path, groups: int, gone: int, status: str) -> None:
    """Also where a group holds some twenty questions: then it is groups that lose them by more than chance."""
    pytest.importorskip("duckdb", reason="reduce needs DuckDB: pip install 'gateline[reduce]'")
    policy = write_gate(
        tmp_path, _sides(gone), RULES["tolerance"], metrics=METRICS.replace("BETTER", "lower")
    )
    engine, files = start_engine("duckdb"), []
    for side in ("baseline", "candidate"):
        log, file = str(tmp_path / f"{side}.jsonl"), tmp_path / f"{side}.reduced.json"
        sums = sum_up(make_plan(load_policy(str(policy / "policy.yml")), groups=groups), [log], engine)
        file.write_bytes(to_bytes(sums.statement, sums.columns, sums.sketches, file))
        files.append(str(file))
    engine.close()
    of_sums = check(str(policy / "policy.yml"), *files, on=DAY)
    of_logs = check_gate(tmp_path)
    assert [one.status.value for one in of_sums.findings + of_logs.findings] == [status, status]
    told = ["300 questions have claims in the baseline and 240 in the candidate"] * (gone == 60)
    assert [note.partition(":")[0] for note in of_sums.findings[0].notes if "have claims" in note] == told


def _sides(gone: int) -> tuple[list[Record], list[Record]]:
    before, after = records("a*300 1>1")
    for number, (first, second) in enumerate(zip(before, after, strict=True)):
        first["metrics"] |= {"claims": 4.0, "part": float(number < 60)}
        second["metrics"] |= {"claims": 4.0 * (number >= gone), "part": float(gone <= number < 60)}
    return before, after
