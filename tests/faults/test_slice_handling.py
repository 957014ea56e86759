"""Slices: what happens in a small one is not hidden by the rest, and no question falls between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drawn import EIGHTHS, QUICK, make_both, tries
from hypothesis import assume, given
from hypothesis import strategies as st

from gateline.findings import Status
from runs import check_gate, judge, write_gate

BY_VALUE = "metric: score, worse_by_at_most: 0.02, decide_by: value"
OVERALL = f"{{id: overall, kind: tolerance, {BY_VALUE}}}"
FAMILY = f"{{id: by-risk, kind: tolerance, {BY_VALUE}, slices: [risk]}}"
NAMED = f"{{id: high, kind: tolerance, {BY_VALUE}, slice: high}}"
SLICES = {"slices": "{by: [risk], named: {high: {risk: high}}, at_least: 1}"}
BLANK: tuple[Any, ...] = (None, "", "  ", "\t", "absent")


@tries(10)
@given(few=st.integers(1, 6), times=st.integers(4, 9), loss=st.integers(1, 4), by_name=st.booleans())
def test_a_slice_that_falls_blocks_however_much_the_rest_rises(
    tmp_path_factory: pytest.TempPathFactory, few: int, times: int, loss: int, by_name: bool
) -> None:
    """The rest is so much larger, and rises so much, that the whole run is better."""
    before = [0.5] * few * (times + 1)
    after = [0.5 - loss / 8] * few + [1.0] * few * times
    sides = tuple(
        [
            {"id": f"q{row}", "slices": {"risk": "high" if row < few else "low"}, "metrics": {"score": score}}
            for row, score in enumerate(scores)
        ]
        for scores in (before, after)
    )
    folder = tmp_path_factory.mktemp("gate")
    write_gate(folder, (sides[0], sides[1]), OVERALL, NAMED if by_name else FAMILY, **SLICES, **QUICK)
    verdict = check_gate(folder)
    found = {(finding.rule, finding.slice): finding for finding in verdict.findings}
    assert found["overall", None].status is Status.PASS
    assert found["overall", None].gain == pytest.approx((sum(after) - sum(before)) / len(before))
    failing = found["high", "high"] if by_name else found["by-risk", "risk=high"]
    assert (failing.status, failing.samples) == (Status.FAIL, few)
    assert failing.gain == pytest.approx(-loss / 8)
    assert (verdict.verdict, verdict.exit_code) == ("fail", 1)
    assert ("high" in verdict.because[0], len(verdict.because)) == (True, 1)


@tries(25)
@given(
    st.lists(
        st.tuples(st.sampled_from(["high", "low", "No", "007", *BLANK]), EIGHTHS, EIGHTHS),
        min_size=1,
        max_size=20,
    )
)
def test_slices_add_up_to_the_whole_with_those_that_have_no_label(
    rows: list[tuple[Any, float, float]],
) -> None:
    labels: list[dict[str, Any]] = [{} if label == "absent" else {"risk": label} for label, _, _ in rows]
    runs = make_both([x for _, x, _ in rows], [y for _, _, y in rows], slices=labels)
    assume(any(label not in BLANK for label, _, _ in rows))  # else the policy names a label that nobody has
    whole, *parts = judge(runs, OVERALL, FAMILY, slices="{by: [risk], at_least: 1}", **QUICK)
    assert sum(part.samples for part in parts) == whole.samples == len(rows)
    assert whole.gain is not None
    gains = [part.gain * part.samples for part in parts if part.gain is not None]
    assert sum(gains) == pytest.approx(whole.gain * whole.samples, abs=1e-9)
    named = {label for label, _, _ in rows if label not in BLANK}
    without = [row for row in rows if row[0] in BLANK]
    assert len(parts) == len(named) + bool(without)
    if without:
        (rest,) = [part for part in parts if str(part.slice).removeprefix("risk=") not in named]
        loss = sum(y - x for _, x, y in without) / len(without)
        assert (rest.samples, rest.gain) == (len(without), pytest.approx(loss, abs=1e-9))
        assert rest.status is (Status.FAIL if loss < -0.02 else Status.PASS)


def test_the_blank_label_is_shown_by_a_name(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*4 risk=high 1>1 b*4 1>0", FAMILY, **SLICES, **QUICK)
    (rest,) = [finding for finding in check_gate(tmp_path).findings if finding.samples == 4 and finding.gain]
    assert (rest.slice, rest.status) == ("risk=(none)", Status.FAIL)
