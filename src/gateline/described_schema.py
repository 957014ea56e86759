"""JSON Schemas whose fields carry the texts that stand under them in the source.

pydantic can collect these texts while it makes a class (`use_attribute_docstrings`), which reads and parses every
source file at every start: 60 ms that only who asks for a schema should wait for. Knows no particular model.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema


class DescribedSchema(GenerateJsonSchema):
    """Writes each field's text as its `description`; for `model_json_schema(schema_generator=…)`."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model."""
        described = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        properties: dict[str, Any] = described.get("properties", {})
        for name, text in field_texts(model).items():
            field = model.model_fields.get(name)
            key = (field and self.by_alias and field.alias) or name
            if key in properties:
                properties[key].setdefault("description", text)
        return described


def field_texts(model: type[BaseModel]) -> dict[str, str]:
    """Return the text under each field of a model, those of the models that it extends too."""
    texts: dict[str, str] = {}
    for part in reversed(model.__mro__):
        if issubclass(part, BaseModel) and part is not BaseModel:
            texts |= _own_texts(part)
    return texts


def _own_texts(model: type[BaseModel]) -> dict[str, str]:
    definition = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    assert isinstance(definition, ast.ClassDef)
    texts = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if field.target.id not in model.model_fields:  # a variable of the class, which no document has
            continue
        value = below.value if isinstance(below, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            texts[field.target.id] = inspect.cleandoc(value.value)
    return texts
