"""Annotations: workflow commands, read as the runner reads them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from gateline.reports import annotations
from gateline.verdict import Verdict
from gateline.wording import describe

from .hostile import replace_texts, texts
from .verdicts import (
    design_verdict,
    fine_verdict,
    invalid_verdict,
    loosened_verdict,
    make_finding,
    make_verdict,
    unsettled,
)

COMMAND = re.compile(r"::(\w+) ([^:]*)::(.*)")


def read(verdict: Verdict, language: str | None = None) -> list[tuple[str, dict[str, str], str]]:
    """The commands as the runner takes them apart: actions/runner, ActionCommand.TryParseV2."""
    found = []
    for line in annotations.render(verdict, language=language).splitlines():
        match = COMMAND.fullmatch(line)
        assert match, line
        properties = {}
        for part in match[2].split(","):
            key, _, value = part.partition("=")
            properties[key] = unescape(value, property_too=True)
        found.append((match[1], properties, unescape(match[3])))
    return found


def unescape(text: str, *, property_too: bool = False) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        if property_too or code in ("%0D", "%0A"):
            text = text.replace(code, character)
    return text.replace("%25", "%")


def test_marks_the_line_of_the_rule() -> None:
    verdict = design_verdict()
    commands = read(verdict)
    assert [(level, properties["line"]) for level, properties, _ in commands] == [
        ("error", "46"),
        ("warning", "41"),
        ("warning", "53"),
    ]
    _, properties, message = commands[0]
    assert properties == {
        "file": "gates/support-rag.yml",
        "line": "46",
        "title": "support-rag: correct-by-slice",
    }
    assert message == describe(verdict.findings[0])


def test_there_are_at_most_five_of_each_and_the_rest_is_counted() -> None:
    findings = [make_finding(slice=f"s{number}") for number in range(9)] + [
        unsettled(slice=f"s{number}") for number in range(7)
    ]
    commands = read(make_verdict(*findings))
    assert [level for level, _, _ in commands] == ["error"] * 5 + ["warning"] * 5
    assert commands[4][2].endswith(" And 4 more.")
    assert commands[9][2].endswith(" And 2 more.")


def test_says_nothing_when_all_is_fine() -> None:
    assert annotations.render(fine_verdict()) == ""


def test_warns_of_a_loosened_policy() -> None:
    assert [(level, properties["title"]) for level, properties, _ in read(loosened_verdict())] == [
        ("warning", "the policy is loosened")
    ]


def test_no_verdict_is_one_error_on_the_policy() -> None:
    ((level, properties, message),) = read(invalid_verdict())
    assert (level, properties["title"]) == ("error", "support-rag: no verdict")
    assert "must be below 100 %, not 9500 %" in message


@pytest.mark.parametrize("language", ["en", "zh"])
def test_one_problem_of_both_runs_is_told_by_file_and_one_of_one_place_once(language: str) -> None:
    """A sentence twice says nothing more; the two files do."""
    first = invalid_verdict().problems[0]
    alike = [first.model_copy(update={"where": where}) for where in ("a.jsonl", "b.jsonl", "b.jsonl")]
    other = first.model_copy(update={"message": "something else", "message_said": None, "where": "c.jsonl"})
    verdict = invalid_verdict().model_copy(update={"problems": [*alike, other]})
    ((_, _, message),) = read(verdict, language)
    assert [message.count(name) for name in ("a.jsonl", "b.jsonl", "c.jsonl")] == [1, 1, 0]
    assert message.count("something else") == 1


@settings(max_examples=30, deadline=None)
@given(texts)
def test_no_text_from_a_file_adds_a_command(text: str) -> None:
    for make in (design_verdict, loosened_verdict, invalid_verdict):
        harmless, hostile = read(replace_texts(make(), "abc")), read(replace_texts(make(), text))
        assert [(level, set(properties)) for level, properties, _ in harmless] == [
            (level, set(properties)) for level, properties, _ in hostile
        ]
        assert "##[" not in annotations.render(replace_texts(make(), text))
