"""What `gateline golden` finds, each check against a set made to trip it and one that must not."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.golden import read_golden
from gateline.golden.likeness import ALIKE, find_alike
from gateline.golden.quality import review
from gateline.golden.questions import normalise
from gateline.golden.resolution import CHANGING, visible_change


@pytest.fixture
def golden(tmp_path):
    """Write golden sets, each a list of records or a pair of header and records; return the review of all."""

    def review_sets(*sets, header=None):
        paths = []
        for number, records in enumerate(sets):
            path = tmp_path / f"set{number}.jsonl"
            lines = [json.dumps({"gateline": 1, "run": header})] if header else []
            lines += [json.dumps(one) for one in records]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            paths.append(path)
        return review(paths)

    return review_sets


def checks(found, level=None):
    return sorted(note.check for note in found.notes if level in (None, note.level))


def note_of(found, check):
    return next(note for note in found.notes if note.check == check)


CLEAN = [
    {
        "id": f"q{number}",
        "question": text,
        "relevant": [f"d{number}"] if number else [],
        "answerable": bool(number),
    }
    for number, text in enumerate(["Who rules Mars?", "How long is leave?", "When does the shop open?"])
]


def test_a_clean_set_has_nothing_to_mend(golden):
    found = golden(CLEAN * 1, header={"golden_set.version": "v1"})
    assert found.errors == []
    assert checks(found) == ["thin slice"], "three questions are few, and that is all"
    assert found.files[0].version == "v1"
    assert found.files[0].unanswerable == 1
    assert len(found.files[0].sha256) == 64


def test_the_same_question_twice(golden):
    found = golden(
        [*CLEAN, {"id": "q9", "question": "HOW long is   leave", "relevant": ["d1"], "answerable": True}]
    )
    note = note_of(found, "duplicate")
    assert note.level == "error"
    assert note.ids == ["q1", "q9"]
    other = golden(
        [*CLEAN, {"id": "q9", "question": "How long is leave?", "relevant": ["d7"], "answerable": True}]
    )
    assert note_of(other, "contradiction").message.startswith("the same question has different relevant ids;")


TWINS = [
    ({"reference": "Three months."}, {"reference": "Six weeks."}, "contradiction"),
    ({"reference": "Three months."}, {"reference": "three  months"}, "duplicate"),
    ({"reference": "5 %"}, {"reference": "-5 %"}, "contradiction"),
    ({"reference": "Three months."}, {}, "duplicate"),
    ({"relevant": ["d1"]}, {"relevant": ["d2"]}, "contradiction"),
    ({"required_claims": ["a"]}, {"required_claims": ["b"]}, "contradiction"),
    ({"answer_set": ["a"]}, {"answer_set": ["a", "b"]}, "contradiction"),
    ({"answerable": True}, {"answerable": False}, "contradiction"),
    ({}, {}, "duplicate"),
]


@pytest.mark.parametrize(("first", "second", "told"), TWINS)
def test_one_question_with_two_right_answers_is_a_contradiction_and_no_duplicate(golden, first, second, told):
    """A duplicate is mended by dropping either; of two answers somebody has to say which one holds."""
    asked = {"question": "How long is the notice period?"}
    found = golden([*CLEAN, {"id": "t1", **asked, **first}, {"id": "t2", **asked, **second}])
    notes = [note for note in found.errors if {"t1", "t2"} <= set(note.ids)]
    assert [note.check for note in notes] == [told]


def test_the_two_answers_are_shown(golden):
    asked = {"question": "How long is the notice period?"}
    twins = [
        {"id": f"t{at}", **asked, "reference": text}
        for at, text in enumerate(("Three months.", "Six weeks."))
    ]
    assert "'Three months.' and 'Six weeks.'" in note_of(golden([*CLEAN, *twins]), "contradiction").message


def test_the_same_question_in_two_splits_leaks(golden):
    rows = [{**one, "split": "dev"} for one in CLEAN] + [{**CLEAN[1], "id": "q9", "split": "test"}]
    found = golden(rows)
    assert note_of(found, "leak").ids == ["q1", "q9"]
    assert "dev, test" in note_of(found, "leak").message
    assert "duplicate" not in checks(found)


def test_the_same_question_in_two_files_leaks(golden):
    found = golden(CLEAN, [{**CLEAN[1], "id": "other"}])
    assert note_of(found, "leak").ids == ["q1", "other"]
    shared = golden(CLEAN, [{**CLEAN[1], "question": "Something else entirely now?"}])
    assert note_of(shared, "leak").ids == ["q1"]


def test_nearly_the_same_question(golden):
    long = "How many days of paid leave do full time staff get in each calendar year"
    rows = [{"id": "a", "question": f"{long}?"}, {"id": "b", "question": f"{long} now?"}]
    found = golden(rows)
    assert note_of(found, "near duplicate").ids == ["a", "b"]
    assert note_of(found, "near duplicate").level == "warning"
    years = [{"id": "a", "question": f"{long} 2024?"}, {"id": "b", "question": f"{long} 2025?"}]
    assert "near duplicate" not in checks(golden(years)), "other numbers are other questions"
    split = golden([{**rows[0], "split": "dev"}, {**rows[1], "split": "test"}])
    assert note_of(split, "near leak").ids == ["a", "b"]


def test_labels_that_are_empty(golden):
    found = golden([{"id": "a", "question": "What?"}, {"id": "b", "question": " ", "relevant": {"d": 0}}])
    said = {note.message: note.ids for note in found.notes if note.check == "empty label"}
    assert said["no relevant ids, reference or claims: nothing can be scored against"] == ["a"]
    assert said["ids are judged and none is relevant: recall is undefined"] == ["b"]
    assert said["the question is empty"] == ["b"]
    assert checks(found, "error") == ["empty label"]


def test_what_can_t_be_measured(golden):
    found = golden([{"id": "a", "question": "What?", "relevant": ["d"]}])
    assert {"refusals", "version"} <= set(checks(found, "warning"))
    mixed = golden([{**one, "source_snapshot": f"kb-{number // 2}"} for number, one in enumerate(CLEAN)])
    assert note_of(mixed, "snapshots").message == "questions of 2 source snapshots: kb-0 (2), kb-1 (1)"
    assert mixed.files[0].snapshots == {"kb-0": 2, "kb-1": 1}


def test_thin_slices_are_named_with_what_they_can_show(golden):
    rows = [{"id": f"q{number}", "question": f"{number}?", "relevant": ["d"], "language": "de" if number < 12 else "en"}
            for number in range(100)]  # fmt: skip
    found = golden(rows)
    assert "language=de (12)" in note_of(found, "thin slice").message
    assert "language=en" not in note_of(found, "thin slice").message
    facts = {(one.label, one.value): one for one in found.files[0].slices}
    assert facts["language", "de"].questions == 12
    assert facts["", ""].visible_change == visible_change(100)


def test_the_smallest_change_is_about_2_8_standard_errors():
    """(z of 97.5 % + z of 80 %) · sqrt(share that changes / n), a little more for the ends of the interval."""
    for questions in (100, 400, 2000):
        plain = (1.959964 + 0.841621) * math.sqrt(CHANGING / questions)
        assert plain < visible_change(questions) < plain * 1.1
    assert visible_change(1) is None
    assert visible_change(2) is None


def test_the_smallest_change_is_seen_four_times_out_of_five():
    """Simulated: pass/fail pairs of which a tenth changes, shifted by the change that 300 questions should show."""
    from gateline.statistics import Paired, Settings, Statistic, cluster_keys, gain_interval

    questions, chance = 300, np.random.default_rng(5)
    change = visible_change(questions)
    up = (CHANGING + change) / 2  # a tenth changes, and more of it to the better
    seen, tries = 0, 400
    keys = cluster_keys([str(one) for one in range(questions)])
    for _ in range(tries):
        gain = chance.choice([1.0, -1.0, 0.0], questions, p=[up, CHANGING - up, 1 - CHANGING])
        before = np.where(gain > 0, 0.0, 1.0)
        paired = Paired(before, before + gain, None, None, np.arange(questions), keys)
        found = gain_interval(paired, Statistic("mean"), sign=1.0, relative=False, level=0.95, width=1.0,
                              settings=Settings())  # fmt: skip
        seen += found.low > 0
    assert 0.74 < seen / tries < 0.90


words = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "1", "2"])
texts = st.lists(st.lists(words, min_size=1, max_size=7).map(" ".join), max_size=14)


@settings(max_examples=200, deadline=None)
@given(texts)
def test_alike_questions_are_those_that_comparing_each_with_each_finds(questions):
    def features(text):
        parts = text.split()
        return set(parts) | {f"{one} {two}" for one, two in pairwise(parts)}

    expected = set()
    for second, text in enumerate(questions):
        for first in range(second):
            one, two = features(questions[first]), features(text)
            same_numbers = {part for part in one if part.isdigit()} == {
                part for part in two if part.isdigit()
            }
            if questions[first] != text and same_numbers and len(one & two) / len(one | two) >= ALIKE:
                expected.add((first, second))
    assert {(first, second) for first, second, _ in find_alike(questions)} == expected


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("How long?", "how  long"),
        ("Café", "Cafe\u0301"),
        ("ﬁne", "FINE"),
        ("a-b", "a b"),
        ("Straße", "STRASSE"),
    ],
)
def test_spelling_is_no_difference(one, two):
    assert normalise(one) == normalise(two)


def test_a_negation_is_a_difference():
    assert normalise("Is it allowed?") != normalise("Is it not allowed?")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"relevant": [None]}, "must hold ids, not null"),
        ({"relevant": "d1, d2"}, "must be a list"),
        ({"relevant": "d1;d2"}, "must be a list"),
        ({"relevant": ["a", {"name": "b"}]}, "has an item without an id"),
        ({"relevant": {"a": "high"}}, "has a grade that is no number"),
        ({"relevant": {"a": 5000}}, "more than 100 is no grade"),
        (
            {"relevant": [{"id": "a", "grade": 1}, {"id": "a", "grade": 2}]},
            "has 'a' with two grades, 1 and 2",
        ),
        ({"answerable": "perhaps"}, "must be true or false, not the text 'perhaps'"),
        ({"required_evidence_groups": [["a"], []]}, "has an empty group"),
        ({"required_claims": [{"weight": 2}]}, "has a claim without a text and an id"),
        ({"relevant": ["a"], "relevant_chunk_ids": ["a"]}, "names of one label"),
    ],
)
def test_labels_that_can_t_be_understood_are_named(tmp_path, record, said):
    path = tmp_path / "g.jsonl"
    path.write_text(json.dumps({"id": "fine"}) + "\n" + json.dumps({"id": "odd", **record}) + "\n")
    with pytest.raises(InputError, match=r"g\.jsonl") as refused:
        review([path])
    assert said in str(refused.value)


def test_the_id_may_have_any_of_its_usual_names(tmp_path):
    for name in ("id", "query_id", "question_id", "qid", "_id"):
        path = tmp_path / "g.jsonl"
        path.write_text(json.dumps({name: "x", "question": "What?"}) + "\n")
        assert read_golden(path).ids == ["x"]
    path.write_text(json.dumps({"number": "x", "question": "What?"}) + "\n")
    assert read_golden(path, id_field="number").ids == ["x"]
