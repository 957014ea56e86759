"""The rules: one file each, found by looking through this folder.

A rule is a subclass of `Rule` with its fields in the policy, a one-sentence docstring and its check.
"""

from __future__ import annotations

import importlib
import pkgutil

from gateline.rules.base import Rule

__all__ = ["Rule", "find_rules"]


def find_rules() -> dict[str, type[Rule]]:
    """Return the rule classes by kind, in the order of their files' names."""
    rules: dict[str, type[Rule]] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name == "base":
            continue
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        for value in vars(loaded).values():
            if isinstance(value, type) and issubclass(value, Rule) and value is not Rule:
                rules[value.model_fields["kind"].default] = value
    return rules
