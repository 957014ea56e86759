# ruff: noqa: E501, ISC004  (lines of output stand here whole)
"""Which records settle a value, what a part that failed within a mean counts, and what is told of it.

Most of these were found by changing the code and seeing that no test minded (docs/mutation.md).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gateline.errors import GatelineError, InputError, NotComparable
from gateline.pairing import Pairs
from gateline.pairing.values import (
    CACHED,
    COUNTED_WORST,
    NO_ANSWER,
    NO_SCORE,
    OK,
    PRICE_UNKNOWN,
    UNDEFINED,
    SideValues,
)
from gateline.pairing.worst import assume_worst
from gateline.samples import MetricFacts, Run
from runs import make_pairs, make_run, make_runs, read, records, set_field, set_metric

ANY = "{drop_at_most: 1}"
INTERSECT = "{at_least: 1, on_mismatch: intersect}"
LIMIT = "{id: r, kind: limit, metric: score, at_least: 0.5}"


def candidate(
    runs: str | tuple[Run | None, Run], *rules: str, metric: str = "score", **parts: str
) -> SideValues:
    return make_pairs(runs, *rules, **{"missing": ANY, **parts}).metrics[metric].candidate


def with_numbers(text: str, before: dict[str, list], after: dict[str, list]) -> tuple[Run, Run]:
    """Return the runs of a text with more fields beside the score, one value a record."""
    sides = records(text)
    for side, numbers in zip(sides, (before, after), strict=True):
        for name, values in numbers.items():
            for record, value in zip(side, values, strict=True):
                record[name] = value
    return make_run(sides[0], "baseline.jsonl"), make_run(sides[1])


def refused(runs: str | tuple[Run, Run], *rules: str, **parts: str) -> tuple[str, list[str]]:
    """Return the headline and the problems of two runs that give no verdict."""
    with pytest.raises(GatelineError) as raised:
        make_pairs(runs, *rules, **parts)
    return raised.value.headline, [str(problem) for problem in raised.value.problems]


# --- which records count


def test_a_value_that_is_compared_with_nothing_may_lie_anywhere() -> None:
    """A question of one run alone, or one for which the metric is not defined, decides nothing."""
    make_pairs("a*9 1>1 b ->7", samples=INTERSECT)
    metrics = "{score: {better: higher, range: [0, 1], applies_to: language=de}}"
    found = candidate("a de 1>1 b de 1>? c en 7>7", metrics=metrics)
    assert found.usable.tolist() == [True, False, False]
    assert found.lost.tolist() == [0.0, 1.0, 0.0]  # of what is not expected nothing can be lost
    with pytest.raises(InputError, match="score of sample 'c' is 7, outside its range"):
        make_pairs("a de 1>1 c en 7>7")


def test_of_several_attempts_the_first_that_is_missing_says_why() -> None:
    parts = {"missing": "{drop_at_most: 1, no_answer: drop}"}
    found = candidate("a 1,1,1>1,?,! b 1,1,1>1,!,? c 1,1,1>1,1,1 d 1,1,1>?,1,1", **parts)
    assert found.cause.tolist() == [NO_SCORE, NO_ANSWER, OK, NO_SCORE]
    assert found.lost == pytest.approx([2 / 3, 2 / 3, 0, 1 / 3])
    assert found.value.tolist() == [1.0] * 4
    lost = candidate("a 1,1>1,1 b 1,1>1,1 c ->!,!", samples=INTERSECT, **parts)
    assert lost.cause.tolist() == [OK, OK]  # a question without a pair gives its cause to none


def test_both_causes_may_count_as_the_worst() -> None:
    found = candidate("a 1>! b 1>? c 1>1", missing="{no_answer: worst, no_score: worst}")
    assert found.value.tolist() == [0.0, 0.0, 1.0]
    assert found.cause.tolist() == [COUNTED_WORST, COUNTED_WORST, OK]


def test_the_policy_of_uneven_attempts_says_whether_fewer_are_lost_ones() -> None:
    text = "a 1>1,1 b 1>1"
    assert candidate(text, samples="{at_least: 1, uneven_attempts: allow}").lost.tolist() == [0.0, 0.0]
    with pytest.raises(NotComparable) as raised:
        make_pairs(text, missing=ANY)
    assert raised.value.headline == "questions were not tried equally often"
    assert [problem.where for problem in raised.value.problems] == ["candidate.jsonl"]


# --- times and costs

TIMED = "{latency_ms: {better: lower, unit: ms}, score: {better: higher, range: [0, 1]}}"


def times(after: list[float | None], errors: list[str | None], metrics: str = TIMED) -> SideValues:
    count = len(after)
    runs = with_numbers(
        f"q*{count} 1>1", {"latency_ms": [500.0] * count}, {"latency_ms": after, "error": errors}
    )
    return candidate(runs, metric="latency_ms", metrics=metrics)


def test_a_request_that_failed_at_once_counts_as_the_slowest_that_was_answered() -> None:
    found = times([0.0, 0.4, 900.0, 300.0], ["no_answer", "no_answer", None, None])
    assert found.value.tolist() == [900.0, 900.0, 900.0, 300.0]
    assert found.cause.tolist() == [COUNTED_WORST, COUNTED_WORST, OK, OK]


def test_where_every_request_failed_the_slowest_failure_counts() -> None:
    found = times([10.0, 40.0, 20.0], ["no_answer"] * 3)
    assert found.value.tolist() == [40.0] * 3


def test_a_failed_request_without_a_time_is_left_out_and_one_with_a_time_is_not() -> None:
    found = times([None, 40.0, 20.0], ["no_answer", "no_answer", None])
    assert found.cause.tolist() == [NO_ANSWER, COUNTED_WORST, OK]
    assert found.usable.tolist() == [False, True, True]
    assert found.value[1:].tolist() == [40.0, 20.0]


def test_of_a_speed_the_slowest_is_the_smallest() -> None:
    metrics = "{latency_ms: {better: higher}, score: {better: higher, range: [0, 1]}}"
    found = times([90.0, 40.0, 60.0], ["no_answer", None, None], metrics)
    assert found.value.tolist() == [40.0, 40.0, 60.0]


def test_a_cost_is_known_by_its_own_name() -> None:
    """Without a field in the policy, too: tokens without a price, and answers from a cache."""
    numbers = {"cost_usd": [0.0, 0.5, 0.5], "tokens": [9.0, 9.0, 9.0], "cached": [None, "true", None]}
    runs = with_numbers("q*3 1>1", {"cost_usd": [0.5] * 3}, numbers)
    metrics = "{cost_usd: {better: lower}, score: {better: higher, range: [0, 1]}}"
    found = candidate(runs, metric="cost_usd", metrics=metrics)
    assert found.cause.tolist() == [PRICE_UNKNOWN, CACHED, OK]


def test_times_in_another_unit_are_a_matter_of_the_candidates_file() -> None:
    runs = with_numbers("q*20 1>1", {"latency_ms": [700.0] * 20}, {"latency_ms": [0.7] * 20})
    rule = "{id: r, kind: limit, metric: latency_ms, at_most: 900}"
    assert refused(runs, rule, metrics=TIMED)[1][0].startswith(
        "candidate.jsonl: latency_ms can't be in one unit"
    )


def test_only_shares_and_percentages_are_told_by_their_scale() -> None:
    """A cost may rise from 0.5 to 50, and the parts of a ratio are counts."""
    before, after = with_numbers("q*30 1>1", {"cost_usd": [0.5, 0.7] * 15}, {"cost_usd": [50.0, 70.0] * 15})
    both = {"metrics": "{cost_usd: {better: lower}, score: {better: higher, range: [0, 1]}}"}
    rule = "{id: r, kind: limit, metric: cost_usd, at_most: 90}"
    assert len(make_pairs((before, after), rule, **both).ids) == 30
    sides = records("q*30 1>1")
    for side, bad in zip(sides, (0.5, 50.0), strict=True):
        set_metric(side, "bad", [bad, bad * 1.4] * 15)
        set_metric(side, "claims", [100.0] * 30)
    ratio = "{rate: {better: lower, ratio: [bad, claims]}}"
    runs = make_run(sides[0]), make_run(sides[1])
    assert len(make_pairs(runs, "{id: r, kind: limit, metric: rate, at_most: 1}", metrics=ratio).ids) == 30
    plain = "{bad: {better: lower}}"
    with pytest.raises(NotComparable, match=r"^candidate\.jsonl: "):
        make_pairs((runs[0], runs[1]), "{id: r, kind: limit, metric: bad, at_most: 1}", metrics=plain)


@pytest.mark.parametrize(("better", "is_refused"), [("higher", True), ("lower", False)])
def test_a_few_values_of_another_size_are_outliers_only_where_less_is_better(
    better: str, is_refused: bool
) -> None:
    """Two requests that took a hundred times as long timed out; two grades a hundred times as good are percentages."""
    runs, metrics = "a*40 0.5>0.5 b*2 0.6>60", f"{{score: {{better: {better}}}}}"
    if is_refused:
        assert refused(runs, metrics=metrics)[1][0].startswith("candidate.jsonl: ")
    else:
        assert len(make_pairs(runs, metrics=metrics).ids) == 42


# --- ratios

RATE = "{rate: {better: lower, ratio: [bad, claims], range: [0, 1]}}"
RATE_RULE = "{id: r, kind: limit, metric: rate, at_most: 0.5}"


def rated(*parts: tuple[float | None, float | None]) -> tuple[Run, Run]:
    """Return two runs of which the candidate has these numerators and denominators."""
    sides = records(" ".join(f"q{number} 1>1" for number in range(len(parts))))
    for side, numbers in zip(sides, ([(0.0, 1.0)] * len(parts), parts), strict=True):
        set_metric(side, "bad", [bad for bad, _ in numbers])
        set_metric(side, "claims", [claims for _, claims in numbers])
    return make_run(sides[0], "baseline.jsonl"), make_run(sides[1])


def test_a_sample_of_one_claim_has_a_ratio_and_one_of_none_has_none() -> None:
    with pytest.raises(InputError, match="rate of sample 'q1' is 3, outside its range"):
        make_pairs(rated((0, 2), (3, 1)), RATE_RULE, metrics=RATE)
    found = candidate(rated((0, 2), (3, 0)), RATE_RULE, metric="rate", metrics=RATE)
    assert found.usable.tolist() == [True, True]


def test_where_all_denominators_are_0_all_is_missing_and_every_cause_is_kept() -> None:
    found = candidate(rated((0, 0), (1, 0), (None, 0)), RATE_RULE, metric="rate", metrics=RATE)
    assert found.usable.tolist() == [False] * 3
    assert found.cause.tolist() == [UNDEFINED, UNDEFINED, NO_SCORE]
    assert found.cause.dtype == np.int8
    assert found.lost.tolist() == [1.0] * 3


# --- what failed within a mean


def partly(text: str, shares: list[float | None], field: str = "error_rate") -> tuple[Run, Run]:
    """Return two runs whose tool says which share of each number failed in the candidate and is not in it."""
    baseline, other = with_numbers(text, {}, {"error_rate": shares})
    facts = {"score": MetricFacts("higher", failed=field)}
    return replace(baseline, metric_facts=facts), replace(other, metric_facts=facts)


def test_a_share_that_failed_within_a_mean_is_missing_as_values_are() -> None:
    found = candidate(partly("a*4 1>1", [0.5, 0.0, None, 0.25]))
    assert found.failed is not None
    assert found.failed.tolist() == [0.5, 0.0, 0.0, 0.25]
    assert found.missing.tolist() == [0.5, 0.0, 0.0, 0.25]
    assert found.usable.all() and found.value.tolist() == [1.0] * 4
    beyond = candidate(partly("a*2 1>1", [1.5, -0.5]))
    assert beyond.failed is not None and beyond.failed.tolist() == [1.0, 0.0]
    tried = candidate(partly("a 1,1,1>1,1,? b 1,1,1>1,1,1", [0.5, 1.0, 0.0, 0.1, 0.2, 0.0]))
    assert tried.failed == pytest.approx([0.5, 0.1])  # over the attempts
    assert tried.missing == pytest.approx([1 - (2 / 3) * 0.5, 0.1])
    apart = candidate(partly("a 1>1 b 1>1 c ->1", [0.2, 0.0, 0.9]), samples=INTERSECT)
    assert apart.failed is not None and apart.failed.tolist() == [0.2, 0.0]


def test_what_failed_is_told_of_the_questions_that_the_metric_is_asked_of() -> None:
    metrics = "{score: {better: higher, range: [0, 1], applies_to: language=de}}"
    found = candidate(partly("a de 1>1 b de 1>1 c en 1>1", [0.5, 0.0, 0.9]), metrics=metrics)
    assert found.failed is not None and found.failed.tolist() == [0.5, 0.0, 0.0]


@pytest.mark.parametrize(
    ("shares", "field"), [([0.0, 0.0], "error_rate"), ([0.5, 0.5], ""), ([0.5, 0.5], "gone")]
)
def test_where_nothing_failed_or_nobody_says_so_nothing_is_missing(shares: list[float], field: str) -> None:
    found = candidate(partly("a*2 1>1", shares, field))
    assert found.failed is None
    assert found.missing.tolist() == [0.0, 0.0]


def test_a_part_that_failed_is_told_by_its_share_of_all() -> None:
    told = refused(partly("a*4 1>1", [0.5, 0.0, 0.0, 0.25]), missing="{drop_at_most: 10%}")
    assert told == (
        "too many values are missing for a verdict",
        [
            "candidate.jsonl: score is missing for 2 of 4 samples (18.8%): 2 of which a part failed and is not in the "
            "mean ('a1', 'a4')  (missing.drop_at_most lets 10 % of them be left out; rerun the evaluation, or say "
            "applies_to where a metric is not defined everywhere)"
        ],
    )


# --- how much may be left out


def test_each_metric_and_run_that_misses_too_much_is_told_with_what_is_allowed() -> None:
    _, (first, second) = refused("a*4 1>1 b ?>?", missing="{drop_at_most: 10%}")
    told = "score is missing for 1 of 5 samples (20.0%): 1 without a score ('b')"
    allowed = "missing.drop_at_most lets 10 % of them be left out"
    assert first == f"baseline.jsonl: {told}  ({allowed})"
    assert second.startswith(f"candidate.jsonl: {told}  ({allowed}; rerun the evaluation")


def test_a_question_that_lacks_an_attempt_is_one_of_those_that_are_told() -> None:
    """Half of it counts as missing, and it is one of ten."""
    (told,) = refused("a*9 1,1>1,1 b 1,1>1,?", missing="{drop_at_most: 1%}")[1]
    assert told.startswith(
        "candidate.jsonl: score is missing for 1 of 10 samples (10.0%): 1 without a score ('b')"
    )


def test_the_slice_of_a_hard_rule_asks_for_the_values_of_its_own_metric() -> None:
    runs = with_numbers("a*50 en 1>1 b*4 de 1>1", {"other": [1.0] * 54}, {"other": [1.0] * 53 + [None]})
    metrics = "{score: {better: higher, range: [0, 1]}, other: {better: higher, range: [0, 1]}}"
    rule = "{id: r, kind: limit, metric: %s, at_least: 0, hard: true, slice: language=de}"
    both = {"metrics": metrics, "missing": "{drop_at_most: 2%}"}
    other = "{id: o, kind: limit, metric: other, at_least: 0}"
    assert len(make_pairs(runs, rule % "score", other, **both).ids) == 54
    _, (problem,) = refused(runs, rule % "other", **both)
    assert "other is missing for 1 of 4 samples (25.0%) of the slice language=de" in problem


def test_a_hard_slice_of_which_every_question_is_lost_is_told_once() -> None:
    rule = "{kind: limit, metric: score, at_least: 0, hard: true, slice: language=de}"
    _, told = refused("a*100 en 1>1 b de 1>-", rule, samples=INTERSECT)
    assert told == [
        "candidate.jsonl: 1 of 1 question of the slice language=de have no record (100.0%): 'b'"
        "  (missing.drop_at_most lets 2 % be left out, on_mismatch: intersect or not; where the golden set was cut, cut "
        "the baseline alike)"
    ]


def test_questions_lost_elsewhere_are_not_lost_in_a_hard_slice() -> None:
    rule = "{kind: limit, metric: score, at_least: 0, hard: true, slice: language=de}"
    assert len(make_pairs("a*90 en 1>1 b*2 en 1>- c*8 de 1>1", rule, samples=INTERSECT).ids) == 98


def test_a_run_alone_can_lose_questions_of_the_golden_set() -> None:
    golden = make_run([{"id": f"a{number}"} for number in range(1, 61)], "golden.jsonl")
    _, run = make_runs("a*50 1>1")
    with pytest.raises(NotComparable, match=r"^candidate\.jsonl: 10 of 60 questions have no record"):
        make_pairs((None, run), samples=INTERSECT, golden=golden)


def test_a_field_that_is_not_there_is_told_with_names_that_are() -> None:
    sides = records("q1 1>1")
    for side in sides:
        set_field(side, latency_sec=3.0)
    runs = make_run(sides[0], "baseline.jsonl"), make_run(sides[1])
    rule = "{id: r, kind: limit, metric: latency_secs, at_most: 9}"
    headline, told = refused(runs, rule, metrics="{latency_secs: {better: lower}}")
    assert headline == "a metric of the policy is not in the data"
    assert [one.partition(":")[0] for one in told] == ["baseline.jsonl", "candidate.jsonl"]
    assert all("latency_sec" in one.rpartition("(")[2] for one in told)


def test_a_run_alone_has_no_baseline_to_compare_scales_with() -> None:
    pairs: Pairs = make_pairs((None, make_runs("a*5 1>70")[1]), LIMIT, metrics="{score: {better: higher}}")
    assert pairs.metrics["score"].baseline is None
    assert pairs.metrics["score"].candidate.value.tolist() == [70.0] * 5


# --- were what is left out as bad as can be


def worst_of(runs: tuple[Run, Run], rule: str, **parts: str) -> SideValues:
    pairs = make_pairs(runs, rule, **{"missing": ANY, **parts})
    return (
        assume_worst(pairs, read(rule, **{"missing": ANY, **parts}).policy.metrics).metrics["rate"].candidate
    )


def test_the_worst_of_a_part_of_the_attempts_weighs_as_much_as_the_heaviest_for_that_part() -> None:
    """Half of one claim of one, and half of what is lost: three of three."""
    sides = records("a 1,1>1,1 b 1,1>1,1")
    for side, numbers in zip(
        sides, ([(0, 1), (0, 1), (0, 3), (0, 3)], [(0, 1), (None, 1), (0, 3), (0, 3)]), strict=True
    ):
        set_metric(side, "bad", [bad for bad, _ in numbers])
        set_metric(side, "claims", [claims for _, claims in numbers])
    filled = worst_of((make_run(sides[0]), make_run(sides[1])), RATE_RULE, metrics=RATE)
    assert filled.weight is not None
    assert filled.weight.tolist() == [0.5 * 1 + 0.5 * 3, 3]
    assert filled.value.tolist() == [0.5 * 0 + 0.5 * 3, 0]


def test_denominators_below_1_are_no_heavier_in_what_is_lost() -> None:
    sides = records("a 1>1 b 1>1")
    for side, bad in zip(sides, ([0.1, 0.1], [0.1, None]), strict=True):
        set_metric(side, "bad", bad)
        set_metric(side, "claims", [0.5, 0.25])
    filled = worst_of((make_run(sides[0]), make_run(sides[1])), RATE_RULE, metrics=RATE)
    assert filled.weight is not None
    assert (filled.weight.tolist(), filled.value.tolist()) == ([0.5, 0.5], [0.1, 0.5])


def test_what_a_metric_is_not_asked_of_is_not_filled_up() -> None:
    metrics = "{score: {better: higher, range: [0, 1], applies_to: language=de}}"
    pairs = make_pairs("a de 1>1 b de 1>? c en 1>? d en 1>1", LIMIT, metrics=metrics, missing=ANY)
    filled = assume_worst(pairs, read(LIMIT, metrics=metrics).policy.metrics).metrics["score"].candidate
    assert filled.usable.tolist()[:3] == [True, True, False]
    assert filled.value[:2].tolist() == [1.0, 0.0]
    assert filled.usable.tolist()[3] is bool(pairs.metrics["score"].candidate.usable[3])


# --- the slices of hard rules


def test_the_slices_of_hard_rules_are_those_of_the_metric_that_is_asked_for() -> None:
    metrics = "{score: {better: higher}, other: {better: higher}}"
    hard = "kind: limit, at_least: 0, hard: true"
    terms = read(
        f"{{id: a, metric: score, {hard}, slice: language=de}}",
        f"{{id: b, metric: other, {hard}, slice: risk=high}}",
        f"{{id: c, metric: score, {hard}, slices: [region]}}",
        f"{{id: d, metric: other, {hard}, slices: [tier]}}",
        f"{{id: e, metric: other, {hard}}}",
        "{id: f, metric: score, kind: limit, at_least: 0, slice: soft=x}",
        metrics=metrics,
    ).terms()

    def family(label: str) -> list[str]:
        return [f"{label}=2", f"{label}=1"]

    assert terms.hard_slices(family, "score") == ["language=de", "region=1", "region=2"]
    assert terms.hard_slices(family, "other") == ["risk=high", "tier=1", "tier=2"]
    assert terms.hard_slices(family) == [
        "language=de",
        "region=1",
        "region=2",
        "risk=high",
        "tier=1",
        "tier=2",
    ]


def test_runs_that_answered_other_questions_are_compared_after_they_are_reduced_only() -> None:
    with pytest.raises(NotComparable) as raised:
        make_pairs("a 1>- b ->1", samples="{at_least: 1, on_mismatch: independent}")
    assert raised.value.problems[0].where == "candidate.jsonl"
    assert raised.value.problems[0].message == (
        "samples.on_mismatch: independent compares runs of other questions, and only reduced ones"
    )
    assert "gateline reduce" in raised.value.problems[0].hint
