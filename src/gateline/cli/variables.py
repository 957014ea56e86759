"""Options that the environment can set as well: GATELINE_ and the option's name. Imports nothing but argparse."""

from __future__ import annotations

import argparse
import os

TYPE_CHECKING = False  # the module typing is slower to import than all else here
if TYPE_CHECKING:
    from typing import Any

YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def variable(name: str) -> str | None:
    """Return what the environment says of an option; an empty variable counts as unset, as CI hosts leave them."""
    return os.environ.get("GATELINE_" + name.lstrip("-").upper().replace("-", "_")) or None


def setting(parser: argparse.ArgumentParser, *names: str, **options: Any) -> None:
    """Add an option that the environment can set."""
    name = next(name for name in names if name.startswith("--"))
    value = variable(name)
    if value is not None:
        choices = options.get("choices")
        if choices and value not in choices:
            wanted = ", ".join(choices)
            parser.set_defaults(
                unreadable=f"{name} is '{value}' in the environment; it must be one of {wanted}"
            )
        else:
            options["default"] = value
        options.pop("required", None)
    parser.add_argument(*names, **options)


def switch(parser: argparse.ArgumentParser, *names: str, help: str) -> None:  # noqa: A002  (argparse's word)
    """Add an option without a value that the environment can set."""
    name = next(name for name in names if name.startswith("--"))
    value = variable(name) or ""
    said = value.strip().lower()
    if said not in ("", *YES, *NO):
        parser.set_defaults(unreadable=f"{name} is '{value}' in the environment; write true or false")
    parser.add_argument(*names, action="store_true", default=said in YES, help=help)
