"""What `publish` believes of a verdict: every true one, and no fail that somebody has called a pass."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from test_order import waivers
from worlds import World, rules, tries, worlds

from gateline.errors import InputError
from gateline.verdict import Verdict
from gateline.verdict_file import read_verdict


def read(text: str) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="gateline-property-") as folder:
        path = Path(folder) / "verdict.json"
        path.write_text(text, encoding="utf-8")
        return read_verdict(path)


@st.composite
def gates(draw: st.DrawFn) -> World:
    """A world, in half of all cases with waivers."""
    world = draw(worlds())
    if draw(st.booleans()):
        return replace(world, policy={**world.policy, "waivers": draw(waivers(world))})
    return world


@tries(60)
@given(gates())
def test_every_verdict_of_the_gate_is_believed(world: World) -> None:
    text = world.judge().to_json()
    assert read(text).to_json() == text


@tries(60)
@given(worlds(rule=rules(kinds=["limit", "tolerance", "improvement"])))
def test_a_fail_that_is_called_a_pass_is_not(world: World) -> None:
    """Its own interval or value, and bound, say otherwise; but for what rounding may lose."""
    data: dict[str, Any] = json.loads(world.judge().to_json())
    failed = [one for one in data["findings"] if one["status"] == "fail" and one["threshold"] is not None]
    failed = [one for one in failed if not _is_within_rounding(one)]
    assume(failed)
    for finding in data["findings"]:
        if finding["blocks"]:
            finding.update(status="pass", blocks=False)
    data["counts"] = {word: sum(one["status"] == word for one in data["findings"]) for word in data["counts"]}
    data.update(verdict="pass", exit_code=0)
    with pytest.raises(InputError, match="contradicts itself"):
        read(json.dumps(data))


def _is_within_rounding(finding: dict[str, Any]) -> bool:
    ends = [finding[finding["judged"]]]
    if finding["decide_by"] == "interval":
        ends = [finding["interval"]["low"], finding["interval"]["high"]]
    return any(end is None or abs(end - finding["threshold"]) < 1e-5 for end in ends)
