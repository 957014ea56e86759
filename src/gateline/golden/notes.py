"""What a check of golden sets says: an error or a warning, with the questions concerned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Note:
    """One thing to mend or to know."""

    level: Literal["error", "warning"]
    check: str
    """Short name of the check, such as `leak`."""
    message: str
    """What was found."""
    ids: list[str] = field(default_factory=list)
    """Ids of the questions concerned."""
    where: str = ""
    """File, with the line where there is one."""
