"""A verdict's checks in the order in which one looks for what broke: retrieval, context, generation, and so on.

It also says what a movement is: a change that the data show, because its whole interval lies on one side of zero.
This module groups and reads; it computes no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gateline import figures
from gateline.spelling import Spelling

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import Verdict

LAYERS = ("retrieval", "context", "generation", "citation", "system")
OTHER = "other"
Movement = Literal["better", "worse"]


@dataclass(frozen=True, slots=True)
class Section:
    """The checks of one layer."""

    layer: str
    """One of LAYERS, or OTHER."""
    findings: tuple[Finding, ...]
    """Worst first; empty where no rule looks at the layer."""

    def title(self, spelling: Spelling) -> str:
        """Return the heading."""
        return spelling.say(f"layer.{self.layer}")

    def question(self, spelling: Spelling) -> str:
        """Return what one asks of this layer; of no known layer, how a metric gets one."""
        return spelling.say(f"layer-question.{self.layer}", key=spelling.name("layer:"))

    @property
    def metrics(self) -> frozenset[str]:
        """Return the metrics that are judged here."""
        return frozenset(finding.metric for finding in self.findings)


def sections(verdict: Verdict) -> list[Section]:
    """Return a section for each layer, empty ones too, and one for metrics of no known layer where there are any."""
    found = [Section(layer, _of_layer(verdict, layer)) for layer in LAYERS]
    rest = _of_layer(verdict, None)
    return [*found, Section(OTHER, rest)] if rest else found


def unseen_layers(verdict: Verdict, spelling: Spelling) -> str:
    """Return `No rule looks at retrieval, context.`; empty where every layer has a check, or none is known."""
    names = [part.title(spelling).lower() for part in sections(verdict) if not part.findings]
    if not 0 < len(names) < len(LAYERS):
        return ""
    return spelling.say("layers.unseen", layers=spelling.say("joint.list").join(names))


def movement(finding: Finding) -> Movement | None:
    """Return which way the metric moved where that is shown: the whole interval of the gain lies on one side of zero.

    A fixed limit shows no movement: its interval is of the candidate's own value.
    """
    ends = figures.ends_of(finding)
    if finding.judged == "candidate" or finding.status.value == "skipped" or ends is None:
        return None
    if ends[1] < 0:
        return "worse"
    return "better" if ends[0] > 0 else None


def holds(finding: Finding) -> bool:
    """Return whether it is shown that the metric did not fall further than its rule allows, and no fall is shown."""
    judged_by_interval = finding.decide_by == "interval" and figures.ends_of(finding) is not None
    if finding.judged == "candidate" or not judged_by_interval:
        return False
    return movement(finding) == "better" or (finding.status.value == "pass" and movement(finding) is None)


def worse_slices(verdict: Verdict) -> list[Finding]:
    """Return the checks of slices that are shown to have got worse, whether their rule allows it or not."""
    return [f for f in verdict.findings if f.slice is not None and movement(f) == "worse"]


def _of_layer(verdict: Verdict, layer: str | None) -> tuple[Finding, ...]:
    return tuple(finding for finding in verdict.findings if finding.layer == layer)
