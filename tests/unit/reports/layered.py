"""Verdicts of a whole RAG system made by hand: every layer, with spreads, curves and changed samples."""

from __future__ import annotations

from typing import Any

from gateline.findings import Finding, Status
from gateline.verdict import ChangedSample, Curve, Spread, Verdict

from .verdicts import cost_limit, design_verdict, latency, make_finding, passing, span

PROBABILITIES = [0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]


def down(metric: str, layer: str | None, **changed: Any) -> Finding:
    """A metric that is shown to have got worse, further than its rule allows."""
    fields: dict[str, Any] = {"rule": f"{metric}-holds", "slice": None, "family": 1}
    return make_finding(metric=metric, layer=layer, **(fields | changed))


def up(metric: str, layer: str | None, **changed: Any) -> Finding:
    """A metric that is shown to have got better."""
    fields: dict[str, Any] = {"gain": 0.03, "interval": span(0.01, 0.05)}
    return passing(rule=f"{metric}-holds", metric=metric, layer=layer, **(fields | changed))


def held(metric: str, layer: str | None, **changed: Any) -> Finding:
    """A metric that is shown to hold, and not to have moved."""
    return passing(rule=f"{metric}-holds", metric=metric, layer=layer, **changed)


def dulled(metric: str, layer: str | None, **changed: Any) -> Finding:
    """A metric that is shown to have got worse, but no further than its rule allows."""
    fields: dict[str, Any] = {"gain": -0.01, "interval": span(-0.018, -0.003)}
    return passing(rule=f"{metric}-holds", metric=metric, layer=layer, **(fields | changed))


def open_(metric: str, layer: str | None, **changed: Any) -> Finding:
    """A metric of which the data settle nothing."""
    fields: dict[str, Any] = {
        "status": Status.INCONCLUSIVE,
        "interval": span(-0.08, 0.04),
        "gain": -0.02,
        "blocks": False,
    }
    return down(metric, layer, **(fields | changed))


def whole_system_verdict() -> Verdict:
    """Recall fell while faithfulness holds; one slice fell; time, money and an unknown metric are judged too."""
    findings = [
        down("recall@5", "retrieval"),
        down("recall@5", "retrieval", slice="language=de", rule="recall-by-slice"),
        held("context_recall", "context"),
        held("faithfulness", "generation"),
        up("answer_correct", "generation"),
        held("citation_recall", "citation"),
        latency(layer="system"),
        cost_limit(layer="system"),
        held("sparkle", None),
    ]
    verdict = design_verdict(
        findings=findings, counts={"fail": 3, "inconclusive": 0, "waived": 1, "skipped": 0, "pass": 5}
    )
    return verdict.model_copy(
        update={
            "spreads": [
                Spread(
                    metric="recall@5",
                    show_as="percent",
                    unit=None,
                    samples=90,
                    same=76,
                    worse=13,
                    better=1,
                    edges=[0.0, 0.25, 0.5, 0.75, 1.0],
                    worse_bars=[3, 0, 0, 10],
                    better_bars=[1, 0, 0, 0],
                    farthest_worse=-1.0,
                    farthest_better=0.2,
                )
            ],
            "curves": [
                Curve(
                    metric="latency_p95",
                    field="latency_ms",
                    unit="ms",
                    samples=212,
                    probabilities=PROBABILITIES,
                    baseline=[310.0, 720.0, 980.0, 1310.0, 1680.0, 1910.0, 2400.0],
                    candidate=[330.0, 800.0, 1102.0, 1490.0, 1905.0, 2170.0, 2950.0],
                )
            ],
            "changed_samples": [
                ChangedSample(id="q-0173", metric="recall@5", baseline=1.0, candidate=0.0, gain=-1.0),
                ChangedSample(
                    id="q-0200", metric="recall@5", baseline=0.4, candidate=0.6, gain=0.2, question="How far?"
                ),
            ],
        }
    )
