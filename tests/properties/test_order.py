"""What can only make a verdict better, or only worse."""

from __future__ import annotations

import datetime
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from worlds import METRICS, ON, World, of_rule, rules, tries, worlds

from gateline.findings import Finding, Status
from gateline.verdict import Verdict

BADNESS = {Status.PASS: 0, Status.WAIVED: 0, Status.INCONCLUSIVE: 1, Status.FAIL: 2}
BOUNDS = ("at_least", "at_most", "worse_by_at_most", "better_by_at_least")


@tries(40)
@given(worlds(rule=rules(kinds=["tolerance"]), complete=True), st.sampled_from([0.001, 0.05, 0.3]))
def test_a_wider_tolerance_never_makes_it_worse(world: World, wider: float) -> None:
    narrow, wide = world.judge(), world.changed(lambda copy: _widen(copy, wider)).judge()
    assert wide.exit_code <= narrow.exit_code
    found = of_rule(wide)
    for finding in narrow.findings:
        if finding.status is not Status.SKIPPED:
            assert BADNESS[found[finding.rule, finding.slice].status] <= BADNESS[finding.status]


def _widen(world: World, wider: float) -> None:
    for rule in world.policy["rules"]:
        bound = rule["worse_by_at_most"]
        if isinstance(bound, str):
            rule["worse_by_at_most"] = f"{float(bound.removesuffix('%')) + 100 * wider:g}%"
        else:
            width = 400.0 if rule["metric"] in ("slow", "time") else 1.0
            rule["worse_by_at_most"] = min(bound + wider * width, width)


@st.composite
def waivers(draw: st.DrawFn, world: World) -> list[dict[str, Any]]:
    """Draw waivers of the world's soft rules: ceilings on both sides of the bound, days on both sides of today."""
    soft = [rule for rule in world.policy["rules"] if not rule.get("hard")]
    places = {rule["id"]: draw(st.permutations([None, "risky", "language=de"])) for rule in soft}
    return [
        {
            "rule": rule,
            "up_to": draw(st.sampled_from([0.0, 0.1, 0.3, 0.9])),
            "until": (ON + datetime.timedelta(days=draw(st.integers(-2, 20)))).isoformat(),
            "by": "somebody",
            "reason": "for now",
        }
        | ({} if place is None else {"slice": place})
        for rule in places
        for place in places[rule][: draw(st.integers(0, 2))]
    ]


@tries(50)
@given(worlds(), st.data())
def test_a_waiver_never_makes_it_worse_and_never_touches_a_hard_rule(
    world: World, data: st.DataObject
) -> None:
    drawn = data.draw(waivers(world))
    without = world.judge()
    waived = world.changed(lambda copy: copy.policy.update(waivers=drawn)).judge()
    if waived.verdict == "invalid" and without.verdict != "invalid":
        assert all("waivers" in problem.where for problem in waived.problems), waived.because
        return
    assert waived.exit_code <= without.exit_code
    found = of_rule(waived)
    for finding in without.findings:
        other = found[finding.rule, finding.slice]
        assert other.status in (finding.status, Status.WAIVED)
        assert other.status is finding.status or (finding.blocks and not finding.hard)


@tries(50)
@given(worlds(), st.sampled_from(["fail", "inconclusive", "never"]))
def test_the_verdict_is_that_of_the_worst_finding(world: World, fail_on: str) -> None:
    world = World(world.baseline, world.candidate, world.policy, type(world.options)(fail_on=fail_on))  # type: ignore[arg-type]
    verdict = world.judge()
    assert (verdict.verdict, verdict.exit_code) == _expected(verdict, world)
    assert verdict.counts == {
        status.value: sum(finding.status is status for finding in verdict.findings) for status in Status
    }


def _expected(verdict: Verdict, world: World) -> tuple[str, int]:
    """Return word and exit code from the statuses and the policy alone, without what the findings say of blocking."""
    if verdict.problems:
        return "invalid", 2
    rule_of = {rule["id"]: rule for rule in world.policy["rules"]}
    says_no = False
    judged = 0
    for finding in verdict.findings:
        rule = rule_of[finding.rule]
        burden = "fail" if rule.get("hard") else rule["on_inconclusive"]
        judged += finding.status is not Status.SKIPPED
        says_no |= finding.status is Status.FAIL
        says_no |= finding.status is Status.INCONCLUSIVE and (
            burden == "fail" or verdict.fail_on == "inconclusive"
        )
    if not judged:
        return "invalid", 2
    if not says_no:
        return "pass", 0
    return "fail", 0 if verdict.fail_on == "never" else 1


@tries(40)
@given(worlds(rule=rules(kinds=["limit", "tolerance", "improvement"])))
def test_a_finding_follows_from_its_own_numbers(world: World) -> None:
    """The interval shown is the one that decides: status, threshold and numbers of a finding agree."""
    verdict = world.judge()
    for finding in verdict.findings:
        if finding.status is Status.SKIPPED or not finding.samples or finding.threshold is None:
            continue
        low, value, high = _shown(finding)
        above = finding.at_most is None
        if finding.status is Status.PASS and not (verdict.pairing and verdict.pairing.identical):
            assert _is_good(finding, value if finding.decide_by == "value" else low if above else high)
        if finding.status is Status.FAIL:
            assert not _is_good(finding, value if finding.decide_by == "value" else high if above else low)


def _shown(finding: Finding) -> tuple[Any, Any, Any]:
    value = getattr(finding, finding.judged)
    interval = finding.interval
    return (None, value, None) if interval is None else (interval.low, value, interval.high)


def _is_good(finding: Finding, number: float) -> bool:
    """Hold a number against the finding's threshold; rounding counts for it, but not where more than 0 is asked."""
    threshold = finding.threshold
    assert threshold is not None
    if finding.kind == "improvement" and threshold == 0:
        return number > 0
    slack = 1e-9 * max(1.0, abs(threshold))
    return number >= threshold - slack if finding.at_most is None else number <= threshold + slack


@tries(25)
@given(worlds(), st.integers(0, 10**6), st.sampled_from(["language", "risk"]))
def test_a_question_that_changes_its_slice_between_the_runs_is_no_verdict(
    world: World, position: int, label: str
) -> None:
    assume(
        any(label == "language" and "slices" in rule for rule in world.policy["rules"])
        or _names(world, label)
    )
    labelled = [number for number, record in enumerate(world.baseline) if record["slices"][label] is not None]
    number = labelled[position % len(labelled)]

    def relabel(copy: World) -> None:
        old = copy.candidate[number]["slices"][label]
        copy.candidate[number]["slices"][label] = {"de": "en", "en": "de", "high": "low", "low": "high"}[old]

    verdict = world.changed(relabel).judge()
    assert verdict.verdict == "invalid"
    assert any(world.baseline[number]["id"] in problem.message for problem in verdict.problems)


def _names(world: World, label: str) -> bool:
    places = {"language": "language=de", "risk": "risky"}
    return any(rule.get("slice") == places[label] for rule in world.policy["rules"])


@st.composite
def policy_changes(draw: st.DrawFn, world: World) -> dict[str, Any]:
    """Draw a change that a pull request may make to its own policy."""
    rule = draw(st.sampled_from(world.policy["rules"]))
    what = draw(
        st.sampled_from(
            ["bound", "burden", "hard", "rule", "place", "parts", "metric", "waiver", "decide_by"]
        )
    )
    now = {**rule}
    parts: dict[str, Any] = {}
    if what == "bound":
        name = next(name for name in BOUNDS if name in rule)
        old = rule[name]
        now[name] = draw(
            st.sampled_from([0.0, 0.1, 0.5, 1.0] if isinstance(old, float) else ["1%", "15%", "60%"])
        )
    elif what == "burden" and not rule.get("hard"):
        now["on_inconclusive"] = draw(st.sampled_from(["fail", "warn", "pass"]))
    elif what == "decide_by" and "decide_by" in rule:
        now["decide_by"] = draw(st.sampled_from(["value", "interval"]))
    elif what == "hard":
        now = {
            key: value for key, value in rule.items() if key not in ("on_inconclusive", "decide_by", "hard")
        }
        if not rule.get("hard"):
            now["hard"] = True
    elif what == "place":
        now = {key: value for key, value in rule.items() if key not in ("slice", "slices")}
        now |= draw(st.sampled_from([{}, {"slice": "risky"}, {"slice": "language=de"}, {"slices": True}]))
    elif what == "metric":
        metric = draw(st.sampled_from(["ok", "score", "time"]))
        change: dict[str, Any] = draw(st.sampled_from([{"summary": "median"}, {"worst": 0.5}, {"better": "lower"},
                                                       {"better": "higher"}, {"range": [0, 2000]}]))  # fmt: skip
        if change != {"worst": 0.5} or metric != "time":
            parts["metrics"] = {**METRICS, metric: {**METRICS[metric], **change}}
    elif what == "parts":
        parts = draw(
            st.sampled_from(
                [
                    {"missing": {"drop_at_most": 1, "no_answer": "drop"}},
                    {"missing": {"drop_at_most": 1, "no_score": "worst"}},
                    {"missing": {"drop_at_most": 0.1}},
                    {"samples": {"at_least": 4}},
                    {"samples": {"at_least": 1}},
                    {"samples": {"at_least": 2, "on_mismatch": "intersect"}},
                    {"samples": {"at_least": 2, "cluster": "language"}},
                    {"statistics": {"resamples": 1000, "confidence": 0.6}},
                    {"statistics": {"resamples": 1000, "confidence": 0.999}},
                    {"statistics": {"resamples": 1000, "method": "percentile"}},
                    {"slices": {**world.policy["slices"], "at_least": 1}},
                    {"slices": {**world.policy["slices"], "at_least": 6}},
                    {"slices": {**world.policy["slices"], "named": {"risky": {"risk": "low"}}}},
                    {"slices": {**world.policy["slices"], "by": ["risk"]}},
                ]
            )
        )
    elif what == "waiver" and not rule.get("hard"):
        parts["waivers"] = [
            {"rule": rule["id"], "up_to": 0.9, "until": "2026-12-31", "by": "me", "reason": "so"}
        ]
    kept = [one if one is not rule else now for one in world.policy["rules"]]
    if what == "rule" and len(kept) > 1:
        kept.remove(now)
    return {**world.policy, "rules": kept, **parts}


@tries(150)
@given(worlds(most=12), st.data())
def test_a_policy_that_lets_more_through_is_never_told_to_be_stricter_or_neutral(
    world: World, data: st.DataObject
) -> None:
    """Where the same two runs did not pass before and pass now, the change is told to loosen."""
    now = World(world.baseline, world.candidate, data.draw(policy_changes(world)))
    verdict = now.judge(base_policy=world.policy)
    before = world.judge()
    assert verdict.policy.same_as_base is None or verdict.policy.same_as_base == (not verdict.policy.changes)
    if verdict.policy.under_base is not None:
        assert verdict.policy.under_base.verdict == before.verdict
    if verdict.verdict == "pass" and before.verdict != "pass":
        assert any(change.loosens for change in verdict.policy.changes), verdict.policy.changes
