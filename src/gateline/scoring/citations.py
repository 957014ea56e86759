"""Citations: whether those given support their claims, and whether the claims that need one have one.

A citation says which statement it stands for by the statement's id, or by its place in the list counted from 0; or
it stands in the statement itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateline.golden.labels import read_list, read_truth
from gateline.scoring._definitions import Measured, flags, metric
from gateline.scoring._material import Material
from gateline.scoring._truths import NO_OUTPUT, count_supported, read_label
from gateline.scoring.claims import Statement, all_statements

STATEMENT = ("statement", "claim", "statement_id", "claim_id")


@dataclass(frozen=True)
class Citation:
    """One citation."""

    statement: object
    """Id or place of its statement; None where it does not say."""
    supports: bool | None
    """Whether what it cites supports the statement; None where that is not known."""


def read_citations(value: object) -> list[Citation]:
    """Return citations: objects with a label and a statement, or bare labels."""
    citations = []
    for item in read_list(value):
        holder = item if isinstance(item, dict) else {}
        statement = next((holder[name] for name in STATEMENT if name in holder), None)
        citations.append(Citation(statement, read_truth(read_label(item))))
    return citations


def _all_citations(material: Material) -> list[list[Citation] | None] | None:
    return material.keep("citations", lambda: _collect(material))


def _collect(material: Material) -> list[list[Citation] | None] | None:
    """Return the citations of each record, its own and those in its statements (n)."""
    own = material.of_output("citations", read_citations)
    statements = all_statements(material)
    inside = [
        None if said is None or all(one.citations is None for one in said) else _inside(said)
        for said in statements or [None] * len(material)
    ]
    if own is None and not any(found is not None for found in inside):
        return None
    joined: list[list[Citation] | None] = []
    for first, second in zip(own or [None] * len(material), inside, strict=True):
        joined.append(None if first is None and second is None else [*(first or []), *(second or [])])
    return joined


def _inside(statements: list[Statement]) -> list[Citation]:
    return [
        Citation(place if one.identity is None else one.identity, citation.supports)
        for place, one in enumerate(statements)
        for citation in read_citations(one.citations if one.citations is not None else [])
    ]


@metric("citation_precision", counts=("supporting_citations", "citations"))
def citation_precision(material: Material, cutoff: int) -> Measured | None:
    """The share of the citations given that support their claim.

    Formula: citations that support their claim / citations
    Denominator: the citations given
    Undefined: where none was given, or one has no label
    Source: Liu, Zhang and Liang 2023 (verifiability); Gao et al. 2023 (ALCE)
    Beware: it does not see claims without a citation: see `citation_recall`
    """
    citations = _all_citations(material)
    if citations is None:
        return None
    labels = [None if given is None else [one.supports for one in given] for given in citations]
    return count_supported(material, labels, "citations")


@metric("citation_recall", counts=("claims_cited", "claims_needing_citation"))
def citation_recall(material: Material, cutoff: int) -> Measured | None:
    """The share of the claims that need a citation which have at least one that supports them.

    Formula: claims with a valid citation / claims that need one
    Denominator: statements with `needs_citation`, by default all that can be verified
    Undefined: where no claim needs one, citations were not recorded, or do not say what they stand for
    Source: Liu, Zhang and Liang 2023 (verifiability); Gao et al. 2023 (ALCE)
    """
    citations, statements = _all_citations(material), all_statements(material)
    if citations is None or statements is None:
        return None
    needing = np.array(
        [np.nan if said is None else sum(one.needs_citation for one in said) for said in statements]
    )
    cited = np.full(len(material), np.nan)
    lost = np.zeros(len(material), dtype=bool)
    for row, (given, said) in enumerate(zip(citations, statements, strict=True)):
        if given is None or said is None:
            continue
        if any(one.statement is None or one.supports is None for one in given):
            lost[row] = True
            continue
        cited[row] = _count_cited(material, row, given, said)
    undefined = [
        (NO_OUTPUT, ~material.has_output),
        ("no statements were given", np.isnan(needing)),
        ("no claim needs a citation", needing == 0),
        ("citations were not recorded", flags([given is None for given in citations])),
        ("a citation without a label or a statement", lost),
    ]
    return Measured(cited, needing, undefined)


def _count_cited(material: Material, row: int, given: list[Citation], said: list[Statement]) -> int:
    place_of: dict[object, int] = {
        one.identity: place for place, one in enumerate(said) if one.identity is not None
    }
    cited = set()
    for one in given:
        place = place_of.get(one.statement)
        if place is None and isinstance(one.statement, int) and 0 <= one.statement < len(said):
            place = one.statement
        if place is None:
            raise material.refuse(
                row, f"has a citation for the statement {one.statement!r}, which it does not have"
            )
        if one.supports and said[place].needs_citation:
            cited.add(place)
    return len(cited)
