"""Pointers to a layer: each from movements that are shown, none without evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.findings import Finding
from gateline.reports import markdown
from gateline.reports.diagnosis import POINTERS, diagnose
from gateline.reports.layers import holds, movement
from gateline.spelling import PLAIN
from gateline.texts import load

from .layered import down, dulled, held, open_, up, whole_system_verdict
from .verdicts import cost_limit, make_verdict

RECALL, CONTEXT, ANSWER = "retrieval", "context", "generation"

POINTED = {
    "retrieval": [down("recall@5", RECALL), held("faithfulness", ANSWER)],
    "context": [down("context_recall", CONTEXT), held("recall@5", RECALL)],
    "generation": [down("answer_correct", ANSWER), held("recall@5", RECALL)],
    "ranking": [down("precision@5", RECALL), up("recall@5", RECALL)],
    "less-said": [up("faithfulness", ANSWER), dulled("answer_coverage", ANSWER)],
    "over-refusal": [down("refused_wrongly", "citation", direction="lower")],
}


def pointers(*findings: Finding) -> list[str]:
    return [pointer.to for pointer in diagnose(make_verdict(*findings))]


@pytest.mark.parametrize("to", POINTED)
def test_each_pointer_comes_of_its_movements_and_names_them(to: str) -> None:
    found = diagnose(make_verdict(*POINTED[to]))
    assert [pointer.to for pointer in found] == [to]
    assert set(map(id, found[0].evidence)) == set(map(id, POINTED[to]))
    assert found[0].sentence(PLAIN) == load().say(f"pointer.{to}")


def test_every_pointer_is_tried() -> None:
    assert POINTED.keys() == set(POINTERS)


@pytest.mark.parametrize("to", POINTED)
def test_a_movement_that_is_not_shown_points_nowhere(to: str) -> None:
    blurred = [open_(f.metric, f.layer, direction=f.direction) for f in POINTED[to]]
    assert pointers(*blurred) == []
    for left_out in range(len(POINTED[to])):
        findings = [*POINTED[to]]
        findings[left_out] = blurred[left_out]
        assert pointers(*findings) == []


@pytest.mark.parametrize("to", POINTED)
def test_movements_of_different_slices_are_not_joined(to: str) -> None:
    findings = [f.model_copy(update={"slice": f"part={at}"}) for at, f in enumerate(POINTED[to])]
    assert pointers(*findings) == ([to] if len(findings) == 1 else [])


def test_the_whole_run_speaks_for_its_slices_and_slices_for_themselves() -> None:
    whole = POINTED["generation"]
    slices = [
        [f.model_copy(update={"slice": f"language={name}"}) for f in whole]
        for name in ("de", "en", "fr", "zh")
    ]
    in_whole = diagnose(make_verdict(*whole, *slices[0]))
    assert [pointer.place for pointer in in_whole] == [None]
    in_slices = diagnose(make_verdict(*(finding for part in slices for finding in part)))
    assert [pointer.to for pointer in in_slices] == ["generation"] * 3
    assert len({pointer.place for pointer in in_slices}) == 3


def test_contradicting_movements_point_nowhere() -> None:
    fallen, risen = down("recall@5", RECALL), up("hit_rate@5", RECALL)
    assert pointers(fallen, risen, held("faithfulness", ANSWER)) == []
    assert pointers(down("answer_correct", ANSWER), held("recall@5", RECALL), fallen) == []


def test_a_fall_of_recall_with_a_fall_of_faithfulness_is_left_open() -> None:
    assert pointers(down("recall@5", RECALL), down("faithfulness", ANSWER)) == []


def test_refusals_of_questions_without_an_answer_are_no_over_refusal() -> None:
    assert pointers(down("refused_correctly", "citation")) == []
    assert pointers(down("refusal_rate", "citation", direction="lower", slice="unanswerable")) == []
    assert pointers(down("refusal_rate", "citation")) == [], "higher is meant to be better there"
    assert pointers(down("answered", "citation")) == ["over-refusal"]


def test_a_limit_is_no_movement() -> None:
    assert pointers(cost_limit(metric="recall@5", layer=RECALL), held("faithfulness", ANSWER)) == []


makers = st.sampled_from([down, dulled, held, open_, up])
metrics = st.sampled_from(
    [("recall@5", RECALL), ("ndcg@10", RECALL), ("context_recall", CONTEXT), ("faithfulness", ANSWER),
     ("answer_coverage", ANSWER), ("answer_correct", ANSWER), ("answered", "citation"), ("sparkle", None)]
)  # fmt: skip
checks = st.builds(
    lambda make, name, place: make(*name, slice=place), makers, metrics, st.sampled_from([None, "a=1", "a=2"])
)


@given(st.lists(checks, max_size=14))
def test_no_pointer_rests_on_what_is_not_shown(findings: list[Finding]) -> None:
    for pointer in diagnose(make_verdict(*findings)):
        assert pointer.evidence
        assert any(movement(finding) == "worse" for finding in pointer.evidence)
        for finding in pointer.evidence:
            assert finding.slice == pointer.place
            assert movement(finding) is not None or holds(finding)


def test_the_summary_names_the_checks() -> None:
    text = markdown.render_summary(whole_system_verdict())
    line = next(line for line in text.splitlines() if "look at retrieval" in line)
    assert "`recall@5-holds`" in line
    assert "`faithfulness-holds`" in line
    assert "−14.4" in line
