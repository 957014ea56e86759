"""The drawing says what the numbers say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.findings import Status
from gateline.reports import bars
from gateline.reports.escape import IN_TERMINAL, display_width
from gateline.spelling import PLAIN

from .hostile import texts
from .verdicts import (
    cost_limit,
    design_verdict,
    every,
    huge_verdict,
    improvement,
    latency,
    make_finding,
    make_verdict,
    passing,
    span,
    unsettled,
)

WIDTH = 25
AXIS = 12

numbers = st.integers(-2_000_000, 2_000_000).map(lambda number: number / 1e6)  # as verdict.json has them
small = st.integers(-150_000, 150_000).map(lambda number: number / 1e6)


def test_draws_the_design() -> None:
    assert bars.draw(design_verdict().findings, PLAIN) == [
        "                                ◄ worse     0    better ►   found  interval         needed",
        "- answer_correct · language=de  ◄──●────┤:  │               −14.4  −24.5 … −5.4     ≥ −5.0",
        "! answer_correct                     ├───:●─┼─┤              −1.7  −4.9 … +1.5      ≥ −2.0",
        "! cost                             ├──●───┤ │              0.0131  0.0124 … 0.0138  ≤ 0.0120 USD",
        "+ recall@5                                  │  :●┤           +4.3  +3.3 … +5.3      ≥ +3.0",
    ]


@settings(deadline=None)
@given(gain=numbers, ends=st.tuples(numbers, numbers), bound=st.floats(0.001, 1).map(lambda size: -size))
def test_a_bar_shows_on_which_side_of_axis_and_bound_each_number_lies(
    gain: float, ends: tuple[float, float], bound: float
) -> None:
    low, high = min(ends), max(ends)
    drawn = bars.bar(bars.place(make_finding(gain=gain, threshold=bound, interval=span(low, high))))
    assert len(drawn) == WIDTH
    at = AXIS - 3
    if "●" in drawn:
        column = drawn.index("●")
        assert (column < AXIS) == (gain < 0) or "◄" in drawn or "►" in drawn
        assert (column < at) == (gain < bound) or drawn[0] == "◄"
    else:
        assert drawn[0] == "◄" or drawn[-1] == "►"
    assert ("◄" in drawn) <= (min(low, gain) < 0)
    assert ("►" in drawn) <= (max(high, gain) > 0)


@settings(deadline=None)
@given(ends=st.tuples(small, small))
def test_an_interval_that_fits_has_both_ends(ends: tuple[float, float]) -> None:
    low, high = min(ends), max(ends)
    drawn = bars.bar(
        bars.place(make_finding(gain=(low + high) / 2, threshold=-0.05, interval=span(low, high)))
    )
    first = min(drawn.find(sign) for sign in "├●" if sign in drawn)
    last = max(drawn.rfind(sign) for sign in "┤●" if sign in drawn)
    assert (first < AXIS) == (low < 0)
    assert (last > AXIS) == (high > 0)


def test_what_leaves_the_drawing_has_an_arrow() -> None:
    drawn = bars.bar(bars.place(make_finding(gain=-0.9, interval=span(-1.0, -0.8), threshold=-0.02)))
    assert drawn == "◄        :  │            "
    drawn = bars.bar(bars.place(improvement(gain=0.9, interval=span(0.8, 1.0), threshold=0.03)))
    assert drawn == "            │  :        ►"


@pytest.mark.parametrize(
    ("finding", "column"),
    [
        (cost_limit(candidate=0.0126, interval=None), AXIS - 3),  # 5 % over the limit: as far as a bound
        (cost_limit(candidate=0.0114, interval=None), AXIS + 3),
        (cost_limit(candidate=0.7875, threshold=0.75, at_most=None, at_least=0.75, interval=None), AXIS + 3),
        (cost_limit(candidate=0.012, interval=None), AXIS),
        (latency(relative_gain=-0.2, interval=None), AXIS - 6),
        (
            cost_limit(candidate=2.0, threshold=0.0, at_most=0.0, interval=None),
            AXIS - 6,
        ),  # no scale: half the way
    ],
)
def test_scales_by_the_rule_s_own_bound(finding: object, column: int) -> None:
    assert bars.bar(bars.place(finding)).index("●") == column  # type: ignore[arg-type]


def test_single_samples_and_missing_numbers_have_an_empty_bar() -> None:
    empty = " " * AXIS + "│" + " " * AXIS
    assert bars.bar(bars.place(every())) == empty
    assert bars.bar(bars.place(make_finding(gain=None))) == empty
    assert bars.bar(bars.place(make_finding(threshold=None))) == empty


def test_nothing_is_drawn_where_all_is_fine() -> None:
    assert bars.draw([passing(), improvement()], PLAIN) == []


def test_only_what_is_not_plainly_fine_is_drawn() -> None:
    lines = bars.draw([make_finding(), passing(), unsettled(on_inconclusive="pass")], PLAIN)
    assert [line[0] for line in lines] == [" ", "-", "?"]


def test_at_most_the_given_rows_are_drawn_and_the_rest_is_counted() -> None:
    findings = [make_finding(slice=f"language=l{number}") for number in range(500)]
    lines = bars.draw(findings, PLAIN)
    assert len(lines) == 1 + 12 + 1
    assert lines[-1] == "  and 488 more"


def test_a_metric_that_all_rows_share_stands_in_the_title() -> None:
    lines = bars.draw(huge_verdict().findings, PLAIN)
    assert lines[0].startswith("  metric: faithfulness ")
    assert "tenant-0003/" in lines[1]
    assert "tenant-0890/" in lines[2]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(texts.filter(lambda name: not set(name) & set("│┼≥")), min_size=1, max_size=5),
    st.integers(60, 160),
)
def test_columns_stand_under_each_other_whatever_the_names(names: list[str], columns: int) -> None:
    findings = [
        finding
        for name in names
        for finding in (
            make_finding(slice=name, metric=name),
            unsettled(slice=name),
            every(status=Status.FAIL, slice=name, metric=name),
        )
    ]
    lines = bars.draw(make_verdict(*findings).findings, IN_TERMINAL, columns=columns)
    axes = {display_width(line[: line.index(sign)]) for line in lines[1:] for sign in "│┼" if sign in line}
    needs = {
        display_width(line[: line.rindex("≥")]) for line in lines[1:] if "each" not in line and "≥" in line
    }
    assert len(axes) == 1
    assert len(needs) == 1
    assert all("\n" not in line for line in lines)
