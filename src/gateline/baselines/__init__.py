"""Where the baseline lives: a path, an artifact of an earlier run, or a file at a git revision.

    results/baseline.jsonl                      a path, as it stands
    artifact:results                            the only file of that artifact, or the one named like the candidate
    artifact:results:run/answers.jsonl          that file of the artifact
    git:origin/main:runs/main.jsonl             the file at that revision

Having none yet is one thing, not being able to tell is another: only the first may pass as a first run. It judges
and writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from gateline.errors import GatelineError, HostError, InputError
from gateline.files import find_matches, is_surely_absent
from gateline.remark import list_some, said
from gateline.verdict import Origin

if TYPE_CHECKING:
    from gateline.hosts import Job

_PLACE = "--baseline"
_FORMS = "write a path, artifact:NAME, artifact:NAME:PATH or git:REVISION:PATH"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline that was asked for, as far as it could be found."""

    path: str | None = None
    """Where it lies already."""
    content: bytes | None = None
    """What was fetched, where it lies nowhere yet."""
    name: str = ""
    """A harmless file name for what was fetched."""
    origin: Origin | None = None
    missing: str = ""
    """Why there is none yet; empty where there is one, or where none was asked for."""


def find_baseline(setting: str | None, candidate: str, job: Job | None) -> Baseline:
    """Return the baseline that a setting names; `candidate` is the file that it is to be compared with.

    Raises InputError where the setting can't be understood, or it can't be found out whether there is a baseline.
    """
    if setting is None:
        return Baseline()
    if "\n" in setting:
        return _from_paths(setting)
    kind, _, rest = setting.partition(":")
    try:
        if kind == "artifact":
            return _from_artifact(setting, rest, candidate, job)
        if kind == "git":
            return _from_git(setting, rest)
    except HostError as error:
        hint = error.problems[0].hint
        raise InputError(f"{setting} can't be fetched: {error.headline}", _PLACE, hint) from None
    return _from_paths(setting)


def _from_paths(setting: str) -> Baseline:
    """Return one path, a pattern, or several on lines of their own; missing is only what surely has none of its files.

    What is there and can't be read is for the reader to refuse: it is no first run.
    """
    paths = [line for line in setting.splitlines() if line.strip()]
    fetched = [path for path in paths if path.startswith(("artifact:", "git:"))]
    if fetched:
        raise InputError(
            f"{fetched[0]} can't be joined with other files", _PLACE, "name it alone, or fetch it first"
        )
    found = any(not is_surely_absent(path) or find_matches(path) for path in paths)
    return Baseline(path=setting, missing="" if found else said("missing.not-there", paths=paths))


def _from_artifact(setting: str, rest: str, candidate: str, job: Job | None) -> Baseline:
    from gateline.hosts._artifact import take_file

    name, _, path = rest.partition(":")
    if not name:
        raise InputError(f"{setting}: an artifact needs a name", _PLACE, _FORMS)
    if job is None:
        raise InputError(
            f"{setting} can be fetched in a job of GitHub Actions or GitLab CI only",
            _PLACE,
            "download it, and give its path",
        )
    artifact = job.fetch_artifact(name)
    if artifact is None:
        return Baseline(missing=said("missing.no-artifact", branch=str(job.base_branch), name=name))
    inside, content = take_file(artifact, path or None, Path(candidate.partition("\n")[0]).name)
    origin = Origin(
        source=setting,
        branch=artifact.branch,
        commit=artifact.commit,
        made_on=artifact.made_on,
        run=artifact.run,
    )
    return Baseline(content=content, name=_harmless_name(inside), origin=origin)


def _from_git(setting: str, rest: str) -> Baseline:
    from gateline.git import read_at

    revision, _, path = rest.partition(":")
    if not revision or not path:
        raise InputError(f"{setting}: a file in git needs a revision and a path", _PLACE, _FORMS)
    found = read_at(revision, path)
    origin = Origin(source=setting, commit=found.commit, made_on=found.made_on)
    if found.content is None:
        return Baseline(missing=said("missing.not-at-revision", path=path, revision=revision))
    return Baseline(content=found.content, name=_harmless_name(path), origin=origin)


def _harmless_name(path: str) -> str:
    """Return the last part of a path as a file name that can't lead anywhere."""
    name = re.sub(r"[^\w.-]", "_", PurePosixPath(path.replace("\\", "/")).name, flags=re.ASCII).lstrip(".")
    return name[-80:] or "baseline"


def say_gone(files: Sequence[str]) -> GatelineError:
    """Return the error of a baseline that the change itself takes away: that is no first run."""
    return InputError(
        said("problem.baseline-gone", files=list_some(files, 3)), _PLACE, said("hint.baseline-gone")
    )


def say_missing(baseline: Baseline) -> GatelineError:
    """Return the error of a baseline that is not there, where that was not allowed."""
    return InputError(
        said("problem.no-baseline-yet", reason=baseline.missing),
        _PLACE,
        said("hint.no-baseline-yet"),
    )
