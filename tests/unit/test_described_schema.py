"""Texts under fields reach the schemas, and cost nothing where no schema is asked for."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, Field

from gateline.described_schema import DescribedSchema, field_texts
from gateline.policy import Policy
from gateline.verdict import Verdict


class Shelf(BaseModel):
    """Something with books."""

    size: int
    """How many
    it holds."""
    bare: int = 0
    books: list[str] = Field(default_factory=list, alias="items")
    """What stands on it."""


class Corner(Shelf):
    """A shelf in a corner."""

    sides: ClassVar[int] = 2
    """How many sides there are."""
    size: int
    """How many each side holds."""
    beside: Shelf | None = None
    """The next one."""


def test_a_text_is_found_under_its_field_and_on_the_base_class() -> None:
    assert field_texts(Corner) == {
        "size": "How many each side holds.",
        "books": "What stands on it.",
        "beside": "The next one.",
    }


def test_the_schema_is_pydantics_own_but_for_the_descriptions() -> None:
    made = Corner.model_json_schema(schema_generator=DescribedSchema)
    assert made["properties"]["items"]["description"] == "What stands on it."
    assert made["$defs"]["Shelf"]["properties"]["size"]["description"] == "How many\nit holds."
    assert "description" not in made["properties"]["bare"]
    for part in (made, made["$defs"]["Shelf"]):
        for field in part["properties"].values():
            field.pop("description", None)
    assert made == Corner.model_json_schema()


def test_by_name_the_alias_plays_no_part() -> None:
    made = Shelf.model_json_schema(by_alias=False, schema_generator=DescribedSchema)
    assert made["properties"]["books"]["description"] == "What stands on it."


def test_every_text_in_policy_and_verdict_reaches_their_schemas() -> None:
    for model, texts in ((Policy, field_texts(Policy)), (Verdict, field_texts(Verdict))):
        made = model.model_json_schema(schema_generator=DescribedSchema)
        found = [field.get("description") for field in made["properties"].values()]
        assert set(texts.values()) <= set(found)
        for name, part in made["$defs"].items():
            kind = MODELS.get(name)
            if kind is not None:
                described = [field.get("description") for field in part["properties"].values()]
                assert set(field_texts(kind).values()) <= set(described), name
    assert {"Metric", "Tolerance", "Finding", "Settings"} <= MODELS.keys()


def _below(kind: type[BaseModel]) -> list[type[BaseModel]]:
    return [one for sub in kind.__subclasses__() for one in (sub, *_below(sub))]


MODELS = {kind.__name__: kind for kind in _below(BaseModel) if kind.__module__.startswith("gateline.")}
