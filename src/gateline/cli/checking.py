"""`check`, and what it shares with `ci`: run the gate, write its files, print its report."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from gateline import gate
from gateline.cli.earlier import FILES, remove_reports
from gateline.cli.grounds import Place, find_grounds
from gateline.cli.output import (
    print_error,
    print_note,
    print_report,
    print_trace,
    terminal_width,
    wants_colour,
    write_together,
)
from gateline.cli.overwriting import refuse_overwriting
from gateline.errors import MOST_PROBLEMS, GatelineError, InputError, PolicyError
from gateline.reports import render
from gateline.verdict import Verdict


def run_check(options: argparse.Namespace) -> int:
    """Run the gate; files first, then the report on stdout."""
    return run_gate(options)[1]


def run_gate(
    options: argparse.Namespace, kinds: Mapping[str, str] = FILES, place: Place | None = None
) -> tuple[Verdict, int]:
    """Judge, write, print; a pass whose files or report could not be written is no pass.

    `kinds` says which report fills which file of the output folder; `place` is the host's job, where there is one.
    The reports of an earlier run stay until the new ones take their places: whenever the process is killed, each is
    the old one or the new one. A run that ends by itself leaves no old pass behind, whatever went wrong.
    """
    names = {**FILES, **kinds}
    folder = options.output_dir
    try:
        refuse_overwriting(options, [] if folder is None else [Path(folder) / name for name in names])
    except InputError as error:
        options = argparse.Namespace(**{**vars(options), "output_dir": None})
        verdict = _give_up(error, options)
    else:
        verdict = _judge(options, place)
    try:
        report, files = _render(verdict, options, kinds)
    except Exception as error:
        verdict = _give_up(error, options)
        report, files = verdict.to_json(), {"verdict.json": verdict.to_json()}
    written = _write_files(files, options.output_dir, names)
    printed = _print(report, verdict, options)
    return verdict, verdict.exit_code if written and printed else verdict.exit_code or 2


def _judge(options: argparse.Namespace, place: Place | None) -> Verdict:
    if options.unreadable:
        return _give_up(PolicyError(options.unreadable), options)
    try:
        on = _read_day(options.on)
        with find_grounds(options, place) as grounds:
            verdict = gate.check(
                options.policy,
                grounds.baseline,
                options.candidate,
                on=on,
                base_policy=grounds.base.policy,
                touched=grounds.base.touched,
                options=_asked(options),
            )
        return grounds.add_to(verdict)
    except Exception as error:
        return _give_up(error, options)


def _give_up(error: Exception, options: argparse.Namespace) -> Verdict:
    """Return the verdict that there is none, because of an option or of a fault in gateline itself."""
    if not isinstance(error, GatelineError):
        print_trace(error, options.verbose)
    try:
        on = _read_day(options.on)
    except PolicyError:
        on = _read_day(None)
    return gate.give_up(
        error, options.policy, options.baseline, options.candidate, on=on, options=_asked(options)
    )


def _asked(options: argparse.Namespace) -> gate.Options:
    return gate.Options(
        fail_on=options.fail_on,
        first_run=options.first_run,
        require_fresh=options.require_fresh,
        read_as=options.read_as,
        with_excerpts=options.with_excerpts,
    )


def _read_day(text: str | None) -> datetime.date:
    if text is None:
        return datetime.datetime.now(datetime.UTC).date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise PolicyError(f"--on must be a day as YYYY-MM-DD, not '{text}'") from None


def _render(
    verdict: Verdict, options: argparse.Namespace, kinds: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Return the report for stdout and the texts of the files, all before anything is written."""
    files = (
        {}
        if options.output_dir is None
        else {name: render(kind, verdict, language=options.lang) for name, kind in kinds.items()}
    )
    if options.format != "text":
        return render(options.format, verdict, language=options.lang), files
    report = render(
        "text",
        verdict,
        width=terminal_width(),
        colour=wants_colour(dict(os.environ), sys.stdout.isatty()),
        quiet=options.quiet,
        verbose=options.verbose > 0,
        with_files=options.output_dir is not None,
        language=options.lang,
    )
    return report, files


def _write_files(files: Mapping[str, str], folder: str | None, names: Iterable[str]) -> bool:
    """Write the files; where that fails, say so and return false: the verdict is still printed.

    Of `names`, the reports there can be, those of an earlier run go which no new one replaced.
    """
    if folder is None:
        return True
    try:
        write_together({Path(folder) / name: text for name, text in files.items()})
    except (GatelineError, OSError, ValueError) as error:
        remove_reports(folder, names)
        print_note(f"the report files were not written: {error}")
        return False
    remove_reports(folder, [name for name in names if name not in files])
    return True


def _print(report: str, verdict: Verdict, options: argparse.Namespace) -> bool:
    """Print the report; a verdict that there is none goes to stderr, as every error does."""
    if verdict.verdict == "invalid" and options.format == "text":
        print_error(report)
        return True
    printed = print_report(report)
    if verdict.verdict == "invalid":
        for reason in verdict.because[:MOST_PROBLEMS]:
            print_note(f"no verdict: {reason}")
        if len(verdict.because) > MOST_PROBLEMS:
            print_note(f"no verdict: and {len(verdict.because) - MOST_PROBLEMS:,} more")
    return printed
