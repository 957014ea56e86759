"""Metrics that tell the candidate's answers no longer apart: a judge that gives everything the same score.

It tells and refuses nothing: that all answers are perfect is not impossible, only hardly ever so.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gateline.pairing.values import OK, MetricValues, SideValues
from gateline.remark import Said, said
from gateline.samples import Floats, number_text

FEWEST_PAIRS = 30
"""Pairs with a measured value in both runs, from which on they are looked at."""
FEWEST_DIFFERENT = 10
"""Values that the baseline must have told apart: two or five grades may well all be the best one."""


def tell_constant(metrics: Mapping[str, MetricValues]) -> list[Said]:
    """Return a notice for each metric with one single value in the candidate, and many in the baseline.

    Of a ratio those of the single samples are meant, where they have one. What counts as the worst was not measured.
    """
    notices = []
    for name, values in metrics.items():
        if values.baseline is None:
            continue
        before, after = _measured(values.baseline), _measured(values.candidate)
        both = ~np.isnan(before) & ~np.isnan(after)
        if int(both.sum()) < FEWEST_PAIRS or len(np.unique(after[both])) > 1:
            continue
        different = len(np.unique(before[both]))
        if different >= FEWEST_DIFFERENT:
            notices.append(
                said(
                    "notice.constant",
                    metric=name,
                    value=number_text(float(after[both][0])),
                    samples=int(both.sum()),
                    different=different,
                )
            )
    return notices


def _measured(side: SideValues) -> Floats:
    """Return the values that were measured (pairs), NaN elsewhere."""
    value = side.value
    if side.weight is not None:
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.where(side.weight > 0, value / side.weight, np.nan)
    found: Floats = np.where(side.usable & (side.cause == OK), value, np.nan)
    return found
