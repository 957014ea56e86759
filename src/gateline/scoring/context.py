"""Contexts: what was handed to the model, and how useful it was.

`retrieved` are the candidates that a retriever returned; `contexts` are those that were sent in the end. A metric is
over one or the other, as its name says, never over either. Contexts are matched by id, never by their texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateline.golden.labels import (
    IDENTITIES,
    UnfitLabelError,
    read_identity,
    read_items,
    read_truth,
)
from gateline.samples import Floats
from gateline.scoring._definitions import Flags, Measured, flags, metric
from gateline.scoring._material import Material
from gateline.scoring._truths import NO_OUTPUT, count_supported, read_truths
from gateline.scoring.retrieval import NONE_RELEVANT, NOT_LABELLED, rank_all

NO_CONTEXT = "no context"
NOT_JUDGED = "a context without a label"
USEFUL = ("useful", "useful_with_reference", "useful_without_reference")


@dataclass(frozen=True)
class Context:
    """One context that was sent."""

    identity: str | None
    """Its id; None where it has none."""
    useful: tuple[bool | None, ...]
    """Its verdict of each kind of `USEFUL`; None where it has none."""


def read_contexts(value: object) -> list[Context]:
    """Return the contexts of an output in their order: ids, or objects with an id and verdicts."""
    contexts = []
    for item in read_items(value):
        if isinstance(item, dict):
            has_identity = any(name in item for name in IDENTITIES)
            useful = tuple(read_truth(item.get(name)) for name in USEFUL)
            contexts.append(Context(read_identity(item) if has_identity else None, useful))
            continue
        name = read_identity(item)
        if any(sign.isspace() for sign in name.strip()):
            raise UnfitLabelError("holds texts where ids should stand; give objects with an id")
        contexts.append(Context(name, (None,) * len(USEFUL)))
    return contexts


def _contexts(material: Material) -> list[list[Context] | None] | None:
    return material.keep("contexts", lambda: material.of_output("contexts", read_contexts))


def _relevant(material: Material) -> list[set[str] | None]:
    """Return the relevant ids of each record (n), None where they are not labelled."""
    return [
        None if grades is None else {name for name, grade in grades.items() if grade > 0}
        for grades in material.of_question(material.golden.relevant)
    ]


def _cover(material: Material, sent: list[set[str] | None], *, of_sent: bool) -> Measured:
    """Return the share of the relevant ids that are among the sent ones, or the share of those that is relevant."""
    relevant = _relevant(material)
    unlabelled = np.array([wanted is None for wanted in relevant])
    unknown = np.array([ids is None for ids in sent])
    both = [len((wanted or set()) & (ids or set())) for wanted, ids in zip(relevant, sent, strict=True)]
    found = np.where(unlabelled | unknown, np.nan, np.array(both, np.float64))
    below = sent if of_sent else relevant
    total = np.array([np.nan if ids is None else len(ids) for ids in below], np.float64)
    empty = (NO_CONTEXT, total == 0) if of_sent else (NONE_RELEVANT, total == 0)
    missing = (NO_OUTPUT, unknown & ~material.has_output)
    return Measured(
        found, total, [missing, (NOT_LABELLED, unlabelled), ("ids were not recorded", unknown), empty]
    )


def read_sent_ids(material: Material) -> list[set[str] | None] | None:
    """Return the ids of the contexts of each record (n); None where no output has any, or none is labelled."""
    contexts = _contexts(material)
    if contexts is None or material.golden.relevant is None:
        return None
    known = [one.identity for sent in contexts for one in sent or []]
    if known and not any(known):
        return None  # contexts without any id: only their verdicts count
    ids: list[set[str] | None] = []
    for row, sent in enumerate(contexts):
        if sent is not None and any(one.identity is None for one in sent):
            raise material.refuse(row, "has contexts with and without an id")
        ids.append(None if sent is None else {one.identity for one in sent if one.identity is not None})
    return ids


@metric("candidate_recall", counts=("relevant_candidates", "relevant"))
def candidate_recall(material: Material, cutoff: int) -> Measured | None:
    """The share of the relevant ids that are anywhere among the candidates retrieved.

    Formula: |retrieved ∩ R| / |R|
    Denominator: the relevant ids of the query
    Undefined: where no id is relevant, or none is labelled
    Source: Manning, Raghavan and Schütze 2008, section 8.3 (recall of a set)
    Beware: what was retrieved need not reach the model: see `final_context_coverage`
    """
    found = rank_all(material)
    return None if found is None else found.measure(found.sum_hits(None, 0), found.relevant)


@metric("final_context_coverage", counts=("relevant_sent", "relevant"))
def final_context_coverage(material: Material, cutoff: int) -> Measured | None:
    """The share of the relevant ids that are among the contexts sent to the model.

    Formula: |contexts ∩ R| / |R|
    Denominator: the relevant ids of the query
    Undefined: where no id is relevant, none is labelled, or no contexts were recorded
    Source: gateline; the recall of a set, over what was sent
    """
    sent = read_sent_ids(material)
    return None if sent is None else _cover(material, sent, of_sent=False)


@metric("final_context_precision", counts=("relevant_sent", "contexts_sent"))
def final_context_precision(material: Material, cutoff: int) -> Measured | None:
    """The share of the contexts sent to the model that are relevant by id.

    Formula: |contexts ∩ R| / |contexts|
    Denominator: the different contexts sent
    Undefined: where no context was sent or recorded, or relevant ids are not labelled
    Source: gateline; the precision of a set, over what was sent
    """
    sent = read_sent_ids(material)
    return None if sent is None else _cover(material, sent, of_sent=True)


@metric("context_precision_id", counts=("relevant_candidates", "retrieved_ids"))
def context_precision_id(material: Material, cutoff: int) -> Measured | None:
    """The share of the retrieved ids that are relevant, in whatever order.

    Formula: |retrieved ∩ reference| / |retrieved|, as sets
    Denominator: the ids retrieved
    Undefined: where nothing was retrieved, or relevant ids are not labelled
    Source: Ragas 0.4, IDBasedContextPrecision
    Beware: it ignores order, and is over what was retrieved; `final_context_precision` is over what was sent
    """
    found = rank_all(material)
    if found is None:
        return None
    undefined = [*found.unknown, ("nothing was retrieved", found.returned == 0)]
    return found.measure(found.sum_hits(None, 0), found.returned, undefined)


def _average_precision(material: Material, kind: int) -> Measured | None:
    """Return the mean precision at the useful contexts by one kind of verdict."""
    contexts = _contexts(material)
    if contexts is None or not any(one.useful[kind] is not None for sent in contexts for one in sent or []):
        return None
    sums, useful = np.full(len(material), np.nan), np.full(len(material), np.nan)
    for row, sent in enumerate(contexts):
        if sent is not None and all(one.useful[kind] is not None for one in sent):
            verdicts = np.array([bool(one.useful[kind]) for one in sent], bool)
            places = np.flatnonzero(verdicts) + 1
            sums[row] = float((np.arange(1, len(places) + 1) / places).sum())
            useful[row] = len(places)
    empty = flags([sent is not None and not sent for sent in contexts])
    unknown = flags([sent is None for sent in contexts])
    undefined = [
        (NO_OUTPUT, ~material.has_output),
        ("contexts were not recorded", unknown),
        (NO_CONTEXT, empty),
        (NOT_JUDGED, np.isnan(useful)),
    ]
    return Measured(sums, useful, undefined, nothing_is_zero=True)


@metric("context_ap", counts=("useful_precision_sum", "useful_contexts"))
def context_ap(material: Material, cutoff: int) -> Measured | None:
    """The mean of the precisions at the places of the useful contexts.

    Formula: Σ precision at useful positions / useful positions; 0 where all are useless
    Denominator: the useful contexts that were sent
    Undefined: where there is no context (then `empty_context` is 1), or one has no verdict `useful`
    Source: Ragas 0.4, context precision; Ragas adds 1e-10 to the denominator, so that its best value is 0.9999999999
    Beware: the denominator counts retrieved positives only: it can't see what was missed
    """
    return _average_precision(material, 0)


@metric(
    "context_ap_with_reference",
    counts=("useful_precision_sum_with_reference", "useful_contexts_with_reference"),
)
def context_ap_with_reference(material: Material, cutoff: int) -> Measured | None:
    """`context_ap` by verdicts that were made with the reference answer at hand.

    Formula: Σ precision at useful positions / useful positions; 0 where all are useless
    Denominator: the useful contexts that were sent
    Undefined: where there is no context, or one has no verdict `useful_with_reference`
    Source: Ragas 0.4, LLMContextPrecisionWithReference
    Beware: verdicts with and without the reference are different metrics
    """
    return _average_precision(material, 1)


@metric(
    "context_ap_without_reference",
    counts=("useful_precision_sum_without_reference", "useful_contexts_without_reference"),
)
def context_ap_without_reference(material: Material, cutoff: int) -> Measured | None:
    """`context_ap` by verdicts that were made from the answer alone.

    Formula: Σ precision at useful positions / useful positions; 0 where all are useless
    Denominator: the useful contexts that were sent
    Undefined: where there is no context, or one has no verdict `useful_without_reference`
    Source: Ragas 0.4, LLMContextPrecisionWithoutReference
    Beware: verdicts with and without the reference are different metrics
    """
    return _average_precision(material, 2)


@metric("empty_context", better="lower")
def empty_context(material: Material, cutoff: int) -> Measured | None:
    """Whether the model got no context at all.

    Formula: 1 if no context was sent, else 0
    Denominator: 1; over a run the outputs with recorded contexts
    Undefined: where contexts were not recorded
    Source: gateline
    """
    contexts = _contexts(material)
    if contexts is None:
        return None
    unknown = flags([sent is None for sent in contexts])
    empty: Floats = flags([not sent for sent in contexts]).astype(np.float64)
    return Measured(empty, np.ones(len(material)), _unrecorded(material, unknown))


def _unrecorded(material: Material, unknown: Flags) -> list[tuple[str, Flags]]:
    return [(NO_OUTPUT, ~material.has_output), ("contexts were not recorded", unknown)]


@metric("context_recall", counts=("reference_statements_supported", "reference_statements"))
def context_recall(material: Material, cutoff: int) -> Measured | None:
    """The share of the reference answer's statements that the context supports.

    Formula: reference statements supported by the context / reference statements
    Denominator: the statements of the reference answer
    Undefined: where there are no statements, or one has no label
    Source: Ragas 0.4, context recall; Es et al. 2024
    Beware: it is over the reference's statements, `faithfulness` over the answer's
    """
    labels = material.of_output("reference_statements", read_truths)
    if labels is None:
        return None
    wanted = material.of_question(material.golden.claims("reference_statements"))
    for row, (statements, given) in enumerate(zip(wanted, labels, strict=True)):
        if statements is not None and given is not None and len(statements) != len(given):
            raise material.refuse(
                row, f"labels {len(given)} reference statements; the golden set has {len(statements)}"
            )
    return count_supported(material, labels, "reference statements")
