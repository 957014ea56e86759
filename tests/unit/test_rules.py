"""What each kind of rule makes of two runs: the three outcomes, the burden of proof, slices and hard rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gateline.findings import FoundInterval, Status
from gateline.rules import find_rules
from gateline.rules.base import hold
from gateline.samples import Run
from gateline.wording import describe
from runs import Record, judge, judge_one, make_run, make_runs, records, set_field, set_metric

ANY = {"missing": "{drop_at_most: 1}"}
PLAIN = {"metrics": "{score: {better: higher}}"}
LOWER = {"metrics": "{score: {better: lower}}"}


def rule(kind: str, rest: str = "") -> str:
    return f"{{id: r, kind: {kind}, metric: score{', ' if rest else ''}{rest}}}"


def status(runs: str | tuple[Run | None, Run], kind: str, rest: str = "", **parts: str) -> str:
    return str(judge_one(runs, rule(kind, rest), **{**ANY, **parts}).status.value)


def span(low: float | None, high: float | None) -> FoundInterval:
    return FoundInterval(of="gain", low=low, high=high, level=0.95, method="bayesian", resamples=None)


def test_there_are_five_kinds_of_rules() -> None:
    assert list(find_rules()) == ["calibration", "every", "improvement", "limit", "tolerance"]
    assert all(kind.__doc__ and kind.__doc__.endswith(".") for kind in find_rules().values())


# --- holding a number against a threshold


@pytest.mark.parametrize(
    ("interval", "above", "found"),
    [
        (span(0.1, 0.3), True, "pass"),
        (span(-0.3, -0.1), True, "fail"),
        (span(-0.1, 0.1), True, "inconclusive"),
        (span(0.0, 0.3), True, "pass"),  # the bound itself is within it
        (span(-0.3, -1e-15), True, "pass"),  # rounding is not beyond it
        (span(0.1, 0.3), False, "fail"),
        (span(-0.3, -0.1), False, "pass"),
        (span(None, None), True, "inconclusive"),
        (span(None, -0.1), True, "fail"),
        (span(None, 0.1), True, "inconclusive"),
        (span(0.1, None), True, "pass"),
        (None, True, "inconclusive"),
        (span(-0.1, 0.1), False, "inconclusive"),
        (span(-0.3, 0.0), False, "pass"),
        (span(None, -0.1), False, "pass"),
        (span(0.1, None), False, "fail"),
        (span(-0.1, None), False, "inconclusive"),
    ],
)
def test_the_whole_interval_decides(interval: FoundInterval | None, above: bool, found: str) -> None:
    if interval is not None and interval.high == -1e-15:
        interval = span(-1e-15, 0.3)
    assert hold(0.0, interval, 0.0, above=above, decide_by="interval", size=1).value == found


@pytest.mark.parametrize(
    ("interval", "found"),
    [
        (span(0.0, 0.3), "inconclusive"),  # more than nothing is asked for
        (span(1e-15, 0.3), "inconclusive"),
        (span(0.001, 0.3), "pass"),
        (span(-0.3, 0.0), "fail"),
        (span(-0.3, 1e-15), "fail"),
        (span(-0.3, 0.001), "inconclusive"),
    ],
)
def test_an_interval_that_ends_on_the_bound_is_not_beyond_it(interval: FoundInterval, found: str) -> None:
    assert hold(0.1, interval, 0.0, above=True, decide_by="interval", size=1, strictly=True).value == found


@pytest.mark.parametrize(
    ("value", "above", "strictly", "found"),
    [
        (0.5, True, False, "pass"),
        (0.5 - 1e-12, True, False, "pass"),
        (0.4999, True, False, "fail"),
        (0.5, False, False, "pass"),
        (0.5001, False, False, "fail"),
        (0.5, True, True, "fail"),
        (0.5001, True, True, "pass"),
        (None, True, False, "inconclusive"),
    ],
)
def test_the_plain_value_decides(value: float | None, above: bool, strictly: bool, found: str) -> None:
    found_status = hold(value, span(-9, 9), 0.5, above=above, decide_by="value", size=1, strictly=strictly)
    assert found_status.value == found


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1e13])
@pytest.mark.parametrize("rest", ["worse_by_at_most: 0", "worse_by_at_most: 0%"])
def test_rounding_is_a_share_of_the_data_and_not_of_one(scale: float, rest: str) -> None:
    """Nine times as slow is nine times as slow, in whatever unit."""
    before, after = records("q*30 1>1")
    set_metric(before, "score", [scale] * 30)
    set_metric(after, "score", [9 * scale] * 30)
    runs = make_run(before, "b"), make_run(after, "c")
    assert status(runs, "tolerance", f"decide_by: value, {rest}", **LOWER) == "fail"
    assert status(runs[::-1], "improvement", "decide_by: value", **LOWER) == "pass"
    assert status(runs, "limit", "at_most: 0", **LOWER) == "fail"
    assert status(runs, "every", rest, **LOWER) == "fail"
    assert status(runs, "every", f"at_most: {8 * scale!r}", **LOWER) == "fail"
    assert status(runs[::-1], "every", f"at_least: {2 * scale!r}", **PLAIN) == "fail"


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1e13])
def test_a_sample_that_just_meets_its_bound_meets_it_in_whatever_unit(scale: float) -> None:
    """A tenth more than each of many numbers, in doubles, is now and then a hair more than a tenth."""
    before, after = records("q*200 1>1")
    values = [scale * (number + 1) / 7 for number in range(200)]
    set_metric(before, "score", values)
    set_metric(after, "score", [value + value * 0.1 for value in values])
    runs = make_run(before, "b"), make_run(after, "c")
    assert status(runs, "every", "worse_by_at_most: 10%", **LOWER) == "pass"
    assert status(runs, "every", "worse_by_at_most: 9.999%", **LOWER) == "fail"
    most = max(values) * 1.1
    assert status(runs, "every", f"at_most: {most!r}", **LOWER) == "pass"
    assert status(runs, "every", f"at_most: {most * (1 - 1e-7)!r}", **LOWER) == "fail"


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1e13])
def test_what_rounding_leaves_of_several_attempts_is_nothing(scale: float) -> None:
    before, after = records("q*2 1,1,1>1,1,1")
    set_metric(before, "score", [0.0] * 6)
    set_metric(after, "score", [0.1 * scale, 0.2 * scale, -0.3 * scale, 0.3 * scale, scale, 0.0])
    runs = make_run(before, "b"), make_run(after, "c")
    assert status(runs, "every", "at_least: 0", **PLAIN) == "pass"
    set_metric(after, "score", [-0.1 * scale, -0.2 * scale, 0.3 * scale, -0.3 * scale, -scale, 0.0])
    runs = make_run(before, "b"), make_run(after, "c")
    assert status(runs, "every", "at_most: 0", **PLAIN) == "pass"
    assert status(runs, "every", "at_least: 0", **PLAIN) == "fail"


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1e13])
def test_sums_that_differ_by_rounding_alone_are_equal(scale: float) -> None:
    """0.1 + 0.2 - 0.3 isn't 0 in doubles, whichever way it is added up."""
    before, after = records("q*3 1>1")
    set_metric(before, "score", [0.0] * 3)
    set_metric(after, "score", [0.1 * scale, 0.2 * scale, -0.3 * scale])
    runs = make_run(before, "b"), make_run(after, "c")
    for parts in (PLAIN, LOWER):
        assert status(runs, "tolerance", "decide_by: value, worse_by_at_most: 0", **parts) == "pass"
        assert status(runs, "improvement", "decide_by: value", **parts) == "fail"
    assert status(runs, "limit", "at_least: 0", **PLAIN) == "pass"
    assert status(runs, "limit", "at_most: 0", **PLAIN) == "pass"


def test_a_fall_from_80_to_75_percent_is_one_of_5_points() -> None:
    assert 0.8 - 0.75 > 0.05
    runs = "a*15 1>1 b 1>0 c*4 0>0"
    assert status(runs, "tolerance", "decide_by: value, worse_by_at_most: 0.05") == "pass"
    assert status(runs, "tolerance", "decide_by: value, worse_by_at_most: 0.0499") == "fail"


# --- limit


@pytest.mark.parametrize(
    ("runs", "rest", "found"),
    [
        ("a*6 1>1 b*4 1>0", "at_least: 0.6", "pass"),
        ("a*6 1>1 b*4 1>0", "at_least: 0.61", "fail"),
        ("a*6 1>1 b*4 1>0", "at_most: 0.6", "pass"),
        ("a*6 1>1 b*4 1>0", "at_most: 59%", "fail"),
        ("a*6 1>1 b*4 1>0", "at_least: 60%", "pass"),
    ],
)
def test_a_limit_holds_the_candidate_by_its_value_whatever_the_baseline_was(
    runs: str, rest: str, found: str
) -> None:
    finding = judge_one(runs, rule("limit", rest))
    assert finding.status.value == found
    assert (finding.judged, finding.candidate, finding.decide_by) == ("candidate", 0.6, "value")
    assert finding.blocks is (found == "fail")


def test_zero_is_a_limit() -> None:
    assert status("a*30 0>0", "limit", "at_most: 0") == "pass"
    assert status("a*30 0>0 b 0>1", "limit", "at_most: 0") == "fail"
    assert status("a*30 1>1", "limit", "at_least: 0") == "pass"


def test_a_limit_may_be_decided_by_interval() -> None:
    runs = "a*85 1>1 b*15 1>0"
    assert status(runs, "limit", "at_least: 0.8") == "pass"
    assert status(runs, "limit", "at_least: 0.8, decide_by: interval") == "inconclusive"
    assert status(runs, "limit", "at_least: 0.7, decide_by: interval") == "pass"
    assert status(runs, "limit", "at_least: 0.95, decide_by: interval") == "fail"


def test_a_limit_counts_samples_that_only_the_candidate_has_scored() -> None:
    finding = judge_one("a*8 1>1 b*2 ?>0", rule("limit", "at_least: 0.9"), **ANY)
    assert (finding.samples, finding.candidate, finding.status) == (10, 0.8, Status.FAIL)


def test_a_total_and_a_percentile_have_limits_in_their_own_unit() -> None:
    assert (
        status("a*3 0>1 b*9 0>0", "limit", "at_most: 2", metrics="{score: {better: lower, summary: total}}")
        == "fail"
    )
    assert (
        status("a*3 0>1 b*9 0>0", "limit", "at_most: 3", metrics="{score: {better: lower, summary: total}}")
        == "pass"
    )
    assert (
        status("a*90 0>1 b*10 0>9", "limit", "at_most: 1", metrics="{score: {better: lower, summary: p90}}")
        == "pass"
    )
    assert (
        status("a*89 0>1 b*11 0>9", "limit", "at_most: 1", metrics="{score: {better: lower, summary: p90}}")
        == "fail"
    )


# --- every


def test_every_sample_must_meet_the_bound_and_those_that_do_not_are_listed_worst_first() -> None:
    finding = judge_one("a 1>0.9 b 1>0.2 c 1>0.5 d 1>0.8", rule("every", "at_least: 0.8"))
    assert (finding.status, finding.failing, finding.failing_count) == (Status.FAIL, ["b", "c"], 2)
    assert finding.blocks
    assert judge_one("a 1>0.9 b 1>0.8", rule("every", "at_least: 0.8")).failing_count == 0


def test_every_with_a_ceiling() -> None:
    finding = judge_one("a 1>9 b 1>3", rule("every", "at_most: 5"), **LOWER)
    assert (finding.status, finding.failing) == (Status.FAIL, ["a"])


def test_of_many_failing_samples_twenty_are_listed_and_all_counted() -> None:
    finding = judge_one("q*50 1>0", rule("every", "at_least: 1"))
    assert (len(finding.failing), finding.failing_count) == (20, 50)


@pytest.mark.parametrize(
    ("bound", "failing"),
    [
        ("0.2", ["b", "c"]),  # by 0.5 and 0.3
        ("30%", ["b", "c"]),  # 50 % and 75 % of the baseline
        ("60%", ["c"]),
        ("[60%, 0.4]", []),  # b loses more than 0.4, c more than 60 %; neither both
        ("0.5", []),
    ],
)
def test_no_single_sample_may_lose_more_than_the_bound(bound: str, failing: list[str]) -> None:
    finding = judge_one("a 1>1 b 1>0.5 c 0.4>0.1", rule("every", f"worse_by_at_most: {bound}"))
    assert finding.failing == failing
    assert finding.status is (Status.FAIL if failing else Status.PASS)


def test_every_loss_counts_in_the_direction_of_the_metric() -> None:
    finding = judge_one("a 100>120 b 100>60", rule("every", "worse_by_at_most: 10"), **LOWER)
    assert finding.failing == ["a"]


def test_every_cannot_be_settled_where_a_sample_is_unknown() -> None:
    finding = judge_one("a 1>1 b 1>?", rule("every", "at_least: 1"), **ANY)
    assert (finding.status, finding.blocks) == (Status.INCONCLUSIVE, True)
    assert finding.notes == ["1 sample without a usable value can't be shown to meet the bound"]
    assert status("a 1>1 b 1>?", "every", "at_least: 1, on_inconclusive: warn") == "inconclusive"
    assert not judge_one("a 1>1 b 1>?", rule("every", "at_least: 1, on_inconclusive: warn"), **ANY).blocks


def test_every_fails_on_what_is_known_though_something_is_unknown() -> None:
    assert status("a 1>0 b 1>?", "every", "at_least: 1") == "fail"


def test_every_against_the_baseline_needs_the_baselines_value_too() -> None:
    assert status("a 1>1 b ?>1", "every", "worse_by_at_most: 0") == "inconclusive"


@pytest.mark.parametrize(
    ("bound", "failing"), [("at_most: 0.5", ["c"]), ("worse_by_at_most: 0.1", ["c"]), ("at_least: 0", [])]
)
def test_a_ratio_without_a_value_is_not_shown_to_meet_a_bound(bound: str, failing: list[str]) -> None:
    before, after = records("a 1>1 b 1>1 c 1>1")
    for side, bad in ((before, [1, 0, 0]), (after, [0, 0, 3])):
        set_metric(side, "bad", bad)
        set_metric(side, "claims", [2, 0, 4])
    metrics = "{score: {better: higher}, rate: {better: lower, ratio: [bad, claims]}}"
    every = f"{{id: r, kind: every, metric: rate, {bound}"
    found = judge_one((make_run(before), make_run(after)), every + "}", metrics=metrics)
    assert found.failing == failing
    assert found.status is (Status.FAIL if failing else Status.INCONCLUSIVE)
    pairs = make_run(before[:2]), make_run(after[:2])
    soft = judge_one(pairs, every + "}", metrics=metrics)
    assert (soft.status, soft.blocks) == (Status.INCONCLUSIVE, True)
    assert soft.notes == ["1 sample without a usable value can't be shown to meet the bound"]
    assert judge_one(pairs, every + ", hard: true}", metrics=metrics).status is Status.FAIL


# --- tolerance


@pytest.mark.parametrize(
    ("runs", "bound", "found"),
    [
        ("a*200 1>1", "0.1", "pass"),
        ("a*180 1>1 b*20 1>0", "0.2", "pass"),
        ("a*180 1>1 b*20 1>0", "0.1", "inconclusive"),
        ("a*180 1>1 b*20 1>0", "0.05", "fail"),
        ("a*180 1>1 b*20 0>1", "0", "pass"),
        ("a*180 1>1 b*10 0>1 c*10 1>0", "0", "inconclusive"),
    ],
)
def test_a_tolerance_is_decided_by_the_whole_interval(runs: str, bound: str, found: str) -> None:
    finding = judge_one(runs, rule("tolerance", f"worse_by_at_most: {bound}"))
    assert finding.status.value == found
    assert finding.blocks is (found == "fail")
    assert finding.threshold == -float(bound)


@pytest.mark.parametrize(
    ("burden", "blocks", "warns"), [("fail", True, False), ("warn", False, True), ("pass", False, False)]
)
def test_what_cannot_be_settled_does_what_the_policy_says(burden: str, blocks: bool, warns: bool) -> None:
    finding = judge_one(
        "a*180 1>1 b*20 1>0", rule("tolerance", f"worse_by_at_most: 0.1, on_inconclusive: {burden}")
    )
    assert (finding.status, finding.blocks, finding.warns) == (Status.INCONCLUSIVE, blocks, warns)


@pytest.mark.parametrize(("samples", "told"), [("{cluster: language}", True), ("{}", False)])
def test_of_few_groups_more_groups_are_asked_for_and_no_more_samples(samples: str, told: bool) -> None:
    runs = "a*30 en 1>1 b*26 de 1>1 c*4 de 1>0 d*30 fr 1>1"
    finding = judge_one(runs, rule("tolerance", "worse_by_at_most: 0.06"), samples=samples)
    assert (finding.status, finding.clusters) == (Status.INCONCLUSIVE, 3 if told else 90)
    assert any("3 independent groups only" in note for note in finding.notes) == told
    assert (finding.samples_needed is None) == told


def test_by_value_the_middle_of_the_interval_decides() -> None:
    runs = "a*180 1>1 b*20 1>0"
    assert status(runs, "tolerance", "worse_by_at_most: 0.11, decide_by: value") == "pass"
    assert status(runs, "tolerance", "worse_by_at_most: 0.1, decide_by: value") == "pass"
    assert status(runs, "tolerance", "worse_by_at_most: 0.09, decide_by: value") == "fail"


def test_a_percentage_is_of_the_baseline() -> None:
    """From 200 to 212 ms is 6 %, from 1000 to 1012 ms is 1.2 %."""
    assert status("a*60 200>212", "tolerance", "worse_by_at_most: 5%", **LOWER) == "fail"
    assert status("a*60 200>212", "tolerance", "worse_by_at_most: 7%", **LOWER) == "pass"
    assert status("a*60 1000>1012", "tolerance", "worse_by_at_most: 5%", **LOWER) == "pass"
    finding = judge_one("a*60 200>212", rule("tolerance", "worse_by_at_most: 5%"), **LOWER)
    assert (finding.judged, finding.relative_gain, finding.threshold) == (
        "relative_gain",
        pytest.approx(-0.06),
        -0.05,
    )
    assert finding.worse_by_at_most == "5%"


def test_five_percent_and_five_points_are_not_the_same() -> None:
    runs = "a*380 1>1 b*20 0>0 c*600 0>0"  # 38 % on both sides
    before, after = records(runs)
    set_metric(after, "score", [1.0] * 345 + [0.0] * 655)  # 34.5 %: 3.5 points, 9.2 % of the baseline
    made = make_run(before, "baseline.jsonl"), make_run(after)
    assert status(made, "tolerance", "worse_by_at_most: 0.05, decide_by: value") == "pass"
    assert status(made, "tolerance", "worse_by_at_most: 5%, decide_by: value") == "fail"


def test_any_rise_from_a_baseline_of_0_is_more_than_a_percentage_of_it() -> None:
    finding = judge_one("a*60 0>0 b*20 0>1", rule("tolerance", "worse_by_at_most: 10%"), **LOWER)
    assert (finding.status, finding.judged, finding.threshold) == (Status.FAIL, "gain", 0.0)
    assert finding.notes[0] == "10% of a baseline of 0 is 0"
    assert status("a*60 0>0 b*20 1>0", "tolerance", "worse_by_at_most: 10%", **LOWER) == "pass"


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (101, "pass"),
        (103, "pass"),
        (109, "fail"),
    ],  # 1 %: within 2 %; 3 %, but 3 ms: within 5 ms; both breached
)
def test_two_bounds_are_breached_only_together(after: int, found: str) -> None:
    assert status(f"a*60 100>{after}", "tolerance", "worse_by_at_most: [2%, 5]", **LOWER) == found


def test_of_two_bounds_the_more_lenient_is_shown() -> None:
    finding = judge_one("a*60 100>109", rule("tolerance", "worse_by_at_most: [2%, 5]"), **LOWER)
    assert (finding.judged, finding.threshold) == ("gain", -5.0)
    assert finding.worse_by_at_most == ["2%", 5.0]
    finding = judge_one("a*60 1000>1090", rule("tolerance", "worse_by_at_most: [2%, 5]"), **LOWER)
    assert (finding.judged, finding.threshold) == ("relative_gain", -0.02)


def test_two_bounds_over_a_baseline_of_0_leave_the_number() -> None:
    assert status("a*60 0>3", "tolerance", "worse_by_at_most: [2%, 5]", **LOWER) == "pass"


def test_all_that_passed_on_both_sides_is_still_a_small_sample() -> None:
    """Twelve of twelve on both sides do not show that nothing can be lost."""
    before, after = records("a*12 1>1")
    set_field(after, answer="in other words")
    runs = make_run(before, "baseline.jsonl"), make_run(after)
    finding = judge_one(runs, rule("tolerance", "worse_by_at_most: 0.02"))
    assert finding.status is Status.INCONCLUSIVE
    assert finding.interval is not None and finding.interval.low is not None
    assert finding.interval.low < -0.02


def identical(text: str) -> tuple[Run, Run]:
    baseline, _ = make_runs(text)
    return baseline, replace(baseline, file="candidate.jsonl")


def test_the_same_records_twice_pass_every_tolerance_and_say_why() -> None:
    finding = judge_one(
        identical("a*6 1>1 b*6 0>0"), rule("tolerance", "worse_by_at_most: 0, on_inconclusive: fail")
    )
    assert finding.status is Status.PASS
    assert "both files hold the same records: nothing changed" in finding.notes


def test_the_same_records_twice_pass_in_a_small_slice_too() -> None:
    finding = judge_one(
        identical("a*6 de 1>1 b*60 en 0>0"),
        rule("tolerance", "worse_by_at_most: 0, slice: language=de, on_inconclusive: fail"),
        slices="{at_least: 30}",
    )
    assert finding.status is Status.PASS


def test_the_same_records_twice_are_no_improvement_and_meet_no_limit_by_it() -> None:
    runs = identical("a*40 0>0")
    assert judge_one(runs, rule("improvement")).status is not Status.PASS
    assert judge_one(runs, rule("limit", "at_least: 0.5")).status is Status.FAIL


# --- improvement


@pytest.mark.parametrize(
    ("runs", "bound", "found"),
    [
        ("a*150 1>1 b*50 0>1", "0.1", "pass"),
        ("a*150 1>1 b*50 0>1", "0.25", "inconclusive"),
        ("a*150 1>1 b*50 0>1", "0.4", "fail"),
        ("a*150 1>1 b*50 1>0", "0", "fail"),
        ("a*150 1>1 b*50 0>1", "10%", "pass"),
    ],
)
def test_an_improvement_must_be_shown(runs: str, bound: str, found: str) -> None:
    finding = judge_one(runs, rule("improvement", f"better_by_at_least: {bound}"))
    assert finding.status.value == found
    assert finding.blocks is (found != "pass")


def test_by_default_an_improvement_is_more_than_nothing() -> None:
    assert status("a*150 1>1 b*50 0>1", "improvement") == "pass"
    assert status("a*150 1>1 b*50 0>1", "improvement", "decide_by: value") == "pass"
    assert status("a*150 1>1 b*50 0>0", "improvement", "decide_by: value") == "fail"
    assert judge_one("a*150 1>1", rule("improvement")).better_by_at_least == 0.0


def test_an_improvement_from_a_baseline_of_0_is_any() -> None:
    assert status("a*60 0>0 b*40 0>1", "improvement", "better_by_at_least: 10%") == "pass"


# --- slices


BY = "worse_by_at_most: 0.1, slices: true"


def test_a_family_has_one_finding_a_value_with_the_blank_one_last() -> None:
    found = judge(
        "a*50 de 1>1 b*50 en 1>0 c*50 1>1", rule("tolerance", BY), slices="{by: [language], at_least: 30}"
    )
    assert [(one.slice, one.status.value, one.samples) for one in found] == [
        ("language=de", "pass", 50),
        ("language=en", "fail", 50),
        ("language=(none)", "pass", 50),
    ]


def test_a_family_is_widened_over_the_slices_that_are_judged() -> None:
    found = judge(
        "a*40 de 1>1 b*40 en 1>0 c*5 fr 1>1", rule("tolerance", BY), slices="{by: [language], at_least: 30}"
    )
    assert [(one.family, one.interval and one.interval.level) for one in found] == [
        (2, pytest.approx(0.975)), (2, pytest.approx(0.975)), (2, None),
    ]  # fmt: skip


def test_where_every_slice_must_be_shown_the_level_is_not_widened() -> None:
    """Berger 1982: passing only if all tests pass keeps the level of each."""
    found = judge(
        "a*40 de 1>1 b*40 en 1>0",
        rule("tolerance", f"{BY}, on_inconclusive: fail"),
        slices="{by: [language]}",
    )
    assert [one.family for one in found] == [1, 1]


def test_a_small_slice_of_a_family_is_skipped_and_shown() -> None:
    found = judge("a*40 de 1>1 b*29 en 1>0", rule("tolerance", BY), slices="{by: [language], at_least: 30}")
    small = found[1]
    assert (small.slice, small.status, small.blocks) == ("language=en", Status.SKIPPED, False)
    assert (small.samples, small.worse, small.gain) == (29, 29, -1.0)
    assert small.notes == ["29 samples, slices.at_least is 30"]
    assert small.interval is None


def test_a_slice_that_is_skipped_says_what_it_could_have_shown() -> None:
    """The same change that a slice just large enough to be judged could show."""
    runs = "a*40 de 1>1 b*20 en 1>1 c*9 en 1>0"
    parts = {"slices": "{by: [language], at_least: 30}"}
    skipped = judge(runs, rule("tolerance", BY), **parts)[1]
    judged = judge(runs, rule("tolerance", BY), slices="{by: [language], at_least: 29}")[1]
    assert (skipped.status, judged.family) == (Status.SKIPPED, 2)
    assert skipped.smallest_visible_change is not None and judged.smallest_visible_change is not None
    # it is not among the slices over which the intervals are widened, so it could have shown a little less
    assert (
        0.8 * judged.smallest_visible_change
        < skipped.smallest_visible_change
        < judged.smallest_visible_change
    )


def test_a_small_slice_that_is_named_is_inconclusive_and_the_policy_decides() -> None:
    runs = "a*40 de 1>1 b*29 en 1>0"
    for burden, blocks in (("fail", True), ("warn", False), ("pass", False)):
        finding = judge_one(
            runs, rule("tolerance", f"worse_by_at_most: 0.1, slice: language=en, on_inconclusive: {burden}"),
            slices="{at_least: 30}",
        )  # fmt: skip
        assert (finding.status, finding.blocks) == (Status.INCONCLUSIVE, blocks)
        assert "29 usable samples, slices.at_least is 30" in finding.notes


def test_a_family_may_be_narrowed_to_some_labels() -> None:
    found = judge(
        "a*3 de intent=x 1>1 b*3 en intent=y 1>1", rule("limit", "at_least: 0.5, slices: [intent]"),
        slices="{by: [language, intent], at_least: 1}",
    )  # fmt: skip
    assert [one.slice for one in found] == ["intent=x", "intent=y"]


def test_the_whole_run_with_too_few_usable_pairs_is_inconclusive() -> None:
    finding = judge_one("a*29 1>1 b*40 1>?", rule("limit", "at_least: 0.5"), samples="{at_least: 30}", **ANY)
    assert finding.status is Status.INCONCLUSIVE
    assert "29 usable samples, samples.at_least is 30" in finding.notes


# --- hard rules


def test_a_hard_rule_decides_by_value_in_a_slice_however_small() -> None:
    runs = "a*40 de 1>1 b*2 en 1>1 c en 1>0"
    finding = judge_one(
        runs, rule("limit", "at_least: 0.9, slice: language=en, hard: true"), slices="{at_least: 30}"
    )
    assert (finding.status, finding.blocks, finding.samples) == (Status.FAIL, True, 3)
    assert (
        status(runs, "limit", "at_least: 0.6, slice: language=en, hard: true", slices="{at_least: 30}")
        == "pass"
    )


def test_a_hard_rule_over_a_family_skips_no_slice() -> None:
    found = judge(
        "a*40 de 1>1 b en 1>0",
        rule("limit", "at_least: 0.5, slices: true, hard: true"),
        slices="{by: [language]}",
    )
    assert [(one.slice, one.status.value) for one in found] == [
        ("language=de", "pass"),
        ("language=en", "fail"),
    ]


EMPTY = "a*40 de 1>1 b en 1>?"


@pytest.mark.parametrize("kind", ["limit", "every", "tolerance", "improvement"])
def test_a_slice_without_a_usable_sample_fails_a_hard_rule_and_leaves_another_open(kind: str) -> None:
    bound = {
        "limit": "at_least: 0.5",
        "every": "at_least: 0.5",
        "tolerance": "worse_by_at_most: 0.1",
        "improvement": "",
    }[kind]
    rest = ", ".join(filter(None, [bound, "slice: language=en"]))
    parts = {"missing": "{drop_at_most: 1}"}
    hard = judge_one(EMPTY, rule(kind, f"{rest}, hard: true"), **parts)
    assert (hard.status, hard.blocks, hard.samples, hard.notes) == (
        Status.FAIL,
        True,
        0,
        ["its only question has no usable value"],
    )
    soft = judge_one(EMPTY, rule(kind, rest), **parts)
    assert (soft.status, soft.blocks) == (Status.INCONCLUSIVE, kind in ("every", "improvement"))


@pytest.mark.parametrize(
    ("kind", "bound", "said"),
    [
        ("tolerance", "worse_by_at_most: 0.1", "up to 0.1 worse is allowed"),
        ("tolerance", "worse_by_at_most: 10%", "up to 10 % of the baseline worse is allowed"),
        (
            "tolerance",
            "worse_by_at_most: [0.1, 5%]",
            "up to 0.1 or 5 % of the baseline worse is allowed, whichever is more",
        ),
        ("tolerance", "worse_by_at_most: 0", "nothing worse is allowed"),
        ("tolerance", "worse_by_at_most: 0%", "nothing worse is allowed"),
        ("improvement", "better_by_at_least: 0.02", "at least 0.02 better is needed"),
        ("improvement", "better_by_at_least: 0", "any gain is needed"),
        ("limit", "at_least: 0.5", "at least 0.5 is needed"),
        ("limit", "at_most: 0.5", "at most 0.5 is allowed"),
    ],
)
def test_a_slice_without_a_usable_sample_names_the_bound_that_its_rule_has(
    kind: str, bound: str, said: str
) -> None:
    """No number was held against it; the bound is the policy's all the same."""
    found = judge_one(EMPTY, rule(kind, f"{bound}, slice: language=en"), missing="{drop_at_most: 1}")
    assert (found.samples, found.threshold) == (0, None)
    assert said in describe(found)
    assert "unknown" not in describe(found)


# --- first run


@pytest.mark.parametrize(
    ("kind", "rest", "found"),
    [
        ("limit", "at_least: 0.5", "pass"),
        ("every", "at_least: 0.5", "fail"),
        ("every", "worse_by_at_most: 0.1", "skipped"),
        ("every", "worse_by_at_most: 0.1, slice: language=de, hard: true", "skipped"),
        ("tolerance", "worse_by_at_most: 0.1", "skipped"),
        ("improvement", "", "skipped"),
    ],
)
def test_without_a_baseline_only_fixed_bounds_are_judged(kind: str, rest: str, found: str) -> None:
    _, candidate = make_runs("a*9 en 1>1 b en 1>0 c de 1>?")
    finding = judge_one((None, candidate), rule(kind, rest), **ANY)
    assert finding.status.value == found
    assert finding.blocks is (found == "fail")
    if found == "skipped":
        assert finding.notes == ["no baseline yet"]


# --- missing values, rule by rule


@pytest.mark.parametrize(
    ("kind", "rest"),
    [
        ("limit", "at_least: 0.9"),
        ("every", "at_least: 0.5"),
        ("tolerance", "worse_by_at_most: 0.02"),
        ("improvement", ""),
    ],
)
def test_an_outage_of_the_assistant_counts_against_every_kind_of_rule(kind: str, rest: str) -> None:
    """Twenty answers fail: as the worst value they break each rule, and never turn into a pass."""
    assert status("a*60 0.95>0.96 b*20 0.95>!", kind, rest, missing="{no_answer: worst}") == "fail"


def test_lost_rows_do_not_lift_a_mean() -> None:
    """The candidate lost its hard questions; over the common ones nothing changed."""
    finding = judge_one(
        "a*50 1>1 b*50 0>-",
        rule("improvement"),
        samples="{at_least: 1, on_mismatch: intersect}",
        missing="{drop_at_most: 1}",
    )
    assert (finding.baseline, finding.candidate, finding.gain) == (1.0, 1.0, 0.0)
    assert finding.status is not Status.PASS


# --- what a finding tells


def test_a_finding_tells_all_that_a_report_shows() -> None:
    finding = judge_one(
        "a*80 1>1 b*20 1>0",
        rule("tolerance", "worse_by_at_most: 5%"),
        metrics="{score: {better: higher, range: [0, 1], show_as: percent}}",
    )
    timed = "{score: {better: lower, unit: ms, summary: p95}}"
    of_time = judge_one("a*9 1>1", rule("limit", "at_most: 5"), metrics=timed)
    assert (of_time.unit, of_time.summary, of_time.direction) == ("ms", "p95", "lower")
    told = finding.model_dump(exclude={"interval", "smallest_visible_change", "samples_needed", "layer"})
    assert told == {
        "rule": "r", "kind": "tolerance", "status": "fail", "blocks": True, "hard": False, "metric": "score",
        "slice": None, "direction": "higher", "summary": "mean", "show_as": "percent", "unit": None, "samples": 100,
        "clusters": 100, "baseline": 1.0, "candidate": 0.8, "gain": pytest.approx(-0.2),
        "relative_gain": pytest.approx(-0.2), "judged": "relative_gain", "threshold": -0.05, "better": 0, "worse": 20,
        "same": 80, "decide_by": "interval", "on_inconclusive": "warn", "at_most": None, "at_least": None,
        "worse_by_at_most": "5%", "better_by_at_least": None, "family": 1, "failing": [], "failing_count": None,
        "notes": [], "notes_said": [], "line": 0, "message": "", "waiver": None,
        "calibration": None, "measure": None, "baseline_samples": None,
    }  # fmt: skip
    assert finding.interval is not None
    assert (finding.interval.of, finding.interval.level, finding.interval.method) == (
        "relative_gain",
        0.95,
        "bayesian",
    )


def test_an_end_that_lies_on_the_bound_is_not_left_to_the_same_few_draws() -> None:
    """The rule says what its interval will be held against, so that more is drawn where it is close."""
    before, after = records("q*60 1>1")
    values = np.random.default_rng(1).lognormal(0, 1, 60)
    set_metric(before, "score", values)
    set_metric(after, "score", values * 1.1)
    runs = make_run(before, "b"), make_run(after, "c")
    slow = {"metrics": "{score: {better: lower, summary: p90}}"}
    far = judge_one(runs, rule("tolerance", "worse_by_at_most: 50"), **slow).interval
    assert far is not None and far.low is not None and far.resamples is not None
    near = judge_one(runs, rule("tolerance", f"worse_by_at_most: {-far.low!r}"), **slow).interval
    assert near is not None
    assert near.resamples is None or near.resamples > far.resamples
    assert near.low == pytest.approx(far.low, rel=0.05)


def test_an_inconclusive_finding_says_about_how_many_samples_would_settle_it() -> None:
    """Four times the samples halve the interval; asked again with that many, the same shares settle it."""
    finding = judge_one("a*180 1>1 b*20 1>0", rule("tolerance", "worse_by_at_most: 0.13"))
    assert finding.status is Status.INCONCLUSIVE
    needed = finding.samples_needed
    assert needed is not None and needed > 200
    more = f"a*{round(needed * 1.15 * 0.9)} 1>1 b*{round(needed * 1.15 * 0.1)} 1>0"
    assert judge_one(more, rule("tolerance", "worse_by_at_most: 0.13")).status is Status.PASS


@pytest.mark.parametrize(("bound", "settled"), [("at_most: 0.84", "pass"), ("at_least: 0.84", "fail")])
def test_what_lies_below_a_bound_needs_the_upper_end_below_it(bound: str, settled: str) -> None:
    """For shares near 1 the interval reaches further down than up; what settles is the end towards the bound."""
    limit = f"{{id: r, kind: limit, metric: score, {bound}, decide_by: interval}}"
    finding = judge_one("a*160 1>1 b*40 1>0", limit)
    assert finding.status is Status.INCONCLUSIVE and finding.interval is not None
    assert finding.candidate is not None and finding.interval.high is not None
    distance, reach = 0.84 - finding.candidate, finding.interval.high - finding.candidate
    needed = finding.samples_needed
    assert needed == pytest.approx(200 * (reach / distance) ** 2, abs=1)
    assert needed is not None
    for share, found in ((0.75, "inconclusive"), (1.2, settled)):
        good, bad = round(needed * share * 0.8), round(needed * share * 0.2)
        assert judge_one(f"a*{good} 1>1 b*{bad} 1>0", limit).status.value == found


@pytest.mark.parametrize("bound", ["at_least: 1.5", "at_most: 1.5"])
def test_an_interval_without_an_end_tells_no_number_of_samples(bound: str) -> None:
    """Nothing is known of how far an end that does not exist would move."""
    found = judge_one(
        "a*3 1>1 b*3 1>0.5 c*3 1>2",
        f"{{id: r, kind: limit, metric: score, {bound}, decide_by: interval}}",
        metrics="{score: {better: higher, summary: p90}}",
    )
    assert found.interval is not None and found.interval.high is None
    assert (found.status, found.samples_needed) == (Status.INCONCLUSIVE, None)


def test_what_a_check_could_have_shown_is_of_its_own_place_and_in_its_own_unit() -> None:
    """The noise of a tenth of the samples hides about three times as much, and 200 ms are 100 % of 200 ms."""
    parts = {**LOWER, "slices": "{by: [language], at_least: 1}"}
    rng = np.random.default_rng(4)
    before, after = records("a*40 de 1>1 b*360 en 1>1")
    set_metric(before, "score", rng.normal(200, 20, 400))
    set_metric(after, "score", rng.normal(200, 20, 400))
    runs = make_run(before, "b"), make_run(after, "c")

    def visible(rest: str) -> float:
        found = judge_one(runs, rule("tolerance", rest), **parts).smallest_visible_change
        assert found is not None
        return found

    whole, part = visible("worse_by_at_most: 5"), visible("worse_by_at_most: 5, slice: language=de")
    assert part / whole == pytest.approx(10**0.5, rel=0.25)
    assert visible("worse_by_at_most: 5%") * 200 == pytest.approx(whole, rel=0.05)
    single = judge_one(runs, rule("every", "worse_by_at_most: 5"), **parts)
    assert single.smallest_visible_change is None  # no noise hides a single sample


def test_as_many_samples_as_are_asked_for_decide_and_fewer_are_told_to_become_as_many() -> None:
    """What an interval would settle sooner still waits for the number that the policy asks for."""
    limit = "{id: r, kind: limit, metric: score, at_least: 0.75, decide_by: interval, slice: language=de}"
    runs = "a*20 de 1>1 b*100 en 1>1"
    enough = judge_one(runs, limit, slices="{at_least: 20}")
    assert (enough.status, enough.notes, enough.samples_needed) == (Status.PASS, [], None)
    few = "a*17 de 1>1 b*3 de 1>0 c*100 en 1>1"  # 0.85, and its interval reaches below 0.75
    needed = judge_one(few, limit, slices="{at_least: 20}").samples_needed
    assert needed is not None and 20 < needed < 200
    for least in (21, 200, 1000):
        found = judge_one(few, limit, slices=f"{{at_least: {least}}}")
        assert found.samples_needed == max(needed, least)
        assert found.notes == [f"20 usable samples, slices.at_least is {least}"]


def test_the_sentences_of_rules_name_metric_and_bound() -> None:
    from gateline.metric import Metric

    percent = Metric.model_validate({"better": "higher", "range": [0, 1], "show_as": "percent"})
    ms = Metric.model_validate({"better": "lower", "unit": "ms"})
    kinds = find_rules()

    def sentence(kind: str, metric: Metric, **fields: Record | object) -> str:
        return kinds[kind].model_validate({"kind": kind, "metric": "m", **fields}).sentence(metric)

    assert sentence("limit", percent, at_least="75%") == "m must be at least 75 %"
    assert sentence("limit", ms, at_most=2500) == "m must be at most 2500 ms"
    assert sentence("every", percent, at_least=1) == "every sample's m must be at least 100 %"
    assert (
        sentence("every", ms, worse_by_at_most="10%")
        == "no sample's m may get worse by more than 10% of the baseline"
    )
    assert (
        sentence("tolerance", ms, worse_by_at_most=["10%", 50])
        == "m must not be worse than the baseline by more than 10% of the baseline and also more than 50 ms"
    )
    assert sentence("improvement", ms) == "m must be better than the baseline"
    assert (
        sentence("improvement", ms, better_by_at_least=3)
        == "m must be better than the baseline by at least 3 ms"
    )
    assert (
        sentence("tolerance", percent, worse_by_at_most=0.07)
        == "m must not be worse than the baseline by more than 7 points"
    )
