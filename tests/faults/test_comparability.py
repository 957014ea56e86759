"""Comparability: runs of other questions, other inputs or another judge are not compared, and what differs is named."""

from __future__ import annotations

from typing import Any

import pytest
from drawn import EIGHTHS, TEXTS, make_side, tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError, NotComparable
from runs import LIMIT, make_pairs

NAMES = [f"q{number:02d}" for number in range(10)]
SUBSETS = st.sets(st.sampled_from(NAMES), max_size=3)
RULES = ["{kind: tolerance, metric: score, worse_by_at_most: 1}", LIMIT]


def refused(runs: Any, **parts: str) -> str:
    with pytest.raises((NotComparable, InputError)) as raised:
        make_pairs(runs, *RULES, **parts)
    return " ".join(map(str, raised.value.problems))


@tries(30)
@given(SUBSETS, SUBSETS, SUBSETS, st.lists(EIGHTHS, min_size=23, max_size=23))
def test_two_versions_of_a_test_set_give_no_verdict_and_every_question_that_differs_is_named(
    lost: set[str], new: set[str], changed: set[str], scores: list[float]
) -> None:
    changed -= lost
    before = make_side(
        scores[:10], "baseline.jsonl", id=NAMES, question=[f"what is {name}?" for name in NAMES]
    )
    kept = [name for name in NAMES if name not in lost] + [f"new-{name}" for name in new]
    asked = [f"what is {name}{' really' if name in changed else ''}?" for name in kept]
    after = make_side(scores[10 : 10 + len(kept)], "candidate.jsonl", id=kept, question=asked)
    if not (lost or new or changed):
        assert len(make_pairs((before, after), *RULES).ids) == 10
        return
    told = refused((before, after))
    named = {name for name in [*NAMES, *(f"new-{name}" for name in NAMES)] if repr(name) in told}
    # what was lost or is new is told first; which inputs changed is looked at among the same questions
    assert named == ((lost | {f"new-{name}" for name in new}) or changed) | (named & changed)


@tries(30)
@given(
    st.sets(st.sampled_from(NAMES), min_size=1),
    st.lists(TEXTS, min_size=2, max_size=2, unique_by=str.strip),
    st.booleans(),
)
def test_scores_of_another_judge_are_not_compared_however_few_there_are(
    hit: set[str], judges: list[str], in_the_baseline: bool
) -> None:
    """Where the policy wants one judge, and also where it changes half way through one of the files."""
    one, other = judges
    mixed = make_side(
        [1.0] * 10, "mixed.jsonl", id=NAMES, judge=[other if name in hit else one for name in NAMES]
    )
    whole = make_side([1.0] * 10, "whole.jsonl", id=NAMES, judge=[one] * 10)
    runs = (mixed, whole) if in_the_baseline else (whole, mixed)
    told = refused(runs, provenance="{must_match: [judge]}")
    assert "judge" in told
    assert len(make_pairs((whole, whole), *RULES, provenance="{must_match: [judge]}").ids) == 10


@tries(15)
@given(st.lists(TEXTS, min_size=2, max_size=2, unique_by=str.strip))
def test_a_swapped_judge_that_the_policy_does_not_ask_for_is_told_by_both_names(judges: list[str]) -> None:
    before, after = (
        make_side([1.0] * 10, f"{number}.jsonl", id=NAMES, judge=[judge] * 10)
        for number, judge in enumerate(judges)
    )
    (change,) = [one for one in make_pairs((before, after), *RULES).changed if one.field == "judge"]
    assert (change.baseline, change.candidate) == tuple(judge.strip() for judge in judges)
