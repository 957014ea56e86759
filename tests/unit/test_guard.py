"""The guard tells every change of a policy, and calls it loosening unless it surely is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateline.guard import compare_policies
from gateline.policy import read_policy
from runs import LIMIT, TOLERANCE, check_gate, policy_text, write_gate


def changes(base: str, now: str) -> list[tuple[str, str | None, str | None, bool]]:
    found = compare_policies(read_policy(base, "base.yml").policy, read_policy(now, "now.yml").policy)
    return [(one.path, one.base, one.now, one.loosens) for one in found]


def rule_changes(old: str, new: str) -> list[tuple[str, str | None, str | None, bool]]:
    start = "{id: r, metric: score, "
    return changes(policy_text(start + old + "}"), policy_text(start + new + "}"))


def part_changes(old: dict[str, str], new: dict[str, str]) -> list[tuple[str, str | None, str | None, bool]]:
    return changes(policy_text(TOLERANCE, **old), policy_text(TOLERANCE, **new))


def test_the_same_policy_has_no_changes_whatever_the_order_and_spelling() -> None:
    base = policy_text(LIMIT, TOLERANCE)
    now = policy_text(TOLERANCE.replace("0.1", "1e-1"), LIMIT.replace("0.5", "0.50")) + "# a comment\n"
    assert changes(base, now) == []


def test_a_default_written_out_is_no_change() -> None:
    assert (
        rule_changes("kind: improvement", "kind: improvement, on_inconclusive: fail, decide_by: interval")
        == []
    )


@pytest.mark.parametrize(
    ("old", "new", "loosens"),
    [
        ("kind: limit, at_least: 0.5", "kind: limit, at_least: 0.4", True),
        ("kind: limit, at_least: 0.5", "kind: limit, at_least: 0.6", False),
        ("kind: limit, at_most: 0.5", "kind: limit, at_most: 0.6", True),
        ("kind: limit, at_most: 0.5", "kind: limit, at_most: 0.4", False),
        ("kind: limit, at_least: 40%", "kind: limit, at_least: 50%", False),
        ("kind: limit, at_least: 40%", "kind: limit, at_least: 0.3", True),
        ("kind: tolerance, worse_by_at_most: 0.1", "kind: tolerance, worse_by_at_most: 0.2", True),
        ("kind: tolerance, worse_by_at_most: 0.2", "kind: tolerance, worse_by_at_most: 0.1", False),
        ("kind: tolerance, worse_by_at_most: 0.1", "kind: tolerance, worse_by_at_most: 1%", True),
        ("kind: tolerance, worse_by_at_most: 10%", "kind: tolerance, worse_by_at_most: [10%, 0.1]", True),
        ("kind: improvement, better_by_at_least: 0.1", "kind: improvement, better_by_at_least: 0.05", True),
        ("kind: improvement, better_by_at_least: 0.1", "kind: improvement, better_by_at_least: 0.2", False),
        ("kind: improvement", "kind: improvement, on_inconclusive: warn", True),
        ("kind: tolerance, worse_by_at_most: 0", "kind: tolerance, worse_by_at_most: 0, on_inconclusive: fail", False),
        ("kind: tolerance, worse_by_at_most: 0", "kind: tolerance, worse_by_at_most: 0, on_inconclusive: pass", True),
        # by value, what lies across the bound may pass; by interval, what lies beyond it may not be shown
        (
            "kind: tolerance, worse_by_at_most: 0, on_inconclusive: fail",
            "kind: tolerance, worse_by_at_most: 0, on_inconclusive: fail, decide_by: value",
            True,
        ),
        ("kind: tolerance, worse_by_at_most: 0", "kind: tolerance, worse_by_at_most: 0, decide_by: value", False),
        ("kind: limit, at_least: 0.5", "kind: limit, at_least: 0.5, decide_by: interval", True),
        (
            "kind: limit, at_least: 0.5, on_inconclusive: fail",
            "kind: limit, at_least: 0.5, on_inconclusive: fail, decide_by: interval",
            False,
        ),
    ],
)  # fmt: skip
def test_one_field_of_a_rule(old: str, new: str, loosens: bool) -> None:
    (change,) = rule_changes(old, new)
    assert change[3] is loosens


def test_hard_on_a_rule_by_value_tightens_and_its_loss_loosens() -> None:
    soft, hard = "kind: limit, at_least: 0.5", "kind: limit, at_least: 0.5, hard: true"
    assert rule_changes(soft, hard) == [
        ("rules.r.hard", "false", "true", False),
        ("rules.r.on_inconclusive", "warn", "fail", False),
    ]
    assert [change[3] for change in rule_changes(hard, soft)] == [True, True]


def test_hard_on_a_rule_whose_safety_had_to_be_shown_loosens() -> None:
    """By interval and `on_inconclusive: fail` asks for more than the plain value does."""
    found = rule_changes(
        "kind: tolerance, worse_by_at_most: 0, on_inconclusive: fail",
        "kind: tolerance, worse_by_at_most: 0, hard: true",
    )
    assert found[0] == ("rules.r.decide_by", "interval", "value", True)


def test_a_rule_that_is_gone_loosens_and_a_new_one_does_not() -> None:
    both, one = policy_text(LIMIT, TOLERANCE), policy_text(TOLERANCE)
    assert changes(both, one) == [("rules.floor", "present", None, True)]
    assert changes(one, both) == [("rules.floor", None, "present", False)]


def test_a_metric_that_is_gone_loosens_and_a_new_one_does_not() -> None:
    more = {"metrics": "{score: {better: higher, range: [0, 1]}, extra: {better: lower}}"}
    assert part_changes({}, more) == [("metrics.extra", None, "present", False)]
    assert part_changes(more, {}) == [("metrics.extra", "present", None, True)]


WAIVER = "{rule: holds, up_to: 0.2, until: 2026-12-31, by: team, reason: known}"


def test_a_new_waiver_loosens_and_one_that_is_gone_does_not() -> None:
    assert part_changes({}, {"waivers": f"[{WAIVER}]"}) == [("waivers.holds", None, "present", True)]
    assert part_changes({"waivers": f"[{WAIVER}]"}, {}) == [("waivers.holds", "present", None, False)]


@pytest.mark.parametrize(
    ("old", "new", "loosens"),
    [
        ("up_to: 0.2", "up_to: 0.3", True),
        ("2026-12-31", "2027-01-31", True),
        ("2026-12-31", "2026-07-31", False),
        ("reason: known", "reason: still known", False),
        ("by: team", "by: other-team", False),
    ],
)
def test_one_field_of_a_waiver(old: str, new: str, loosens: bool) -> None:
    (change,) = part_changes({"waivers": f"[{WAIVER}]"}, {"waivers": f"[{WAIVER.replace(old, new)}]"})
    assert change[3] is loosens


@pytest.mark.parametrize("order", [1, -1])
def test_a_second_waiver_of_the_same_rule_does_not_hide_behind_the_first(order: int) -> None:
    wider = WAIVER.replace("up_to: 0.2", "up_to: 0.9")
    two = ", ".join([WAIVER, wider][::order])
    assert [
        (one[0], one[3]) for one in part_changes({"waivers": f"[{WAIVER}]"}, {"waivers": f"[{two}]"})
    ] == [("waivers.holds (2)", True)]


@pytest.mark.parametrize(
    ("part", "old", "new", "loosens"),
    [
        ("samples", "{at_least: 50}", "{at_least: 40}", True),
        ("samples", "{at_least: 50}", "{at_least: 60}", False),
        ("samples", "{on_mismatch: refuse}", "{on_mismatch: intersect}", True),
        ("samples", "{on_mismatch: intersect}", "{on_mismatch: refuse}", False),
        ("samples", "{cluster: doc}", "{}", True),
        ("samples", "{id: id}", "{id: other}", True),
        ("samples", "{same_input: [question]}", "{same_input: []}", True),
        ("samples", "{same_input: [question]}", "{same_input: [question, context]}", False),
        ("provenance", "{must_match: [judge, corpus]}", "{must_match: [judge]}", True),
        ("provenance", "{must_match: [judge]}", "{must_match: [corpus, judge]}", False),
        ("provenance", "{must_match: [corpus, judge]}", "{must_match: [judge, corpus]}", False),
        ("provenance", "{may_change: []}", "{may_change: [judge]}", True),
        ("provenance", "{may_change: [judge, model]}", "{may_change: [model]}", False),
        ("missing", "{drop_at_most: 2%}", "{drop_at_most: 5%}", True),
        ("missing", "{drop_at_most: 2%}", "{drop_at_most: 1%}", False),
        ("missing", "{no_answer: worst}", "{no_answer: drop}", True),
        ("missing", "{no_score: drop}", "{no_score: refuse}", False),
        # smaller slices are skipped, and those that are named are inconclusive
        ("slices", "{at_least: 30}", "{at_least: 40}", True),
        ("slices", "{at_least: 30}", "{at_least: 20}", True),
        ("slices", "{by: [language]}", "{by: [language, intent]}", True),
        ("slices", "{by: [language, intent]}", "{by: [intent, language]}", False),
        ("slices", "{named: {high: {risk: high}}}", "{named: {high: {risk: [high, low]}}}", True),
        ("slices", "{named: {high: {hard: 'yes'}}}", "{named: {high: {hard: 'no'}}}", True),
        ("slices", "{named: {high: {unit: a}}}", "{named: {high: {unit: b}}}", True),
        ("statistics", "{confidence: 95%}", "{confidence: 90%}", True),
        ("statistics", "{confidence: 95%}", "{confidence: 99.9%}", True),
        ("statistics", "{seed: 1}", "{seed: 2}", True),
        ("statistics", "{resamples: 10000}", "{resamples: 20000}", True),
        ("metrics", "{score: {better: higher}}", "{score: {better: lower}}", True),
        ("metrics", "{score: {better: higher}}", "{score: {better: higher, worst: 0.5}}", True),
        ("metrics", "{score: {better: higher}}", "{score: {better: higher, show_as: percent}}", False),
        ("metrics", "{score: {better: lower, unit: points}}", "{score: {better: lower, unit: marks}}", False),
        ("metrics", "{score: {better: lower, unit: USD}}", "{score: {better: lower, unit: dollars}}", True),
    ],
)  # fmt: skip
def test_one_field_of_another_part(part: str, old: str, new: str, loosens: bool) -> None:
    (change,) = part_changes({part: old}, {part: new})
    assert change[3] is loosens


def test_the_description_is_neutral_and_told() -> None:
    assert part_changes({"description": "old"}, {"description": "new"}) == [
        ("description", "old", "new", False)
    ]


def test_loosening_changes_come_first() -> None:
    found = changes(
        policy_text(LIMIT, TOLERANCE),
        policy_text(LIMIT.replace("0.5", "0.6"), TOLERANCE.replace("0.1", "0.2")),
    )
    assert [(one[0], one[3]) for one in found] == [
        ("rules.holds.worse_by_at_most", True),
        ("rules.floor.at_least", False),
    ]


def test_no_field_of_a_policy_is_read_as_neutral_by_accident() -> None:
    """Every field of a rule, changed to something it can't be ordered against, is told to loosen."""
    from gateline.guard import _loosens

    for path in (
        "rules.r.slice",
        "rules.r.metric",
        "rules.r.slices",
        "samples.golden_set",
        "metrics.m.range",
    ):
        assert _loosens(path, {path: "a"}, {path: "b"})


def test_the_verdict_tells_the_changes_and_what_the_old_policy_says(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*40 1>1 b*40 1>0", TOLERANCE.replace("0.1", "0.9"))
    (tmp_path / "base.yml").write_text(policy_text(TOLERANCE))
    verdict = check_gate(tmp_path, base_policy=tmp_path / "base.yml")
    assert verdict.verdict == "pass"
    assert verdict.policy.same_as_base is False
    assert [(one.path, one.base, one.now, one.loosens) for one in verdict.policy.changes] == [
        ("rules.holds.worse_by_at_most", "0.1", "0.9", True)
    ]
    assert verdict.policy.under_base is not None
    assert verdict.policy.under_base.verdict == "fail"


def test_the_same_policy_is_said_to_be_unchanged(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*40 1>1", TOLERANCE)
    (tmp_path / "base.yml").write_text("# another comment\n" + policy_text(TOLERANCE))
    policy = check_gate(tmp_path, base_policy=tmp_path / "base.yml").policy
    assert (policy.same_as_base, policy.changes, policy.under_base) == (True, [], None)


def test_without_a_base_policy_nothing_is_claimed(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*40 1>1", TOLERANCE)
    assert check_gate(tmp_path).policy.same_as_base is None


def test_a_base_policy_that_cannot_be_read_is_said_and_changes_no_verdict(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*40 1>1", TOLERANCE)
    verdict = check_gate(tmp_path, base_policy=tmp_path / "none.yml")
    assert verdict.verdict == "pass"
    assert verdict.policy.same_as_base is None
    assert "can't be read, so it is not known whether this change loosens it" in verdict.notices[-1]
