"""Scores of a whole run as a table for the terminal: each value with what it is over and what is undefined.

Nothing is computed here but means, ratios of sums and quantiles.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from gateline.errors import name_some
from gateline.figures import spell
from gateline.samples import Floats
from gateline.scoring import Scores
from gateline.scoring._definitions import Definition, Measured
from gateline.statistics import Statistic, evaluate

QUANTILES = (0.5, 0.95, 0.99)


def summarise(measured: Measured, definition: Definition) -> float:
    """Return the value of a whole run: the mean over its records, or the ratio of sums; NaN where there is none."""
    value = measured.value
    known = ~np.isnan(value)
    if definition.summary == "ratio":
        return evaluate(measured.numerator[known], measured.denominator[known], Statistic("ratio"))
    return evaluate(value[known], None, Statistic("mean"))


def render_summary(scores: Scores) -> str:
    """Return a table: metric, value, records with a value, and why the others have none."""
    rows = [("metric", "value", "over", "undefined")]
    for name, measured in scores.measured.items():
        definition = scores.definitions[name]
        known = int((~np.isnan(measured.value)).sum())
        value = summarise(measured, definition)
        over = f"{known} of {len(measured.value)}"
        if definition.summary == "ratio":
            over = (
                f"{_total(measured.denominator, measured.value)} {definition.counts[1]}"
                if definition.counts
                else over
            )
        shown = (
            _spell_spread(measured.value, definition.unit)
            if definition.summary == "spread"
            else _spell(value)
        )
        rows.append((name, shown, over, _spell_reasons(measured)))
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}".rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def tell_left_out(scores: Scores) -> list[str]:
    """Return which metrics are not there, and the labels that no record has, a sentence each."""
    if not scores.left_out:
        return []
    lines = [f"not computed, for want of labels: {name_some(scores.left_out, 8)}"]
    return lines + [
        f"no record of the {where} has {name_some(names, 20)}"
        for where, names in scores.absent.items()
        if names
    ]


def _spell(value: float) -> str:
    return "—" if math.isnan(value) else spell(value, 4)


def _total(column: Floats, value: Floats) -> str:
    return spell(float(column[~np.isnan(value)].sum()), 0)


def _spell_spread(value: Floats, unit: str | None) -> str:
    """Return mean, median, p95, p99 and total of what was recorded."""
    known = value[~np.isnan(value)]
    if not len(known):
        return "—"
    decimals = 0 if float(np.abs(known).max()) >= 100 else 4
    quantiles = [evaluate(known, None, Statistic("quantile", one)) for one in QUANTILES]
    words = ["mean", *(f"p{round(one * 100)}" for one in QUANTILES), "total"]
    numbers = [float(known.mean()), *quantiles, float(known.sum())]
    parts = [f"{word} {spell(number, decimals)}" for word, number in zip(words, numbers, strict=True)]
    return " · ".join(parts) + (f" {unit}" if unit and unit != "tokens" else "")


def _spell_reasons(measured: Measured) -> str:
    counted = Counter(reason for reason in measured.reasons() if reason)
    return name_some([f"{number} {reason}" for reason, number in counted.most_common()], 3)
