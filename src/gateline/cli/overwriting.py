"""Refuses outputs that are inputs: a run's results, a policy or labels must not be lost to a report about them.

It opens nothing; links and patterns are followed to the files that they name.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from gateline.errors import InputError
from gateline.files import find_matches

_INPUTS = (
    "policy", "base_policy", "baseline", "candidate", "file", "files", "golden", "outputs", "verdict", "human", "judge"
)  # fmt: skip
_OUTPUTS = ("output", "workflow")


def refuse_overwriting(options: argparse.Namespace, outputs: Iterable[Path] = ()) -> None:
    """Raise InputError where an output that the options name, or one of `outputs`, is one of their inputs."""
    named = [getattr(options, name, None) for name in _OUTPUTS]
    places = [*outputs, *(Path(name) for name in named if isinstance(name, str) and name)]
    inputs = {os.path.realpath(file) for file in _inputs(options)}
    for place in places:
        if os.path.realpath(place) in inputs:
            raise InputError(
                "is an input of this command and is not written over",
                str(place),
                "name another place to write to",
            )


def _inputs(options: argparse.Namespace) -> Iterable[str]:
    for name in _INPUTS:
        value = getattr(options, name, None)
        for text in value if isinstance(value, list) else [value]:
            for line in text.splitlines() if isinstance(text, str) else ():
                matches = find_matches(line)
                yield from [line] if matches is None else matches
