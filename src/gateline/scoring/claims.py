"""Claims: what the answer says, whether the context supports it, and whether it says what it should.

Labels come from people or a judge; here they are only counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateline.golden.labels import (
    IDENTITIES,
    UnfitLabelError,
    read_claims,
    read_identity,
    read_list,
    read_truth,
)
from gateline.samples import Floats
from gateline.scoring._definitions import Flags, Measured, metric, numbers
from gateline.scoring._material import Material
from gateline.scoring._truths import NO_OUTPUT, count_supported, is_unverifiable, read_label

F1_WEIGHT = 0.75
"""Weight of the factual F1 in `answer_correctness`, as in Ragas 0.4; recorded in the result."""
NO_REFERENCE = "no required or forbidden claims"


@dataclass(frozen=True)
class Statement:
    """One statement of an answer."""

    identity: str | None
    """Its id; None where it has none."""
    supported: bool | None
    """Whether the context supports it; None where that is not known."""
    verifiable: bool
    """Whether anything could show if it is so."""
    correct: bool | None
    """Whether the reference says so too; None where that is not known."""
    needs_citation: bool
    """Whether it should have a citation."""
    citations: object
    """Citations that stand in the statement itself; None where it has no such field."""


def read_statements(value: object) -> list[Statement]:
    """Return the statements of an answer: objects with a label, or bare labels."""
    statements = []
    for item in read_list(value):
        holder = item if isinstance(item, dict) else {}
        label = read_label(item)
        unverifiable = is_unverifiable(label)
        needs = read_truth(holder.get("needs_citation"))
        statements.append(
            Statement(
                identity=read_identity(item) if any(name in holder for name in IDENTITIES) else None,
                supported=False if unverifiable else read_truth(label),
                verifiable=not unverifiable,
                correct=read_truth(holder.get("correct")),
                needs_citation=not unverifiable if needs is None else needs,
                citations=holder.get("citations"),
            )
        )
    known = [one.identity for one in statements if one.identity is not None]
    if len(set(known)) < len(known):
        raise UnfitLabelError("has two statements of one id")
    return statements


def all_statements(material: Material) -> list[list[Statement] | None] | None:
    """Return the statements of each record (n); None where no output has any."""
    return material.keep("statements", lambda: material.of_output("statements", read_statements))


@metric("faithfulness", counts=("supported_statements", "statements"))
def faithfulness(material: Material, cutoff: int) -> Measured | None:
    """The share of the answer's statements that the context supports.

    Formula: statements supported by the context / statements of the answer
    Denominator: all statements of the answer, also those that can't be verified
    Undefined: where there are no statements, or one has no label
    Source: Es et al. 2024 (Ragas), section 3
    Beware: it is over the answer's statements: short answers score high
    """
    statements = all_statements(material)
    if statements is None or not any(
        one.supported is not None for given in statements for one in given or []
    ):
        return None
    labels = [None if given is None else [one.supported for one in given] for given in statements]
    return count_supported(material, labels, "statements")


def _count_unsupported(material: Material) -> Measured | None:
    """Return unsupported over verifiable claims of each record."""
    statements = all_statements(material)
    if statements is None or not any(
        one.supported is not None for given in statements for one in given or []
    ):
        return None
    labels = [
        None if given is None else [one.supported for one in given if one.verifiable] for given in statements
    ]
    supported = count_supported(material, labels, "verifiable claims")
    return Measured(supported.denominator - supported.numerator, supported.denominator, supported.undefined)


@metric("hallucination_rate_claim", better="lower", counts=("unsupported_claims", "claims"), summary="ratio")
def hallucination_rate_claim(material: Material, cutoff: int) -> Measured | None:
    """The share of all verifiable claims of a run that the context does not support, or contradicts.

    Formula: Σ unsupported or contradicted claims / Σ verifiable claims, over the run (micro)
    Denominator: the verifiable claims of all answers
    Undefined: where there are no claims; an answer with an unlabelled claim is left out
    Source: Min et al. 2023 (FActScore): 1 minus its precision of facts, over all answers at once
    Beware: a sample has counts and no value of its own; `hallucination_rate_answer` is another metric
    """
    return _count_unsupported(material)


@metric("hallucination_rate_answer", better="lower")
def hallucination_rate_answer(material: Material, cutoff: int) -> Measured | None:
    """Whether the answer has at least one claim that the context does not support, or contradicts.

    Formula: 1 if at least one claim is unsupported or contradicted, else 0
    Denominator: 1; over a run the answers with verifiable claims
    Undefined: where there are no verifiable claims, or one has no label
    Source: gateline; the share of answers, where `hallucination_rate_claim` is the share of claims
    """
    counted = _count_unsupported(material)
    if counted is None:
        return None
    return Measured(_at_least_one(counted.numerator), np.ones(len(material)), counted.undefined)


def _at_least_one(count: Floats) -> Floats:
    return np.where(np.isnan(count), np.nan, (count > 0).astype(np.float64))


@dataclass(frozen=True)
class Coverage:
    """Required and forbidden claims of n records, and which of them the answers hold."""

    required: Floats
    """Number of required claims (n); NaN where none are labelled."""
    covered: Floats
    """Number of required claims covered (n); NaN where that is not known."""
    forbidden: Floats
    """Number of forbidden claims (n); NaN where none are labelled."""
    stated: Floats
    """Number of forbidden claims stated (n); NaN where that is not known."""


def _cover_claims(material: Material) -> Coverage | None:
    return material.keep("claims", lambda: _count_claims(material))


def _count_claims(material: Material) -> Coverage | None:
    covered = material.of_output("covered_claims", read_claims)
    stated = material.of_output("stated_forbidden_claims", read_claims)
    required, forbidden = (material.golden.claims(f"{kind}_claims") for kind in ("required", "forbidden"))
    if (required is None and forbidden is None) or (covered is None and stated is None):
        return None
    wanted, refused = material.of_question(required), material.of_question(forbidden)
    return Coverage(
        required=numbers([None if claims is None else len(claims) for claims in wanted]),
        covered=count_among(material, wanted, covered, "covers"),
        forbidden=numbers([None if claims is None else len(claims) for claims in refused]),
        stated=count_among(material, refused, stated, "states"),
    )


def count_among(
    material: Material,
    wanted: list[dict[str, str] | None],
    given: list[dict[str, str] | None] | None,
    verb: str,
) -> Floats:
    """Return how many of the wanted items each output has (n), NaN where it does not say.

    An InputError names an item that the golden set doesn't have: then the labels are of another set.
    """
    counts = np.full(len(material), np.nan)
    for row, (items, found) in enumerate(zip(wanted, given or [None] * len(material), strict=True)):
        if found is None:
            continue
        unknown = [name for name in found if name not in (items or {})]
        if unknown:
            raise material.refuse(row, f"{verb} '{unknown[0]}', which the golden set does not list for it")
        counts[row] = len(found)
    return counts


@metric("answer_correct")
def answer_correct(material: Material, cutoff: int) -> Measured | None:
    """Whether the answer covers all required claims and states no forbidden one.

    Formula: 1 if all required claims are covered and no forbidden claim is stated, else 0
    Denominator: 1; over a run the questions with required or forbidden claims
    Undefined: where the question has neither, or the output does not say what it covers or states
    Source: gateline; strict, where `answer_coverage` is partial
    """
    found = _cover_claims(material)
    if found is None:
        return None
    wants, refuses = np.nan_to_num(found.required) > 0, np.nan_to_num(found.forbidden) > 0
    fails = (wants & (found.covered < found.required)) | (refuses & (found.stated > 0))
    unknown = (wants & np.isnan(found.covered)) | (refuses & np.isnan(found.stated))
    undefined: list[tuple[str, Flags]] = [
        (NO_OUTPUT, ~material.has_output),
        (NO_REFERENCE, ~wants & ~refuses),
        ("which claims the answer holds was not recorded", unknown & ~fails),
    ]
    return Measured((~fails).astype(np.float64), np.ones(len(material)), undefined)


@metric("answer_coverage", counts=("covered_claims", "required_claims"))
def answer_coverage(material: Material, cutoff: int) -> Measured | None:
    """The share of the required claims that the answer covers.

    Formula: required claims covered / required claims
    Denominator: the required claims of the question
    Undefined: where the question requires no claim, or the output does not say what it covers
    Source: gateline; the partial form of `answer_correct`
    """
    found = _cover_claims(material)
    if found is None or not (found.required > 0).any():
        return None
    undefined = [
        (NO_OUTPUT, ~material.has_output),
        ("no required claims", ~(found.required > 0)),
        ("which claims the answer covers was not recorded", np.isnan(found.covered)),
    ]
    return Measured(found.covered, found.required, undefined)


def _read_factual(value: object) -> tuple[float, float, float]:
    if not isinstance(value, dict) or not {"tp", "fp", "fn"} <= value.keys():
        raise UnfitLabelError("must be an object with tp, fp and fn")
    counts = [value[name] for name in ("tp", "fp", "fn")]
    if any(isinstance(count, bool) or not isinstance(count, int | float) or count < 0 for count in counts):
        raise UnfitLabelError("must hold counts, 0 or more, under tp, fp and fn")
    return float(counts[0]), float(counts[1]), float(counts[2])


def _count_facts(material: Material) -> tuple[Floats, Floats, Floats] | None:
    """Return true positives, false positives and false negatives (n each), NaN where they are not known."""
    given = material.of_output("factual", _read_factual)
    if given is not None:
        rows = [(np.nan,) * 3 if counts is None else counts for counts in given]
        return tuple(np.array(rows, np.float64).reshape(-1, 3).T)  # type: ignore[return-value]
    statements, found = all_statements(material), _cover_claims(material)
    if statements is None or found is None or not (found.required > 0).any():
        return None
    if not any(one.correct is not None for said in statements for one in said or []):
        return None
    known = [
        None if said is None or any(one.correct is None for one in said) else said for said in statements
    ]
    right = numbers([None if said is None else sum(bool(one.correct) for one in said) for said in known])
    wrong = numbers([None if said is None else sum(not one.correct for one in said) for said in known])
    return right, wrong, found.required - found.covered


@metric("factual_f1", counts=("factual_twice_right", "factual_all"))
def factual_f1(material: Material, cutoff: int) -> Measured | None:
    """The harmonic mean of how much of the answer is right and how much of the reference it says.

    Formula: 2·TP / (2·TP + FP + FN)
    Denominator: 2·TP + FP + FN: right and wrong statements of the answer, and missed claims of the reference
    Undefined: where there are no claims on both sides, or a label is missing
    Source: van Rijsbergen 1979, chapter 7; Ragas 0.4, answer correctness
    """
    counted = _count_facts(material)
    if counted is None:
        return None
    right, wrong, missed = counted
    total = 2 * right + wrong + missed
    undefined = [
        (NO_OUTPUT, ~material.has_output),
        ("right, wrong and missed claims were not recorded", np.isnan(total)),
        ("no claims on both sides", total == 0),
    ]
    return Measured(2 * right, total, undefined)


def _read_similarity(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnfitLabelError("must be a number")
    return float(value)


@metric("answer_correctness", weights=f"factual_f1 {F1_WEIGHT}, similarity {1 - F1_WEIGHT}")
def answer_correctness(material: Material, cutoff: int) -> Measured | None:
    """A weighted mean of `factual_f1` and the similarity of the answer to the reference.

    Formula: w·F1 + (1 − w)·similarity, with w = 0.75
    Denominator: 1
    Undefined: where the F1 is, or no similarity was recorded
    Source: Ragas 0.4, answer correctness
    Beware: the weights stand in the result's header, and runs of other weights can't be compared
    """
    f1, similarity = factual_f1(material, cutoff), material.of_output("similarity", _read_similarity)
    if f1 is None or similarity is None:
        return None
    likeness = numbers(similarity)
    value = F1_WEIGHT * f1.value + (1 - F1_WEIGHT) * likeness
    undefined = [*f1.undefined, ("no similarity was recorded", np.isnan(likeness))]
    return Measured(value, np.ones(len(material)), undefined)
