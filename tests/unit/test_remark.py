"""Sentences that remember how they were made: said in English at once, in any language later, whatever a file says."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.remark import Remark, list_some, name_some, remark_of, said, say_again, say_all, suggest
from gateline.texts import languages, load

SENTENCES = [
    said("note.small-slice", count=1, least="30"),
    said("note.left-out", left_out="3", asked="40"),
    said("problem.not-in-candidate", missing=2, asked=1_200, ids=name_some(["a", "b"])),
    said(
        "problem.by-cause",
        what="x",
        causes=[said("lost.cached", count=1), said("lost.no-score", count=2)],
        ids="y",
    ),
    said(
        "problem.must-match",
        what=said("problem.fact-differs", field="f", before="{a}", after="{0.__class__}"),
    ),
    said("hint.refused", setting="no_score"),
]


def test_it_is_an_english_sentence_and_nothing_else() -> None:
    sentence = said("note.small-slice", count=12, least="30")
    assert sentence == "12 samples, slices.at_least is 30"
    assert type(str(sentence)) is str
    assert json.dumps({"note": sentence}) == '{"note": "12 samples, slices.at_least is 30"}'
    assert remark_of("a plain text") is None


def test_sentences_stand_in_sentences_and_lists_are_joined_as_the_language_does() -> None:
    assert SENTENCES[3] == "x: 1 cached, 2 without a score (y)"
    assert say_again("", remark_of(SENTENCES[3]), load("zh")) == "x：1 个来自缓存、2 个没有评分（y）"
    assert name_some(["a", "b", "c"], 2) == "'a', 'b' and 1 more"
    assert say_again("", remark_of(name_some(["a", "b", "c"], 2)), load("zh")) == "'a'、'b'，另有 1 个"
    assert list_some(["a", "b"]) == "a, b"


def test_values_are_no_templates_and_braces_of_texts_are_kept() -> None:
    assert (
        SENTENCES[4]
        == "provenance.must_match: f is '{a}' in the baseline and '{0.__class__}' in the candidate"
    )
    assert SENTENCES[5] == "missing: {no_score: refuse} allows none"


def test_the_nearest_name_is_suggested() -> None:
    assert suggest("latency", ["latency_ms", "cost"]) == "did you mean 'latency_ms'?"
    assert suggest("zzz", ["b", "a"]) == "known: a, b"
    assert suggest("zzz", []) == ""


def test_each_survives_the_file_and_is_said_in_each_language() -> None:
    for sentence in SENTENCES:
        again = Remark.model_validate_json(sentence.remark.model_dump_json(), strict=True)
        assert again == sentence.remark
        for language in languages():
            told = say_again("not this", again, load(language))
            assert told == ("not this" if language == "en" else load(language).say(again.key, **plain(again)))


def plain(remark: Remark) -> dict[str, object]:
    """The values of a remark as texts, put together by hand."""
    chinese = load("zh")
    return {
        name: say_again("", value, chinese)
        if isinstance(value, Remark)
        else "、".join(one if isinstance(one, str) else say_again("", one, chinese) for one in value)
        if isinstance(value, list)
        else value
        for name, value in remark.values.items()
    }


def test_texts_without_remarks_stay_as_they_are() -> None:
    assert say_all(["one", "two"], [], load("zh")) == ["one", "two"]
    assert say_all(["one"], [SENTENCES[0].remark, None], load("zh")) == [
        "只有 1 个样本，slices.at_least 为 30"
    ]


remarks = st.recursive(
    st.builds(
        Remark,
        key=st.sampled_from([*load()._templates, "gone", ""]),
        values=st.dictionaries(
            st.sampled_from(["count", "least", "metric", "ids", "key", "self", "{"]),
            st.one_of(st.integers(), st.text(max_size=5), st.floats(allow_nan=False)),
            max_size=4,
        ),
    ),
    lambda inner: st.builds(
        Remark,
        key=st.sampled_from([*load()._templates]),
        values=st.dictionaries(
            st.sampled_from(["count", "what", "ids", "causes"]),
            st.one_of(inner, st.lists(inner, max_size=2)),
            max_size=3,
        ),
    ),
    max_leaves=6,
)


@given(remarks)
@settings(max_examples=300, deadline=None)
def test_whatever_a_file_says_there_is_a_sentence(remark: Remark) -> None:
    assert isinstance(say_again("as it stands", remark, load("zh")), str)


def test_remarks_in_remarks_without_end_are_said_as_the_text() -> None:
    remark = Remark(key="sentence", values={"text": "x"})
    for _ in range(3_000):
        remark = Remark.model_construct(key="sentence", values={"text": remark})
    assert say_again("as it stands", remark, load("zh")) == "as it stands"
