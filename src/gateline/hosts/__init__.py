"""Where a job runs: one file a host, found by looking through this folder; files that begin with `_` are shared parts.

A host sees finished texts, the environment, and what git says of the job's commit; it makes no text from a verdict.
What it can't tell is a note, never another exit code.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from gateline.hosts._artifact import Artifact
    from gateline.hosts._sticky import Order, Thread
    from gateline.texts import Texts

    Whose = Callable[[Texts], str]
    """Says whose run made a verdict, as finished Markdown in a language; empty where it was this one."""


class Job(Protocol):
    """A job on a host; what a file of this folder defines under this name, beside `here`."""

    name: str
    """The host's name."""
    comment_limit: int
    """Characters of a comment."""
    command_report: str | None
    """The report whose text the host reads on standard output."""
    reports: Mapping[str, str]
    """Further files for the output folder -> report that fills them."""

    def whole(self, texts: Texts) -> str:
        """Return where the whole report is, as finished Markdown in a language."""

    @property
    def base_branch(self) -> str | None:
        """Return the branch that the change goes to."""

    @property
    def base_commit(self) -> str | None:
        """Return the revision of that branch before the change; None where the job is not about a change.

        Raises HostError where the job names what can't be one.
        """

    @property
    def judged_commit(self) -> str | None:
        """Return the newest commit of the change that this job judges, as finished Markdown.

        None where it is not known, where the job is about no change, and where another run's verdict is posted, whose
        commit is told with it.
        """

    @property
    def order(self) -> Order | None:
        """Return the place of the run that made the verdict among all runs; None where the host does not say."""

    def open_thread(self) -> Thread | None:
        """Return the comments under the change; None where the job is not about one. Raises HostError."""

    def open_thread_of_run(self) -> tuple[Thread, Whose] | None:
        """Return the comments under the change whose run made a verdict, and whose run that was.

        None where the job is about no change. Raises HostError where it can't be told which change it is.
        """

    def explain(self, trouble: str, status: int | None) -> str:
        """Return why a comment could not be posted, and what to do about it."""

    def room_for_summary(self) -> int | None:
        """Return how many bytes of summary the host still takes; None where it shows none."""

    def write_summary(self, text: str) -> None:
        """Add to the job's summary. Raises HostError."""

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """Hand values to later steps. Raises HostError."""

    def warning(self, text: str) -> str:
        """Return the line of the job's log that people are shown for a note."""

    def read_base_file(self, path: str) -> bytes | None:
        """Return a file of the base branch; None where that has none, or there is no base. Raises HostError."""

    def list_base_folder(self, path: str) -> list[str]:
        """Return the names of the files in a folder of the base branch; none where it has none. Raises HostError."""

    def fetch_artifact(self, name: str) -> Artifact | None:
        """Return the artifact of the last successful run on the base branch; None where there is none yet.

        Raises HostError where that can't be found out.
        """


def find_host(environment: Mapping[str, str]) -> Job | None:
    """Return the job that the environment speaks of, or None."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            host: Any = importlib.import_module(f"{__name__}.{module.name}")
            if host.here(environment):
                job: Job = host.Job(environment)
                return job
    return None
