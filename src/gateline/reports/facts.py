"""What a verdict rests on, in short sentences: the runs, what was left out, what changed, method and command.

Used by every report for people. This module computes nothing; each text from a file goes through the given
spelling.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from gateline import figures
from gateline.reports.headline import BLOCKED, NO_VERDICT, PASSED, loosening
from gateline.wording import Spelling, plural

if TYPE_CHECKING:
    from gateline.verdict import LeftOutIds, LeftOutValues, PolicyChange, RunFacts, Verdict

RULE_WORDS = {
    "must_match": "must match",
    "may_change": "may change",
    "unlisted": "in neither list of the policy",
}
_BASE_WORDS = {"pass": PASSED, "fail": BLOCKED, "invalid": NO_VERDICT}
_CAUSES = {
    "no_answer": "no answer",
    "no_score": "no score",
    "cached": "cached, so no time and no cost",
    "price_unknown": "price unknown",
}
_MOST_IDS = 5


def compared(verdict: Verdict) -> str:
    """Return how many questions were compared; empty where the runs were not joined."""
    pairing = verdict.pairing
    if pairing is None:
        return ""
    where = "of the candidate, without a baseline" if verdict.first_run else "in both runs"
    groups = ""
    if pairing.clusters != pairing.paired:
        groups = f" in {plural(pairing.clusters, 'independent group')}"
    identical = "; both files hold the same records" if pairing.identical else ""
    return f"{plural(pairing.paired, 'question')} {where}{groups}{identical}"


def left_out(verdict: Verdict, spelling: Spelling) -> list[str]:
    """Return a sentence for each kind of question or value that was left out or counted as the worst."""
    pairing = verdict.pairing
    if pairing is None:
        return []
    lines = [
        _only_in("baseline", pairing.only_in_baseline, spelling),
        _only_in("candidate", pairing.only_in_candidate, spelling),
    ]
    lines += [_values(part, spelling) for part in (*pairing.no_answer, *pairing.no_score)]
    return [line for line in lines if line]


def changed_fields(verdict: Verdict, spelling: Spelling) -> list[str]:
    """Return `app.commit: b81d0e7 → c92f1a2 (may change)` for each fact of provenance that differs."""
    lines = []
    for field in verdict.changed:
        move = f"{_value(field.baseline, spelling)} → {_value(field.candidate, spelling)}"
        lines.append(f"{spelling.name(field.field)}: {move} ({RULE_WORDS[field.rule]})")
    return lines


def baseline_line(verdict: Verdict, spelling: Spelling) -> str:
    """Return which commit and how old the baseline is; empty where that is not known."""
    origin = verdict.baseline.origin if verdict.baseline is not None else None
    if origin is None:
        return ""
    parts = [f"commit {spelling.name(origin.commit[:12])}"] if origin.commit else []
    if origin.branch:
        parts.append(f"on {spelling.name(origin.branch)}")
    if origin.age is not None and origin.age >= 0:
        parts.append("of the same day" if origin.age == 0 else f"{plural(origin.age, 'day')} old")
    return f"Baseline: {', '.join(parts) or spelling.name(origin.source)}."


def policy_line(verdict: Verdict) -> str:
    """Return whether the policy is the base branch's; empty where that was not at hand."""
    policy = verdict.policy
    if policy.same_as_base is None:
        return ""
    if policy.same_as_base:
        return "Policy unchanged."
    count = plural(len(policy.changes), "change")
    if loosening(verdict):
        return f"This change loosens the policy ({count})."
    return f"Policy changed ({count}), nothing loosened."


def under_base(verdict: Verdict, spelling: Spelling) -> str:
    """Return the verdict under the base branch's policy; empty where the policies don't differ."""
    base = verdict.policy.under_base
    if base is None:
        return ""
    because = f" {spelling.text(base.because[0].rstrip(' .'))}." if base.because else ""
    return f"Under the base branch's policy: {_BASE_WORDS[base.verdict]}.{because}"


def policy_change(change: PolicyChange, spelling: Spelling) -> str:
    """Return `rules.correct-floor.at_least: 0.75 → 0.7 (loosens)`."""
    if change.base is None:
        what = f"new, {_value(change.now, spelling)}"
    elif change.now is None:
        what = f"removed, was {_value(change.base, spelling)}"
    else:
        what = f"{_value(change.base, spelling)} → {_value(change.now, spelling)}"
    return f"{spelling.name(change.path)}: {what}{' (loosens)' if change.loosens else ''}"


def method(verdict: Verdict, spelling: Spelling) -> str:
    """Return how intervals were made; empty where there were none."""
    statistics = verdict.statistics
    if statistics is None:
        return ""
    level = figures.confidence_text(statistics.confidence)
    draws = plural(statistics.resamples, "resample")
    name = spelling.text(statistics.method)
    return (
        f"Intervals: {level} two-sided, {name} bootstrap, {draws}, seed {statistics.seed}, "
        "widened where a rule looks at several slices."
    )


def command(verdict: Verdict) -> str:
    """Return the command that gives the same verdict again, quoted for a shell."""
    parts = ["gateline", "check", "--policy", verdict.policy.file]
    if verdict.baseline is not None:
        parts += ["--baseline", verdict.baseline.file]
    if verdict.candidate is not None:
        parts += ["--candidate", verdict.candidate.file]
    if verdict.policy.base_file is not None:
        parts += ["--base-policy", verdict.policy.base_file]
    if verdict.first_run:
        parts.append("--first-run")
    if verdict.fail_on != "fail":
        parts += ["--fail-on", verdict.fail_on]
    if verdict.judged_on:
        parts += ["--on", verdict.judged_on]
    return shlex.join(parts)


def run_facts(run: RunFacts | None, spelling: Spelling) -> str:
    """Return file, format, size and digest of a run."""
    if run is None:
        return "none"
    parts = [spelling.name(run.file)]
    if run.format:
        parts.append(spelling.text(run.format))
    if run.samples is not None:
        parts.append(plural(run.samples, "record"))
    if run.sha256:
        parts.append(f"sha256 {spelling.name(run.sha256[:12])}")
    return ", ".join(parts)


def policy_file(verdict: Verdict, spelling: Spelling) -> str:
    """Return file and digest of the policy."""
    policy = verdict.policy
    digest = f", sha256 {spelling.name(policy.sha256[:12])}" if policy.sha256 else ""
    return f"{spelling.name(policy.file)}{digest}"


def _only_in(run: str, part: LeftOutIds, spelling: Spelling) -> str:
    if not part.samples:
        return ""
    parts = [
        f"{plural(part.samples, 'question')} only in the {run}: {_ids(part.ids, part.samples, spelling)}"
    ]
    if part.passed is not None:
        parts.append(f"{part.passed:,} of them had passed")
    if part.slices:
        largest = sorted(part.slices.items(), key=lambda item: (-item[1], item[0]))[:_MOST_IDS]
        parts.append("by slice " + ", ".join(f"{spelling.name(name)} {count:,}" for name, count in largest))
    return "; ".join(parts)


def _values(part: LeftOutValues, spelling: Spelling) -> str:
    if not part.samples:
        return ""
    where = "" if part.slice is None else f" in {spelling.name(part.slice)}"
    cause = _CAUSES.get(part.cause, spelling.text(part.cause))
    share = f"{part.samples:,} of {part.of:,} in the {part.run} have {cause}"
    counted = "counted as the worst" if part.counted_as == "worst" else "left out"
    ids = _ids(part.ids, part.samples, spelling)
    return f"{spelling.name(part.metric)}{where}: {share}, {counted}: {ids}"


def _ids(ids: list[str], count: int, spelling: Spelling) -> str:
    shown = [spelling.name(one) for one in ids[:_MOST_IDS]]
    rest = count - len(shown)
    if not shown:
        return "not named"
    return ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")


def _value(value: str | None, spelling: Spelling) -> str:
    return "none" if value is None else spelling.name(value)
