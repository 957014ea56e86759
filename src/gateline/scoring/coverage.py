"""Coverage of views: for questions on which sources disagree, how many of the views an answer shows.

Coverage of views is not truth of views. A question without such labels is not measured.
"""

from __future__ import annotations

import numpy as np

from gateline.golden.labels import read_claims
from gateline.scoring._definitions import Measured, flags, metric, numbers
from gateline.scoring._material import Material
from gateline.scoring._truths import NO_OUTPUT
from gateline.scoring.claims import count_among


def _cover(material: Material, wanted: str, covered: str) -> Measured | None:
    items, given = material.golden.claims(wanted), material.of_output(covered, read_claims)
    if items is None or given is None:
        return None
    of_record = material.of_question(items)
    total = numbers([None if one is None else len(one) for one in of_record])
    undefined = [
        ("none is given for the question", ~(np.nan_to_num(total) > 0)),
        (NO_OUTPUT, ~material.has_output),
        ("what the answer covers was not recorded", flags([found is None for found in given])),
    ]
    return Measured(count_among(material, of_record, given, "covers"), total, undefined)


@metric("cluster_coverage", counts=("clusters_covered", "answer_clusters"))
def cluster_coverage(material: Material, cutoff: int) -> Measured | None:
    """The share of the groups of reference answers that the answer covers.

    Formula: groups covered / groups (`covered_clusters` over `answer_clusters`)
    Denominator: the groups of reference answers of the question
    Undefined: where the question has none, or the output does not say what it covers
    Source: gateline; the idea of subtopic recall, Zhai, Cohen and Lafferty 2003
    Beware: coverage of views is not truth of views
    """
    return _cover(material, "answer_clusters", "covered_clusters")


@metric("answer_set_coverage", counts=("answers_covered", "answers"))
def answer_set_coverage(material: Material, cutoff: int) -> Measured | None:
    """The share of the reference answers that the answer covers.

    Formula: answers covered / answers (`covered_answers` over `answer_set`)
    Denominator: the reference answers of the question
    Undefined: where the question has none, or the output does not say what it covers
    Source: Stelmakh et al. 2022 (ASQA): several short answers to one question
    Beware: coverage of views is not truth of views
    """
    return _cover(material, "answer_set", "covered_answers")


@metric("reason_coverage", counts=("reasons_covered", "reasons"))
def reason_coverage(material: Material, cutoff: int) -> Measured | None:
    """The share of the reasons that the answer gives.

    Formula: reasons covered / reasons (`covered_reasons` over `reasons`)
    Denominator: the reasons of the question
    Undefined: where the question has none, or the output does not say what it covers
    Source: gateline
    Beware: coverage of views is not truth of views
    """
    return _cover(material, "reasons", "covered_reasons")
