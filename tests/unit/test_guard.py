"""The guard tells every change of a policy, and calls it loosening unless it surely is not."""

from __future__ import annotations

import html as entities
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.guard import compare_policies
from gateline.policy import read_policy
from gateline.reports import annotations, codequality, html, markdown, text
from gateline.reports.headline import loosening, outcome
from gateline.verdict import BaseVerdict, Word
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


@pytest.mark.parametrize(
    ("start", "loosens"),
    [
        ("kind: limit, at_least: 0.5, on_inconclusive: fail", True),
        ("kind: improvement, decide_by: value", True),
        ("kind: every, at_least: 0.5", False),  # it minds no small slices, hard or not
    ],
)
def test_hard_on_a_rule_that_blocked_in_small_slices_loosens(start: str, loosens: bool) -> None:
    found = rule_changes(start, start.replace(", on_inconclusive: fail", "").replace(", decide_by: value", "")
                         + ", hard: true")  # fmt: skip
    assert [change for change in found if change[0] == "rules.r.hard"] == [
        ("rules.r.hard", "false", "true", loosens)
    ]


def test_a_rule_that_is_gone_loosens_and_a_new_one_does_not() -> None:
    both, one = policy_text(LIMIT, TOLERANCE), policy_text(TOLERANCE)
    assert changes(both, one) == [("rules.floor", "present", None, True)]
    assert changes(one, both) == [("rules.floor", None, "present", False)]


def test_a_metric_that_is_gone_loosens_and_a_new_one_does_not() -> None:
    more = {"metrics": "{score: {better: higher, range: [0, 1]}, extra: {better: lower}}"}
    assert part_changes({}, more) == [("metrics.extra", None, "present", False)]
    assert part_changes(more, {}) == [("metrics.extra", "present", None, True)]


@pytest.mark.parametrize("other", ["floor", "floor.de.at_least", "floor.de.at_least.x", "other"])
@pytest.mark.parametrize("new", [True, False])
def test_a_rule_that_comes_or_goes_hides_no_change_of_another_whatever_their_names(
    other: str, new: bool
) -> None:
    kept, more = LIMIT.replace("floor", "floor.de"), LIMIT.replace("floor", other)
    now = kept.replace("0.5", "0.1")
    base, after = ([kept], [now, more]) if new else ([kept, more], [now])
    assert sorted(changes(policy_text(*base), policy_text(*after)), key=str) == sorted(
        [
            ("rules.floor.de.at_least", "0.5", "0.1", True),
            (f"rules.{other}", *((None, "present", False) if new else ("present", None, True))),
        ],
        key=str,
    )


def test_a_rule_named_like_a_field_of_another_stands_beside_it() -> None:
    named_alike = LIMIT.replace("floor", "floor.at_least")
    assert changes(policy_text(LIMIT), policy_text(LIMIT.replace("0.5", "0.1"), named_alike)) == [
        ("rules.floor.at_least", "0.5", "0.1", True),
        ("rules.floor.at_least", None, "present", False),
    ]


def test_a_new_metric_or_slice_hides_no_change_of_one_whose_name_begins_like_it() -> None:
    start = "score: {better: higher, range: [0, 1]}, j.acc: {better: higher"
    assert part_changes(
        {"metrics": f"{{{start}}}}}"}, {"metrics": f"{{{start}, field: x}}, j: {{better: lower}}}}"}
    ) == [("metrics.j.acc.field", None, "x", True), ("metrics.j", None, "present", False)]
    assert part_changes(
        {"slices": "{named: {hr.x: {risk: high}}}"},
        {"slices": "{named: {hr.x: {risk: low}, hr: {risk: high}}}"},
    ) == [
        ("slices.named.hr.x.risk", "[high]", "[low]", True),
        ("slices.named.hr", None, "present", False),
    ]


NAMES = ["a", "a.b", "a.b.c", "a.at_least", "a.b.at_least", "a (2)", "a in de"]


@settings(max_examples=60, deadline=None)
@given(
    base=st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.2, 0.5, 0.8]), min_size=1),
    now=st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.2, 0.5, 0.8]), min_size=1),
)
def test_each_rule_is_told_by_itself(base: dict[str, float], now: dict[str, float]) -> None:
    def write(limits: dict[str, float]) -> str:
        return policy_text(
            *(
                f"{{id: '{one}', kind: limit, metric: score, at_least: {least}}}"
                for one, least in limits.items()
            )
        )

    expected = [(f"rules.{one}", True) for one in base.keys() - now.keys()]
    expected += [(f"rules.{one}", False) for one in now.keys() - base.keys()]
    expected += [
        (f"rules.{one}.at_least", now[one] < base[one])
        for one in base.keys() & now.keys()
        if base[one] != now[one]
    ]
    assert sorted((one[0], one[3]) for one in changes(write(base), write(now))) == sorted(expected)


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


def test_waivers_of_rules_with_odd_names_do_not_hide_each_other() -> None:
    rules = [TOLERANCE, TOLERANCE.replace("holds", "holds (2)")]
    two = f"{WAIVER}, {WAIVER.replace('up_to: 0.2', 'up_to: 0.9')}"
    other = WAIVER.replace("holds", "holds (2)")
    found = changes(
        policy_text(*rules, waivers=f"[{other}]"), policy_text(*rules, waivers=f"[{two}, {other}]")
    )
    assert [(one[0], one[3]) for one in found] == [("waivers.holds", True), ("waivers.holds (2)", True)]
    assert (
        changes(
            policy_text(*rules, waivers=f"[{two}, {other}]"), policy_text(*rules, waivers=f"[{other}, {two}]")
        )
        == []
    )


def test_a_waiver_is_shown_with_its_slice() -> None:
    (change,) = part_changes({}, {"waivers": f"[{WAIVER.replace('up_to', 'slice: language=de, up_to')}]"})
    assert change == ("waivers.holds in language=de", None, "present", True)


@pytest.mark.parametrize(
    ("part", "old", "new", "loosens"),
    [
        ("samples", "{at_least: 50}", "{at_least: 40}", True),
        ("samples", "{at_least: 50}", "{at_least: 60}", True),  # a metric with 55 values is inconclusive now
        ("samples", "{repeats: mean}", "{repeats: refuse}", False),
        ("samples", "{id: id}", "{id: refuse}", True),
        ("samples", "{on_mismatch: refuse}", "{on_mismatch: intersect}", True),
        ("samples", "{on_mismatch: intersect}", "{on_mismatch: refuse}", False),
        ("samples", "{on_mismatch: refuse}", "{on_mismatch: independent}", True),
        ("samples", "{on_mismatch: intersect}", "{on_mismatch: independent}", True),
        ("samples", "{on_mismatch: independent}", "{on_mismatch: refuse}", False),
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
        ("slices", "{named: {high: {must_match: a}}}", "{named: {high: {must_match: [a, b]}}}", True),
        ("slices", "{named: {high: {by: [a, b]}}}", "{named: {high: {by: [b, a]}}}", True),
        ("slices", "{named: {high: {unit: a}}}", "{named: {high: {unit: b}}}", True),
        ("statistics", "{confidence: 95%}", "{confidence: 90%}", True),
        ("statistics", "{confidence: 95%}", "{confidence: 99.9%}", True),
        ("statistics", "{seed: 1}", "{seed: 2}", True),
        ("statistics", "{resamples: 10000}", "{resamples: 20000}", True),
        ("metrics", "{score: {better: higher}}", "{score: {better: lower}}", True),
        ("metrics", "{score: {better: higher}}", "{score: {better: higher, worst: 0.5}}", True),
        ("metrics", "{score: {better: higher}}", "{score: {better: higher, show_as: percent}}", False),
        ("metrics", "{score: {better: higher}}", "{score: {better: higher, field: present}}", True),
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
        ("rules", "r", "slice"),
        ("rules", "r", "metric"),
        ("rules", "r", "slices"),
        ("samples", "golden_set"),
        ("metrics", "m", "range"),
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


@pytest.mark.parametrize(
    ("rule", "runs", "base", "now"),
    [
        # a slice that fails its floor by value is too small to be settled now
        (LIMIT.replace("score,", "score, slice: language=de,"), "a*40 en 1>1 b*10 de 1>0", 10, 11),
        # and one that was too small to be settled, which blocked, is judged
        (
            LIMIT.replace("score,", "score, slice: language=de, on_inconclusive: fail,"),
            "a*40 en 1>1 b*10 de 1>1",
            11,
            10,
        ),
    ],
)
def test_slices_may_let_more_through_by_a_larger_and_by_a_smaller_number(
    tmp_path: Path, rule: str, runs: str, base: int, now: int
) -> None:
    write_gate(tmp_path, runs, rule, slices=f"{{by: [language], at_least: {now}}}")
    (tmp_path / "base.yml").write_text(policy_text(rule, slices=f"{{by: [language], at_least: {base}}}"))
    verdict = check_gate(tmp_path, base_policy=tmp_path / "base.yml")
    assert (verdict.verdict, verdict.policy.under_base and verdict.policy.under_base.verdict) == (
        "pass",
        "fail",
    )
    assert [(one.path, one.loosens) for one in verdict.policy.changes] == [("slices.at_least", True)]


def test_samples_may_let_more_through_by_a_larger_number(tmp_path: Path) -> None:
    """A metric that is asked of few and fails is not settled any more, though the runs have pairs enough."""
    parts = {"metrics": "{score: {better: higher, range: [0, 1], applies_to: scored=yes}}"}
    write_gate(tmp_path, "a*30 scored=no 1>1 b*10 scored=yes 1>0", LIMIT, **parts, samples="{at_least: 20}")
    (tmp_path / "base.yml").write_text(policy_text(LIMIT, **parts, samples="{at_least: 5}"))
    verdict = check_gate(tmp_path, base_policy=tmp_path / "base.yml")
    assert (verdict.verdict, verdict.policy.under_base and verdict.policy.under_base.verdict) == (
        "pass",
        "fail",
    )
    assert [(one.path, one.loosens) for one in verdict.policy.changes] == [("samples.at_least", True)]


def test_hard_may_let_through_what_was_too_little_to_be_settled(tmp_path: Path) -> None:
    rule = LIMIT.replace("score,", "score, slice: language=de,")
    slices = "{by: [language], at_least: 20}"
    write_gate(tmp_path, "a*40 en 1>1 b*10 de 1>1", rule.replace("}", ", hard: true}"), slices=slices)
    (tmp_path / "base.yml").write_text(
        policy_text(rule.replace("}", ", on_inconclusive: fail}"), slices=slices)
    )
    verdict = check_gate(tmp_path, base_policy=tmp_path / "base.yml")
    assert (verdict.verdict, verdict.policy.under_base and verdict.policy.under_base.verdict) == (
        "pass",
        "fail",
    )
    assert [(one.path, one.loosens) for one in verdict.policy.changes] == [("rules.floor.hard", True)]


@pytest.mark.parametrize("before", ["fail", "invalid"])
def test_what_the_old_policy_did_not_let_through_is_told_loudly_whatever_the_changes_are_called(
    tmp_path: Path, before: Word
) -> None:
    write_gate(tmp_path, "a*30 1>1 b*10 0>1", TOLERANCE, description="new")
    (tmp_path / "base.yml").write_text(policy_text(TOLERANCE, description="old"))
    verdict = check_gate(tmp_path, base_policy=tmp_path / "base.yml")
    assert not any(change.loosens for change in verdict.policy.changes)
    assert not loosening(verdict)
    assert outcome(verdict) == "passed"

    worse = BaseVerdict(verdict=before, because=["it fell"])
    policy = verdict.policy.model_copy(update={"under_base": worse})
    loud = verdict.model_copy(update={"policy": policy})
    assert outcome(loud) == "warned"
    would = "would block" if before == "fail" else "would give no verdict"
    said = f"Passes under the changed policy; the base branch's policy {would}: it fell."
    for page, call in (
        (markdown.render(loud), "> **This change loosens the policy that judges it.**"),
        (text.render(loud), "This change loosens the policy\n"),
        (html.render(loud), "This change loosens the policy that judges it."),
    ):
        assert call in page
        assert said in " ".join(entities.unescape(page).replace("\u2060", "").split())
        assert "nothing loosened" not in page
    assert "the policy is loosened" in annotations.render(loud)
    assert len(json.loads(codequality.render(loud))) == 1
    # a change that is not let through by the new policy either moved no goalposts
    assert not loosening(loud.model_copy(update={"verdict": "fail"}))
