"""How often a property is tried: a few times, always the same, or as often as the environment asks for."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("GATELINE_PROPERTY_EXAMPLES", "0"))
"""How many examples each property tries; 0 leaves the short default."""


def make_tries(*suppressed: HealthCheck) -> Callable[[int], Callable[[Any], Any]]:
    """Return what makes the settings of a property from its few examples; that drawing one is slow is no complaint."""

    def tries(few: int) -> Callable[[Any], Any]:
        return settings(
            max_examples=EXAMPLES or few,
            deadline=None,
            derandomize=not EXAMPLES,
            database=None,
            suppress_health_check=[HealthCheck.too_slow, *suppressed],
            print_blob=False,
        )

    return tries
