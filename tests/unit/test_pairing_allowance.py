"""What is not there: lost questions, lost attempts, and what a hard rule makes of left-out values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gateline.comparison import Comparison
from gateline.errors import NotComparable
from gateline.findings import Status
from gateline.pairing.worst import assume_worst
from runs import make_pairs, make_run, make_runs, read, records

INTERSECT = "{at_least: 1, on_mismatch: intersect}"
HARD = "{kind: limit, metric: score, at_least: 0.5, hard: true}"
FAMILY = "{kind: limit, metric: score, at_least: 0.5, slices: [language]}"


def statuses(runs: str, rule: str, **parts: str) -> dict[str | None, Status]:
    policy = read(rule, **parts).policy
    comparison = Comparison(make_pairs(runs, rule, **parts), policy.metrics, policy.statistics)
    return {finding.slice: finding.status for finding in policy.rules[0].check(comparison)}


def test_intersect_is_no_way_around_the_allowance() -> None:
    make_pairs("a*98 1>1 b*2 1>-", samples=INTERSECT)
    with pytest.raises(NotComparable) as raised:
        make_pairs("a*97 1>1 b*3 1>-", samples=INTERSECT)
    assert str(raised.value).startswith(
        "candidate.jsonl: 3 of 100 questions have no record (3.0%): 'b1', 'b2', 'b3'"
    )


def test_a_hard_slice_has_an_allowance_of_its_own() -> None:
    rule = "{kind: limit, metric: score, at_least: 0, hard: true, slice: language=de}"
    with pytest.raises(NotComparable, match="1 of 2 questions of the slice language=de have no record"):
        make_pairs("a*100 en 1>1 b de 1>1 c de 1>-", rule, samples=INTERSECT)


def test_questions_that_only_the_candidate_has_take_nothing_away() -> None:
    make_pairs("a*50 1>1 b*50 ->1", samples=INTERSECT)


def test_what_the_golden_set_asks_and_nobody_answers_is_lost() -> None:
    golden = make_run([{"id": f"a{number}"} for number in range(1, 61)], "golden.jsonl")
    with pytest.raises(NotComparable, match=r"10 of 60 questions have no record \(16.7%\)"):
        make_pairs(make_runs("a*50 1>1"), samples=INTERSECT, golden=golden)


def test_a_slice_does_not_go_away_with_its_last_question() -> None:
    found = statuses("a*99 en 1>1 b de 1>-", FAMILY, samples=INTERSECT)
    assert found == {"language=de": Status.INCONCLUSIVE, "language=en": Status.PASS}


def test_a_failing_slice_of_a_family_does_not_get_small_by_losing_values() -> None:
    parts = {"slices": "{at_least: 3}", "missing": "{drop_at_most: 50%}"}
    assert statuses("a*3 de 1>0", FAMILY, **parts) == {"language=de": Status.FAIL}
    assert statuses("a*2 de 1>0 b de 1>?", FAMILY, **parts) == {"language=de": Status.FAIL}
    assert statuses("a*2 de 1>0", FAMILY, **parts) == {"language=de": Status.SKIPPED}


def test_a_hard_rule_must_hold_for_what_is_left_out_too() -> None:
    parts = {"missing": "{drop_at_most: 50%}"}
    assert statuses("a*3 1>1 b 1>?", HARD, **parts) == {None: Status.PASS}
    assert statuses("a*3 1>1 b*3 1>?", HARD, **parts) == {None: Status.PASS}
    assert statuses("a*3 1>1 b 1>0 c*2 1>?", HARD, **parts) == {None: Status.PASS}
    with pytest.raises(NotComparable) as raised:
        statuses("a*3 1>1 b*2 1>0 c*2 1>?", HARD, **parts)
    assert str(raised.value) == (
        "candidate.jsonl: the hard rule score-limit can't be shown to hold: score: 2 of 7 samples are left out, and "
        "were they bad it would not hold  (have them scored again; a hard rule is not decided on trust)"
    )
    assert statuses("a*2 1>1 b*3 1>0 c*2 1>?", HARD, **parts) == {None: Status.FAIL}


def test_a_hard_rule_decides_nothing_where_a_question_of_its_slice_is_lost() -> None:
    with pytest.raises(NotComparable, match="1 of 100 samples are left out"):
        statuses("a*99 1>1 b 1>-", HARD, samples=INTERSECT)


def test_a_hard_rule_must_hold_for_what_is_left_out_of_a_first_run_too() -> None:
    parts = {"missing": "{drop_at_most: 50%}"}
    policy = read(HARD, **parts).policy
    _, run = make_runs("a*3 1>1 b*2 1>0 c*2 1>?")
    comparison = Comparison(make_pairs((None, run), HARD, **parts), policy.metrics, policy.statistics)
    with pytest.raises(
        NotComparable, match=r"^candidate\.jsonl: the hard rule score-limit can't be shown to hold"
    ):
        policy.rules[0].check(comparison)


def test_a_soft_rule_holds_by_the_policys_own_allowance_and_no_further() -> None:
    soft = "{kind: limit, metric: score, at_least: 0.75, slice: language=de}"
    parts = {"missing": "{drop_at_most: 10%}"}
    assert statuses("a*8 de 1>1 b de 1>? c*90 en 1>1", soft, **parts)["language=de"] is Status.PASS
    assert statuses("a*4 de 1>1 b*2 de 1>? c*90 en 1>1", soft, **parts)["language=de"] is Status.INCONCLUSIVE


def test_just_what_the_policy_lets_go_unsettles_nothing() -> None:
    """1 of 10 where a tenth may be left out: were it bad, 0.9 would not reach the floor, and that is let pass."""
    floor = "{kind: limit, metric: score, at_least: 0.95, slice: language=de}"
    parts = {"missing": "{drop_at_most: 10%}"}
    for number, status in ((9, Status.PASS), (8, Status.INCONCLUSIVE)):
        found = statuses(f"a*{number} de 1>1 b de 1>? c*90 en 1>1", floor, **parts)
        assert found == {"language=de": status}


@pytest.mark.parametrize("hard", [False, True])
def test_a_question_without_a_record_is_left_out_of_its_slice_as_one_without_a_score_is(hard: bool) -> None:
    """What is left out of other slices is none of its business, nor does one make up for the other."""
    rule = "{id: r, kind: limit, metric: score, at_least: 0.75, slice: language=de"
    runs = "a*8 de 1>1 b de 1>- c de 1>? d*90 en 1>1 e*3 en 1>? f*2 en 1>-"
    parts = {"samples": INTERSECT, "missing": "{drop_at_most: 15%}"}
    policy = read(rule + "}", **parts).policy
    told = "2 of 10 samples are left out, and were they bad it would not hold"
    comparison = Comparison(make_pairs(runs, rule + "}", **parts), policy.metrics, policy.statistics)
    if not hard:
        (found,) = policy.rules[0].check(comparison)
        assert (found.status, found.notes) == (Status.INCONCLUSIVE, [told])
        return
    with pytest.raises(NotComparable) as raised:
        read(rule + ", hard: true}", **parts).policy.rules[0].check(comparison)
    assert str(raised.value).startswith(
        f"candidate.jsonl: the hard rule r can't be shown to hold: score in language=de: {told}"
    )


def test_fewer_attempts_than_the_other_run_and_than_elsewhere_are_lost_attempts() -> None:
    pairs = make_pairs("a 1,1,1>1,1,1 b 1,1,1>1,1 c 1>1", missing="{drop_at_most: 1}")
    assert pairs.metrics["score"].candidate.lost == pytest.approx([0, 1 / 3, 0])
    assert make_pairs("a 1,1,1>1 b 1,1,1>1").metrics["score"].candidate.lost.tolist() == [0, 0]
    with pytest.raises(NotComparable, match="1 with too few attempts"):
        make_pairs("a 1,1>1,1 b 1,1>1")


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("{better: higher, range: [0, 1]}", [1.0, 0.0, 0.25]),
        ("{better: lower, range: [0, 1]}", [1.0, 1.0, 0.75]),
        ("{better: lower}", [1.0, math.inf, math.inf]),
        ("{better: higher}", [1.0, -math.inf, -math.inf]),
        ("{better: lower, worst: 3}", [1.0, 3.0, 1.75]),
    ],
)
def test_the_worst_is_the_ranges_end_else_the_policys_else_without_end(
    metric: str, expected: list[float]
) -> None:
    """One value, a lost one, and the mean of an attempt at 0.5 and a lost one."""
    parts = {"metrics": f"{{score: {metric}}}", "missing": "{no_score: drop, drop_at_most: 1}"}
    pairs = make_pairs("a 1>1 b 1>? c 1,1>0.5,?", **parts)
    worst = assume_worst(pairs, read("{kind: limit, metric: score, at_least: 0}", **parts).policy.metrics)
    assert worst.metrics["score"].candidate.value == pytest.approx(expected)
    assert worst.metrics["score"].candidate.usable.all()
    assert pairs.metrics["score"].candidate.usable.tolist() == [True, False, True]


def test_the_worst_of_a_ratio_weighs_as_much_as_the_heaviest_sample() -> None:
    before, after = records("a 1>1 b 1>? c 1>1")
    for side in (before, after):
        for record, wrong, claims in zip(side, (1, 2, 0), (2, 4, 6), strict=True):
            record["metrics"] |= {"wrong": wrong, "claims": claims}
    after[1]["metrics"]["wrong"] = None
    rule = "{kind: limit, metric: rate, at_most: 0.9}"
    parts = {
        "metrics": "{rate: {better: lower, range: [0, 1], ratio: [wrong, claims]}}",
        "missing": "{drop_at_most: 1}",
    }
    pairs = make_pairs((make_run(before, "b"), make_run(after, "c")), rule, **parts)
    filled = assume_worst(pairs, read(rule, **parts).policy.metrics).metrics["rate"].candidate
    assert filled.weight is not None
    assert (filled.value[1], filled.weight[1]) == (6.0, 6.0)
    assert np.isfinite(filled.value).all()
