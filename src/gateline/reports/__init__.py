"""Verdict in, text out. A report is one file in this folder with a `NAME` and a `render(verdict) -> str`.

Reports are pure: they read no file, no clock, no environment, and compute no number. A report is imported
when it is asked for.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from gateline.texts import Texts
    from gateline.verdict import Verdict

del annotations  # the import from __future__ leaves a name behind that would hide the module annotations.py


def render(name: str, verdict: Verdict, **options: Any) -> str:
    """Return the report called `name`; `options` are the keyword arguments of its `render`, such as `language`.

    Raises KeyError where no report has that name.
    """
    report: Any = find(name)
    text: str = report.render(verdict, **options)  # as it is: its type may say what it is
    return text


def language_of(verdict: Verdict, language: str | None) -> Texts:
    """Return the language of a report: the one asked for, else the policy's, else English.

    A policy's language that this version does not know, in a verdict of another, gives way to English. Raises
    KeyError where the one asked for is not known.
    """
    from gateline.texts import ENGLISH, languages, load

    if language is not None:
        return load(language)
    own = verdict.policy.lang
    return load(own if own in languages() else ENGLISH)


def find(name: str) -> ModuleType:
    """Return the module of a report. Raises KeyError naming the known ones."""
    for module in _modules(first=name):
        if getattr(module, "NAME", None) == name:
            return module
    raise KeyError(f"no report is called {name!r}; known: {', '.join(names())}")


def names() -> list[str]:
    """Return the names of all reports, sorted."""
    return sorted(module.NAME for module in _modules() if hasattr(module, "NAME"))


def _modules(first: str = "") -> Iterator[ModuleType]:
    """Yield the modules of this folder, each imported when it is reached; `first` goes first."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    for module_name in sorted(found, key=lambda known: known != first):
        yield importlib.import_module(f"{__name__}.{module_name}")
