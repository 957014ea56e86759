"""From how many questions on a slice is judged: as few as still show a great loss, and which slices stay below.

The default asks for 30. A slice that matters is often smaller, and one that is not judged can fall unseen. Nothing here
makes a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateline.proposal.choices import FEWEST_IN_SLICE
from gateline.proposal.selection import Chosen
from gateline.proposal.tolerances import loss_shown_of_most

FEWEST_TO_JUDGE = 10
"""Questions of a slice below which nothing is asked of it, whatever an interval says: three of them are an anecdote."""

SHARE_SHOWN = 0.75
"""Share of what a slice has whose loss must be shown. One that is not judged is named where it plainly fell, so that
judging it must not see less."""


@dataclass(frozen=True)
class Floor:
    """The setting `slices.at_least`, and what it leaves out."""

    at_least: int
    unjudged: dict[str, int]
    """Slice -> its questions, of those with fewer, the smallest first."""


def choose_floor(held: Sequence[tuple[Chosen, float | None]]) -> Floor:
    """Return from how many questions on slices are judged.

    `held` are the metrics that are judged slice by slice, each with its bound in the metric's unit (None for a share of
    the baseline). The floor is lowered from 30 slice by slice, as long as a loss of three quarters or more of what it
    has would be shown to be beyond the bound of one metric, at the level of a family that has all these slices.
    """
    sizes: dict[str, int] = {}
    for one, _ in held:
        for place, small in one.small.items():
            sizes[place] = max(sizes.get(place, 0), small.asked)
        for place in one.large:
            sizes[place] = FEWEST_IN_SLICE
    small_ones = {place: size for place, size in sizes.items() if size < FEWEST_IN_SLICE}
    family = len(sizes) - sum(size < FEWEST_TO_JUDGE for size in small_ones.values())
    at_least = FEWEST_IN_SLICE
    for size in sorted(set(small_ones.values()), reverse=True):
        places = [place for place, asked in small_ones.items() if asked == size]
        if size < FEWEST_TO_JUDGE or not all(_shows_a_great_loss(place, held, family) for place in places):
            break
        at_least = size
    left = {place: size for place, size in small_ones.items() if size < at_least}
    return Floor(at_least, dict(sorted(left.items(), key=lambda item: (item[1], item[0]))))


def _shows_a_great_loss(place: str, held: Sequence[tuple[Chosen, float | None]], family: int) -> bool:
    level = 1 - 0.05 / max(1, family)
    return any(
        bound is not None
        and one.metric.range is not None
        and place in one.small
        and len(one.small[place].sample) > 1
        and loss_shown_of_most(one.metric, one.small[place].sample, level, SHARE_SHOWN) > bound
        for one, bound in held
    )
