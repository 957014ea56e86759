"""What identifies a test of promptfoo, which gives no ids: metadata that is one, its description, or what it asks.

Tests are numbered by promptfoo, but a number moves when a test is inserted, so it never identifies. Nothing here reads
a file.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateline.errors import InputError, count_of
from gateline.readers._identity import identify_questions, normalise
from gateline.samples import label_texts

_ASKED = ("question", "query", "input", "user_input", "prompt", "message")
"""Variables that usually hold the question."""
_LONGEST_PROMPT = 40
_BETWEEN = " | "


@dataclass(frozen=True)
class Answered:
    """One test, answered by one provider to one prompt."""

    variables: Mapping[str, object]
    provider: str
    """Its label, or else its id; "" where the file does not say."""
    prompt: str
    """The label of the prompt, by default the whole template."""
    description: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    assertions: str = ""
    """Digest of what is asserted; "" where the file does not say."""
    test_number: int | None = None
    line: int = 0

    @property
    def signature(self) -> str:
        """Return what makes this test another one: repeats share it."""
        parts = (self.variables, self.description, self.metadata, self.assertions)
        return json.dumps(parts, sort_keys=True, default=str)

    @property
    def question(self) -> str:
        """Return what is asked: the variable that is usually so called, the only one, or else all of them."""
        by_name = {name.lower(): value for name, value in self.variables.items()}
        known = next((by_name[name] for name in _ASKED if name in by_name), None)
        if known is None and len(by_name) == 1:
            known = next(iter(by_name.values()))
        return normalise(_text(known)) if known is not None else self.all_variables

    @property
    def all_variables(self) -> str:
        """Return all variables as one text."""
        pairs = [f"{name}: {_text(value)}" for name, value in sorted(self.variables.items())]
        return normalise("; ".join(pairs))


@dataclass(frozen=True)
class Identity:
    """What identifies the records."""

    ids: list[str]
    tests: list[str]
    """Id of the test alone, without provider and prompt."""
    attempts: list[int]
    source: str
    """The field or text that the ids come from."""
    is_made: bool
    warnings: list[str]
    several_providers: bool
    several_prompts: bool


def shorten_prompt(label: str) -> str:
    """Return a prompt's label, or of a long one a digest that names it."""
    if len(label) <= _LONGEST_PROMPT and "\n" not in label:
        return label
    return "prompt-" + hashlib.sha256(label.encode()).hexdigest()[:8]


def digest(value: object) -> str:
    """Return a short digest of a JSON value; "" for an empty one."""
    if not value:
        return ""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def identify(records: Sequence[Answered], file: str) -> Identity:
    """Return ids for the records, and which attempt each is; an InputError where two providers share a name."""
    by_signature: dict[str, Answered] = {}
    for record in records:
        by_signature.setdefault(record.signature, record)
    names, source, warnings = _name_tests(by_signature)
    providers = {record.provider for record in records}
    prompts = {record.prompt for record in records}
    parts = [*(["provider"] if len(providers) > 1 else []), *(["prompt"] if len(prompts) > 1 else [])]
    tests = [names[record.signature] for record in records]
    ids = [
        _BETWEEN.join(
            [
                test,
                *([record.provider] if len(providers) > 1 else []),
                *([shorten_prompt(record.prompt)] if len(prompts) > 1 else []),
            ]
        )
        for test, record in zip(tests, records, strict=True)
    ]
    _refuse_shared_names(records, file)
    if parts:
        warnings.append(
            f"each test was answered {len(providers)} x {len(prompts)} times (providers x prompts); these records "
            "belong together: samples: {cluster: group} in the policy says so"
        )
    return Identity(
        ids=ids,
        tests=tests,
        attempts=_number_attempts(ids, records),
        source=" and ".join([source, *parts]),
        is_made=source.startswith("text of") or bool(parts),
        warnings=warnings,
        several_providers=len(providers) > 1,
        several_prompts=len(prompts) > 1,
    )


def _name_tests(tests: Mapping[str, Answered]) -> tuple[dict[str, str], str, list[str]]:
    """Return the id of each test by its signature, where the ids come from, and what to warn of."""
    from gateline.field_names import words_of

    for key in sorted({key for test in tests.values() for key in test.metadata}, key=_rank_name):
        if "id" in words_of(key):
            given = {
                signature: ", ".join(label_texts(test.metadata.get(key))) for signature, test in tests.items()
            }
            if _are_ids(given):
                return given, key, []
    described = {signature: test.description for signature, test in tests.items()}
    if _are_ids(described):
        return described, "description", []
    ordered = sorted(tests)
    asked = [tests[signature].question for signature in ordered]
    times = Counter(asked)
    # A question that stands in several tests is told apart by the other variables.
    texts = [
        text if times[text] == 1 else tests[signature].all_variables
        for signature, text in zip(ordered, asked, strict=True)
    ]
    ids, repeated = identify_questions(texts, [""] * len(texts))
    warning = (
        "the tests have no id and no description of their own, and are matched by the text of their variables"
    )
    if repeated:
        stand = ("text stands in several tests and is", "texts stand in several tests and are")
        warning += f"; {count_of(len(repeated), *stand)} told apart by a counter"
    return dict(zip(ordered, ids, strict=True)), "text of variables", [warning]


def _rank_name(key: str) -> tuple[bool, str]:
    return key.lower() != "id", key


def _are_ids(names: Mapping[str, str]) -> bool:
    return all(names.values()) and len(set(names.values())) == len(names)


def _refuse_shared_names(records: Sequence[Answered], file: str) -> None:
    times = Counter(
        (record.test_number, record.provider, record.prompt)
        for record in records
        if record.test_number is not None
    )
    shared = next((key for key, number in times.items() if number > 1), None)
    if shared is not None:
        raise InputError(
            f"test {shared[0]} was answered {times[shared]} times by '{shared[1]}' to one prompt, so two providers or "
            "prompts share a name",
            file,
            "give each a label of its own in promptfoo's configuration",
        )


def _number_attempts(ids: Sequence[str], records: Sequence[Answered]) -> list[int]:
    """Number the attempts at one question in the order in which promptfoo numbered them."""
    order = sorted(range(len(ids)), key=lambda row: (records[row].test_number or 0, row))
    counted: Counter[str] = Counter()
    attempts = [0] * len(ids)
    for row in order:
        counted[ids[row]] += 1
        attempts[row] = counted[ids[row]]
    return attempts


def _text(value: object) -> str:
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    )
