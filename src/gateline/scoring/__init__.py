"""Metrics from labels, without any model: a golden set and a system's outputs to a run that `check` reads.

Each module of this folder holds one family of metrics: functions marked with `metric`, found by looking through the
folder. A new metric is one more function, a new family one more file; nothing here needs to know it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from gateline.errors import PolicyError
from gateline.golden.questions import GoldenSet, refuse_contradictions
from gateline.metric import Metrics
from gateline.samples import Run
from gateline.scoring._definitions import Definition, Measured, metric
from gateline.scoring._material import join
from gateline.scoring._result import make_run

__all__ = ["Scores", "cutoffs_of", "families", "metric", "read_cutoffs", "score"]

DEFAULT_CUTOFFS = (10,)
LARGEST_CUTOFF = 100_000


@dataclass(frozen=True)
class Scores:
    """What was computed: the run, and each metric by the name it has there."""

    run: Run
    """The records with their metrics, counts and reasons."""
    measured: dict[str, Measured] = field(default_factory=dict)
    """Values of each metric."""
    definitions: dict[str, Definition] = field(default_factory=dict)
    """What each metric is."""


@cache
def families() -> dict[str, tuple[Definition, ...]]:
    """Return the metrics of each family, in the order of the family's file."""
    found: dict[str, tuple[Definition, ...]] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            members = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
            marked = [getattr(member, "definition", None) for member in members]
            found[module.name] = tuple(one for one in marked if isinstance(one, Definition))
    return found


def score(golden: GoldenSet, outputs: Run, cutoffs: Sequence[int] = DEFAULT_CUTOFFS) -> Scores:
    """Compute every metric for which golden set and outputs hold what it needs.

    Raises InputError where the golden set contradicts itself, the two have no question in common, or a label can't
    be understood.
    """
    refuse_contradictions(golden)
    material = join(golden, outputs)
    measured: dict[str, Measured] = {}
    definitions: dict[str, Definition] = {}
    for family in families().values():
        for definition in family:
            for cutoff in cutoffs if definition.has_cutoff else (0,):
                found = definition.compute(material, cutoff)
                if found is not None:
                    name = definition.named(definition.name, cutoff)
                    measured[name], definitions[name] = found, definition
    run = make_run(
        material, [(name, cutoff_of(name), definitions[name], measured[name]) for name in measured]
    )
    return Scores(run, measured, definitions)


def read_cutoffs(text: str) -> list[int]:
    """Read `1,3,5,10`; a PolicyError says what is wrong with it."""
    cutoffs = []
    for part in text.split(","):
        if not re.fullmatch(r"[1-9][0-9]{0,5}", part.strip()) or int(part) > LARGEST_CUTOFF:
            raise PolicyError(
                f"--k must be whole numbers from 1 to {LARGEST_CUTOFF:,} with commas between, not '{text}'"
            )
        cutoffs.append(int(part))
    return sorted(set(cutoffs))


def cutoffs_of(metrics: Metrics) -> list[int]:
    """Return the cut-offs that the metrics of a policy name, such as 5 for `recall@5`; the usual one if none does."""
    names = [name for key, one in metrics.items() for name in (one.ratio or (one.field or key,))]
    return sorted({found for name in names if (found := cutoff_of(name))}) or list(DEFAULT_CUTOFFS)


def cutoff_of(name: str) -> int:
    """Return the cut-off in a metric's name, 0 without one."""
    found = re.search(r"@([1-9][0-9]{0,5})$", name)
    return int(found[1]) if found else 0
