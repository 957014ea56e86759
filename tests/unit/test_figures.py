"""Numbers as they are shown: never against the outcome, never with a wrong sign."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reports.verdicts import cost_limit, latency, make_finding, span

from gateline import figures
from gateline.amounts import allowed
from gateline.spelling import PLAIN


def read(text: str) -> float:
    """The number in a shown text."""
    return float(text.replace(",", "").replace("−", "-").replace("+", "").split(" ")[0])


@pytest.mark.parametrize(
    ("value", "decimals", "sign", "shown"),
    [
        (0.0, 1, True, "0.0"),
        (-0.0, 0, False, "0"),
        (-0.04, 1, False, "0.0"),
        (-14.4, 1, True, "−14.4"),
        (4.3, 1, True, "+4.3"),
        (2500.0, 0, False, "2,500"),
        (1234567.891, 2, False, "1,234,567.89"),
        (28.499999999999996, 1, False, "28.5"),
        (1.5e-7, 9, False, "1.5e−7"),
        (-2.5e17, 0, False, "−2.5e17"),
        (float("inf"), 1, False, "∞"),
        (float("nan"), 1, False, "—"),
        (None, 1, False, "—"),
    ],
)
def test_spells_a_number(value: float | None, decimals: int, sign: bool, shown: str) -> None:
    assert figures.spell(value, decimals, sign=sign) == shown


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (0.95, "95 %"),
        (0.9, "90 %"),
        (0.975, "97.5 %"),
        (1 - 0.05 / 24, "99.79 %"),
        (0.999, "99.9 %"),
        (0.8, "80 %"),
        (0.9999999999999, "99.999999999 %"),
    ],
)
def test_shows_as_many_nines_as_a_confidence_has(level: float, shown: str) -> None:
    assert figures.confidence_text(level) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(7, "7"), (72, "72"), (340, "340"), (341, "350"), (1262, "1,300")]
)
def test_an_estimated_count_has_two_digits(count: int, shown: str) -> None:
    assert figures.about(count) == shown


rounded_shares = st.integers(-1_000_000, 1_000_000).map(lambda number: number / 1e6)
rounded_numbers = st.integers(-(10**12), 10**12).map(lambda number: number / 1e6)


@settings(deadline=None)
@given(value=rounded_shares, bound=rounded_shares, ends=st.tuples(rounded_shares, rounded_shares))
def test_a_percent_metric_is_never_shown_on_the_other_side_of_its_bound(
    value: float, bound: float, ends: tuple[float, float]
) -> None:
    low, high = min(ends), max(ends)
    finding = make_finding(gain=value, threshold=bound, interval=span(low, high))
    scale = figures.judged_scale(finding, None)
    for number in (value, low, high):
        assert (read(scale.bare(number)) < read(scale.bare(bound))) == (number < bound)
        assert (read(scale.bare(number)) > read(scale.bare(bound))) == (number > bound)


@settings(deadline=None)
@given(value=rounded_numbers, bound=rounded_numbers)
def test_a_limit_is_never_shown_on_the_other_side_of_its_bound(value: float, bound: float) -> None:
    assume(value == bound or abs(value - bound) > 2e-9 * max(abs(value), abs(bound)))
    finding = cost_limit(candidate=value, threshold=bound, interval=None)
    scale = figures.scale_of_values(finding, "USD")
    assert (read(scale.bare(value)) > read(scale.bare(bound))) == (value > bound)
    assert (read(scale.bare(value)) < read(scale.bare(bound))) == (value < bound)


@settings(deadline=None)
@given(st.floats(1e-6, 1e12), st.floats(1e-6, 1e12))
def test_a_number_is_shown_within_half_a_percent_of_the_largest(baseline: float, candidate: float) -> None:
    finding = latency(baseline=baseline, candidate=candidate)
    scale = figures.scale_of_values(finding, "ms")
    largest = max(baseline, candidate)
    for number in (baseline, candidate):
        assert abs(read(scale.bare(number)) - number) <= 0.005 * largest


def test_a_bound_is_shown_as_the_policy_has_it() -> None:
    scale = figures.judged_scale(make_finding(threshold=-0.0125), None)
    assert scale.full(-0.0125) == "−1.25 points"


@given(
    st.floats(1e-7, 1e9),
    st.floats(-1, 1),
    st.sampled_from(["number", "percent"]),
)
def test_a_share_of_the_baseline_never_looks_like_nothing_in_the_unit(
    baseline: float, gain: float, show_as: str
) -> None:
    """The digits that a gain of 0 needs are none, and a tenth of a small baseline would be shown as 0."""
    finding = make_finding(
        baseline=baseline, gain=gain * baseline, relative_gain=gain, judged="relative_gain", threshold=-0.1,
        show_as=show_as, interval=None,
    )  # fmt: skip
    told = re.search(r"0 % of the baseline \((\S+?)[ )]", allowed(finding, PLAIN))
    assert told is not None
    shown = read(told[1]) / (100 if show_as == "percent" else 1)
    assert shown > 0
    assert shown == pytest.approx(baseline / 10, rel=0.06)


def test_equal_numbers_stay_equal_in_spite_of_float_noise() -> None:
    finding = make_finding(gain=0.765 - 0.8, threshold=-0.035, interval=None, show_as="number")
    scale = figures.judged_scale(finding, None)
    assert scale.bare(finding.gain) == scale.bare(-0.035) == "−0.035"


def test_zeros_that_all_numbers_share_are_dropped() -> None:
    finding = latency(baseline=12.0, candidate=13.0, unit=None)
    scale = figures.scale_of_values(finding, None)
    assert (scale.full(12.0), scale.full(13.0)) == ("12", "13")
