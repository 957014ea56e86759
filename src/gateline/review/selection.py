"""Which of N samples a person should look at: some chosen for a reason, some by chance, with known probabilities.

Chance is a hash of seed and id: the order of the samples plays no part, and the same seed chooses the same ones. It
knows no runs and no values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Sampling = Literal["random", "targeted", "fill"]


@dataclass(frozen=True)
class Pick:
    """One chosen sample."""

    id: str
    sampling: Sampling
    """random: of the simple random sample over all; targeted: for a reason; fill: by chance, in place of what both
    parts chose."""
    strata: tuple[str, ...]
    """The reasons to look at it, whether or not it was chosen for them."""
    probability: float
    """Chance of being chosen, given the targeted ones: 1 for those, the same for all others."""


@dataclass(frozen=True)
class Selection:
    """The chosen samples, in an order that is random too: whoever stops early has labelled a fair part of both."""

    picks: list[Pick]
    population: int
    random: int
    """Size of the simple random sample."""


def select(
    ids: Sequence[str], strata: Mapping[str, Sequence[str]], number: int, share: float, seed: int
) -> Selection:
    """Choose `number` of the samples `ids`, the `share` of them as a simple random sample over all.

    `strata` gives the samples of each reason, the most urgent first; they take turns until the targeted part is full.
    What they do not fill goes to the random part. Lines marked `random` are a simple random sample without replacement
    of all N; all lines together, weighted by one over their probability, estimate totals over the N without bias
    (Horvitz and Thompson 1952): the targeted ones are certain, and the others are m of the remaining N - T at random.
    """
    if number >= len(ids):
        targets: list[str] = []
        chance = len(ids)
    else:
        wanted = number - min(number, int(number * share + 0.5) or (1 if share > 0 else 0))
        targets = _take_turns(strata, wanted)
        chance = number - len(targets)
    drawn = sorted(ids, key=lambda name: hash_of(seed, "draw", name))
    random, certain = set(drawn[:chance]), set(targets)
    others = [name for name in drawn if name not in certain][:chance]
    probability = chance / (len(ids) - len(targets)) if others else 1.0
    reasons: dict[str, list[str]] = {}
    for stratum, members in strata.items():
        for name in members:
            reasons.setdefault(name, []).append(stratum)
    picks = [
        Pick(
            name,
            "random" if name in random else "targeted" if name in certain else "fill",
            tuple(reasons.get(name, ())),
            1.0 if name in certain else probability,
        )
        for name in [*targets, *others]
    ]
    picks.sort(key=lambda pick: hash_of(seed, "order", pick.id))
    return Selection(picks, len(ids), chance)


def hash_of(seed: int, purpose: str, name: str) -> str:
    """Return a number that is as good as random, as text: equal for the same seed, purpose and id alone."""
    return hashlib.sha256(f"{seed}\n{purpose}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()


def _take_turns(strata: Mapping[str, Sequence[str]], number: int) -> list[str]:
    """Return up to `number` samples, one of each stratum in turn, none twice."""
    queues = [iter(members) for members in strata.values()]
    taken: dict[str, None] = {}
    while queues and len(taken) < number:
        for queue in list(queues):
            name = next((one for one in queue if one not in taken), None)
            if name is None:
                queues.remove(queue)
            elif len(taken) < number:
                taken[name] = None
    return list(taken)
