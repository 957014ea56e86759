# ruff: noqa: E501, ISC004  (lines of output stand here whole)
"""What must match is present, of one piece and equal; every other difference is told."""

from __future__ import annotations

from typing import Any

import pytest

from gateline.errors import NotComparable
from gateline.pairing import state_facts
from runs import make_pairs, make_run, records, set_field

Header = dict[str, Any]


def changed(
    before: Header, after: Header, provenance: str = "{}"
) -> list[tuple[str, str | None, str | None, str]]:
    first, second = records("q1 1>1 q2 1>0")
    pairs = make_pairs((make_run(first, "b", before), make_run(second, "c", after)), provenance=provenance)
    return [(one.field, one.baseline, one.candidate, one.rule) for one in pairs.changed]


def refused(before: Header, after: Header, must_match: str, **fields: Any) -> list[str]:
    first, second = records("q1 1>1 q2 1>0")
    set_field(first, **{name: values[0] for name, values in fields.items()})
    for name, values in fields.items():
        for record, value in zip(second, values[1], strict=True):
            record[name] = value
    with pytest.raises(NotComparable) as raised:
        make_pairs(
            (make_run(first, "b", before), make_run(second, "c", after)),
            provenance=f"{{must_match: [{must_match}]}}",
        )
    return [str(problem) for problem in raised.value.problems]


def test_nothing_must_match_by_default_and_every_difference_is_told() -> None:
    assert changed({"judge.model": "j1", "a": "1"}, {"judge.model": "j2", "a": "1"}) == [
        ("judge.model", "j1", "j2", "unlisted")
    ]


def test_what_may_change_is_told_as_such() -> None:
    assert changed({"app.commit": "x"}, {"app.commit": "y"}, "{may_change: [app.commit]}") == [
        ("app.commit", "x", "y", "may_change")
    ]


def test_a_field_of_one_header_only_is_a_difference() -> None:
    assert changed({"corpus": "k1"}, {}) == [("corpus", "k1", None, "unlisted")]


def test_fields_constant_within_each_file_are_told_too() -> None:
    first, second = records("q1 1>1 q2 1>0")
    set_field(first, judge="j1", model="m", answer="yes")
    set_field(second, judge="j2", model="m", answer="no")
    pairs = make_pairs((make_run(first), make_run(second)))
    assert [(one.field, one.baseline, one.candidate) for one in pairs.changed] == [("judge", "j1", "j2")]


def test_what_must_match_and_does_is_no_change() -> None:
    assert changed({"judge.model": "j1"}, {"judge.model": "j1"}, "{must_match: [judge.model]}") == []


def test_what_must_match_and_differs_is_no_verdict() -> None:
    assert refused({"judge.model": "j1"}, {"judge.model": "j2"}, "judge.model") == [
        "c: provenance.must_match: judge.model is 'j1' in the baseline and 'j2' in the candidate"
        "  (rerun one of them, so that both are made alike)"
    ]


@pytest.mark.parametrize("value", [None, "", "  "])
def test_what_must_match_and_is_not_said_is_no_verdict(value: object) -> None:
    assert refused({"judge": "j1"}, {"judge": value}, "judge") == [
        "c: provenance.must_match: c does not say its judge  (have the run written with it, or take it out of must_match)"
    ]


def test_both_sides_may_lack_it_and_both_are_told() -> None:
    said = refused({}, {}, "judge, corpus")
    assert [line.split(":")[0] for line in said] == ["b", "c", "b", "c"]


def test_what_must_match_and_is_mixed_within_a_run_is_no_verdict() -> None:
    assert refused({}, {}, "judge", judge=("j1", ["j1", "j2"])) == [
        "c: provenance.must_match: judge is not the same for the whole of c: mixed (j1, j2)"
    ]


def test_what_must_match_and_stands_beside_some_samples_only_is_no_verdict() -> None:
    """Half a run without its judge named may have been judged by anything."""
    assert refused({}, {}, "judge", judge=("j1", ["j1", None])) == [
        "c: provenance.must_match: judge is not the same for the whole of c: mixed (j1, nothing)"
    ]


def test_a_sample_without_an_answer_need_not_name_its_judge() -> None:
    first, second = records("q1 1>1 q2 1>!")
    set_field(first, judge="j1")
    second[0]["judge"] = "j1"
    assert make_pairs((make_run(first), make_run(second)), provenance="{must_match: [judge]}").changed == []


def test_a_header_that_its_own_records_contradict_is_mixed() -> None:
    assert refused({"judge": "j1"}, {"judge": "j1"}, "judge", judge=("j1", ["j2", "j2"])) == [
        "c: provenance.must_match: judge is not the same for the whole of c: mixed (j1, j2)"
    ]


def test_what_must_match_may_be_a_number_of_every_record() -> None:
    first, second = records("q1 1>1 q2 1>0")
    set_field(first, index_version=3)
    set_field(second, index_version=3)
    make_pairs((make_run(first), make_run(second)), provenance="{must_match: [index_version]}")


def test_a_file_says_facts_by_header_and_by_constant_texts() -> None:
    first, _ = records("q1 1>1 q2 0>0")
    set_field(first, judge=" j1 ", question="same", seed=5)
    first[0]["model"], first[1]["model"] = "a", "b"
    assert state_facts(make_run(first, "b", {"corpus": "k1", "tags": ["x", "y"], "none": None})) == {
        "corpus": "k1", "tags": "x, y", "judge": "j1",
    }  # fmt: skip


def test_one_record_alone_says_nothing_of_the_run() -> None:
    first, _ = records("q1 1>1")
    set_field(first, judge="j1")
    assert state_facts(make_run(first)) == {}
