"""Lists of truth labels, such as which statements a context supports, to counts.

A list with a label that is not known has no count: what one label would have said is never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gateline.golden.labels import UnfitLabelError, read_list, read_truth
from gateline.scoring._definitions import Measured, flags
from gateline.scoring._material import Material

NO_OUTPUT = "no output"
LABELS = ("supported", "support", "label", "verdict", "supports", "valid", "covered")
"""Names under which an object may hold its truth label."""
UNVERIFIABLE = frozenset({"unverifiable", "not verifiable", "not checkable"})


def read_label(item: object) -> object:
    """Return the label of an item: its own value, or what an object holds under one of `LABELS`."""
    if not isinstance(item, dict):
        return item
    found = [name for name in LABELS if name in item]
    if len(found) > 1 and len({str(item[name]) for name in found}) > 1:
        raise UnfitLabelError(f"has an item with {' and '.join(found)}, which differ")
    return item[found[0]] if found else None


def is_unverifiable(label: object) -> bool:
    """Return whether a label says that nothing could show whether it is so."""
    return isinstance(label, str) and label.strip().lower().replace("_", " ") in UNVERIFIABLE


def read_truths(value: object) -> list[bool | None]:
    """Return the truth labels of a list; one that can't be verified is false."""
    labels = [read_label(item) for item in read_list(value)]
    return [False if is_unverifiable(label) else read_truth(label) for label in labels]


def count_supported(
    material: Material, labels: Sequence[Sequence[bool | None] | None], what: str
) -> Measured:
    """Return the share of true labels of each record, with why there is none; `what` names the items."""
    total = np.array([np.nan if given is None else len(given) for given in labels], np.float64)
    unsure = flags([given is not None and None in given for given in labels])
    true = np.array([np.nan if given is None else sum(map(bool, given)) for given in labels], np.float64)
    true[unsure] = np.nan
    undefined = [
        (NO_OUTPUT, ~material.has_output),
        (f"no {what} were given", np.isnan(total)),
        (f"no {what}", total == 0),
        (f"a label is missing among the {what}", unsure),
    ]
    return Measured(true, total, undefined)
