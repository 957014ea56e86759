"""The sandbox in which the templates of all pages are filled in: none can reach or change what the program holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template


def make_template(source: str, **options: Any) -> Template:
    """Return a template; `options` say how values are escaped. A name that is not given is an error, not a blank."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        **options,
    )
    return environment.from_string(source)
