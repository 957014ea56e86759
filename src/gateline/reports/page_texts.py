"""The fixed words of the HTML report, so that another language is another mapping of the same keys.

Sentences about findings are made in `wording`, pointers in `diagnosis`, names of layers in `layers`.
"""

from __future__ import annotations

PAGE = {
    "loosens": "This change loosens the policy that judges it.",
    "nav": "Parts of the report",
    "nav_glance": "At a glance",
    "diagnosis": "Where to look",
    "compared": "What was compared",
    "nav_slices": "Slices",
    "nav_samples": "Samples",
    "nav_next": "Next step",
    "glance": "All checks at a glance",
    "glance_note": (
        "Each row is scaled by its own bound (dashed; a limit stands on the axis). The shaded "
        "side is what the rule allows. Dot and line: value and interval."
    ),
    "glance_caption": "Value, interval and bound of every check, by rule and slice",
    "axis_worse": "◄ worse",
    "axis_better": "better ►",
    "check": "check",
    "outcome": "outcome",
    "found": "found",
    "interval": "interval",
    "needed": "needed",
    "within": "In",
    "no_pointer": "No movement that is shown points at one layer.",
    "diagnosis_note": (
        "A pointer rests on the checks under it and on nothing else: intervals that lie "
        "wholly on one side of zero, and checks that hold."
    ),
    "spreads": "How far single questions moved",
    "curves": "How long answers take",
    "curve_note": "share of answers within a time",
    "baseline": "baseline",
    "candidate": "candidate",
    "no_rule": "No rule looks at this layer.",
    "slices": "Slices that got worse",
    "no_slice": "No slice is shown to have got worse.",
    "worst": "Worst samples",
    "worst_note": "From checks that are not plainly fine, worst first.",
    "no_worst": "No check is in doubt, or nothing got worse in those that are.",
    "changed": "Samples that changed most",
    "next": "Verdict and next step",
    "to_verdict": "To get a verdict:",
    "to_unblock": "To unblock:",
    "left_out": "Left out, or counted as the worst",
    "method": "Method",
    "again": "Run it again",
}
"""Key that the template uses -> words."""

COLUMNS = {
    "checks": ("check", ">from → to", ">found", ">interval", ">needed", ">worse / better of", ">could show"),
    "provenance": ("fact", "baseline", "candidate", "policy"),
    "worst": ("question", "metric", "slice", ">baseline", ">candidate", ">change", "text"),
    "changed": ("question", "metric", ">baseline", ">candidate", ">change", "text"),
    "curve": ("share", ">baseline", ">candidate"),
}
"""Table -> titles of its columns; those that start with `>` hold numbers."""
