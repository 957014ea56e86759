"""Golden sets: reading them, refusing what contradicts itself, and what is worth mending.

Nothing here knows a run, a policy or a metric.
"""

from __future__ import annotations

from gateline.golden.questions import GoldenSet, read_golden, read_records, refuse_contradictions

__all__ = ["GoldenSet", "read_golden", "read_records", "refuse_contradictions"]
