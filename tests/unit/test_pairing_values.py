# ruff: noqa: E501, ISC004  (lines of output stand here whole)
"""A missing value is settled once, by its cause; what the policy does not allow is no verdict."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gateline.errors import GatelineError, InputError, NotComparable
from gateline.pairing import MetricValues, Pairs
from gateline.samples import Column, Run
from runs import LIMIT, Record, make_pairs, make_run, make_runs, records, set_field, set_metric

ANY = "{drop_at_most: 1}"
HARD = "{id: hard, kind: limit, metric: score, at_least: 0, slice: risk=high, hard: true}"


def settled(runs: str | tuple[Run, Run], metric: str = "score", **parts: str) -> MetricValues:
    rule = f"{{id: r, kind: tolerance, metric: '{metric}', worse_by_at_most: 0.1}}"
    return make_pairs(runs, rule, **{"missing": ANY, **parts}).metrics[metric]


def candidate(runs: str | tuple[Run, Run], metric: str = "score", **parts: str) -> list[float | None]:
    values = settled(runs, metric, **parts).candidate
    return [float(value) if used else None for value, used in zip(values.value, values.usable, strict=True)]


def refused(runs: str | tuple[Run, Run], *rules: str, **parts: str) -> list[str]:
    with pytest.raises(GatelineError) as raised:
        make_pairs(runs, *rules, **parts)
    return [str(problem) for problem in raised.value.problems]


def causes(pairs: Pairs) -> list[tuple[str, str, str | None, str, str, int, int]]:
    facts = pairs.facts
    assert facts is not None
    return [
        (told.metric, told.run, told.slice, told.cause, told.counted_as, told.samples, told.of)
        for told in [*facts.no_answer, *facts.no_score]
    ]


def with_fields(text: str, **fields: list[object]) -> tuple[Run, Run]:
    """Return the runs of a text, the candidate's records with these fields."""
    before, after = records(text)
    for name, values in fields.items():
        for record, value in zip(after, values, strict=True):
            record[name] = value
    return make_run(before, "baseline.jsonl"), make_run(after)


# --- no answer, no score


def test_a_time_is_measured_and_no_error_voids_it() -> None:
    """A judge's failure leaves it alone; a failed request counts at least as the slowest that was answered."""
    metrics = "{latency_ms: {better: lower, unit: ms}, score: {better: higher, range: [0, 1]}}"
    runs = with_fields(
        "q1 1>1 q2 1>1 q3 1>1 q4 1>1 q5 1>1",
        latency_ms=[900, 3, 30_000, None, 700],
        error=[None, "no_answer", "no_answer", "no_answer", "judge_failed"],
    )
    set_latency = [dict.fromkeys(["latency_ms"], 800)] * 5
    before = make_run(
        [
            {**record, **time}
            for record, time in zip(
                records("q1 1>1 q2 1>1 q3 1>1 q4 1>1 q5 1>1")[0], set_latency, strict=True
            )
        ]
    )
    values = candidate((before, runs[1]), "latency_ms", metrics=metrics)
    assert values == [900, 900, 30_000, None, 700]


def test_a_cost_of_a_failed_request_is_dropped_where_the_policy_drops() -> None:
    runs = with_fields("q1 1>1 q2 1>1", cost_usd=[0.1, 0.2], error=[None, "no_answer"])
    before = [{**record, "cost_usd": 0.1} for record in records("q1 1>1 q2 1>1")[0]]
    metrics = "{cost_usd: {better: lower, unit: USD}, score: {better: higher, range: [0, 1]}}"
    parts = {"metrics": metrics, "missing": "{no_answer: drop, drop_at_most: 1}"}
    assert candidate((make_run(before), runs[1]), "cost_usd", **parts) == [0.1, None]


def test_no_answer_counts_as_the_bad_end_of_the_range() -> None:
    assert candidate("q1 1>! q2 1>1") == [0.0, 1.0]
    assert candidate("q1 0>! q2 0>0", metrics="{score: {better: lower, range: [0, 5]}}") == [5.0, 0.0]


def test_no_answer_counts_as_the_worst_value_of_the_policy() -> None:
    assert candidate("q1 800>! q2 800>700", metrics="{score: {better: lower, worst: 30000}}") == [
        30000.0,
        700.0,
    ]


def test_without_a_range_or_a_worst_value_no_answer_is_left_out_and_counted() -> None:
    pairs = make_pairs(
        "q1 800>! q2 800>700",
        "{id: r, kind: limit, metric: score, at_most: 900}",
        metrics="{score: {better: lower}}",
        missing=ANY,
    )
    assert pairs.metrics["score"].candidate.usable.tolist() == [False, True]
    assert causes(pairs) == [("score", "candidate", None, "no_answer", "left out", 1, 2)]


def test_no_answer_may_be_left_out() -> None:
    assert candidate("q1 1>! q2 1>1", missing="{no_answer: drop, drop_at_most: 1}") == [None, 1.0]


def test_no_answer_may_be_refused_with_the_ids() -> None:
    assert refused("q1 1>! q2 1>1 q3 1>!", missing="{no_answer: refuse}") == [
        "candidate.jsonl: 2 of 3 samples have no score (no_answer): q1, q3  (missing: {no_answer: refuse} allows none)"
    ]


def test_no_score_is_left_out_in_both_runs() -> None:
    values = settled("q1 ?>1 q2 1>? q3 1>1")
    assert values.usable.tolist() == [False, False, True]
    assert values.candidate.usable.tolist() == [True, False, True]


def test_no_score_may_count_as_the_worst() -> None:
    assert candidate("q1 1>? q2 1>1", missing="{no_score: worst}") == [0.0, 1.0]


def test_no_score_may_be_refused_with_the_ids() -> None:
    assert refused("q1 ?>1 q2 1>1", missing="{no_score: refuse}") == [
        "baseline.jsonl: 1 of 2 samples have no score (no_score): q1  (missing: {no_score: refuse} allows none)"
    ]


@pytest.mark.parametrize(
    "error", ["judge_failed", "timeout", "NO_ANSWER", "rate limit", True, 1.0, {"code": 5}, ["x"]]
)
def test_any_other_error_means_no_score_and_a_score_beside_it_is_not_used(error: object) -> None:
    runs = with_fields("q1 1>1 q2 1>0", error=[error, None])
    assert candidate(runs) == [None, 0.0]
    pairs = make_pairs(runs, missing=ANY)
    assert (
        "candidate.jsonl: 1 record carries both a score and an error; the score is not used" in pairs.notices
    )


@pytest.mark.parametrize("error", [None, "", "  ", False, "null", "None", 0.0, [], {}])
def test_a_blank_error_is_none(error: object) -> None:
    assert candidate(with_fields("q1 1>1 q2 1>0", error=[error, None])) == [1.0, 0.0]


@pytest.mark.parametrize("texts", [["0", "0"], ["False", "false"], ["0.0", ""]])
def test_a_column_of_a_table_that_says_no_error_is_none(texts: list[str]) -> None:
    baseline, run = with_fields("q1 1>1 q2 1>0", error=texts)
    run.written["error"] = list(texts)
    assert candidate((baseline, run)) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ({"error.type": ["rate_limit", None], "error.code": np.array([429.0, np.nan])}, [None, 1.0]),
        ({"error.code": np.array([429.0, 0.0]), "error.message": ["slow down", ""]}, [None, 1.0]),
        ({"error.code": np.array([200.0, 0.0]), "error.message": ["OK", "success"]}, [1.0, 1.0]),
        ({"error.type": ["", None], "error.retry": [False, None]}, [1.0, 1.0]),
        ({"error.type": ["no_answer", None], "error.code": np.array([504.0, np.nan])}, [0.0, 1.0]),
        ({"error.rate": np.array([0.25, 0.5])}, [1.0, 1.0]),
        ({"error": np.array([np.nan, np.nan]), "error.type": [None, "judge"]}, [1.0, None]),
        ({"error": [{"type": "rate_limit", "code": 429}, {"type": None, "code": 0}]}, [None, 1.0]),
        ({"error": [{"type": "no_answer"}, {}]}, [0.0, 1.0]),
    ],
)
def test_an_error_may_be_an_object(parts: dict[str, Column], found: list[float | None]) -> None:
    baseline, run = make_runs("q1 1>1 q2 1>1")
    run.fields.update(parts)
    assert candidate((baseline, run)) == found


def test_a_label_called_error_does_not_hide_the_error() -> None:
    baseline, run = with_fields("q1 1>1 q2 1>1", error=["judge_failed", None])
    run.slices["error"] = [None, None]
    assert candidate((baseline, run)) == [None, 1.0]
    del run.fields["error"]
    run.slices["error"] = ["judge_failed", None]
    assert candidate((baseline, run)) == [None, 1.0]


def test_no_answer_with_a_score_beside_it_counts_as_the_worst() -> None:
    assert candidate(with_fields("q1 1>1 q2 1>1", error=["no_answer", None])) == [0.0, 1.0]


def test_missing_values_are_told_by_cause_run_and_slice() -> None:
    pairs = make_pairs(
        "q1 risk=high 1>! q2 risk=high ?>1 q3 risk=low 1>? q4 risk=low 1>1",
        "{id: r, kind: tolerance, metric: score, worse_by_at_most: 0, slice: risk=high}",
        missing=ANY,
    )
    assert causes(pairs) == [
        ("score", "candidate", None, "no_answer", "worst", 1, 4),
        ("score", "candidate", "risk=high", "no_answer", "worst", 1, 2),
        ("score", "baseline", None, "no_score", "left out", 1, 4),
        ("score", "baseline", "risk=high", "no_score", "left out", 1, 2),
        ("score", "candidate", None, "no_score", "left out", 1, 4),
    ]


# --- how much may be left out


def test_past_two_percent_left_out_there_is_no_verdict() -> None:
    assert len(make_pairs("a*49 1>1 b 1>?").ids) == 50
    assert refused("a*48 1>1 b 1>? c 1>?") == [
        "candidate.jsonl: score is missing for 2 of 50 samples (4.0%): 2 without a score ('b', 'c')  (missing.drop_at_most "
        "lets 2 % of them be left out; rerun the evaluation, or say applies_to where a metric is not defined everywhere)"
    ]


def test_the_share_counts_for_each_run_by_itself() -> None:
    assert refused("a*48 1>1 b ?>1 c ?>1")[0].startswith("baseline.jsonl: score is missing for 2 of 50")
    make_pairs("a*48 1>1 b ?>1 c 1>?")  # one of fifty on each side


def test_what_counts_as_the_worst_is_not_left_out() -> None:
    make_pairs("a*20 1>! b 1>1", missing="{drop_at_most: 0}")


def test_nothing_may_be_left_out_where_the_policy_says_0() -> None:
    assert (
        "missing.drop_at_most is 0: none may be left out"
        in refused("a*99 1>1 b 1>?", missing="{drop_at_most: 0}")[0]
    )


def test_the_share_counts_in_the_slice_of_a_hard_rule_too() -> None:
    runs = "a*90 risk=low 1>1 b*9 risk=high 1>1 c risk=high 1>?"
    make_pairs(runs, HARD.replace(", hard: true", ""))
    (said,) = refused(runs, HARD)
    assert said.startswith(
        "candidate.jsonl: score is missing for 1 of 10 samples (10.0%) of the slice risk=high: 1 without a score ('c')"
    )


def test_the_share_counts_in_every_slice_of_a_hard_family() -> None:
    rule = "{id: hard, kind: limit, metric: score, at_least: 0, slices: [risk], hard: true}"
    (said,) = refused("a*90 risk=low 1>1 b*9 risk=high 1>1 c risk=high 1>?", rule)
    assert "of the slice risk=high" in said


def test_a_share_of_the_attempts_counts_as_that_share() -> None:
    """One of two attempts lost at 1 of 50 questions is 1 %."""
    values = settled("a*49 1>1 b 1,1>1,?")
    assert values.candidate.lost.tolist() == [0.0] * 49 + [0.5]
    make_pairs("a*49 1>1 b 1,1>1,?", missing="{drop_at_most: 1%}")
    assert refused("a*49 1>1 b 1,1>1,?", missing="{drop_at_most: 0.9%}")


def test_all_metrics_that_miss_too_much_are_told_at_once() -> None:
    before, after = records("q1 1>? q2 1>?")
    set_metric(before, "other", [1, 1])
    set_metric(after, "other", [None, 1])
    said = refused(
        (make_run(before), make_run(after)),
        metrics="{score: {better: higher, range: [0, 1]}, other: {better: higher}}",
    )
    assert [line.split(" is missing")[0] for line in said] == [
        "candidate.jsonl: score",
        "candidate.jsonl: other",
    ]


# --- fields


def test_an_absent_field_is_an_input_error_with_the_near_name_and_not_a_skip() -> None:
    assert refused(
        "q1 1>1", "{id: r, kind: limit, metric: scroe, at_least: 0}", metrics="{scroe: {better: higher}}"
    ) == [
        "baseline.jsonl: no record has a field 'scroe'  (did you mean 'score'?)",
        "candidate.jsonl: no record has a field 'scroe'  (did you mean 'score'?)",
    ]


def test_an_absent_field_of_a_ratio_names_the_metric() -> None:
    said = refused("q1 1>1", metrics="{score: {better: higher}, rate: {better: lower, ratio: [bad, score]}}")
    assert said[0].startswith("baseline.jsonl: no record has a field 'bad' (of the metric rate)")


def test_a_field_is_looked_up_in_the_metrics_and_then_at_the_top() -> None:
    before, after = records("q1 1>1 q2 1>1")
    set_field([*before, *after], latency_ms=5, score=99)
    runs = make_run(before), make_run(after)
    both = "{score: {better: higher}, slow: {better: lower, field: latency_ms}}"
    assert candidate(runs, metrics=both) == [1.0, 1.0]
    assert candidate(runs, "slow", metrics=both) == [5.0, 5.0]


def test_a_column_without_any_value_is_no_verdict_and_no_skip() -> None:
    assert "score is missing for 3 of 3 samples (100.0%)" in refused("q1 1>? q2 1>? q3 1>?")[0]


def test_applies_to_says_where_a_metric_is_expected() -> None:
    metrics = "{score: {better: higher, range: [0, 1], applies_to: kind=citation}}"
    pairs = make_pairs(
        "a*8 kind=citation 1>1 b*50 kind=other ?>?",
        "{id: r, kind: limit, metric: score, at_least: 0}",
        metrics=metrics,
    )
    assert len(pairs.metrics["score"].expected) == 8
    assert causes(pairs) == []
    (said,) = refused("a*8 kind=citation 1>1 c kind=citation 1>? b*50 kind=other ?>?", metrics=metrics)
    assert "score is missing for 1 of 9 samples (11.1%)" in said


# --- ranges and scales


def test_a_value_outside_its_range_is_an_input_error_with_ids_and_lines() -> None:
    said = refused("a*8 1>1.5 b 1>1", metrics="{score: {better: higher, range: [0, 1]}}")
    assert said == [
        "candidate.jsonl:1: score of sample 'a1' is 1.5, outside its range [0, 1]  (mend the file, or the range: metrics: {score: {range: …}})",
        *(
            f"candidate.jsonl:{n}: score of sample 'a{n}' is 1.5, outside its range [0, 1]"
            for n in range(2, 6)
        ),
        "candidate.jsonl: likewise a6, a7, a8",
    ]


def test_rounding_noise_at_an_end_counts_as_the_end() -> None:
    before, after = records("q1 1>1 q2 0>0")
    set_metric(after, "score", [1.0000001, -0.0000002])
    assert candidate((make_run(before), make_run(after))) == [1.0, 0.0]


def test_a_value_that_is_not_used_may_lie_anywhere() -> None:
    assert candidate(with_fields("q1 1>7 q2 1>1", error=["judge_failed", None])) == [None, 1.0]


def test_files_on_plainly_different_scales_are_refused_where_no_range_tells() -> None:
    metrics = "{score: {better: higher}}"
    rule = "{id: r, kind: tolerance, metric: score, worse_by_at_most: 0}"
    (said,) = refused("a*10 0.8>81 b*5 0.4>38", rule, metrics=metrics)
    assert said == (
        "candidate.jsonl: score is on another scale in the two files: up to 0.8 in the baseline, up to 81 in the candidate"
        "  (bring both to one scale, and say which: metrics: {score: {range: [0, 1]}})"
    )
    assert refused("a*10 81>0.8 b*5 38>0.4", rule, metrics=metrics)
    make_pairs("a*10 0.8>3 b*5 0.4>1", rule, metrics=metrics)  # three times as much is a change, not a scale


@pytest.mark.parametrize(
    ("runs", "is_refused"),
    [
        ("a*10 0.02>95 b*5 0>40", True),  # the means are 2,000 apart
        ("a*10 0.9>11 b*5 0.8>12", True),  # and 13 apart
        ("a*10 95>0.02 b*5 40>0", True),
        ("a*5 0.8>80 b*10 0.7>0.7", True),  # a third of the candidate
        ("a*5 80>0.8 b*10 70>71", True),
        ("a*5 1>100 b*5 70>71", True),
        ("a*10 0>3 b*5 1>1", False),  # a count
        ("a*10 1>12 b*5 0>11", False),
        ("a*10 0.5>8 b*5 0.2>1", False),
        ("a*10 0.5>0.4 b 0.2>40", False),  # one outlier
        ("a*10 80>70 b 0.5>60", False),
        ("a*10 1>12 b*5 70>71", False),
        ("a*10 0.9>500 b*5 0.8>900", False),  # no percentages
        ("a*5 -0.8>-80 b*10 -70>-70", False),
    ],
)
def test_a_share_and_a_percentage_are_told_from_a_change(runs: str, is_refused: bool) -> None:
    rule = "{id: r, kind: tolerance, metric: score, worse_by_at_most: 0}"
    parts = {"metrics": "{score: {better: higher}}"}
    if is_refused:
        (said,) = refused(runs, rule, **parts)
        assert "score is on another scale in the two files" in said
    else:
        make_pairs(runs, rule, **parts)


def test_a_duration_may_rise_a_hundred_times() -> None:
    before, after = records("q1 1>1 q2 1>1")
    set_field(before, latency_s=0.5)
    set_field(after, latency_s=50)
    rule = "{id: r, kind: limit, metric: latency_s, at_most: 90}"
    make_pairs((make_run(before), make_run(after)), rule, metrics="{latency_s: {better: lower}}")


# --- money, time, caches


COST = {"metrics": "{score: {better: higher}, cost: {better: lower, field: cost_usd, unit: USD}}"}


def costs(
    values: list[float | None], tokens: list[float | None] | None = None, **more: list[object]
) -> tuple[Run, Run]:
    text = " ".join(f"q{number} 1>1" for number in range(len(values)))
    before, _ = records(text)
    set_field(before, cost_usd=0.01, tokens=100)
    baseline, run = make_run(before, "baseline.jsonl"), with_fields(text, cost_usd=values, **more)[1]
    if tokens is not None:
        run.fields["tokens"] = np.array([np.nan if t is None else t for t in tokens], dtype=np.float64)
    return baseline, run


@pytest.mark.parametrize("cost", [0, None])
def test_no_cost_with_tokens_spent_is_an_unknown_price_and_missing(cost: float | None) -> None:
    runs = costs([cost, 0.02, 0.03], tokens=[90, 100, 110])
    assert candidate(runs, "cost", **COST) == [None, 0.02, 0.03]
    told = [one for one in causes(make_pairs(runs, LIMIT, missing=ANY, **COST)) if one[0] == "cost"]
    assert told == [("cost", "candidate", None, "price_unknown", "left out", 1, 3)]


def test_a_cost_of_0_without_tokens_is_a_cost() -> None:
    assert candidate(costs([0, 0.02], tokens=[0, 100]), "cost", **COST) == [0.0, 0.02]
    assert candidate(costs([0, 0.02]), "cost", **COST) == [0.0, 0.02]


def test_tokens_may_be_counted_by_kind() -> None:
    runs = costs([0, 0.02])
    runs[1].fields["tokens.input"] = np.array([5.0, 5.0])
    assert candidate(runs, "cost", **COST) == [None, 0.02]


@pytest.mark.parametrize(
    ("field", "is_unknown"),
    [
        ("prompt_tokens", True),
        ("usage.total_tokens", True),
        ("usage.completionTokens", True),
        ("token_usage.input", True),
        ("token_count", True),
        ("prompt_token_counts", True),
        ("token", False),
        ("token_id", False),
        ("max_tokens", False),
        ("context_tokens", False),
        ("time_to_first_token_ms", False),
    ],
)
def test_every_count_of_spent_tokens_shows_that_a_price_is_unknown(field: str, is_unknown: bool) -> None:
    for column in (np.array([5.0, 5.0]), ["5", "five"]):
        runs = costs([0, 0.02])
        runs[1].fields[field] = column
        assert candidate(runs, "cost", **COST) == [None if is_unknown else 0.0, 0.02]


@pytest.mark.parametrize("order", [("tokens.input", "tokens.output"), ("tokens.output", "tokens.input")])
def test_one_token_of_one_kind_is_spent(order: tuple[str, str]) -> None:
    runs = costs([0, 0, 0.02])
    for name in order:
        runs[1].fields[name] = np.array([1.0, 0.0, 5.0] if name == "tokens.input" else [0.0, 0.0, 5.0])
    assert candidate(runs, "cost", **COST) == [None, 0.0, 0.02]


@pytest.mark.parametrize("word", ["1", "yes", " True "])
def test_a_table_says_in_words_that_an_answer_came_from_the_cache(word: str) -> None:
    runs = costs([0.5, 0.02, 0.03])
    runs[1].fields["cached"] = [word, "0", None]
    assert candidate(runs, "cost", **COST) == [None, 0.02, 0.03]


def test_a_code_is_a_whole_number_and_a_rate_is_none() -> None:
    """A code beside every record, 200 where all went well; a measured share of errors voids no score."""
    codes = with_fields("a*4 1>1")
    codes[1].fields["error.code"] = np.array([np.nan, 200.0, 503.0, 404.0])
    assert candidate(codes) == [1.0, 1.0, None, None]
    rates = with_fields("a*4 1>1")
    rates[1].fields["error.rate"] = np.array([np.nan, 0.5, 1.0, 0.0])
    assert candidate(rates) == [1.0] * 4


def test_the_price_is_unknown_in_a_ratio_too() -> None:
    runs = costs([0, 0.02], tokens=[90, 100])
    for run in runs:
        run.fields["answers"] = np.array([1.0, 1.0])
    for unit in ("", ", unit: USD"):
        metrics = f"{{score: {{better: higher}}, per: {{better: lower, ratio: [cost_usd, answers]{unit}}}}}"
        assert candidate(runs, "per", metrics=metrics) == [None, 0.02]


def test_a_cost_or_a_time_below_0_is_an_input_error() -> None:
    (said,) = refused(costs([-1, 0.02]), LIMIT, **COST)
    assert said == (
        "candidate.jsonl:1: cost_usd of sample 'q0' is -1, below 0  (write null where nothing was measured; "
        "where it is meant, give the metric a range: metrics: {cost: {range: […, …]}})"
    )
    allowed = {"metrics": COST["metrics"].replace("unit: USD", "unit: USD, range: [-5, 5]")}
    assert candidate(costs([-1, 0.02]), "cost", **allowed) == [-1.0, 0.02]


def test_a_time_below_0_of_a_failed_request_is_no_time() -> None:
    metrics = "{latency_ms: {better: lower}, score: {better: higher, range: [0, 1]}}"
    before, after = records("q1 1>1 q2 1>!")
    set_field(before, latency_ms=5)
    set_field(after, latency_ms=7)
    after[1]["latency_ms"] = -1
    assert candidate((make_run(before), make_run(after)), "latency_ms", metrics=metrics) == [7.0, None]


def test_a_local_model_may_be_free() -> None:
    free = {"metrics": COST["metrics"].replace("unit: USD", "unit: USD, free: true")}
    assert candidate(costs([0, 0], tokens=[90, 100]), "cost", **free) == [0.0, 0.0]


@pytest.mark.parametrize("cached", [[True, False], [True, None], ["true", "false"], ["Yes", ""], [1, 0]])
def test_a_cached_record_has_no_latency_and_no_cost_but_keeps_its_score(cached: list[object]) -> None:
    runs = costs([0.01, 0.02], cached=cached)
    for run in runs:
        run.fields["latency_ms"] = np.array([3.0, 900.0])
    metrics = {"metrics": COST["metrics"].replace("}}", "}, slow: {better: lower, field: latency_ms}}")}
    assert candidate(runs, "cost", **metrics) == [None, 0.02]
    assert candidate(runs, "slow", **metrics) == [None, 900.0]
    assert candidate(runs, "score", **metrics) == [1.0, 1.0]
    told = causes(make_pairs(runs, LIMIT, missing=ANY, **metrics))
    assert [one[:4] for one in told] == [
        ("cost", "candidate", None, "cached"),
        ("slow", "candidate", None, "cached"),
    ]


def test_cached_records_count_against_what_may_be_left_out() -> None:
    runs = costs([0.01] * 50, cached=[True] * 2 + [False] * 48)
    (said,) = refused(runs, LIMIT, **COST)
    assert "cost is missing for 2 of 50 samples (4.0%): 2 cached" in said


def test_an_unknown_price_counts_against_what_may_be_left_out() -> None:
    (said,) = refused(costs([0.01] * 48 + [None, None], tokens=[100] * 50), LIMIT, **COST)
    assert "cost is missing for 2 of 50 samples (4.0%): 2 of unknown price" in said


# --- ratios and attempts


def ratio(rows: list[Record]) -> tuple[Run, Run]:
    before, after = records(" ".join(f"q{number} 1>1" for number in range(len(rows))))
    for side in (before, after):
        for record, row in zip(side, rows, strict=True):
            record["metrics"].update(row)
    return make_run(before, "baseline.jsonl"), make_run(after)


RATIO = "{score: {better: higher}, rate: {better: lower, range: [0, 1], ratio: [bad, claims]}}"


def test_a_ratio_needs_both_parts() -> None:
    runs = ratio([{"bad": 1, "claims": 4}, {"bad": None, "claims": 4}, {"bad": 1, "claims": None}])
    values = settled(runs, "rate", metrics=RATIO).candidate
    assert values.usable.tolist() == [True, False, False]
    assert values.weight is not None
    assert (values.value[0], values.weight[0]) == (1.0, 4.0)


def test_no_answer_in_a_ratio_is_left_out_and_counted() -> None:
    baseline, run = ratio([{"bad": 1, "claims": 4}, {"bad": 1, "claims": 4}])
    run.fields["error"] = ["no_answer", None]
    values = settled((baseline, run), "rate", metrics=RATIO).candidate
    assert values.usable.tolist() == [False, True]
    assert np.isfinite(values.value[values.usable]).all()


def test_a_negative_denominator_is_an_input_error() -> None:
    (said,) = refused(ratio([{"bad": 1, "claims": 4}, {"bad": 1, "claims": -1}]), LIMIT, metrics=RATIO)
    assert said.startswith("baseline.jsonl:2: claims, the denominator of rate, is -1 for sample 'q1'")


def test_a_ratio_of_a_sample_outside_the_range_is_an_input_error() -> None:
    (*_, said) = refused(
        ratio([{"bad": 0, "claims": 0}, {"bad": 3, "claims": 3}, {"bad": 3, "claims": 2}]),
        LIMIT,
        metrics=RATIO,
    )
    assert said.startswith("baseline.jsonl:3: rate of sample 'q2' is 1.5, outside its range [0, 1]")


def test_a_ratio_whose_denominators_are_all_0_has_no_value() -> None:
    nothing = ratio([{"bad": 0, "claims": 0}, {"bad": 0, "claims": 0}])
    rule = "{id: r, kind: limit, metric: rate, at_most: 0.1}"
    said = refused(nothing, rule, metrics=RATIO)
    assert len(said) == 2
    assert "rate is missing for 2 of 2 samples (100.0%): 2 with a denominator of 0 ('q0', 'q1')" in said[0]
    some = ratio([{"bad": 0, "claims": 0}, {"bad": 0, "claims": 1}])
    assert settled(some, "rate", metrics=RATIO).usable.tolist() == [True, True]
    with pytest.raises(NotComparable):
        make_pairs(nothing, rule, metrics=RATIO, missing="{no_score: refuse}")


def test_attempts_are_averaged_over_those_that_can_be_used() -> None:
    values = settled("q1 1,1,1>1,0,? q2 1,1>?,? q3 1,1>!,1")
    assert values.candidate.value[0] == 0.5
    assert values.candidate.usable.tolist() == [True, False, True]
    assert values.candidate.value[2] == 0.5  # no answer is the worst, 0
    assert values.candidate.lost.tolist() == pytest.approx([1 / 3, 1.0, 0.0])


def test_text_that_is_no_number_is_an_input_error() -> None:
    before, after = records("q1 1>1 q2 1>1")
    after[1]["metrics"]["score"] = "good"
    with pytest.raises(InputError, match=r"candidate.jsonl:2: score of sample 'q2' is not a number: 'good'"):
        make_pairs((make_run(before), make_run(after)))


def test_refused_values_end_in_a_finding_about_the_runs() -> None:
    with pytest.raises(NotComparable):
        make_pairs("q1 1>? q2 1>1", missing="{no_score: refuse}")


@pytest.mark.parametrize(("better", "passed"), [("higher", 2), ("lower", 1)])
def test_what_counts_as_passed_follows_the_direction(better: str, passed: int) -> None:
    facts = make_pairs(
        "q1 1>1 q2 1>- q3 1>- q4 0>-",
        "{id: r, kind: limit, metric: score, at_least: 0}",
        metrics=f"{{score: {{better: {better}}}}}",
        samples="{at_least: 1, on_mismatch: intersect}",
        missing="{drop_at_most: 1}",
    ).facts
    assert facts is not None
    assert facts.only_in_baseline.passed == passed


@pytest.mark.parametrize(
    ("runs", "is_refused"),
    [
        ("a*17 0.8>0.5 b*3 0.8>80", True),  # 15 % of the rows in percent hide that the others fell
        ("a*17 0.5>0.8 b*3 80>0.8", True),
        ("a*58 0.8>0.5 b*2 1>100", True),
        ("a*19 0.8>0.5 b 0.8>80", False),  # one is an outlier
        ("a*30 0.8>0.5 b*3 0.8>80 c 0.8>4", True),
        ("a*12 0.8>0.5 b*2 0.05>5", True),  # a seventh, and low ones among them
        ("a*30 0.8>0.5 b*3 0.8>80 c*2 0.8>4", False),  # outliers, with others between
        ("a*17 1>1 b*3 1>40", False),  # counts
        ("a*17 0.8>0.5 b*3 0.8>8", False),
    ],
)
def test_a_few_rows_of_another_scale_with_nothing_between(runs: str, is_refused: bool) -> None:
    rule = "{id: r, kind: tolerance, metric: score, worse_by_at_most: 1}"
    for text in (runs, re.sub(r"(\S+)>(\S+)", r"\2>\1", runs)):
        if is_refused:
            with pytest.raises(NotComparable, match="score is on another scale in the two files"):
                make_pairs(text, rule, metrics="{score: {better: higher}}")
        else:
            make_pairs(text, rule, metrics="{score: {better: higher}}")


@pytest.mark.parametrize(
    "factor", [1000, 500, 2000, 1 / 1000, 1 / 500, 100, 1 / 100, 1 / 90, 1 / 25, 2, 10_000]
)
def test_times_in_another_unit_are_refused(factor: float) -> None:
    """Seconds beside milliseconds, also of a system that is ten times as slow; some outliers change nothing.

    A run that seems so much faster would pass; one that seems slower by another factor than a unit's is judged.
    """
    rng = np.random.default_rng(4)
    before = rng.lognormal(6.5, 0.6, 60)
    after = rng.lognormal(6.5, 0.6, 60) * factor
    after[:4] = before[:4]
    text = " ".join(
        f"q{row} {old:.6f}>{new:.6f}" for row, (old, new) in enumerate(zip(before, after, strict=True))
    )
    metrics = "{time: {field: score, better: lower, unit: ms%s}}"
    rule = "{id: r, kind: tolerance, metric: time, worse_by_at_most: 1}"
    if 250 <= factor <= 4000 or 1 / 20_000 <= factor <= 1 / 50:
        with pytest.raises(NotComparable, match="time can't be in one unit in the two files"):
            make_pairs(text, rule, metrics=metrics % "")
    else:
        make_pairs(text, rule, metrics=metrics % "")
    make_pairs(text, rule, metrics=metrics % ", range: [0, 1e12]")
