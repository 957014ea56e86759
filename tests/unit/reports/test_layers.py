"""The full report by layer: which metric belongs where, what a movement is, and the order of the parts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.field_names import guess_layer
from gateline.metric import Metric
from gateline.reports import layers, markdown
from gateline.spelling import PLAIN

from .layered import down, dulled, held, open_, up, whole_system_verdict
from .verdicts import cost_limit, every, improvement, make_finding, make_verdict, skipped, span


def metric(**fields: Any) -> Metric:
    return Metric.model_validate({"better": "higher", **fields})


@pytest.mark.parametrize(
    ("layer", "names"),
    [
        (
            "retrieval",
            (
                "recall@5 recall_at_10 recallAt5 hit_rate@3 precision@10 precision_returned@5 mrr mrr@10 ndcg@10 "
                "ndcg_linear@10 ap map evidence_group_recall@5 success@5 candidate_recall"
            ),
        ),
        (
            "context",
            (
                "context_precision context_recall contextual_recall context_ap final_context_coverage "
                "context_entity_recall context_relevance empty_context ContextRecall"
            ),
        ),
        (
            "generation",
            (
                "answer_correctness answer_relevancy faithfulness hallucination_rate hallucination_rate_claim "
                "answer_coverage factual_f1 correct accuracy rouge_score(mode=recall) semantic_similarity "
                "claim_recall groundedness contradiction_rate fully_supported completeness answer_precision"
            ),
        ),
        (
            "citation",
            (
                "citation_precision citation_recall refused_correctly refused_wrongly answered refusal_rate "
                "abstention_rate attribution"
            ),
        ),
        ("system", "latency_ms latency_p95 duration_s tokens total_tokens cost_usd cost ttft"),
        (None, "sparkle reward pass_rate success resolved"),
    ],
)
def test_the_names_of_the_field_tell_their_layer(layer: str | None, names: str) -> None:
    assert {name: guess_layer(name, metric()) for name in names.split()} == dict.fromkeys(
        names.split(), layer
    )


def test_the_policy_decides_then_unit_and_field() -> None:
    assert guess_layer("recall@5", metric(layer="generation")) == "generation"
    assert guess_layer("speed", metric(unit="ms")) == "system"
    assert guess_layer("length", metric(unit="words")) == "system"
    assert guess_layer("p95", metric(field="latency_ms")) == "system"
    assert guess_layer("found", metric(field="recall@5")) == "retrieval"


ends = st.floats(-1, 1, allow_nan=False)


@given(st.tuples(ends, ends))
def test_a_movement_is_an_interval_on_one_side_of_zero(pair: tuple[float, float]) -> None:
    low, high = sorted(pair)
    found = layers.movement(make_finding(interval=span(low, high)))
    assert found == ("worse" if high < 0 else "better" if low > 0 else None)


def test_a_limit_and_what_was_not_judged_show_no_movement() -> None:
    for finding in (cost_limit(), every(), skipped(), make_finding(interval=None)):
        assert layers.movement(finding) is None
        assert not layers.holds(finding)


def test_what_holds_is_shown_to_hold() -> None:
    assert layers.holds(held("recall@5", "retrieval"))
    assert layers.holds(up("recall@5", "retrieval"))
    assert layers.holds(improvement())
    assert not layers.holds(open_("recall@5", "retrieval"))
    assert not layers.holds(down("recall@5", "retrieval"))
    assert not layers.holds(dulled("recall@5", "retrieval")), "a shown fall is none, though it is allowed"
    assert not layers.holds(held("recall@5", "retrieval", decide_by="value"))
    assert not layers.holds(held("recall@5", "retrieval", interval=span(None, None)))


def test_every_check_stands_in_one_section_and_the_order_is_fixed() -> None:
    verdict = whole_system_verdict()
    found = layers.sections(verdict)
    assert [part.layer for part in found] == [*layers.LAYERS, layers.OTHER]
    listed = [id(finding) for part in found for finding in part.findings]
    assert sorted(listed) == sorted(map(id, verdict.findings))
    assert [part.layer for part in layers.sections(make_verdict(held("mrr", "retrieval")))] == list(
        layers.LAYERS
    )


def test_slices_that_got_worse_are_those_shown_to_be() -> None:
    fallen = down("recall@5", "retrieval", slice="language=de")
    allowed = dulled("recall@5", "retrieval", slice="language=en")
    others = [down("recall@5", "retrieval"), open_("recall@5", "retrieval", slice="language=fr"), skipped()]
    assert layers.worse_slices(make_verdict(fallen, allowed, *others)) == [fallen, allowed]


def test_layers_that_nobody_looks_at_are_named() -> None:
    assert layers.unseen_layers(make_verdict(held("mrr", "retrieval")), PLAIN) == (
        "No rule looks at context, generation, citation and refusal, system."
    )
    assert layers.unseen_layers(whole_system_verdict(), PLAIN) == ""
    assert layers.unseen_layers(make_verdict(held("sparkle", None)), PLAIN) == ""


def test_the_summary_follows_the_layers() -> None:
    text = markdown.render_summary(whole_system_verdict())
    titles = """How the runs were made|Retrieval: 2|Context: 1|Generation: 2|Citation and refusal: 1|System: 2
Other metrics: 1|Slices that got worse: 1|The 3 samples|What was compared"""
    places = [text.index(f"<summary>{title}") for title in titles.replace("\n", "|").split("|")]
    assert places == sorted(places)
    assert "**Where to look**" in text
    assert "Where to look" not in markdown.render(whole_system_verdict())


def test_a_long_summary_is_cut_and_says_so() -> None:
    rows = [down("recall@5", "retrieval", slice=f"tenant={number:05}") for number in range(4_000)]
    verdict = make_verdict(*rows)
    for limit in (4_000, 60_000, markdown.STEP_SUMMARY):
        text = markdown.render(verdict, limit=limit, short_when_fine=False, whole="`verdict.json`")
        assert len(text.encode()) <= limit
        shown = text.count("\n| ❌")
        assert ("checks left out" in text) == (shown < 8_000)
