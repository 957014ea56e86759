"""What identifies a test case of DeepEval: the name that a person gave it, or what it asks.

Names that DeepEval and pytest make of a place identify nothing. Nothing here reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateline.errors import InputError
from gateline.readers._identity import identify_questions, normalise, tell_repeated
from gateline.readers._json_document import objects_of, text_of

_DEFAULT_NAME = re.compile(r"(?:conversational_)?test_case_[0-9]+")
_PLACE_IN_NAME = re.compile(r"(.*\[.*?[A-Za-z_])(0|[1-9][0-9]*)\]")
_REPEAT = re.compile(r"(.*\[(?:.*(?=-))?)-?([1-9][0-9]{0,3})-([1-9][0-9]{0,3})\]")

Case = Mapping[str, object]


@dataclass(frozen=True)
class Identity:
    """What identifies the test cases."""

    ids: list[str]
    field: str
    is_made: bool
    warning: str = ""


def find_question(case: Case) -> str:
    """Return what was asked: the input, or of a conversation its scenario, or else what the user said in it."""
    asked = text_of(case.get("input")) or text_of(case.get("scenario"))
    if not asked:
        turns = objects_of(case.get("turns"))
        asked = "\n".join(text_of(turn.get("content")) for turn in turns if turn.get("role") == "user")
    return normalise(asked)


def identify_cases(cases: Sequence[Case], questions: Sequence[str], file: str) -> Identity:
    """Return ids: names that people gave, else made of the questions.

    DeepEval itself names a case by its place, and so does pytest where a parameter has no text; neither identifies. A
    name that stands for one question only may stand several times: these are repeats.
    """
    names = _strip_repeats([text_of(case.get("name")) for case in cases])
    asked: dict[str, set[str]] = {}
    for name, question in zip(names, questions, strict=True):
        asked.setdefault(name, set()).add(question)
    is_named = all(names) and all(len(found) == 1 for found in asked.values())
    if is_named and not _are_positions(asked):
        return Identity(names, "name", is_made=False)
    blank = questions.count("")
    if blank:
        raise InputError(
            f"{blank} test cases have neither a name of their own nor an input",
            file,
            "give each test case a name: LLMTestCase(name=…)",
        )
    references = [
        text_of(case.get("expectedOutput")) or text_of(case.get("expectedOutcome")) for case in cases
    ]
    keys = names if is_named else [str(row) for row in range(len(names))]
    rows: dict[str, int] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, row)  # repeats are one question
    ids, repeated = identify_questions(
        [questions[row] for row in rows.values()], [references[row] for row in rows.values()]
    )
    id_of = dict(zip(rows, ids, strict=True))
    warning = "the test cases have no names of their own and are matched by the text of their input"
    if repeated:
        warning += f"; {tell_repeated(len(repeated))}"
    return Identity([id_of[key] for key in keys], "text of input", is_made=True, warning=warning)


def _strip_repeats(names: Sequence[str]) -> list[str]:
    """Return names without what `deepeval test run --repeat` adds: `[case0-2-3]` is the second of three times."""
    steps: dict[tuple[str, str], set[int]] = {}
    found = [_REPEAT.fullmatch(name) for name in names]
    for match in found:
        if match:
            steps.setdefault((match[1], match[3]), set()).add(int(match[2]))
    return [
        f"{match[1]}]".replace("[]", "")
        if match and match[3] != "1" and steps[match[1], match[3]] == set(range(1, int(match[3]) + 1))
        else name
        for name, match in zip(names, found, strict=True)
    ]


def _are_positions(names: Iterable[str]) -> bool:
    """Say whether names tell the place of a case: `test_case_3`, or `test_rag[case3]` with all from 0 on."""
    places: dict[str, set[int]] = {}
    for name in names:
        if _DEFAULT_NAME.fullmatch(name):
            return True
        match = _PLACE_IN_NAME.fullmatch(name)
        if match:
            places.setdefault(match[1], set()).add(int(match[2]))
    return any(found == set(range(len(found))) for found in places.values())
