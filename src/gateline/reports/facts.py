"""What a verdict rests on, in short sentences: the runs, what was left out, what changed, method and command.

Used by every report for people. This module computes nothing; each text from a file goes through the given
spelling.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from gateline import figures
from gateline.amounts import from_to
from gateline.remark import say_all
from gateline.reports.headline import BLOCKED, NO_VERDICT, PASSED, loosening, why_under_base
from gateline.spelling import PLAIN, Spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateline.findings import Finding
    from gateline.verdict import LeftOutIds, LeftOutValues, PolicyChange, RunFacts, Verdict

_BASE_WORDS = {"pass": PASSED, "fail": BLOCKED, "invalid": NO_VERDICT}
_MOST_IDS = 5


def compared(verdict: Verdict, spelling: Spelling = PLAIN) -> str:
    """Return how many questions were compared; empty where the runs were not joined."""
    pairing = verdict.pairing
    if pairing is None:
        return ""
    questions = spelling.say("count.questions", count=pairing.paired)
    text = spelling.say("compared.alone" if verdict.first_run else "compared.both", questions=questions)
    if pairing.independent is not None:
        before, after = pairing.independent.baseline, pairing.independent.candidate
        text = spelling.say("compared.independent", before=f"{before:,}", after=f"{after:,}")
    if pairing.clusters != pairing.paired:
        groups = spelling.say("count.independent-groups", count=pairing.clusters)
        text = spelling.say("rest.in-groups", things=text, groups=groups)
    if pairing.identical:
        text = spelling.say("joint.clauses").join([text, spelling.say("compared.identical")])
    return spelling.sentence(text)


def compared_and_lacking(verdict: Verdict, spelling: Spelling) -> str:
    """Return how many questions were compared, and how many of the baseline the candidate lacks where it lacks any."""
    text, pairing = compared(verdict, spelling), verdict.pairing
    if pairing is None or pairing.independent is not None or not pairing.only_in_baseline.samples:
        return text
    questions = spelling.say("count.questions", count=pairing.only_in_baseline.samples)
    lacking = spelling.sentence(spelling.say("facts.lacking", questions=questions))
    return spelling.join_sentences([text, lacking])


def left_out(verdict: Verdict, spelling: Spelling) -> list[str]:
    """Return a sentence for each kind of question or value that was left out or counted as the worst."""
    pairing = verdict.pairing
    if pairing is None:
        return []
    lines = [
        _only_in("baseline", pairing.only_in_baseline, spelling),
        _only_in("candidate", pairing.only_in_candidate, spelling),
    ]
    lines += _values([*pairing.no_answer, *pairing.no_score], spelling)
    return [line for line in lines if line]


def too_small(verdict: Verdict, spelling: Spelling) -> str:
    """Return which slices had too few samples to be judged, and what moved beyond its bound there; empty for none."""
    slices: dict[str, list[Finding]] = {}
    for finding in verdict.findings:
        if finding.is_too_small and finding.slice is not None:
            slices.setdefault(finding.slice, []).append(finding)
    if not slices:
        return ""
    ordered = sorted(slices.values(), key=lambda ones: -max(one.missed_by for one in ones))
    names = [_too_small_slice(ones, spelling) for ones in ordered[:_MOST_IDS]]
    listed = spelling.or_more(names, len(ordered))
    return spelling.sentence(
        spelling.say("facts.too-small", setting=spelling.name("slices.at_least"), slices=listed)
    )


def rule_word(rule: str, spelling: Spelling) -> str:
    """Return what the policy says of a fact of provenance: `may change`."""
    return spelling.say(f"provenance.{rule}")


def changed_fields(verdict: Verdict, spelling: Spelling) -> list[str]:
    """Return `app.commit: b81d0e7 → c92f1a2 (may change)` for each fact of provenance that differs."""
    return [
        spelling.say(
            "changed.field",
            field=spelling.name(field.field),
            before=_value(field.baseline, spelling),
            after=_value(field.candidate, spelling),
            rule=rule_word(field.rule, spelling),
        )
        for field in verdict.changed
    ]


def baseline_line(verdict: Verdict, spelling: Spelling) -> str:
    """Return which commit and how old the baseline is; empty where that is not known."""
    origin = verdict.baseline.origin if verdict.baseline is not None else None
    if origin is None:
        return ""
    parts = []
    if origin.commit:
        parts.append(spelling.say("baseline.commit", commit=spelling.name(origin.commit[:12])))
    if origin.branch:
        parts.append(spelling.say("baseline.branch", branch=spelling.name(origin.branch)))
    if origin.age is not None and origin.age >= 0:
        same_day = origin.age == 0
        parts.append(
            spelling.say("baseline.same-day") if same_day else spelling.say("baseline.age", count=origin.age)
        )
    facts = spelling.say("joint.parts").join(parts) or spelling.name(origin.source)
    return spelling.sentence(spelling.say("joint.named", name=spelling.say("title.baseline"), text=facts))


def policy_line(verdict: Verdict, spelling: Spelling = PLAIN) -> str:
    """Return whether the policy is the base branch's; empty where that was not at hand."""
    policy = verdict.policy
    if policy.same_as_base is None and not policy.changes:
        return ""
    if policy.same_as_base:
        return spelling.say("policy.unchanged")
    count = spelling.say("count.changes", count=len(policy.changes))
    return spelling.say("policy.loosened" if loosening(verdict) else "policy.changed", changes=count)


def under_base(verdict: Verdict, spelling: Spelling) -> str:
    """Return the verdict under the base branch's policy; empty where the policies don't differ."""
    base = verdict.policy.under_base
    if base is None:
        return ""
    word = spelling.say(f"outcome.{_BASE_WORDS[base.verdict]}")
    reason = why_under_base(base, spelling, verdict.fail_on)
    return spelling.join_sentences([spelling.say("policy.under-base", outcome=word), reason])


def policy_change(change: PolicyChange, spelling: Spelling) -> str:
    """Return `rules.correct-floor.at_least: 0.75 → 0.7 (loosens)`."""
    before, now = _value(change.base, spelling), _value(change.now, spelling)
    if change.base is None:
        what = spelling.say("change.new", now=now)
    elif change.now is None:
        what = spelling.say("change.removed", before=before)
    else:
        what = f"{before} → {now}"
    text = spelling.say("joint.named", name=spelling.name(change.path), text=what)
    return spelling.say("change.loosens", change=text) if change.loosens else text


def method(verdict: Verdict, spelling: Spelling) -> str:
    """Return how intervals were made; empty where there were none."""
    statistics = verdict.statistics
    if statistics is None:
        return ""
    key = f"method.{statistics.method}"
    known = spelling.texts.knows(key)
    return spelling.say(
        "method",
        level=figures.confidence_text(statistics.confidence, spelling.texts),
        name=spelling.say(key) if known else spelling.text(statistics.method),
        draws=spelling.say("count.resamples", count=statistics.resamples),
        seed=str(statistics.seed),
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
        return spelling.say("word.none")
    parts = [spelling.name(run.file)]
    if run.format:
        parts.append(spelling.text(run.format))
    if run.samples is not None:
        parts.append(spelling.say("count.records", count=run.samples))
    if run.sha256:
        parts.append(f"sha256 {spelling.name(run.sha256[:12])}")
    return spelling.say("joint.parts").join(parts)


def policy_file(verdict: Verdict, spelling: Spelling) -> str:
    """Return file and digest of the policy."""
    policy = verdict.policy
    parts = [spelling.name(policy.file)]
    if policy.sha256:
        parts.append(f"sha256 {spelling.name(policy.sha256[:12])}")
    return spelling.say("joint.parts").join(parts)


def notices(verdict: Verdict, spelling: Spelling) -> list[str]:
    """Return what a person should know beside the findings, in the language; they still hold texts from files."""
    return say_all(verdict.notices, verdict.notices_said, spelling.texts)


def never_fails(option: str, value: str, spelling: Spelling) -> str:
    """Return why the exit code of a blocked gate is 0; option and value as they are written where one reads it."""
    return spelling.say("facts.never-fails", option=option, value=value)


def _too_small_slice(findings: Sequence[Finding], spelling: Spelling) -> str:
    """Return `topic=tax (4: answer_correct 100.0 → 25.0 %)`."""
    worst = max(findings, key=lambda one: one.missed_by)
    name, size = spelling.name(worst.slice or ""), f"{max(one.samples for one in findings):,}"
    if worst.missed_by <= 0 or worst.baseline is None:
        return spelling.say("joint.with-aside", text=name, aside=size)
    moved = spelling.say(
        "moved.in-list", subject=spelling.name(worst.metric), values=from_to(worst, spelling, unit_once=True)
    )
    return spelling.say(
        "joint.with-aside", text=name, aside=spelling.say("joint.named", name=size, text=moved)
    )


def _only_in(run: str, part: LeftOutIds, spelling: Spelling) -> str:
    if not part.samples:
        return ""
    questions = spelling.say("count.questions", count=part.samples)
    where = spelling.say(f"left-out.only-in-{run}", questions=questions)
    parts = [spelling.say("joint.named", name=where, text=_ids(part.ids, part.samples, spelling))]
    if part.passed is not None:
        parts.append(spelling.say("left-out.had-passed", count=part.passed))
    if part.slices:
        largest = sorted(part.slices.items(), key=lambda item: (-item[1], item[0]))[:_MOST_IDS]
        listed = spelling.say("joint.list").join(
            f"{spelling.name(name)} {count:,}" for name, count in largest
        )
        parts.append(spelling.say("left-out.by-slice", slices=listed))
    return spelling.say("joint.clauses").join(parts)


def _values(parts: list[LeftOutValues], spelling: Spelling) -> list[str]:
    """Return a line for each kind of missing value; metrics that lack the same ones for the same cause share it."""
    alike: dict[tuple[object, ...], list[LeftOutValues]] = {}
    for part in parts:
        if part.samples:
            kind = (part.run, part.slice, part.cause, part.counted_as, part.samples, part.of, *part.ids)
            alike.setdefault(kind, []).append(part)
    return [_values_alike(group, spelling) for group in alike.values()]


def _values_alike(parts: list[LeftOutValues], spelling: Spelling) -> str:
    part = parts[0]
    metrics = spelling.or_more((spelling.name(one.metric) for one in parts[:_MOST_IDS]), len(parts))
    if part.slice is not None:
        metrics = spelling.say("finding.subject", metric=metrics, slice=spelling.name(part.slice))
    cause = f"cause.{part.cause}"
    return spelling.say(
        "left-out.values",
        metrics=metrics,
        count=part.samples,
        of=f"{part.of:,}",
        run=spelling.say(f"word.{part.run}"),
        cause=spelling.say(cause) if spelling.texts.knows(cause) else spelling.text(part.cause),
        counted=spelling.say("counted.worst" if part.counted_as == "worst" else "counted.left-out"),
        ids=_ids(part.ids, part.samples, spelling),
    )


def _ids(ids: list[str], count: int, spelling: Spelling) -> str:
    shown = [spelling.name(one) for one in ids[:_MOST_IDS]]
    return spelling.or_more(shown, count) if shown else spelling.say("left-out.not-named")


def _value(value: str | None, spelling: Spelling) -> str:
    return spelling.say("word.none") if value is None else spelling.name(value)
