"""verdict.json and its schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from gateline.findings import Finding
from gateline.reports import machine
from gateline.verdict import SCHEMA, Verdict

from .hostile import ATTACKS, replace_texts, texts
from .verdicts import (
    design_verdict,
    fine_verdict,
    huge_verdict,
    invalid_verdict,
    loosened_verdict,
    make_finding,
    make_verdict,
)

VERDICTS = [design_verdict(), fine_verdict(), loosened_verdict(), invalid_verdict(), huge_verdict(20)]


def strict(text: str) -> Any:
    """JSON as the standard has it: no NaN, no key twice."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def test_the_schema_is_a_schema_and_names_its_version() -> None:
    schema = machine.verdict_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == SCHEMA
    assert schema["properties"]["schema"]["const"] == SCHEMA


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_fits_the_schema_and_can_be_read_back(verdict: Verdict) -> None:
    data = strict(machine.render(verdict))
    jsonschema.Draft202012Validator(machine.verdict_schema()).validate(data)
    again = Verdict(**data)
    assert machine.render(again) == machine.render(verdict)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("verdict", "passed"),
        ("exit_code", 3),
        ("schema", "gateline.verdict/2"),
        ("findings", None),
        ("counts", []),
    ],
)
def test_a_broken_verdict_does_not_fit(key: str, value: object) -> None:
    data = strict(machine.render(design_verdict()))
    data[key] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(machine.verdict_schema()).validate(data)


@pytest.mark.parametrize("key", list(Verdict.model_fields))
def test_a_missing_field_does_not_fit(key: str) -> None:
    data = strict(machine.render(design_verdict()))
    del data["schema" if key == "schema_" else key]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(machine.verdict_schema()).validate(data)


def test_a_field_that_a_later_program_adds_fits() -> None:
    data = strict(machine.render(design_verdict()))
    data["later"] = data["findings"][0]["later"] = 1
    jsonschema.Draft202012Validator(machine.verdict_schema()).validate(data)


def test_every_field_says_what_it_is() -> None:
    schema = machine.verdict_schema()
    for name in ("Finding", "FoundInterval"):
        for field, facts in schema["$defs"][name]["properties"].items():
            assert facts.get("description"), f"{name}.{field}"
    assert set(schema["$defs"]["Finding"]["properties"]) == set(Finding.model_fields)


def test_numbers_that_are_not_finite_are_null() -> None:
    finding = make_finding(gain=float("nan"), relative_gain=float("-inf"), interval=None)
    data = strict(machine.render(make_verdict(finding)))
    assert data["findings"][0]["gain"] is None
    assert data["findings"][0]["relative_gain"] is None


@settings(max_examples=60, deadline=None)
@given(texts)
def test_texts_are_unharmed(text: str) -> None:
    data = strict(machine.render(replace_texts(design_verdict(), text)))
    assert data["findings"][0]["slice"] == text
    assert data["policy"]["name"] == text


def test_the_forged_slice_of_case_078_is_unharmed() -> None:
    data = strict(machine.render(make_verdict(make_finding(slice=ATTACKS[0]))))
    assert data["findings"][0]["slice"] == ATTACKS[0]
