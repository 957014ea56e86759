"""Why a person should look at a sample: it failed a hard rule, stands where a mistake is dear, moved, or is close.

It orders the samples of each reason, the most urgent first, and chooses none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gateline.comparison import Comparison
from gateline.errors import PolicyError, did_you_mean
from gateline.field_names import guess_layer
from gateline.policy import PolicyFile
from gateline.review.selection import hash_of
from gateline.rules.every import Every
from gateline.samples import Floats
from gateline.verdict import Verdict

FAILED, RISK, CHANGED, CLOSE = "failed hard", "high risk", "changed most", "near threshold"
NEAR = 0.25
"""Share of the range within which a judge's score is close to its threshold."""


def choose_metrics(policy: PolicyFile, verdict: Verdict, named: Sequence[str]) -> list[str]:
    """Return the metrics that people should label: the named ones, else the judged ones that a judge may have given.

    Ranks of retrieval, times and costs need no judge. Raises PolicyError for an unknown name, and where nothing is
    left.
    """
    metrics = policy.policy.metrics
    for name in named:
        if name not in metrics:
            raise PolicyError(
                f"--metric: there is no metric '{name}'", policy.file, did_you_mean(name, metrics)
            )
    judged = dict.fromkeys(finding.metric for finding in verdict.findings)
    found = list(dict.fromkeys(named)) or [
        name for name in judged if guess_layer(name, metrics[name]) not in ("retrieval", "system")
    ]
    if not found:
        raise PolicyError(
            "no judged metric looks like a judge's",
            policy.file,
            "name what people should label with --metric",
        )
    return found


def find_strata(
    verdict: Verdict,
    policy: PolicyFile,
    comparison: Comparison,
    metrics: Sequence[str],
    *,
    high_risk: Sequence[str],
    thresholds: Mapping[str, float],
    seed: int,
) -> dict[str, list[str]]:
    """Return the ids of each reason, the most urgent first, equal ones in an order by chance.

    `high_risk` names slices; without them those of the hard rules count. Raises PolicyError for an unknown slice.
    """
    pairs = comparison.pairs
    ids = pairs.ids
    chance = [hash_of(seed, "tie", name) for name in ids]

    def order(rows: Sequence[int], urgency: Floats) -> list[str]:
        return [ids[row] for row in sorted(rows, key=lambda row: (-urgency[row], chance[row]))]

    change, loss = _movements(comparison, metrics)
    known = set(ids)
    failed = dict.fromkeys(
        sample.id for losses in verdict.losses if losses.rule is not None for sample in losses.samples
    )
    places = list(high_risk) or list(
        dict.fromkeys(
            finding.slice for finding in verdict.findings if finding.hard and finding.slice is not None
        )
    )
    risky = {row for place in places for row in _rows(comparison, policy, place)}
    closeness = _closeness(policy, comparison, metrics, thresholds)
    return {
        FAILED: [name for name in failed if name in known],
        RISK: order(sorted(risky), loss),
        CHANGED: order(np.flatnonzero(change > 0).tolist(), change),
        CLOSE: order(np.flatnonzero(closeness > 0).tolist(), closeness),
    }


def _rows(comparison: Comparison, policy: PolicyFile, place: str) -> list[int]:
    named = [*policy.policy.slices.named, *policy.policy.slices.files]
    if place not in named and "=" not in place:
        raise PolicyError(
            f"--high-risk: there is no slice '{place}'", policy.file, did_you_mean(place, named)
        )
    rows: list[int] = comparison.pairs.labels.rows(place).tolist()
    if not rows:
        raise PolicyError(f"--high-risk: no sample is in '{place}'", policy.file)
    return rows


def _movements(comparison: Comparison, metrics: Sequence[str]) -> tuple[Floats, Floats]:
    """Return how far each sample moved, and how far it got worse, in shares of the range (n); the most of any metric.

    Without a range the largest movement counts as 1. What is not known moved by 0.
    """
    size = len(comparison.pairs.ids)
    change, loss = np.zeros(size), np.zeros(size)
    if comparison.pairs.first_run:
        return change, loss
    for name in metrics:
        rows = comparison.rows(name, None)
        gains = np.nan_to_num(comparison.gains(name, rows))
        scale = comparison.metrics[name].width or float(np.abs(gains).max(initial=0.0)) or 1.0
        change[rows] = np.maximum(change[rows], np.abs(gains) / scale)
        loss[rows] = np.maximum(loss[rows], -gains / scale)
    return change, loss


def _closeness(
    policy: PolicyFile, comparison: Comparison, metrics: Sequence[str], thresholds: Mapping[str, float]
) -> Floats:
    """Return how close the judge's score of the candidate is to its threshold (n): 1 on it, 0 where it is not near.

    Scores at an end of the range are plain; a metric without a range or whose scores are all plain is never near.
    """
    closeness = np.zeros(len(comparison.pairs.ids))
    for name in metrics:
        metric = comparison.metrics[name]
        if metric.range is None or metric.width is None:
            continue
        low, high = metric.range
        rows = comparison.rows(name, None, candidate_alone=True)
        _, after = comparison.per_sample(name, rows)
        for threshold in _thresholds(name, policy, (low, high), thresholds):
            near = 1 - np.abs(after - threshold) / (NEAR * metric.width)
            near = np.where((after > low) & (after < high), near, 0.0)
            closeness[rows] = np.fmax(closeness[rows], near)
    return closeness


def _thresholds(
    name: str, policy: PolicyFile, ends: tuple[float, float], given: Mapping[str, float]
) -> list[float]:
    """Return where a score turns from bad to good: as said, by rules on single samples, else the middle."""
    if name in given:
        return [given[name]]
    lines = [
        rule.line.number
        for rule in policy.policy.rules
        if isinstance(rule, Every) and rule.metric == name and rule.line is not None
    ]
    inside = [number for number in lines if ends[0] < number < ends[1]]
    return inside or [(ends[0] + ends[1]) / 2]
