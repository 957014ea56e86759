"""A rule that looks at a slice judges that slice: its samples, its interval, its gaps; and says which bound it holds.

Most of these were found by changing the code and seeing that no test minded (docs/mutation.md).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from gateline.explanation import explain
from gateline.findings import Finding, Status
from gateline.policy import PolicyError
from runs import judge, judge_one, make_run, read, records, set_metric

IN_DE = "{id: r, metric: score, slice: language=de, "
BY = {"slices": "{by: [language], at_least: 1}", "missing": "{drop_at_most: 1}"}
PERCENT = "{score: {better: higher, show_as: percent}}"


def in_slice(runs: str, rest: str, **parts: str) -> Finding:
    return judge_one(runs, IN_DE + rest + "}", **{**BY, **parts})


# --- every


def test_every_lists_the_failing_samples_of_its_slice_only() -> None:
    runs = "a en 1>0 b de 1>0.2 c de 1>1 d en 1>0.1"
    found = in_slice(runs, "kind: every, at_least: 0.5")
    assert (found.failing, found.failing_count, found.samples) == (["b"], 1, 2)
    assert in_slice("a en 1>0 b de 1>1", "kind: every, at_least: 0.5").status is Status.PASS


def test_every_is_not_unsettled_by_what_is_unknown_elsewhere() -> None:
    assert in_slice("a en 1>? b de 1>1", "kind: every, at_least: 0.5").status is Status.PASS
    found = in_slice("a en 1>? b de 1>1 c de 1>?", "kind: every, at_least: 0.5")
    assert (found.status, found.notes) == (
        Status.INCONCLUSIVE,
        ["1 sample without a usable value can't be shown to meet the bound"],
    )


def test_every_counts_the_attempts_that_are_missing_in_its_slice_only() -> None:
    """An unknown attempt may be the one that misses the bound; one in another slice is none of its business."""
    rest = "kind: every, at_least: 0.5"
    assert in_slice("a en 1,1>1,? b de 1,1>1,1", rest).status is Status.PASS
    found = in_slice("a en 1,1>1,1 b de 1,1>0.6,? c de 1,1>1,1", rest)
    assert found.status is Status.INCONCLUSIVE
    assert found.notes == ["1 sample without a usable value can't be shown to meet the bound"]
    holds_at_worst = in_slice("a de 1,1>1,? b de 1,1>1,1", "kind: every, at_least: 0.5")
    assert holds_at_worst.status is Status.PASS  # (1 + 0) / 2 still meets the bound


def test_every_with_a_fixed_bound_looks_at_all_that_the_candidate_has() -> None:
    """What the baseline lacks excuses no sample of the candidate, and unsettles none."""
    rest = "kind: every, at_least: 0.5"
    found = in_slice("a de 1>1 b de ?>0.2 c de ?>0.9", rest)
    assert (found.status, found.failing, found.samples) == (Status.FAIL, ["b"], 3)
    assert in_slice("a de 1>1 c de ?>0.9", rest).status is Status.PASS


def test_every_counts_each_sample_that_it_can_not_see_once() -> None:
    """One without a value and two without a record are three."""
    found = in_slice(
        "a de 1>1 b de 1>? c de 1>- d de 1>- e en 1>-",
        "kind: every, at_least: 0.5",
        samples="{at_least: 1, on_mismatch: intersect}",
    )
    assert found.status is Status.INCONCLUSIVE
    assert found.notes == ["3 samples without a usable value can't be shown to meet the bound"]


def test_every_stands_however_few_samples_there_are() -> None:
    """One wrong answer in a tiny slice is a wrong answer, and one right answer is all that was asked."""
    few = {"slices": "{by: [language], at_least: 30}", "samples": "{at_least: 1}"}
    assert in_slice("a de 1>0 b*40 en 1>1", "kind: every, at_least: 0.5", **few).status is Status.FAIL
    assert in_slice("a de 1>1 b*40 en 1>1", "kind: every, at_least: 0.5", **few).status is Status.PASS


@pytest.mark.parametrize("kind", ["limit", "every"])
def test_a_family_leaves_its_small_slices_alone_whatever_the_rule(kind: str) -> None:
    """A slice that is named is looked at, and so is each slice of a hard rule."""
    few = {"slices": "{by: [language], at_least: 3}"}
    runs = "a*2 de 1>0 b*3 en 1>0 c*9 fr 1>1"
    rule = f"{{id: r, metric: score, kind: {kind}, at_least: 0.5, "
    soft = judge(runs, rule + "slices: true}", **few)
    assert [one.status.value for one in soft] == ["skipped", "fail", "pass"]
    assert soft[0].notes == ["2 samples, slices.at_least is 3"]
    hard = judge(runs, rule + "slices: true, hard: true}", **few)
    assert [one.status.value for one in hard] == ["fail", "fail", "pass"]


@pytest.mark.parametrize(
    ("rest", "judged"),
    [
        ("kind: limit, at_least: 0.5", "candidate"),
        ("kind: every, at_most: 0.5", "candidate"),
        ("kind: every, worse_by_at_most: 0.5", "gain"),
        ("kind: improvement", "gain"),
    ],
)
def test_a_slice_without_a_value_still_says_what_would_have_been_judged(rest: str, judged: str) -> None:
    found = in_slice("a de 1>? b*9 en 1>1", rest)
    assert (found.status, found.judged, found.samples) == (Status.INCONCLUSIVE, judged, 0)


@pytest.mark.parametrize(
    ("bound", "judged", "threshold"),
    [
        ("at_least: 0.5", "candidate", 0.5),
        ("at_most: 0.75", "candidate", 0.75),
        ("worse_by_at_most: 0.25", "gain", -0.25),
        ("worse_by_at_most: [50%, 0.25]", "gain", -0.25),
        ("worse_by_at_most: 50%", "gain", None),  # it is another number for each sample
    ],
)
def test_every_says_what_it_holds_each_sample_against(bound: str, judged: str, threshold: float) -> None:
    found = judge_one("a 0.5>0.5", "{id: r, metric: score, kind: every, " + bound + "}")
    assert (found.status, found.judged, found.threshold) == (Status.PASS, judged, threshold)
    name, _, value = bound.partition(": ")
    shown = getattr(found, name)
    assert str(shown).replace("'", "") == value
    assert [
        one for one in ("at_least", "at_most", "worse_by_at_most") if getattr(found, one) is not None
    ] == [name]


def test_samples_that_fail_equally_are_listed_by_id_so_that_the_order_of_the_file_plays_no_part() -> None:
    chosen = np.random.default_rng(7).choice(["0.1", "0.2"], 40)
    scores = {f"q{number:02d}": value for number, value in enumerate(chosen)}
    runs = " ".join(f"{name} 1>{value}" for name, value in reversed(scores.items()))
    found = judge_one(runs, "{id: r, metric: score, kind: every, at_least: 0.5}")
    assert found.failing == sorted(scores, key=lambda name: (float(scores[name]), name))[:20]


# --- bounds are refused and told under their own names


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("every", "at_least", "1.5"),
        ("every", "at_most", "-0.5"),
        ("every", "worse_by_at_most", "1.5"),
        ("limit", "at_least", "1.5"),
        ("limit", "at_most", "-0.5"),
        ("tolerance", "worse_by_at_most", "1.5"),
        ("improvement", "better_by_at_least", "1.5"),
    ],
)
def test_a_bound_that_holds_always_or_never_is_refused_by_its_name(kind: str, name: str, value: str) -> None:
    with pytest.raises(PolicyError, match=rf"rules\[0\] r\.{name}: .*range \[0, 1\]"):
        read(f"{{id: r, kind: {kind}, metric: score, {name}: {value}}}")


def test_a_bound_on_each_sample_is_held_against_the_range_of_one_sample() -> None:
    """A total may be beyond the range of a sample; each sample may not."""
    total = {"metrics": "{score: {better: lower, range: [0, 1], summary: total}}"}
    read("{id: r, kind: limit, metric: score, at_most: 12}", **total)
    with pytest.raises(PolicyError, match=r"at_most"):
        read("{id: r, kind: every, metric: score, at_most: 12}", **total)
    for kind, name in (("tolerance", "worse_by_at_most"), ("improvement", "better_by_at_least")):
        read(f"{{id: r, kind: {kind}, metric: score, {name}: 12}}", **total)
        read(
            f"{{id: r, kind: {kind}, metric: score, {name}: 12}}", metrics="{score: {better: lower}}"
        )  # no range


def test_a_percentage_fits_what_is_shown_as_percent_and_nothing_else() -> None:
    read("{id: r, kind: limit, metric: score, at_least: 50%}", metrics=PERCENT)
    with pytest.raises(PolicyError, match="shown as percent"):
        read("{id: r, kind: limit, metric: score, at_least: 50%}", metrics="{score: {better: higher}}")


@pytest.mark.parametrize(("name", "words"), [("at_least", "at least"), ("at_most", "at most")])
@pytest.mark.parametrize("kind", ["every", "limit"])
def test_explain_says_on_which_side_the_bound_lies(kind: str, name: str, words: str) -> None:
    text = explain(read(f"{{id: r, kind: {kind}, metric: score, {name}: 0.5}}"))
    assert f"score must be {words} 0.5" in text


def test_a_slip_by_a_factor_of_a_hundred_is_told_with_what_may_be_meant() -> None:
    """85 of a metric from 0 to 1 may be 85 %; nothing else beyond a range is a slip that can be named."""

    def refusal(kind: str, name: str, value: str, high: str = "1") -> str:
        metrics = f"{{score: {{better: higher, range: [0, {high}]}}}}"
        with pytest.raises(PolicyError) as refused:
            read(f"{{id: r, kind: {kind}, metric: score, {name}: {value}}}", metrics=metrics)
        return str(refused.value)

    for kind in ("limit", "every"):
        for value, share in (("85", "0.85"), ("1.5", "0.015"), ("100", "1")):
            assert f"of the metric; write {share} or {value}%" in refusal(kind, "at_least", value)
        for value, high in (("-2", "1"), ("100.5", "1"), ("85", "5"), ("3", "2")):
            assert refusal(kind, "at_least", value, high).endswith("of the metric")
    for kind, name in (("tolerance", "worse_by_at_most"), ("improvement", "better_by_at_least")):
        for value, share in (("5", "0.05"), ("1.5", "0.015"), ("100", "1")):
            assert f"of the metric; write {share} for {value} points" in refusal(kind, name, value)
        assert refusal(kind, name, "100.5").endswith("of the metric")


def test_an_improvement_takes_one_bound() -> None:
    """Of two, either could be meant; two rules ask for both."""
    with pytest.raises(PolicyError, match=r"better_by_at_least: takes one bound; write two rules where both"):
        read("{id: r, kind: improvement, metric: score, better_by_at_least: [2%, 0.1]}")


@pytest.mark.parametrize(
    ("metric", "rule", "words"),
    [
        (PERCENT, "kind: tolerance, worse_by_at_most: 0.01", "by more than 1 point"),
        (PERCENT, "kind: tolerance, worse_by_at_most: 0.015", "by more than 1.5 points"),
        (PERCENT, "kind: every, worse_by_at_most: 0.07", "may get worse by more than 7 points"),
        (PERCENT, "kind: improvement, better_by_at_least: 1%", "by at least 1% of the baseline"),
        ("{score: {better: lower}}", "kind: tolerance, worse_by_at_most: 5", "by more than 5"),
        ("{score: {better: lower}}", "kind: limit, at_most: 5", "must be at most 5"),
        ("{score: {better: lower, unit: s}}", "kind: every, at_most: 5", "must be at most 5 s"),
    ],
)
def test_a_bound_is_told_in_the_unit_of_its_metric(metric: str, rule: str, words: str) -> None:
    policy = read(f"{{id: r, metric: score, {rule}}}", metrics=metric).policy
    sentence = policy.rules[0].sentence(policy.metrics["score"])
    assert sentence.endswith(words)


# --- limit


@pytest.mark.parametrize(("name", "other"), [("at_least", "at_most"), ("at_most", "at_least")])
@pytest.mark.parametrize("value", ["0.5", "0", "50%"])
def test_a_limit_shows_its_bound_under_its_own_name(name: str, other: str, value: str) -> None:
    found = judge_one("a 0>0.5", f"{{id: r, kind: limit, metric: score, {name}: {value}}}", metrics=PERCENT)
    shown = getattr(found, name)
    assert (shown if isinstance(shown, str) else f"{shown:g}") == value
    assert getattr(found, other) is None


def test_a_limit_is_held_by_the_size_of_the_candidates_own_numbers() -> None:
    """Rounding of what a baseline added up does not reach a candidate a million million times as small."""
    before, after = records("q*30 1>1")
    set_metric(before, "score", [1e14] * 30)
    set_metric(after, "score", [0.4] * 30)
    runs = make_run(before, "b"), make_run(after, "c")
    rule = "{id: r, kind: limit, metric: score, at_least: 0.5}"
    assert judge_one(runs, rule, metrics="{score: {better: higher}}").status is Status.FAIL


def test_a_limit_in_a_slice_has_the_interval_of_that_slice() -> None:
    """Of 40 right and wrong answers the interval is near the exact one of the shares in the slice, not in the run."""
    runs = "a*30 de 1>1 b*10 de 1>0 c*100 en 1>1"
    found = in_slice(runs, "kind: limit, at_least: 0.5, decide_by: interval")
    assert (found.candidate, found.threshold, found.status) == (0.75, 0.5, Status.PASS)
    assert found.interval is not None
    exact = beta.ppf([0.025, 0.975], [30, 31], [11, 10])  # Clopper and Pearson 1934
    assert found.interval.low == pytest.approx(exact[0], abs=0.04)
    assert found.interval.high == pytest.approx(exact[1], abs=0.04)


def test_limits_in_a_family_of_slices_widen_their_intervals() -> None:
    runs = "a*30 de 1>1 b*10 de 1>0 c*100 en 1>1 d*10 en 1>0"
    one = in_slice(runs, "kind: limit, at_least: 0.5, decide_by: interval, on_inconclusive: warn")
    rule = "{id: r, metric: score, slices: true, kind: limit, at_least: 0.5, decide_by: interval, on_inconclusive"
    family = {found.slice: found for found in judge(runs, rule + ": warn}", **BY)}["language=de"]
    assert (one.family, family.family) == (1, 2)
    assert one.interval is not None and family.interval is not None
    assert family.interval.level == pytest.approx(1 - (1 - one.interval.level) / 2)
    assert family.interval.low < one.interval.low < one.interval.high < family.interval.high  # type: ignore[operator]


@pytest.mark.parametrize("rest", ["kind: limit, at_least: 0.5", "kind: tolerance, worse_by_at_most: 0.1"])
def test_what_the_interval_says_of_itself_stands_in_the_finding(rest: str) -> None:
    """Five samples say nothing of the slowest 1 %, so an end is missing, and the finding says why."""
    high = {"metrics": "{score: {better: higher, summary: p99}}"}
    found = in_slice("a*5 de 1>1 b*5 en 1>1", rest + ", decide_by: interval", **high)
    assert found.interval is not None and None in (found.interval.low, found.interval.high)
    assert found.notes


# --- what is left out


@pytest.mark.parametrize(("lost", "status"), [(3, Status.PASS), (9, Status.INCONCLUSIVE)])
def test_what_is_left_out_of_a_slice_is_taken_at_its_worst_and_by_value(lost: int, status: Status) -> None:
    """At the worst the mean falls by 3/303 or by 9/309: within 0.02 or beyond. Its interval reaches further down."""
    runs = f"a*300 de 1>1 x*{lost} de 1>? b*3000 en 1>1"
    found = in_slice(runs, "kind: tolerance, worse_by_at_most: 0.02", missing="{drop_at_most: 0.005}")
    assert found.status is status


@pytest.mark.parametrize(("floor", "status"), [("0.965", Status.PASS), ("0.98", Status.INCONCLUSIVE)])
def test_a_floor_at_the_worst_rests_on_the_candidate_alone(floor: str, status: Status) -> None:
    """30 of 31 at the worst are 0.968, whatever the baseline lacks; over the pairs it would be 25 of 26, 0.962."""
    runs = "a*25 de 1>1 y*5 de ?>1 x de 1>? b*900 en 1>1"
    found = in_slice(runs, f"kind: limit, at_least: {floor}", missing="{drop_at_most: 0.01}")
    assert found.status is status


GUARDED = "kind: tolerance, worse_by_at_most: 0.1, on_inconclusive: pass"
GAPS = {
    "samples": "{at_least: 1, on_mismatch: intersect}",
    "missing": "{drop_at_most: 0.1}",
    "slices": "{by: [language], at_least: 20}",
}


@pytest.mark.parametrize("gap", ["-", "?"], ids=["no record", "no score"])
@pytest.mark.parametrize("lost", [4, 12, 20])
@pytest.mark.parametrize("worse", [0, 3])
def test_what_lost_its_evidence_is_never_let_through_without_a_word(gap: str, lost: int, worse: int) -> None:
    """A rule that lets through what 20 can't show was never shown the 20: all gone, most gone, or more than allowed."""
    worse = min(worse, 20 - lost)
    kept = 20 - lost - worse
    slice_of = (
        f"x*{lost} de 1>{gap} "
        + (f"w*{worse} de 1>0 " if worse else "")
        + (f"k*{kept} de 1>1" if kept else "")
    )
    found = in_slice(f"a*180 en 1>1 {slice_of}", GUARDED, **GAPS)
    assert (found.status, found.blocks, found.warns) == (Status.INCONCLUSIVE, False, True)
    assert found.samples == 20 - lost
    assert found.samples_needed is None
    told = (
        f"{lost} of 20 samples are left out"
        if found.samples
        else "none of its 20 questions has a usable value"
    )
    assert told in found.message or any(told in note for note in found.notes)


@pytest.mark.parametrize("lost", [0, 2])
def test_what_is_open_with_no_more_left_out_than_allowed_is_let_through_as_the_rule_asks(lost: int) -> None:
    slice_of = f"w*2 de 1>0 k*{18 - lost} de 1>1" + (f" x*{lost} de 1>?" if lost else "")
    found = in_slice(
        f"a*180 en 1>1 {slice_of}", GUARDED, **GAPS | {"slices": "{by: [language], at_least: 10}"}
    )
    assert (found.status, found.warns) == (Status.INCONCLUSIVE, False)


def test_a_slice_of_which_nothing_was_asked_has_lost_nothing() -> None:
    metrics = "{score: {better: higher, range: [0, 1], applies_to: language=en}}"
    found = in_slice("a*180 en 1>1 b*20 de ?>?", GUARDED, **GAPS, metrics=metrics)
    assert (found.notes, found.warns) == (["no usable sample"], False)


def test_each_sample_by_itself_is_missed_too_where_its_rule_lets_through_what_is_unknown() -> None:
    found = in_slice("a*180 en 1>1 b de 1>? c de 1>1", "kind: every, at_least: 0.5, on_inconclusive: pass")
    assert (found.status, found.blocks, found.warns) == (Status.INCONCLUSIVE, False, True)


def test_denominators_that_are_gone_are_told_where_nothing_is_settled_anyway() -> None:
    """Half of the answers make no claim any more, and the rest are a little worse: open, and not only by chance."""
    before, after = records("a*40 de 1>1")
    set_metric(before, "claims", [2.0] * 40)
    set_metric(after, "claims", [0.0] * 20 + [2.0] * 20)
    set_metric(before, "wrong", [0.0] * 40)
    set_metric(after, "wrong", [0.0] * 20 + [1.0] * 3 + [0.0] * 17)
    runs = (make_run(before, "baseline.jsonl"), make_run(after))
    metrics = "{share: {better: lower, ratio: [wrong, claims], range: [0, 1]}}"
    rule = "{kind: tolerance, metric: share, worse_by_at_most: 0.05, on_inconclusive: pass}"
    found = judge_one(runs, rule, metrics=metrics)
    assert (found.status, found.warns) == (Status.INCONCLUSIVE, True)
    assert any("40 questions have claims" in note for note in found.notes)


# --- thresholds


@pytest.mark.parametrize(
    "rest",
    [
        "kind: tolerance, decide_by: value, worse_by_at_most: 0",
        "kind: tolerance, decide_by: value, worse_by_at_most: 0%",
        "kind: every, worse_by_at_most: 0",
    ],
)
def test_a_threshold_of_nothing_has_no_sign(rest: str) -> None:
    found = judge_one("a*9 1>1 b 0.5>0.5", f"{{id: r, metric: score, {rest}}}")
    assert found.threshold == 0
    assert math.copysign(1, found.threshold) == 1


def test_of_two_distances_the_more_lenient_decides_by_the_size_of_the_baseline() -> None:
    """10 % of a baseline of 2 are 0.2; of 20 they are 2."""
    rule = "{id: r, kind: tolerance, metric: score, decide_by: value, worse_by_at_most: [10%, 1]}"
    for scale, judged in ((2.0, "gain"), (20.0, "relative_gain")):
        before, after = records("q*12 1>1")
        set_metric(before, "score", [scale] * 12)
        set_metric(after, "score", [scale * 0.7] * 12)
        found = judge_one(
            (make_run(before, "b"), make_run(after, "c")), rule, metrics="{score: {better: higher}}"
        )
        assert found.judged == judged
