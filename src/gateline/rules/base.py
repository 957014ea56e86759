"""What all rules have in common: where they look, how a number is held against a bound, how a finding is made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from pydantic import model_validator

from gateline import statistics
from gateline.comparison import Comparison, Estimate
from gateline.findings import Finding, FoundInterval, Judged, Status
from gateline.metric import Metric
from gateline.pairing import Terms
from gateline.remark import Said, remarks_of, said
from gateline.rules.gaps import mind_left_out, say_none_usable
from gateline.settings import Name, Part, Switch

OnInconclusive = Literal["fail", "warn", "pass"]
DecideBy = Literal["value", "interval"]

ROUNDING = 1e-12
"""What adding up may lose, as a share of the size of what was added."""
_FEW_GROUPS = 10
"""Clusters below which an interval is as wide as their number makes it, however many samples they hold."""


@dataclass
class Outcome:
    """One number held against one bound."""

    status: Status
    judged: Judged
    threshold: float | None
    interval: FoundInterval | None = None
    notes: list[Said] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    failing_count: int | None = None
    however_few: bool = False
    """Whether it stands on any number of samples, though its rule may not."""
    at_least: int = 0
    """How many samples it needs whatever its interval says; 0 where it has enough."""
    estimate: Estimate | None = None
    """The judge's own, where it is that which was held against the bound in place of what people would say."""


class Rule(Part):
    """A part of the policy that holds one metric against one bound, in one slice or in each of a family."""

    deciding: ClassVar[DecideBy] = "interval"
    burden: ClassVar[OnInconclusive] = "warn"
    any_number: ClassVar[bool] = False
    """Whether it stands on any number of samples."""

    kind: str
    id: Name = ""
    """Name of the rule in reports and waivers; made of metric, kind and slice when left out."""
    metric: Name
    """The metric that is judged."""
    slice: Name | None = None
    """A named slice or `label=value`; all samples when left out."""
    slices: Switch | list[Name] = False
    """true: each value of each label of `slices.by`, judged as a family; or a list of labels."""
    hard: Switch = False
    """Decided by the plain value, also in a small slice, and never waived."""
    decide_by: DecideBy | None = None
    """Whether the plain value or the whole interval is held against the bound."""
    on_inconclusive: OnInconclusive | None = None
    """What the data can't settle does: fail, warn or pass."""

    @model_validator(mode="before")
    @classmethod
    def _name(cls, data: object) -> object:
        if isinstance(data, dict) and "id" not in data and isinstance(data.get("metric"), str):
            parts = [
                data["metric"],
                data.get("kind"),
                data.get("measure"),
                data.get("slice"),
                "slices" if data.get("slices") else None,
            ]
            return {**data, "id": "-".join(str(part) for part in parts if part)}
        return data

    @model_validator(mode="after")
    def _check_place(self) -> Rule:
        if self.slice is not None and self.slices:
            raise ValueError("'slice' and 'slices' exclude each other")
        if self.hard and self.decide_by == "interval":
            raise ValueError("a hard rule decides by value; leave 'decide_by' out")
        if self.hard and self.on_inconclusive in ("warn", "pass"):
            raise ValueError("a hard rule always fails what it can't show; leave 'on_inconclusive' out")
        return self

    @property
    def decides_by(self) -> DecideBy:
        """Return what is held against the bound."""
        return "value" if self.hard else self.decide_by or self.deciding

    @property
    def if_inconclusive(self) -> OnInconclusive:
        """Return what an inconclusive outcome does."""
        return "fail" if self.hard else self.on_inconclusive or self.burden

    def labels(self, by: list[str]) -> list[str]:
        """Return the labels each value of which is a slice of this rule."""
        return by if self.slices is True else list(self.slices or [])

    def problems(self, metric: Metric) -> list[tuple[str, str]]:
        """Return what is wrong with this rule for this metric: the field at fault and a sentence."""
        raise NotImplementedError

    def sentence(self, metric: Metric) -> str:
        """Return the rule as a plain sentence, for `gateline explain`."""
        raise NotImplementedError

    def judge(self, comparison: Comparison, estimate: Estimate, family: int) -> Outcome:
        """Hold the metric in one slice against the bound; called only where there are usable samples."""
        raise NotImplementedError

    def bound_fields(self) -> dict[str, object]:
        """Return the bound under its name in the policy, as a finding shows it."""
        raise NotImplementedError

    def looks_at_candidate_alone(self) -> bool:
        """Return whether only the candidate's own values count."""
        return False

    def fewest(self, terms: Terms, place: str | None) -> tuple[int, str]:
        """Return with how few samples it decides in a place, and which setting says so; 0 where any number will do."""
        if self.hard or (self.any_number and not self.slices):  # a family leaves its small slices alone
            return 0, ""
        if place is None:
            return terms.samples.at_least, "samples.at_least"
        return terms.slices.at_least, "slices.at_least"

    def check(self, comparison: Comparison) -> list[Finding]:
        """Return one finding for each slice that the rule looks at."""
        labels, places = comparison.pairs.labels, [self.slice]
        if self.slices:
            by = self.labels(labels.terms.slices.by)
            places = [name for label in by for name in labels.family(label)]
        alone = self.looks_at_candidate_alone()
        estimates = [comparison.estimate(self.metric, place, candidate_alone=alone) for place in places]
        skipped = [self._reason_to_skip(comparison, estimate) for estimate in estimates]
        # "Pass only if every slice is shown safe" keeps its level without widening (Berger 1982, intersection-union)
        widened = self.slices and not self.hard and self.if_inconclusive != "fail"
        family = max(1, skipped.count(None)) if widened else 1
        return [
            self._find(comparison, estimate, reason, family)
            for estimate, reason in zip(estimates, skipped, strict=True)
        ]

    def _reason_to_skip(self, comparison: Comparison, estimate: Estimate) -> Said | None:
        if comparison.pairs.first_run and not self.looks_at_candidate_alone():
            return said("note.no-baseline")
        least, _ = self.fewest(comparison.pairs.labels.terms, estimate.slice)
        if self.slices and comparison.asked(self.metric, estimate.slice) < least:
            return said("note.small-slice", count=estimate.samples, least=str(least))
        return None

    def _find(self, comparison: Comparison, estimate: Estimate, reason: Said | None, family: int) -> Finding:
        outcome = Outcome(Status.SKIPPED, self._would_judge(), None, notes=[reason] if reason else [])
        if reason is None:
            outcome = self.settle(comparison, estimate, family)
        return self._tell(comparison, outcome.estimate or estimate, outcome, family)

    def settle(self, comparison: Comparison, estimate: Estimate, family: int) -> Outcome:
        """Judge, and let nothing stand that rests on too few samples or on too much left out."""
        if not estimate.samples:
            status = Status.FAIL if self.hard else Status.INCONCLUSIVE
            return Outcome(
                status, self._would_judge(), None, notes=[say_none_usable(self, comparison, estimate.slice)]
            )
        outcome = self.judge(comparison, estimate, family)
        if estimate.calibration is not None and not estimate.calibration.corrects:
            outcome = self._or_judge(comparison, estimate, outcome, family)
        if not (self.any_number or outcome.however_few):
            self._mind_small_slice(comparison, outcome.estimate or estimate, outcome)
            mind_left_out(self, comparison, estimate, outcome)
        if outcome.status is Status.INCONCLUSIVE and _has_few_groups(estimate):
            outcome.notes.append(said("note.few-groups", count=estimate.clusters))
        return outcome

    def _or_judge(self, comparison: Comparison, found: Estimate, outcome: Outcome, family: int) -> Outcome:
        """Let a fail of the judge stand where people's labels don't count: too few of them must not soften it."""
        alone, of_candidate = comparison.by_judge_alone(), self.looks_at_candidate_alone()
        judged = alone.estimate(self.metric, found.slice, candidate_alone=of_candidate)
        stands = self.judge(alone, judged, family)
        if outcome.status is not Status.INCONCLUSIVE or stands.status is not Status.FAIL:
            return outcome
        stands.estimate, stands.notes = replace(judged, calibration=found.calibration), outcome.notes
        return stands

    def _would_judge(self) -> Judged:
        return "candidate" if self.looks_at_candidate_alone() else "gain"

    def _mind_small_slice(self, comparison: Comparison, estimate: Estimate, outcome: Outcome) -> None:
        """Turn what rests on too few samples into inconclusive."""
        least, setting = self.fewest(comparison.pairs.labels.terms, estimate.slice)
        if estimate.samples < least:
            # A slice that was large enough does not get out of a fail because values went missing.
            if outcome.status is not Status.FAIL or comparison.asked(self.metric, estimate.slice) < least:
                outcome.status = Status.INCONCLUSIVE
            outcome.at_least = least
            outcome.notes.append(
                said("note.too-few-usable", count=estimate.samples, setting=setting, least=str(least))
            )

    def _tell(self, comparison: Comparison, estimate: Estimate, outcome: Outcome, family: int) -> Finding:
        metric = comparison.metrics[self.metric]
        visible = (
            comparison.smallest_visible_change(self.metric, estimate.slice, outcome.judged, family)
            if outcome.failing_count is None
            else None
        )
        return Finding(
            rule=self.id,
            kind=self.kind,
            status=outcome.status,
            blocks=outcome.status is Status.FAIL
            or (outcome.status is Status.INCONCLUSIVE and self.if_inconclusive == "fail"),
            hard=self.hard,
            metric=self.metric,
            slice=estimate.slice,
            direction=metric.better,
            summary=metric.summary_name,
            show_as=metric.show_as,
            unit=metric.unit,
            samples=estimate.samples,
            clusters=estimate.clusters,
            baseline=estimate.baseline,
            candidate=estimate.candidate,
            gain=estimate.gain,
            relative_gain=estimate.relative_gain,
            judged=outcome.judged,
            threshold=outcome.threshold,
            interval=outcome.interval,
            better=estimate.better,
            worse=estimate.worse,
            same=estimate.same,
            decide_by=self.decides_by,
            on_inconclusive=self.if_inconclusive,
            **self.bound_fields(),
            family=family,
            smallest_visible_change=visible,
            samples_needed=_samples_needed(estimate, outcome),
            calibration=estimate.calibration,
            failing=outcome.failing[:20],
            failing_count=outcome.failing_count,
            notes=[str(note) for note in outcome.notes],
            notes_said=remarks_of(outcome.notes),
            line=0,
        )


def hold(
    value: float | None,
    interval: FoundInterval | None,
    threshold: float,
    *,
    above: bool,
    decide_by: DecideBy,
    size: float,
    strictly: bool = False,
) -> Status:
    """Hold a number, or its whole interval, against a threshold.

    `above`: the good side is at or above the threshold, else at or below; `strictly` leaves the threshold itself
    out of the good side. A value closer to the threshold than rounding counts as equal to it: rounding grows with
    the `size` of what was added up, in the unit of the number. An end that can't be estimated settles nothing.
    """
    slack = ROUNDING * size
    if decide_by == "value":
        if value is None:
            return Status.INCONCLUSIVE
        return Status.PASS if _is_good(value, threshold, slack, above, strictly) else Status.FAIL
    if interval is None:
        return Status.INCONCLUSIVE
    near, far = (interval.low, interval.high) if above else (interval.high, interval.low)
    if near is not None and _is_good(near, threshold, slack, above, strictly):
        return Status.PASS
    if far is not None and not _is_good(far, threshold, slack, above, strictly):
        return Status.FAIL
    return Status.INCONCLUSIVE


def _is_good(value: float, threshold: float, slack: float, above: bool, strictly: bool) -> bool:
    slack += 1e-9 * max(abs(value), abs(threshold))
    distance = value - threshold if above else threshold - value
    return distance > slack if strictly else distance >= -slack


def _has_few_groups(estimate: Estimate) -> bool:
    return estimate.clusters < min(_FEW_GROUPS, estimate.samples)


def _samples_needed(estimate: Estimate, outcome: Outcome) -> int | None:
    value = getattr(estimate, outcome.judged)
    interval = outcome.interval
    if estimate.calibration is not None:
        return None  # more labels would settle it, and how many depends on what the judge is worth
    if any(note.remark.key == "note.left-out" for note in outcome.notes):
        return None  # what is left out must be known
    if outcome.status is not Status.INCONCLUSIVE or _has_few_groups(estimate):
        return None  # of few groups, more samples in each tell little
    if interval is None or value is None or outcome.threshold is None:
        return None
    if interval.low is None or interval.high is None:
        return None
    if not interval.low < outcome.threshold < interval.high:
        return None  # the interval has settled it; what it lacks is said in the notes
    towards_bound = value - interval.low if outcome.threshold < value else interval.high - value
    needed = statistics.samples_needed(value, towards_bound, outcome.threshold, estimate.samples)
    return None if needed is None else max(needed, outcome.at_least)
