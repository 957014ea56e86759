"""The comment: what it says first, that nothing breaks out of it, and that it always fits."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateline.reports import markdown
from gateline.reports.escape import clean, markdown_sentence
from gateline.verdict import BaseVerdict, Verdict

from .hostile import ATTACKS, REFERENCES, replace_texts, show, texts
from .verdicts import (
    design_verdict,
    fine_verdict,
    huge_verdict,
    improvement,
    invalid_verdict,
    loosened_verdict,
    make_finding,
    make_verdict,
    passing,
    skipped,
    unsettled,
)

MAKERS = [design_verdict, fine_verdict, loosened_verdict, invalid_verdict]


def lines_of(verdict: Verdict) -> list[str]:
    return [line for line in markdown.render(verdict).split("\n") if line]


@pytest.mark.parametrize(
    ("verdict", "heading"),
    [
        (design_verdict(), "### ❌ support-rag: blocked"),
        (fine_verdict(), "### ✅ support-rag: passed"),
        (make_verdict(unsettled(), passing()), "### ⚠️ support-rag: passed with warnings"),
        (loosened_verdict(), "### ⚠️ support-rag: passed, policy loosened"),
        (invalid_verdict(), "### ❓ support-rag: no verdict"),
        (make_verdict(skipped()), "### ❓ support-rag: no verdict"),
    ],
)
def test_begins_with_marker_outcome_and_one_bold_sentence(verdict: Verdict, heading: str) -> None:
    lines = lines_of(verdict)
    assert lines[:2] == ["<!-- gateline: support-rag -->", heading]
    bold = [line for line in lines if line.startswith("**") and line.endswith("**")]
    assert len(bold) == 1
    assert markdown.marker("support-rag") == lines[0]


def test_is_three_lines_when_all_is_fine() -> None:
    assert lines_of(fine_verdict())[1:] == [
        "### ✅ support-rag: passed",
        (
            "**All 3 checks pass on 212 questions. `recall@5` rose 77.2 % → 81.5 %, 4.3 points better (95 % interval: "
            "3.3 to 5.3 better), where at least 3.0 points better is needed; 2 worse, 31 better of 212 pairs in "
            "180 groups.**"
        ),
        (
            "212 questions in both runs in 180 independent groups. Policy unchanged. "
            "All checks: the job summary and `verdict.json`."
        ),
    ]


def test_a_summary_has_all_parts_when_all_is_fine() -> None:
    summary = markdown.render_summary(fine_verdict())
    assert "All 3 checks" in summary
    assert "gateline check --policy gates/support-rag.yml --baseline runs/baseline.jsonl" in summary


def test_a_loosened_policy_comes_before_the_verdict_it_makes() -> None:
    comment = markdown.render(loosened_verdict())
    loud = comment.index("> **This change loosens the policy that judges it.**\n")
    assert loud < comment.index("**Passes under the changed policy; the base branch's policy would block: ")
    assert "> - `rules.correct-by-slice.worse_by_at_most`: `0.05` → `0.2` (loosens)" in comment


def test_a_policy_that_was_only_tightened_is_not_loud() -> None:
    verdict = loosened_verdict()
    alike = BaseVerdict(verdict="pass", because=[])
    policy = verdict.policy.model_copy(update={"changes": verdict.policy.changes[1:], "under_base": alike})
    comment = markdown.render(verdict.model_copy(update={"policy": policy}))
    assert "[!CAUTION]" not in comment
    assert "Policy changed (1 change), nothing loosened." in comment


@pytest.mark.parametrize("make", MAKERS)
def test_every_block_is_closed(make: Callable[[], Verdict]) -> None:
    page = show(markdown.render_summary(make()))
    assert page.open == []
    assert page.tags["h3"] == 1
    assert page.tags["details"] == page.tags["summary"]


def test_shows_in_order_what_got_worse_all_checks_and_provenance_in_bold() -> None:
    comment = markdown.render(design_verdict())
    parts = [
        "```diff",
        "**To unblock:**",
        "The 3 samples that got worse most",
        "All 7 checks",
        "How the runs were made",
    ]
    places = [comment.index(part) for part in parts]
    assert places == sorted(places)
    assert "| **`app.commit`** | **`9f31c02`** | **`b81d0e7`** | may change |" in comment
    assert "3 questions only in the baseline: `q-0004`, `q-0009`, `q-0011`; 3 of them had passed" in comment
    assert "`faithfulness`: no score for 2 of 212 in the candidate, left out: `q-0031`, `q-0102`" in comment


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("checks", [30, 500, 900])
@pytest.mark.parametrize("limit", [2_000, 3_000, 10_000, 65_536, 1_048_576])
def test_fits_its_limit_cut_at_rows_with_the_worst_first(checks: int, wide: bool, limit: int) -> None:
    """Case 073: 900 slices with names of about 60 characters."""
    comment = markdown.render(huge_verdict(checks, wide), limit=limit)
    assert len(comment) <= len(comment.encode("utf-16-le")) // 2 <= len(comment.encode()) <= limit
    page = show(comment)
    assert page.open == []
    assert comment.startswith("<!-- gateline: support-rag -->\n### ❌ support-rag: blocked\n")
    assert comment.count("```") % 2 == 0
    assert f"{checks:,} checks: 2 fail" in comment
    if limit > 2_000:
        assert "テナント-0003/" in comment or "tenant-0003/" in comment
    rows = comment.count("`slices-hold`<br>")
    left_out = re.search(
        r"([\d,]+) of [\d,]+ checks left out: see the job summary and `verdict.json`", comment
    )
    if left_out:
        assert rows + int(left_out[1].replace(",", "")) == checks
        if rows >= 3:
            assert comment.index("-0003/", comment.index("All ")) < comment.index("-0000/")
    elif rows:
        assert rows == checks
    else:
        assert "see the job summary and `verdict.json`" in comment


def test_uses_the_room_there_is() -> None:
    assert len(markdown.render(huge_verdict(900)).encode()) > 65_536 - 600


@pytest.mark.parametrize("limit", [2_000, 2_100, 3_000, 20_000])
def test_the_sentence_at_the_foot_is_there_whatever_is_left_out(limit: int) -> None:
    comment = markdown.render(huge_verdict(400, True), limit=limit, foot="x" * 60)
    assert len(comment.encode()) <= limit
    assert comment.endswith("\n\n<sub>" + "x" * 60 + "</sub>\n")


def test_one_more_byte_of_limit_never_shows_less() -> None:
    verdict = huge_verdict(40)
    rows = [markdown.render(verdict, limit=limit).count("<br>") for limit in range(2_000, 12_000, 97)]
    assert rows == sorted(rows)
    assert rows[0] == 0
    assert rows[-1] == 40


def test_a_verdict_with_thousands_of_long_texts_still_fits() -> None:
    verdict = invalid_verdict()
    long = verdict.problems[0].model_copy(
        update={"message": "m" * 3_000, "hint": "語" * 3_000, "where": "w" * 3_000}
    )
    verdict = verdict.model_copy(update={"problems": [long] * 3_000, "notices": ["n" * 3_000] * 3_000})
    for limit in (2_000, 20_000, 65_536):
        comment = markdown.render(verdict, limit=limit)
        assert len(comment.encode()) <= limit
        assert "no verdict" in comment


def _examples(test: Callable[..., None]) -> Callable[..., None]:
    for attack in ATTACKS:
        test = example(attack)(test)
    return test


@settings(max_examples=25, deadline=None)
@_examples
@given(texts)
def test_no_text_from_a_file_changes_the_page(text: str) -> None:
    """Every text of the verdict at once: as many headings, tables, cells, details, links as with a harmless one."""
    assume(clean(text).strip())
    for make in MAKERS:
        expected = show(markdown.render_summary(replace_texts(make(), "abc")))
        comment = markdown.render_summary(replace_texts(make(), text))
        page = show(comment)
        if "`" in markdown_sentence(text):  # a word to type stands as code, also one from a file
            assert page.tags.pop("code") >= expected.tags.pop("code")
        assert page.tags == expected.tags
        assert page.comments[:1] == page.comments
        assert not {"a", "img"} & page.tags.keys()
        assert not REFERENCES.search(page.prose)
        assert "@acme/security" not in comment
        assert "](http" not in comment
        assert "{{" not in page.prose or "{{" in text
        for line in comment.split("\n"):
            assert not line.strip().startswith(("::", "# ", "## ", "/"))
            assert "##[" not in line


@settings(deadline=None)
@_examples
@given(texts)
def test_a_marker_is_one_comment_on_one_line(text: str) -> None:
    made = markdown.marker(text)
    page = show(f"{made}\n### heading\n")
    assert page.tags == {"h3": 1}
    assert len(page.comments) == 1
    assert page.text.strip() == "heading"


ALIKE = ["", " ", "-", "--", "-\u2010", "<", "\u2039", ">", "\u203a", "\x01", "\x02", "\n", "\r\n", "\u23ce", "\ufffd",
         "\u2060", "\t", "::", "```", "@a", "…", "x" * 250, "A", "e\u0301", "\xe9", " -->", " 0" * 16]  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(
    names=st.lists(
        st.lists(st.sampled_from([*ALIKE, "rag"]), max_size=4).map("".join),
        min_size=2,
        max_size=2,
        unique=True,
    )
)
@example(names=["rag", "rag-"])
@example(names=["rag", " rag "])
@example(names=["a--b", "a-\u2010b"])
@example(names=["x" * 150 + "A" + "x" * 150, "x" * 150 + "B" + "x" * 150])
@example(names=["a\ud800", "a\ud801"])
def test_no_two_names_have_one_marker(names: list[str]) -> None:
    """Else the gate that passes overwrites the comment of the gate that blocks."""
    inside = [markdown.marker(name).removeprefix("<!-- gateline").removesuffix("-->") for name in names]
    every = {*names, *inside, *(one.strip(" :") for one in inside)}
    assert len({markdown.marker(name) for name in every}) == len(every)


@given(st.text("abcdefghijklmnopqrstuvwxyzABCÄé中0123456789._/+ ", min_size=1, max_size=60))
def test_the_marker_of_an_ordinary_name_is_the_name(name: str) -> None:
    """Comments of earlier versions are found by it."""
    assume(name == name.strip())
    assert markdown.marker(name) == f"<!-- gateline: {name} -->"


def test_template_values_are_escaped_unless_they_are_finished() -> None:
    template = markdown._template().environment.from_string(
        "{{ value }}{% if value %} {{ value ~ '' }}{% endif %}"
    )
    assert template.render(value="<b>*x*</b>") == "&lt;b&gt;\\*x\\*&lt;/b&gt; &lt;b&gt;\\*x\\*&lt;/b&gt;"


def test_the_same_verdict_gives_the_same_bytes() -> None:
    for make in MAKERS:
        assert markdown.render(make()) == markdown.render(make())


def test_fail_on_never_is_said() -> None:
    comment = markdown.render(make_verdict(make_finding(), fail_on="never"))
    assert "The exit code is 0 because `fail-on` is `never`." in comment
    assert "### ❌ support-rag: blocked" in comment


def test_a_question_text_stands_there_only_when_it_was_asked_for() -> None:
    verdict = design_verdict()
    worst = [sample.model_copy(update={"question": "May I | return *it*?"}) for sample in verdict.worst]
    assert "| text |" not in markdown.render(verdict)
    with_texts = markdown.render(verdict.model_copy(update={"worst": worst}))
    assert "| text |" in with_texts
    assert "May I | return *it*?" in show(with_texts).text


def test_an_unsettled_improvement_blocks_and_says_what_would_settle_it() -> None:
    finding = improvement(
        status="inconclusive", blocks=True, gain=0.02, candidate=0.792, samples_needed=340, threshold=0.03
    )
    comment = markdown.render(make_verdict(finding))
    assert "about 340 samples would settle it; the rule asks for proof, so it blocks." in comment
    assert (
        "**To unblock:** gain at least 3.0 points in `recall@5` (now 2.0 points better)" in comment
    )  # more samples would show the miss


def test_more_samples_are_advised_only_where_the_value_is_within_its_bound() -> None:
    finding = improvement(
        status="inconclusive", blocks=True, gain=0.04, candidate=0.812, samples_needed=340, threshold=0.03
    )
    comment = markdown.render(make_verdict(finding))
    assert "**To unblock:** settle `recall@5` with about 340 samples (now 212)" in comment
