"""The verdict: all findings, what they rest on, and the one word. The worst finding decides.

This is what `verdict.json` holds and all that a report sees. It reads no file and knows no clock.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from gateline.findings import Finding, Status
from gateline.lost_samples import Losses
from gateline.pairing.facts import ChangedField, LeftOutIds, LeftOutValues, Pairing
from gateline.record import Record
from gateline.remark import Remark

__all__ = [
    "ChangedField",
    "LeftOutIds",
    "LeftOutValues",
    "Pairing",
    "Verdict",
    "count",
    "decide",
    "order_findings",
]

SCHEMA = "gateline.verdict/1"

Word = Literal["pass", "fail", "invalid"]
FailOn = Literal["fail", "inconclusive", "never"]

_UNSEEN = re.compile("[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""What reorders or breaks the lines of a terminal or a web page, and can stand in JSON under its number."""

_DOUBTS = frozenset({"notice.constant", "notice.two-spellings"})
"""Notices that say why a pass may rest on faulty data."""
_SEVERITY = {Status.FAIL: 0, Status.INCONCLUSIVE: 1, Status.WAIVED: 2, Status.SKIPPED: 3, Status.PASS: 4}


class PolicyChange(Record):
    """One difference between the base branch's policy and this one."""

    path: str
    """Key path, such as `rules.correct-floor.at_least`."""
    base: str | None
    """The base branch's value; null where the key is new."""
    now: str | None
    """This policy's value; null where the key is gone."""
    loosens: bool
    """Whether it lets through what was not let through before, or may do so."""


class StatedProblem(Record):
    """Why there is no verdict."""

    message: str
    """What was found, in English."""
    where: str
    hint: str
    """What to do about it, in English."""
    message_said: Remark | None = None
    """The message by key and values; null where it has only its text."""
    hint_said: Remark | None = None
    """The hint by key and values; null where it has only its text."""


class BaseVerdict(Record):
    """What the base branch's policy says of the same two runs."""

    verdict: Word
    because: list[str]
    worst: Finding | None = None
    """The finding that the first reason is about; null where it is about none."""
    problem: StatedProblem | None = None
    """The problem that the first reason is about; null where it is about none."""


class PolicyFacts(Record):
    """Which policy judged."""

    name: str
    file: str
    sha256: str | None
    """Digest of the policy file; null where it could not be read."""
    lang: str | None = None
    """The language that the policy asks reports to be in; null where it asks for none."""
    base_file: str | None = None
    """The base branch's policy, where a file of it was given."""
    same_as_base: bool | None = None
    """Whether the base branch's policy says the same; null where that was not at hand."""
    changes: list[PolicyChange] = Field(default_factory=list)
    """How it differs from the base branch's policy, loosening changes first."""
    under_base: BaseVerdict | None = None
    """The verdict under the base branch's policy, where the two differ."""


class Origin(Record):
    """Where a run was fetched from, and what it was made of."""

    source: str
    """What was asked for: `artifact:NAME` or `git:REVISION:PATH`."""
    branch: str | None = None
    """The branch that the run was on."""
    commit: str | None = None
    """The commit that the run was made of."""
    made_on: str | None = None
    """The day on which it was made, as YYYY-MM-DD."""
    age: int | None = None
    """Days from then to the day that is judged on."""
    run: int | None = None
    """The host's number of the run."""


class RunFacts(Record):
    """Which run was judged."""

    file: str
    sha256: str | None
    """Digest of the file; null where it could not be read."""
    format: str | None
    """What the reader recognised."""
    samples: int | None
    """Records read."""
    provenance: dict[str, str]
    """How the run was made, as far as the file says, as text."""
    origin: Origin | None = None
    """Where it was fetched from; null where it was a file at hand."""


class StatisticsFacts(Record):
    """How intervals were made."""

    confidence: float
    resamples: int
    seed: int
    method: str


class WorstSample(Record):
    """A question that got worse."""

    id: str
    metric: str
    slice: str | None
    """The slice of the rule that brought it here."""
    baseline: float
    candidate: float
    gain: float
    question: str | None = None
    """Only with `--with-excerpts`."""


class ChangedSample(Record):
    """A question whose value changed, looked at over the whole run."""

    id: str
    metric: str
    baseline: float
    candidate: float
    gain: float
    """How much better the candidate is; negative is worse."""
    question: str | None = None
    """Only with `--with-excerpts`."""


class Spread(Record):
    """How the paired differences of one metric spread over all pairs."""

    metric: str
    show_as: Literal["number", "percent"]
    unit: str | None
    samples: int
    """Pairs with a difference that is defined."""
    same: int
    """Pairs without a difference; they stand in no bar."""
    worse: int
    """Pairs in which the candidate is worse."""
    better: int
    """Pairs in which it is better."""
    edges: list[float]
    """Sizes between which the bars stand, from 0 outwards, the same on both sides."""
    worse_bars: list[int]
    """Pairs in each bar on the worse side, nearest to 0 first; the last bar also holds what lies beyond."""
    better_bars: list[int]
    """Pairs in each bar on the better side."""
    farthest_worse: float | None
    """The largest loss, as a negative gain; null where nothing got worse."""
    farthest_better: float | None
    """The largest gain; null where nothing got better."""


class Curve(Record):
    """Quantiles of a time in both runs, over all pairs that can be used."""

    metric: str
    """A metric that is judged on it."""
    field: str
    """The field of the records that holds the time."""
    unit: str | None
    samples: int
    probabilities: list[float]
    """Shares of the answers that take at most as long."""
    baseline: list[float] | None
    """The time at each probability; null where there is no baseline."""
    candidate: list[float]
    """The time at each probability."""


class Verdict(Record):
    """May this change be merged, and why."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    """Name and version of this format."""
    gateline: str
    """Version of the program."""
    verdict: Word
    exit_code: Literal[0, 1, 2]
    because: list[str]
    """Sentences, worst first; for a pass, what it rests on."""
    counts: dict[str, int]
    """Number of findings by status."""
    fail_on: FailOn
    first_run: bool
    """Whether there was no baseline and that was allowed."""
    policy: PolicyFacts
    judged_on: str
    """The day on which waivers were looked at, as YYYY-MM-DD."""
    baseline: RunFacts | None
    candidate: RunFacts | None
    changed: list[ChangedField]
    """Provenance in which the runs differ."""
    pairing: Pairing | None
    """Null where the runs were not joined."""
    statistics: StatisticsFacts | None
    findings: list[Finding]
    """Worst first."""
    worst: list[WorstSample]
    """Questions that got worse most, in metrics and slices that are not plainly fine."""
    worse_samples: int | None = None
    """How many got worse there, each question once for a metric, of which `worst` are a part; null where not known."""
    changed_samples: list[ChangedSample] = Field(default_factory=list)
    """Of each judged metric a few questions on each side that changed most, the worst first."""
    spreads: list[Spread] = Field(default_factory=list)
    """How the paired differences of each judged metric spread; a metric in which nothing differs has none."""
    curves: list[Curve] = Field(default_factory=list)
    """Quantiles of each judged time in both runs."""
    losses: list[Losses] = Field(default_factory=list)
    """Questions that fail hard rules on single samples, or got worse in a judged metric with a range."""
    notices: list[str]
    """What a person should know beside the findings, in English."""
    notices_said: list[Remark | None] = Field(default_factory=list)
    """The same by key and values, in the same order; null for one that has only its text."""
    problems: list[StatedProblem]
    """Why there is no verdict; empty unless it is `invalid`."""

    @property
    def warns(self) -> bool:
        """Return whether a pass has something that people should look at.

        No baseline, and a candidate that is the baseline or holds records of it, are mostly faults of the wiring; so
        are a judge that gives every answer one score, and a label in two spellings.
        """
        same = self.pairing is not None and (self.pairing.identical or self.pairing.carried_over > 0)
        return self.first_run or same or bool(self.doubts) or any(finding.warns for finding in self.findings)

    @property
    def doubts(self) -> list[tuple[str, Remark]]:
        """Return the notices that say why a pass may rest on faulty data: each in English, and as a remark."""
        known = zip(self.notices, self.notices_said, strict=False)
        return [(text, one) for text, one in known if one is not None and one.key in _DOUBTS]

    def to_json(self) -> str:
        """Return `verdict.json`: fixed key order, numbers rounded to six places, strict JSON, a line break last."""
        data = _rounded(self.model_dump(mode="json", by_alias=True))
        text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        text = _UNSEEN.sub(lambda unseen: f"\\u{ord(unseen[0]):04x}", text)  # a terminal would reorder lines
        return text.replace("##[", "\\u0023#[")  # on a job's log that would start a command of the runner


def order_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings worst first; the order that every report keeps.

    Blocking before not, and of those hard before soft; then by status, then by how far the judged number misses its
    bound in units of the bound, then the whole run before its slices, then as the policy has them.
    """
    return sorted(findings, key=_badness)


def _badness(finding: Finding) -> tuple[object, ...]:
    hard = finding.blocks and finding.hard
    missed_by = round(finding.missed_by, 6)  # two findings that differ by rounding alone are equally bad
    return (not finding.blocks, not hard, _SEVERITY[finding.status], -missed_by, finding.slice is not None)


def decide(findings: Sequence[Finding], fail_on: FailOn) -> tuple[Word, Literal[0, 1, 2]]:
    """Return the word and the exit code: the worst finding decides.

    No finding that was judged is no verdict: nothing may pass because nothing was looked at.
    """
    if not any(finding.status is not Status.SKIPPED for finding in findings):
        return "invalid", 2
    blocked = any(finding.blocks for finding in findings)
    if fail_on == "inconclusive":
        blocked = blocked or any(finding.status is Status.INCONCLUSIVE for finding in findings)
    if not blocked:
        return "pass", 0
    return "fail", 0 if fail_on == "never" else 1


def count(findings: Iterable[Finding]) -> dict[str, int]:
    """Return the number of findings of each status."""
    counts = dict.fromkeys((status.value for status in Status), 0)
    for finding in findings:
        counts[finding.status.value] += 1
    return counts


def _rounded(value: object) -> object:
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        rounded = round(value, 6)
        return 0.0 if rounded == 0 else rounded
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value
