"""Which questions of a verdict went wrong, and what is told of it in the regression set.

Only what the verdict names is taken; nothing is judged anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gateline.errors import PolicyError, count_of, did_you_mean
from gateline.lost_samples import Losses, LostSample
from gateline.verdict import Verdict

MUCH = 0.5
"""Share of a metric's range that is much: between right and wrong, half the way."""
ROUNDING = 1e-6
"""What a verdict's numbers lose when it is written."""
COMMITS = ("app.commit", "commit", "git.commit", "app.git_commit", "git_sha", "commit_sha")
"""Facts of a run that name the commit it was made of, the first one known counts."""
EVERY_METRIC = ""


@dataclass(frozen=True)
class Sighting:
    """One way in which a question went wrong."""

    id: str
    entry: dict[str, object]
    """What the set keeps of it."""


def read_limits(text: str | None, verdict: Verdict) -> dict[str, float]:
    """Return how much worse is much worse, by metric; `EVERY_METRIC` stands for those without a number of their own.

    The text is `0.3`, `faithfulness=0.3`, or several of them with commas between, in the unit of the metric. Raises
    PolicyError for what is no positive number and for a metric that the verdict does not judge.
    """
    limits: dict[str, float] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, number = part.rpartition("=")
        name = name.strip()
        if equals:
            _check_metric(name, verdict)
        try:
            limit = float(number)
        except ValueError:
            limit = math.nan
        if not (math.isfinite(limit) and limit > 0):
            raise PolicyError(
                f"--worse-by must be a number above 0, or METRIC=NUMBER, not '{part.strip()}'",
                hint="such as --worse-by 0.3 or --worse-by faithfulness=0.3",
            )
        if limits.setdefault(name if equals else EVERY_METRIC, limit) != limit:
            raise PolicyError(f"--worse-by says two things of {name or 'every metric'}")
    return limits


def _check_metric(name: str, verdict: Verdict) -> None:
    judged = dict.fromkeys(finding.metric for finding in verdict.findings)
    if name not in judged:
        raise PolicyError(
            f"--worse-by: the verdict judges no metric '{name}'", hint=did_you_mean(name, judged)
        )
    named = any(losses.metric == name for losses in verdict.losses)
    if not named and any(spread.metric == name and spread.worse for spread in verdict.spreads):
        raise PolicyError(
            f"--worse-by: the verdict names no questions of {name}, since it has no range, or is a time or a cost",
            hint="give the metric a range in the policy and judge again",
        )


def find_sightings(verdict: Verdict, limits: Mapping[str, float]) -> tuple[list[Sighting], list[str]]:
    """Return what went wrong, and notices on what the verdict does not name."""
    sightings: list[Sighting] = []
    notices: list[str] = []
    for losses in verdict.losses:
        named = losses.samples if losses.rule is not None else _much_worse(losses, limits)
        sightings += [Sighting(one.id, _tell(verdict, losses, one)) for one in named]
        if losses.number > len(losses.samples) and len(named) == len(losses.samples):
            one, many = (
                ("question fails", "questions fail")
                if losses.rule is not None
                else ("question got", "questions got")
            )
            what = losses.rule if losses.rule is not None else f"worse in {losses.metric}"
            notices.append(
                f"{count_of(losses.number, one, many)} {what}; the verdict names the {len(named)} worst, and only they "
                "are kept"
            )
    return sightings, notices


def _much_worse(losses: Losses, limits: Mapping[str, float]) -> list[LostSample]:
    limit = limits.get(losses.metric, limits.get(EVERY_METRIC))
    if limit is None:
        if losses.width is None:
            return []
        limit = MUCH * losses.width
    return [one for one in losses.samples if one.gain is not None and -one.gain >= limit - ROUNDING]


def _tell(verdict: Verdict, losses: Losses, sample: LostSample) -> dict[str, object]:
    """Return where a question came from; what is not known is null."""
    return {
        "why": "hard rule" if losses.rule is not None else "much worse",
        "gate": verdict.policy.name,
        "rule": losses.rule,
        "metric": losses.metric,
        "slice": losses.slice,
        "slices": list(sample.slices),
        "baseline": sample.baseline,
        "candidate": sample.candidate,
        "commit": find_commit(verdict),
        "judged_on": verdict.judged_on,
        "policy_sha256": verdict.policy.sha256,
        "baseline_sha256": verdict.baseline.sha256 if verdict.baseline else None,
        "candidate_sha256": verdict.candidate.sha256 if verdict.candidate else None,
    }


def find_commit(verdict: Verdict) -> str | None:
    """Return the commit that the candidate was made of, as far as the verdict tells."""
    run = verdict.candidate
    if run is None:
        return None
    if run.origin is not None and run.origin.commit:
        return run.origin.commit
    return next((run.provenance[name] for name in COMMITS if run.provenance.get(name)), None)
