"""`score` and `golden`: metrics from labels, and what a golden set is worth."""

from __future__ import annotations

import argparse
from pathlib import Path

from gateline.cli.output import print_note, print_report, terminal_width, write_whole
from gateline.errors import count_of
from gateline.reports.escape import guard_json


def run_score(options: argparse.Namespace) -> int:
    """Compute all metrics that the labels allow, write the run, and show its means."""
    from gateline.convert import write_jsonl
    from gateline.golden import read_golden, read_records
    from gateline.scoring import read_cutoffs, score
    from gateline.scoring._summary import render_summary, tell_left_out

    cutoffs = read_cutoffs(options.k)
    golden = read_golden(options.golden, id_field=options.id)
    outputs = read_records(options.outputs, id_field=options.id)
    scores = score(golden, outputs, cutoffs)
    write_whole(Path(options.output), "".join(write_jsonl(scores.run)))
    for warning in scores.run.warnings:
        print_note(f"{scores.run.file}: {warning}")
    for sentence in tell_left_out(scores):
        print_note(sentence)
    print_note(f"wrote {count_of(len(scores.run), 'record', 'records')} to {options.output}")
    return 0 if print_report(render_summary(scores)) else 2


def run_golden(options: argparse.Namespace) -> int:
    """Check golden sets; what makes every metric wrong ends with exit code 1."""
    from gateline.cli.golden_text import render_text, to_json
    from gateline.golden.quality import review

    found = review(options.files, id_field=options.id)
    if not print_report(guard_json(to_json(found)) if options.json else render_text(found, terminal_width())):
        return 2
    return 1 if found.errors else 0
