"""What is said of a candidate that was not evaluated again, and when it gives no verdict.

It finds nothing: which records are the baseline's is for `carried`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateline.errors import NotComparable
from gateline.remark import Said, name_some, said

if TYPE_CHECKING:
    from gateline.pairing import Pairs


def tell_carried(pairs: Pairs) -> list[Said]:
    """Return notices: that both files hold the same records, or that some of the candidate's are the baseline's."""
    if not pairs.carried:
        return [said("note.identical")] if pairs.identical else []
    if pairs.identical:
        return [said("notice.not-evaluated-again")]
    return [said("notice.carried-over", **_count(pairs))]


def refuse_stale(pairs: Pairs) -> None:
    """Raise NotComparable where records of the candidate are the baseline's, for who asks for a fresh run.

    Equal records that hold nothing measured are refused too, unless the two runs state different facts of themselves:
    then nothing speaks against a second run of a deterministic system.
    """
    file = pairs.sides[-1].run.file
    if pairs.carried:
        raise NotComparable(said("problem.carried-over", **_count(pairs)), file, said("hint.carried-over"))
    if pairs.identical and not pairs.changed:
        raise NotComparable(said("problem.same-run"), file, said("hint.same-run"))


def _count(pairs: Pairs) -> dict[str, int | Said | str]:
    ids = name_some(pairs.ids[row] for row in pairs.carried)
    return {
        "file": pairs.sides[-1].run.file,
        "count": len(pairs.carried),
        "asked": len(pairs.ids),
        "ids": ids,
    }
