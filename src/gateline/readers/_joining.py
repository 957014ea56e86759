"""Several files of one run as one: metrics in one, latency in another, or a part of the questions in each.

Records join on id (and attempt), never on position. A file adds what the others don't have; it never fills in what
another one lacks, as that hides what was lost. Nothing here knows a format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, name_some
from gateline.readers._columns import plain_values
from gateline.readers._handles import lead_to_ids
from gateline.readers._statements import (
    agreed_facts,
    check_run_facts,
    find_silent,
    find_stated,
    strictest_agreement,
)
from gateline.samples import Column, JoinedFile, Run, reads_as_numbers

Key = tuple[str, str]
_Part = tuple[Run, npt.NDArray[np.int64], Column]
"""A file, the rows of the joined run at which its records stand, and one of its columns."""


def join_runs(runs: Sequence[Run]) -> Run:
    """Return the runs of several files as one; a record has what any of the files says of it.

    Raises InputError where two files say different things of one record, of a metric or of the run, where one has
    a number that another says there is none of, or where they have nothing in common.
    """
    runs = lead_to_ids(runs)
    for run in runs:
        if run.unpaired:
            raise InputError(f"can't be joined with other files: {run.unpaired}", run.file)
    keys = [_keys(run) for run in runs]
    _check_attempts(runs)
    rows: dict[Key, int] = {}
    for found in keys:
        for key in found:
            rows.setdefault(key, len(rows))
    _check_overlap(runs, keys)
    places = [np.array([rows[key] for key in found], dtype=np.int64) for found in keys]
    first = {rows[key]: (run, row) for run, found in zip(runs[::-1], keys[::-1], strict=True)
             for row, key in enumerate(found)}  # fmt: skip
    owners = [first[row] for row in range(len(rows))]
    joint = _Joint(runs, places, [name for name, _ in rows])
    warnings = [f"{run.file}: {warning}" for run in runs for warning in run.warnings]
    facts, of_parts = check_run_facts(runs, warnings)
    silent = find_silent(runs, [*facts, *of_parts], warnings)
    sections = {section: joint.columns(section) for section in ("metrics", "slices", "fields")}
    for name, stated in of_parts.items():
        joint.state(name, stated, sections["slices" if name in sections["slices"] else "fields"])
    return replace(
        runs[0],
        file=" + ".join(run.file for run in runs),
        sha256=_digest(runs),
        format=" + ".join(dict.fromkeys(run.format for run in runs)),
        format_version=", ".join(dict.fromkeys(run.format_version for run in runs if run.format_version)),
        ids=joint.ids,
        lines=np.array([run.lines[row] for run, row in owners], dtype=np.int64),
        origins=[run.origins[row] if run.origins else run.file for run, row in owners],
        metrics=sections["metrics"],
        slices=sections["slices"],
        fields=sections["fields"],
        written=_written(joint),
        provenance=facts,
        id_field=", ".join(dict.fromkeys(run.id_field for run in runs)),
        warnings=tuple(warnings),
        metric_facts=agreed_facts(runs),
        aliases={name: known for run in runs for name, known in run.aliases.items()},
        must_agree=strictest_agreement(runs),
        parts=joint.parts(of_parts, silent, [find_stated(run, facts) for run in runs]),
    )


class _Joint:
    """The rows of the joined run, and where the records of each file stand among them."""

    def __init__(self, runs: Sequence[Run], places: Sequence[npt.NDArray[np.int64]], ids: list[str]):
        self.runs = runs
        self.places = places
        self.ids = ids

    def columns(self, section: str) -> dict[str, Column]:
        names = dict.fromkeys(name for run in self.runs for name in getattr(run, section))
        return {name: self._join(name, section) for name in names}

    def state(self, name: str, stated: Mapping[str, Sequence[Run]], columns: dict[str, Column]) -> None:
        """Let each record say a fact of its part, where it does not say it itself."""
        known = columns.get(name)
        values: list[object] = [None] * len(self.ids) if known is None else list(plain_values(known))
        for text, runs in stated.items():
            for run, place in zip(self.runs, self.places, strict=True):
                if any(run is one for one in runs):
                    for row in place.tolist():
                        values[row] = text if values[row] is None else values[row]
        columns[name] = values

    def parts(
        self,
        facts: Mapping[str, object],
        silent: Sequence[frozenset[str]],
        stated: Sequence[Mapping[str, str]],
    ) -> tuple[JoinedFile, ...]:
        """Return what each file has and states, and what of it another one has for the same record."""
        held = [frozenset([*run.metrics, *run.fields]) for run in self.runs]
        rows = [set(place.tolist()) for place in self.places]
        shared: list[set[str]] = [set() for _ in self.runs]
        for one, names in enumerate(held):
            for other in range(one):
                common = names & held[other]
                if common and not rows[one].isdisjoint(rows[other]):
                    shared[one] |= common
                    shared[other] |= common
        return tuple(
            JoinedFile(
                run.file,
                run.sha256,
                names,
                frozenset(also),
                frozenset(facts) & run.provenance.keys(),
                lacking,
                said,
            )
            for run, names, also, lacking, said in zip(self.runs, held, shared, silent, stated, strict=True)
        )

    def _join(self, name: str, section: str) -> Column:
        parts = [
            (run, place, getattr(run, section)[name])
            for run, place in zip(self.runs, self.places, strict=True)
            if name in getattr(run, section)
        ]
        values: list[object] = [None] * len(self.ids)
        for run, place, column in parts:
            for row, value in zip(place.tolist(), plain_values(column), strict=True):
                if value is None:
                    continue
                if values[row] is not None and values[row] != value:
                    raise InputError(
                        f"{name} of '{self.ids[row]}' is {value!r} here and {values[row]!r} in another file",
                        run.file,
                        "files of one run must not contradict each other",
                    )
                values[row] = value
        if section != "written" and all(reads_as_numbers(column) for _, _, column in parts):
            self._refuse_filling(name, parts, values)
        if all(isinstance(column, np.ndarray) for _, _, column in parts):
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return values

    def _refuse_filling(self, name: str, parts: Sequence[_Part], values: Sequence[object]) -> None:
        """Raise InputError where a file has no number for a record, and another one has it."""
        for run, place, column in parts:
            filled = [
                row
                for row, value in zip(place.tolist(), plain_values(column), strict=True)
                if value is None and values[row] is not None
            ]
            if filled:
                shown = name_some([f"'{self.ids[row]}'" for row in filled], 3)
                raise InputError(
                    f"{name} is missing here and a number in another file, for {shown}",
                    run.file,
                    f"what one file of a run lacks is not taken from another; leave out {name} in one of them",
                )


def _written(joint: _Joint) -> dict[str, list[object]]:
    """Return the texts of number columns, of those that every file with the column has as texts."""
    kept = {}
    for name, column in joint.columns("written").items():
        holders = [run for run in joint.runs if name in run.fields or name in run.metrics]
        if isinstance(column, list) and all(name in run.written for run in holders):
            kept[name] = column
    return kept


def _keys(run: Run) -> list[Key]:
    attempts = run.texts("attempt") or [""] * len(run)
    keys = list(zip(run.ids, attempts, strict=True))
    seen: set[Key] = set()
    for row, key in enumerate(keys):
        if key in seen:
            raise InputError(
                f"the id '{key[0]}' stands twice, so the files can't be joined on it",
                run.place(row),
                "number attempts at one question in the field 'attempt'",
            )
        seen.add(key)
    return keys


def _check_attempts(runs: Sequence[Run]) -> None:
    with_attempts = [run for run in runs if run.find_label("attempt") is not None]
    without = [run for run in runs if run.find_label("attempt") is None]
    if without and any(len(set(run.ids)) < len(run) for run in with_attempts):
        raise InputError(
            f"{with_attempts[0].file} has several attempts at one id, and this file does not number attempts",
            without[0].file,
        )


def _check_overlap(runs: Sequence[Run], keys: Sequence[list[Key]]) -> None:
    """Raise InputError for a file that shares neither questions nor metrics with the others."""
    for run, found in zip(runs[::-1], keys[::-1], strict=True):
        others = {key for other in keys if other is not found for key in other}
        names = {name for other in runs if other is not run for name in (*other.metrics, *other.fields)}
        if others.isdisjoint(found) and names.isdisjoint([*run.metrics, *run.fields]):
            shown = name_some([f"'{name}'" for name, _ in found], 3)
            raise InputError(
                f"has no question in common with the other files of the run; it has {shown}",
                run.file,
                "files of one run join on id; samples: {id: ...} names its field",
            )


def _digest(runs: Sequence[Run]) -> str:
    import hashlib

    return hashlib.sha256("\n".join(run.sha256 for run in runs).encode()).hexdigest()
