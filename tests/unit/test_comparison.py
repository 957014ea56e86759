"""Two paired runs as estimates: the one place that flips signs, checked against numpy and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gateline.comparison import Comparison
from gateline.samples import Run
from runs import LIMIT, make_pairs, make_run, read, records, set_metric

ANY = "{drop_at_most: 1}"
SCORES = st.lists(
    st.tuples(*[st.just(0.0) | st.floats(1e-150, 100)] * 2),
    min_size=1,
    max_size=30,
)


def compare(runs: str | tuple[Run, Run], metric: str = "{better: higher}", **parts: str) -> Comparison:
    rule = (
        "{id: r, kind: tolerance, metric: score, worse_by_at_most: 1, slices: true}"
        if "by" in parts.get("slices", "")
        else LIMIT
    )
    metrics = (
        f"{{score: {metric}, a: {{better: lower}}, b: {{better: lower}}}}"
        if "ratio" in metric
        else f"{{score: {metric}}}"
    )
    parts = {"missing": ANY, "metrics": metrics, **parts}
    policy = read(rule.replace("at_least: 0.5", "at_least: 0"), **parts).policy
    return Comparison(make_pairs(runs, rule, **parts), policy.metrics, policy.statistics)


def runs_of(values: list[tuple[float, float]]) -> tuple[Run, Run]:
    text = " ".join(f"q{number:03} {before!r}>{after!r}" for number, (before, after) in enumerate(values))
    before, after = records(text)
    return make_run(before, "baseline.jsonl"), make_run(after)


@given(SCORES, st.sampled_from(["higher", "lower"]))
def test_a_mean_gain_is_how_much_better_the_candidate_is(
    values: list[tuple[float, float]], better: str
) -> None:
    before, after = np.array(values).T
    sign = 1 if better == "higher" else -1
    found = compare(runs_of(values), f"{{better: {better}, range: [0, 100]}}").estimate("score", None)
    assert found.baseline == pytest.approx(before.mean())
    assert found.candidate == pytest.approx(after.mean())
    assert found.gain == pytest.approx(sign * (after.mean() - before.mean()), abs=1e-9)
    if before.mean() > 1e-6:
        assert found.relative_gain == pytest.approx(
            sign * (after.mean() - before.mean()) / before.mean(), abs=1e-9
        )
    assert found.better is not None and found.worse is not None and found.same is not None
    assert found.better + found.worse + found.same == found.samples == len(values)


@pytest.mark.parametrize(
    ("summary", "before", "after"),
    [
        ("total", 10.0, 14.0),
        ("median", 2.0, 3.0),
        ("p50", 2.0, 3.0),
        ("p75", 3.0, 4.0),
        ("p95", 4.0, 5.0),
        ("mean", 2.5, 3.5),
    ],
)
def test_each_summary(summary: str, before: float, after: float) -> None:
    found = compare("a 1>2 b 2>3 c 3>4 d 4>5", f"{{better: lower, summary: {summary}}}").estimate(
        "score", None
    )
    assert (found.baseline, found.candidate, found.gain) == (
        before,
        after,
        -1.0 if summary != "total" else -4.0,
    )


def test_a_percentile_is_a_value_that_occurs_as_numpy_has_it() -> None:
    values = [(float(one), float(one)) for one in np.random.default_rng(1).lognormal(size=101)]
    found = compare(runs_of(values), "{better: lower, summary: p95}").estimate("score", None)
    assert found.candidate == np.quantile([one for one, _ in values], 0.95, method="inverted_cdf")


def test_a_ratio_is_that_of_the_sums() -> None:
    before, after = records("q1 1>1 q2 1>1 q3 1>1")
    set_metric(before, "a", [1, 0, 3])
    set_metric(before, "b", [2, 8, 10])
    set_metric(after, "a", [1, 1, 3])
    set_metric(after, "b", [2, 8, 0])
    found = compare((make_run(before), make_run(after)), "{better: lower, ratio: [a, b]}").estimate(
        "score", None
    )
    assert (found.baseline, found.candidate, found.gain) == (4 / 20, 5 / 10, pytest.approx(4 / 20 - 5 / 10))


def test_a_ratio_over_nothing_is_unknown() -> None:
    before, after = records("q1 1>1 q2 1>1")
    for side in (before, after):
        set_metric(side, "a", [0, 0])
        set_metric(side, "b", [0, 0])
    found = compare((make_run(before), make_run(after)), "{better: lower, ratio: [a, b]}").estimate(
        "score", None
    )
    assert (found.samples, found.baseline, found.candidate, found.gain) == (0, None, None, None)


def test_a_relative_gain_over_a_baseline_of_0_is_unknown() -> None:
    found = compare("a 0>1 b 0>0").estimate("score", None)
    assert (found.baseline, found.gain, found.relative_gain) == (0.0, 0.5, None)


def test_a_relative_gain_is_over_the_size_of_the_baseline() -> None:
    """Better is above 0 also where the values are negative."""
    before, after = records("a 1>1 b 1>1")
    set_metric(before, "score", [-4, -4])
    set_metric(after, "score", [-3, -3])
    found = compare((make_run(before), make_run(after))).estimate("score", None)
    assert (found.gain, found.relative_gain) == (1.0, 0.25)


def test_a_difference_is_over_the_pairs_that_both_runs_have_scored() -> None:
    comparison = compare("a 1>1 b 0>? c ?>0 d 0>1")
    both = comparison.estimate("score", None)
    assert (both.samples, both.baseline, both.candidate) == (2, 0.5, 1.0)


def test_a_fixed_limit_is_over_all_scored_samples_of_the_candidate() -> None:
    comparison = compare("a 1>1 b 0>? c ?>0 d 0>1")
    alone = comparison.estimate("score", None, candidate_alone=True)
    assert (alone.samples, alone.candidate) == (3, pytest.approx(2 / 3))
    assert (alone.baseline, alone.gain) == (None, None)


def test_where_both_rest_on_the_same_samples_a_limit_shows_the_baseline_too() -> None:
    alone = compare("a 1>1 b 0>1").estimate("score", None, candidate_alone=True)
    assert (alone.baseline, alone.candidate, alone.gain) == (0.5, 1.0, 0.5)


def test_slices_and_clusters_are_counted_over_usable_pairs() -> None:
    before, after = records("a de 1>1 b de 1>0 c de ?>1 d en 1>1")
    for side in (before, after):
        for record, doc in zip(side, "xxyz", strict=True):
            record["doc"] = doc
    comparison = compare(
        (make_run(before), make_run(after)), samples="{at_least: 1, cluster: doc}", slices="{by: [language]}"
    )
    found = comparison.estimate("score", "language=de")
    assert (found.samples, found.clusters, found.better, found.worse, found.same) == (2, 1, 0, 1, 1)
    assert comparison.estimate("score", None).clusters == 2


def test_a_slice_without_a_usable_sample_has_no_numbers() -> None:
    found = compare("a de ?>1 b en 1>1", slices="{by: [language]}").estimate("score", "language=de")
    assert (found.samples, found.baseline, found.candidate, found.gain, found.better) == (
        0,
        None,
        None,
        None,
        None,
    )


def test_rounding_is_no_change() -> None:
    before, after = records("a 1>1 b 1>1 c 1>1")
    set_metric(before, "score", [0.1 + 0.2, 1e9, 0.3])
    set_metric(after, "score", [0.3, 1e9 + 1e-6, 0.1 + 0.2])
    found = compare((make_run(before), make_run(after))).estimate("score", None)
    assert (found.better, found.worse, found.same, found.gain) == (0, 0, 3, 0.0)


@given(st.lists(st.booleans(), min_size=5, max_size=40))
def test_the_interval_of_a_share_contains_it_and_is_near_jeffreys(outcomes: list[bool]) -> None:
    """The oracle is the beta distribution of Jeffreys' interval (Brown, Cai and DasGupta 2001)."""
    text = " ".join(f"q{number:03} 1>{int(outcome)}" for number, outcome in enumerate(outcomes))
    comparison = compare(text, "{better: higher, range: [0, 1]}")
    found, _ = comparison.interval("score", None, "candidate")
    assert found is not None and found.low is not None and found.high is not None
    n, good = len(outcomes), sum(outcomes)
    assert 0 <= found.low <= good / n <= found.high <= 1
    assert found.low < found.high  # never [1, 1] for a sample in which all passed
    low, high = stats.beta.ppf([0.025, 0.975], good + 0.5, n - good + 0.5)
    assert found.low <= low + 1.6 / n and found.high >= high - 1.6 / n


def test_swapping_the_runs_mirrors_the_interval() -> None:
    text = "a*20 1>1 b*10 1>0 c*5 0>1"
    swapped = "a*20 1>1 b*10 0>1 c*5 1>0"
    first, _ = compare(text, "{better: higher, range: [0, 1]}").interval("score", None, "gain")
    second, _ = compare(swapped, "{better: higher, range: [0, 1]}").interval("score", None, "gain")
    assert first is not None and second is not None and first.low is not None and second.high is not None
    assert first.low == pytest.approx(-second.high, abs=1e-9)


def test_a_family_widens_the_interval_by_bonferroni() -> None:
    comparison = compare("a*20 1>1 b*10 1>0 c*5 0>1", "{better: higher, range: [0, 1]}")
    one, _ = comparison.interval("score", None, "gain")
    five, _ = comparison.interval("score", None, "gain", family=5)
    assert one is not None and five is not None
    assert (one.level, five.level) == (pytest.approx(0.95), pytest.approx(0.99))
    assert five.low < one.low < one.high < five.high  # type: ignore[operator]


def test_the_smallest_visible_change_shrinks_with_the_root_of_the_samples() -> None:
    few = compare("a*200 1>1 b*100 1>0").smallest_visible_change("score", None, "gain", 1)
    many = compare("a*800 1>1 b*400 1>0").smallest_visible_change("score", None, "gain", 1)
    assert few is not None and many is not None
    assert few / many == pytest.approx(2, rel=0.05)


def test_of_a_limit_and_of_a_first_run_no_visible_change_is_claimed() -> None:
    assert compare("a*20 1>1 b*10 1>0").smallest_visible_change("score", None, "candidate", 1) is None


def test_gains_per_sample_have_the_sign_of_better() -> None:
    comparison = compare("a 1>3 b 5>1", "{better: lower}")
    assert comparison.gains("score", comparison.rows("score", None)).tolist() == [-2.0, 4.0]


def test_a_ratio_of_one_sample_over_nothing_is_no_number() -> None:
    before, after = records("q1 1>1 q2 1>1")
    for side in (before, after):
        set_metric(side, "a", [0, 1])
        set_metric(side, "b", [0, 4])
    comparison = compare((make_run(before), make_run(after)), "{better: lower, ratio: [a, b]}")
    _, values = comparison.per_sample("score", comparison.rows("score", None))
    assert math.isnan(values[0])
    assert values[1] == 0.25
