"""The regression set as a file: one question a line, ordered by id, what is there kept as it is.

It must not write: the caller does, at once or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath

from gateline.errors import InputError, Problem, cut
from gateline.files import is_there
from gateline.harvest.labels import find_question
from gateline.readers._building import describe, identity
from gateline.readers._json_lines import read_object
from gateline.readers._json_text import JsonProblemError
from gateline.readers._source import Source, without_mark

SEEN = "seen"
"""The field that tells where a question came from, one entry each time it went wrong."""
SAME = ("why", "gate", "rule", "metric", "slice", "baseline_sha256", "candidate_sha256")
"""What makes two entries one: the same evidence, judged again on another day."""
MOST_PROBLEMS = 20


@dataclass
class Line:
    """One question of the set."""

    record: dict[str, object]
    text: str
    """The line as it stands in the file, or will stand there; without a line feed."""
    place: str
    """`file:line`; the file alone for what is new."""


@dataclass
class Kept:
    """The set, as it is in the file and as it becomes."""

    file: str
    before: str
    """The file's text; empty where there is none."""
    lines: dict[str, Line]
    """Questions by id."""
    header: list[str] = field(default_factory=list)
    """A first line that says what the file is, where it has one."""

    def add(self, name: str, entries: Sequence[dict[str, object]], labels: dict[str, object]) -> bool:
        """Add what was seen of a question, and return whether anything is new.

        A question that is new comes with its labels. One that is there stays as it is, but that a text of the question
        and labels are filled in where it has none. Raises InputError where the two are different questions.
        """
        known = self.lines.get(name)
        if known is None:
            record: dict[str, object] = {"id": name, **labels, SEEN: _merge([], entries)}
            self.lines[name] = Line(record, _write(record, self.file), self.file)
            return True
        filled = _fill(known, labels)
        seen = _merge(_seen(known), entries)
        record = {**{key: value for key, value in filled.items() if key != SEEN}, SEEN: seen}
        if record == known.record:
            return False
        known.record, known.text = record, _write(record, known.place)
        return True

    def text(self) -> str:
        """Return the set as JSON Lines, ordered by id."""
        texts = [*self.header, *(self.lines[name].text for name in sorted(self.lines))]
        return "".join(f"{text}\n" for text in texts)


def read_kept(path: str | PathLike[str]) -> Kept:
    """Return the set in a file, an empty one where there is none.

    Raises InputError, with all lines at once, for what is no record, has no id, or stands twice.
    """
    file = fspath(path)
    if not is_there(file):
        return Kept(file, "", {})
    data = Source(file).data
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = data[: error.start].count(b"\n") + 1
        raise InputError("the set is not UTF-8", f"{file}:{bad}", "save it as UTF-8") from None
    kept, problems = Kept(file, text, {}), list[Problem]()
    for number, line in enumerate(without_mark(data).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            _take(line, number, kept)
        except InputError as error:
            problems += error.problems
    if problems:
        more = [Problem(f"and {len(problems) - MOST_PROBLEMS} more", file)] * (len(problems) > MOST_PROBLEMS)
        raise InputError(f"in {file}", problems=[*problems[:MOST_PROBLEMS], *more])
    return kept


def _take(line: bytes, number: int, kept: Kept) -> None:
    place = f"{kept.file}:{number}"
    try:
        record = read_object(line)
    except JsonProblemError as error:
        raise InputError(str(error), place, "the set is JSON Lines, one question a line") from None
    text = line.decode("utf-8").rstrip("\r")
    if "gateline" in record and not kept.lines and not kept.header:
        kept.header.append(text)
        return
    if isinstance(record.get("metrics"), dict):
        raise InputError(
            "is the record of a run, with metrics, and no question of a regression set",
            place,
            "harvest -o names the set, and a run's results must not be lost to it",
        )
    name = identity(record.get("id"))
    if name is None:
        raise InputError(
            f"id must be a text or a whole number, not {describe(record.get('id'))}",
            place,
            "give each question its id",
        )
    first = kept.lines.get(name)
    if first is not None:
        raise InputError(
            f"the id '{name}' stands twice, first in {first.place}",
            place,
            "keep one of them and join their seen",
        )
    kept.lines[name] = Line(record, text, place)
    _seen(kept.lines[name])


def _seen(line: Line) -> list[dict[str, object]]:
    """Return the entries of a question that is there; InputError where they are something else."""
    seen = line.record.get(SEEN, [])
    if not isinstance(seen, list) or not all(isinstance(one, dict) for one in seen):
        raise InputError(f"{SEEN} must be a list of objects, not {describe(seen)}", line.place)
    return seen


def _merge(known: Sequence[dict[str, object]], more: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Return all entries in order of day and content, of the same evidence the first one."""
    ours = [one for one in known if not _is_evidence(one)]
    by_evidence: dict[str, dict[str, object]] = {}
    for one in sorted((one for one in [*known, *more] if _is_evidence(one)), key=_order):
        by_evidence.setdefault(_canonical([one.get(name) for name in SAME]), one)
    return [*ours, *by_evidence.values()]


def _is_evidence(entry: dict[str, object]) -> bool:
    """Return whether an entry is one of ours; what people wrote by hand stays as it stands, at the beginning."""
    return all(name in entry for name in SAME)


def _order(entry: dict[str, object]) -> tuple[str, str]:
    return str(entry.get("judged_on")), _canonical(entry)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _fill(known: Line, labels: dict[str, object]) -> dict[str, object]:
    before, now = find_question(known.record), find_question(labels)
    if before is None:
        return {**known.record, **{key: value for key, value in labels.items() if key not in known.record}}
    if now is not None and before.strip() != now.strip():
        raise InputError(
            f"the id '{known.record['id']}' is another question in the set: '{cut(before)}', now '{cut(now)}'",
            known.place,
            "an id must stand for one question for ever; give one of them another id",
        )
    return known.record


def _write(record: dict[str, object], place: str) -> str:
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise InputError(
            "holds NaN or an infinite number, which JSON has not", place, "write null or a number"
        ) from None
