"""The pipeline on one screen: two files and a policy in, a verdict out.

A verdict is a pure function of its inputs: no clock, no environment, no global random state. The only I/O is reading
the files that are named.
"""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Sequence
from os import PathLike
from pathlib import PurePath

from gateline.calibration import read_labels
from gateline.comparison import Comparison
from gateline.conclusion import Known, Options, add_notices, conclude, refuse, tell_base
from gateline.errors import GatelineError, InputError, NotComparable, PolicyError
from gateline.findings import Finding
from gateline.guard import compare_policies
from gateline.pairing import pair, refuse_missing, refuse_stale
from gateline.policy import PolicyFile, load_policy
from gateline.readers import read_run
from gateline.reduced_mark import is_reduced
from gateline.reduction.file import FORMAT as REDUCED
from gateline.reduction.file import read_reduced
from gateline.remark import Said, said
from gateline.samples import Run
from gateline.verdict import PolicyChange, Verdict
from gateline.waivers import apply_waivers

__all__ = ["Options", "check", "compare", "give_up"]

File = str | PathLike[str]

_LOGS = frozenset({"gateline-jsonl", "jsonl", "parquet"})
"""Formats of a run that gateline reduce takes as they are."""


def check(
    policy: File,
    baseline: File | None,
    candidate: File,
    *,
    on: datetime.date,
    base_policy: File | PolicyFile | None = None,
    touched: Sequence[PolicyChange] = (),
    options: Options | None = None,
) -> Verdict:
    """Judge a candidate's results against a baseline's under a policy.

    `on` is the day on which waivers are looked at; `touched` says how the change alters files that decide with the
    policy. Whatever is wrong with the files ends in a verdict `invalid`
    that says so; nothing is raised for it.
    """
    options = options or Options()
    known = Known(str(policy), None if baseline is None else str(baseline), str(candidate), on)
    try:
        known.policy = load_policy(policy)
        _read_runs(known, options)
        verdict = _judge(known, options)
    except (PolicyError, InputError, NotComparable) as error:
        return refuse(error, known, options)
    return verdict if base_policy is None else _guard(verdict, base_policy, touched, known, options)


def compare(
    policy: PolicyFile, baseline: File | None, candidate: File, options: Options | None = None
) -> Comparison:
    """Return two runs as `check` compares them, for those who look at single samples; `baseline` None: a first run.

    Raises PolicyError, InputError or NotComparable where `check` would give no verdict.
    """
    known = Known(
        policy.file, None if baseline is None else str(baseline), str(candidate), datetime.date.min, policy
    )
    _read_runs(known, options or Options(first_run=baseline is None))
    if known.candidate_run is not None and known.candidate_run.format == REDUCED:
        raise InputError(
            "is a reduced file, which has no single samples", str(candidate), "take the log itself"
        )
    return _compare(known)


def _judge(known: Known, options: Options) -> Verdict:
    """Pair, compare, judge, waive, conclude."""
    comparison, policy = _compare(known), known.policy
    assert policy is not None and known.pairs is not None
    if options.require_fresh:
        refuse_stale(known.pairs)
    found = [finding for rule in policy.policy.rules for finding in rule.check(comparison)]
    if known.candidate_run is not None and known.candidate_run.format == REDUCED:
        found = _settle_reduced(found, comparison, policy)
    found, notices = apply_waivers(found, policy.policy.waivers, policy.rules, comparison, known.on)
    return conclude(found, [*known.pairs.notices, *notices], comparison, known, options)


def _compare(known: Known) -> Comparison:
    policy = known.policy
    assert policy is not None
    runs = [run for run in (known.baseline_run, known.candidate_run) if run is not None]
    if any(run.format == REDUCED for run in runs):
        return _compare_reduced(known, policy, runs)
    terms = policy.terms()
    golden = _read_golden(policy)
    _score_rankings(known, policy, golden)
    assert known.candidate_run is not None
    files = _read_slices(policy)
    pairs = known.pairs = pair(known.baseline_run, known.candidate_run, golden, terms, files)
    refuse_missing(pairs, terms)
    metrics = policy.policy.metrics
    people, told = read_labels(policy.calibration_files(), pairs, metrics, policy.policy.samples.id)
    pairs.notices += told
    return Comparison(pairs, metrics, policy.policy.statistics, people=people)


def _compare_reduced(known: Known, policy: PolicyFile, runs: list[Run]) -> Comparison:
    """Return the comparison of two runs of which there are only sums."""
    from gateline.reduction.joining import ReducedRun, join

    if policy.policy.calibration:
        hint = "take the logs themselves, or a policy without calibration"
        raise InputError("is reduced, and people's labels are of single samples", runs[-1].file, hint)

    reduced = [run.reduced for run in runs if isinstance(run, ReducedRun) and run.reduced is not None]
    if len(reduced) < len(runs):
        whole = next(run for run in runs if not isinstance(run, ReducedRun))
        other = next(run for run in runs if isinstance(run, ReducedRun))
        what = said("problem.one-reduced", other=other.file)
        raise InputError(what, whole.file, _how_to_reduce(whole, other.file, policy.file))
    comparison = join(policy, reduced)
    known.pairs = comparison.pairs
    return comparison


def _how_to_reduce(whole: Run, other: str, policy: str) -> Said:
    """Return the command that makes a run one to be held against a reduced one; of a report, a log comes first."""
    stem, log = PurePath(whole.file).with_suffix(""), whole.file
    steps = []
    if whole.format not in _LOGS:
        log = f"{stem}.log.jsonl"
        steps.append(shlex.join(["gateline", "convert", whole.file, "--output", log]))
    steps.append(
        shlex.join(["gateline", "reduce", log, "--policy", policy, "--output", f"{stem}.reduced.json"])
    )
    return said("hint.one-reduced", commands=" && ".join(steps), file=f"{stem}.reduced.json", other=other)


def _settle_reduced(found: list[Finding], comparison: Comparison, policy: PolicyFile) -> list[Finding]:
    from gateline.reduction.compare import ReducedComparison
    from gateline.reduction.joining import settle_reduced

    assert isinstance(comparison, ReducedComparison)
    return settle_reduced(found, policy.rules, comparison)


def give_up(
    error: Exception,
    policy: File,
    baseline: File | None,
    candidate: File,
    *,
    on: datetime.date,
    options: Options,
) -> Verdict:
    """Return the verdict that there is none: what was asked can't be read, or gateline itself is at fault."""
    if not isinstance(error, GatelineError):
        error = InputError(
            said("problem.bug", error=f"{type(error).__name__}: {str(error)[:300]}"),
            hint=said("hint.bug"),
        )
    known = Known(str(policy), None if baseline is None else str(baseline), str(candidate), on)
    return refuse(error, known, options)


def _read_runs(known: Known, options: Options) -> None:
    assert known.policy is not None
    id_field = known.policy.policy.samples.id
    if known.baseline is not None:
        known.baseline_run = _read("baseline", known.baseline, id_field, options.read_as)
    elif not options.first_run:
        raise InputError(said("problem.no-baseline"), hint=said("hint.no-baseline"))
    known.candidate_run = _read("candidate", known.candidate, id_field, options.read_as)


def _read_golden(policy: PolicyFile) -> Run | None:
    file = policy.golden_set_file()
    return None if file is None else _read("golden set", file, policy.policy.samples.id, None)


def _read_slices(policy: PolicyFile) -> dict[str, Run]:
    """Read the questions of the slices that files name."""
    named = policy.slice_files()
    if not named:
        return {}
    from gateline.golden.sets import read_set

    return {name: read_set(name, file, policy.policy.samples.id) for name, file in named.items()}


def _score_rankings(known: Known, policy: PolicyFile, golden: Run | None) -> None:
    """Give rankings of TREC and MTEB, which have no scores, their metrics: the golden set says what is relevant."""
    for side in ("baseline_run", "candidate_run"):
        run = getattr(known, side)
        if run is None or run.format not in ("trec-run", "mteb-predictions"):
            continue
        if golden is None:
            raise InputError(
                said("problem.rankings-only"),
                run.file,
                said("hint.rankings-only"),
            )
        from gateline.golden import GoldenSet
        from gateline.scoring import cutoffs_of, score

        setattr(known, side, score(GoldenSet(golden), run, cutoffs_of(policy.policy.metrics)).run)


def _read(role: str, file: File, id_field: str, read_as: str | None) -> Run:
    """Read one run; where there is no such file, the message says which of the runs is missing."""
    try:
        if read_as is None and is_reduced(file):
            from gateline.reduction.joining import run_of

            return run_of(read_reduced(str(file)))
        return read_run(file, read_as=read_as, id_field=id_field)
    except InputError as error:
        if not error.headline.startswith("not found"):
            raise
        first = error.problems[0]
        raise InputError(f"{role} {first.message}", first.where, first.hint) from None


def _guard(
    verdict: Verdict,
    base_policy: File | PolicyFile,
    touched: Sequence[PolicyChange],
    known: Known,
    options: Options,
) -> Verdict:
    """Add what the base branch's policy says of the same runs."""
    assert known.policy is not None
    try:
        base = base_policy if isinstance(base_policy, PolicyFile) else load_policy(base_policy)
    except PolicyError as error:
        notice = said("notice.base-policy-unreadable", reason=str(error))
        return add_notices(verdict, [notice])
    changes = [*compare_policies(base.policy, known.policy.policy), *touched]
    changes.sort(key=lambda change: not change.loosens)
    file = None if isinstance(base_policy, PolicyFile) else str(base_policy)
    update: dict[str, object] = {"base_file": file, "same_as_base": not changes, "changes": changes}
    if changes:
        before = _judge_under(base, known, options)
        update["under_base"] = tell_base(before)
    return verdict.model_copy(update={"policy": verdict.policy.model_copy(update=update)})


def _judge_under(base: PolicyFile, known: Known, options: Options) -> Verdict:
    again = Known(known.policy_file, known.baseline, known.candidate, known.on, policy=base)
    try:
        _read_runs(again, options)
        return _judge(again, options)
    except (PolicyError, InputError, NotComparable) as error:
        return refuse(error, again, options)
