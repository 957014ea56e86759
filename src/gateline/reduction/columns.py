"""Which columns the relation `log` must have for a plan.

It reads no file: where they stand in a log is found by `logs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gateline.reduction.plan import Plan

Kind = Literal["text", "number", "absent"]


@dataclass(frozen=True)
class Wanted:
    """A column of `log`: its name there, the field that it holds, and whether any record must have it."""

    name: str
    field: str
    section: Literal["metrics", "slices", ""] = ""
    """The section that is looked into first."""
    required: bool = False


def columns_of(plan: Plan) -> list[Wanted]:
    """Return the columns that `log` must have."""
    samples = plan.policy.policy.samples
    found = [Wanted("id", samples.id, required=True), Wanted("error", "error"), Wanted("cached", "cached")]
    found += [Wanted("attempt", samples.repeat_field), Wanted("header", "gateline")]
    if samples.cluster is not None:
        found.append(Wanted("cluster", samples.cluster, "slices", required=True))
    found += [Wanted(f"input{at}", name) for at, name in enumerate(input_fields(plan))]
    found += [Wanted(f"label{at}", name, "slices", required=True) for at, name in enumerate(plan.labels)]
    found += [Wanted(f"fact{at}", name) for at, name in enumerate(plan.facts)]
    for at, (name, metric) in enumerate(plan.metrics.items()):
        fields = metric.ratio or (metric.field or name,)
        found += [Wanted(f"raw{at}{part}", field, "metrics", required=True)
                  for part, field in zip("vw", fields, strict=False)]  # fmt: skip
    return found


def input_fields(plan: Plan) -> list[str]:
    """Return the fields that are a question's input."""
    asked = plan.policy.policy.samples.same_input
    return ["question"] if asked is None else list(asked)
