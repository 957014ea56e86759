"""A text of any content stays one piece of plain text on one line, wherever it is put."""

from __future__ import annotations

import re
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateline.cli.arguments import COMMANDS
from gateline.reports import escape
from gateline.texts import languages, load

from .hostile import ATTACKS, REFERENCES, show, texts, unjoined


def examples(test):  # type: ignore[no-untyped-def]
    for attack in ATTACKS:
        test = example(attack)(test)
    return test


def squeezed(text: str) -> str:
    """Blanks as a page shows them: runs are one, none at the ends."""
    return " ".join(unjoined(text).split())


@settings(deadline=None)
@examples
@given(texts)
def test_markdown_text_is_shown_as_it_is(text: str) -> None:
    page = show(f"Before {escape.markdown_text(text)} after.")
    assert set(page.tags) == {"p"}
    assert page.tags["p"] == 1
    assert squeezed(page.text) == squeezed(f"Before {escape.clean(text, 1000)} after.")
    assert not REFERENCES.search(page.prose)


TYPED = ["samples: {on_mismatch: intersect}", "metrics: {a_b: {range: [0, 1]}}", "missing.drop_at_most",
         "gateline score GOLDEN OUTPUTS", "--require-fresh", "on_inconclusive: fail", "answer_correct"]  # fmt: skip


@settings(deadline=None)
@examples
@given(texts)
def test_a_sentence_with_words_to_type_is_shown_as_it_is(text: str) -> None:
    """Whatever stands between them, and on whichever side."""
    for mixed in (text, *(f"{typed} {text} {typed}, {text}{typed}" for typed in TYPED)):
        escaped = escape.markdown_sentence(mixed)
        page = show(f"**Before {escaped} after.**")
        assert set(page.tags) <= {"p", "strong", "code"}
        assert page.tags["p"] == page.tags["strong"] == 1
        assert squeezed(page.text) == squeezed(f"Before {escape.clean(mixed, 1000)} after.")
        assert not REFERENCES.search(page.prose)
        assert set(show(f"- {escaped}\n- last").tags) <= {"ul", "li", "code"}
        row = show(f"| a | b |\n| --- | --- |\n| {escaped} | {escaped} |\n")
        assert row.tags["td"] == 2


@pytest.mark.parametrize("typed", TYPED)
def test_what_one_types_is_code_and_the_rest_is_prose(typed: str) -> None:
    assert escape.markdown_sentence(f"write {typed}, or (with *care*) leave it.") == (
        f"write `{typed}`, or \\(with \\*care\\*\\) leave it."
    )


@pytest.mark.parametrize(
    "prose", ["gateline can't", "a - b", "runs/base_line.jsonl", "q_1@x", "well-known", "a: {"]
)
def test_prose_is_no_code(prose: str) -> None:
    assert "`" not in escape.markdown_sentence(prose)


def test_every_command_is_known_as_one() -> None:
    for command in COMMANDS:
        assert escape.markdown_sentence(f"run gateline {command} now") == f"run `gateline {command}` now"


def test_no_hint_or_note_of_ours_shows_an_escaped_word_of_a_policy() -> None:
    """In every language: a word with an underscore is code or a field, never prose with a backslash in it."""
    for language in languages():
        for key, template in load(language)._templates.items():
            if not key.startswith(("hint.", "note.", "problem.")):
                continue
            for form in [template] if isinstance(template, str) else template.values():
                said = re.sub(r"(?<!\{)\{[a-z_]+\}(?!\})", "x", form).replace("{{", "{").replace("}}", "}")
                shown = escape.markdown_sentence(said)
                assert not re.search(r"\\[_{]", shown), (key, shown)


@settings(deadline=None)
@examples
@given(texts)
def test_markdown_text_is_shown_as_it_is_where_a_block_could_begin(text: str) -> None:
    escaped = escape.markdown_text(text)
    page = show(f"- {escaped}\n- last")
    assert page.tags["ul"] == 1
    assert page.tags["li"] == 2
    assert set(page.tags) <= {"ul", "li"}
    assert squeezed(page.text) == squeezed(f"{escape.clean(text, 1000)} last")


@settings(deadline=None)
@examples
@given(texts)
def test_a_name_is_one_piece_of_code_in_one_cell(text: str) -> None:
    name = escape.markdown_name(text)
    page = show(f"| a | b |\n| --- | --- |\n| {name} | {name} · {name} |\n")
    assert (page.tags["table"], page.tags["tr"], page.tags["td"], page.tags["code"]) == (1, 2, 2, 3)
    assert set(page.tags) == {"table", "thead", "tbody", "tr", "th", "td", "code"}
    shown = escape.clean(text)
    shown = shown if shown == shown.strip() and shown else f'"{shown}"'
    assert squeezed(page.text) == squeezed(f"a b {shown} {shown} · {shown}")


@settings(deadline=None)
@examples
@given(texts)
def test_a_name_in_a_sentence_is_one_piece_of_code(text: str) -> None:
    page = show(f"**{escape.markdown_name(text)} fell.** Then {escape.markdown_name(text)}")
    assert page.tags == {"p": 1, "strong": 1, "code": 2}


@settings(deadline=None)
@examples
@given(texts)
def test_a_fenced_text_stays_in_its_fence(text: str) -> None:
    page = show(f"```diff\n- {escape.fence_text(text)}  |\n```\n\nend")
    assert page.tags == {"pre": 1, "code": 1, "p": 1}
    assert unjoined(page.text).strip() == f"- {escape.clean(text)}  |\n\nend"


@settings(deadline=None)
@examples
@given(texts)
def test_no_source_holds_what_another_program_would_take_for_its_own(text: str) -> None:
    for made in (escape.markdown_text(text), escape.markdown_name(text), escape.fence_text(text)):
        assert "@acme/security" not in made
        assert "](http" not in made
        assert not re.search(r"<(?!/?code>)[A-Za-z!/?]", made)
        assert "##[" not in made
        assert "\n" not in made


@settings(deadline=None)
@examples
@given(texts)
def test_a_terminal_gets_one_line_without_commands(text: str) -> None:
    made = escape.terminal_text(text)
    assert len(made.splitlines()) <= 1
    assert "##[" not in made
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in made)
    assert not set(made) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\ufeff")


@settings(deadline=None)
@examples
@given(texts)
def test_no_line_of_a_guarded_page_is_a_workflow_command(text: str) -> None:
    """The runner trims blanks before it looks: actions/runner, ActionCommand.TryParseV2."""
    for line in escape.guard_lines(f"{escape.terminal_text(text)}\n  {text}\n").split("\n"):
        assert not line.strip().startswith("::")


@settings(deadline=None)
@examples
@given(texts)
def test_xml_gives_the_text_back(text: str) -> None:
    made = escape.xml_text(text)
    element = ElementTree.fromstring(f'<?xml version="1.0"?><a b="{made}">{made}</a>')
    assert element.get("b") == (element.text or "") == escape.clean(text, 10_000)


@settings(deadline=None)
@examples
@given(texts)
def test_a_command_gives_the_text_back(text: str) -> None:
    """The runner undoes the escapes in this order: actions/runner, ActionCommand._escapePropertyMappings."""
    made = escape.command_property(text)
    assert not set(made) & set("\r\n:,")
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        made = made.replace(code, character)
    assert made == text


@settings(deadline=None)
@given(texts, st.integers(2, 80))
def test_a_text_is_cut_in_its_middle(text: str, most: int) -> None:
    tidy = escape.clean(text, 10**6)
    made = escape.cut(tidy, most)
    assert escape.display_width(made) <= most
    if made != tidy:
        head, _, tail = made.partition("…") if "…" not in tidy else (made[:1], "", made[-1:])
        assert tidy.startswith(head)
        assert tidy.endswith(tail)


@settings(deadline=None)
@given(texts)
def test_names_are_at_most_sixty_characters(text: str) -> None:
    for made in (escape.terminal_name(text), escape.clean(text)):
        assert len(unjoined(made)) <= 60


def test_names_that_differ_in_their_middle_digits_stay_different() -> None:
    names = {
        f"path=tenant-{number:04}/locale-de/intent-refund-long-tail-variant-of-the-name"
        for number in range(50)
    }
    assert len({escape.clean(name) for name in names}) == 50


def test_a_cell_of_150_kilobytes_is_cut_without_being_walked_through() -> None:
    made = escape.clean("Retrieved passage. " * 8000)
    assert len(made) == 60
    assert made.startswith("Retrieved passage. ")


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("语言", 4), ("e\u0301", 1), ("👍", 2), ("├●┤", 3), ("ｗ", 2)]
)
def test_knows_how_many_columns_a_text_takes(text: str, columns: int) -> None:
    assert escape.display_width(text) == columns


def test_names_stay_copyable_where_nothing_would_be_read_into_them() -> None:
    assert escape.markdown_name("recall@5") == "`recall@5`"
    assert escape.markdown_name("b81d0e7") == "`b81d0e7`"
    assert escape.terminal_name("tests/x.py::test_y") == "tests/x.py::test_y"
