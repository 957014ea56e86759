"""Which questions of many are nearly the same, found without comparing each with each.

Two questions are alike where their words and pairs of neighbouring words overlap much (Jaccard). It says nothing of
what they mean.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

ALIKE = 0.7
"""Share of common words and pairs from which two questions count as alike: one word of ten changed is alike."""
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
"""Words; of scripts without blanks between words each sign."""

Features = frozenset[str]


def find_alike(texts: Sequence[str], least: float = ALIKE) -> list[tuple[int, int, float]]:
    """Return the pairs of texts, by place, that are alike but not equal, with their overlap; the most alike first.

    Texts must be normalised. Two that hold different numbers are about different things and never alike. The prefix
    filter is exact: Bayardo, Ma and Srikant 2007, section 4.
    """
    features = [_features(text) for text in texts]
    numbers = [_numbers(text) for text in texts]
    common = Counter(feature for known in features for feature in known)
    holders: dict[str, list[int]] = defaultdict(list)
    found: list[tuple[int, int, float]] = []
    for place, known in enumerate(features):
        rare_first = sorted(known, key=lambda feature: (common[feature], feature))
        prefix = rare_first[: len(known) - math.ceil(least * len(known)) + 1] if known else []
        candidates = {other for feature in prefix for other in holders[feature]}
        for other in candidates:
            if texts[other] == texts[place] or numbers[other] != numbers[place]:
                continue
            overlap = _overlap(known, features[other])
            if overlap >= least:
                found.append((other, place, overlap))
        for feature in prefix:
            holders[feature].append(place)
    return sorted(found, key=lambda pair: (-pair[2], pair[0], pair[1]))


def _features(text: str) -> Features:
    words = _WORDS.findall(text)
    return frozenset(words) | {f"{first} {second}" for first, second in pairwise(words)}


def _numbers(text: str) -> Features:
    return frozenset(word for word in _WORDS.findall(text) if any(sign.isdigit() for sign in word))


def _overlap(first: Features, second: Features) -> float:
    both = len(first & second)
    return both / (len(first) + len(second) - both)
