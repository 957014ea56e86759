"""Another question under the same id is refused by whatever usual name its text stands under."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.policy import read_policy
from gateline.proposal import propose_policy
from runs import Record, make_pairs, make_run, records

USUAL = ["question", "query", "user_input", "input", "prompt"]
NUMBER = 40

Text = Callable[[int], object]


def sides(field: str, before: Text, after: Text) -> tuple[list[Record], list[Record]]:
    """Return two runs whose texts under a name are these, by the number of the question."""
    found = records(f"q*{NUMBER} 1>0.9")
    for side, text in zip(found, (before, after), strict=True):
        for row, record in enumerate(side):
            record[field] = text(row)
    return found


def notices(found: tuple[list[Record], list[Record]], **parts: str) -> list[str]:
    return make_pairs((make_run(found[0], "baseline.jsonl"), make_run(found[1])), **parts).notices


def plain(row: int) -> str:
    return f"what about {row}?"


@pytest.mark.parametrize("field", USUAL)
@given(st.sets(st.integers(0, NUMBER - 1), min_size=1, max_size=NUMBER // 2))
def test_easier_questions_under_the_same_ids_are_refused(field: str, easier: set[int]) -> None:
    changed = sides(field, plain, lambda row: f"easy {row}" if row in easier else plain(row))
    with pytest.raises(InputError) as raised:
        notices(changed)
    assert f"has another {field} in the candidate: 'easy " in raised.value.problems[0].message
    assert raised.value.headline == "one id stands for different inputs"
    assert notices(sides(field, plain, plain)) == []


@pytest.mark.parametrize("field", USUAL)
@pytest.mark.parametrize("by", [1, 7])
def test_questions_that_moved_to_other_ids_are_refused(field: str, by: int) -> None:
    with pytest.raises(InputError, match=f"has another {field} in the candidate"):
        notices(sides(field, plain, lambda row: plain((row + by) % NUMBER)))


@pytest.mark.parametrize("field", USUAL)
def test_other_questions_throughout_are_refused_unless_a_new_template_may_be_why(field: str) -> None:
    changed = sides(field, plain, lambda row: f"Answer in one sentence: {plain(row)}")
    if field in ("input", "prompt"):
        told = (
            f"{field} is another text in 40 of 40 questions; where it is the question itself, other questions are "
            f"compared: samples: {{same_input: [{field}]}} refuses that"
        )
        assert notices(changed) == [told]
        with pytest.raises(InputError):
            notices(changed, samples=f"{{at_least: 1, same_input: [{field}]}}")
    else:
        with pytest.raises(InputError):
            notices(changed)


def test_what_is_no_text_of_each_question_is_not_compared() -> None:
    templates = sides("prompt", lambda _: "template 1", lambda _: "template 2")
    assert notices(templates) == []
    assert notices(sides("input", lambda row: row, lambda row: row + 1)) == []
    assert notices(sides("input", lambda row: {"text": plain(row)}, lambda row: {"text": str(row)})) == []
    # where one run lacks the text of a question nothing is known of it
    assert notices(sides("query", plain, lambda row: plain(row) if row % 3 else None)) == []


def test_of_several_usual_names_none_is_guessed_and_the_question_goes_first() -> None:
    rewritten = sides("query", plain, lambda row: f"{row} rewritten")
    for record in [*rewritten[0], *rewritten[1]]:
        record["input"] = f"about {record['id']}"
    assert notices(rewritten) == []
    asked = sides("query", plain, lambda row: f"{row} rewritten")
    for record in [*asked[0], *asked[1]]:
        record["question"] = f"about {record['id']}"
    assert notices(asked) == []


def test_the_policy_says_otherwise() -> None:
    changed = sides("query", plain, lambda row: f"{row} rewritten")
    assert notices(changed, samples="{at_least: 1, same_input: []}") == []
    assert notices(changed, provenance="{may_change: [query]}") == []
    template = sides("prompt", plain, lambda row: f"Answer in one sentence: {plain(row)}")
    assert notices(template, samples="{at_least: 1, same_input: []}") == []


@pytest.mark.parametrize("field", USUAL)
def test_init_names_the_field(field: str) -> None:
    before, _ = sides(field, plain, plain)
    for row, record in enumerate(before):
        record["metrics"]["score"] = float(row % 5 > 0)
    text = propose_policy(make_run(before, "base.jsonl"))
    asked = read_policy(text, "gate.yml").policy.samples.same_input
    assert asked == (None if field == "question" else [field])
    assert ("leave it out if it holds a template, too" in text) is (field in ("input", "prompt"))
    for record in before:
        record[field] = "the same for all"
    assert "same_input" not in propose_policy(make_run(before, "base.jsonl"))
