"""`doctor`: examines a gate on a user's own data."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from gateline.cli.output import print_note, print_report, terminal_width, write_whole
from gateline.errors import InputError
from gateline.policy import load_policy

_BAR = 30


def run_doctor(options: argparse.Namespace) -> int:
    """Print false alarms, power and checks that can't decide; 0 where all was examined, 2 where it could not be."""
    from gateline.doctor import Plan, examine
    from gateline.doctor.text import render_text

    plan = Plan(
        copies=_read_count("--copies", options.copies, 1),
        seed=_read_count("--seed", options.seed, 0),
        redone=_read_share(options.redone),
    )
    policy = load_policy(options.policy)
    progress = _Bar().show if sys.stderr.isatty() else None
    found = examine(policy, options.baseline, options.candidate, plan, progress)
    if options.output:
        from gateline.doctor.page import render_page

        write_whole(Path(options.output), render_page(found))
        print_note(f"wrote {options.output}")
    text = (
        found.model_dump_json(by_alias=True, indent=2)
        if options.json
        else render_text(found, terminal_width())
    )
    return 0 if print_report(text) else 2


class _Bar:
    """A line on the terminal that says how far the work is and about how long it still takes."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def show(self, done: int, of: int) -> None:
        """Draw it again; the last time it goes away."""
        passed = time.monotonic() - self._start
        filled = _BAR * done // of
        left = f"{passed * (of - done) / done:.0f} s left" if done < of else ""
        line = f"\r{'█' * filled}{'·' * (_BAR - filled)} {done}/{of}  {left:<12}"
        sys.stderr.write(line if done < of else "\r" + " " * len(line) + "\r")
        sys.stderr.flush()


def _read_count(name: str, text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= 1_000_000):
        raise InputError(f"{name} is '{text}'; it must be a whole number from {least} to 1,000,000")
    return int(text)


def _read_share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 < share <= 1.0:
        raise InputError(f"--redone is '{text}'; it must be a share above 0 and at most 1, such as 0.1")
    return share
