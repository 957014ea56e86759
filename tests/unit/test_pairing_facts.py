"""What a verdict tells of the pairing: what is left out where, by which cause, and what a reader should notice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateline.errors import NotComparable
from gateline.pairing.facts import LeftOutValues, Pairing
from gateline.samples import Run
from runs import make_pairs, make_run, make_runs, records, set_field, set_metric

ANY = {"missing": "{drop_at_most: 1}"}
INTERSECT = "{at_least: 1, on_mismatch: intersect}"
FAMILY = "{id: r, kind: limit, metric: score, at_least: 0, slices: [language]}"


def facts_of(runs: str | tuple[Run | None, Run], *rules: str, **parts: str) -> Pairing:
    facts = make_pairs(runs, *rules, **{**ANY, **parts}).facts
    assert facts is not None
    return facts


def told(values: list[LeftOutValues]) -> list[tuple[str, str | None, str, int, int, list[str]]]:
    return [(one.run, one.slice, one.cause, one.samples, one.of, one.ids) for one in values]


def test_each_slice_of_a_family_is_counted_with_what_is_left_out_of_it() -> None:
    found = facts_of("a*7 en 1>? b*2 de 1>? c de 1>1 d fr 1>1", FAMILY)
    assert found.slices == {"language=de": 3, "language=en": 7, "language=fr": 1}
    assert found.paired == found.clusters == 11
    assert told(found.no_score) == [
        ("candidate", None, "no_score", 9, 11, ["a1", "a2", "a3", "a4", "a5"]),
        ("candidate", "language=de", "no_score", 2, 3, ["b1", "b2"]),
        ("candidate", "language=en", "no_score", 7, 7, ["a1", "a2", "a3", "a4", "a5"]),
    ]


def test_what_is_left_out_is_told_of_what_the_metric_is_asked_of() -> None:
    metrics = "{score: {better: higher, range: [0, 1], applies_to: language=de}}"
    found = facts_of("a*2 en ?>? b*2 de 1>? c de 1>1", FAMILY, metrics=metrics)
    assert told(found.no_score) == [
        ("candidate", None, "no_score", 2, 3, ["b1", "b2"]),
        ("candidate", "language=de", "no_score", 2, 3, ["b1", "b2"]),
    ]


def test_a_metric_without_any_value_is_told_whole() -> None:
    found = facts_of("a*3 1>?")
    assert told(found.no_score) == [("candidate", None, "no_score", 3, 3, ["a1", "a2", "a3"])]


def test_in_a_run_alone_what_is_left_out_is_the_candidates() -> None:
    found = facts_of((None, make_runs("a 1>1 b 1>? c 1>!")[1]))
    assert told(found.no_score) == [("candidate", None, "no_score", 1, 3, ["b"])]
    assert told(found.no_answer) == [("candidate", None, "no_answer", 1, 3, ["c"])]


def test_at_most_twenty_ids_of_one_run_alone_are_kept_and_all_counted() -> None:
    found = facts_of("q en 1>1 a*21 en 1>- b*21 de 0>-", FAMILY, samples=INTERSECT)
    lost, new = found.only_in_baseline, found.only_in_candidate
    assert lost.ids == sorted([f"a{n}" for n in range(1, 22)])[:20]
    assert (lost.samples, lost.passed, lost.slices) == (42, 21, {"language=de": 21, "language=en": 21})
    assert (new.samples, new.passed, new.slices, new.ids) == (0, None, {}, [])


def test_of_ratios_alone_nobody_is_said_to_have_passed() -> None:
    sides = records("q 1>1 a 1>-")
    for side in sides:
        set_metric(side, "bad", [0.0] * len(side))
    metrics = "{rate: {better: lower, ratio: [bad, score]}}"
    rule = "{id: r, kind: limit, metric: rate, at_most: 1}"
    runs = make_run(sides[0]), make_run(sides[1])
    found = facts_of(runs, rule, metrics=metrics, samples=INTERSECT)
    assert (found.only_in_baseline.samples, found.only_in_baseline.passed) == (1, None)


def test_a_score_beside_an_error_is_noticed_whichever_metric_has_it() -> None:
    """Times and costs stand beside errors by right."""
    sides = records("a 1>1 b 1>1 c 1>? d 1>?")
    set_metric(sides[0], "other", [1.0] * 4)
    set_metric(sides[1], "other", [None, None, 1.0, None])
    for side in sides:
        set_field(side, latency_ms=5.0, cost_usd=1.0)
    for record in sides[1][1:]:
        record["error"] = "judge_failed"
    runs = make_run(sides[0], "b"), make_run(sides[1], "c")
    metrics = ("{score: {better: higher}, other: {better: higher}, latency_ms: {better: lower}, "
               "cost_usd: {better: lower}}")  # fmt: skip
    notices = make_pairs(runs, metrics=metrics, **ANY).notices
    assert notices == ["c: 2 records carry both a score and an error; the score is not used"]


def test_every_notice_stands_beside_the_others_in_order() -> None:
    baseline, candidate = make_runs("a*9 1>1,1 b 1>1,0")
    runs = replace(baseline, warnings=("old",)), replace(candidate, warnings=("one", "two"))
    assert make_pairs(runs, **ANY).notices == [
        "questions were tried 1 × in the baseline, 2 × in the candidate",
        "baseline.jsonl: old",
        "candidate.jsonl: one",
        "candidate.jsonl: two",
    ]


@pytest.mark.parametrize("nameless", [(0,), (1,), (0, 1)])
def test_every_run_whose_records_nothing_identifies_is_told(nameless: tuple[int, ...]) -> None:
    runs = list(make_runs("a*3 1>1"))
    for at in nameless:
        runs[at] = replace(runs[at], unpaired="only their place tells them apart")
    with pytest.raises(NotComparable) as raised:
        make_pairs(runs)
    assert raised.value.headline == "records that nothing identifies can't be paired"
    files = ("baseline.jsonl", "candidate.jsonl")
    assert [str(one) for one in raised.value.problems] == [
        f"{files[at]}: only their place tells them apart" for at in nameless
    ]


def test_records_that_nothing_identifies_answer_no_golden_set() -> None:
    run = replace(make_runs("a 1>1")[1], unpaired="only their place tells them apart")
    golden = make_run([{"id": "a"}], "golden.jsonl")
    with pytest.raises(NotComparable, match=r"^candidate\.jsonl: only their place tells them apart$"):
        make_pairs((None, run), golden=golden)


def test_each_run_that_does_not_answer_the_golden_set_is_told() -> None:
    golden = make_run([{"id": f"a{number:02}"} for number in range(1, 14)], "golden.jsonl")
    baseline, candidate = make_runs("a01 1>1 b 1>1")
    with pytest.raises(NotComparable) as raised:
        make_pairs((baseline, candidate), golden=golden)
    assert raised.value.headline == "a run does not answer the golden set"
    told = [str(one) for one in raised.value.problems]
    assert [one.partition(":")[0] for one in told] == ["baseline.jsonl", "candidate.jsonl"]
    for one in told:
        assert "12 of 13" in one and "golden.jsonl" in one
        assert "'a02', 'a03', 'a04', 'a05', 'a06', 'a07', 'a08', 'a09', 'a10', 'a11' and 2 more" in one


def test_without_a_golden_set_nothing_lies_outside_of_it() -> None:
    golden = make_run([{"id": "a"}], "golden.jsonl")
    runs = make_runs("a 1>0 b 1>0 c 1>1")
    assert make_pairs(runs).notices == []
    (notice,) = make_pairs(runs, golden=golden).notices
    assert notice.startswith("2 questions are not in the golden set golden.jsonl and are left out: 'b', 'c'")
    assert make_pairs(runs, golden=golden).ids == ["a"]
    whole = make_run([{"id": name} for name in "abc"], "golden.jsonl")
    assert make_pairs(runs, golden=whole).notices == []
