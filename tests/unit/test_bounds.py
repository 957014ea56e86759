"""A bound is a finite number or a percentage, and is shown as it was written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.bounds import Bound, distance_text, read_bound, read_distance, read_percent, read_share


@pytest.mark.parametrize(
    ("written", "number", "percent", "shown"),
    [
        (5, 5.0, False, "5"),
        (0.02, 0.02, False, "0.02"),
        (0, 0.0, False, "0"),
        (-1.5, -1.5, False, "-1.5"),
        ("10%", 0.1, True, "10%"),
        (" 2.5 % ", 0.025, True, "2.5%"),
        ("-3%", -0.03, True, "-3%"),
        ("1e1%", 0.1, True, "10%"),
        (".5%", 0.005, True, "0.5%"),
    ],
)
def test_a_bound_is_read_and_shown(written: object, number: float, percent: bool, shown: str) -> None:
    bound = read_bound(written)
    assert bound == Bound(pytest.approx(number), percent)
    assert str(bound) == shown


@pytest.mark.parametrize(
    "written", ["10", "ten%", "%", "10%%", "1,5%", None, True, [1], {}, "1e999%", "nan%", "inf%", ""]
)
def test_anything_else_is_refused_with_what_was_found(written: object) -> None:
    with pytest.raises(ValueError, match="must be a number or a percentage such as 10%, not"):
        read_bound(written)


@pytest.mark.parametrize("written", [math.nan, math.inf, -math.inf])
def test_a_bound_that_is_not_finite_is_refused(written: float) -> None:
    with pytest.raises(ValueError, match="must be a finite number"):
        read_bound(written)


@given(st.integers(-1000_000, 1000_000))
def test_a_percentage_is_shown_as_it_was_written(tenths: int) -> None:
    written = f"{tenths / 10:g}%" if abs(tenths) < 100_000 else f"{tenths // 10}%"
    assert float(str(read_bound(written))[:-1]) == pytest.approx(float(written[:-1]), abs=1e-9)


def test_a_share_may_be_a_percentage_and_anything_else_is_left_alone() -> None:
    assert read_share("95%") == 0.95
    assert read_share(0.95) == 0.95
    assert read_share("most") == "most"
    assert read_percent("95") is None


def test_a_distance_is_one_bound_or_a_number_and_a_percentage() -> None:
    assert read_distance(0.1) == (Bound(0.1, False),)
    assert read_distance(["2%", 0.5]) == (Bound(0.02, True), Bound(0.5, False))
    assert distance_text(read_distance(["2%", 0.5])) == ["2%", 0.5]
    assert distance_text(read_distance("2%")) == "2%"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (-0.1, "must not be negative, but is -0.1; 0 allows no difference at all"),
        ("-1%", "must not be negative, but is -1%; 0 allows no difference at all"),
        (["1%", "2%"], "of two bounds one must be a percentage and one a number"),
        ([1, 2], "of two bounds one must be a percentage and one a number"),
        ([], "must be one bound, or a list of two that count only together"),
        (["1%", 1, 2], "must be one bound, or a list of two that count only together"),
        ([None], "must be a number or a percentage such as 10%, not nothing"),
    ],
)
def test_a_distance_that_makes_no_sense_is_refused(written: object, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        read_distance(written)
    assert str(raised.value) == said
