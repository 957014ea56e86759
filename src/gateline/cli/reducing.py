"""`reduce`: a log of any size to a small file of sums that `check` takes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gateline.cli.output import print_note, write_together


def run_reduce(options: argparse.Namespace) -> int:
    """Sum a log up for a policy and write the file."""
    from gateline.errors import PolicyError, count_of
    from gateline.policy import load_policy
    from gateline.reduction.engines import start_engine
    from gateline.reduction.file import to_bytes
    from gateline.reduction.plan import make_plan
    from gateline.reduction.summing import sum_up

    path = Path(options.output)
    if path.suffix not in (".parquet", ".json"):
        raise PolicyError(f"--output must end with .parquet or .json, not {path.name}")
    _refuse_reduced(options.files)
    plan = make_plan(load_policy(options.policy), groups=_read_groups(options.groups))
    engine = start_engine(options.engine, memory=options.memory)
    try:
        sums = sum_up(plan, options.files, engine)
    finally:
        engine.close()
    content = to_bytes(sums.statement, sums.columns, sums.sketches, path)
    write_together({path: content})
    records = count_of(sums.statement["records"], "record", "records")
    print_note(f"wrote {records} as {len(content):,} bytes to {path}")
    return 0


def _refuse_reduced(files: Sequence[str]) -> None:
    """Raise InputError where one of the logs is a reduced file already: there are no samples in it to sum up."""
    from gateline.errors import InputError
    from gateline.files import find_matches
    from gateline.reduced_mark import is_reduced

    for name in (one for file in files for one in find_matches(file) or [file]):
        if is_reduced(name):
            raise InputError("is a reduced file already", name, "take the log that it was made of")


def _read_groups(text: str) -> int:
    from gateline.errors import PolicyError

    if not (text.isascii() and text.isdigit()):
        raise PolicyError(f"--groups must be a whole number, not '{text}'")
    return int(text)
