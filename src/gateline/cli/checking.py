"""`check` and `ci`: run the gate, write its files, print its report."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import traceback
from pathlib import Path

from gateline import gate
from gateline.cli.output import print_note, print_report, terminal_width, wants_colour, write_whole
from gateline.errors import GatelineError, PolicyError
from gateline.reports import render
from gateline.verdict import Verdict

FILES = {"verdict.json": "json", "comment.md": "markdown", "junit.xml": "junit"}
"""File in the output folder -> report that fills it."""


def run_check(options: argparse.Namespace) -> int:
    """Run the gate; files first, then the report on stdout."""
    verdict = _judge(options)
    written = _write_files(verdict, options.output_dir)
    _print(verdict, options)
    return verdict.exit_code if written else verdict.exit_code or 2


def run_ci(options: argparse.Namespace) -> int:
    """Run the gate in a CI job and tell the host; the exit code never depends on telling."""
    from gateline.hosts import find_host

    options.format, options.quiet = "text", False
    options.output_dir = options.output_dir or "gateline-out"
    verdict = _judge(options)
    written = _write_files(verdict, options.output_dir)
    _print(verdict, options)
    host = find_host(dict(os.environ))
    if host is not None:
        print_report(host.commands(verdict)) if host.commands(verdict) else None
        for trouble in host.publish(verdict, Path(options.output_dir), dict(os.environ)):
            print_note(trouble)
    if os.environ.get("GATELINE_COMMENT", "never") not in ("never", ""):
        print_note(
            "posting a comment is not part of this version; the comment is in "
            f"{Path(options.output_dir) / 'comment.md'}"
        )
    return verdict.exit_code if written else verdict.exit_code or 2


def _judge(options: argparse.Namespace) -> Verdict:
    if getattr(options, "unreadable", None):
        raise PolicyError(options.unreadable)
    on = _read_day(options.on)
    asked = gate.Options(
        fail_on=options.fail_on,
        first_run=options.first_run,
        read_as=options.read_as,
        with_excerpts=options.with_excerpts,
    )
    try:
        return gate.check(
            options.policy,
            options.baseline,
            options.candidate,
            on=on,
            base_policy=options.base_policy,
            options=asked,
        )
    except GatelineError:
        raise
    except Exception as error:
        if options.verbose >= 2:
            traceback.print_exception(error, file=sys.stderr)
        return gate.refuse_bug(
            error, options.policy, options.baseline, options.candidate, on=on, options=asked
        )


def _read_day(text: str | None) -> datetime.date:
    if text is None:
        return datetime.datetime.now(datetime.UTC).date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise PolicyError(f"--on must be a day as YYYY-MM-DD, not '{text}'") from None


def _write_files(verdict: Verdict, folder: str | None) -> bool:
    """Write the files; where that fails, say so and return false: the verdict is still printed."""
    if folder is None:
        return True
    try:
        for name, report in FILES.items():
            write_whole(Path(folder) / name, render(report, verdict))
    except GatelineError as error:
        print_note(f"the report files were not written: {error}")
        return False
    return True


def _print(verdict: Verdict, options: argparse.Namespace) -> None:
    if options.format != "text":
        print_report(render(options.format, verdict))
        if verdict.verdict == "invalid":
            for reason in verdict.because:
                print_note(f"no verdict: {reason}")
        return
    colour = wants_colour(dict(os.environ), sys.stdout.isatty())
    text = render(
        "text",
        verdict,
        width=terminal_width(),
        colour=colour,
        quiet=options.quiet,
        verbose=options.verbose > 0,
    )
    if verdict.verdict == "invalid":
        print(text.rstrip("\n"), file=sys.stderr)
    else:
        print_report(text)
