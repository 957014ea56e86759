"""Where values cease to be plausible: a bit inside and a bit outside of each number that the docstrings name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gateline.errors import InputError, NotComparable
from gateline.metric import Metric
from gateline.pairing.plausible import (
    can_be_no_zero,
    check_measured,
    check_positive,
    check_range,
    check_scale,
    check_unit,
    check_weights,
    known_range,
)
from gateline.samples import MetricFacts, Run
from runs import make_pairs, make_run, make_runs, records


def run_of(values: list[float]) -> tuple[Run, np.ndarray, np.ndarray]:
    """Return a run, its values and that all of them are looked at."""
    side, _ = records(" ".join(f"q{number} 1>1" for number in range(1, len(values) + 1)))
    return make_run(side, "runs.jsonl"), np.array(values, dtype=np.float64), np.ones(len(values), dtype=bool)


def is_refused(check, *given: object, **more: object) -> bool:
    try:
        check(*given, **more)
    except (InputError, NotComparable):
        return True
    return False


# --- ranges


@pytest.mark.parametrize(
    ("tool", "inside", "outside"),
    [
        ((0, 1), (-5e-7, 1 + 5e-7), (-2e-6, 1 + 2e-6)),
        ((0, 1000), (-5e-4, 1000 + 5e-4), (-2e-3, 1000 + 2e-3)),
        ((-1000, 1000), (-1000 - 1e-3, 1000 + 1e-3), (-1000 - 4e-3, 1000 + 4e-3)),
        ((5, 5.5), (5 - 2e-7, 5.5 + 2e-7), (5 - 1e-6, 5.5 + 1e-6)),
    ],
)
def test_rounding_is_a_millionth_of_the_width(
    tool: tuple[float, float], inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    run, _, all_of_it = run_of([1, 1])
    stating = replace(run, metric_facts={"score": MetricFacts("higher", tool)})
    assert not is_refused(check_range, "score", tool, run, np.array(inside), all_of_it)
    ranges = [(inside[0], inside[1])]
    for at in (0, 1):
        beyond = list(inside)
        beyond[at] = outside[at]
        assert is_refused(check_range, "score", tool, run, np.array(beyond), all_of_it)
        assert not is_refused(check_range, "score", tool, run, np.array(beyond), np.arange(2) != at)
        ranges.append((beyond[0], beyond[1]))
    for number, ends in enumerate(ranges):
        metric = Metric.model_validate({"better": "higher", "range": list(ends)})
        assert is_refused(known_range, "score", metric, [run, stating]) is (number > 0)


def test_a_range_beyond_that_of_the_tool_is_told_with_both_and_what_to_write() -> None:
    run, _, _ = run_of([1])
    stating = replace(run, file="b.jsonl", metric_facts={"score": MetricFacts("higher", (-1, 2.5))})
    metric = Metric.model_validate({"better": "higher", "range": [0, 100]})
    with pytest.raises(NotComparable) as raised:
        known_range("score", metric, [run, stating])
    assert str(raised.value) == (
        "b.jsonl: the policy's range of score is 0 to 100, and the tool that wrote it says -1 to 2.5"
        "  (take the tool's: metrics: {score: {range: [-1, 2.5]}}; tolerances are on that scale)"
    )


TEN = "q6, q7, q8, q9, q10, q11, q12, q13, q14, q15"


@pytest.mark.parametrize(
    ("count", "likewise"), [(1, ""), (5, ""), (6, "q6"), (15, TEN), (17, f"{TEN} and 2 more")]
)
def test_five_values_outside_are_told_with_their_lines_and_the_rest_by_id(count: int, likewise: str) -> None:
    run, value, looked_at = run_of([*[7.0] * count, 1.0])
    with pytest.raises(InputError) as raised:
        check_range("score", (0, 1), run, value, looked_at)
    assert raised.value.headline == f"{count} values of score lie outside its range"
    told = [str(problem) for problem in raised.value.problems]
    assert [one.partition(" ")[0] for one in told[:5]] == [
        f"runs.jsonl:{row}:" for row in range(1, min(count, 5) + 1)
    ]
    assert ["mend the file" in one for one in told] == [True] + [False] * (len(told) - 1)
    assert told[5:] == ([f"runs.jsonl: likewise {likewise}"] if likewise else [])
    assert not is_refused(check_range, "score", (0, 1), run, value, np.zeros(len(value), dtype=bool))


def test_times_and_denominators_below_0_are_told_and_0_is_neither() -> None:
    run, value, looked_at = run_of([0.0, -3.0, 4.0])
    with pytest.raises(InputError) as raised:
        check_positive("speed", "latency_ms", run, value, looked_at)
    assert raised.value.headline == "1 values of latency_ms are below 0, and it is a time or a cost"
    assert str(raised.value).startswith(
        "runs.jsonl:2: latency_ms of sample 'q2' is -3, below 0  (write null where"
    )
    assert "metrics: {speed: {range:" in str(raised.value)
    with pytest.raises(InputError) as raised:
        check_weights("rate", "claims", run, value)
    assert str(raised.value) == (
        "runs.jsonl:2: claims, the denominator of rate, is -3 for sample 'q2'"
        "  (a denominator is a count and must not be negative)"
    )
    for check in (check_positive, check_weights):
        given = ("m", "f", run, np.array([0.0, np.nan, 4.0]))
        assert not is_refused(check, *given, *((looked_at,) if check is check_positive else ()))


# --- shares and percentages

Pairs = list[tuple[float, float]]
MEANT = [(70.0, 71.0)] * 8


@pytest.mark.parametrize(
    ("pairs", "refused"),
    [
        # one file holds shares, the mean of the other is 30 to 300 times as large
        ([(1, 120), *[(1, 20)] * 9], True),
        ([(1, 120), *[(1, 19.9)] * 9], False),
        ([(0.5, 101), *[(0.5, 49 / 9)] * 9], True),
        ([(1, 300)] * 10, True),
        ([(1, 300.5)] * 10, False),
        ([(1.5, 150)] * 10, False),  # 1.5 is no share
        ([(0.02, 1)] * 10, False),  # and 1 no percentage
        ([(0, 0)] * 3, False),
        # or it has decimals, and a fifth of the other lie above 1 and reach 10 to 100
        ([(0.5, 10.5)] * 10, True),
        ([(0.5, 10)] * 10, False),
        ([*[(0.9, 0.9)] * 8, *[(0.2, 100)] * 2], True),
        ([*[(0.9, 0.9)] * 8, *[(0.2, 100.5)] * 2], False),
        ([*[(0.9, 1)] * 9, (0.2, 50)], False),
        ([*[(0.9, 0.9)] * 7, *[(0.9, 1.5)] * 2, (0.2, 50)], True),
        # a fifth of the pairs, and two at least, are a share and 30 to 300 times that, beyond 10
        ([*[(0.8, 80)] * 2, *MEANT], True),
        ([*[(0.8, 80)] * 2, *MEANT, (70, 71)], False),
        ([(0.8, 80), *MEANT[:4]], False),
        ([*[(0.8, 80)] * 2, *[(-70, -71)] * 8], False),
        ([*[(0.8, 80)] * 2, *[(150, 160)] * 8], False),
        ([*[(0.8, 80)] * 2, *[(100.5, 100.2)] * 8], False),
        ([*[(0.8, 80)] * 2, *MEANT[:7], (0, 0)], True),
        ([*[(2, 80)] * 2, *MEANT], False),
        ([*[(1, 50)] * 2, *MEANT], False),
        ([*[(1, 100)] * 2, *MEANT], True),
        ([*[(1.5, 60)] * 2, *MEANT], False),
        ([*[(2, 100)] * 2, *MEANT], False),
        ([*[(0.5, 15)] * 2, *MEANT], True),
        ([*[(0.5, 14.9)] * 2, *MEANT], False),
        ([*[(0.25, 75)] * 2, *MEANT], True),
        ([*[(0.25, 75.2)] * 2, *MEANT], False),
        ([*[(0.2, 10)] * 2, *MEANT], False),
        ([*[(0.2, 10.5)] * 2, *MEANT], True),
        # fewer, where one file is all shares and three in four of what is beyond them are such
        ([*[(0.02, 1)] * 2, *[(0.9, 0.9)] * 28], False),
        ([*[(0.02, 1.5)] * 2, *[(0.8, 0.5)] * 20], True),
        ([*[(1, 100)] * 2, *[(1, 0)] * 38], False),
        ([*[(1, 100)] * 2, *[(1, 0)] * 20, *[(0, 1)] * 18], False),
        ([*[(0.8, 80)] * 2, *[(0.5, 1)] * 10], True),
        ([*[(0.8, 80)] * 2, *[(0.8, 1.5)] * 3, *[(0.8, 0.5)] * 25], False),
        ([*[(0.8, 80)] * 3, (0.8, 1.5), *[(0.8, 0.5)] * 12], True),
        ([(0.8, 80), *[(0.8, 0.5)] * 12], False),
        ([*[(0.8, 80)] * 3, (1.5, 1.6), *[(0.8, 0.5)] * 20], False),
    ],
)
def test_a_share_and_its_percentage(pairs: Pairs, refused: bool) -> None:
    before, after = np.array(pairs, dtype=np.float64).T
    for sides in ((before, after), (after, before)):
        assert is_refused(check_scale, "score", *sides, "c.jsonl") is refused


def test_few_outliers_are_let_be_where_less_is_better() -> None:
    before, after = np.array([*[(0.8, 80.0)] * 2, *[(0.5, 0.4)] * 20]).T
    assert is_refused(check_scale, "score", before, after, "c")
    assert not is_refused(check_scale, "score", before, after, "c", fewer_is_better=True)
    assert not is_refused(check_scale, "score", before[:0], after[:0], "c")


# --- seconds and milliseconds


@pytest.mark.parametrize(
    ("factor", "refused"),
    [
        (251, True), (249, False), (3990, True), (4010, False),
        (1 / 51, True), (1 / 49, False), (1 / 19_900, True), (1 / 20_100, False),
    ],
)  # fmt: skip
def test_times_about_a_thousand_times_apart_are_in_another_unit(factor: float, refused: bool) -> None:
    """Up to four times more or less where the candidate is slower, and up to twenty where it is faster."""
    before = np.full(20, 700.0)
    assert is_refused(check_unit, "t", before, before * factor, "c") is refused


@pytest.mark.parametrize(
    ("count", "times", "refused"),
    [(2, 0.001, True), (3, 0.001, False), (3, 9.9, True), (3, 10.1, False), (3, 0.11, True)],
)
def test_nine_in_ten_times_lie_within_a_factor_of_ten_of_the_middle(
    count: int, times: float, refused: bool
) -> None:
    factors = np.array([1000 * times] * count + [1000.0] * (20 - count))
    before = np.full(20, 700.0)
    assert is_refused(check_unit, "t", before, before * factors, "c") is refused


@pytest.mark.parametrize(("timed", "refused"), [(10, True), (9, False)])
@pytest.mark.parametrize("side", [0, 1])
def test_half_of_the_pairs_must_have_times(timed: int, refused: bool, side: int) -> None:
    sides = [np.full(20, 700.0), np.full(20, 700_000.0)]
    sides[side][timed:] = 0.0
    assert is_refused(check_unit, "t", *sides, "c") is refused
    assert not is_refused(check_unit, "t", sides[0] * 0, sides[1], "c")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (700.0, 0.7, "the middle is 700 in the baseline and 0.7 in the candidate, 1000 times apart"),
        (700.0, 10.0, "the middle is 700 in the baseline and 10 in the candidate, 70 times apart"),
        (550.0, 10.0, "the middle is 550 in the baseline and 10 in the candidate, 55 times apart"),
        (1.0, 1234.0, "the middle is 1 in the baseline and 1234 in the candidate, 1230 times apart"),
        (1.0, 0.01, "the middle is 1 in the baseline and 0.01 in the candidate, 100 times apart"),
    ],
)
def test_another_unit_is_told_with_both_middles(before: float, after: float, told: str) -> None:
    sides = [np.array([value] * 20 + [0.0]) for value in (before, after)]
    with pytest.raises(NotComparable) as raised:
        check_unit("t", *sides, "c.jsonl")
    assert str(raised.value).startswith(f"c.jsonl: t can't be in one unit in the two files: {told}")
    assert "metrics: {t: {range:" in str(raised.value)


# --- what was not measured at all


@pytest.mark.parametrize(
    ("pairs", "measured", "zeros", "refused"),
    [
        (30, 30, 30, True), (30, 30, 15, True), (30, 30, 14, False),
        (30, 27, 27, True), (30, 26, 26, False),
        (10, 10, 10, True), (9, 9, 9, False),
        (30, 30, 0, False), (30, 0, 0, False),
    ],
)  # fmt: skip
def test_zeros_of_a_candidate_where_nine_in_ten_of_the_baseline_are_above_0(
    pairs: int, measured: int, zeros: int, refused: bool
) -> None:
    before = np.array([0.003] * measured + [0.0] * (pairs - measured))
    after = before.copy()
    after[:zeros] = 0.0
    assert is_refused(check_measured, "cost", before, after, "c", is_cost=True) is refused
    assert not is_refused(check_measured, "cost", after, before, "c", is_cost=True) or zeros == 0


@pytest.mark.parametrize(
    ("name", "metric", "looked_at"),
    [
        ("cost_usd", {}, True),
        ("spent", {"unit": "EUR"}, True),
        ("spent", {"ratio": ["cost_usd", "answers"]}, True),
        ("latency_p95", {"field": "latency_ms", "summary": "p95"}, True),
        ("first_token", {"unit": "ms"}, True),
        ("tokens.output", {}, True),
        ("size", {"field": "usage.total_tokens"}, True),
        ("tokens.reasoning", {}, False),
        ("usage.cached_tokens", {}, False),
        ("errors", {}, False),
        ("wrong_claims", {"ratio": ["wrong", "claims"]}, False),
        ("hallucination_rate", {"range": [0, 1]}, False),
        ("cost_usd", {"free": True}, False),
        ("latency_ms", {"range": [0, 9000]}, False),
        ("tokens.output", {"better": "higher"}, False),
    ],
)
def test_what_each_answer_takes_some_of(name: str, metric: dict[str, object], looked_at: bool) -> None:
    assert can_be_no_zero(name, Metric.model_validate({"better": "lower", **metric})) is looked_at


@pytest.mark.parametrize(
    ("field", "words", "hint", "meant"),
    [
        ("cost_usd", "write metrics", "{free: true}", "free: true"),
        ("latency_ms", "give the metric a range: metrics", "{range: [0, …]}", "range: [0, 10]"),
        ("tokens.total", "give the metric a range: metrics", "{range: [0, …]}", "range: [0, 10]"),
    ],
)
def test_a_candidate_without_a_measurement_gets_no_verdict_until_the_policy_says_that_it_is_meant(
    field: str, words: str, hint: str, meant: str
) -> None:
    before, after = records("a*20 1>1")
    for row, (one, other) in enumerate(zip(before, after, strict=True)):
        one[field], other[field] = 2 + row / 10, 0
    runs = make_run(before, "baseline.jsonl"), make_run(after)
    score = "score: {better: higher, range: [0, 1]}"

    def compare(sides: tuple[Run, Run], more: str = "") -> list[str]:
        return list(make_pairs(sides, metrics=f"{{{score}, {field}: {{better: lower{more}}}}}").ids)

    with pytest.raises(NotComparable) as raised:
        compare(runs)
    (problem,) = raised.value.problems
    assert problem.where == "candidate.jsonl"
    assert problem.message == (
        f"{field} is 0 in 20 of the 20 questions in which it is above 0 in the baseline (there the middle is 2.95): "
        "it was not measured"
    )
    assert problem.hint.endswith(f"where it is meant, {words}: {{{field}: {hint}}}")
    assert len(compare(runs, f", {meant}")) == 20
    assert len(compare(runs[::-1])) == 20


def test_an_unknown_range_is_the_tools_whichever_run_says_it() -> None:
    run = make_runs("a 1>1")[1]
    stating = replace(run, metric_facts={"f": MetricFacts("higher", (0, 5)), "score": MetricFacts(None)})
    plain = Metric.model_validate({"better": "higher", "field": "f"})
    assert known_range("score", plain, [run, stating]) == (0, 5)
    assert known_range("f", Metric.model_validate({"better": "higher"}), [stating]) == (0, 5)
    assert known_range("score", Metric.model_validate({"better": "higher"}), [stating, run]) is None
    ratio = Metric.model_validate({"better": "higher", "ratio": ["f", "score"]})
    assert known_range("f", ratio, [stating]) is None
