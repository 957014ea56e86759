"""`harvest` and `review`: what becomes of single questions after a verdict."""

from __future__ import annotations

import argparse
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.cli.output import print_note, write_whole
from gateline.errors import InputError, PolicyError, name_some
from gateline.files import is_there
from gateline.verdict_file import read_verdict

if TYPE_CHECKING:
    from gateline.review import Review


def run_harvest(options: argparse.Namespace) -> int:
    """Add what went wrong to a regression set; the file is written anew only where something is new."""
    from gateline.harvest import harvest, questions

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
        print_note(f"nothing new for {options.output} ({questions(found.total)})")
        return 0
    write_whole(Path(options.output), found.text)
    parts = [
        f"{len(ids)} {word} ({name_some(ids)})"
        for word, ids in (("new", found.added), ("updated", found.updated))
        if ids
    ]
    print_note(f"wrote {options.output}: {', '.join(parts) or 'in order of id'}; {questions(found.total)}")
    return 0


def run_review(options: argparse.Namespace) -> int:
    """Write the queue of samples to look at; never over a file that is there: it may hold people's labels."""
    from gateline.review import Request, review

    if is_there(options.output):
        raise InputError(
            "is there already and is not written over, it may hold labels",
            options.output,
            "name another file",
        )
    request = Request(
        number=_whole(options.number, "-n"),
        random_share=options.random_share,
        seed=_whole(options.seed, "--seed"),
        metrics=_names(options.metric),
        high_risk=_names(options.high_risk),
        thresholds=options.threshold,
        policy=options.policy,
        baseline=options.baseline,
        candidate=options.candidate,
        read_as=options.read_as,
    )
    found = review(read_verdict(options.verdict), request)
    write_whole(Path(options.output), found.text)
    picks = found.selection.picks
    parts = Counter(pick.sampling for pick in picks)
    reasons = Counter(reason for pick in picks for reason in pick.strata)
    print_note(
        f"wrote {options.output}: {len(picks)} of {found.selection.population} samples ("
        + ", ".join(f"{number} {word}" for word, number in parts.most_common())
        + f"), to be labelled: {', '.join(found.metrics)}"
    )
    if found.selection.random < found.needed:
        print_note(_say_too_few(found, len(picks)))
    if reasons:
        print_note("reasons: " + ", ".join(f"{reason} {number}" for reason, number in reasons.most_common()))
    return 0


def _say_too_few(found: Review, number: int) -> str:
    """Say that the random lines won't correct a judge, and how more are asked for."""
    random, needed, population = found.selection.random, found.needed, found.selection.population
    said = (
        f"only {random} are random, and {needed} random labels are needed to correct a judge (calibration): "
    )
    if population < needed:
        return f"{said}the run has {population} samples, so calibration.at_least must be lower"
    if number < needed:
        return f"{said}-n {needed} --random-share 100%"
    return f"{said}--random-share {math.ceil(100 * needed / number)}%"


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _whole(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise PolicyError(f"{option} must be a whole number, not '{text}'") from None
