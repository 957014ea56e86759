"""Refusals: whether the system declines where it should, and answers where it could.

Both need questions of the golden set to be labelled `answerable`, and outputs to say whether they `refused`.
"""

from __future__ import annotations

import numpy as np

from gateline.golden.labels import read_truth
from gateline.scoring._definitions import Measured, flags, metric
from gateline.scoring._material import Material
from gateline.scoring._truths import NO_OUTPUT


def _count_refusals(material: Material, *, answerable: bool) -> Measured | None:
    """Return whether each output refused, over the questions that are answerable or not."""
    refused = material.of_output("refused", read_truth)
    labels = material.golden.answerable
    if refused is None or labels is None or answerable not in labels:
        return None
    known = material.of_question(labels)
    other = "the question is unanswerable" if answerable else "the question is answerable"
    undefined = [
        ("not labelled as answerable or not", flags([label is None for label in known])),
        (other, flags([label is not None and label != answerable for label in known])),
        (NO_OUTPUT, ~material.has_output),
        ("whether it refused was not recorded", flags([answer is None for answer in refused])),
    ]
    return Measured(flags(refused).astype(np.float64), np.ones(len(material)), undefined)


@metric("refused_correctly")
def refused_correctly(material: Material, cutoff: int) -> Measured | None:
    """Whether the system declined to answer a question that the sources don't answer.

    Formula: 1 if refused, else 0
    Denominator: 1; over a run the unanswerable questions
    Undefined: where the question is answerable or not labelled, or the output does not say whether it refused
    Source: Rajpurkar, Jia and Liang 2018 (SQuAD 2.0): unanswerable questions
    Beware: without unanswerable questions in the golden set nothing is known of refusals
    """
    return _count_refusals(material, answerable=False)


@metric("refused_wrongly", better="lower")
def refused_wrongly(material: Material, cutoff: int) -> Measured | None:
    """Whether the system declined to answer a question that the sources do answer.

    Formula: 1 if refused, else 0
    Denominator: 1; over a run the answerable questions
    Undefined: where the question is unanswerable or not labelled, or the output does not say whether it refused
    Source: Röttger et al. 2024 (XSTest): exaggerated refusals
    """
    return _count_refusals(material, answerable=True)
