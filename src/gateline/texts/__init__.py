"""All words that people read in a verdict and its reports: a file a language in this folder, all of the same keys.

This module loads one language and puts values into its templates. It decides nothing, knows no verdict, and escapes
nothing: what comes from files is made harmless by who asks.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping
from functools import cache

ENGLISH = "en"
"""The language of `verdict.json` and of whatever has no other."""

Template = str | Mapping[str, str]
"""A sentence with `{named}` fields, or such a sentence for each form that a language has for a count."""


class Texts:
    """One language."""

    __slots__ = ("_forms", "_templates", "breaks_between_characters", "language", "tag")

    def __init__(
        self,
        language: str,
        tag: str,
        templates: Mapping[str, Template],
        forms: Mapping[str, str],
        breaks_between_characters: bool = False,
    ):
        """Take the templates by key, and for each form but `other` the counts that it is for, as in CLDR: `n = 1`."""
        self.language = language
        self.tag = tag
        self.breaks_between_characters = breaks_between_characters
        self._templates = templates
        self._forms = {name: _read_form(rule) for name, rule in forms.items()}

    def knows(self, key: str) -> bool:
        """Return whether there is a text of that key."""
        return key in self._templates

    def say(self, key: str, /, *, count: int | None = None, **fields: object) -> str:
        """Return a text with its fields filled in; `count` chooses the form, and is shown as `1,200`.

        Raises KeyError where there is no such text, or where it has a field that is not given.
        """
        template = self._templates[key]
        if not isinstance(template, str):
            template = template[self.form(count)] if count is not None else template["other"]
        if count is not None:
            fields["count"] = f"{count:,}"
        return template.format_map(fields) if "{" in template or "}" in template else template

    def form(self, count: int) -> str:
        """Return the form for a count: `other` where no rule of the language speaks of it."""
        return next((name for name, holds in self._forms.items() if holds(abs(count))), "other")


@cache
def load(language: str = ENGLISH) -> Texts:
    """Return a language; only its own file is read. Raises KeyError that names the known ones."""
    if language not in languages():
        raise KeyError(f"no language is called {language!r}; known: {', '.join(languages())}")
    module = importlib.import_module(f"{__name__}.{language}")
    return Texts(language, module.TAG, module.TEXTS, module.FORMS, module.BREAKS_BETWEEN_CHARACTERS)


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that there are, by the files of this folder, sorted."""
    files = {name for folder in __path__ for name in os.listdir(folder)}  # noqa: PTH208  (pathlib is slow to import)
    return tuple(
        sorted(name.removesuffix(".py") for name in files if name.endswith(".py") and name[0] != "_")
    )


_RELATION = re.compile(r"n(?: % (\d+))? (!?=) (\d+(?:\.\.\d+)?(?:,\d+(?:\.\.\d+)?)*)")


def _read_form(rule: str) -> Callable[[int], bool]:
    """Return the test of a plural rule for whole numbers, such as `n % 10 = 2..4 and n % 100 != 12..14`.

    The syntax is a part of Unicode Technical Standard 35 (CLDR), part 3, "Language Plural Rules". Raises ValueError
    where it is not understood.
    """
    options = [[_read_relation(part) for part in option.split(" and ")] for option in rule.split(" or ")]
    return lambda number: any(all(holds(number) for holds in relations) for relations in options)


def _read_relation(text: str) -> Callable[[int], bool]:
    match = _RELATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a relation of a plural rule: {text!r}")
    modulus, sign, listed = match.groups()
    ranges = [[int(end) for end in part.split("..")] for part in listed.split(",")]

    def holds(number: int) -> bool:
        value = number % int(modulus) if modulus else number
        return any(ends[0] <= value <= ends[-1] for ends in ranges) == (sign == "=")

    return holds
