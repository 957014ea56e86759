"""The judge held against people: how often it is wrong, in which way, and what the true number is.

Two files of labels in, an `Audit` out. Nothing here knows a policy, a gate or how anything is shown.
"""

from __future__ import annotations

from gateline.audit.matching import Question
from gateline.audit.review import Audit, review_judge

__all__ = ["Audit", "Question", "review_judge"]
