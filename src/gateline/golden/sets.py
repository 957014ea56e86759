"""A set of questions by their ids, as a slice of the policy names it: each id once, never empty.

It looks at nothing but ids; what else stands in the file is for those who evaluate the questions again.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from gateline.errors import InputError, Problem
from gateline.golden.questions import read_records
from gateline.readers import read_run
from gateline.samples import Run

MOST_SHOWN = 20


def read_set(name: str, file: Path, id_field: str) -> Run:
    """Return the questions of the slice `name`.

    The id stands under `id`, under another usual name, or under `id_field`. Raises InputError where there is no such
    file, where it holds no question or where an id stands twice.
    """
    try:
        run = _read(file, id_field)
    except InputError as error:
        first = error.problems[0]
        if not first.message.startswith(("not found", "0 samples")):
            raise
        hint = f"gateline harvest writes it; until then leave slices.files.{name} and its rules out"
        raise InputError(f"slice {name}: {first.message}", first.where or str(file), hint) from None
    refuse_repeats(run)
    return run


def _read(file: Path, id_field: str) -> Run:
    if id_field != "id":
        with suppress(InputError):  # a harvested set has its ids under `id`, whatever the runs call them
            return read_run(file, id_field=id_field)
    return read_records(file)


def refuse_repeats(run: Run) -> None:
    """Raise InputError where an id stands twice, with both lines."""
    first: dict[str, int] = {}
    problems = [
        Problem(f"the id '{name}' stands twice, first in line {run.lines[first[name]]}", run.place(row))
        for row, name in enumerate(run.ids)
        if first.setdefault(name, row) != row
    ]
    if problems:
        raise InputError("a question stands twice in the set", problems=problems[:MOST_SHOWN])
