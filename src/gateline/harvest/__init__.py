"""The regression set: questions that failed a hard rule or got much worse, kept for ever after, once each.

It takes from a verdict and says what the set becomes. It judges nothing and writes no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath

from gateline.errors import InputError, name_some
from gateline.harvest.kept import Kept, read_kept
from gateline.harvest.labels import Labels, find_question, questions, read_labels
from gateline.harvest.sightings import Sighting, find_sightings, read_limits
from gateline.verdict import Verdict

__all__ = ["Harvest", "harvest", "questions", "read_limits"]

File = str | PathLike[str]


@dataclass(frozen=True)
class Harvest:
    """What a regression set becomes."""

    text: str
    """The set as JSON Lines, ordered by id; empty where nothing was ever kept."""
    changed: bool
    """Whether that is another text than the file holds."""
    added: list[str]
    """Ids that are new in the set."""
    updated: list[str]
    """Ids that were there and whose line is another now: gone wrong again, or with a text that was not known."""
    total: int
    """Questions in the set."""
    notices: list[str]
    """What a person should know: what is not named by the verdict, or has no labels."""


def harvest(
    verdict: Verdict,
    file: File,
    *,
    golden: File | None = None,
    candidate: File | None = None,
    worse_by: str | None = None,
) -> Harvest:
    """Add the questions that went wrong in a verdict to the set in `file`, which need not be there.

    `golden` and `candidate` give the texts of the questions and their reference labels; without them the set holds ids
    alone, and texts where the verdict has them. `worse_by` is as `read_limits` takes it. Harvesting a verdict twice is
    harvesting it once, and the order of verdicts plays no part. Raises InputError where the verdict is none or too
    old to name losses, where the set contradicts itself, or where an id stands for two different questions.
    """
    if verdict.verdict == "invalid":
        raise InputError(
            f"nothing was judged, so nothing can be kept: {verdict.because[0] if verdict.because else 'no verdict'}",
            hint="harvest from a verdict that passes or fails",
        )
    if "losses" not in verdict.model_fields_set:
        raise InputError(
            f"the verdict was made by gateline {verdict.gateline}, which named no losses",
            hint="judge the runs again",
        )
    sightings, notices = find_sightings(verdict, read_limits(worse_by, verdict))
    kept = read_kept(file)
    labels = read_labels(verdict, {one.id for one in sightings}, golden=golden, candidate=candidate)
    added, again = _add(kept, sightings, labels)
    text = kept.text()
    return Harvest(
        text=text,
        changed=text != kept.before,
        added=added,
        updated=again,
        total=len(kept.lines),
        notices=[
            *notices,
            *labels.notices,
            *_name_textless(kept, {one.id for one in sightings}, golden, candidate),
        ],
    )


def _name_textless(kept: Kept, names: set[str], golden: File | None, candidate: File | None) -> list[str]:
    """Return a notice on what is kept without its text, and where that may be: nobody can ask it again so."""
    without = [f"'{name}'" for name in sorted(names) if find_question(kept.lines[name].record) is None]
    if not without:
        return []
    said = f"the text of {questions(len(without))} is not known, kept by id alone: {name_some(without)}"
    given = [fspath(file) for file in (golden, candidate) if file is not None]
    where = {
        (False, False): "--golden or --candidate give it",
        (False, True): "--golden gives it",
        (True, False): "--candidate gives it, where the run holds its questions",
        (True, True): "a golden set that has it gives it",
    }[golden is not None, candidate is not None]
    lacking = f"not in {' or '.join(given)}: " if given else ""
    return [f"{said} ({lacking}{where})"]


def _add(kept: Kept, sightings: list[Sighting], labels: Labels) -> tuple[list[str], list[str]]:
    """Add all sightings of each question; return the ids that are new and those whose line is another now."""
    by_id: dict[str, list[Sighting]] = {}
    for sighting in sightings:
        by_id.setdefault(sighting.id, []).append(sighting)
    added, again = [], []
    for name in sorted(by_id):
        known = name in kept.lines
        changed = kept.add(name, [one.entry for one in by_id[name]], labels.of(name))
        if not known:
            added.append(name)
        elif changed:
            again.append(name)
    return added, again
