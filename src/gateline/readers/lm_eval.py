"""lm-evaluation-harness: the folder of a run, its results and its samples (`--log_samples`).

A record is a document of a task, whatever its place; with results alone it is a task. Metrics are named as there,
`exact_match,strict-match`, without the filter where that is `none`. Standard errors are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gateline.errors import InputError, count_of, name_some
from gateline.readers._building import Problems, RunBuilder, describe
from gateline.readers._identity import identify_by
from gateline.readers._json_document import object_of, objects_of, parse_document
from gateline.readers._shape import Shape, shape_of, shape_of_file
from gateline.readers._source import HEAD_BYTES, ReadOptions, Source, digest_of, without_mark
from gateline.samples import MetricFacts, Run

if TYPE_CHECKING:
    from gateline.readers._lm_eval_results import Task
    from gateline.readers._lm_eval_samples import Record, Samples

NAME = "lm_eval"
DEEPEST_FOLDER = 3
COUNT = "n_samples"
"""Field with how many documents a mean is of; two means are compared only where it is the same number."""
_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?"
_RESULTS_FILE = re.compile(rf"results\.json|.*results.*_({_TIME})\.json")
_SAMPLES_FILE = re.compile(rf"samples_(.+)_({_TIME})\.jsonl")
_SCORE = re.compile(rb'"[\w@.+ -]+,[\w-]+"\s*:\s*[-\d"N]')


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether these are results or samples of lm-evaluation-harness, or a folder with them."""
    if not head:
        return next(_find_files(path), None) is not None
    shape = shape_of(head)
    return _is_results(shape, without_mark(head)[:HEAD_BYTES]) or _is_sample(shape)


def _is_results(shape: Shape, begin: bytes) -> bool:
    if shape.kind != "object" or shape.goes_on or "results" not in shape.keys:
        return False
    beside = ("group_subtasks", "n-shot", "higher_is_better", "task_hashes")
    return (
        not shape.keys.isdisjoint(beside)
        or ("versions" in shape.keys and "config_general" not in shape.keys)  # those are of lighteval
        or (shape.keys <= {"results", "groups", "configs"} and _SCORE.search(begin) is not None)
    )


def _is_sample(shape: Shape) -> bool:
    return "doc_id" in shape.keys and not shape.keys.isdisjoint({"filtered_resps", "doc_hash", "resps"})


def _find_files(folder: Path, levels: int = DEEPEST_FOLDER) -> Iterator[Path]:
    """Give the results and samples in a folder and below it."""
    return (path for path in _find_named(folder, levels) if _is_known(path))


def _find_named(folder: Path, levels: int = DEEPEST_FOLDER) -> Iterator[Path]:
    """Give the files that are named like results or samples, in a folder and below it."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if levels:
                yield from _find_named(entry, levels - 1)
        elif _SAMPLES_FILE.fullmatch(entry.name) or _RESULTS_FILE.fullmatch(entry.name):
            yield entry


def _is_known(path: Path) -> bool:
    """Say whether a file that is named like one of a run begins like it."""
    shape = shape_of_file(path)
    if _SAMPLES_FILE.fullmatch(path.name):
        return _is_sample(shape)
    if shape.kind != "object":
        return False
    with path.open("rb") as stream:
        return _is_results(shape, stream.read(HEAD_BYTES))


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each document, with what the results say of its task; of results alone, one a task.

    Samples belong to the results with the same time in their names. Raises InputError for a folder with several runs,
    and for samples that are broken or stand twice.
    """
    if source.path.is_dir():
        run = _read_folder(source)
    elif _is_sample(shape_of(source.head)):
        run = _make_run({}, {}, [source], source.name)
    else:
        run = _read_results(source, source.name)
    return run if options.id_field in (None, "id") else identify_by(run, options.id_field)


def _read_folder(source: Source) -> Run:
    files: list[Path] = []
    for path in _find_named(source.path):
        if _is_known(path):
            files.append(path)
        elif _time_of(path):  # a file that is just called results.json may be of any program
            raise InputError(
                "is named like a file of a run and is none: empty, cut off, or of another program",
                str(path),
                f"take it out of {source.name}, or name the results file of the run that is meant",
            )
    results = [path for path in files if not _SAMPLES_FILE.fullmatch(path.name)]
    runs = list({(path.parent, _time_of(path)): path for path in [*files, *results]}.values())
    if len(runs) > 1:
        names = name_some([str(path.relative_to(source.path)) for path in runs])
        raise InputError(
            f"holds {len(runs)} runs: {names}",
            source.name,
            "name the results file of one of them: the samples of the same time are read with it",
        )
    if results:
        return _read_results(Source(str(results[0])), source.name)
    if not files:
        raise InputError("is a folder without results or samples of lm-evaluation-harness", source.name)
    return _make_run({}, {}, [Source(str(path)) for path in files], source.name)


def _time_of(path: Path) -> str:
    """Return the time in a file's name, which the files of one run share; empty where there is none."""
    match = _SAMPLES_FILE.fullmatch(path.name) or _RESULTS_FILE.fullmatch(path.name)
    return (match[match.re.groups] or "") if match else ""


def _read_results(source: Source, file: str) -> Run:
    from gateline.readers._lm_eval_results import read_tasks

    value = object_of(parse_document(source))
    _refuse_other_results(value, source.name)
    tasks = read_tasks(value)
    found = re.fullmatch(rf".*_({_TIME})\.json", source.path.name)
    beside: list[Source] = []
    if found:
        names = [
            path
            for path in sorted(source.path.absolute().parent.iterdir())
            if path.name.endswith(f"_{found[1]}.jsonl")
        ]
        beside = [
            Source(str(source.path.parent / path.name))
            for path in names
            if _SAMPLES_FILE.fullmatch(path.name)
        ]
    if beside or object_of(value.get("samples")):
        return _make_run(value, tasks, beside, file, [source, *beside])
    return _make_means(value, tasks, source, file)


def _make_run(
    value: Mapping[str, object],
    tasks: Mapping[str, Task],
    files: Sequence[Source],
    name: str,
    digested: Sequence[Source] = (),
) -> Run:
    """Return the samples in files, or in the results themselves where a program wrote them, as a run."""
    from gateline.readers._lm_eval_means import compare_with_results
    from gateline.readers._lm_eval_results import state
    from gateline.readers._lm_eval_samples import Samples

    samples = Samples(tasks)
    for file in files:
        _add_file(samples, file, _find_task(file.path.name, tasks))
    if not files:
        for task, lines in object_of(value.get("samples")).items():
            for line in objects_of(lines):
                samples.add(task, line, digested[0].name, 0)
    records, places = samples.finish()
    common = _place_facts(records, tasks)
    sources = list(digested or files)
    run = _build(records, name, sources, [line for _, line in places])
    run = replace(run, origins=[file for file, _ in places], id_field="task and document")
    compared = compare_with_results(run, tasks, samples.partial, digested[0].name if digested else name)
    return _describe(run, {**state(value), **common}, tasks, [*_tell_samples(samples), *compared])


def _add_file(samples: Samples, file: Source, task: str) -> None:
    if without_mark(file.head).startswith(b"["):  # 0.4.0 to 0.4.2 wrote a list, whatever the file's name
        for line in objects_of(parse_document(file)):
            samples.add(task, line, file.name, 0)
        return
    from gateline.readers._json_lines import orjson_loads, read_blocks

    problems = Problems(file.name)
    for block in read_blocks(file, problems, orjson_loads()):
        for line, number in zip(block.records, block.numbers, strict=True):
            samples.add(task, line, file.name, number)
        for number, message in block.find_repeated_keys():
            problems.add(number, message)
    problems.raise_any()


def _refuse_other_results(value: Mapping[str, object], file: str) -> None:
    """Raise InputError for results of another tool, which `--read-as` may hand over: numbers of theirs are no means."""
    rows = value.get("results")
    if not isinstance(rows, Mapping):
        what = "there is no object 'results'" if rows is None else f"'results' is {describe(rows)}"
    else:
        other = next((name for name, row in rows.items() if not isinstance(row, Mapping)), None)
        if other is None:
            return
        what = f"'results.{other}' is {describe(rows[other])}, and no task with its means"
    raise InputError(
        f"is no results file of lm-evaluation-harness: {what}",
        file,
        "leave --read-as out, so that the reader of its tool is found",
    )


def _find_task(name: str, tasks: Mapping[str, Task]) -> str:
    """Return the task of a file of samples; file names may have other signs in place of those of the task."""
    match = _SAMPLES_FILE.fullmatch(name)
    written = match[1] if match else ""
    if written in tasks:
        return written
    return next((task for task in tasks if re.sub(r"\W", "_", task) == written), written)


def _make_means(value: Mapping[str, object], tasks: Mapping[str, Task], source: Source, file: str) -> Run:
    from gateline.readers._lm_eval_results import state
    from gateline.readers._lm_eval_samples import find_groups

    records: list[Record] = [
        {
            "id": task.name,
            "metrics": dict(task.means),
            "slices": find_groups(task),
            COUNT: task.samples,
        }
        for task in tasks.values()
        if task.means
    ]
    if not records:
        raise InputError("has no task with a score", source.name)
    common = _place_facts(records, tasks)
    run = replace(_build(records, file, [source], [0] * len(records)), id_field="task")
    warning = (
        "the file has means of tasks and no samples: a record is a task, and how sure a mean is can't be seen; "
        "--log_samples writes the samples"
    )
    run = _describe(run, {**state(value), **common}, tasks, [warning])
    return replace(
        run,
        must_agree={**run.must_agree, COUNT: "exactly"},
        metric_facts={**run.metric_facts, COUNT: MetricFacts(None)},
    )


def _build(records: Sequence[Record], name: str, sources: Sequence[Source], lines: Sequence[int]) -> Run:
    for column in [key for key in dict.fromkeys(key for record in records for key in record) if key != "id"]:
        if all(record.get(column) is None for record in records):
            for record in records:
                record.pop(column, None)
    builder = RunBuilder(Source(name), ReadOptions(), NAME)
    builder.sha256 = sources[0].sha256 if len(sources) == 1 else digest_of(sources)
    builder.add(records, np.array(lines, dtype=np.int64))
    return builder.finish()


def _place_facts(records: Sequence[Record], tasks: Mapping[str, Task]) -> dict[str, object]:
    """Return the facts that are the same for all tasks; those that differ become labels of the records."""
    from gateline.readers._lm_eval_results import Task

    found = [tasks.get(str(object_of(record["slices"]).get("task")), Task("")) for record in records]
    common: dict[str, object] = {}
    for name in dict.fromkeys(name for task in found for name in task.facts):
        values = {task.facts.get(name) for task in found}
        if len(values) == 1:
            common[name] = values.pop()
        else:
            for record, task in zip(records, found, strict=True):
                record["slices"] = {**object_of(record["slices"]), name: task.facts.get(name)}
    return common


def _describe(
    run: Run, provenance: Mapping[str, object], tasks: Mapping[str, Task], warnings: Sequence[str]
) -> Run:
    from gateline.readers._lm_eval_results import MUST_AGREE, find_facts

    facts, mixed = find_facts(tasks.values(), run.metrics)
    told = [f"higher is better in some tasks and lower in others: {name_some(mixed)}"] if mixed else []
    return replace(
        run,
        provenance=dict(provenance),
        made_ids=True,
        format_version=str(provenance.get("lm_eval_version") or ""),
        metric_facts=facts,
        aliases={f"{name},none": name for name in run.metrics if "," not in name},
        must_agree=dict(MUST_AGREE),
        warnings=(*warnings, *told),
    )


def _tell_samples(samples: Samples) -> list[str]:
    found = []
    if samples.partial:
        shown = name_some([f"{name} {times}x" for name, times in sorted(samples.partial.items())], 4)
        found.append(f"computed over a whole task from parts that are no scores, and left out: {shown}")
    if samples.repeated:
        found.append(
            f"{count_of(samples.repeated, 'document stands', 'documents stand')} in a task more than once; "
            "such are told apart by a counter"
        )
    return found
