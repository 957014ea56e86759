from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.samples import Run, count_digits, label_texts, number_text, read_number


def run_of(**columns: object) -> Run:
    size = len(next(iter(columns.values())))  # type: ignore[arg-type]
    return Run(
        "f.jsonl",
        "0" * 64,
        "jsonl",
        [f"q{row}" for row in range(size)],
        np.arange(1, size + 1),
        fields=columns,
    )


def test_numbers_of_every_spelling():
    run = run_of(s=[4, "4", " 4 ", "1e1", None, "", "NaN", "n/a", math.nan, 0.25, "-.5", "+3"])
    np.testing.assert_array_equal(
        run.numbers("s"), [4, 4, 4, 10, np.nan, np.nan, np.nan, np.nan, np.nan, 0.25, -0.5, 3]
    )
    assert run.numbers("s") is run.numbers("s")


@pytest.mark.parametrize(
    "value",
    [
        True,
        "Failed",
        "4/5",
        "1_000",
        "1,5",
        "0x10",
        [4],
        {"score": 4},
        "٤",
        "inf",
        "-Infinity",
        1e999,
        10**400,
        "1 2",
        "12%",
    ],
)
def test_what_is_no_number_is_named_with_its_place(value):
    run = run_of(s=[1, value])
    with pytest.raises(InputError) as caught:
        run.numbers("s")
    (problem,) = caught.value.problems
    assert problem.where == "f.jsonl:2"
    assert problem.message.startswith("s of sample 'q1' is not a number: ")


@pytest.mark.parametrize(
    ("value", "hint"),
    [(True, "write 1 and 0"), ("False", "write 1 and 0"), (" no", "write 1 and 0"), ("PASS", "write 1 and 0"),
     ("87 %", "write a share, 0.5 for 50 %"), ("0,87", "write the decimal point as '.', without thousands marks"),
     ("good", ""), ([4, 5.5], "")],
)  # fmt: skip
def test_how_a_value_should_be_written_is_said_where_that_is_plain(value, hint):
    with pytest.raises(InputError) as caught:
        run_of(s=[1, value]).numbers("s")
    assert caught.value.problems[0].hint == hint


def test_many_refusals_are_counted():
    with pytest.raises(InputError) as caught:
        run_of(s=["x"] * 30).numbers("s")
    assert len(caught.value.problems) == 6
    assert "'q5', 'q6'" in caught.value.problems[-1].message
    assert "and 15 more" in caught.value.problems[-1].message


def test_an_infinite_number_in_a_number_column_is_refused():
    with pytest.raises(InputError, match="'q1' is not a number: an infinite number"):
        run_of(s=np.array([1, np.inf])).numbers("s")


@pytest.mark.parametrize("value", [1.1e150, -1e300, 5e-324, -1e-151])
def test_a_number_beyond_computing_is_refused_by_id(value):
    for column in (np.array([1, value]), [1, repr(value)]):
        with pytest.raises(InputError, match="s of sample 'q1' is beyond what can be computed with: "):
            run_of(s=column).numbers("s")
    with pytest.raises(InputError) as caught:
        run_of(s=np.full(30, value)).numbers("s")
    assert len(caught.value.problems) == 6
    assert "and 15 more" in caught.value.problems[-1].message


def test_the_largest_and_smallest_numbers_are_taken():
    np.testing.assert_array_equal(run_of(s=[1e150, -1e-150, 0]).numbers("s"), [1e150, -1e-150, 0])


def test_an_unknown_column():
    with pytest.raises(KeyError):
        run_of(s=[1]).numbers("t")
    assert run_of(s=[1]).labels("t") is None
    assert run_of(s=[1]).texts("t") is None


def test_where_columns_are_looked_up():
    run = Run(
        "f", "", "csv", ["a"], np.zeros(1, np.int64),
        metrics={"x": np.array([1.0]), "m": np.array([7.0])},
        slices={"x": ["slice"]},
        fields={"x": ["field"], "code": np.array([7.0])},
        written={"code": ["007"]},
    )  # fmt: skip
    assert run.numbers("x").tolist() == [1]
    assert run.labels("x") == [("slice",)]
    assert (run.labels("code"), run.numbers("code").tolist()) == ([("007",)], [7])
    assert run.labels("m") == [("7",)]
    assert run.number_names() == ["x", "m", "code"]
    assert run.texts("id") == ["a"]


def test_number_names_are_columns_of_numbers():
    run = run_of(
        a=np.array([1.0, np.nan]), b=["1", None], c=["1", "x"], d=[None, None], e=[True, False], f=["", "nan"]
    )
    assert run.number_names() == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (None, ()), ("", ()), ("  ", ()), (math.nan, ()), ([], ()), ([None, ""], ()),
        (" de ", ("de",)), (True, ("true",)), (False, ("false",)), (5, ("5",)), (5.0, ("5",)), (0.5, ("0.5",)),
        (9007199254740993, ("9007199254740993",)), (["b", "a", "b"], ("b", "a")), ([1, [2]], ("1", "2")),
        ({"k": "v", "n": 1}, ("k=v", "n=1")),
    ],
)  # fmt: skip
def test_labels(value, texts):
    assert label_texts(value) == texts


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_whole_numbers_are_written_digit_for_digit(number):
    assert number_text(float(number)) == str(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_text_reads_back(number):
    assert read_number(number_text(number)) == number
    assert read_number(f" {number!r} ") == number


@given(st.integers(1, 10**15 - 1), st.integers(-20, 20))
def test_the_digits_of_a_number_are_those_it_was_written_with(number: int, exponent: int) -> None:
    """0.812 is no number of a double: its sixteenth digit is not told as one that was measured."""
    written = len(str(number).strip("0"))
    assert count_digits(float(f"{number}e{exponent}")) == written
    assert count_digits(-float(f"{number}e{exponent}")) == written


@pytest.mark.parametrize(
    ("value", "digits"), [(0.812, 3), (0.81, 2), (81200, 3), (0.0, 0), (1e-7, 1), (665.1, 4)]
)
def test_zeros_at_the_end_are_no_digits(value: float, digits: int) -> None:
    assert count_digits(value) == digits
