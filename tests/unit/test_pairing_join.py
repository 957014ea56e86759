"""Records are joined by id and never by position; what is ambiguous is refused and named."""

# ruff: noqa: ISC004  (lines of output stand here whole)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError, NotComparable
from gateline.pairing import Pairs
from gateline.pairing.join import records_are_the_same
from runs import make_pairs, make_run, make_runs, records, set_field


def values(pairs: Pairs) -> dict[str, tuple[float, float]]:
    score = pairs.metrics["score"]
    assert score.baseline is not None
    return {
        name: (float(score.baseline.value[row]), float(score.candidate.value[row]))
        for row, name in enumerate(pairs.ids)
    }


def refused(text: str, **parts: str) -> list[str]:
    with pytest.raises((InputError, NotComparable)) as raised:
        make_pairs(text, **parts)
    return [str(problem) for problem in raised.value.problems]


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_the_order_of_records_plays_no_part(first: list[int], second: list[int]) -> None:
    before, after = records("a 0.1>0.9 b 0.2>0.8 c 0.3>0.7 d 0.4>0.6 e 0.5>0.5 f 0.6>0.4")
    shuffled = make_run([before[row] for row in first], "b"), make_run([after[row] for row in second], "c")
    assert values(make_pairs(shuffled)) == {
        "a": (0.1, 0.9), "b": (0.2, 0.8), "c": (0.3, 0.7), "d": (0.4, 0.6), "e": (0.5, 0.5), "f": (0.6, 0.4),
    }  # fmt: skip


def test_ids_in_one_run_only_are_refused_and_named_on_both_sides() -> None:
    assert refused("q1 1>1 q2 1>- q3 1>- q4 ->1") == [
        "candidate.jsonl: 2 of 3 questions of the baseline are not in the candidate: 'q2', 'q3'",
        "baseline.jsonl: 1 of 2 questions of the candidate are not in the baseline: 'q4'"
        "  (run both on the same golden set, or write samples: {on_mismatch: intersect})",
    ]


def test_intersect_compares_the_common_ids_and_tells_who_left_by_slice_and_outcome() -> None:
    pairs = make_pairs(
        "q1 de 1>1 q2 de 1>- q3 de 0>- q4 en 1>- q5 en ->1 q6 en 1>1",
        "{kind: tolerance, metric: score, worse_by_at_most: 0.1, slices: [language]}",
        samples="{at_least: 1, on_mismatch: intersect}",
        missing="{drop_at_most: 1}",
    )
    assert pairs.ids == ["q1", "q6"]
    facts = pairs.facts
    assert facts is not None
    lost, new = facts.only_in_baseline, facts.only_in_candidate
    assert (lost.samples, lost.ids, lost.passed) == (3, ["q2", "q3", "q4"], 2)
    assert lost.slices == {"language=de": 2, "language=en": 1}
    assert (new.samples, new.ids, new.passed, new.slices) == (1, ["q5"], 1, {"language=en": 1})


def test_of_those_who_left_only_the_scored_ones_are_said_to_have_passed() -> None:
    facts = make_pairs(
        "q1 1>1 q2 1>- q3 ?>- q4 0>-",
        samples="{at_least: 1, on_mismatch: intersect}",
        missing="{drop_at_most: 1}",
    ).facts
    assert facts is not None
    assert (facts.only_in_baseline.samples, facts.only_in_baseline.passed) == (3, 1)


def test_passed_is_unknown_where_the_first_metric_is_no_pass_or_fail() -> None:
    facts = make_pairs(
        "q1 1>1 q2 0.4>-", samples="{at_least: 1, on_mismatch: intersect}", missing="{drop_at_most: 1}"
    ).facts
    assert facts is not None
    assert facts.only_in_baseline.passed is None


def test_two_runs_without_a_common_question_are_refused_also_by_intersect() -> None:
    assert refused("a 1>- b ->1", samples="{at_least: 1, on_mismatch: intersect}") == [
        "candidate.jsonl: the two runs have no question in common  (the baseline has 'a', the candidate 'b')"
    ]


def test_an_id_that_stands_twice_without_attempts_is_refused_with_its_lines() -> None:
    before, after = records("q1 1>1 q2 1>1")
    with pytest.raises(InputError) as raised:
        make_pairs((make_run(before, "b"), make_run([*after, after[0], after[1]], "c.jsonl")))
    assert str(raised.value) == (
        "c.jsonl:3: the id 'q1' stands 2 times, in lines 1, 3; so does 1 other id  (where these are attempts at one "
        "question, number them in the field 'attempt' or name the field that does: samples: {repeat_field: …})"
    )


def test_attempts_with_the_same_number_are_refused() -> None:
    before, after = records("q1 1>1,0")
    set_field(after, attempt=1)
    with pytest.raises(InputError, match="the id 'q1' stands 2 times, in lines 1, 2"):
        make_pairs((make_run(before), make_run(after)))


@pytest.mark.parametrize(("repeats", "found"), [("mean", (0.5, 2 / 3)), ("last", (1.0, 0.0))])
def test_attempts_are_averaged_or_the_last_counts(repeats: str, found: tuple[float, float]) -> None:
    pairs = make_pairs("q1 0,1>1,1,0 q2 1>1", samples=f"{{at_least: 1, repeats: {repeats}}}")
    assert values(pairs)["q1"] == pytest.approx(found)
    assert len(pairs.ids) == 2


@pytest.mark.parametrize(
    ("one", "other"), [("nan", "2"), ("inf", "2"), ("-inf", "2"), ("final", "2"), ("2", "1e1")]
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_last_attempt_does_not_depend_on_the_order_of_lines(one: str, other: str, turned: bool) -> None:
    """A text comes after every number, and `nan` and `inf` are texts."""
    before, after = records("q1 0,1>0,1")
    for side in (before, after):
        side[0]["attempt"], side[1]["attempt"] = one, other
    runs = [make_run(side[::-1] if turned else side, "c") for side in (before, after)]
    pairs = make_pairs(runs, samples="{at_least: 1, repeats: last}")
    assert values(pairs)["q1"] == ((1.0, 1.0) if one == "2" else (0.0, 0.0))


def test_the_last_attempt_is_the_one_with_the_highest_number_not_the_last_line() -> None:
    before, after = records("q1 0,1>0,1")
    for number, record in enumerate(after):
        record["attempt"] = 10 - number  # 10, 9: as texts, 9 would be the later one
    pairs = make_pairs((make_run(before), make_run(after)), samples="{at_least: 1, repeats: last}")
    assert values(pairs)["q1"] == (1.0, 0.0)


def test_attempts_can_be_refused() -> None:
    assert (
        "samples: {repeats: refuse} does not allow attempts"
        in refused("q1 0,1>1", samples="{at_least: 1, repeats: refuse}")[0]
    )


def test_attempts_may_be_told_apart_by_another_field() -> None:
    before, after = records("q1 0,1>1,1")
    for side in (before, after):
        for record in side:
            record["epoch"] = record.pop("attempt")
    pairs = make_pairs((make_run(before), make_run(after)), samples="{at_least: 1, repeat_field: epoch}")
    assert values(pairs) == {"q1": (0.5, 1.0)}


def test_a_question_that_differs_for_one_id_is_named_with_both_texts() -> None:
    before, after = records("q1 1>1 q2 1>1")
    set_field([*before, *after], question="how?")
    after[1]["question"] = "why?"
    with pytest.raises(InputError) as raised:
        make_pairs((make_run(before), make_run(after, "c.jsonl")))
    assert str(raised.value) == (
        "c.jsonl:2: sample 'q2' has another question in the candidate: 'why?', in the baseline 'how?'"
        "  (an id must stand for the same input in both runs; samples: {same_input: […]} says what is compared)"
    )


def test_many_differing_questions_are_cut_and_counted() -> None:
    before, after = records("q*30 1>1")
    set_field(before, question="old")
    set_field(after, question="new")
    with pytest.raises(InputError) as raised:
        make_pairs((make_run(before), make_run(after)))
    assert len(raised.value.problems) == 6
    assert raised.value.problems[-1].message.startswith("likewise 'q14', ")
    assert raised.value.problems[-1].message.endswith(" and 5 more")


def test_without_the_field_in_both_files_the_question_is_not_compared() -> None:
    before, after = records("q1 1>1")
    set_field(before, question="how?")
    assert make_pairs((make_run(before), make_run(after))).ids == ["q1"]


def test_a_field_that_the_policy_compares_must_be_there() -> None:
    assert refused("q1 1>1", samples="{at_least: 1, same_input: [context]}") == [
        "baseline.jsonl: samples.same_input: no record has a field 'context'"
    ]


def test_an_empty_list_compares_no_input() -> None:
    before, after = records("q1 1>1")
    set_field(before, question="a")
    set_field(after, question="b")
    assert make_pairs((make_run(before), make_run(after)), samples="{at_least: 1, same_input: []}").ids == [
        "q1"
    ]


@pytest.mark.parametrize("changed", [0, 1])
def test_every_attempt_must_answer_the_same_question(changed: int) -> None:
    before, after = records("q1 1>1,1")
    set_field([*before, *after], question="how?")
    after[changed]["question"] = "why?"
    with pytest.raises(
        InputError, match=r"candidate.jsonl:\d: sample 'q1' has another question in the candidate: 'why\?'"
    ):
        make_pairs((make_run(before), make_run(after)))


def test_too_few_pairs_are_no_verdict() -> None:
    assert refused("q*29 1>1", samples="{}") == [
        "candidate.jsonl: 29 pairs are too few for a verdict: samples.at_least is 30  (evaluate more questions, or "
        "lower samples: {at_least: …} knowing that fewer prove less)"
    ]
    assert len(make_pairs("q*30 1>1", samples="{}").ids) == 30


def test_the_same_records_are_known_in_any_order() -> None:
    before, _ = records("q1 en 1>1 q2 de 0>1 q3 ?>1")
    first, second = make_run(before, "b"), make_run(before[::-1], "c")
    assert first.sha256 != second.sha256
    assert records_are_the_same(first, second)
    assert make_pairs((first, second), missing="{drop_at_most: 1}").identical


@pytest.mark.parametrize("seed", range(5))
def test_the_same_attempts_are_known_in_any_order(seed: int) -> None:
    """Three attempts at each of forty questions, some without a score: nothing but the order of lines changed."""
    rng = np.random.default_rng(seed)
    before, _ = records(" ".join(f"q{n} en 0.{n % 7},?,0.5>1" for n in range(40)))
    after = [before[row] for row in rng.permutation(len(before))] if seed else before[::-1]
    first, second = make_run(before, "b"), make_run(after, "c")
    assert first.sha256 != second.sha256
    assert records_are_the_same(first, second)


@pytest.mark.parametrize("change", ["swap", "twice", "moved"])
def test_other_attempts_are_other_records(change: str) -> None:
    before, _ = records("q1 0,1,1>1 q2 0,1,0>1")
    after = [{**record, "metrics": dict(record["metrics"])} for record in before[::-1]]
    if change == "swap":  # the numbers of q1 and q2 trade places: each column holds the same ones
        after[0]["metrics"], after[3]["metrics"] = after[3]["metrics"], after[0]["metrics"]
    elif change == "twice":
        after[0] = after[1]
    else:  # within one question, another attempt is the good one
        after[3]["metrics"], after[5]["metrics"] = after[5]["metrics"], after[3]["metrics"]
    assert not records_are_the_same(make_run(before, "b"), make_run(after, "c"))


@pytest.mark.parametrize("section", ["metrics", "slices", "latency_ms", "question", "id", "length", "extra"])
def test_any_difference_makes_records_differ(section: str) -> None:
    before, _ = records("q1 en 1>1 q2 de 0>1 q3 en 1>1")
    set_field(before, question="a", latency_ms=5)
    after = [
        {**record, "metrics": dict(record["metrics"]), "slices": dict(record["slices"])} for record in before
    ]
    if section in ("metrics", "slices"):
        after[1][section] = {"score": 0.5} if section == "metrics" else {"language": "en"}
    elif section == "length":
        after.pop()
    elif section == "extra":
        set_field(after, judge="x")
    else:
        after[1][section] = "other" if section != "latency_ms" else 6
    assert not records_are_the_same(make_run(before), make_run(after, "c"))


def test_equal_scores_are_not_the_same_records() -> None:
    before, after = records("q*5 1>1")
    set_field(after, answer="another text")
    assert not make_pairs((make_run(before), make_run(after))).identical


def test_a_run_alone_is_paired_with_nothing() -> None:
    _, candidate = make_runs("q1 1>1 q2 1>0")
    pairs = make_pairs((None, candidate))
    assert pairs.first_run
    assert pairs.metrics["score"].baseline is None
    assert np.array_equal(pairs.metrics["score"].candidate.value, [1.0, 0.0])
    assert not pairs.identical
