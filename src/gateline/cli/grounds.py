"""What a gate is judged on: the baseline and the base branch's policy, and in the verdict, where they came from."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gateline.baselines import Baseline, find_baseline, say_gone, say_missing
from gateline.cli.output import write_together
from gateline.cli.overwriting import refuse_overwriting
from gateline.conclusion import add_notices
from gateline.errors import HostError, PolicyError
from gateline.policy import PolicyFile, load_policy
from gateline.remark import list_some, said
from gateline.verdict import Origin, PolicyChange, Verdict

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
    gone: tuple[str, ...] = ()
    """Policies that the change takes away."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Where the base branch has the policy of a gate that the change gives another file."""


@dataclass(frozen=True, slots=True)
class Base:
    """The base branch's policy, how the change touches the files that decide with it, and what is to be told."""

    policy: str | PolicyFile | None = None
    touched: tuple[PolicyChange, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grounds:
    """What was found."""

    baseline: str | None = None
    shown_as: str | None = None
    """What the verdict calls the baseline's file, where its path is gone after the run."""
    base: Base = Base()
    origin: Origin | None = None
    notices: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    """Policies that the change takes away."""

    def add_to(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the baseline's origin, the notices, and the policies that are taken away.

        What these would have said is not known, so that nothing is told of it.
        """
        verdict = add_notices(verdict, self.notices)
        if self.gone and verdict.verdict != "invalid":
            gone = [PolicyChange(path=file, base="present", now=None, loosens=True) for file in self.gone]
            policy = verdict.policy
            same = False if policy.same_as_base else policy.same_as_base
            policy = policy.model_copy(update={"changes": [*gone, *policy.changes], "same_as_base": same})
            verdict = verdict.model_copy(update={"policy": policy})
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
    others = _find_other_baseline(options.baseline, place)
    if found.missing and others and options.first_run:
        raise say_gone(others)
    if found.missing and found.path is None and not options.first_run:
        raise say_missing(found)
    with contextlib.ExitStack() as stack:

        def folder() -> Path:
            """Return where fetched files lie, made only when there are some: a container may have no such place."""
            return Path(options.output_dir or stack.enter_context(tempfile.TemporaryDirectory()))

        base = _find_base(options, place, folder)
        gone = place.gone if place else ()
        notices = (*(said("notice.policy-gone", file=file) for file in gone), *base.notices)
        if others and not found.missing:
            notices = (said("notice.other-baseline", files=list_some(others, 3)), *notices)
        if found.missing and options.first_run:
            notices = (said("notice.no-baseline-yet", reason=found.missing), *notices)
            yield Grounds(base=base, notices=notices, gone=gone)
            return
        path, shown_as = found.path, None
        if found.content is not None:
            path = _write(found, folder() / "baseline", options)
            shown_as = None if options.output_dir else options.baseline
        yield Grounds(path, shown_as, base, found.origin, notices, gone)


def _find_other_baseline(setting: str | None, place: Place | None) -> list[str]:
    """Return the files of the baseline that are not as the base branch has them; where that is not known, say so."""
    if place is None or setting is None or setting.startswith("artifact:"):
        return []
    from gateline.baselines.other_baseline import find_other_baseline

    try:
        return find_other_baseline(setting, place.job)
    except (HostError, OSError) as error:
        place.notes.say(f"it is not known whether the baseline is the base branch's: {error}")
        return []


def _write(found: Baseline, folder: Path, options: argparse.Namespace) -> str:
    assert found.content is not None
    path = folder / found.name
    refuse_overwriting(options, [path])
    write_together({path: found.content})
    return path.as_posix()


def _find_base(options: argparse.Namespace, place: Place | None, folder: Callable[[], Path]) -> Base:
    """Return the base branch's policy as it was given or as the host has it, and what people should know of it.

    That branch's text of the files which the change touches is written to a folder, so that its policy judges by them.
    """
    if options.base_policy is not None or place is None:
        return Base(options.base_policy)
    from gateline.baselines.base_policy import find_base_policy
    from gateline.baselines.touched_files import find_touched_files

    try:
        if place.job.base_commit is None:
            return Base()
        found = find_base_policy(options.policy, place.job)
        if found is None and options.policy in place.moved:
            found = find_base_policy(place.moved[options.policy], place.job)
        if found is None:
            return Base(notices=(said("notice.no-base-policy", file=str(options.policy)),))
        touched = find_touched_files(found, load_policy(options.policy), place.job)
    except HostError as error:
        place.notes.say(
            f"the base branch's policy can't be had, so it is not known whether this change loosens it: {error}"
        )
        return Base(notices=(said("notice.base-policy-out-of-reach"),))
    except PolicyError as error:
        return Base(notices=(said("notice.base-policy-unreadable", reason=str(error)),))
    inside = folder() / "base" if touched.copies else Path()
    elsewhere: dict[str, Path] = {}
    contents: dict[Path, bytes] = {}
    for number, (name, copy) in enumerate(touched.copies.items(), start=1):
        place_of = inside / str(number)
        elsewhere[name] = place_of / copy.rest
        contents |= {place_of / file: content for file, content in copy.files.items()}
    write_together(contents)
    return Base(replace(found, elsewhere=elsewhere), touched.changes)


def _age(origin: Origin, verdict: Verdict) -> int | None:
    """Return the days from the making of a run to the day that is judged on; None where one of them is not known."""
    try:
        made = datetime.date.fromisoformat(origin.made_on or "")
        return (datetime.date.fromisoformat(verdict.judged_on) - made).days
    except ValueError:
        return None
