"""A verdict in words: the bold sentence, the counts, what would let the change through.

This module computes nothing and decides nothing; the sentences about one finding are made in `wording`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline import figures
from gateline.amounts import allowance, amount, judged_scale
from gateline.remark import say_again
from gateline.reports.looks import needing_a_look, say_falls, say_worse_slice
from gateline.spelling import PLAIN, Spelling, without_stop
from gateline.wording import describe, is_within_reach, subject_in_sentence

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import BaseVerdict, StatedProblem, Verdict

BLOCKED, PASSED, WARNED, NO_VERDICT = "blocked", "passed", "warned", "no-verdict"
_FIRST_IDS = 3


def outcome(verdict: Verdict) -> str:
    """Return the key of the outcome: BLOCKED, PASSED, WARNED or NO_VERDICT."""
    if verdict.verdict == "invalid":
        return NO_VERDICT
    if verdict.verdict == "fail":
        return BLOCKED
    return WARNED if verdict.warns or loosening(verdict) or has_other_baseline(verdict) else PASSED


def outcome_word(verdict: Verdict, spelling: Spelling = PLAIN) -> str:
    """Return `blocked`, `passed`, `passed with warnings` or `no verdict`, and that the change loosens its policy."""
    key = outcome(verdict)
    if key != NO_VERDICT and loosening(verdict):
        return spelling.say("outcome.blocked-loosened" if key == BLOCKED else "outcome.passed-loosened")
    return spelling.say(f"outcome.{key}")


def loosening(verdict: Verdict) -> bool:
    """Return whether this change loosens its own policy: by one of its changes, or by what comes of them together."""
    return _passes_by_its_policy(verdict) or any(change.loosens for change in verdict.policy.changes)


def has_other_baseline(verdict: Verdict) -> bool:
    """Return whether the baseline is not as the base branch has it: the change may move what it is held against."""
    return any(
        remark is not None and remark.key == "notice.other-baseline" for remark in verdict.notices_said
    )


def _passes_by_its_policy(verdict: Verdict) -> bool:
    """Return whether the verdict is a pass and would not be one under the base branch's policy."""
    base = verdict.policy.under_base
    return base is not None and verdict.verdict == "pass" and base.verdict != "pass"


def why_under_base(base: BaseVerdict, spelling: Spelling, fail_on: str) -> str:
    """Return why the base branch's policy says so: its worst finding, its first problem, or what it said in English.

    Empty where it passes and nothing needs a look: its word says all.
    """
    if base.verdict == "pass" and base.worst is None:
        return ""
    if base.worst is not None:
        return describe(base.worst, spelling, fail_on=fail_on)
    if base.problem is not None:
        return spelling.sentence(spelling.text(without_stop(message_of(base.problem, spelling))))
    reason = (
        spelling.text(without_stop(base.because[0])) if base.because else spelling.say("finding.no-reason")
    )
    return spelling.sentence(reason)


def blockers(verdict: Verdict) -> list[Finding]:
    """Return the findings that make the verdict a fail, worst first."""
    if verdict.verdict != "fail":
        return []
    strict = verdict.fail_on == "inconclusive"
    return [f for f in verdict.findings if f.blocks or (strict and f.status.value == "inconclusive")]


def headline(verdict: Verdict, spelling: Spelling = PLAIN) -> str:
    """Return the sentence that a reader with five seconds reads; moved goalposts are told before a pass."""
    if verdict.verdict == "invalid":
        return _headline_of_problems(verdict, spelling)
    falls = say_falls(verdict, told_in_headline(verdict), spelling)
    said = spelling.join_sentences([_headline_under_policies(verdict, spelling), falls])
    if not has_other_baseline(verdict):
        return said
    other = spelling.say("headline.other-baseline")
    return spelling.join_sentences([said, other] if verdict.verdict == "fail" else [other, said])


def _headline_under_policies(verdict: Verdict, spelling: Spelling) -> str:
    """Return what this policy says, and the base branch's where it is another one."""
    if _passes_by_its_policy(verdict):
        return _say_what_base_says(verdict, spelling)
    said = _headline_of_findings(verdict, spelling)
    if not loosening(verdict):
        return said
    if verdict.verdict == "fail":
        return spelling.join_sentences([said, spelling.say("headline.loosened")])
    return spelling.join_sentences([_say_what_base_says(verdict, spelling), said])


def told_in_headline(verdict: Verdict) -> Finding | None:
    """Return the finding whose whole sentence the headline holds among those that block or need a look."""
    if verdict.verdict == "fail":
        return next(iter(blockers(verdict)), None)
    pairing = verdict.pairing
    same = pairing is not None and (pairing.identical or pairing.carried_over)
    if verdict.verdict == "invalid" or _passes_by_its_policy(verdict) or verdict.first_run or same:
        return None
    return next(iter(needing_a_look(verdict)), None)


def _say_what_base_says(verdict: Verdict, spelling: Spelling) -> str:
    """Return that the policy is loosened, and what the base branch's policy says."""
    base = verdict.policy.under_base
    if base is None:
        return spelling.say("headline.loosened")
    if base.verdict == "pass":
        return spelling.say("headline.base-passes")
    key = "headline.base-blocks" if base.verdict == "fail" else "headline.base-undecided"
    return spelling.say(key, reason=why_under_base(base, spelling, verdict.fail_on))


def _headline_of_findings(verdict: Verdict, spelling: Spelling) -> str:
    """Return the worst finding, or what the pass rests on."""
    blocking = blockers(verdict)
    if blocking:
        more = _more("headline.more-block", len(blocking) - 1, spelling)
        worse = say_worse_slice(verdict, blocking[0], spelling)
        return spelling.join_sentences([describe_in(verdict, blocking[0], spelling), worse, more])
    if verdict.verdict == "fail":
        return spelling.join_clauses(verdict.because[:1]) or spelling.say("headline.gate-said-no")
    return spelling.join_sentences([_say_doubts(verdict, spelling), _headline_of_pass(verdict, spelling)])


def _say_doubts(verdict: Verdict, spelling: Spelling) -> str:
    """Return why a pass may rest on faulty data, which comes before its numbers; empty where nothing tells so."""
    if not verdict.doubts:
        return ""
    first = spelling.sentence(spelling.text(say_again(*verdict.doubts[0], spelling.texts)))
    return spelling.join_sentences([first, _more("headline.more-doubts", len(verdict.doubts) - 1, spelling)])


def _headline_of_pass(verdict: Verdict, spelling: Spelling) -> str:
    """Return what a pass rests on, or what people should look at first."""
    if verdict.first_run:
        return spelling.join_sentences([spelling.say("headline.first-run"), _what_passed(verdict, spelling)])
    same = _say_same_records(verdict, spelling)
    if same:
        return spelling.join_sentences([same, _what_passed(verdict, spelling)])
    looks = needing_a_look(verdict)
    if looks:
        first = spelling.say("headline.warning", finding=describe_in(verdict, looks[0], spelling))
        more = _more("headline.more-need-a-look", len(looks) - 1, spelling)
        return spelling.join_sentences([first, say_worse_slice(verdict, looks[0], spelling), more])
    if len(verdict.findings) == 1:
        return describe_in(verdict, verdict.findings[0], spelling)
    shown = [f for f in verdict.findings if f.kind == "improvement" and f.status.value == "pass"]
    return spelling.join_sentences(
        [_what_passed(verdict, spelling), *(describe_in(verdict, finding, spelling) for finding in shown[:1])]
    )


def _say_same_records(verdict: Verdict, spelling: Spelling) -> str:
    """Return that the candidate, or a part of it, was not evaluated again; empty where nothing tells so."""
    pairing = verdict.pairing
    if pairing is None or not (pairing.identical or pairing.carried_over):
        return ""
    if not pairing.carried_over:
        return spelling.say("headline.identical")
    if pairing.identical:
        return spelling.say("headline.not-evaluated-again")
    return spelling.say("headline.carried-over", count=pairing.carried_over, asked=pairing.paired)


def describe_in(verdict: Verdict, finding: Finding, spelling: Spelling = PLAIN) -> str:
    """Return a finding in one sentence as it counts in this verdict."""
    return describe(finding, spelling, fail_on=verdict.fail_on)


def counts_line(verdict: Verdict, spelling: Spelling = PLAIN) -> str:
    """Return how many checks had which outcome: `14 checks: 2 fail · 1 inconclusive · 11 pass`."""
    unsettled = sum(one.status.value == "inconclusive" for one in blockers(verdict))
    parts = []
    for status in ("fail", "inconclusive", "waived", "skipped", "pass"):
        number = verdict.counts.get(status)
        if not number:
            continue
        part = spelling.say("counts.part", number=f"{number:,}", status=spelling.say(f"status.{status}"))
        if status == "inconclusive" and unsettled:
            part = spelling.say("counts.of-which-block", part=part, count=unsettled)
        parts.append(part)
    if not parts:
        return spelling.say("counts.none")
    total = spelling.say("count.checks", count=sum(verdict.counts.values()))
    text, looks = " · ".join(parts), len(needing_a_look(verdict))
    if looks:
        text = spelling.say("counts.need-a-look", parts=text, count=looks)
    return spelling.say("joint.named", name=total, text=text)


def unblock(verdict: Verdict, spelling: Spelling = PLAIN) -> str:
    """Return one line that says what would let the change through; empty where nothing stands in its way."""
    if verdict.verdict == "invalid":
        return spelling.join_clauses(hint_of(problem, spelling) for problem in verdict.problems[:1])
    blocking = blockers(verdict)
    if not blocking:
        return ""
    worst = blocking[0]
    rule = spelling.name(worst.rule)
    if worst.hard:
        other_way = spelling.say("unblock.hard", rule=rule)
    elif not worst.blocks:
        other_way = ""  # a waiver lets through what its rule blocks, not what fail-on asks for
    else:
        other_way = spelling.say(
            "unblock.waive", rule=rule, file=spelling.name(verdict.policy.file), line=str(worst.line)
        )
    step = spelling.say("joint.clauses").join(filter(None, [_mend(worst, spelling), other_way]))
    others = _more("unblock.others", len(blocking) - 1, spelling)
    return spelling.join_sentences([spelling.sentence(step), others])


def message_of(problem: StatedProblem, spelling: Spelling) -> str:
    """Return what is wrong, in the language; it still holds texts from files."""
    return say_again(problem.message, problem.message_said, spelling.texts)


def hint_of(problem: StatedProblem, spelling: Spelling) -> str:
    """Return what to do about a problem, in the language; it still holds texts from files."""
    return say_again(problem.hint, problem.hint_said, spelling.texts)


def _more(key: str, count: int, spelling: Spelling) -> str:
    return spelling.say(key, count=count) if count > 0 else ""


def _mend(finding: Finding, spelling: Spelling) -> str:
    """Return what has to become true for one finding."""
    what = subject_in_sentence(finding, spelling)
    if finding.kind == "every":
        ids = [spelling.name(one) for one in finding.failing[:_FIRST_IDS]]
        if not ids:
            key = "unblock.score" if finding.samples else "unblock.give-samples"
            return spelling.say(key, subject=what)
        return spelling.say("unblock.mend", ids=spelling.or_more(ids, finding.failing_count or 0))
    if finding.samples == 0 or figures.judged_value(finding) is None:
        return spelling.say("unblock.make-measurable", subject=what)
    if (
        finding.status.value == "inconclusive"
        and finding.samples_needed is not None
        and finding.missed_by <= 0
        and is_within_reach(finding)
    ):
        return spelling.say(
            "unblock.show",
            subject=what,
            about=figures.about(finding.samples_needed),
            now=f"{finding.samples:,}",
        )
    if finding.status.value == "inconclusive" and finding.missed_by <= 0:
        if finding.samples_needed is not None:
            return spelling.say("unblock.out-of-reach", subject=what)
        return spelling.say(
            "unblock.leave-out-less" if finding.lost_evidence else "unblock.settle", subject=what
        )
    return _reach(finding, what, spelling)


def _reach(finding: Finding, what: str, spelling: Spelling) -> str:
    """Return which value, loss or gain would do: a change is told by its size and not as a number with a sign."""
    if finding.judged == "candidate":
        scale = judged_scale(finding, spelling)
        key = "unblock.at-most" if finding.at_most is not None else "unblock.at-least"
        now = scale.full(finding.candidate)
        return spelling.say(key, subject=what, bound=scale.full(finding.threshold), now=now)
    key = "unblock.gain" if finding.kind == "improvement" else "unblock.lose"
    if not finding.threshold:
        key = "unblock.gain-any" if finding.kind == "improvement" else "unblock.lose-nothing"
    now = amount(finding, spelling)
    return spelling.say(key, subject=what, bound=allowance(finding, spelling), now=now)


def _headline_of_problems(verdict: Verdict, spelling: Spelling) -> str:
    problems = verdict.problems
    if not problems:
        reason = spelling.join_clauses(verdict.because[:1]) or spelling.say("headline.nothing-judged")
        return spelling.say("headline.undecided", reason=reason)
    if len(problems) > 1:
        return spelling.say("headline.problems", count=len(problems))
    first = problems[0]
    reason = spelling.text(without_stop(message_of(first, spelling)))
    if not first.where:
        return spelling.say("headline.undecided", reason=reason)
    return spelling.say("headline.undecided-in", reason=reason, place=spelling.text(first.where))


def _what_passed(verdict: Verdict, spelling: Spelling) -> str:
    """Return what a pass rests on, naming what was not shown."""
    counts = verdict.counts
    passed, open_ones, skipped = (counts.get(word, 0) for word in ("pass", "inconclusive", "skipped"))
    all_pass = passed == sum(counts.values()) > 1
    if all_pass and passed == 2:
        parts = [spelling.say("passed.both")]
    else:
        parts = [spelling.say("passed.all" if all_pass else "passed.some", count=passed)]
    if open_ones:
        parts.append(spelling.say("passed.open", count=open_ones))
    if skipped:
        parts.append(spelling.say("passed.skipped", count=skipped))
    text = spelling.say("joint.parts").join(parts)
    if verdict.pairing:
        runs = verdict.pairing.independent
        count = verdict.pairing.paired if runs is None else runs.candidate
        questions = spelling.say("count.questions", count=count)
        text = spelling.say("passed.on-questions", parts=text, questions=questions)
    return spelling.sentence(text)
