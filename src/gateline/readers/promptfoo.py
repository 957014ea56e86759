"""promptfoo: the JSON, JSON Lines or CSV that `promptfoo eval -o` writes.

A record is one test, answered by one provider to one prompt; tests that `--repeat` ran again are attempts.
"""

from __future__ import annotations

from pathlib import Path

from gateline.readers._promptfoo_header import DUMP, is_line, is_summary, is_table
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.samples import Run

NAME = "promptfoo"


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a result of promptfoo: its JSON, a line of its JSON Lines, its CSV, or its plain XML."""
    shape = shape_of(head)
    if shape.kind:
        return is_summary(shape) or is_line(shape)
    return is_table(head) or DUMP in without_mark(head)[:200]


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each answer to a test; an InputError where the file has no results of single tests."""
    from gateline.readers._promptfoo_run import read_file

    return read_file(source, options)
