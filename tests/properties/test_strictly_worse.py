"""A candidate that is worse in some records and better in none never turns a check to the better."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from worlds import World, rules, tries, worlds

from gateline.findings import Status

WORST_LAST = (Status.SKIPPED, Status.PASS, Status.INCONCLUSIVE, Status.FAIL)
BOUNDED = ("ok", "score")


@st.composite
def one_way_rules(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a rule whose good side is that of its metric."""
    rule: dict[str, Any] = draw(rules(metrics=BOUNDED))
    if "at_most" in rule:
        rule["at_least"] = rule.pop("at_most")
    return rule


Loss = tuple[float, str]
LOSSES = st.dictionaries(
    st.integers(0, 23),
    st.tuples(st.sampled_from([0.25, 0.5, 1.0]), st.sampled_from(["ok", "score", "both", "no answer"])),
    min_size=1,
)


def lose(world: World, losses: dict[int, Loss]) -> None:
    for place, (size, what) in losses.items():
        record = world.candidate[place % len(world.candidate)]
        if what == "no answer":
            record["error"] = "no_answer"  # counts as the worst value, and so do both of these
            continue
        for name in BOUNDED if what == "both" else (what,):
            record["metrics"][name] = max(0.0, record["metrics"][name] - (1 if name == "ok" else size))


@tries(40)
@given(worlds(rule=one_way_rules(), complete=True), LOSSES)
def test_no_check_turns_to_the_better_where_the_candidate_gets_worse(
    world: World, losses: dict[int, Loss]
) -> None:
    before = world.judge()
    after = world.changed(lambda copied: lose(copied, copy.deepcopy(losses))).judge()
    if "invalid" in (before.verdict, after.verdict):
        assert before.verdict != "fail" or after.verdict == "invalid"
        return
    found = {(one.rule, one.slice): one for one in after.findings}
    for one in before.findings:
        other = found[one.rule, one.slice]
        assert WORST_LAST.index(other.status) >= WORST_LAST.index(one.status), (one.rule, one.slice)
        assert (other.status is Status.SKIPPED) == (one.status is Status.SKIPPED)
        assert other.blocks or not one.blocks
    assert before.verdict != "fail" or after.verdict == "fail"
