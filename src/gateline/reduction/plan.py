"""What of a log is summed up for a policy: metrics, slices, groups; and what can't be judged from sums.

It reads a policy and no data. Two reduced files can be compared where their plans have one digest.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from gateline.errors import PolicyError, Problem
from gateline.metric import Metric
from gateline.policy import PolicyFile
from gateline.reduction.file import VERSION

FEWEST_GROUPS, MOST_GROUPS = 16, 1 << 20


@dataclass(frozen=True)
class Plan:
    """What is summed up: taken from a policy, the same for both runs."""

    policy: PolicyFile
    groups: int = 1024
    """Into how many groups the clusters are hashed."""

    @property
    def paired(self) -> bool:
        """Return whether both runs must have answered the same questions."""
        return self.policy.policy.samples.on_mismatch != "independent"

    @property
    def metrics(self) -> dict[str, Metric]:
        """Return the metrics by name."""
        return self.policy.policy.metrics

    @cached_property
    def labels(self) -> list[str]:
        """Return the labels that are read, in a fixed order."""
        named = [label for conditions in self.named.values() for label in conditions]
        return list(dict.fromkeys([*self.families, *named]))

    @cached_property
    def families(self) -> list[str]:
        """Return the labels each value of which is a slice."""
        return list(self.policy.terms().family_labels)

    @cached_property
    def named(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the conditions of each slice that a rule names, `label=value` of a family left out."""
        found = {}
        for name in self.policy.terms().slice_lines:
            conditions = self.conditions(name)
            if name in self.policy.policy.slices.named or not set(conditions) <= set(self.families):
                found[name] = conditions
        return found

    def conditions(self, place: str) -> dict[str, tuple[str, ...]]:
        """Return label and values of a named slice or of `label=value`."""
        if place in self.policy.policy.slices.named:
            return dict(self.policy.policy.slices.named[place])
        label, _, value = place.partition("=")
        return {label: (value,)}

    @cached_property
    def sketched(self) -> dict[str, list[str]]:
        """Return where rules look at each metric that is a quantile: "", a label of families, or a named slice."""
        by = self.policy.policy.slices.by
        found: dict[str, list[str]] = {
            name: [] for name, metric in self.metrics.items() if metric.quantile is not None
        }
        for rule in self.policy.policy.rules:
            if rule.metric in found:
                place = rule.slice or ""
                if place and place not in self.named:
                    place = place.partition("=")[0]
                found[rule.metric] += rule.labels(by) if rule.slices else [place]
        return {name: sorted(set(places)) for name, places in found.items()}

    @cached_property
    def facts(self) -> list[str]:
        """Return the fields that say how a run was made, as far as the policy names them."""
        provenance = self.policy.policy.provenance
        return list(dict.fromkeys([*provenance.must_match, *provenance.may_change]))

    def statement(self) -> dict[str, object]:
        """Return what the reduced file holds of the policy: all that the sums depend on, and no bound."""
        policy = self.policy.policy
        return {
            "version": VERSION,
            "groups": self.groups,
            "paired": self.paired,
            "samples": policy.samples.model_dump(
                mode="json", include={"id", "cluster", "repeats", "repeat_field", "same_input"}
            ),
            "missing": policy.missing.model_dump(mode="json", include={"no_answer", "no_score"}),
            "metrics": {
                name: metric.model_dump(mode="json", exclude={"show_as", "layer", "summary"})
                | {"sketched": self.sketched.get(name)}
                for name, metric in self.metrics.items()
            },
            "families": self.families,
            "named": {
                name: {key: list(value) for key, value in found.items()} for name, found in self.named.items()
            },
            "facts": self.facts,
        }

    def digest(self) -> str:
        """Return the digest of the statement."""
        text = json.dumps(self.statement(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_plan(policy: PolicyFile, *, groups: int = 1024) -> Plan:
    """Return the plan of a policy.

    Raises PolicyError with all that sums can't decide: rules on single samples, files of questions, the last of
    several attempts, people's labels.
    """
    if not FEWEST_GROUPS <= groups <= MOST_GROUPS:
        raise PolicyError(
            f"--groups must be from {FEWEST_GROUPS} to {MOST_GROUPS:,}, not {groups:,}",
            hint="1024 is enough for most: the width of an interval is then off by some 2 %",
        )
    parts, paired = policy.policy, policy.policy.samples.on_mismatch != "independent"
    problems = [
        Problem("'every' looks at single samples, and a reduced file has none", policy.place(rule),
                "keep such rules in a policy of their own, for a golden set that check can read")
        for rule in parts.rules
        if rule.kind == "every"
    ]  # fmt: skip
    for wrong, key, hint in (
        (parts.samples.golden_set is not None, "samples.golden_set", "the labels must stand in the logs"),
        (bool(parts.slices.files), "slices.files", "slices must be made of labels"),
        (parts.samples.repeats == "last", "samples.repeats: last", "only mean and refuse can be summed up"),
        (parts.samples.on_mismatch == "intersect", "samples.on_mismatch: intersect",
         "sums of questions can't be taken apart; log the same questions, or write independent where they are others"),
        (bool(parts.calibration), "calibration",
         "people's labels are of single samples; keep such rules in a policy of their own, for a log that check reads"),
    ):  # fmt: skip
        if wrong:
            problems.append(Problem(f"a reduced file can't have {key}", policy.file, hint))
    problems += [
        Problem("totals of other questions can't be compared", policy.place(rule),
                "judge the mean, or two runs of the same questions without on_mismatch: independent")
        for rule in parts.rules
        if not paired and parts.metrics[rule.metric].summary == "total" and not rule.looks_at_candidate_alone()
    ]  # fmt: skip
    if problems:
        raise PolicyError("this policy can't be judged from sums", problems=problems)
    return Plan(policy, groups)
