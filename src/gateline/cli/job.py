"""`ci`: run the gates of a CI job and tell the host. The exit code is the gates' alone, whatever the host says."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateline.cli.checking import run_gate
from gateline.cli.earlier import FILES, FOLDER_OF_CI
from gateline.cli.grounds import Place
from gateline.cli.output import print_report, write_together
from gateline.cli.publishing import Notes, post_comment
from gateline.errors import HostError, InputError, PolicyError
from gateline.files import find_matches, is_there
from gateline.hosts import Job, find_host
from gateline.policy import name_of
from gateline.remark import said
from gateline.reports import render
from gateline.reports.headline import BLOCKED, NO_VERDICT, PASSED, WARNED, outcome
from gateline.verdict import Verdict

_LEAST_SUMMARY = 2_000
"""Bytes below which a summary says nothing of use."""
_LONGEST_FOLDER = 200
"""Bytes; file systems take 255, and a number may follow."""
_WORST_FIRST = (BLOCKED, NO_VERDICT, WARNED, PASSED)


@dataclass(frozen=True, slots=True)
class Gate:
    """One policy's verdict and where its files are."""

    verdict: Verdict
    folder: Path
    exit_code: int


def run_ci(options: argparse.Namespace) -> int:
    """Run all gates; 1 where one of them says no, else 2 where one has no verdict, else 0."""
    options.format, options.quiet = "text", False
    options.output_dir = options.output_dir or FOLDER_OF_CI
    job = find_host(dict(os.environ))
    place = None if job is None else _find_place(job, options)
    kinds = {**FILES, **(job.reports if job is not None else {})}
    try:
        asked = _each_gate(options)
    except PolicyError as error:
        asked = [_stop(options, error)]
        options = _with(options, comment="never")  # whose it would be is not known
    gates = []
    for one in asked:
        verdict, code = run_gate(one, kinds, place)
        gates.append(Gate(verdict, Path(one.output_dir), code))
    if job is not None:
        _tell(job, gates, options)
    codes = [gate.exit_code for gate in gates]
    return 1 if 1 in codes else max(codes)


def _stop(options: argparse.Namespace, error: PolicyError) -> argparse.Namespace:
    """Return the options of a gate that ends at once: outputs, files and summary tell its error as any other."""
    found = [setting for setting in _settings(options) if is_there(setting)]
    reasons = "; ".join(str(problem) for problem in error.problems)
    return _with(options, policy=found[0] if found else "gates", unreadable=reasons)


def _settings(options: argparse.Namespace) -> list[str]:
    settings = options.policy if isinstance(options.policy, list) else str(options.policy).splitlines()
    return [setting.strip() for setting in settings if setting.strip()]


def _each_gate(options: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the options of each policy; of several, or of a pattern, each has a folder of its own.

    A base policy that was named is the one of the gate of its name; the others' are looked up.

    Raises PolicyError where a pattern matches no file: a gate that is not there must not pass.
    """
    settings = _settings(options)
    policies: dict[str, None] = {}
    for setting in settings:
        matches = find_matches(setting)
        found = [setting] if matches is None else [path for path in matches if Path(path).is_file()]
        if not found:
            raise PolicyError(f"no policy matches {setting}", setting)
        policies |= dict.fromkeys(found)
    if not policies:
        raise PolicyError("no policy was named")
    if list(policies) == settings and len(settings) == 1:
        return [_with(options, policy=settings[0])]
    folders = _folders(policies)
    root = Path(options.output_dir)
    bases = _bases(list(policies), options.base_policy)
    return [
        _with(options, policy=policy, output_dir=str(root / folders[policy]), base_policy=bases.get(policy))
        for policy in policies
    ]


def _bases(policies: Sequence[str], base_policy: str | None) -> dict[str, str]:
    """Return for which policy a base policy was named: its name tells where there are several.

    Raises PolicyError where it has the name of none: held against another's, a gate would seem to be loosened.
    """
    if base_policy is None:
        return {}
    if len(policies) == 1:
        return {policies[0]: base_policy}
    name = name_of(base_policy)
    found = {policy: base_policy for policy in policies if name_of(policy) == name}
    if not found:
        raise PolicyError(
            f"the base policy is called '{name}', and none of the {len(policies)} gates is",
            base_policy,
            "leave it out: the base branch's policy of each gate is looked up",
        )
    return found


def _find_place(job: Job, options: argparse.Namespace) -> Place:
    """Return the job with the policies that this change takes away from the patterns: their gates would be silent."""
    notes = Notes(job, options.verbose)
    gone: list[str] = []
    moved: dict[str, str] = {}
    for pattern in _settings(options):
        matches = find_matches(pattern)
        if matches is not None:
            from gateline.baselines.base_policy import find_gone_policies, find_moved_policies

            try:
                found = find_gone_policies(pattern, job)
                gone += [file for file in found if file not in gone]
                moved |= find_moved_policies(found, matches, job)
            except HostError as error:
                notes.say(f"it is not known whether this change takes a policy away: {error}")
    gone = [file for file in gone if file not in moved.values()]
    for file in gone:
        notes.say(said("notice.policy-gone", file=file))
    return Place(job, notes, tuple(gone), moved)


def _folders(policies: Iterable[str]) -> dict[str, str]:
    """Return a folder's name for each policy, made of its gate's name.

    Raises PolicyError where two gates have one name: each would overwrite the other's comment.
    """
    folders: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for policy in policies:
        name = name_of(policy)
        if name in by_name:
            raise PolicyError(
                f"{by_name[name]} and {policy} are both called '{name}'",
                f"{policy}  name",
                "give each gate a name of its own: its comment is found by it",
            )
        by_name[name] = policy
        folder = _cut(re.sub(r"[^\w.-]+", "-", name), _LONGEST_FOLDER).strip(".-") or "gate"
        while folder.casefold() in map(str.casefold, folders.values()):
            folder += "-2"
        folders[policy] = folder
    return folders


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text that takes at most so many bytes."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _with(options: argparse.Namespace, **changed: str | None) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(options), **changed})


def _tell(job: Job, gates: Sequence[Gate], options: argparse.Namespace) -> None:
    """Tell the host all that it shows; what can't be told is a note."""
    notes = Notes(job, options.verbose)
    with notes:
        _print_commands(job, gates, options.lang)
    with notes:
        job.write_outputs(_outputs(gates))
    with notes:
        _write_summaries(job, gates, options.lang)
    with notes:
        _join_reports(job, gates, Path(options.output_dir))
    posted = [post_comment(job, gate.verdict, options, notes) for gate in gates]
    with notes:
        job.write_outputs({"comment-posted": str(all(posted)).lower()})


def _print_commands(job: Job, gates: Sequence[Gate], language: str | None) -> None:
    for gate in gates if job.command_report else []:
        commands = render(str(job.command_report), gate.verdict, language=language)
        if commands:
            print_report(commands)


def _write_summaries(job: Job, gates: Sequence[Gate], language: str | None) -> None:
    """Write each gate's full report; they share the room, so that no long one drops the others.

    Raises HostError where earlier steps have left too little of it.
    """
    left = job.room_for_summary()
    if left is None:
        return
    room = left // len(gates)
    if room < _LEAST_SUMMARY:
        raise HostError(
            f"the job's summary is full ({left:,} bytes are left), so the report is not in it; "
            f"it is in {(gates[0].folder / 'report.html').as_posix()}"
        )
    for gate in gates:
        job.write_summary(
            render(
                "markdown",
                gate.verdict,
                limit=room - 1,
                short_when_fine=False,
                whole="`verdict.json`",
                language=language,
            )
        )


def _join_reports(job: Job, gates: Sequence[Gate], root: Path) -> None:
    """Write what the host reads as one file a job: the JSON lists in the gates' own folders, one after the other.

    Raises HostError.
    """
    if all(gate.folder == root for gate in gates):
        return
    try:
        for name in job.reports:
            lists = [json.loads((gate.folder / name).read_bytes()) for gate in gates]
            joined = [entry for entries in lists for entry in entries]
            write_together({root / name: json.dumps(joined, ensure_ascii=False, indent=2) + "\n"})
    except (OSError, ValueError, InputError) as error:
        raise HostError(f"the reports of several gates can't be joined: {error}") from None


def _outputs(gates: Sequence[Gate]) -> dict[str, str]:
    """Return the outputs: of several gates the worst word and its files, and counts over all."""
    worst = min(gates, key=lambda gate: _WORST_FIRST.index(outcome(gate.verdict)))
    return {
        "verdict": worst.verdict.verdict,
        "failed": str(sum(gate.verdict.counts["fail"] for gate in gates)),
        "inconclusive": str(sum(gate.verdict.counts["inconclusive"] for gate in gates)),
        "verdict-file": (worst.folder / "verdict.json").as_posix(),
        "comment-file": (worst.folder / "comment.md").as_posix(),
    }
