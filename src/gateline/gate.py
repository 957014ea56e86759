"""The pipeline: two files and a policy in, a verdict out.

A verdict is a pure function of its inputs: no clock, no environment, no global random state. The only I/O is reading
the files that are named.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike


import numpy as np

import gateline
from gateline.comparison import Comparison
from gateline.errors import GatelineError, InputError, NotComparable, PolicyError
from gateline.findings import Finding, Status
from gateline.guard import compare_policies
from gateline.pairing import Pairs, pair, state_facts
from gateline.pairing.facts import ChangedField, Pairing
from gateline.policy import PolicyFile, load_policy
from gateline.readers import read_run
from gateline.samples import Run
from gateline.verdict import (
    BaseVerdict,
    FailOn,
    PolicyFacts,
    RunFacts,
    StatedProblem,
    StatisticsFacts,
    Verdict,
    WorstSample,
    count,
    day_text,
    decide,
    order_findings,
)
from gateline.waivers import apply_waivers
from gateline.wording import describe

MOST_WORST = 20

File = str | PathLike[str]


@dataclass(frozen=True)
class Options:
    """How the same question may be asked in other ways."""

    fail_on: FailOn = "fail"
    """Which outcome ends with exit code 1."""
    first_run: bool = False
    """Whether a missing baseline is allowed: only fixed limits are judged then."""
    read_as: str | None = None
    """Name of the reader for both files, where the content does not tell."""
    with_excerpts: bool = False
    """Whether the verdict may hold texts of questions."""


@dataclass
class _Progress:
    """What is known so far, for a verdict that ends early."""

    policy: PolicyFile | None = None
    baseline: Run | None = None
    candidate: Run | None = None
    pairs: Pairs | None = None


def check(
    policy: File, baseline: File | None, candidate: File, *,
    on: datetime.date, base_policy: File | None = None, options: Options | None = None,
) -> Verdict:  # fmt: skip
    """Judge a candidate's results against a baseline's under a policy.

    `on` is the day on which waivers are looked at. Whatever is wrong with the files ends in a verdict `invalid` that
    says so; nothing is raised for it.
    """
    options = options or Options()
    progress = _Progress()
    try:
        findings, notices = _judge(policy, baseline, candidate, on, options, progress)
    except (PolicyError, InputError, NotComparable) as error:
        progress.pairs = progress.pairs or getattr(error, "pairs", None)
        return _refuse(error, policy, baseline, candidate, on, options, progress)
    verdict = _conclude(findings, notices, on, options, progress)
    if base_policy is None:
        return verdict
    return _guard(verdict, base_policy, baseline, candidate, on, options, progress)


def refuse_bug(
    error: Exception, policy: File, baseline: File | None, candidate: File, *, on: datetime.date, options: Options
) -> Verdict:
    """Return the verdict that there is none because of a fault in gateline itself."""
    said = InputError(f"this is a bug in gateline: {type(error).__name__}: {str(error)[:300]}", "",
                      "please report it with the command; -vv shows where it happened")  # fmt: skip
    return _refuse(said, policy, baseline, candidate, on, options, _Progress())


def _judge(
    policy: File, baseline: File | None, candidate: File, on: datetime.date, options: Options, progress: _Progress
) -> tuple[list[Finding], list[str]]:
    """Read, pair, compare, judge, waive."""
    loaded = progress.policy = load_policy(policy) if not isinstance(policy, PolicyFile) else policy
    if baseline is None and not options.first_run:
        raise InputError("no baseline was given", "", "give one with --baseline, or say --first-run where there is "
                         "none yet: then only fixed limits are judged")  # fmt: skip
    id_field = loaded.policy.samples.id
    if baseline is not None:
        progress.baseline = _read("baseline", baseline, id_field, options)
    progress.candidate = _read("candidate", candidate, id_field, options)
    golden_file = loaded.golden_set_file()
    golden = None if golden_file is None else _read("golden set", golden_file, id_field, replace(options, read_as=None))
    pairs = progress.pairs = pair(progress.baseline, progress.candidate, golden, loaded.terms())
    comparison = Comparison(pairs, loaded.policy.metrics, loaded.policy.statistics)
    found = [finding for rule in loaded.policy.rules for finding in rule.check(comparison)]
    found, notices = apply_waivers(found, loaded.policy.waivers, loaded.rules, comparison, on)
    return [_complete(finding, loaded) for finding in found], [*pairs.notices, *notices]


def _read(role: str, file: File, id_field: str, options: Options) -> Run:
    """Read one run; the first problem says which of the files it is about."""
    try:
        return read_run(file, read_as=options.read_as, id_field=id_field)
    except InputError as error:
        if error.headline.startswith("not found"):
            raise InputError(f"{role} {error.problems[0].message}", error.problems[0].where,
                             error.problems[0].hint) from None  # fmt: skip
        raise


def _complete(finding: Finding, policy: PolicyFile) -> Finding:
    placed = finding.model_copy(update={"line": policy.rule_lines[finding.rule]})
    return placed.model_copy(update={"message": describe(placed)})


def _conclude(
    findings: Sequence[Finding], notices: Sequence[str], on: datetime.date, options: Options, progress: _Progress
) -> Verdict:
    ordered = order_findings(findings)
    word, code = decide(ordered, options.fail_on)
    pairs, policy = progress.pairs, progress.policy
    assert pairs is not None and policy is not None  # noqa: S101, PT018
    problems = []
    if word == "invalid":
        problems = [StatedProblem(message="no rule could be judged, so nothing was decided", where=policy.file,
                                  hint="give a baseline, or add a rule of kind limit")]  # fmt: skip
    return Verdict(
        gateline=gateline.__version__, verdict=word, exit_code=code,
        because=_reasons(ordered, word, options, problems), counts=count(ordered), fail_on=options.fail_on,
        first_run=pairs.first_run, policy=_policy_facts(policy), judged_on=day_text(on),
        baseline=_run_facts(progress.baseline), candidate=_run_facts(progress.candidate), changed=pairs.changed,
        pairing=pairs.facts, statistics=_statistics_facts(policy), findings=ordered,
        worst=_find_worst(ordered, pairs, policy, options), notices=list(notices), problems=problems,
    )  # fmt: skip


def _reasons(
    findings: Sequence[Finding], word: str, options: Options, problems: Sequence[StatedProblem]
) -> list[str]:
    """Return why, worst first: what blocks, else what warns, else what the pass rests on."""
    if word == "invalid":
        return [problem.message for problem in problems]
    blocking = [finding for finding in findings if finding.blocks]
    if word == "fail" and options.fail_on == "inconclusive":
        blocking += [f for f in findings if f.status is Status.INCONCLUSIVE and not f.blocks]
    if blocking:
        return [finding.message for finding in blocking]
    judged = [finding for finding in findings if finding.status is not Status.SKIPPED]
    warnings = [finding.message for finding in findings if finding.warns]
    held = sum(finding.status is Status.PASS for finding in judged)
    return [*warnings, f"{held} of {len(judged)} checks hold"]


def _refuse(
    error: GatelineError, policy: File, baseline: File | None, candidate: File,
    on: datetime.date, options: Options, progress: _Progress,
) -> Verdict:  # fmt: skip
    """Return the verdict that there is none, with all that was known."""
    problems = [StatedProblem(message=one.message, where=one.where, hint=one.hint) for one in error.problems]
    known = progress.policy
    facts = _policy_facts(known) if known else _unread_policy(policy)
    changed: list[ChangedField] = progress.pairs.changed if progress.pairs else []
    pairing: Pairing | None = progress.pairs.facts if progress.pairs else None
    return Verdict(
        gateline=gateline.__version__, verdict="invalid", exit_code=2,
        because=[str(problem) for problem in error.problems], counts=count([]), fail_on=options.fail_on,
        first_run=baseline is None, policy=facts, judged_on=day_text(on),
        baseline=_run_facts(progress.baseline, baseline), candidate=_run_facts(progress.candidate, candidate),
        changed=changed, pairing=pairing, statistics=_statistics_facts(known) if known else None, findings=[],
        worst=[], notices=list(progress.pairs.notices) if progress.pairs else [], problems=problems,
    )  # fmt: skip


def _guard(
    verdict: Verdict, base_policy: File, baseline: File | None, candidate: File,
    on: datetime.date, options: Options, progress: _Progress,
) -> Verdict:  # fmt: skip
    """Add what the base branch's policy says of the same runs."""
    assert progress.policy is not None  # noqa: S101
    try:
        base = load_policy(base_policy)
    except PolicyError as error:
        notice = f"the base branch's policy can't be read, so it is not known whether this change loosens it: {error}"
        return verdict.model_copy(update={"notices": [*verdict.notices, notice]})
    changes = compare_policies(base.policy, progress.policy.policy)
    update: dict[str, object] = {"same_as_base": not changes, "changes": changes}
    if changes:
        before = check(base, baseline, candidate, on=on, options=options)  # type: ignore[arg-type]
        update["under_base"] = BaseVerdict(verdict=before.verdict, because=before.because[:3])
    return verdict.model_copy(update={"policy": verdict.policy.model_copy(update=update)})


def _policy_facts(policy: PolicyFile) -> PolicyFacts:
    return PolicyFacts(name=policy.policy.name, file=policy.file, sha256=policy.sha256)


def _unread_policy(policy: File) -> PolicyFacts:
    from pathlib import Path

    return PolicyFacts(name=Path(policy).stem, file=str(policy), sha256=None)


def _statistics_facts(policy: PolicyFile) -> StatisticsFacts:
    settings = policy.policy.statistics
    return StatisticsFacts(confidence=settings.confidence, resamples=settings.resamples, seed=settings.seed,
                           method=settings.method)  # fmt: skip


def _run_facts(run: Run | None, file: File | None = None) -> RunFacts | None:
    if run is None:
        return None if file is None else RunFacts(file=str(file), sha256=None, format=None, samples=None, provenance={})
    return RunFacts(file=run.file, sha256=run.sha256, format=run.format, samples=len(run), provenance=state_facts(run))


def _find_worst(
    findings: Sequence[Finding], pairs: Pairs, policy: PolicyFile, options: Options
) -> list[WorstSample]:
    """Return the samples that lost most, of each metric and slice that is not plainly fine, worst first."""
    if pairs.first_run:
        return []
    questions = pairs.sides[-1].run.texts("question") if options.with_excerpts else None
    looked_at = Comparison(pairs, policy.policy.metrics, policy.policy.statistics)
    seen: set[tuple[str, str]] = set()
    worst: list[WorstSample] = []
    for finding in findings:
        if finding.status in (Status.PASS, Status.SKIPPED) or len(worst) >= MOST_WORST:
            continue
        rows = looked_at.rows(finding.metric, finding.slice)
        gains = looked_at.gains(finding.metric, rows)
        before, after = looked_at.per_sample(finding.metric, rows)
        order: Sequence[int] = np.argsort(np.nan_to_num(gains), kind="stable")[:5].tolist()
        for position in order:
            name = pairs.ids[rows[position]]
            if not gains[position] < 0 or (finding.metric, name) in seen or before is None:
                continue
            seen.add((finding.metric, name))
            question = questions[int(pairs.sides[-1].first[rows[position]])] if questions else None
            worst.append(WorstSample(id=name, metric=finding.metric, slice=finding.slice,
                                     baseline=float(before[position]), candidate=float(after[position]),
                                     gain=float(gains[position]), question=question))  # fmt: skip
    return worst[:MOST_WORST]


