"""What a gate is judged on: the baseline and the base branch's policy, and in the verdict, where they came from."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gateline.baselines import Baseline, find_baseline, say_missing
from gateline.cli.output import write_together
from gateline.conclusion import add_notices
from gateline.errors import HostError, PolicyError
from gateline.policy import PolicyFile
from gateline.remark import said
from gateline.verdict import Origin, Verdict

if TYPE_CHECKING:
    from gateline.hosts import Job


class Speaker(Protocol):
    """Takes notes for people."""

    def say(self, text: str) -> None:
        """Show a note."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a gate is run: the host's job, and how it is told what did not work."""

    job: Job
    notes: Speaker


@dataclass(frozen=True, slots=True)
class Grounds:
    """What was found."""

    baseline: str | None = None
    shown_as: str | None = None
    """What the verdict calls the baseline's file, where its path is gone after the run."""
    base_policy: str | PolicyFile | None = None
    origin: Origin | None = None
    notices: tuple[str, ...] = ()

    def add_to(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the baseline's origin and with the notices."""
        verdict = add_notices(verdict, self.notices)
        if verdict.baseline is None:
            return verdict
        origin = self.origin and self.origin.model_copy(update={"age": _age(self.origin, verdict)})
        facts = {"origin": origin, "file": self.shown_as or verdict.baseline.file}
        return verdict.model_copy(update={"baseline": verdict.baseline.model_copy(update=facts)})


@contextlib.contextmanager
def find_grounds(options: argparse.Namespace, place: Place | None) -> Iterator[Grounds]:
    """Find what a gate is judged on; what was fetched lies in the output folder, or is there only for the while.

    Raises InputError where the baseline can't be had, and not knowing is not the same as having none.
    """
    found = find_baseline(options.baseline, options.candidate, place.job if place else None)
    if found.missing and found.path is None and not options.first_run:
        raise say_missing(found)
    base_policy, notices = _find_base_policy(options, place)
    if found.missing and options.first_run:
        notices = (said("notice.no-baseline-yet", reason=found.missing), *notices)
        yield Grounds(base_policy=base_policy, notices=notices)
        return
    with contextlib.ExitStack() as stack:
        path, shown_as = found.path, None
        if found.content is not None:
            folder = options.output_dir
            if folder is None:
                folder, shown_as = stack.enter_context(tempfile.TemporaryDirectory()), options.baseline
            path = _write(found, Path(folder) / "baseline")
        yield Grounds(path, shown_as, base_policy, found.origin, notices)


def _write(found: Baseline, folder: Path) -> str:
    assert found.content is not None
    path = folder / found.name
    write_together({path: found.content})
    return path.as_posix()


def _find_base_policy(
    options: argparse.Namespace, place: Place | None
) -> tuple[str | PolicyFile | None, tuple[str, ...]]:
    """Return the base branch's policy as it was given or as the host has it, and what people should know of it."""
    if options.base_policy is not None or place is None:
        return options.base_policy, ()
    from gateline.baselines.base_policy import find_base_policy

    try:
        if place.job.base_commit is None:
            return None, ()
        found = find_base_policy(options.policy, place.job)
    except HostError as error:
        place.notes.say(
            f"the base branch's policy can't be had, so it is not known whether this change loosens it: {error}"
        )
        return None, ()
    except PolicyError as error:
        return None, (said("notice.base-policy-unreadable", reason=str(error)),)
    if found is None:
        return None, (said("notice.no-base-policy", file=str(options.policy)),)
    return found, ()


def _age(origin: Origin, verdict: Verdict) -> int | None:
    """Return the days from the making of a run to the day that is judged on; None where one of them is not known."""
    try:
        made = datetime.date.fromisoformat(origin.made_on or "")
        return (datetime.date.fromisoformat(verdict.judged_on) - made).days
    except ValueError:
        return None
