"""EvalScope: the folder of a run, its reports, reviews and predictions, and the numbers of a stress test.

A record is a sample, `dataset/subset/index`; with a report alone it is a subset, with a stress test a setting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.errors import InputError, name_some
from gateline.readers._json_text import JsonProblemError, parse_value, skip_blanks
from gateline.readers._shape import Shape, shape_of
from gateline.readers._source import ReadOptions, Source, digest_of
from gateline.samples import Agreement, Run

if TYPE_CHECKING:
    from gateline.readers._evalscope_reports import Report

NAME = "evalscope"
DEEPEST_FOLDER = 3
LATENCY_KEYS = frozenset({"Avg Latency (s)", "Average latency (s)"})
RESULTS = ("reviews/*/*.jsonl", "reports/*/*.json", "predictions/*/*.jsonl")
CONFIGS = "configs/task_config*.yaml"
SUMMARY, PERCENTILES, ARGUMENTS = "benchmark_summary.json", "benchmark_percentile.json", "benchmark_args.json"


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a file of EvalScope, or a folder with its reviews, reports or stress tests."""
    if not head:
        return next(_work_folders(path), None) is not None or next(_test_folders(path), None) is not None
    shape = shape_of(head)
    return (
        _is_report(shape)
        or _is_review(shape)
        or _is_prediction(shape)
        or not LATENCY_KEYS.isdisjoint(shape.keys)
        or (shape.kind == "list" and "Percentiles" in shape.keys)
    )


def _is_report(shape: Shape) -> bool:
    inner = shape.inner.get("metrics", frozenset())
    return shape.kind == "object" and "dataset_name" in shape.keys and "categories" in inner


def _is_review(shape: Shape) -> bool:
    return shape.kind == "object" and {"score", "sample_id"} <= shape.inner.get("sample_score", frozenset())


def _is_prediction(shape: Shape) -> bool:
    return (
        shape.kind == "object"
        and "index" in shape.keys
        and "choices" in shape.inner.get("model_output", frozenset())
    )


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each sample, subset or setting."""
    if source.path.is_dir():
        return _read_folder(source)
    from gateline.readers import _evalscope_perf, _evalscope_reports, _evalscope_samples

    shape = shape_of(source.head)
    if _is_review(shape) or _is_prediction(shape):
        samples = _evalscope_samples.Samples()
        add = samples.add_reviews if _is_review(shape) else samples.add_predictions
        add(source, "", source.path.stem)
        return _evalscope_samples.make_run(samples, [], source.name, source.sha256, {})
    value = _parse(source)
    if isinstance(value, dict) and "metrics" in value:
        report = _evalscope_reports.read_report(value, source.name)
        return _evalscope_reports.make_run(report, source.name, source.sha256)
    summary, percentiles = (None, value) if isinstance(value, list) else (value, None)
    setting = _evalscope_perf.find_setting(source.path.absolute().parent.name)
    test = _evalscope_perf.read_test(summary, percentiles, source.name, setting)  # type: ignore[arg-type]
    return _evalscope_perf.make_run([test], source.name, source.sha256, {})


def _parse(source: Source) -> object:
    text = source.decode()
    try:
        value, end = parse_value(text, skip_blanks(text, 0))
    except JsonProblemError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"is not JSON: {error}", f"{source.name}:{line}") from None
    if text[end:].strip():
        raise InputError("something else begins behind the end", source.name)
    return value


def _work_folders(path: Path, levels: int = DEEPEST_FOLDER) -> Iterator[Path]:
    """Give the folders of a run at or below a folder: those with reviews, reports or predictions of a model."""
    if any(next(path.glob(pattern), None) for pattern in RESULTS):
        yield path
    if levels:
        for entry in _folders(path):
            yield from _work_folders(entry, levels - 1)


def _begun_folders(path: Path, levels: int = DEEPEST_FOLDER) -> Iterator[Path]:
    """Give the folders of runs that wrote their settings, and may have broken off then."""
    if next(path.glob(CONFIGS), None):
        yield path
    if levels:
        for entry in _folders(path):
            yield from _begun_folders(entry, levels - 1)


def _test_folders(path: Path, levels: int = DEEPEST_FOLDER) -> Iterator[Path]:
    """Give the folders of a stress test's settings at or below a folder."""
    if (path / SUMMARY).is_file():
        yield path
    if levels:
        for entry in _folders(path):
            yield from _test_folders(entry, levels - 1)


def _folders(path: Path) -> list[Path]:
    try:
        return [
            entry for entry in sorted(path.iterdir()) if entry.is_dir() and not entry.name.startswith(".")
        ]
    except OSError:
        return []


def _read_folder(source: Source) -> Run:
    tests = list(_test_folders(source.path))
    folders = list(_work_folders(source.path))
    if folders:
        begun = [folder for folder in _begun_folders(source.path) if folder not in folders]
        runs = sorted([*folders, *begun, *{folder.parent for folder in tests}])
        if len(runs) > 1:
            raise _refuse_many(source, runs, "runs")
        return _read_samples(source, folders[0])
    if not tests:
        raise InputError("is a folder without reviews, reports or stress tests of EvalScope", source.name)
    if len({folder.parent for folder in tests}) > 1:
        raise _refuse_many(source, sorted({folder.parent for folder in tests}), "stress tests")
    return _read_tests(source, tests)


def _refuse_many(source: Source, folders: Sequence[Path], what: str) -> InputError:
    names = name_some([str(folder.relative_to(source.path)) for folder in folders])
    return InputError(f"holds {len(folders)} {what}: {names}", source.name, "name the folder of one of them")


def _read_samples(source: Source, folder: Path) -> Run:
    from gateline.readers import _evalscope_reports, _evalscope_samples
    from gateline.readers._evalscope_settings import read_settings
    from gateline.readers._evalscope_sums import hold_reports

    models = sorted({entry.name for part in ("reviews", "reports", "predictions")
                     for entry in _folders(folder / part)})  # fmt: skip
    if len(models) > 1:
        raise InputError(
            f"holds the results of {len(models)} models: {name_some(models)}",
            source.name,
            "a run is one model; evaluate each to a folder of its own",
        )
    (model,) = models
    files = {
        part: [Source(str(path)) for path in sorted((folder / part / model).glob(f"*.{suffix}"))]
        for part, suffix in (("reports", "json"), ("reviews", "jsonl"), ("predictions", "jsonl"))
    }
    configs = [Source(str(path)) for path in sorted(folder.glob(CONFIGS))]
    reports = [
        _evalscope_reports.read_report(value, one.name)
        for one in files["reports"]
        if isinstance(value := _parse(one), dict) and "metrics" in value
    ]
    sha256 = digest_of([*files["reports"], *files["reviews"], *files["predictions"], *configs])
    facts, unread = read_settings(configs)
    if not files["reviews"] and not files["predictions"]:
        return _of_reports(source, reports, sha256)
    samples = _evalscope_samples.Samples()
    datasets = sorted(
        {report.dataset for report in reports} | set(_names(facts.get("dataset"))), key=len, reverse=True
    )
    for part, add in (("reviews", samples.add_reviews), ("predictions", samples.add_predictions)):
        for one in files[part]:
            add(one, *_split_name(one.path.stem, datasets))
        if part == "reviews":
            hold_reports(samples.records, reports, samples.unscored, source.name)
    run = _evalscope_samples.make_run(samples, reports, source.name, sha256, {"model": model} | facts)
    return _add_version(replace(run, warnings=(*run.warnings, *unread)))


def _of_reports(source: Source, reports: Sequence[Report], sha256: str) -> Run:
    if len(reports) != 1:
        raise InputError(
            f"has {len(reports)} reports and no reviews", source.name, "name one report, or keep the reviews"
        )
    from gateline.readers._evalscope_reports import make_run

    return make_run(reports[0], source.name, sha256)


def _split_name(stem: str, datasets: Sequence[str]) -> tuple[str, str]:
    """Return dataset and subset of a file `<dataset>_<subset>`, both of which may have underscores."""
    for dataset in datasets:
        if stem.startswith(f"{dataset}_"):
            return dataset, stem[len(dataset) + 1 :]
    return "", stem


def _names(value: object) -> list[str]:
    return (
        [str(item) for item in value]
        if isinstance(value, list)
        else [value]
        if isinstance(value, str)
        else []
    )


def _add_version(run: Run) -> Run:
    must: dict[str, Agreement] = {
        "judge": "exactly",
        "evalscope_version": "major version",
        "reference": "exactly",
    }
    must |= {
        name: "exactly"
        for name in run.provenance
        if name.startswith(("dataset_revision.", "evaluation_version."))
    }
    return replace(run, must_agree=must, format_version=str(run.provenance.get("evalscope_version") or ""))


def _read_tests(source: Source, folders: Sequence[Path]) -> Run:
    from gateline.readers import _evalscope_perf

    tests, read = [], []
    arguments: Mapping[str, object] = {}
    for folder in folders:
        parts = {
            name: Source(str(folder / name))
            for name in (SUMMARY, PERCENTILES, ARGUMENTS)
            if (folder / name).is_file()
        }
        values = {name: _parse(part) for name, part in parts.items()}
        read += list(parts.values())
        arguments = arguments or _object(values.get(ARGUMENTS))
        tests.append(
            _evalscope_perf.read_test(
                _object(values[SUMMARY]), values.get(PERCENTILES), str(folder / SUMMARY), folder.name
            )
        )
    return _evalscope_perf.make_run(tests, source.name, digest_of(read), arguments)


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
