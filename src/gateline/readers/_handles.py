"""Files of one run of which only some have the ids: a handle that all of them have (a trace) leads to these.

Scores may stand by trace in one file, and the question of each trace in another. Nothing here knows a format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gateline.errors import InputError, count_of, name_some
from gateline.samples import Column, Run


def lead_to_ids(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with the ids of the one that has them, where all have one handle; else as they are.

    A file with ids of its own counts before one whose ids were made. Records whose handle leads to no id are left
    out, and a warning of their run says how many. An InputError tells where files lead to different ids.
    """
    handles = {run.handle for run in runs}
    able = [run for run in runs if not run.unpaired]
    leading = [run for run in able if not run.made_ids] or able
    if len(runs) < 2 or len(handles) != 1 or "" in handles or not leading:
        return list(runs)
    fields = list(dict.fromkeys(run.id_field for run in leading))
    if len(fields) > 1:
        raise InputError(
            f"has the ids {fields[-1]}, and {leading[0].file} has {fields[0]}",
            leading[-1].file,
            "files of one run join on one id: leave out samples: {id: ...}, or one of the files",
        )
    known: dict[str, str] = {}
    for run in leading:
        for name, handle in zip(run.ids, _handles(run), strict=True):
            if known.setdefault(handle, name) != name:
                raise InputError(
                    f"{run.handle} '{handle}' stands for '{known[handle]}' and for '{name}'", run.file
                )
    return [run if run in leading else _lead(run, known, leading[0]) for run in runs]


def _handles(run: Run) -> list[str]:
    texts = run.texts(run.handle) or [""] * len(run)
    blank = [run.place(row) for row, text in enumerate(texts) if not text]
    if blank:
        raise InputError(
            f"no {run.handle} in {count_of(len(blank), 'record', 'records')}: {name_some(blank, 3)}", run.file
        )
    return texts


def _lead(run: Run, known: dict[str, str], leading: Run) -> Run:
    """Return a run with the ids that its handles lead to, without the records whose handle is unknown."""
    handles = _handles(run)
    rows = [row for row, handle in enumerate(handles) if handle in known]
    lost = len(handles) - len(rows)
    if not rows:
        raise InputError(
            f"has no {run.handle} in common with {leading.file}",
            run.file,
            "files of one run join on it; are they exports of the same run?",
        )
    warnings = run.warnings if run.unpaired or not run.made_ids else ()  # its own ids are not used
    if lost:
        is_left = "is" if lost == 1 else "are"
        told = (
            f"{lost} of {len(handles)} records {is_left} of no {run.handle} that {leading.file} has, and "
            f"{is_left} left out"
        )
        warnings = (*warnings, told)
    return replace(
        run,
        ids=[known[handles[row]] for row in rows],
        lines=run.lines[rows],
        origins=[run.origins[row] for row in rows] if run.origins else [],
        metrics=_take(run.metrics, rows),
        slices=_take(run.slices, rows),
        fields=_take(run.fields, rows),
        written={name: [texts[row] for row in rows] for name, texts in run.written.items()},
        id_field=leading.id_field,
        made_ids=leading.made_ids,
        unpaired="",
        warnings=warnings,
    )


def _take(columns: dict[str, Column], rows: Sequence[int]) -> dict[str, Column]:
    return {
        name: column[list(rows)] if isinstance(column, np.ndarray) else [column[row] for row in rows]
        for name, column in columns.items()
    }
