"""The base of every part of the policy file, so that all parts refuse what they don't know in the same way."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Part(BaseModel):
    """A part of the policy: frozen, closed to unknown fields, documented by the texts under its fields."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=False,
    )


def _read_switch(value: object) -> object:
    """Take `yes`, `no`, `on`, `off` for what a person means; refuse numbers."""
    words = {"yes": True, "on": True, "no": False, "off": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value


def _read_name(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        raise ValueError(f"must be a text, not {value!r}; put it in quotes")
    if isinstance(value, str) and not value.strip():
        raise ValueError("must not be empty")
    return value


Switch = Annotated[bool, BeforeValidator(_read_switch)]
"""true or false, also written yes, no, on, off."""

Name = Annotated[str, BeforeValidator(_read_name)]
"""A text that is not blank."""
