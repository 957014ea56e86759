"""What must not change a verdict, and what must change it in step."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from worlds import METRICS, World, numbers_of, of_rule, policy_of, rules, tries, worlds

from gateline.findings import Finding, Status

SYMMETRIC = rules(kinds=["tolerance"], may_be_hard=False).map(
    lambda rule: {**rule, "worse_by_at_most": 0.0, "decide_by": "interval"}
)


@tries(40)
@given(worlds(rule=SYMMETRIC))
def test_swapping_the_runs_mirrors_gain_and_interval(world: World) -> None:
    there = world.judge()
    back = World(world.candidate, world.baseline, world.policy).judge()
    assert (there.verdict == "invalid") == (back.verdict == "invalid")
    found = of_rule(back)
    assert len(found) == len(there.findings)
    for finding in there.findings:
        other = found[finding.rule, finding.slice]
        assert (finding.better, finding.worse, finding.same) == (other.worse, other.better, other.same)
        assert (finding.baseline, finding.candidate) == (other.candidate, other.baseline)
        assert finding.gain is None or finding.gain == pytest.approx(-_known(other.gain), rel=1e-9, abs=1e-12)
        _expect_mirrored(finding, other)


def _expect_mirrored(finding: Finding, other: Finding) -> None:
    assert (finding.interval is None) == (other.interval is None)
    if finding.interval is None or other.interval is None or finding.interval.of != "gain":
        return
    for end, opposite in (
        (finding.interval.low, other.interval.high),
        (finding.interval.high, other.interval.low),
    ):
        assert (end is None) == (opposite is None)
        if end is not None:
            assert end == pytest.approx(-_known(opposite), rel=1e-6, abs=1e-9)


def _known(value: float | None) -> float:
    assert value is not None
    return value


@tries(40)
@given(worlds(), st.integers(0, 2**32))
def test_the_order_of_rows_changes_no_byte_but_the_digests(world: World, seed: int) -> None:
    shuffled = world.changed(lambda copy: _shuffle(copy, random.Random(seed)))
    first, second = world.judge(), shuffled.judge()
    if first.verdict == "invalid":
        assert second.verdict == "invalid"
        return
    assert _without_digests(first.to_json()) == _without_digests(second.to_json())


def _shuffle(world: World, generator: random.Random) -> None:
    generator.shuffle(world.baseline)
    generator.shuffle(world.candidate)


def _without_digests(text: str) -> str:
    data = json.loads(text)
    for run in ("baseline", "candidate"):
        data[run]["sha256"] = ""
    return json.dumps(data)


@tries(40)
@given(worlds(), rules(), st.sampled_from(["rule", "metric", "label"]), st.integers(0, 2**32))
def test_a_metric_slice_or_rule_more_changes_no_other_number(
    world: World, more: dict[str, Any], what: str, seed: int
) -> None:
    alone = world.judge()
    assume(alone.verdict != "invalid" and alone.pairing is not None)
    # another metric makes the records of the same run twice differ
    assume(not (what == "metric" and alone.pairing.identical))
    generator = random.Random(seed)

    def add(copy: World) -> None:
        rule = {"id": "added", **more}
        if what == "metric":
            copy.policy["metrics"]["added"] = {"better": "higher", "range": [0, 1]}
            rule = {
                "id": "added",
                "kind": "tolerance",
                "metric": "added",
                "worse_by_at_most": 0.1,
                "slices": True,
            }
        for before, after in zip(copy.baseline, copy.candidate, strict=True) if what == "metric" else []:
            before["metrics"]["added"] = after["metrics"]["added"] = generator.random()
        if what == "label":
            zones = [generator.choice("ABC") for _ in copy.baseline]
            for side in (copy.baseline, copy.candidate):
                for record, zone in zip(side, zones, strict=True):
                    record["slices"]["zone"] = zone
            rule = {
                "id": "added",
                "kind": "tolerance",
                "metric": "ok",
                "worse_by_at_most": 0.1,
                "slices": ["zone"],
            }
        copy.policy["rules"].insert(generator.randrange(len(copy.policy["rules"]) + 1), rule)

    together = world.changed(add).judge()
    if together.verdict == "invalid":
        assert "the hard rule added can't be shown to hold" in together.because[0]
        return
    found = of_rule(together)
    for finding in alone.findings:
        assert numbers_of(found[finding.rule, finding.slice]) == numbers_of(finding)


SCALED = ("ok", "score", "loss", "time", "slow", "errors")


@tries(40)
@given(worlds(rule=rules(metrics=SCALED)), st.sampled_from([0.25, 8.0, 1024.0]))
def test_scaling_a_metric_scales_every_number_and_leaves_every_status(world: World, factor: float) -> None:
    """By powers of 2, which round nothing; the range and the bounds of the policy are scaled along."""
    plain, scaled = world.judge(), world.changed(lambda copy: _scale(copy, factor)).judge()
    assert (plain.verdict, plain.exit_code) == (scaled.verdict, scaled.exit_code)
    found = of_rule(scaled)
    for finding in plain.findings:
        other = found[finding.rule, finding.slice]
        assert (other.status, other.blocks, other.samples) == (
            finding.status,
            finding.blocks,
            finding.samples,
        )
        relative = finding.judged == "relative_gain"
        for name in ("baseline", "candidate", "gain"):
            _expect_scaled(getattr(finding, name), getattr(other, name), factor)
        _expect_scaled(finding.threshold, other.threshold, 1.0 if relative else factor)
        if finding.interval is not None and other.interval is not None:
            for end in ("low", "high"):
                _expect_scaled(
                    getattr(finding.interval, end), getattr(other.interval, end), 1.0 if relative else factor
                )


def _scale(world: World, factor: float) -> None:
    for record in [*world.baseline, *world.candidate]:
        metrics = record["metrics"]
        record["latency_ms"] *= factor
        for name in ("ok", "score", "wrong"):
            metrics[name] = None if metrics[name] is None else metrics[name] * factor
    for metric in world.policy["metrics"].values():
        if "range" in metric:
            metric["range"] = [end * factor for end in metric["range"]]
    for rule in world.policy["rules"]:
        for name in ("at_least", "at_most", "worse_by_at_most", "better_by_at_least"):
            if isinstance(rule.get(name), float):
                rule[name] *= factor


def _expect_scaled(value: float | None, scaled: float | None, factor: float) -> None:
    assert (value is None) == (scaled is None)
    if value is not None and scaled is not None:
        assert scaled == pytest.approx(value * factor, rel=1e-9, abs=1e-12 * factor)


@tries(30)
@given(worlds(rule=rules(kinds=["tolerance"], may_be_hard=False)))
def test_the_same_run_on_both_sides_passes_every_tolerance(world: World) -> None:
    verdict = World(world.baseline, world.baseline, world.policy).judge()
    if verdict.verdict == "invalid":
        return
    judged = [
        finding for finding in verdict.findings if finding.samples and finding.status is not Status.SKIPPED
    ]
    assert [finding.message for finding in judged if finding.status is not Status.PASS] == []
    assert verdict.exit_code == 0 or any(
        finding.blocks for finding in verdict.findings if not finding.samples
    )


def test_the_policy_of_the_worlds_defines_what_its_rules_name() -> None:
    world = World([], [], policy_of([{"kind": "limit", "metric": name, "at_most": 0.5} for name in METRICS]))
    assert {rule["metric"] for rule in world.policy["rules"]} == set(world.policy["metrics"])
