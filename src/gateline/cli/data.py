"""`inspect`, `init` and `convert`: result files without a policy."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

from gateline.cli.output import print_note, print_report, terminal_width, write_together, write_whole
from gateline.errors import InputError, PolicyError, count_of
from gateline.files import is_there
from gateline.readers import find_reader, read_run
from gateline.reports.escape import guard_json
from gateline.samples import Run


def run_inspect(options: argparse.Namespace) -> int:
    """Show what was recognised."""
    from gateline.inspection import inspect_run, render_text, to_json

    run = _read(options)
    found = inspect_run(run, options.read_as or find_reader(options.file))
    text = guard_json(to_json(found)) if options.json else render_text(found, terminal_width())
    return 0 if print_report(text) else 2


def run_init(options: argparse.Namespace) -> int:
    """Write a first policy, and a workflow on request; never over a file that is there."""
    from gateline.proposal import propose_policy, workflow_text
    from gateline.proposal.policy_text import CAUTION

    run = _read(options)
    name = (
        options.name or re.sub(r"[^A-Za-z0-9_-]+", "-", Path(options.file).stem).strip("-").lower() or "gate"
    )
    policy = Path(options.output or f"gates/{name}.yml")
    texts = {policy: propose_policy(run, name=name)}
    if options.workflow:
        if Path(options.workflow) == policy:
            raise PolicyError(f"the policy and the workflow can't both be {policy}", hint="name another file")
        texts[Path(options.workflow)] = workflow_text(policy.as_posix())
    for path in texts:
        if is_there(path):
            raise InputError(
                "is there already and is not written over", str(path), "name another file with --output"
            )
    write_together(texts)
    for path in texts:
        print_note(f"wrote {path}")
    shown, file = shlex.quote(str(policy)), shlex.quote(options.file)
    for line in texts[policy].splitlines():
        if line.startswith(CAUTION):
            print_note(line.removeprefix("# "))
    checks = texts[policy].count("CHECK")
    lines = f", above all {'the line' if checks == 1 else f'the {checks} lines'} with CHECK" if checks else ""
    print_note(f"read it{lines}, then: gateline lint {shown}")
    if options.workflow:
        print_note(f"in {options.workflow} fill in OWNER and the step Evaluate")
    print_note(f"with a new run: gateline check --policy {shown} --baseline {file} --candidate NEW_RUN")
    return 0


def run_convert(options: argparse.Namespace) -> int:
    """Write a run as gateline's own JSON Lines."""
    from gateline.convert import write_jsonl

    run = _read(options)
    write_whole(Path(options.output), "".join(write_jsonl(run)))
    print_note(f"wrote {count_of(len(run), 'record', 'records')} to {options.output}")
    return 0


def _read(options: argparse.Namespace) -> Run:
    return read_run(options.file, read_as=options.read_as, id_field=options.id)
