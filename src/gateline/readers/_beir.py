"""The folder layout of BEIR: `queries.jsonl` with the questions, `qrels/SPLIT.tsv` with the labels.

The documents of `corpus.jsonl` are not read. Nothing here knows how labels are judged.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Column, Run

HEADER = (b"query-id", b"corpus-id", b"score")


def find_labels(folder: Path) -> list[Path]:
    """Return the qrels files of a folder in BEIR's layout; none where it is something else."""
    return sorted(folder.glob("qrels/*.tsv")) if (folder / "queries.jsonl").is_file() else []


def choose_labels(folder: Source) -> Source:
    """Return the qrels file of the split `test`, or the only one there is."""
    files = find_labels(folder.path)
    if not files:
        raise InputError("is a folder without queries.jsonl and qrels/test.tsv, BEIR's layout", folder.name)
    chosen = [file for file in files if file.stem == "test"] or files
    if len(chosen) > 1:
        names = name_some([file.name for file in chosen])
        raise InputError(f"has several splits: {names}", folder.name, "name the qrels file of one of them")
    return Source(str(chosen[0]))


def add_questions(folder: Source, labels: Run) -> Run:
    """Return the labels with the texts of the questions, and their metadata as labels of slices."""
    from gateline.readers import jsonl

    file = Source(str(folder.path / "queries.jsonl"))
    questions = jsonl.read(file, ReadOptions(id_field="_id"))
    row_of = {name: row for row, name in enumerate(questions.ids)}
    absent = [f"'{name}'" for name in labels.ids if name not in row_of]
    if absent:
        raise InputError(f"queries without a text, but with labels: {name_some(absent)}", file.name)
    rows = [row_of[name] for name in labels.ids]
    slices: dict[str, Column] = {}
    fields = dict(labels.fields)
    for name, column in questions.fields.items():
        taken = column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows]
        if name.startswith("metadata."):
            slices[name.removeprefix("metadata.")] = taken
        else:
            fields["question" if name == "text" else name] = taken
    return replace(
        labels,
        file=folder.name,
        sha256=hashlib.sha256(f"{labels.sha256} {file.sha256}".encode()).hexdigest(),
        format="beir",
        lines=np.zeros(len(labels), np.int64),
        slices=slices,
        fields=fields,
        provenance={"golden_set.split": Path(labels.file).stem},
    )
