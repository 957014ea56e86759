"""A waiver lets one rule through, up to its ceiling and until its last day; whatever it does is told."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.comparison import Comparison
from gateline.findings import Finding, Status
from gateline.waivers import apply_waivers
from runs import make_pairs, read

FLOOR = "{id: floor, kind: limit, metric: score, at_least: 0.9}"
HOLDS = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 0.05}"
RUNS = "a*160 1>1 b*40 1>0"  # from 100 % to 80 %
DAY = datetime.date(2026, 6, 1)


def waiver(**fields: object) -> str:
    told = {
        "rule": "floor",
        "up_to": "0.7",
        "until": "2026-12-31",
        "by": "search-team",
        "reason": "known",
        **fields,
    }
    return "{" + ", ".join(f"{name}: {value}" for name, value in told.items() if value is not None) + "}"


def applied(
    rules: str | Sequence[str], *waivers: str, runs: str = RUNS, on: datetime.date = DAY, **parts: str
) -> tuple[list[Finding], list[str]]:
    rules = [rules] if isinstance(rules, str) else list(rules)
    parts = {"waivers": f"[{', '.join(waivers)}]", **parts}
    file = read(*rules, **parts)
    policy = file.policy
    comparison = Comparison(make_pairs(runs, *rules, **parts), policy.metrics, policy.statistics)
    found = [finding for rule in policy.rules for finding in rule.check(comparison)]
    return apply_waivers(found, policy.waivers, file.rules, comparison, on)


def test_within_its_ceiling_a_rule_is_let_through_and_says_by_whom() -> None:
    (finding,), notices = applied(FLOOR, waiver())
    assert (finding.status, finding.blocks, finding.warns) == (Status.WAIVED, False, True)
    assert finding.waiver is not None
    assert finding.waiver.model_dump() == {
        "up_to": 0.7, "until": "2026-12-31", "by": "search-team", "reason": "known",
    }  # fmt: skip
    assert notices == []


@pytest.mark.parametrize(
    ("up_to", "status"), [("0.8", Status.WAIVED), ("80%", Status.WAIVED), ("0.81", Status.FAIL)]
)
def test_past_its_ceiling_it_does_not_reach(up_to: str, status: Status) -> None:
    (finding,), notices = applied(FLOOR, waiver(up_to=up_to))
    assert finding.status is status
    if status is Status.FAIL:
        assert finding.blocks
        assert notices == ["the waiver of floor does not reach: the number is beyond its ceiling 0.81"]


@pytest.mark.parametrize(
    ("rule", "up_to", "status"),
    [
        (HOLDS, "0.2", Status.WAIVED),
        (HOLDS, "0.19", Status.FAIL),
        (HOLDS, "20%", Status.WAIVED),
        ("{id: holds, kind: tolerance, metric: score, worse_by_at_most: [1%, 0.02]}", "0.2", Status.WAIVED),
        ("{id: holds, kind: improvement, metric: score}", "0.3", Status.FAIL),
        ("{id: holds, kind: every, metric: score, at_least: 1}", "0.5", Status.FAIL),
        ("{id: holds, kind: every, metric: score, at_least: 1}", "0", Status.WAIVED),
        ("{id: holds, kind: every, metric: score, worse_by_at_most: 0}", "1", Status.WAIVED),
    ],
)
def test_each_kind_of_rule_has_the_ceiling_in_the_unit_of_its_bound(
    rule: str, up_to: str, status: Status
) -> None:
    (finding,), _ = applied(rule, waiver(rule="holds", up_to=up_to))
    assert finding.status is status


@pytest.mark.parametrize(
    ("on", "status", "notices"),
    [
        ("2026-12-16", Status.WAIVED, []),
        ("2026-12-17", Status.WAIVED, []),
        ("2026-12-18", Status.WAIVED, ["the waiver of floor ends on 2026-12-31 (13 days left; search-team)"]),
        ("2026-12-30", Status.WAIVED, ["the waiver of floor ends on 2026-12-31 (1 day left; search-team)"]),
        (
            "2026-12-31",
            Status.WAIVED,
            ["the waiver of floor ends on 2026-12-31 (today is its last day; search-team)"],
        ),
        ("2027-01-01", Status.FAIL, ["the waiver of floor ended on 2026-12-31: the rule counts again"]),
    ],
)
def test_the_last_day_counts_and_its_last_fourteen_days_are_told(
    on: str, status: Status, notices: list[str]
) -> None:
    """The last day is one of the fourteen: on 18 December thirteen are left after it."""
    (finding,), told = applied(FLOOR, waiver(), on=datetime.date.fromisoformat(on))
    assert (finding.status, told) == (status, notices)


def test_an_unused_waiver_is_told() -> None:
    (finding,), notices = applied(FLOOR, waiver(), runs="a*40 1>1")
    assert finding.status is Status.PASS
    assert notices == ["the waiver of floor is not needed"]


def test_a_waiver_of_what_is_not_settled_is_not_called_needless() -> None:
    (finding,), notices = applied(HOLDS, waiver(rule="holds"), runs="a*160 1>1 b*5 1>0 c*3 0>1")
    assert (finding.status, finding.blocks, notices) == (Status.INCONCLUSIVE, False, [])


def test_a_waiver_of_what_is_not_judged_is_not_called_needless() -> None:
    """Small slices are not decided on: they say nothing of the bound, beside others that meet it."""
    rule, slices = FLOOR.replace("0.9", "0.9, slices: true"), "{by: [language], at_least: 30}"
    small, notices = applied(rule, waiver(), runs="a*3 en 1>1 b*3 de 1>1", slices=slices)
    assert ({finding.status for finding in small}, notices) == ({Status.SKIPPED}, [])
    mixed, notices = applied(rule, waiver(), runs="a*40 en 1>1 b*3 de 1>1", slices=slices)
    assert {finding.status for finding in mixed} == {Status.SKIPPED, Status.PASS}
    assert notices == ["the waiver of floor is not needed"]


def test_an_inconclusive_check_that_blocks_can_be_waived() -> None:
    rule = HOLDS.replace("0.05", "0.2, on_inconclusive: fail")
    (before,), _ = applied(rule)
    (after,), _ = applied(rule, waiver(rule="holds", up_to="0.25"))
    assert (before.status, before.blocks) == (Status.INCONCLUSIVE, True)
    assert (after.status, after.blocks) == (Status.WAIVED, False)


@pytest.mark.parametrize(
    ("samples", "up_to", "status", "notices"),
    [
        (30, "0.5", Status.WAIVED, []),
        (30, "0.7", Status.FAIL, ["the number is beyond its ceiling 0.7"]),
        (29, "0.5", Status.INCONCLUSIVE, ["too little is known to hold even its ceiling 0.5"]),
        (29, "0.7", Status.INCONCLUSIVE, ["too little is known to hold even its ceiling 0.7"]),
    ],
)
def test_a_waiver_moves_the_bound_and_not_how_many_samples_it_takes(
    samples: int, up_to: str, status: Status, notices: list[str]
) -> None:
    (finding,), told = applied(
        FLOOR.replace("0.9", "0.9, slice: language=de, on_inconclusive: fail"),
        waiver(up_to=up_to),
        runs=f"a*40 en 1>1 b*{samples} de 1>0.6",
        slices="{at_least: 30}",
    )
    assert (finding.status, finding.blocks) == (status, status is not Status.WAIVED)
    assert told == [f"the waiver of floor does not reach: {why}" for why in notices]


@pytest.mark.parametrize(
    ("left_out", "up_to", "waived"), [(1, "0.55", True), (4, "0.55", False), (4, "0.54", True)]
)
def test_what_is_left_out_is_not_waived(left_out: int, up_to: str, waived: bool) -> None:
    """36 of 40 at 0.6 are 0.54 were the rest 0; 1 of 40 is within the share that may be left out."""
    (finding,), _ = applied(
        FLOOR.replace("0.9", "0.9, slice: language=de"),
        waiver(up_to=up_to),
        runs=f"a*160 en 1>1 b*{40 - left_out} de 1>0.6 c*{left_out} de 1>?",
        missing="{drop_at_most: 5%}",
    )
    assert (finding.status, finding.blocks) == (Status.WAIVED if waived else Status.FAIL, not waived)


def test_a_slice_without_a_usable_sample_cannot_be_waived() -> None:
    rule = "{id: floor, kind: limit, metric: score, at_least: 0.9, slice: language=de, on_inconclusive: fail}"
    (finding,), _ = applied(rule, waiver(up_to="0"), runs="a*40 en 1>1 b de 1>?", missing="{drop_at_most: 1}")
    assert (finding.status, finding.blocks) == (Status.INCONCLUSIVE, True)


def test_a_waiver_of_one_slice_leaves_the_others_alone() -> None:
    rule = "{id: floor, kind: limit, metric: score, at_least: 0.9, slices: [language]}"
    found, notices = applied(rule, waiver(slice="language=de", up_to="0"), runs="a*40 de 1>0 b*40 en 1>0")
    assert [(one.slice, one.status.value) for one in found] == [
        ("language=de", "waived"),
        ("language=en", "fail"),
    ]
    assert notices == []


def test_a_waiver_without_a_slice_speaks_of_all_of_its_rule() -> None:
    rule = "{id: floor, kind: limit, metric: score, at_least: 0.9, slices: [language]}"
    found, _ = applied(rule, waiver(up_to="0"), runs="a*40 de 1>0 b*40 en 1>0")
    assert {one.status for one in found} == {Status.WAIVED}


def test_a_waiver_of_a_slice_that_is_not_needed_is_named() -> None:
    rule = "{id: floor, kind: limit, metric: score, at_least: 0.9, slices: [language]}"
    _, notices = applied(rule, waiver(slice="language=en", up_to="0"), runs="a*40 de 1>1 b*40 en 1>1")
    assert notices == ["the waiver of floor in language=en is not needed"]


def test_of_two_waivers_the_one_that_reaches_is_used() -> None:
    (finding,), notices = applied(FLOOR, waiver(up_to="0.85"), waiver(up_to="0.75"))
    assert finding.waiver is not None
    assert finding.waiver.up_to == 0.75
    assert notices == ["the waiver of floor does not reach: the number is beyond its ceiling 0.85"]


@given(st.integers(0, 100), st.integers(0, 40))
def test_a_waiver_never_makes_it_worse(ceiling: int, lost: int) -> None:
    """Whatever the ceiling, a finding that did not block does not, and nothing but the status changes."""
    runs = f"a*{60 - lost} 1>1" + (f" b*{lost} 1>0" if lost else "")
    (before,), _ = applied(FLOOR, runs=runs)
    (after,), _ = applied(FLOOR, waiver(up_to=f"{ceiling}%"), runs=runs)
    assert after.blocks <= before.blocks
    if not before.blocks:
        assert after == before
    assert after.model_dump(exclude={"status", "blocks", "waiver"}) == before.model_dump(
        exclude={"status", "blocks", "waiver"}
    )
