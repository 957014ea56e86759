"""Slices and clusters come from labels on which both runs agree; a blank label is a slice of its own."""

# ruff: noqa: E501, ISC004  (lines of output stand here whole)

from __future__ import annotations

import pytest

from gateline.errors import GatelineError, InputError, NotComparable, PolicyError
from gateline.pairing import Pairs
from gateline.pairing.labels import Labels
from gateline.samples import Run
from runs import Record, make_pairs, make_run, records, set_field

BY = "{id: r, kind: tolerance, metric: score, worse_by_at_most: 0.1, slices: true}"

LOSSY = {"samples": "{at_least: 1, on_mismatch: intersect}", "missing": "{drop_at_most: 1}"}


def named(rule_slice: str) -> str:
    return f"{{id: r, kind: tolerance, metric: score, worse_by_at_most: 0.1, slice: {rule_slice}}}"


def members(pairs: Pairs, name: str | None) -> list[str]:
    return [pairs.ids[row] for row in pairs.labels.rows(name)]


def golden(*rows: Record) -> Run:
    return make_run([{"metrics": {}, "slices": {}, **row} for row in rows], "golden.jsonl")


def problems(error: pytest.ExceptionInfo[GatelineError]) -> list[str]:
    return [str(problem) for problem in error.value.problems]


def test_each_value_of_a_label_is_a_slice_and_blank_ones_are_none() -> None:
    pairs = make_pairs("q1 de 1>1 q2 en 1>1 q3 1>1 q4 de 1>0", BY, slices="{by: [language]}")
    assert pairs.labels.family("language") == ["language=de", "language=en", "language=(none)"]
    assert members(pairs, "language=de") == ["q1", "q4"]
    assert members(pairs, "language=(none)") == ["q3"]
    assert pairs.facts is not None
    assert pairs.facts.slices == {"language=de": 2, "language=en": 1, "language=(none)": 1}


@pytest.mark.parametrize("blank", ["", "   ", None, []])
def test_absent_null_and_blank_labels_are_the_same_slice(blank: object) -> None:
    before, after = records("q1 de 1>1 q2 1>1 q3 1>1")
    for side in (before, after):
        side[1]["slices"]["language"] = blank
    pairs = make_pairs((make_run(before), make_run(after)), BY, slices="{by: [language]}")
    assert members(pairs, "language=(none)") == ["q2", "q3"]


def test_slices_of_one_label_add_up_to_the_whole() -> None:
    pairs = make_pairs("a*3 de 1>1 b*4 en 1>1 c*5 1>1", BY, slices="{by: [language]}")
    found = [name for place in pairs.labels.family("language") for name in members(pairs, place)]
    assert sorted(found) == members(pairs, None)


def test_a_list_of_tags_puts_a_question_into_each() -> None:
    before, after = records("q1 1>1 q2 1>1")
    for side in (before, after):
        side[0]["slices"]["tags"] = ["b", "a", "b"]
        side[1]["slices"]["tags"] = ["a"]
    pairs = make_pairs((make_run(before), make_run(after)), BY, slices="{by: [tags]}")
    assert pairs.labels.family("tags") == ["tags=a", "tags=b"]
    assert members(pairs, "tags=a") == ["q1", "q2"]
    assert members(pairs, "tags=b") == ["q1"]


def test_a_named_slice_asks_for_all_its_labels_and_for_any_of_the_values() -> None:
    pairs = make_pairs(
        "q1 de risk=high 1>1 q2 en risk=high 1>1 q3 fr risk=high 1>1 q4 de risk=low 1>1",
        named("dach"),
        slices="{named: {dach: {language: [de, fr], risk: high}}}",
    )
    assert members(pairs, "dach") == ["q1", "q3"]


def test_a_named_slice_may_ask_for_the_blank_label() -> None:
    pairs = make_pairs("q1 de 1>1 q2 1>1", named("language=(none)"))
    assert members(pairs, "language=(none)") == ["q2"]


def test_labels_are_found_among_the_fields_of_a_record_too() -> None:
    before, after = records("q1 1>1 q2 1>1")
    for side in (before, after):
        side[0]["intent"], side[1]["intent"] = "refund", "greeting"
    pairs = make_pairs((make_run(before), make_run(after)), named("intent=refund"))
    assert members(pairs, "intent=refund") == ["q1"]


def test_numbers_as_labels_are_texts_as_people_write_them() -> None:
    before, after = records("q1 1>1 q2 1>1")
    for side in (before, after):
        side[0]["level"], side[1]["level"] = 1, 2.5
    pairs = make_pairs((make_run(before), make_run(after)), BY, slices="{by: [level]}")
    assert pairs.labels.family("level") == ["level=1", "level=2.5"]


@pytest.mark.parametrize(
    ("rule", "slices", "said"),
    [
        (BY, "{by: [langage]}", "no sample of either run has a label 'langage'  (did you mean 'language'?)"),
        (named("language=dee"), "{}", "no sample of either run has language=dee  (did you mean 'de'?)"),
        (named("german"), "{named: {german: {language: ger}}}", "no sample of either run has language=ger  (known: de, en)"),
        (named("german"), "{named: {german: {lang: de}}}", "no sample of either run has a label 'lang'  (did you mean 'language'?)"),
    ],
)  # fmt: skip
def test_a_slice_that_no_sample_carries_is_a_policy_error_with_the_nearest_name(
    rule: str, slices: str, said: str
) -> None:
    with pytest.raises(PolicyError) as raised:
        make_pairs("q1 de 1>1 q2 en 1>1", rule, slices=slices)
    assert problems(raised) == [f"policy.yml:7  r: {said}"]


def test_a_named_slice_that_no_rule_looks_at_may_be_empty() -> None:
    assert make_pairs("q1 de 1>1", named("language=de"), slices="{named: {other: {language: en}}}").ids == [
        "q1"
    ]


def test_a_label_that_differs_between_the_runs_is_refused_and_named() -> None:
    before, after = records("q1 de 1>1 q2 de 1>1 q3 en 1>1")
    after[1]["slices"]["language"] = "en"
    with pytest.raises(NotComparable) as raised:
        make_pairs((make_run(before), make_run(after)), named("language=de"))
    assert problems(raised) == [
        "candidate.jsonl:2: sample 'q2' is language=en in the candidate and language=de in the baseline",
        "candidate.jsonl: another label language in the candidate for 1 of 3 questions  (a label that the policy slices by "
        "must not change between the runs; keep such labels in the golden set)",
    ]


def test_a_label_that_no_rule_looks_at_may_change() -> None:
    before, after = records("q1 de 1>1")
    after[0]["slices"]["language"] = "en"
    assert make_pairs((make_run(before), make_run(after))).ids == ["q1"]


def test_a_label_that_the_candidate_lost_still_holds() -> None:
    """Blanking a label must not move a question out of a slice that a rule guards."""
    before, after = records("q1 de 1>1 q2 en 1>1")
    after[0]["slices"] = {}
    pairs = make_pairs((make_run(before), make_run(after)), named("language=de"))
    assert members(pairs, "language=de") == ["q1"]


@pytest.mark.parametrize("row", [0, 1])
def test_attempts_at_one_question_must_have_the_same_label(row: int) -> None:
    before, after = records("q1 de 1>1,1 q2 en 1>1")
    after[row]["slices"]["language"] = "en"
    with pytest.raises(
        InputError, match=r"attempts at 'q1' have different labels: language=.. and language=.."
    ):
        make_pairs((make_run(before), make_run(after)), named("language=de"))


def test_an_attempt_without_a_label_has_that_of_the_others() -> None:
    before, after = records("q1 de 1>1,1 q2 en 1>1,1")
    del after[0]["slices"]["language"], before[0]["slices"]["language"]
    pairs = make_pairs((make_run(before), make_run(after)), named("language=de"))
    assert members(pairs, "language=de") == ["q1"]


def test_labels_of_the_golden_set_count_before_those_of_the_runs() -> None:
    before, after = records("q1 de 1>1 q2 1>1")
    after[0]["slices"]["language"] = "en"
    pairs = make_pairs(
        (make_run(before), make_run(after)),
        named("language=de"),
        golden=golden({"id": "q1", "language": "de"}, {"id": "q2", "language": "de"}),
    )
    assert members(pairs, "language=de") == ["q1", "q2"]


def test_the_golden_set_settles_attempts_that_disagree() -> None:
    before, after = records("q1 de 1,1,1>1,1,1 q2 en 1>1")
    after[1]["slices"]["language"] = "en"
    for order in (after, after[::-1]):
        pairs = make_pairs(
            (make_run(before), make_run(order)),
            named("language=de"),
            golden=golden({"id": "q1", "language": "de"}, {"id": "q2", "language": "en"}),
        )
        assert members(pairs, "language=de") == ["q1"]


@pytest.mark.parametrize("blank", ["", "   ", None, []])
def test_a_blank_label_of_the_golden_set_leaves_a_question_where_the_runs_have_it(blank: object) -> None:
    """Blanking labels of the golden set must not empty a slice that a hard rule guards."""
    pairs = make_pairs(
        "q1 risk=high 1>0 q2 risk=low 1>1",
        "{id: r, kind: limit, metric: score, at_least: 1, slice: risk=high, hard: true}",
        golden=golden({"id": "q1", "risk": blank}, {"id": "q2", "risk": "low"}),
    )
    assert members(pairs, "risk=high") == ["q1"]


def test_where_the_golden_set_is_silent_the_runs_must_agree() -> None:
    before, after = records("q1 de 1>1 q2 en 1>1")
    after[0]["slices"]["language"] = "en"
    with pytest.raises(NotComparable, match="another label language in the candidate for 1 of 2 questions"):
        make_pairs(
            (make_run(before), make_run(after)),
            named("language=en"),
            golden=golden({"id": "q1", "language": ""}, {"id": "q2", "language": "en"}),
        )


@pytest.mark.parametrize("silent", ["none", "baseline", "candidate", "no baseline"])
def test_a_golden_set_that_contradicts_the_runs_is_refused_and_names_the_questions(silent: str) -> None:
    before, after = records("q*7 risk=high 1>0 r risk=low 1>1")
    for side, word in ((before, "baseline"), (after, "candidate")):
        for record in side if word == silent else ():
            record["slices"] = {}
    asked = golden(*({"id": f"q{n}", "risk": "low"} for n in range(1, 8)), {"id": "r", "risk": "low"})
    baseline = None if silent == "no baseline" else make_run(before)
    with pytest.raises(NotComparable) as raised:
        make_pairs((baseline, make_run(after)), named("risk=low"), golden=asked)
    assert str(raised.value).startswith("golden.jsonl:1: ")
    assert problems(raised) == [
        *(
            f"golden.jsonl:{n}: sample 'q{n}' is risk=low in the golden set and risk=high in the runs"
            for n in range(1, 6)
        ),
        "golden.jsonl: another label risk in the golden set than in the runs for 7 questions; likewise 'q6', 'q7'"
        "  (a label that the policy slices by must not change; correct it where it is wrong, or run both anew)",
    ]


def test_a_golden_set_may_not_relabel_a_question_that_the_candidate_lost() -> None:
    pairs = make_pairs("q1 risk=high 1>1 q2 risk=high 1>- q3 risk=low 1>1", named("risk=high"), **LOSSY)
    assert pairs.labels.lost_in("risk=high") == ["q2"]
    labels = Labels(pairs.ids, pairs.sides, golden({"id": "q2", "risk": "low"}), pairs.labels.terms, ["q2"])
    with pytest.raises(NotComparable, match="'q2' is risk=low in the golden set and risk=high in the runs"):
        labels.lost_in("risk=high")
    labels = Labels(pairs.ids, pairs.sides, golden({"id": "q2", "risk": ""}), pairs.labels.terms, ["q2"])
    assert labels.lost_in("risk=high") == ["q2"]


def slice_by_golden_set(before: list[Record], after: list[Record], right: str) -> list[str]:
    """Return what is language=de where a golden set says so of q1 or not."""
    labels = golden(
        {"id": "q1", "language": right}, {"id": "q2", "language": "de"}, {"id": "q3", "language": "en"}
    )
    runs = make_run(before), make_run(after)
    return members(make_pairs(runs, named("language=de"), golden=labels), "language=de")


@pytest.mark.parametrize("right", ["de", "en"])
def test_where_the_runs_disagree_the_golden_set_may_agree_with_either(right: str) -> None:
    before, after = records("q1 de 1>1 q2 de 1>1 q3 en 1>1")
    after[0]["slices"]["language"] = "en"
    assert slice_by_golden_set(before, after, right) == (["q1", "q2"] if right == "de" else ["q2"])


@pytest.mark.parametrize("right", ["de", "en"])
def test_attempts_that_disagree_are_where_the_golden_set_has_them(right: str) -> None:
    before, after = records("q1 de 1,1>1,1 q2 de 1>1 q3 en 1>1")
    before[1]["slices"]["language"] = after[0]["slices"]["language"] = "en"
    assert slice_by_golden_set(before, after, right) == (["q1", "q2"] if right == "de" else ["q2"])


def test_a_slice_does_not_go_away_with_its_last_question() -> None:
    """The kind of change that empties a slice: what the candidate lost stays in the family, with no pair."""
    pairs = make_pairs("q1 de 1>1 q2 en 1>- q3 1>- q4 de 1>1", BY, slices="{by: [language]}", **LOSSY)
    assert pairs.labels.family("language") == ["language=de", "language=en", "language=(none)"]
    assert [members(pairs, name) for name in pairs.labels.family("language")] == [["q1", "q4"], [], []]
    assert pairs.labels.lost_in("language=en") == ["q2"]
    assert pairs.labels.lost_in("language=(none)") == ["q3"]
    assert pairs.labels.lost_in(None) == ["q2", "q3"]


def test_a_lost_question_has_the_label_of_any_of_its_attempts() -> None:
    before, after = records("q1 de 1>1 q2 en 1,1,1>-")
    before[1]["slices"] = {}
    before[3]["slices"] = {}
    pairs = make_pairs((make_run(before), make_run(after)), BY, slices="{by: [language]}", **LOSSY)
    assert pairs.labels.lost_in("language=en") == ["q2"]
    assert pairs.labels.family("language") == ["language=de", "language=en"]


def test_a_lost_question_is_where_the_golden_set_has_it() -> None:
    pairs = make_pairs("q1 de 1>1 q2 1>- q3 en 1>-", named("language=de"), **LOSSY)
    asked = golden(
        {"id": "q1", "language": "de"}, {"id": "q2", "language": "fr"}, {"id": "q3", "language": ""}
    )
    labels = Labels(pairs.ids, pairs.sides, asked, pairs.labels.terms, ["q2", "q3"])
    assert labels.lost_in("language=fr") == ["q2"]
    assert labels.lost_in("language=en") == ["q3"]
    assert labels.family("language") == ["language=de", "language=en", "language=fr"]


def test_the_value_of_a_slice_may_hold_an_equals_sign() -> None:
    before, after = records("q1 rule=a 1>1 q2 rule=b 1>1")
    before[0]["slices"]["rule"] = after[0]["slices"]["rule"] = "x=y"
    pairs = make_pairs((make_run(before), make_run(after)), named("rule=x=y"))
    assert members(pairs, "rule=x=y") == ["q1"]


def test_a_label_that_the_golden_set_alone_has_is_known() -> None:
    asked = golden({"id": "q1", "risk": "high"}, {"id": "q2", "risk": "low"})
    pairs = make_pairs("q1 1>1 q2 1>1", named("risk=high"), golden=asked)
    assert members(pairs, "risk=high") == ["q1"]
    with pytest.raises(PolicyError) as raised:
        make_pairs("q1 1>1 q2 1>1", named("risk=hihg"), golden=asked)
    assert "high" in problems(raised)[0]
    grouped = make_pairs("q1 1>1 q2 1>1", golden=asked, samples="{at_least: 1, cluster: risk}")
    assert grouped.labels.clusters()[1] == ["risk=high", "risk=low"]


def test_questions_of_one_run_are_counted_in_the_slices_that_rules_look_at() -> None:
    """Those that only one run has: by named slice, by condition, by label, each id once, and where no label is."""
    before, after = records("q1 de 1>1 n1 de topic=a ->1,1 n2 fr topic=b ->1 n3 ->1 n4 de topic=b ->1")
    run = make_run(after)
    pairs = make_pairs(
        (make_run(before), run),
        named("hard-topics"),
        named("language=de").replace("id: r", "id: german"),
        BY.replace("id: r", "id: each"),
        slices="{by: [language], named: {hard-topics: {topic: [a, b], language: [de, fr]}}}",
        samples="{at_least: 1, on_mismatch: intersect}",
        missing="{drop_at_most: 1}",
    )
    assert pairs.labels.count_by_slice(["n1", "n2", "n3", "n4"], run) == {
        "hard-topics": 3,
        "language=de": 2,
        "language=fr": 1,
        "language=(none)": 1,
    }
    assert pairs.labels.count_by_slice(["n3"], run) == {"language=(none)": 1}
    assert pairs.labels.count_by_slice([], run) == {}
    bare = make_run([{"id": "n1", "metrics": {"score": 1.0}, "slices": {}}])
    assert pairs.labels.count_by_slice(["n1"], bare) == {"language=(none)": 1}


def test_where_runs_disagree_five_questions_are_shown_with_line_and_both_labels() -> None:
    before, after = records("q*7 de 1>1")
    for record in after:
        record["slices"]["language"] = "en"
    with pytest.raises(NotComparable) as raised:
        make_pairs((make_run(before, "baseline.jsonl"), make_run(after)), named("language=de"))
    found = problems(raised)
    assert found[:5] == [
        f"candidate.jsonl:{n}: sample 'q{n}' is language=en in the candidate and language=de in the baseline"
        for n in range(1, 6)
    ]
    assert len(found) == 6
    assert found[5].startswith(
        "candidate.jsonl: another label language in the candidate for 7 of 7 questions"
    )


def test_both_runs_must_answer_the_golden_set() -> None:
    with pytest.raises(NotComparable) as raised:
        make_pairs("q1 1>1 q2 1>1", golden=golden({"id": "q1"}, {"id": "q2"}, {"id": "q3"}, {"id": "q4"}))
    assert problems(raised) == [
        f"{file}: 2 of 4 questions of the golden set golden.jsonl are not answered: 'q3', 'q4'"
        for file in ("baseline.jsonl", "candidate.jsonl")
    ]


def test_questions_outside_the_golden_set_are_left_out_and_told() -> None:
    pairs = make_pairs("q1 1>1 q2 1>1 x1 1>0 x2 1>0", golden=golden({"id": "q1"}, {"id": "q2"}))
    assert pairs.ids == ["q1", "q2"]
    assert "2 questions are not in the golden set golden.jsonl and are left out: 'x1', 'x2'" in pairs.notices


def test_a_golden_set_that_asks_a_question_twice_is_refused() -> None:
    with pytest.raises(InputError) as raised:
        make_pairs("q1 1>1 q2 1>1", golden=golden({"id": "q1"}, {"id": "q2"}, {"id": "q1"}))
    assert problems(raised) == ["golden.jsonl:3: the id 'q1' stands twice in the golden set, first in line 1"]


def test_each_question_is_its_own_cluster_by_default() -> None:
    pairs = make_pairs("q1 0,1>1,1 q2 1>1")
    assert pairs.cluster.tolist() == [0, 1]
    assert pairs.cluster_names == ["q1", "q2"]


def test_equal_values_of_the_cluster_field_are_one_cluster() -> None:
    before, after = records("q1 1>1 q2 1>1 q3 1>1 q4 1>1")
    for side in (before, after):
        side[0]["doc"] = side[2]["doc"] = "d1"
        side[1]["doc"] = "d0"
    pairs = make_pairs((make_run(before), make_run(after)), samples="{at_least: 1, cluster: doc}")
    names = [pairs.cluster_names[code] for code in pairs.cluster]
    assert names == ["doc=d1", "doc=d0", "doc=d1", "id=q4"]
    assert pairs.facts is not None
    assert pairs.facts.clusters == 3


def test_a_cluster_field_that_is_nowhere_is_a_policy_error() -> None:
    before, after = records("q1 1>1")
    set_field([*before, *after], doc_id="d")
    with pytest.raises(
        PolicyError,
        match=r"no record has the field 'doc_ids' that samples.cluster names  \(did you mean 'doc_id'",
    ):
        make_pairs((make_run(before), make_run(after)), samples="{at_least: 1, cluster: doc_ids}")
