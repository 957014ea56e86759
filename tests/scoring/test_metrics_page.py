"""docs/metrics.md is what the docstrings say, and every metric keeps the contract of its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateline.golden.questions import NAMES
from gateline.scoring import families
from gateline.scoring._material import OUTPUTS
from gateline.scoring._reference import GOLDEN, OUTPUT, metrics_page, parts_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
DEFINITIONS = [definition for family in families().values() for definition in family]
CONTRACT = {
    "recall@K", "precision@K", "precision_returned@K", "hit_rate@K", "mrr", "mrr@K", "ap@K", "ndcg@K", "ndcg_linear@K",
    "evidence_group_recall@K", "context_ap", "context_ap_with_reference", "context_ap_without_reference",
    "context_precision_id", "context_recall", "faithfulness", "hallucination_rate_claim", "hallucination_rate_answer",
    "answer_correct", "answer_coverage", "factual_f1", "answer_correctness", "citation_precision", "citation_recall",
    "refused_correctly", "refused_wrongly", "cluster_coverage", "answer_set_coverage", "reason_coverage", "latency_ms",
    "tokens", "cost_usd", "candidate_recall", "final_context_coverage",
}  # fmt: skip


def test_the_page_is_what_the_docstrings_say():
    assert PAGE.read_text(encoding="utf-8") == metrics_page(), "write it anew, as the page's first lines say"


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
def test_every_metric_says_what_it_is(definition):
    first, named = parts_of(definition)
    assert first.endswith(".")
    assert {"Formula", "Denominator", "Undefined", "Source"} <= set(named)
    assert definition.compute.__doc__.count("\n    ") >= 5
    assert named["Denominator"].startswith(("the", "1", "K", "2", "statements", "all"))


def test_every_metric_of_the_contract_is_there_once():
    names = [definition.name for definition in DEFINITIONS]
    assert set(names) >= CONTRACT
    assert len(set(names)) == len(names)


def test_every_field_is_explained():
    assert set(GOLDEN) == set(NAMES)
    assert set(OUTPUT) == set(OUTPUTS)
