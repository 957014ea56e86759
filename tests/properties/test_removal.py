"""Taking something away from the candidate never turns a no into a yes.

Beyond `missing.drop_at_most` there is no verdict, whatever the rules; within it, hard rules and `every` must hold for
what is not known too. A soft rule's outcome may change there: that is what the policy's allowance says.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from worlds import METRICS, Record, World, of_rule, policy_of, rules, tries, worlds

from gateline.findings import Status

BOUNDED = ("ok", "score", "loss", "wrong_rate", "errors")
WAYS = ("row", "null", "all null", "judge_failed", "text null", "no_answer")


def _with_the_direction(rule: dict[str, Any]) -> dict[str, Any]:
    """Turn a fixed bound the way that the metric's direction asks for: only there is a worst value bad."""
    if rule["kind"] not in ("limit", "every"):
        return rule
    rest = {key: value for key, value in rule.items() if key not in ("at_least", "at_most")}
    name = "at_least" if METRICS[rule["metric"]]["better"] == "higher" else "at_most"
    return {**rest, name: rule.get("at_least", rule.get("at_most"))}


STRICT = st.one_of(
    rules(kinds=["every"], metrics=("ok", "score", "loss")),
    rules(kinds=["limit", "tolerance", "improvement"], metrics=BOUNDED).map(
        lambda rule: {
            **{key: value for key, value in rule.items() if key not in ("on_inconclusive", "decide_by")},
            "hard": True,
        }
    ),
).map(lambda rule: _with_the_direction({**rule, "on_inconclusive": "fail"} if "hard" not in rule else rule))


def damage(record: Record, way: str, metric: str) -> Record | None:
    """Return what is left of a record."""
    if way == "row":
        return None
    damaged = copy.deepcopy(record)
    if way in ("judge_failed", "no_answer"):
        damaged["error"] = way
    else:
        names = list(damaged["metrics"]) if way == "all null" else [metric]
        for name in names:
            (damaged["metrics"] if name in damaged["metrics"] else damaged)[name] = (
                "NaN" if way == "text null" else None
            )
    return damaged


def attack(world: World, chosen: Sequence[int], ways: Sequence[str], metric: str) -> World:
    """Return the world with the chosen records of the candidate damaged."""
    way_of = dict(zip(chosen, ways, strict=False))
    kept = [
        damage(record, way_of[row], metric) if row in way_of else record
        for row, record in enumerate(world.candidate)
    ]
    return World(
        world.baseline, [record for record in kept if record is not None], world.policy, world.options
    )


@st.composite
def attacks(draw: st.DrawFn, world: World) -> World:
    """Draw an attack on a run that the gate blocked: what a cheat would take away, or anything at all."""
    verdict = world.judge()
    assume(verdict.exit_code == 1)
    finding = draw(st.sampled_from([one for one in verdict.findings if one.blocks]))
    order = list(range(len(world.candidate)))
    if draw(st.integers(0, 3)):
        order = [row for row in order if _is_in(world.candidate[row], finding.slice)]
        order.sort(key=lambda row: _goodness(world.candidate[row], finding.metric))
    else:
        order = draw(st.permutations(order))
    chosen = order[: draw(st.integers(1, max(1, len(order))))]
    one_way = draw(st.sampled_from(WAYS))
    ways = [one_way] * len(chosen) if draw(st.booleans()) else [draw(st.sampled_from(WAYS)) for _ in chosen]
    field = METRICS[finding.metric].get("ratio", [METRICS[finding.metric].get("field", finding.metric)])[0]
    return attack(world, chosen, ways, field)


def _goodness(record: Record, metric: str) -> float:
    definition, metrics = METRICS[metric], record["metrics"]
    if "ratio" in definition:
        return float(-metrics["wrong"] / metrics["claims"])
    value = float((record | metrics)[definition.get("field", metric)])
    return value if definition["better"] == "higher" else -value


def seen_as(world: World, mode: str, drop: float) -> World:
    """Return the world under a policy that allows so much to be left out."""
    parts = {"samples": {"at_least": 2, "on_mismatch": mode}, "missing": {"drop_at_most": drop}}
    return World(world.baseline, world.candidate, {**world.policy, **parts})


MODES = st.sampled_from(["refuse", "intersect"])


@tries(60)
@given(worlds(complete=True, rule=rules().map(_with_the_direction), most_rules=1), MODES, st.data())
def test_where_nothing_may_be_left_out_no_rule_is_passed_by_loss(
    world: World, mode: str, data: st.DataObject
) -> None:
    whole = seen_as(world, mode, 0.0)
    assert data.draw(attacks(whole)).judge().exit_code != 0


@tries(60)
@given(
    worlds(complete=True, rule=STRICT, most_rules=1), MODES, st.sampled_from([0.02, 0.2, 0.5, 1.0]), st.data()
)
def test_hard_rules_and_every_are_never_passed_by_loss(
    world: World, mode: str, drop: float, data: st.DataObject
) -> None:
    whole = seen_as(world, mode, drop)
    assert data.draw(attacks(whole)).judge().exit_code != 0


@tries(40)
@given(
    worlds(
        complete=True, rule=rules(metrics=BOUNDED, may_be_hard=False).map(_with_the_direction), most_rules=1
    ),
    MODES,
    st.sampled_from([0.02, 0.1, 0.3]),
    st.data(),
)
def test_a_failing_slice_is_never_passed_by_losing_more_of_it_than_the_policy_allows(
    world: World, mode: str, drop: float, data: st.DataObject
) -> None:
    """Also where the whole run has lost little enough: the slice that failed is then inconclusive at best."""
    whole = seen_as(world, mode, drop)
    attacked = data.draw(attacks(whole))
    before, after = whole.judge(), attacked.judge()
    if after.verdict == "invalid":
        return
    found = of_rule(after)
    left = {record["id"]: record for record in attacked.candidate}
    for finding in before.findings:
        if finding.status is not Status.FAIL:
            continue
        inside = [record for record in whole.candidate if _is_in(record, finding.slice)]
        fields = METRICS[finding.metric].get("ratio") or [
            METRICS[finding.metric].get("field", finding.metric)
        ]
        gone = sum(not _has_value(left.get(record["id"]), fields) for record in inside)
        if gone > drop * len(inside):
            assert found[finding.rule, finding.slice].status in (Status.FAIL, Status.INCONCLUSIVE), finding


def _is_in(record: Record, place: str | None) -> bool:
    if place is None:
        return True
    if place == "risky":
        return bool(record["slices"]["risk"] == "high")
    return bool((record["slices"]["language"] or "(none)") == place.removeprefix("language="))


def _has_value(record: Record | None, fields: Sequence[str]) -> bool:
    """Say whether a value stands, or a fault of the assistant counts as the worst (a ratio has no worst)."""
    if record is None or record.get("error") == "judge_failed":
        return False
    if record.get("error") == "no_answer":
        return len(fields) == 1
    return not any((record | record["metrics"])[name] in (None, "NaN") for name in fields)


@tries(30)
@given(st.integers(0, 2**32), MODES, st.sampled_from(["ok", "score"]), st.booleans())
def test_by_default_two_percent_of_a_run_may_be_lost_and_not_one_more(
    seed: int, mode: str, metric: str, by_row: bool
) -> None:
    """With the policy's defaults: any rule, and a loss just past the allowance, is no verdict."""
    generator = random.Random(seed)
    number = generator.randrange(30, 160)
    rule = {"kind": "limit", "metric": metric, "at_least": 0.99}
    side = [
        {"id": f"q{row}", "slices": {"language": "de", "risk": "high"},
         "metrics": {"ok": 1, "score": 0.5, "claims": 1, "wrong": 0}, "latency_ms": 1.0}
        for row in range(number)
    ]  # fmt: skip
    failing = copy.deepcopy(side)
    for record in failing:
        record["metrics"][metric] = 0.0  # type: ignore[index]
    policy = policy_of([rule], samples={"on_mismatch": mode}, missing={})
    world = World(side, failing, policy)
    assert world.judge().exit_code == 1
    lost = int(0.02 * number) + 1
    rows = generator.sample(range(number), lost)
    assert attack(world, rows, ["row" if by_row else "null"] * lost, metric).judge().exit_code == 2


@tries(40)
@given(worlds(complete=True, rule=STRICT, most=12, most_rules=1), st.data())
def test_leaving_out_the_bad_attempts_of_a_question_passes_no_hard_rule(
    world: World, data: st.DataObject
) -> None:
    """Each question is tried three times; some questions of the candidate keep only their better tries."""
    tried = World(_three_times(world.baseline), _three_times(world.candidate), world.policy)
    for record in tried.candidate:
        record["metrics"]["ok"] = data.draw(st.sampled_from([0, 1, 1]))
    first = data.draw(st.integers(0, len(world.candidate) - 1))  # one question keeps all
    kept = [
        record
        for row, record in enumerate(tried.candidate)
        if row // 3 == first or row % 3 == 0 or record["metrics"]["ok"] == 1
    ]
    attacked = World(tried.baseline, kept, tried.policy)
    assert tried.judge().exit_code == 0 or attacked.judge().exit_code != 0


def _three_times(side: Sequence[Record]) -> list[dict[str, Any]]:
    return [{**copy.deepcopy(record), "attempt": number} for record in side for number in (1, 2, 3)]
