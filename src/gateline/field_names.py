"""What the name of a field tells by the customs of evaluation tools: what it measures, and which way is better.

These are guesses for a person to confirm; no verdict may rest on them.
"""

from __future__ import annotations

import re
from typing import Literal

from gateline.metric import COST_FIELDS, TIME_FIELDS, Layer, Metric

Better = Literal["higher", "lower"]
Kind = Literal["score", "time", "cost", "tokens", "number"]

HIGHER = frozenset(
    [
        "accuracy",
        "accurate",
        "agreement",
        "ap",
        "appropriate",
        "bleu",
        "chrf",
        "citation",
        "complete",
        "completeness",
        "comprehensiveness",
        "consistent",
        "correct",
        "correctly",
        "correctness",
        "coverage",
        "em",
        "exact",
        "f1",
        "factual",
        "factuality",
        "faithful",
        "faithfulness",
        "grounded",
        "groundedness",
        "helpful",
        "helpfulness",
        "hit",
        "hits",
        "map",
        "match",
        "mrr",
        "ndcg",
        "pass",
        "passed",
        "precision",
        "quality",
        "reciprocal",
        "recall",
        "relevance",
        "relevancy",
        "relevant",
        "resolved",
        "reward",
        "rouge",
        "similarity",
        "solved",
        "success",
        "supported",
        "usefulness",
        "utility",
        "valid",
        "win",
    ]
)
LOWER = frozenset(
    [
        "contradicted",
        "cost",
        "duration",
        "error",
        "errors",
        "fabricated",
        "fail",
        "failed",
        "failure",
        "failures",
        "hallucinated",
        "hallucination",
        "hallucinations",
        "harmful",
        "incorrect",
        "latency",
        "leak",
        "leakage",
        "loss",
        "misuse",
        "noise",
        "perplexity",
        "pii",
        "price",
        "severe",
        "timeout",
        "timeouts",
        "tokens",
        "toxic",
        "toxicity",
        "ttft",
        "unsupported",
        "violation",
        "violations",
        "wrong",
        "wrongly",
    ]
)
"""`bias` is in neither: DeepEval turned its direction round at 4.2.0."""
_NEGATIONS = frozenset(["free", "no", "non", "not", "without"])
COUNTS = frozenset(
    ["claims", "count", "counts", "n", "num", "number", "requests", "sentences", "statements", "total"]
)
TIMES = frozenset(["latency", "duration", "elapsed", "ttft", "runtime", "time"])
COSTS = frozenset(["cost", "price", "spend", "usd", "eur"])
CLUSTERS = (
    "source_doc",
    "doc_id",
    "document_id",
    "source_document",
    "document",
    "group",
    "cluster",
    "conversation_id",
    "conversation",
    "passage_id",
    "topic_id",
)
"""Fields whose equal values usually mark questions that rise and fall together, the most telling first."""
MADE_BY = frozenset(
    [
        "model",
        "generator",
        "judge",
        "embedder",
        "embedding",
        "retriever",
        "reranker",
        "prompt",
        "version",
        "snapshot",
        "commit",
        "revision",
        "index",
        "corpus",
        "temperature",
        "dataset",
    ]
)
"""Words of fields that say how a run was made, and should be the same for the whole of it."""


_OF_CITATION = frozenset(
    [
        "abstain",
        "abstained",
        "abstention",
        "answered",
        "attribution",
        "citation",
        "citations",
        "cited",
        "declined",
        "refusal",
        "refusals",
        "refused",
        "unanswerable",
    ]
)
_OF_CONTEXT = frozenset(["context", "contexts", "contextual"])
_OF_ANSWER = frozenset(["answer", "answers", "claim", "claims", "fact", "factual", "response", "rouge"])
_OF_RETRIEVAL = frozenset(
    [
        "ap",
        "bpref",
        "coverage",
        "hit",
        "hits",
        "map",
        "mrr",
        "ndcg",
        "precision",
        "recall",
        "reciprocal",
        "retrieval",
        "retrieved",
        "rprec",
        "success",
    ]
)
_OF_GENERATION = (
    frozenset(
        ["contradicted", "contradiction", "fabricated", "hallucinated", "hallucination", "hallucinations"]
    )
    | frozenset(["incorrect", "supported", "unsupported", "wrong"])
    | HIGHER
) - {"hit", "hits", "pass", "passed", "resolved", "reward", "solved", "success", "valid", "win"}
_COUNTED_IN = frozenset(["tokens", "words", "characters"])


def words_of(name: str) -> frozenset[str]:
    """Return the words of a name, in lower case; `recallAt5`, `recall@5` and `recall_at_5` have `recall`."""
    apart = re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])", " ", name.partition("(mode=")[0]
    )  # Ragas: rouge_score(mode=recall)
    return frozenset(re.findall(r"[a-z]+[0-9]?(?![a-z])|[a-z]+", apart.lower().replace("_", " ")))


def guess_better(name: str) -> Better | None:
    """Return which way is better, or None where the name does not say, says both, or negates (`no_pii`)."""
    words = words_of(name)
    lower, higher = not words.isdisjoint(LOWER), not words.isdisjoint(HIGHER)
    if lower == higher or not words.isdisjoint(_NEGATIONS):
        return None
    return "lower" if lower else "higher"


def guess_better_of_metric(name: str) -> Better | None:
    """Return which way is better of what a metric is read from: lower of times, costs and tokens."""
    is_spent = guess_kind(name, is_metric=True) in ("time", "cost", "tokens")
    return "lower" if is_spent else guess_better(name)


def guess_kind(name: str, *, is_metric: bool) -> Kind:
    """Return what a number field measures; `is_metric` says that the file keeps it as a metric."""
    words = words_of(name)
    if "tokens" in words or "token" in words:
        return "tokens"
    if name in COST_FIELDS or not words.isdisjoint(COSTS):
        return "cost"
    if name in TIME_FIELDS or not words.isdisjoint(TIMES):
        return "time"
    if not words.isdisjoint(COUNTS):
        return "number"
    return "score" if is_metric or guess_better(name) is not None else "number"


def guess_unit(name: str) -> str | None:
    """Return the unit that a name ends in."""
    ending = re.split(r"[_.]", name.lower())[-1]
    return {"ms": "ms", "s": "s", "sec": "s", "seconds": "s", "usd": "USD", "eur": "EUR"}.get(ending)


def says_how_made(name: str) -> bool:
    """Say whether a field describes how the run was made."""
    return not words_of(name).isdisjoint(MADE_BY)


def guess_layer(name: str, metric: Metric) -> Layer | None:
    """Return the part of a RAG system that a metric looks at: what the policy says, else what the name tells.

    `coverage` and `success` are of retrieval only with a rank, as in `success@5`; None where nothing tells.
    """
    if metric.layer is not None:
        return metric.layer
    if metric.is_cost(name) or metric.is_time(name) or metric.unit in _COUNTED_IN:
        return "system"
    kind = guess_kind(metric.field or name, is_metric=True)
    if kind in ("time", "cost", "tokens"):
        return "system"
    return _layer_of(name) or (_layer_of(metric.field) if metric.field else None)


def _layer_of(name: str) -> Layer | None:
    words = words_of(name)
    if words & _OF_CITATION:
        return "citation"
    if words & _OF_CONTEXT:
        return "context"
    if not words & _OF_ANSWER:
        with_rank = re.search(r"(@|_at_|At)[0-9]+$", name) is not None
        if words & _OF_RETRIEVAL - {"coverage", "success"} or (with_rank and words & _OF_RETRIEVAL):
            return "retrieval"
    return "generation" if words & (_OF_GENERATION | _OF_ANSWER) else None
