"""`harvest` and `review`: what becomes of single questions after a verdict."""

from __future__ import annotations

import argparse
from pathlib import Path

from gateline.cli.output import print_note, write_whole
from gateline.errors import name_some
from gateline.verdict_file import read_verdict


def run_harvest(options: argparse.Namespace) -> int:
    """Add what went wrong to a regression set; the file is written anew only where something is new."""
    from gateline.harvest import harvest

    found = harvest(
        read_verdict(options.verdict),
        options.output,
        golden=options.golden,
        candidate=options.candidate,
        worse_by=options.worse_by,
    )
    for notice in found.notices:
        print_note(notice)
    if not found.changed:
        print_note(f"nothing new for {options.output} ({found.total} questions)")
        return 0
    write_whole(Path(options.output), found.text)
    parts = [
        f"{len(ids)} {word} ({name_some(ids)})"
        for word, ids in (("new", found.added), ("seen again", found.seen_again))
        if ids
    ]
    print_note(f"wrote {options.output}: {', '.join(parts) or 'in order of id'}; {found.total} questions")
    return 0
