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

from gateline.errors import InputError, PolicyError, name_some
from gateline.golden.questions import NAMES, GoldenSet, refuse_contradictions
from gateline.golden.slips import find_slips, refuse_slips, say_slip
from gateline.metric import Metrics
from gateline.samples import Run
from gateline.scoring._definitions import Definition, Measured, metric
from gateline.scoring._material import OUTPUTS, Material, find_absent, join
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
    left_out: list[str] = field(default_factory=list)
    """Metrics for which no record has what they need."""
    absent: dict[str, list[str]] = field(default_factory=dict)
    """What no record of the golden set, and none of the outputs, has: `golden set` and `outputs` -> names."""


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

    Raises InputError where the golden set contradicts itself, the two have no question in common, a label can't
    be understood or is misspelt, or no metric has what it needs.
    """
    refuse_contradictions(golden)
    slips = _refuse_misspelt(golden, outputs)
    material = join(golden, outputs)
    measured: dict[str, Measured] = {}
    definitions: dict[str, Definition] = {}
    left_out: list[str] = []
    for family in families().values():
        for definition in family:
            for cutoff in cutoffs if definition.has_cutoff else (0,):
                found = definition.compute(material, cutoff)
                if found is not None:
                    name = definition.named(definition.name, cutoff)
                    measured[name], definitions[name] = found, definition
                else:
                    left_out.append(definition.named(definition.name, cutoff))
    absent = find_absent(material)
    if all(definition.summary == "spread" for definition in definitions.values()):
        raise _refuse_unlabelled(material, absent)
    run = make_run(
        material, [(name, cutoff_of(name), definitions[name], measured[name]) for name in measured], slips
    )
    return Scores(run, measured, definitions, left_out, absent)


def _refuse_misspelt(golden: GoldenSet, outputs: Run) -> list[str]:
    """Return sentences on fields that may be misspelt labels; an InputError for those that can be nothing else."""
    known = [name for names in (*NAMES.values(), *OUTPUTS.values()) for name in names]
    told = []
    for run, labels in ((golden.run, NAMES), (outputs, OUTPUTS)):
        slips = find_slips(run, (name for names in labels.values() for name in names), known)
        refuse_slips(run, slips)
        told += [f"{run.file}: {say_slip(slip)}; is '{slip.meant}' meant?" for slip in slips]
    return told


def _refuse_unlabelled(material: Material, absent: dict[str, list[str]]) -> InputError:
    said = "; ".join(
        f"no record of the {where} has {name_some(names, 20)}" for where, names in absent.items() if names
    )
    return InputError(
        f"no metric has the labels that it needs: {said}",
        material.golden.run.file,
        "docs/metrics.md says which fields each metric reads",
    )


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
