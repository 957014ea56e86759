"""The verdict for programs: JSON, and the JSON Schema that says what stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateline.verdict import Verdict

NAME = "json"

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def render(verdict: Verdict, *, language: str | None = None) -> str:
    """Return `verdict.json`, with every text from the files as it was; it is the same in every language."""
    return verdict.to_json()


def verdict_schema() -> dict[str, Any]:
    """Return the JSON Schema of `verdict.json`; its `$id` is the version that the file names.

    Within a version fields are only added, so a file may hold more than the schema knows.
    """
    from gateline.described_schema import DescribedSchema
    from gateline.verdict import SCHEMA, Verdict

    made = Verdict.model_json_schema(by_alias=True, mode="serialization", schema_generator=DescribedSchema)
    schema = _open(made)
    schema["properties"]["schema"]["const"] = SCHEMA
    schema["required"] = list(schema["properties"])
    return {"$schema": DIALECT, "$id": SCHEMA, **schema}


def _open(value: Any) -> Any:
    """Let objects hold fields that a later program adds."""
    if isinstance(value, dict):
        return {
            key: _open(item)
            for key, item in value.items()
            if not (key == "additionalProperties" and item is False)
        }
    return [_open(item) for item in value] if isinstance(value, list) else value
