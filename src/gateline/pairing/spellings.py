"""Labels that have one value in several spellings, so that a slice is split and each part of it is smaller.

It tells and changes nothing: whether `High` is `high` is for the people who wrote both.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from gateline.pairing.labels import Labels
from gateline.pairing.settings import Terms
from gateline.remark import Said, list_some, said

_BETWEEN_WORDS = re.compile(r"(?<=[^\W\d])[\s_-]+(?=[^\W\d])|\s+")
"""What stands between two words: a blank, a hyphen, a line; between figures the last two mean something."""


def find_spellings(counts: Mapping[str, int]) -> list[dict[str, int]]:
    """Return the values (with their counts) that a person takes for one, those of each such value together.

    Capitals, blanks, how signs are composed, and what stands between words make no other value. The most frequent
    spelling comes first.
    """
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for value in counts:
        alike[_look_of(value)].append(value)
    return [
        {value: counts[value] for value in sorted(values, key=lambda value: (-counts[value], value))}
        for values in alike.values()
        if len(values) > 1
    ]


def say_spellings(found: Iterable[Mapping[str, int]]) -> list[str]:
    """Return each value that stands in several spellings as a text: `high (51) / High (9)`."""
    return [" / ".join(f"{value} ({count})" for value, count in values.items()) for values in found]


def tell_spellings(labels: Labels, terms: Terms) -> list[Said]:
    """Return a notice for each label of a slice that has one value in several spellings among the pairs.

    A named slice that lists all of them is not split.
    """
    listed: defaultdict[str, list[set[str]]] = defaultdict(list)
    for name in [*terms.slice_lines, *terms.slices.named]:
        if name not in labels.files:
            for label, values in terms.conditions(name).items():
                listed[label].append(set(values))
    notices = []
    for label in dict.fromkeys([*terms.family_labels, *listed]):
        counts = Counter(text for texts in labels.values(label) for text in texts)
        found = [
            values
            for values in find_spellings(counts)
            if label in terms.family_labels
            or any(0 < len(values.keys() & one) < len(values) for one in listed[label])
        ]
        if found:
            notices.append(said("notice.two-spellings", label=label, values=list_some(say_spellings(found))))
    return notices


def _look_of(value: str) -> str:
    """Return a value without what is easily overlooked."""
    return _BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFC", value).casefold())
