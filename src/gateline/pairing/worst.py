"""The same pairs, were every value that is left out of the candidate as bad as can be.

A check that passes only because of what is not known has not passed; rules ask here. It judges nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gateline.metric import Metric
from gateline.pairing.values import MetricValues, SideValues

if TYPE_CHECKING:
    from gateline.pairing import Pairs


def assume_worst(pairs: Pairs, metrics: dict[str, Metric]) -> Pairs:
    """Return the pairs with each left-out value of the candidate filled in.

    It becomes the bad end of the metric's range or the policy's `worst`; without either it is infinitely bad, which a
    percentile can stand and a mean or a total can't. Of a ratio it has the largest denominator seen. The share of a
    question's attempts that is left out counts as much. Questions that the candidate lacks altogether are in no pair;
    they stay away.
    """
    filled = {
        name: replace(values, candidate=_fill(values, metrics[name]))
        for name, values in pairs.metrics.items()
    }
    return replace(pairs, metrics=filled)


def _fill(values: MetricValues, metric: Metric) -> SideValues:
    candidate = values.candidate
    bad = _worst(metric)
    lost = np.zeros(len(candidate.value))
    lost[values.expected] = candidate.lost[values.expected]
    if not lost.any():
        return candidate
    scored = np.where(candidate.usable, candidate.value, 0.0)
    heaviest, weight = 1.0, candidate.weight
    if weight is not None:
        heaviest = _heaviest(values)
        weight = (1 - lost) * np.where(candidate.usable, weight, 0.0) + lost * heaviest
    value = (1 - lost) * scored + np.where(lost > 0, lost, 1.0) * bad * heaviest
    return replace(
        candidate,
        value=np.where(lost > 0, value, candidate.value),
        weight=weight,
        usable=candidate.usable | (lost > 0),
    )


def _heaviest(values: MetricValues) -> float:
    """Return the largest denominator seen: what is as bad as can be also counts as much as can be."""
    seen = [side.weight[side.usable] for side in values.sides if side.weight is not None]
    return max((float(weights.max(initial=0.0)) for weights in seen), default=0.0) or 1.0


def _worst(metric: Metric) -> float:
    """Return the worst value of a sample: where the policy declares no end, there is none."""
    if metric.range is not None:
        return metric.range[0] if metric.better == "higher" else metric.range[1]
    if metric.worst is not None:
        return metric.worst
    return -np.inf if metric.better == "higher" else np.inf
