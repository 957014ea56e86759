"""Where a job runs: one file a host, found by looking through this folder.

A host sees a verdict and the environment. What it can't tell is a note, never another exit code.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Protocol, cast

from gateline.verdict import Verdict


class Host(Protocol):
    """What a file of this folder defines."""

    NAME: str

    def here(self, environment: dict[str, str]) -> bool:
        """Return whether the job runs on this host."""

    def commands(self, verdict: Verdict) -> str:
        """Return what the host reads on the job's standard output; empty for nothing."""

    def publish(self, verdict: Verdict, folder: Path, environment: dict[str, str]) -> list[str]:
        """Tell the host; return what could not be told, as sentences."""


def find_host(environment: dict[str, str]) -> Host | None:
    """Return the host that the environment speaks of, or None."""
    for module in pkgutil.iter_modules(__path__):
        host = cast("Host", importlib.import_module(f"{__name__}.{module.name}"))
        if host.here(environment):
            return host
    return None
