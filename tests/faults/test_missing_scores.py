"""Missing scores: what was not scored is neither a zero nor gone, and a score beside an error is none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from drawn import EIGHTHS, QUICK, TEXTS, make_side, tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import NotComparable
from gateline.findings import Status
from runs import judge_one, make_pairs

TOLERANCE = "{kind: tolerance, metric: score, worse_by_at_most: 0.125, decide_by: value}"
FLOOR = "{kind: limit, metric: score, at_least: 0.5}"
LOSSES = st.sampled_from(["", "", "", "null", "error", "error beside a score"])
JUDGE_FAILED = TEXTS.map(lambda text: f"judge: {text}")


def _lose(score: float, how: str) -> tuple[Any, Any]:
    """Return the score and the error of a record that lost its score in some way."""
    return (None if how in ("null", "error") else score), ("judge_failed" if "error" in how else None)


@tries(25)
@given(st.lists(st.tuples(EIGHTHS, LOSSES, EIGHTHS, LOSSES), min_size=2, max_size=12))
def test_both_runs_are_averaged_over_the_questions_that_both_have_scored(rows: list[Any]) -> None:
    before = [_lose(score, how) for score, how, _, _ in rows]
    after = [_lose(score, how) for _, _, score, how in rows]
    runs = tuple(
        make_side([score for score, _ in side], file, error=[error for _, error in side])
        for file, side in (("baseline.jsonl", before), ("candidate.jsonl", after))
    )
    finding = judge_one(runs, TOLERANCE, missing="{drop_at_most: 1}", **QUICK)
    pairs = [(Fraction(one), Fraction(two)) for one, lost, two, lost_too in rows if not lost and not lost_too]
    assert finding.samples == len(pairs)
    if not pairs:
        assert (finding.baseline, finding.candidate, finding.gain) == (None, None, None)
        assert finding.status is Status.INCONCLUSIVE
        return
    gain = sum(two - one for one, two in pairs) / len(pairs)
    assert finding.baseline == pytest.approx(float(sum(one for one, _ in pairs) / len(pairs)))
    assert finding.candidate == pytest.approx(float(sum(two for _, two in pairs) / len(pairs)))
    assert finding.gain == pytest.approx(float(gain))
    # a pass where nothing was lost beyond what the plain value allows is fine; a broken bound is never one
    if gain < Fraction(-1, 8):
        assert finding.status is Status.FAIL


@tries(25)
@given(
    st.lists(EIGHTHS, min_size=3, max_size=10),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    JUDGE_FAILED,
    st.data(),
)
def test_a_number_beside_an_error_changes_nothing(
    scores: list[float], beside: float, error: str, data: st.DataObject
) -> None:
    """Whatever the number is, were it far outside of the range."""
    hit = data.draw(st.sets(st.integers(0, len(scores) - 1), min_size=1, max_size=len(scores) - 1))
    errors = [error if row in hit else None for row in range(len(scores))]
    found = [
        judge_one(
            (
                make_side(scores, "baseline.jsonl"),
                make_side(
                    [value if row in hit else score for row, score in enumerate(scores)],
                    "candidate.jsonl",
                    error=errors,
                ),
            ),
            rule,
            missing="{drop_at_most: 1}",
            **QUICK,
        )
        for rule in (TOLERANCE, FLOOR)
        for value in (None, beside)
    ]
    for absent, present in (found[:2], found[2:]):
        assert present.model_dump(exclude={"notes", "notes_said"}) == absent.model_dump(
            exclude={"notes", "notes_said"}
        )
        assert present.samples == len(scores) - len(hit)


@pytest.mark.parametrize("how", ["null", "error", "error beside a score"])
@pytest.mark.parametrize("questions", [2, 10, 49, 50, 51, 120])
def test_whoever_survives_an_outage_does_not_speak_for_all(questions: int, how: str) -> None:
    """Past 2 % without a score there is no verdict, however good the rest is; up to there it is counted."""
    for lost in {1, questions // 50, questions // 50 + 1, questions // 2, questions - 1}:
        if not 0 < lost < questions:
            continue
        after = [_lose(1.0, how if row < lost else "") for row in range(questions)]
        runs = (
            make_side([0.5] * questions, "baseline.jsonl"),
            make_side([score for score, _ in after], "candidate.jsonl", error=[error for _, error in after]),
        )
        if lost / questions > 0.02:
            with pytest.raises(NotComparable) as raised:
                make_pairs(runs, FLOOR)
            assert f"{lost} of {questions}" in " ".join(map(str, raised.value.problems))
        else:
            assert judge_one(runs, FLOOR, **QUICK).samples == questions - lost
