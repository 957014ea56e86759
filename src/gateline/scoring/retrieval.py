"""Retrieval: how much of what is relevant stands in the ranking, and how high.

A ranking is a list of ids, best first; K is a cut-off, R the set of relevant ids of the query (grade above 0). A
question without an output counts as one for which nothing was retrieved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gateline.golden.labels import UnfitLabelError, read_identity, read_items
from gateline.samples import Floats
from gateline.scoring._definitions import Flags, Measured, metric
from gateline.scoring._material import Material, Rows

NOT_LABELLED = "relevant ids are not labelled"
NONE_RELEVANT = "no id is relevant"
NOT_RECORDED = "the retrieved ids were not recorded"
NO_GROUPS = "no evidence groups"


@dataclass(frozen=True)
class Rankings:
    """Where relevant ids stand in the rankings of n records: h hits in the order of records, then ranks."""

    returned: Floats
    """Number of ids retrieved (n)."""
    relevant: Floats
    """Number of relevant ids (n)."""
    labelled: Flags
    """Whether relevant ids are known (n)."""
    recorded: Flags
    """Whether the retrieved ids are known (n)."""
    record: Rows
    """Record of each hit (h)."""
    rank: Floats
    """Rank of each hit, from 1 (h)."""
    grade: Floats
    """Grade of each hit (h)."""
    ideal_record: Rows
    """Record of each relevant id, in the order of records, then falling grades."""
    ideal_rank: Floats
    """Rank of each relevant id in the ideal ranking, from 1."""
    ideal_grade: Floats
    """Grade of each relevant id."""

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.returned)

    def sum_hits(self, weights: Floats | None, cutoff: int) -> Floats:
        """Return the sum of weights (h; 1 where None) over the hits at ranks up to a cut-off (n)."""
        within = self.rank <= cutoff if cutoff else np.ones(len(self.rank), dtype=bool)
        return np.bincount(
            self.record[within], None if weights is None else weights[within], minlength=len(self)
        ).astype(np.float64)

    @cached_property
    def ordinal(self) -> Floats:
        """Return how many hits stand at each hit's rank or above (h)."""
        first = np.searchsorted(self.record, self.record, side="left")
        return (np.arange(1, len(self.record) + 1) - first).astype(np.float64)

    @property
    def undefined(self) -> list[tuple[str, Flags]]:
        """Return why a metric over the relevant ids has no value."""
        return [*self.unknown, (NONE_RELEVANT, self.relevant == 0)]

    @property
    def unknown(self) -> list[tuple[str, Flags]]:
        """Return why nothing can be said of a record's ranking."""
        return [(NOT_LABELLED, ~self.labelled), (NOT_RECORDED, ~self.recorded)]

    def measure(
        self, numerator: Floats, denominator: Floats, undefined: list[tuple[str, Flags]] | None = None
    ) -> Measured:
        """Return a metric, with numbers that are not known as NaN."""
        unknown = ~self.labelled | ~self.recorded
        return Measured(
            np.where(unknown, np.nan, numerator),
            np.where(~self.labelled, np.nan, denominator),
            self.undefined if undefined is None else undefined,
        )


def read_ranking(value: object) -> list[str]:
    """Return the ids of a ranking, best first; one that stands twice is an error, as is a text in an id's place."""
    if isinstance(value, list) and set(map(type, value)) <= {str}:
        ids: list[str] = value
    else:
        ids = [read_identity(item) for item in read_items(value)]
    if len(set(ids)) < len(ids):
        twice = next(name for place, name in enumerate(ids) if name in ids[:place])
        places = [str(place) for place, name in enumerate(ids, 1) if name == twice]
        raise UnfitLabelError(f"has '{twice}' more than once, at ranks {', '.join(places)}")
    return ids


def read_retrieved(material: Material) -> list[list[str] | None] | None:
    """Return the ranking of each record (n); None where no output has one."""
    return material.keep("retrieved", lambda: material.of_output("retrieved", read_ranking))


def rank_all(material: Material) -> Rankings | None:
    """Return the rankings of all records; None where no output has one or no question has relevant ids."""
    return material.keep("rankings", lambda: _rank_all(material))


def _rank_all(material: Material) -> Rankings | None:
    retrieved = read_retrieved(material)
    if retrieved is None or material.golden.relevant is None:
        return None
    positives = [
        None if grades is None else {name: grade for name, grade in grades.items() if grade > 0}
        for grades in material.golden.relevant
    ]
    record, rank, grade = [], [], []
    for row, (ranking, question) in enumerate(zip(retrieved, material.question.tolist(), strict=True)):
        wanted = positives[question]
        if not ranking or not wanted:
            continue
        found = sorted([ranking.index(name) for name in wanted.keys() & set(ranking)])
        record += [row] * len(found)
        rank += found
        grade += [wanted[ranking[place]] for place in found]
    ideal = [[] if wanted is None else sorted(wanted.values(), reverse=True) for wanted in positives]
    counts = np.array([len(grades) for grades in ideal])[material.question]
    return Rankings(
        returned=np.array([0 if ranking is None else len(ranking) for ranking in retrieved], np.float64),
        relevant=counts.astype(np.float64),
        labelled=np.array([wanted is not None for wanted in positives])[material.question],
        recorded=np.array([ranking is not None for ranking in retrieved]) | ~material.has_output,
        record=np.array(record, np.int64),
        rank=np.array(rank, np.float64) + 1,
        grade=np.array(grade, np.float64),
        ideal_record=np.repeat(np.arange(len(counts)), counts),
        ideal_rank=np.array(
            [place for row in material.question.tolist() for place in range(1, len(ideal[row]) + 1)],
            np.float64,
        ),
        ideal_grade=np.array([one for row in material.question.tolist() for one in ideal[row]], np.float64),
    )


@metric("recall@K", counts=("relevant_retrieved@K", "relevant"))
def recall(material: Material, cutoff: int) -> Measured | None:
    """The share of the relevant ids that stand among the first K.

    Formula: |top K ∩ R| / |R|
    Denominator: the relevant ids of the query
    Undefined: where no id is relevant, or none is labelled
    Source: Manning, Raghavan and Schütze 2008, section 8.3; `recall_K` of trec_eval
    Beware: it grows with K; where R is larger than K it can't reach 1
    """
    found = rank_all(material)
    return None if found is None else found.measure(found.sum_hits(None, cutoff), found.relevant)


@metric("precision@K", counts=("relevant_retrieved@K", "cutoff@K"))
def precision(material: Material, cutoff: int) -> Measured | None:
    """The share of the first K places that hold a relevant id.

    Formula: |top K ∩ R| / K
    Denominator: K, also where fewer ids were retrieved
    Undefined: where relevant ids are not labelled; 0 where none is relevant
    Source: Manning, Raghavan and Schütze 2008, section 8.4; `P_K` of trec_eval
    Beware: `precision_returned@K` divides by what was retrieved and is another metric
    """
    found = rank_all(material)
    if found is None:
        return None
    return found.measure(found.sum_hits(None, cutoff), np.full(len(found), float(cutoff)), found.unknown)


@metric("precision_returned@K", counts=("relevant_retrieved@K", "returned@K"))
def precision_returned(material: Material, cutoff: int) -> Measured | None:
    """The share of the ids retrieved, at most K, that are relevant.

    Formula: |top K ∩ R| / |top K|
    Denominator: the ids retrieved, at most K
    Undefined: where nothing was retrieved, or relevant ids are not labelled
    Source: Manning, Raghavan and Schütze 2008, section 8.3 (precision of a set)
    Beware: returning less makes it higher; `precision@K` doesn't reward that
    """
    found = rank_all(material)
    if found is None:
        return None
    undefined = [*found.unknown, ("nothing was retrieved", found.returned == 0)]
    return found.measure(found.sum_hits(None, cutoff), np.minimum(found.returned, cutoff), undefined)


@metric("hit_rate@K")
def hit_rate(material: Material, cutoff: int) -> Measured | None:
    """Whether a relevant id stands among the first K.

    Formula: 1 if top K ∩ R is not empty, else 0
    Denominator: 1; over a run the queries with a relevant id
    Undefined: where no id is relevant, or none is labelled
    Source: `success_K` of trec_eval
    """
    found = rank_all(material)
    if found is None:
        return None
    return found.measure((found.sum_hits(None, cutoff) > 0).astype(np.float64), np.ones(len(found)))


def _reciprocal_rank(material: Material, cutoff: int) -> Measured | None:
    found = rank_all(material)
    if found is None:
        return None
    first = np.where(found.ordinal == 1, 1 / found.rank, 0.0)
    return found.measure(found.sum_hits(first, cutoff), np.ones(len(found)))


@metric("mrr")
def reciprocal_rank(material: Material, cutoff: int) -> Measured | None:
    """One over the rank of the first relevant id; its mean is the mean reciprocal rank.

    Formula: 1 / rank of the first id of R; 0 where none was retrieved
    Denominator: 1; over a run the queries with a relevant id
    Undefined: where no id is relevant, or none is labelled
    Source: Voorhees 1999, TREC-8 question answering track report; `recip_rank` of trec_eval
    Beware: it looks at the whole ranking, so a longer one can only gain; `mrr@K` stops at K
    """
    return _reciprocal_rank(material, cutoff)


@metric("mrr@K")
def reciprocal_rank_at(material: Material, cutoff: int) -> Measured | None:
    """One over the rank of the first relevant id, if that is K or better.

    Formula: 1 / rank of the first id of R among the first K; 0 where none is there
    Denominator: 1; over a run the queries with a relevant id
    Undefined: where no id is relevant, or none is labelled
    Source: `RR@K` of ir_measures; trec_eval has no cut-off here
    """
    return _reciprocal_rank(material, cutoff)


def _average_precision(material: Material, cutoff: int) -> Measured | None:
    found = rank_all(material)
    if found is None:
        return None
    return found.measure(found.sum_hits(found.ordinal / found.rank, cutoff), found.relevant)


@metric("ap", counts=("precision_sum", "relevant"))
def average_precision(material: Material, cutoff: int) -> Measured | None:
    """The mean of the precisions at all relevant ids, 0 for one that was not retrieved: average precision.

    Formula: Σ precision at the rank of each hit / |R|
    Denominator: the relevant ids of the query, retrieved or not
    Undefined: where no id is relevant, or none is labelled
    Source: Manning, Raghavan and Schütze 2008, section 8.4; `map` of trec_eval
    Beware: `context_ap` divides by the useful contexts that were retrieved and can't see what was missed
    """
    return _average_precision(material, cutoff)


@metric("ap@K", counts=("precision_sum@K", "relevant"))
def average_precision_at(material: Material, cutoff: int) -> Measured | None:
    """The mean of the precisions at all relevant ids, 0 for one that is not among the first K.

    Formula: Σ precision at the rank of each hit among the first K / |R|
    Denominator: the relevant ids of the query, retrieved or not
    Undefined: where no id is relevant, or none is labelled
    Source: `map_cut_K` of trec_eval
    Beware: where R is larger than K it can't reach 1
    """
    return _average_precision(material, cutoff)


def _cumulated_gain(material: Material, cutoff: int, *, exponential: bool) -> Measured | None:
    found = rank_all(material)
    if found is None:
        return None

    def gain(grade: Floats) -> Floats:
        return np.exp2(grade) - 1 if exponential else grade

    got = found.sum_hits(gain(found.grade) / np.log2(found.rank + 1), cutoff)
    within = found.ideal_rank <= cutoff
    discounted = gain(found.ideal_grade[within]) / np.log2(found.ideal_rank[within] + 1)
    best = np.bincount(found.ideal_record[within], discounted, minlength=len(found))
    return found.measure(got, best.astype(np.float64))


@metric("ndcg@K", counts=("dcg@K", "ideal_dcg@K"))
def ndcg(material: Material, cutoff: int) -> Measured | None:
    """Discounted cumulated gain over that of the ideal ranking, with exponential gains.

    Formula: Σ over the first K of (2^rel − 1) / log₂(rank + 1), over the same sum for the ideal ranking
    Denominator: the sum for the ideal ranking of all judged ids
    Undefined: where no id is relevant, or none is labelled
    Source: Burges et al. 2005; `nDCG(dcg='exp-log2')@K` of ir_measures, `ndcg_burges@K` of ranx
    Beware: trec_eval's `ndcg_cut_K` has linear gains: that is `ndcg_linear@K`; with grades of 0 and 1 both agree
    """
    return _cumulated_gain(material, cutoff, exponential=True)


@metric("ndcg_linear@K", counts=("dcg_linear@K", "ideal_dcg_linear@K"))
def ndcg_linear(material: Material, cutoff: int) -> Measured | None:
    """Discounted cumulated gain over that of the ideal ranking, with the grades as gains.

    Formula: Σ over the first K of rel / log₂(rank + 1), over the same sum for the ideal ranking
    Denominator: the sum for the ideal ranking of all judged ids
    Undefined: where no id is relevant, or none is labelled
    Source: Järvelin and Kekäläinen 2002, with the discount of trec_eval's `ndcg_cut_K`
    Beware: a grade below 0 counts as 0, as in trec_eval
    """
    return _cumulated_gain(material, cutoff, exponential=False)


@metric("evidence_group_recall@K", counts=("evidence_groups_found@K", "evidence_groups"))
def evidence_group_recall(material: Material, cutoff: int) -> Measured | None:
    """The share of the required evidence groups of which at least one id stands among the first K.

    Formula: groups with a hit among the first K / groups
    Denominator: the required evidence groups of the question
    Undefined: where the question has no groups
    Source: gateline; any id of a group will do, and all groups are needed
    """
    retrieved = read_retrieved(material)
    if retrieved is None or material.golden.evidence_groups is None:
        return None
    groups = material.of_question(material.golden.evidence_groups)
    found = np.array(
        [sum(not group.isdisjoint((ranking or [])[:cutoff]) for group in wanted or [])
         for wanted, ranking in zip(groups, retrieved, strict=True)], np.float64)  # fmt: skip
    total = np.array([len(wanted or []) for wanted in groups], np.float64)
    unrecorded = np.array([ranking is None for ranking in retrieved]) & material.has_output
    found[unrecorded] = np.nan
    return Measured(found, total, [(NO_GROUPS, total == 0), (NOT_RECORDED, unrecorded)])
