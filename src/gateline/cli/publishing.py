"""Posts a verdict as a comment; `publish` does so for a verdict that another job made."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from gateline.cli.output import print_trace
from gateline.errors import HostError, InputError
from gateline.hosts import Job, find_host
from gateline.hosts._http import RefusedError
from gateline.hosts._sticky import ROOM_FOR_ORDER, Thread, Wish, keep_comment
from gateline.reports import language_of, render
from gateline.reports.escape import Commands, Markdown, terminal_text
from gateline.reports.headline import PASSED, outcome
from gateline.verdict import Verdict
from gateline.verdict_file import read_verdict

if TYPE_CHECKING:
    from gateline.hosts import Whose


MOST_VERDICTS = 10
"""Of one `publish`: each is a comment."""


class Notes:
    """Takes the errors of a `with` block and says them as notes: telling never changes a verdict or an exit code."""

    def __init__(self, job: Job, verbosity: int):
        """Take the host's job, whose own form a note has, and how much to say of a bug."""
        self._job = job
        self._verbosity = verbosity
        self._said: set[str] = set()

    def say(self, text: str) -> None:
        """Show a note to people, once: several gates have the same trouble with one host."""
        if text in self._said:
            return
        self._said.add(text)
        with contextlib.suppress(OSError):
            sys.stderr.write(Commands(self._job.warning(terminal_text(text)) + "\n"))
            sys.stderr.flush()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        if isinstance(error, HostError):
            self.say(str(error))
        else:
            print_trace(error, self._verbosity)
            self.say(f"the host could not be told, which is a bug in gateline: {type(error).__name__}")
        return True


def post_comment(job: Job, verdict: Verdict, options: argparse.Namespace, notes: Notes) -> bool:
    """Bring the gate's comment up to date; return whether it stands there now as it should."""
    if options.comment == "never":
        return False
    with notes, _explained(job, notes):
        thread = job.open_thread()
        return thread is not None and _keep(thread, job, verdict, options)
    return False


def run_publish(options: argparse.Namespace) -> int:
    """Post verdicts that another job made; 2 where one is unusable, else 0, whatever the host says.

    The pull request is the one that the event names; nothing in the files says where to post. Their number may be a
    fork's choice, so that only the first few are read and posted.
    """
    verdicts = _read_each(options.verdict[:MOST_VERDICTS])
    job = find_host(dict(os.environ))
    if job is None:
        raise InputError(
            "there is no CI host here to publish to", hint="run it in GitHub Actions or GitLab CI"
        )
    notes = Notes(job, options.verbose)
    with notes, _explained(job, notes):
        found = job.open_thread_of_run()
        if found is None:
            notes.say("no comment: this is not about a pull request")
            return 0
        thread, whose = found
        if len(options.verdict) > MOST_VERDICTS:
            more = len(options.verdict) - MOST_VERDICTS
            notes.say(f"only the first {MOST_VERDICTS} verdicts are posted, {more:,} more are left out")
        for verdict in verdicts if options.comment != "never" else []:
            with notes, _explained(job, notes):  # trouble with one is no reason to leave out the others
                _keep(thread, job, verdict, options, whose)
    return 0


def _read_each(paths: Sequence[str]) -> list[Verdict]:
    """Return the verdicts. Raises InputError where one is unusable, or two are of gates of one name."""
    verdicts: list[Verdict] = []
    for path in paths:
        verdict = read_verdict(path)
        for earlier, other in zip(paths, verdicts, strict=False):
            if other.policy.name == verdict.policy.name:
                raise InputError(
                    f"{earlier} and {path} are both verdicts of '{verdict.policy.name}'",
                    path,
                    "give each gate a name of its own: its comment is found by it",
                )
        verdicts.append(verdict)
    return verdicts


@contextlib.contextmanager
def _explained(job: Job, notes: Notes) -> Iterator[None]:
    """Say in the host's words why a comment could not be posted."""
    try:
        yield
    except HostError as error:
        notes.say(job.explain(str(error), error.status if isinstance(error, RefusedError) else None))


def _keep(
    thread: Thread, job: Job, verdict: Verdict, options: argparse.Namespace, whose: Whose | None = None
) -> bool:
    """Bring the comment up to date. Raises HostError also where a newer run has already written it."""
    texts = language_of(verdict, options.lang)
    limit = job.comment_limit - ROOM_FOR_ORDER
    body = render(
        "markdown",
        verdict,
        limit=limit,
        whole=job.whole(texts),
        preface=Markdown(whose(texts) if whose else ""),
        foot=Markdown(texts.say("run.commit", commit=job.judged_commit) if job.judged_commit else ""),
        language=options.lang,
    )
    fine = outcome(verdict) == PASSED
    done = keep_comment(thread, Wish(body, fine, options.comment, options.remove_comment, job.order))
    if done == "outdated":
        raise HostError(f"a newer run has already commented on {verdict.policy.name}, so its comment stays")
    return done in ("added", "changed", "unchanged")
