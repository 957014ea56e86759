"""What a number of questions can show: the smallest change of a pass/fail metric that would be seen.

It is a plan, made before there are any results, under one stated assumption. It decides nothing.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gateline.statistics import (
    Paired,
    Settings,
    Statistic,
    cluster_keys,
    smallest_visible_change,
)

CHANGING = 0.1
"""Share of answers assumed to change from pass to fail or back between two runs, as many either way."""


@cache
def visible_change(questions: int) -> float | None:
    """Return the smallest change of a pass rate that so many questions show with 80 % power at 95 % confidence.

    The gains of the pairs have the variance of pass/fail values of which `CHANGING` change: the error of their mean
    depends on nothing else. A share of 0 to 1; None where the questions are too few to show anything.
    """
    if questions < 2:
        return None
    gain = np.sqrt(CHANGING) * np.where(np.arange(questions) % 2 == 0, 1.0, -1.0)
    if questions % 2:
        gain[-1] = 0.0
    baseline = np.full(questions, 0.5)
    paired = Paired(
        baseline,
        baseline + gain,
        None,
        None,
        np.arange(questions),
        cluster_keys([str(one) for one in range(questions)]),
    )
    change = smallest_visible_change(
        paired, Statistic("mean"), relative=False, level=0.95, width=1.0, settings=Settings()
    )
    return None if change is None or change >= 1.0 else change
