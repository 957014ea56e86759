"""The columns of Ragas: its inputs by their names of three generations, and its metrics with direction and range.

It reads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gateline.samples import MetricFacts

QUESTIONS = ("user_input", "question")
ANSWERS = ("response", "answer")
CONTEXTS = ("retrieved_contexts", "contexts")
REFERENCES = ("reference", "ground_truth", "ground_truths")
GENERATIONS = (QUESTIONS, ANSWERS, CONTEXTS, REFERENCES)
"""Names of one input: since 0.2, and before."""
LISTS = frozenset({
    "retrieved_contexts", "contexts", "reference_contexts", "retrieved_context_ids", "reference_context_ids",
    "multi_responses", "ground_truths", "retrieved_ids", "reference_topics",
})  # fmt: skip
INPUTS = LISTS | {
    *(name for names in GENERATIONS for name in names),
    "rubrics", "persona_name", "query_style", "query_length", "reference_tool_calls", "synthesizer_name",
}  # fmt: skip

_MODE = re.compile(r"\(mode=[^()]*\)")
_UNIT = re.findall(
    r"\w+",
    """
    faithfulness faithfulness_with_hhem context_precision llm_context_precision_with_reference
    llm_context_precision_without_reference non_llm_context_precision_with_reference id_based_context_precision
    context_utilization context_recall llm_context_recall non_llm_context_recall id_based_context_recall
    context_entity_recall factual_correctness bleu_score rouge_score chrf_score exact_match string_present
    non_llm_string_similarity summary_score nv_accuracy nv_context_relevance nv_response_groundedness
    tool_call_accuracy tool_call_f1 agent_goal_accuracy topic_adherence llm_sql_equivalence_with_reference
    data_compare_score faithful_rate relevance_rate context_precision_with_reference
    context_precision_without_reference sql_semantic_equivalence quoted_spans_alignment answer_accuracy
    context_relevance context_relevancy response_groundedness multi_modal_faithfulness multi_modal_relevance
""",
)
_COSINE = ("answer_relevancy", "answer_similarity", "semantic_similarity")
_RUBRICS = re.findall(
    r"\w+",
    """
    domain_specific_rubrics instance_rubrics instance_specific_rubrics labelled_rubrics_score
    reference_free_rubrics_score answer_correctness
""",
)
FACTS: dict[str, MetricFacts] = {
    **dict.fromkeys(_UNIT, MetricFacts("higher", (0.0, 1.0))),
    **dict.fromkeys(_COSINE, MetricFacts("higher", (-1.0, 1.0))),  # cosines
    **dict.fromkeys(_RUBRICS, MetricFacts("higher")),
    "noise_sensitivity": MetricFacts("lower", (0.0, 1.0)),
}
CRITICS = frozenset({"conciseness", "coherence", "correctness", "harmfulness", "maliciousness"})
"""Critics of 0.1, whose direction their names tell."""
SAME = (
    ("factual_correctness", "factual_correctness(mode=f1)"),
    ("noise_sensitivity", "noise_sensitivity(mode=relevant)"),
    ("rouge_score", "rouge_score(mode=fmeasure)"),
    ("topic_adherence", "topic_adherence(mode=f1)"),
    ("answer_similarity", "semantic_similarity"),
    ("context_precision_with_reference", "llm_context_precision_with_reference"),
    ("context_precision_without_reference", "llm_context_precision_without_reference"),
    ("context_precision", "llm_context_precision_with_reference"),
)
"""One metric by two names: with its default mode spelled out or not, and before and after a renaming."""
_COMMON = frozenset(
    {"exact_match", "string_present", "bleu_score", "rouge_score", "chrf_score", "summary_score"}
)
"""Names that other tools use as well, and that do not show a file to be of Ragas."""
_OF_CONTEXTS = re.compile(r".*context.*|faithful.*|noise_sensitivity.*|.*groundedness")


def base_name(name: str) -> str:
    """Return the name of a metric without its mode, and without what hand-made files put around it."""
    bare = _MODE.sub("", name)
    for candidate in (
        bare,
        bare.removesuffix("_score"),
        bare.removeprefix("average_"),
        bare.removeprefix("avg_"),
    ):
        if candidate in FACTS or candidate in CRITICS:
            return candidate
    return bare


def is_metric(name: str) -> bool:
    """Say whether this is the name of a metric of Ragas."""
    return bool(_MODE.search(name)) or base_name(name) in FACTS or base_name(name) in CRITICS


def shows_ragas(names: Iterable[str]) -> bool:
    """Say whether one of the names is a metric that no other tool calls so."""
    return any(_MODE.search(name) or base_name(name) in FACTS.keys() - _COMMON for name in names)


def is_frame(names: Iterable[str]) -> bool:
    """Say whether columns are those of evaluated samples, or of samples to evaluate, since 0.2 or before."""
    known = set(names)
    if "user_input" in known:
        return not known.isdisjoint({*ANSWERS, *CONTEXTS, *REFERENCES, "rubrics"})
    with_answer = "question" in known and not known.isdisjoint({*ANSWERS, *CONTEXTS})
    whole = {"question", "answer", "contexts"} <= known and not known.isdisjoint(REFERENCES)
    return with_answer and (whole or shows_ragas(known))


def depends_on_contexts(name: str) -> bool:
    """Say whether a metric looks at the retrieved contexts."""
    return _OF_CONTEXTS.fullmatch(name) is not None


def find_facts(name: str, *, with_reference: bool) -> MetricFacts | None:
    """Return what Ragas says of a metric; None for one of the user's own.

    Context precision is computed with a reference answer or without: by its name, or else by whether the samples
    have one (before 0.1 the name meant the one without).
    """
    base = base_name(name)
    facts = FACTS.get(base)
    if facts is None or ("context_precision" not in base and base != "context_utilization"):
        return facts
    if "id_based" in base or "non_llm" in base:
        return facts
    without = "without_reference" in base or base == "context_utilization"
    without = without or (base == "context_precision" and not with_reference)
    return MetricFacts(facts.better, facts.range, "without a reference" if without else "with a reference")


def find_aliases(names: Iterable[str]) -> dict[str, str]:
    """Return other names of columns that are there."""
    known = set(names)
    aliases: dict[str, str] = {}
    for one, other in SAME:
        if one in known and other not in known:
            aliases.setdefault(other, one)
        elif other in known and one not in known:
            aliases.setdefault(one, other)
    for generation in GENERATIONS:
        present = next((name for name in generation if name in known), None)
        aliases |= {name: present for name in generation if present and name not in known}
    ranked = next((name for name in ("retrieved_context_ids", "retrieved_ids") if name in known), None)
    return aliases if ranked is None or "retrieved" in known else aliases | {"retrieved": ranked}


def find_generation(names: Iterable[str]) -> str:
    """Return the versions of Ragas that write such columns; empty where they do not tell."""
    known = set(names)
    if "user_input" in known:
        return "0.2 or later"
    if "ground_truths" in known:
        return "0.0"
    return "0.1" if {"question", "answer", "contexts"} <= known else ""
