"""The review queue: which samples of a verdict a person should look at, so that the judge can be held against people.

It reads again what the verdict was made of, and refuses other files. It judges nothing and writes no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath

from gateline.bounds import read_share
from gateline.calibration import ENOUGH_LABELS
from gateline.comparison import Comparison
from gateline.errors import InputError, PolicyError
from gateline.files import is_there
from gateline.gate import Options, compare
from gateline.policy import PolicyFile, load_policy
from gateline.review.queue import write_queue
from gateline.review.selection import Selection, select
from gateline.review.strata import choose_metrics, find_strata
from gateline.tied_labels import RUN_DIGEST
from gateline.verdict import Verdict

__all__ = ["Request", "Review", "review"]

File = str | PathLike[str]


@dataclass(frozen=True)
class Request:
    """What is asked for, beside the verdict."""

    number: int = 50
    """Samples in the queue."""
    random_share: object = "30%"
    """Part of the queue that is drawn by chance over all samples, as `30%` or `0.3`."""
    seed: int = 0
    metrics: Sequence[str] = ()
    """What people should label; the judged metrics that a judge may have given where empty."""
    high_risk: Sequence[str] = ()
    """Slices where a mistake is dear; those of the hard rules where empty."""
    thresholds: str | None = None
    """`METRIC=NUMBER,…`: where a score turns from bad to good."""
    policy: File | None = None
    """The verdict's own files are taken where these are None."""
    baseline: File | None = None
    candidate: File | None = None
    read_as: str | None = None


@dataclass(frozen=True)
class Review:
    """A queue, and what it holds."""

    text: str
    selection: Selection
    metrics: list[str]
    """What people should label."""
    needed: int
    """Labels by chance from which on they correct a judge under the policy."""


def review(verdict: Verdict, request: Request) -> Review:
    """Return the samples that a person should look at, as JSON Lines that `audit --human` reads when filled in.

    Raises PolicyError for what can't be asked, and InputError where the files are not those that were judged.
    """
    share = _read_share(request)
    if verdict.verdict == "invalid":
        raise InputError(
            f"nothing was judged, so there is nothing to review: {''.join(verdict.because[:1])}",
            hint="review a verdict that passes or fails",
        )
    policy, comparison = _read_again(verdict, request)
    metrics = choose_metrics(policy, verdict, request.metrics)
    strata = find_strata(
        verdict,
        policy,
        comparison,
        metrics,
        high_risk=request.high_risk,
        thresholds=_read_thresholds(request.thresholds, metrics),
        seed=request.seed,
    )
    selection = select(comparison.pairs.ids, strata, request.number, share, request.seed)
    facts: dict[str, object] = {
        "review.gate": verdict.policy.name,
        RUN_DIGEST: verdict.candidate.sha256 if verdict.candidate else None,
        "review.seed": request.seed,
    }
    sources = [one.at_least for one in policy.policy.calibration if one.metric in metrics]
    needed = max(sources, default=ENOUGH_LABELS)
    return Review(write_queue(selection, comparison, metrics, facts), selection, metrics, needed)


def _read_share(request: Request) -> float:
    if request.number < 1:
        raise PolicyError(f"-n must be at least 1, not {request.number}")
    share = read_share(request.random_share)
    try:
        number = float(share)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number <= 1:
        raise PolicyError(
            f"--random-share must be a share between 0 and 1, not '{request.random_share}'",
            hint="such as 30%",
        )
    return number


def _read_thresholds(text: str | None, metrics: Sequence[str]) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for part in filter(str.strip, (text or "").split(",")):
        name, _, number = part.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if name.strip() not in metrics or value != value:  # noqa: PLR0124  (NaN)
            raise PolicyError(
                f"--threshold must be METRIC=NUMBER for a metric of the queue, not '{part.strip()}'",
                hint=f"the queue asks for {', '.join(metrics)}",
            )
        found[name.strip()] = value
    return found


def _read_again(verdict: Verdict, request: Request) -> tuple[PolicyFile, Comparison]:
    """Read policy and runs, and refuse those that are not what was judged."""
    assert verdict.candidate is not None
    policy = load_policy(_choose(request.policy, verdict.policy.file, "--policy", "policy"))
    _refuse_other("the policy", policy.file, policy.sha256, verdict.policy.sha256)
    baseline = None
    if verdict.baseline is not None:
        baseline = _choose(request.baseline, verdict.baseline.file, "--baseline", "baseline")
    candidate = _choose(request.candidate, verdict.candidate.file, "--candidate", "candidate")
    comparison = compare(
        policy, baseline, candidate, Options(first_run=baseline is None, read_as=request.read_as)
    )
    judged = [verdict.baseline, verdict.candidate] if baseline is not None else [verdict.candidate]
    for side, facts in zip(comparison.pairs.sides, judged, strict=True):
        assert facts is not None
        _refuse_other("the run", side.run.file, side.run.sha256, facts.sha256)
    return policy, comparison


def _choose(given: File | None, judged: str, option: str, role: str) -> str:
    if given is not None:
        return fspath(given)
    if not any(is_there(file) for file in judged.split("\n")) and not set(judged) & set("*?["):
        raise InputError(
            f"the {role} that was judged is not here: {judged}", hint=f"say where it is with {option}"
        )
    return judged


def _refuse_other(what: str, file: str, found: str, judged: str | None) -> None:
    if found != judged:
        raise InputError(
            f"{what} is not the one that was judged: its sha256 begins {found[:12]}, the verdict says "
            f"{str(judged)[:12]}",
            file,
            "give the files that the verdict was made of, or judge again",
        )
