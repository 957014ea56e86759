"""How files of promptfoo begin: its JSON, a line of its JSON Lines, the header of its CSV, its plain XML.

Every check looks at these for every file, so nothing else of promptfoo is imported here.
"""

from __future__ import annotations

import csv
import io

from gateline.readers._shape import Shape
from gateline.readers._source import HEAD_BYTES, without_mark

BLOCK = ["Status", "Score", "Named Scores"]
"""Names of the columns of a pair of provider and prompt, behind that of its output."""
DUMP = b"<promptfoo>"


def is_summary(shape: Shape) -> bool:
    """Say whether this is the JSON of an evaluation."""
    inner = shape.inner.get("results", frozenset())
    others = {"timestamp", "prompts", "results", "table"}
    # Where keys are sorted, the version stands behind the results, and the evaluation's id before them.
    is_known = "version" in inner or "evalId" in shape.keys
    return shape.kind == "object" and is_known and not inner.isdisjoint(others)


def is_line(shape: Shape) -> bool:
    """Say whether this is a single result."""
    return (
        shape.kind == "object"
        and {"gradingResult", "namedScores"} <= shape.keys
        and not shape.keys.isdisjoint({"promptIdx", "promptId", "testIdx"})
    )


def is_table(head: bytes) -> bool:
    """Say whether a file begins with the header of promptfoo's CSV."""
    begin = without_mark(head)[:HEAD_BYTES]
    if b"Named Scores" not in begin:
        return False
    try:
        names = next(csv.reader(io.StringIO(begin.decode("utf-8", "replace"), newline="")), [])
    except csv.Error:
        return False
    return any(names[place : place + 3] == BLOCK for place in range(len(names)))
