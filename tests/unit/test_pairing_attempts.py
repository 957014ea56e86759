"""How often a question was tried must not depend on how it went: a run that repeats only what failed proves nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError, NotComparable
from gateline.findings import Status
from gateline.guard import compare_policies
from runs import LIMIT, TOLERANCE, judge_one, make_pairs, make_run, read, records, set_field

HINT = (
    "  (try each question equally often: to repeat only what failed lifts every mean; or, where that is meant, write "
    "samples: {uneven_attempts: allow})"
)
ALLOWED = {"samples": "{at_least: 1, uneven_attempts: allow}"}


def refused(text: str, **parts: str) -> list[str]:
    with pytest.raises(NotComparable) as raised:
        make_pairs(text, **parts)
    return [str(problem) for problem in raised.value.problems]


def test_a_candidate_that_repeats_only_what_failed_gets_no_verdict() -> None:
    text = "a*22 1>1 b*8 1>0,1,1,1,1,1,1,1,1,1"
    assert "".join(refused(text)) == (
        "candidate.jsonl: 8 of 30 questions were not tried as often as the others (1 ×): 'b1' 10 ×, 'b2' 10 ×, "
        f"'b3' 10 ×, 'b4' 10 ×, 'b5' 10 × and 3 more{HINT}"
    )
    # nothing but the number of attempts tells: once each, the same regression blocks
    assert judge_one("a*22 1>1 b*8 1>0", TOLERANCE[:-1] + ", decide_by: value}").status is Status.FAIL


@pytest.mark.parametrize("repeats", ["mean", "last"])
def test_that_the_last_attempt_counts_changes_nothing(repeats: str) -> None:
    parts = {"samples": f"{{at_least: 1, repeats: {repeats}}}"}
    assert refused("a*9 1>1 b 1>0,1", **parts) == [
        f"candidate.jsonl: 1 of 10 questions was not tried as often as the others (1 ×): 'b' 2 ×{HINT}"
    ]


def test_a_baseline_is_held_to_the_same() -> None:
    assert refused("a*9 1>1 b 1,1,0>1")[0].startswith("baseline.jsonl: 1 of 10 questions was not tried")


def test_a_run_alone_must_try_all_questions_equally_often() -> None:
    _, after = records("a*9 1>1 b 1>0,1")
    with pytest.raises(NotComparable, match="1 of 10 questions was not tried as often"):
        make_pairs((None, make_run(after)))
    _, after = records("a*9 1>1,1 b 1>0,1")
    assert make_pairs((None, make_run(after))).ids[-1] == "b"


@pytest.mark.parametrize(
    "text",
    [
        "a*9 1>1,1,1 b 1>0,1,1",  # the candidate three times, the baseline once
        "a*9 1,1>1 b 1,0>1",
        "a*9 1>1 b 1,0,1>0,1,1",  # the hard ones more often, in both
    ],
)
def test_a_plan_that_knows_no_outcome_is_compared(text: str) -> None:
    pairs = make_pairs(text)
    assert [side.lost.tolist() for side in pairs.metrics["score"].sides] == [[0.0] * 10] * 2


def test_that_the_runs_were_tried_another_number_of_times_is_told() -> None:
    assert make_pairs("a*9 1>1,1,1 b 1>0,1,1").notices == [
        "questions were tried 1 × in the baseline, 3 × in the candidate"
    ]
    assert make_pairs("a*9 1,1>1,0").notices == []


def test_a_policy_can_allow_it_and_the_verdict_tells_then() -> None:
    pairs = make_pairs("a*9 1>1 b 1>0,1", **ALLOWED)
    assert pairs.metrics["score"].candidate.value.tolist() == [1.0] * 9 + [0.5]
    assert pairs.metrics["score"].candidate.lost.tolist() == [0.0] * 10
    assert pairs.notices == [
        "questions were tried 1 × in the baseline, 1, 2 × in the candidate",
        "candidate.jsonl: 1 of 10 questions was not tried as often as the others (1 ×): 'b' 2 ×",
    ]


def test_to_allow_it_loosens_a_policy() -> None:
    strict, loose = read(LIMIT).policy, read(LIMIT, **ALLOWED).policy
    assert [(change.path, change.loosens) for change in compare_policies(strict, loose)] == [
        ("samples.uneven_attempts", True)
    ]
    assert [change.loosens for change in compare_policies(loose, strict)] == [False]


def test_a_few_attempts_may_be_lost_as_values_may_be() -> None:
    """One of three attempts at 1 of 20 questions is 1.7 % of all, less than the 2 % that may be missing."""
    pairs = make_pairs("a*19 1>1,1,1 b 1>1,0")
    assert pairs.metrics["score"].candidate.lost == pytest.approx([0.0] * 19 + [1 / 3])
    assert refused("a*19 1>1,1,1 b 1>1,0", missing="{drop_at_most: 1%}")
    # a hard rule must hold were the lost attempt as bad as can be
    hard = "{id: each, kind: limit, metric: score, at_least: 0.99, hard: true}"
    with pytest.raises(NotComparable, match="were they bad it would not hold"):
        judge_one("a*19 1>1,1,1 b 1>1,1", hard)
    assert judge_one("a*19 1>1,1,1 b 1>1,1,1", hard).status is Status.PASS


numbers = st.lists(st.integers(1, 4), min_size=2, max_size=12)


@given(numbers, st.data())
def test_what_is_refused_is_what_two_equal_plans_do_not_explain(
    tried: Sequence[int], data: st.DataObject
) -> None:
    """Without room for losses, each number of attempts in one run must stand for one number in the other."""
    other = data.draw(st.lists(st.integers(1, 4), min_size=len(tried), max_size=len(tried)))
    before = [
        {"id": f"q{row}", "attempt": one, "metrics": {"score": 1}}
        for row, n in enumerate(tried)
        for one in range(n)
    ]
    after = [
        {"id": f"q{row}", "attempt": one, "metrics": {"score": 1}}
        for row, n in enumerate(other)
        for one in range(n)
    ]
    cells = set(zip(tried, other, strict=True))
    one_to_one = len({a for a, _ in cells}) == len(cells) == len({b for _, b in cells})
    try:
        make_pairs((make_run(before, "b"), make_run(after, "c")), missing="{drop_at_most: 0}")
    except (NotComparable, InputError):
        assert tried != other
        assert len(cells) > 1
    else:
        assert one_to_one


@given(
    st.lists(st.sampled_from([0.0, 0.0, 1.0]), min_size=30, max_size=40),
    st.sets(st.integers(0, 29), min_size=1, max_size=25),
    st.integers(1, 4),
)
def test_more_good_attempts_at_some_questions_never_make_a_pass(
    scores: list[float], chosen: set[int], more: int
) -> None:
    before, after = records(" ".join(f"q{row} 1>{score}" for row, score in enumerate(scores)))
    assert (
        judge_one((make_run(before), make_run(after)), TOLERANCE).status is not Status.PASS
        or np.mean(scores) > 0.8
    )
    lifted = [{**one, "attempt": 1} for one in after]
    lifted += [
        {**after[row], "attempt": number, "metrics": {"score": 1.0}}
        for row in sorted(chosen)
        for number in range(2, more + 2)
    ]
    with pytest.raises(NotComparable):
        make_pairs((make_run(before), make_run(lifted)))


def with_attempts(numbers: Sequence[object], text: str = "a*30 1>1") -> list[str]:
    """Return what is refused where the candidate's records are these attempts."""
    before, after = records(text)
    for record, number in zip(after, numbers, strict=True):
        record["attempt"] = number
    try:
        make_pairs((make_run(before), make_run(after)))
    except NotComparable as error:
        return [str(problem) for problem in error.problems]
    return []


def test_another_attempt_kept_for_some_questions_gives_no_verdict() -> None:
    (told,) = with_attempts([1] * 25 + [2] * 5)
    assert told == (
        "candidate.jsonl: 5 of 30 questions have other attempts than the rest (#1): 'a26' #2, 'a27' #2, 'a28' #2, "
        f"'a29' #2, 'a30' #2{HINT}"
    )
    assert with_attempts([0] * 20 + [3] * 10)[0].startswith(
        "candidate.jsonl: 10 of 30 questions have other attempts"
    )


@given(st.sets(st.integers(0, 29), min_size=1, max_size=29), st.integers(2, 5))
def test_a_record_without_a_number_beside_others_with_one_is_the_first_attempt(
    again: set[int], number: int
) -> None:
    """Tools that number only what they tried again say no less than those that number all."""
    silent = [number if row in again else None for row in range(30)]
    told = [number if row in again else 1 for row in range(30)]
    assert with_attempts(silent) == with_attempts(told) != []


def test_a_run_without_numbers_is_no_choice() -> None:
    assert with_attempts([None] * 30) == []
    assert with_attempts([1, None] * 15) == []
    assert with_attempts(["run-a", None] * 15) == []


@pytest.mark.parametrize(
    "numbers",
    [[2] * 30, ["run-a"] * 10 + ["run-b"] * 20, [1764500000 + number for number in range(30)], [1] * 30],
    ids=["all alike", "names", "times", "plain"],
)
def test_numbers_that_say_nothing_of_a_choice_are_let_be(numbers: Sequence[object]) -> None:
    assert with_attempts(numbers) == []


@given(st.integers(2, 10), st.integers(0, 2**32))
def test_attempts_that_are_lost_at_random_are_no_choice(times: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    before, after = records(" ".join(f"q{number} 1>{','.join('1' * times)}" for number in range(100)))
    lost = set(generator.choice(len(after), size=len(after) * 3 // 200, replace=False).tolist())
    kept = [record for row, record in enumerate(after) if row not in lost]
    try:
        make_pairs((make_run(before), make_run(kept)))
    except NotComparable as error:
        assert "have other attempts than" not in str(error.problems[0])


@given(st.integers(0, 2**32))
def test_seeds_and_running_numbers_are_no_numbers_of_attempts(seed: int) -> None:
    generator = np.random.default_rng(seed)
    assert with_attempts(generator.integers(0, 1000, size=30).tolist()) == []
    assert with_attempts(list(range(30))) == []


def test_where_as_many_were_tried_again_as_not_the_numbers_tell_still() -> None:
    assert with_attempts([1] * 15 + [2] * 15)[0].startswith(
        "candidate.jsonl: 15 of 30 questions have other attempts"
    )


# --- the same by counts that lie just on either side


def test_two_percent_of_a_plan_may_be_missing_and_no_more() -> None:
    """Of 100 attempts that 50 questions with two each would have, two are 2 %."""
    loose = {"missing": "{drop_at_most: 1}"}
    assert len(make_pairs("a*48 1>1,1 b*2 1>1", missing="{drop_at_most: 2%}").ids) == 50
    assert len(make_pairs("a*48 1>1,1 b*2 1>1", **loose).ids) == 50
    named = "'b1' 1 ×, 'b2' 1 ×, 'b3' 1 ×"
    assert refused("a*47 1>1,1 b*3 1>1", **loose) == [
        f"candidate.jsonl: 3 of 50 questions were not tried as often as the others (2 ×): {named}{HINT}"
    ]


def test_two_in_a_hundred_questions_may_have_an_odd_attempt_and_no_more() -> None:
    assert with_attempts([1] * 49 + [2], "a*50 1>1") == []
    assert with_attempts([1] * 48 + [2] * 2, "a*50 1>1")[0].startswith(
        "candidate.jsonl: 2 of 50 questions have other attempts"
    )


@pytest.mark.parametrize(("number", "counts"), [(999, True), (1000, False)])
def test_numbers_of_more_than_three_digits_are_no_numbers_of_attempts(number: int, counts: bool) -> None:
    assert bool(with_attempts([1] * 20 + [number] * 10)) is counts


@pytest.mark.parametrize(("half", "counts"), [(3, False), (4, True)])
def test_where_half_have_another_number_it_takes_four_questions_for_each(half: int, counts: bool) -> None:
    """Of fewer, the numbers may as well be seeds."""
    assert bool(with_attempts([1] * half + [2] * half, f"a*{2 * half} 1>1")) is counts


def several(*numbers: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """Return problems and notices of runs in which each question was tried under these numbers, in both."""
    tries = [",".join("1" * len(kept)) for kept in numbers]
    before, after = records(" ".join(f"q{place:02} {one}>{one}" for place, one in enumerate(tries)))
    flat = [number for kept in numbers for number in kept]
    for side in (before, after):
        for record, number in zip(side, flat, strict=True):
            record["attempt"] = number
    set_field(after, answer="in other words")
    try:
        return [], make_pairs((make_run(before, "baseline.jsonl"), make_run(after))).notices
    except NotComparable as error:
        return [str(problem) for problem in error.problems], []


def test_what_most_have_counts_and_not_the_commonest_pair() -> None:
    """Of three attempts each question lost one by chance: all three are usual, though no question has them all."""
    lost_one = [(1, 2), (2, 3), (1, 3)] * 10
    assert several(*lost_one, (1, 2)) == ([], [])
    found, _ = several(*lost_one, (10, 2), (1, 10))
    assert found[0] == (
        "baseline.jsonl: 2 of 32 questions have other attempts than the rest (#1, 2, 3): 'q30' #2, 10, 'q31' #1, 10"
        + HINT
    )


def test_plans_that_both_runs_share_give_no_notice() -> None:
    assert make_pairs("a*5 1,1>1,0 b*5 1>0").notices == []


def test_a_run_alone_with_several_attempts_is_compared_with_no_other() -> None:
    _, after = records("a*9 1>1,1")
    assert make_pairs((None, make_run(after))).notices == []


def test_questions_are_usual_among_those_that_the_other_run_tries_as_often() -> None:
    """Those tried evenly say nothing of what is usual among the others; all that are odd are named."""
    loose = {"missing": "{drop_at_most: 1}"}
    pairs = make_pairs("a*5 1>1 b*2 1>1,1,1 c*4 1,1>1,1", **ALLOWED, **loose)
    assert pairs.notices[1:] == [
        "candidate.jsonl: 2 of 11 questions were not tried as often as the others (1 ×): 'b1' 3 ×, 'b2' 3 ×"
    ]
    pairs = make_pairs("a*2 1>1 b*5 1>1,1,1 c*4 1,1>1,1 d 1,1>1", **ALLOWED, **loose)
    assert pairs.notices[-1] == (
        "candidate.jsonl: 3 of 12 questions were not tried as often as the others (2, 3 ×): 'a1' 1 ×, 'a2' 1 ×, "
        "'d' 1 ×"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a 1>1 b 1>1,1 c 1>1,1,1", "1, 2, 3 ×"),
        ("a 1>1 b 1>1,1 c 1>1,1,1 d 1>1,1,1,1,1", "1 … 5 ×"),
    ],
)
def test_many_numbers_of_attempts_are_told_by_their_ends(text: str, told: str) -> None:
    notices = make_pairs(text, **ALLOWED).notices
    assert notices[0] == f"questions were tried 1 × in the baseline, {told} in the candidate"
