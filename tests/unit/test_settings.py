"""Names and switches of the policy are read as a person means them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateline.settings import Name, Part, Switch


class Example(Part):
    """One field of each kind."""

    name: Name = "n"
    switch: Switch = False


@pytest.mark.parametrize(
    ("written", "meant"),
    [(True, True), (False, False), ("yes", True), ("On", True), ("no", False), ("OFF", False)],
)
def test_a_switch_takes_the_words_people_use(written: object, meant: bool) -> None:
    assert Example.model_validate({"switch": written}).switch is meant


@pytest.mark.parametrize("written", [0, 1, "true", "maybe", None, 1.0, []])
def test_a_switch_takes_nothing_else(written: object) -> None:
    with pytest.raises(ValidationError, match="must be true or false"):
        Example.model_validate({"switch": written})


@pytest.mark.parametrize("written", [7, 0.5, True, "", "  "])
def test_a_name_is_a_text_that_is_not_blank(written: object) -> None:
    with pytest.raises(ValidationError, match=r"must be a text, not .*; put it in quotes|must not be empty"):
        Example.model_validate({"name": written})


@pytest.mark.parametrize("data", [{"nmae": "x"}, {"name": "a", "switch": True, "more": 1}])
def test_a_part_refuses_what_it_does_not_know(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Example.model_validate(data)


def test_a_part_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Example().name = "other"  # type: ignore[misc]
