"""Intervals for the gain of a candidate over a baseline, and for one run's value.

Arrays and settings in, intervals out: no files, no policies, no verdicts, and nothing of gateline outside.
The method and its sources are in docs/statistics.md.
"""

from __future__ import annotations

from gateline.statistics.interval import Interval
from gateline.statistics.intervals import gain_interval, value_interval
from gateline.statistics.notes import Note
from gateline.statistics.order_statistics import samples_needed_for_quantile
from gateline.statistics.pairs import Paired, Side, Statistic, cluster_keys, evaluate, gain, order_clusters
from gateline.statistics.planning import samples_needed, smallest_visible_change
from gateline.statistics.settings import Settings

__all__ = [
    "Interval",
    "Note",
    "Paired",
    "Settings",
    "Side",
    "Statistic",
    "cluster_keys",
    "evaluate",
    "gain",
    "gain_interval",
    "order_clusters",
    "samples_needed",
    "samples_needed_for_quantile",
    "smallest_visible_change",
    "value_interval",
]
