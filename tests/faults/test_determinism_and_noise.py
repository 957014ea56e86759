"""Noise: how often the judge was asked makes no sample larger, and no order and no copy changes a verdict."""

from __future__ import annotations

import random
from typing import Any

import pytest
from drawn import EIGHTHS, QUICK, make_side, tries
from hypothesis import given
from hypothesis import strategies as st

from runs import judge_one

RULE = "{kind: tolerance, metric: score, worse_by_at_most: 0.1}"
REPEATED = {"samples": "{at_least: 1, repeat_field: judge_run}", **QUICK}


def asked(answers: list[list[float]], file: str, seed: int) -> Any:
    rows = [
        (f"q{number}", one, turn)
        for number, scores in enumerate(answers)
        for turn, one in enumerate(scores, 1)
    ]
    random.Random(seed).shuffle(rows)
    return make_side(
        [one for _, one, _ in rows], file, id=[name for name, _, _ in rows], judge_run=[turn for _, _, turn in rows],
        answer=[f"{file} {name} {turn}" for name, _, turn in rows],
    )  # fmt: skip


@tries(25)
@given(st.integers(1, 4), st.data(), st.integers(0, 99))
def test_a_judge_that_is_asked_again_makes_no_sample_larger(
    times: int, data: st.DataObject, seed: int
) -> None:
    """The finding is that of the means of each question, in whatever order the judgements stand."""
    number = data.draw(st.integers(3, 10))
    answers = st.lists(EIGHTHS, min_size=times, max_size=times)
    before, after = (data.draw(st.lists(answers, min_size=number, max_size=number)) for _ in range(2))
    many = judge_one((asked(before, "b", seed), asked(after, "c", seed + 1)), RULE, **REPEATED)
    means = [[[sum(scores) / times] for scores in side] for side in (before, after)]
    once = judge_one((asked(means[0], "b", 0), asked(means[1], "c", 0)), RULE, **REPEATED)
    assert (many.samples, many.clusters) == (number, number)
    assert many.gain == pytest.approx(once.gain, abs=1e-12)
    assert many.interval is not None and once.interval is not None
    assert (many.interval.low, many.interval.high) == pytest.approx(
        (once.interval.low, once.interval.high), abs=1e-9
    )
    assert many.status == once.status


@tries(20)
@given(st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=2, max_size=12), st.integers(0, 99))
def test_the_same_files_give_the_same_finding_each_time_in_any_order(
    rows: list[tuple[float, float]], seed: int
) -> None:
    found = [
        judge_one(
            (asked([[one] for one, _ in rows], "b", order), asked([[two] for _, two in rows], "c", order)),
            RULE,
            **REPEATED,
        )
        for order in (0, 0, seed)
    ]
    assert found[0] == found[1] == found[2]
