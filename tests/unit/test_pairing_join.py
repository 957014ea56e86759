"""Records are joined by id and never by position; what is ambiguous is refused and named."""

# ruff: noqa: ISC004  (lines of output stand here whole)

from __future__ import annotations

import re

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
        "  (run both on the same golden set; to compare the rest alone takes both samples: {on_mismatch: intersect} "
        "and missing: {drop_at_most: 66.7%})",
    ]


@pytest.mark.parametrize(
    "runs",
    [
        "a*40 1>1 b 1>-",
        "a*40 1>1 b*3 1>-",
        "a*30 1>1 b*90 1>- c*2 ->1",
        "a*40 1>1 c*9 ->1",
        "a*7 1>1 b*3 1>-",
    ],
)
def test_what_the_hint_on_other_ids_says_leads_to_a_comparison(runs: str) -> None:
    """All that it takes stands in one hint; where no setting would help, none is named."""
    with pytest.raises(NotComparable) as raised:
        make_pairs(runs, samples="{at_least: 30}")
    hint = raised.value.problems[-1].hint
    settings = dict(re.findall(r"(samples|missing): (\{.*?\})", hint))
    if not settings:
        assert "7 in common are too few, samples.at_least is 30" in hint
        return
    settings["samples"] = settings["samples"].replace("{", "{at_least: 30, ")
    assert len(make_pairs(runs, **settings).ids) >= 30


def test_many_ids_in_one_run_only_are_cut_and_counted() -> None:
    lost, new = refused("q 1>1 a*12 1>- b*14 ->1")
    assert lost.endswith("'a1', 'a10', 'a11', 'a12', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7' and 2 more")
    assert "'b1', 'b10', 'b11', 'b12', 'b13', 'b14', 'b2', 'b3', 'b4', 'b5' and 4 more  (run both" in new
    (apart,) = refused("a*5 1>- b*7 ->1")
    assert apart.endswith(
        "(the baseline has 'a1', 'a2', 'a3' and 2 more, the candidate 'b1', 'b2', 'b3' and 4 more)"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q1 1>1 q2 1>-", "candidate.jsonl: 1 of 2 questions of the baseline are not in the candidate: 'q2'"),
        ("q1 1>1 q2 ->1", "baseline.jsonl: 1 of 2 questions of the candidate are not in the baseline: 'q2'"),
    ],
)
def test_one_question_in_one_run_only_is_enough_to_refuse(text: str, told: str) -> None:
    with pytest.raises(NotComparable) as raised:
        make_pairs(text)
    (problem,) = raised.value.problems
    assert str(problem).startswith(f"{told}  (run both on the same golden set")
    assert raised.value.headline == "the two runs did not answer the same questions"


@pytest.mark.parametrize(
    ("text", "repeats", "several"),
    [
        ("q1 1>1 q2 1>1", "mean", False),
        ("q1 1,1>1,1 q2 1,1>1,1", "mean", True),
        ("q1 1,1>1,1 q2 1,1>1,1", "last", False),
        ("q1 1>1,1 q2 1>1,1", "mean", True),
    ],
)
def test_a_verdict_tells_whether_several_attempts_are_compared(
    text: str, repeats: str, several: bool
) -> None:
    facts = make_pairs(text, samples=f"{{at_least: 1, repeats: {repeats}}}").facts
    assert facts is not None
    assert facts.attempts is several


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\u00e91", "e\u03011"),
        (" q1", "q1"),
        ("q  1", "q 1"),
        ("Q1", "q1"),
        ("007", "7"),
        ("7.0", "7"),
        ("000", "0"),
    ],
)
@pytest.mark.parametrize("shared", [False, True])
def test_ids_that_are_easily_taken_for_one_are_named_and_not_another_set(
    before: str, after: str, shared: bool
) -> None:
    sides = [[name, "zz", *(["both"] if shared else [])] for name in (before, after)]
    sides[1][1] = "yy"
    first, second = ([{"id": name, "metrics": {"score": 1}} for name in side] for side in sides)
    with pytest.raises(NotComparable) as raised:
        make_pairs((make_run(first, "b.jsonl"), make_run(second, "c.jsonl")))
    hint = raised.value.problems[-1].hint
    assert f"'{before}' of the baseline and '{after}' of the candidate differ only in blanks" in str(hint)


def test_other_ids_are_not_called_alike() -> None:
    for before, after in (("a1", "a10"), ("10", "1"), ("0", "00.5"), ("a b", "a.b")):
        first, second = ([{"id": name, "metrics": {"score": 1}}] for name in (before, after))
        with pytest.raises(NotComparable, match=r"no question in common .*the baseline has"):
            make_pairs((make_run(first, "b.jsonl"), make_run(second, "c.jsonl")))


def test_an_id_that_stands_twice_without_attempts_is_refused_with_its_lines() -> None:
    before, after = records("q1 1>1 q2 1>1")
    with pytest.raises(InputError) as raised:
        make_pairs((make_run(before, "b"), make_run([*after, after[0], after[1]], "c.jsonl")))
    assert str(raised.value) == (
        "c.jsonl:3: the id 'q1' stands 2 times, in lines 1, 3; so does 1 other id  (where these are attempts at one "
        "question, number them in the field 'attempt' or name the field that does: samples: {repeat_field: …})"
    )


def test_an_id_that_stands_many_times_is_told_with_its_first_lines() -> None:
    before, after = records("q1 1>1 q2 1>1")
    for times, lines in ((5, "1, 2, 3, 4, 5"), (6, "1, 2, 3, 4, 5, …"), (7, "1, 2, 3, 4, 5, …")):
        many = [*[after[0]] * times, after[1]]
        with pytest.raises(InputError, match=rf"stands {times} times, in lines {lines}  \(where these"):
            make_pairs((make_run(before), make_run(many, "c.jsonl")))


@pytest.mark.parametrize("repeats", ["mean", "last"])
@pytest.mark.parametrize("number", [None, "", " "])
def test_attempts_of_which_one_has_no_number_are_refused(number: str | None, repeats: str) -> None:
    """Which one it is can not be known; another question's numbers are not asked."""
    before, after = records("q0 1,1>1,1 q1 1,0>1,0")
    after[-1]["attempt"] = number
    runs = make_run(before), make_run(after, "c.jsonl")
    with pytest.raises(InputError, match=r"c\.jsonl:4: the id 'q1' stands 2 times, in lines 3, 4  "):
        make_pairs(runs, samples=f"{{at_least: 1, repeats: {repeats}}}")
    after[-1]["attempt"], after[0]["attempt"] = 2, "1"
    make_pairs((runs[0], make_run(after)), samples=f"{{at_least: 1, repeats: {repeats}}}")


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
    (told,) = refused("q1 0,1>1", samples="{at_least: 1, repeats: refuse}")
    assert told.startswith("baseline.jsonl:2: the id 'q1' stands 2 times, in lines 1, 2  (")
    assert "samples: {repeats: refuse} does not allow attempts" in told


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
    assert raised.value.headline == "one id stands for different inputs"
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


def test_each_field_that_the_policy_compares_is_asked_of_both_runs() -> None:
    samples = "{at_least: 1, same_input: [question, context]}"
    before, after = records("q1 1>1 q2 1>1")
    set_field([*before, *after], question="how?")
    set_field(before, context="c")
    told = "candidate.jsonl: samples.same_input: no record has a field 'context'"
    with pytest.raises(InputError) as raised:
        make_pairs((make_run(before, "baseline.jsonl"), make_run(after)), samples=samples)
    assert str(raised.value) == told
    set_field(after, context="d")
    with pytest.raises(InputError) as raised:
        make_pairs((make_run(before, "baseline.jsonl"), make_run(after)), samples=samples)
    assert [str(one).partition(":")[2].partition(",")[0] for one in raised.value.problems] == [
        "1: sample 'q1' has another context in the candidate: 'd'",
        "2: sample 'q2' has another context in the candidate: 'd'",
    ]
    set_field(after, context="c")
    assert make_pairs((make_run(before), make_run(after)), samples=samples).ids == ["q1", "q2"]


@pytest.mark.parametrize("side", [0, 1])
def test_a_record_that_failed_need_not_repeat_its_question(side: int) -> None:
    """Some tools write an error and nothing else; without one, a blank question is another one."""
    both = records("q1 1>1 q2 1,1>1,1 q3 1>1")
    set_field([*both[0], *both[1]], question="how?")
    bare = both[side][1]
    bare["question"] = ""
    with pytest.raises(InputError, match="sample 'q2' has another question"):
        make_pairs((make_run(both[0], "b"), make_run(both[1], "c")))
    bare["error"] = "judge_failed"
    parts = {
        "missing": "{drop_at_most: 1}",
        "samples": "{at_least: 1, uneven_attempts: allow}",
    }
    assert make_pairs((make_run(both[0], "b"), make_run(both[1], "c")), **parts).ids == ["q1", "q2", "q3"]
    bare["question"] = "why?"  # an error excuses silence, and no other question
    with pytest.raises(InputError, match="sample 'q2' has another question"):
        make_pairs((make_run(both[0], "b"), make_run(both[1], "c")), **parts)
    bare["question"] = ""
    both[side][0]["question"] = ""  # the error is another record's
    with pytest.raises(InputError, match="sample 'q1' has another question"):
        make_pairs((make_run(both[0], "b"), make_run(both[1], "c")), **parts)


@pytest.mark.parametrize("count", range(1, 8))
def test_five_differing_questions_are_told_one_by_one_and_the_last_says_what_to_do(count: int) -> None:
    before, after = records(f"q*{count} 1>1 x 1>1")
    set_field([*before, *after], question="old")
    set_field(after[:count], question="new")
    with pytest.raises(InputError) as raised:
        make_pairs((make_run(before), make_run(after, "c.jsonl")))
    told = [str(problem) for problem in raised.value.problems]
    ids = sorted(f"q{number}" for number in range(1, count + 1))
    assert [one.partition(" has")[0].rpartition(" ")[2] for one in told[:5]] == [
        f"'{one}'" for one in ids[:5]
    ]
    assert [index for index, one in enumerate(told) if "an id must stand for the same input" in one] == [
        min(count, 5) - 1
    ]
    assert told[5:] == ([f"c.jsonl: likewise {', '.join(repr(one) for one in ids[5:])}"] if count > 5 else [])


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
    assert records_are_the_same(first, first)
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


@pytest.mark.parametrize("section", ["metrics", "slices", "fields"])
def test_a_column_more_in_either_run_makes_records_differ(section: str) -> None:
    before, _ = records("q1 en 1>1 q2 de 0>1")
    more = [{**one, "metrics": dict(one["metrics"]), "slices": dict(one["slices"])} for one in before]
    for record in more:
        (record if section == "fields" else record[section])["extra"] = "x" if section == "slices" else 1
    for pair in ((before, more), (more, before)):
        assert not records_are_the_same(make_run(pair[0]), make_run(pair[1], "c"))


def test_a_column_of_numbers_is_not_one_of_texts() -> None:
    before, _ = records("q1 1>1 q2 0>1")
    as_text = [{**one, "metrics": {"score": str(one["metrics"]["score"])}} for one in before]
    for pair in ((before, as_text), (as_text, before)):
        assert not records_are_the_same(make_run(pair[0]), make_run(pair[1], "c"))


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
