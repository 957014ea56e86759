"""What belongs to an interval beside its numbers, by a key; the sentence for it stands elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Note:
    """One thing that a reader of an interval should know."""

    key: str
    """Which: a key of the catalogue of texts."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The numbers in it, as they are shown."""
