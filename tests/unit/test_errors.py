"""An error tells every problem with its place and a hint."""

from __future__ import annotations

import pytest

from gateline.errors import (
    GatelineError,
    HostError,
    InputError,
    NotComparable,
    PolicyError,
    Problem,
    did_you_mean,
    name_some,
    nearest,
)


def test_a_problem_is_one_line_of_place_message_and_hint() -> None:
    assert str(Problem("is wrong")) == "is wrong"
    assert str(Problem("is wrong", "p.yml:3  a.b", "mend it")) == "p.yml:3  a.b: is wrong  (mend it)"


def test_one_problem_or_many() -> None:
    one = InputError("is wrong", "f:1", "mend it")
    assert (one.headline, one.problems) == ("is wrong", (Problem("is wrong", "f:1", "mend it"),))
    many = PolicyError("in p.yml", problems=[Problem("a"), Problem("b", "p.yml:2")])
    assert many.headline == "in p.yml"
    assert str(many) == "a; p.yml:2: b"


@pytest.mark.parametrize("kind", [PolicyError, InputError, NotComparable, HostError])
def test_every_error_is_one_of_ours(kind: type[GatelineError]) -> None:
    assert issubclass(kind, GatelineError)


def test_names_past_the_limit_are_counted() -> None:
    assert name_some(["a", "b"]) == "a, b"
    assert name_some(f"q{number}" for number in range(1, 18)) == "q1, q2, q3, q4, q5 and 12 more"
    assert name_some([]) == ""


def test_the_nearest_name_is_offered_else_the_known_ones() -> None:
    assert nearest("at_moost", ["at_least", "at_most"]) == "at_most"
    assert nearest("zzz", ["at_least"]) is None
    assert nearest("nDCG@10", ["dcg@10", "ndcg@10", "ndcg_linear@10"]) == "ndcg@10"
    assert nearest("MRR", ["map", "mrr", "MAP"]) == "mrr"
    assert did_you_mean("at_moost", ["at_least", "at_most"]) == "did you mean 'at_most'?"
    assert did_you_mean("zzz", ["b", "a"]) == "known: a, b"
    assert did_you_mean("zzz", []) == ""
