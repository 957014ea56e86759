"""The base of everything that stands in a verdict."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen record that refuses unknown fields and is documented by the texts under its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
