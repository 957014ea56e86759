"""MTEB: a task's result file, a results folder of one model, a bundle of results, or per-query predictions.

A record is one subset of one split of a task, `Task/subset/split`; mteb writes no scores per query. Predictions
hold the ranked documents of each query (field `retrieved`) and no scores: labels must be given with them. Nothing
here computes a metric.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers._building import flatten
from gateline.readers._json_text import JsonProblemError, parse_value, skip_blanks
from gateline.readers._shape import Shape, shape_of, shape_of_file
from gateline.readers._source import ReadOptions, Source, digest_of, without_mark
from gateline.samples import Column, MetricFacts, Run, read_number

if TYPE_CHECKING:
    from gateline.readers._mteb_tasks import TaskRecord

NAME = "mteb"
META, SETTINGS, PREDICTIONS = "model_meta.json", "run_settings.jsonl", "*_predictions.json"
DEEPEST_FOLDER = 4
_OF_A_TASK = frozenset({"task_name", "dataset_revision", "mteb_version"})
EXPERIMENTS = "experiments"
"""Folder beside the results of a model with those of its other settings, which are no part of this run."""
_FRAME = re.compile(rb",task_name,[^\r\n]")


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a result, a bundle, a table or predictions of MTEB, or a folder with results."""
    if not head:
        return next(_result_folders(path), None) is not None or any(path.glob(PREDICTIONS))
    shape = shape_of(head)
    if shape.kind != "object":
        return _FRAME.match(without_mark(head)) is not None
    return (
        _is_task(shape)
        or "mteb_model_meta" in shape.keys
        or {"model_name", "task_results"} <= shape.keys
        or bool(shape.inner.get("model_results", frozenset()) & {"task_results", "model_name"})
    )


def _is_task(shape: Shape) -> bool:
    if "mteb_dataset_name" in shape.keys:
        return True
    return "scores" in shape.keys and len(_OF_A_TASK & shape.keys) > 1


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each subset of each split of each task, or one for each query of predictions."""
    if source.path.is_dir():
        return _read_folder(source)
    if not without_mark(source.head).startswith(b"{"):
        return _read_frame(source)
    from gateline.readers._mteb_tasks import read_task

    value = _parse(source)
    if "mteb_model_meta" in value:
        from gateline.readers._mteb_predictions import make_prediction_run

        return make_prediction_run([(source, value)], source.name, source.sha256)
    bundles = value.get("model_results")
    if isinstance(bundles, list):
        names = [str(one.get("model_name")) for one in bundles if isinstance(one, dict)]
        if len(names) != 1:
            raise InputError(
                f"holds the results of {len(names)} models: {name_some(names)}",
                source.name,
                "a run is one model: write its ModelResult with to_disk",
            )
        value = bundles[0]
    facts: dict[str, object] = {}
    results = value.get("task_results")
    if isinstance(results, list):
        facts = {"model": value.get("model_name"), "model_revision": value.get("model_revision")}
    else:
        results = [value]
    records = [record for one in results if isinstance(one, dict) for record in read_task(one, source.name)]
    return _make_run(source.name, source.sha256, records, facts)


def _parse(source: Source) -> dict[str, object]:
    text = source.decode()
    try:
        value, end = parse_value(text, skip_blanks(text, 0))
    except JsonProblemError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"is not JSON: {error}", f"{source.name}:{line}") from None
    if not isinstance(value, dict) or text[end:].strip():
        raise InputError("is not one JSON object", source.name)
    return value


def _result_folders(path: Path, levels: int = DEEPEST_FOLDER) -> Iterator[Path]:
    """Give the folders with task results at or below a folder; those of experiments are not looked at."""
    try:
        entries = sorted(path.iterdir())
    except OSError:
        return
    if _task_files(entries, most=1):
        yield path
    if levels:
        for entry in entries:
            if entry.is_dir() and not entry.name.startswith(".") and entry.name != EXPERIMENTS:
                yield from _result_folders(entry, levels - 1)


def _task_files(entries: Sequence[Path], most: int | None = None) -> list[Path]:
    found = []
    for entry in entries:
        if entry.suffix == ".json" and entry.name != META and _is_task(shape_of_file(entry)):
            found.append(entry)
            if len(found) == most:
                break
    return found


def _refuse_broken(entries: Sequence[Path], tasks: Sequence[Path]) -> None:
    """Raise an InputError for a file beside results that can be but one of them, cut off or with keys taken away."""
    for entry in entries:
        if entry.suffix != ".json" or entry.name == META or entry in tasks or not entry.is_file():
            continue
        shape = shape_of_file(entry)
        if not shape.keys or {*_OF_A_TASK, "scores"} & shape.keys:
            raise InputError(
                "lies among results of MTEB and is none: empty, cut off, or without task_name, dataset_revision, "
                "mteb_version or scores",
                str(entry),
                "run its task again, or take it out of the folder",
            )


def _read_folder(source: Source) -> Run:
    from gateline.readers._mteb_tasks import read_task

    folders = list(_result_folders(source.path))
    if not folders:
        return _read_predictions(source)
    if len(folders) > 1:
        names = name_some([str(folder.relative_to(source.path)) for folder in folders])
        raise InputError(
            f"holds {len(folders)} folders with results: {names}",
            source.name,
            "a run is one model at one revision: name its folder",
        )
    (folder,) = folders
    entries = sorted(folder.iterdir())
    files = _task_files(entries)
    _refuse_broken(entries, files)
    tasks = [Source(str(file)) for file in files]
    beside = [Source(str(folder / name)) for name in (META, SETTINGS) if (folder / name).is_file()]
    records = [record for task in tasks for record in read_task(_parse(task), task.name)]
    facts: dict[str, object] = {}
    for one in beside:
        facts.update(_read_meta(one) if one.path.name == META else _read_settings(one))
    return _make_run(source.name, digest_of([*tasks, *beside]), records, facts)


def _read_predictions(source: Source) -> Run:
    """Return the rankings of all tasks in a folder of predictions."""
    from gateline.readers._mteb_predictions import make_prediction_run

    files = [Source(str(path)) for path in sorted(source.path.glob(PREDICTIONS))]
    if not files:
        raise InputError("is a folder without results or predictions of MTEB", source.name)
    return make_prediction_run([(file, _parse(file)) for file in files], source.name, digest_of(files))


def _read_meta(source: Source) -> dict[str, object]:
    meta = _parse(source)
    names = {"name": "model", "revision": "model_revision", "similarity_fn_name": "similarity"}
    facts = {ours: meta[theirs] for theirs, ours in names.items() if meta.get(theirs) is not None}
    if isinstance(meta.get("experiment_kwargs"), dict):
        facts.update(flatten({"experiment": meta["experiment_kwargs"]}))
    return facts


def _read_settings(source: Source) -> dict[str, object]:
    """Return versions and settings of encoding; of tasks that differ in one, all their values."""
    values: dict[str, list[object]] = {}
    for line in source.decode().split("\n"):
        if not line.strip():
            continue
        try:
            settings, _ = parse_value(line.strip())
        except JsonProblemError:
            continue  # a line cut off by a crash tells nothing, and no score rests on it
        if not isinstance(settings, dict):
            continue
        told: dict[str, object] = {"encode_kwargs": settings.get("encode_kwargs") or {}}
        versions = settings.get("version")
        if isinstance(versions, dict):
            told |= {f"{name}_version": version for name, version in versions.items() if name != "mteb"}
        for name, value in flatten(told).items():
            if value not in (None, {}) and value not in values.setdefault(name, []):
                values[name].append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in values.items() if found}


def _make_run(file: str, sha256: str, records: Sequence[TaskRecord], facts: Mapping[str, object]) -> Run:
    from gateline.readers._mteb_tasks import (
        find_aliases,
        find_facts,
        find_family,
        find_main_metrics,
        find_warnings,
    )

    ids = [record.id for record in records]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise InputError(f"{twice} stands twice", records[ids.index(twice)].place)
    names = list(dict.fromkeys(["main_score", *(name for record in records for name in record.metrics)]))
    versions, revisions = [record.version for record in records], [record.revision for record in records]
    columns: dict[str, Column] = {
        name: np.array([_number(record.metrics.get(name)) for record in records]) for name in names
    }
    main_metrics = find_main_metrics(records)
    is_diagnosis = {name for name in names if name.startswith("nauc_")}
    metric_facts = {name: said for name in names if (said := find_facts(name)) is not None}
    return Run(
        file=file,
        sha256=sha256,
        format=NAME,
        format_version=_one_of(versions),
        ids=ids,
        lines=np.zeros(len(ids), dtype=np.int64),
        origins=[record.place for record in records],
        metrics={name: columns[name] for name in names if name not in is_diagnosis},
        slices={
            "task": [record.task for record in records],
            "subset": [record.subset for record in records],
            "split": [record.split for record in records],
            "languages": [list(record.languages) or None for record in records],
            "scored_as": [find_family(record.metrics) for record in records],
            "main_score_is": [*main_metrics],
        },
        fields={
            "mteb_version": [version or None for version in versions],
            "dataset_revision": [revision or None for revision in revisions],
            "evaluation_time": np.array([_number(record.evaluation_time) for record in records]),
            **{name: columns[name] for name in is_diagnosis},
        },
        provenance=_state(facts, versions, revisions),
        id_field="task, subset and split",
        made_ids=True,
        warnings=tuple(find_warnings(records, main_metrics)),
        metric_facts=metric_facts | {"evaluation_time": MetricFacts(None)},
        aliases=find_aliases(names),
        must_agree={
            "dataset_revision": "exactly",
            "mteb_version": "major version",
            "main_score_is": "one in common",
        },
    )


def _state(
    facts: Mapping[str, object], versions: Sequence[str], revisions: Sequence[str]
) -> dict[str, object]:
    """Return the facts of the whole run; a version or revision that all records share is one."""
    shared = {"mteb_version": _one_of(versions), "dataset_revision": _one_of(revisions)}
    return {
        **{name: value for name, value in facts.items() if value is not None},
        **{name: value for name, value in shared.items() if value},
    }


def _one_of(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else ""


def _number(value: float | None) -> float:
    number = read_number(value)  # an integer of 400 digits is one, and infinite
    return np.nan if number is None else number


def _read_frame(source: Source) -> Run:
    """Return the table of `to_dataframe`: one main score a task, averaged by mteb over its splits and subsets."""
    try:
        rows = list(csv.reader(io.StringIO(source.decode(), newline="")))
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}", source.name) from None
    header, rows = rows[0], [row for row in rows[1:] if row]
    if "task_name" not in header:
        raise InputError(
            f"is no table of MTEB, which has a column task_name; found {name_some(header, 8)}", source.name
        )
    place = header.index("task_name")
    models = header[place + 1 :]
    if len(models) != 1:
        raise InputError(
            f"holds the results of {len(models)} models: {name_some(models)}",
            source.name,
            "a run is one model: write one table for each",
        )
    names: list[str] = []
    cells: list[object] = []
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise InputError(
                f"cells: {len(row)}; columns in the header: {len(header)}", f"{source.name}:{number}"
            )
        names.append(row[place])
        cells.append(row[place + 1] or None)
    return Run(
        file=source.name,
        sha256=source.sha256,
        format="mteb-table",
        ids=names,
        lines=np.arange(2, len(names) + 2, dtype=np.int64),
        metrics={"main_score": cells},
        slices={"task": list(names)},
        provenance={"model": models[0]},
        id_field="task_name",
        made_ids=True,
        warnings=("a table of main scores says nothing of versions and data revisions; the result files do",),
        metric_facts={"main_score": MetricFacts("higher", (-1.0, 1.0))},
    )
