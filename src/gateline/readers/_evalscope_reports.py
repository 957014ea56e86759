"""EvalScope's reports, schema 1 (to 1.10) and 2: what the metrics are, and their means over each subset.

A report knows no samples. Nothing here knows the files beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gateline.errors import InputError
from gateline.readers._building import describe
from gateline.readers._json_document import number_of
from gateline.readers._told_sums import find_rounding
from gateline.samples import MetricFacts, Run, read_number

Better = Literal["higher", "lower"]
DIRECTIONS: dict[str, Better] = {"higher_is_better": "higher", "lower_is_better": "lower"}
_STATISTICS = {"recall": "R", "precision": "P", "f1": "F"}
_ROUNDED = 0.5e-4 + 1e-9
"""By how much a score of a report may differ from what it was: it has four decimals."""
_COUNT, _SHARE = "n_samples", "failed_share"
_MEAN = re.compile(r"mean_(.+)", re.DOTALL)


@dataclass(frozen=True)
class ReportedMetric:
    """A metric of a report."""

    key: str
    """`name:aggregation[dimension=value,…]` of schema 2, or the name of schema 1 (`mean_Rouge-L-R`)."""
    sample_name: str
    """Its name in the scores of single samples, as far as the key tells."""
    facts: MetricFacts | None
    subsets: dict[str, float]
    """Mean by subset; those that sum up other subsets are left out."""
    numbers: dict[str, int] = field(default_factory=dict)
    """How many samples each mean is of, where the report says it."""
    is_mean: bool = False
    """Whether it is the plain mean over samples, as far as the key tells."""


@dataclass(frozen=True)
class Report:
    """What a report says."""

    dataset: str
    model: str
    schema: int
    metrics: list[ReportedMetric]
    judges: list[str] = field(default_factory=list)
    requested: dict[str, int] = field(default_factory=dict)
    """Samples asked for by subset; empty where the report does not say."""
    errored: dict[str, int] = field(default_factory=dict)
    """Of those, how many failed."""


def read_report(value: Mapping[str, object], place: str) -> Report:
    """Return a report of either schema; an InputError where its metrics have another form."""
    metrics = value.get("metrics")
    if not isinstance(metrics, list) or not all(isinstance(metric, dict) for metric in metrics):
        raise InputError(f"'metrics' must be a list of objects, not {describe(metrics)}", place)
    schema = value.get("schema_version")
    if schema not in (None, 1, 2):
        raise InputError(f"report schema {schema!r} is not known; this gateline reads 1 and 2", place)
    _hold_categories(metrics, place)
    execution = _objects(_object(value.get("execution_summary")).get("subsets"))
    judges = _object(value.get("judge_summary")).get("judge_models")
    return Report(
        dataset=str(value.get("dataset_name") or ""),
        model=str(value.get("model_name") or ""),
        schema=2 if schema == 2 else 1,
        metrics=[_read_metric(metric, place) for metric in metrics],
        judges=[str(judge) for judge in judges] if isinstance(judges, list) else [],
        requested={
            name: count for name, item in execution if isinstance(count := item.get("requested"), int)
        },
        errored={name: count for name, item in execution if isinstance(count := item.get("errored"), int)},
    )


def _read_metric(metric: Mapping[str, object], place: str) -> ReportedMetric:
    identity = _object(metric.get("identity"))
    if identity:
        key, name = _key_of(identity), _sample_name(identity)
        is_mean = identity.get("aggregation") == "mean"
    else:
        key = str(metric.get("name") or "")
        match = _MEAN.fullmatch(key)
        name = match[1] if match else key
        is_mean = match is not None
    if not key:
        raise InputError("a metric of the report has no name", place)
    subsets: dict[str, float] = {}
    numbers: dict[str, int] = {}
    for subset in _subsets(metric):
        score = subset.get("score")
        number = None if score is None else read_number(score)
        if number is not None and not isinstance(score, str):
            subsets[str(subset.get("name"))] = number
            counted = number_of(subset.get("num"))
            if counted is not None:
                numbers[str(subset.get("name"))] = int(counted)
    facts = _facts_of(_object(metric.get("semantics")))
    return ReportedMetric(key, name, facts, subsets, numbers, is_mean)


def allowed_error(scores: Iterable[float]) -> float:
    """Return by how much each of these scores may differ from what it was; one that was rounded twice errs twice."""
    again = find_rounding(scores)
    return _ROUNDED + (again if again > _ROUNDED else 0)


def _hold_categories(metrics: Sequence[Mapping[str, object]], place: str) -> None:
    """Raise an InputError where a category has another score than its subsets come to: one of them was changed.

    EvalScope makes it the mean of its subsets by their numbers, also when it reads a report again; a metric as a whole
    may have a score of its own. https://github.com/modelscope/evalscope/blob/main/evalscope/report/report.py
    """
    told = [
        (str(metric.get("name") or _key_of(_object(metric.get("identity")))), _object(category))
        for metric in metrics
        for category in _list(metric.get("categories"))
    ]
    sums = [(key, category, found) for key, category in told if (found := _sum_subsets(category)) is not None]
    # of the category, and of its subsets
    allowed = 2 * allowed_error(number for _, _, (score, _, scores) in sums for number in (score, *scores))
    for key, category, (score, mean, _) in sums:
        if abs(score - mean) > allowed:
            name = "/".join(map(str, _list(category.get("name")))) or str(category.get("name"))
            raise InputError(
                f"{key} is {score:g} in the category {name}, and {mean:.4f} by the subsets in it",
                place,
                "hand over the report as EvalScope wrote it, whole and unchanged",
            )


def _sum_subsets(category: Mapping[str, object]) -> tuple[float, float, list[float]] | None:
    """Return a category's score, the mean of its subsets, and their scores; None where it does not show all."""
    subsets = [one for one in map(_object, _list(category.get("subsets"))) if not one.get("is_aggregate")]
    score, number = number_of(category.get("score")), number_of(category.get("num"))
    scores = [one for subset in subsets if (one := number_of(subset.get("score"))) is not None]
    counts = [one for subset in subsets if (one := number_of(subset.get("num"))) is not None]
    if score is None or not number or not subsets or not len(subsets) == len(scores) == len(counts):
        return None
    if min(counts) < 0 or sum(counts) != number:
        return None
    return score, sum(one * count for one, count in zip(scores, counts, strict=True)) / number, scores


def _key_of(identity: Mapping[str, object]) -> str:
    dimensions = sorted(_object(identity.get("dimensions")).items())
    shown = ",".join(f"{name}={value}" for name, value in dimensions)
    return f"{identity.get('name')}:{identity.get('aggregation')}" + (f"[{shown}]" if shown else "")


def _sample_name(identity: Mapping[str, object]) -> str:
    """Return the name that single samples have for a metric; EvalScope writes two of them in another way there."""
    name, dimensions = str(identity.get("name")), _object(identity.get("dimensions"))
    statistic = _STATISTICS.get(str(dimensions.get("statistic")))
    if name == "rouge" and statistic:
        variant = str(dimensions.get("ngram") or dimensions.get("variant") or "").upper()
        return f"Rouge-{variant}-{statistic}"
    if name == "bleu" and "ngram" in dimensions:
        return f"bleu-{dimensions['ngram']}"
    return name


def _subsets(metric: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    for category in _list(metric.get("categories")):
        for subset in _list(_object(category).get("subsets")):
            if isinstance(subset, dict) and not subset.get("is_aggregate"):
                yield subset


def _facts_of(semantics: Mapping[str, object]) -> MetricFacts | None:
    if not semantics:
        return None
    ends = _object(semantics.get("value_range"))
    low, high = number_of(ends.get("min")), number_of(ends.get("max"))
    bounds = (low, high) if low is not None and high is not None and low < high else None
    return MetricFacts(DIRECTIONS.get(str(semantics.get("direction"))), bounds)


def find_names(report: Report, columns: Sequence[str]) -> dict[str, ReportedMetric]:
    """Return the report's metric of each column of sample scores, as far as names tell."""
    by_name = {_plain(metric.sample_name): metric for metric in reversed(report.metrics)}
    return {name: by_name[_plain(name)] for name in columns if _plain(name) in by_name}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def make_run(report: Report, file: str, sha256: str) -> Run:
    """Return a record for each subset, with the means that the report has of it."""
    subsets = list(dict.fromkeys(name for metric in report.metrics for name in metric.subsets))
    if not subsets:
        raise InputError("0 samples: the report has no subset", file)
    aliases = {
        metric.sample_name: metric.key
        for metric in reversed(report.metrics)
        if metric.sample_name != metric.key
    }
    warnings = [
        "a report has means of subsets and no samples: hand over the folder of the run, with its reviews"
    ]
    errored = sum(report.errored.values())
    if errored:
        warnings.append(
            f"{errored} of {sum(report.requested.values())} samples failed and are not in the means"
        )
    shares = [_share_failed(report, subset) for subset in subsets]
    is_known = not bool(np.isnan(shares).all())
    return Run(
        file=file,
        sha256=sha256,
        format="evalscope-report",
        format_version=f"schema {report.schema}",
        ids=[f"{report.dataset}/{subset}" for subset in subsets],
        lines=np.zeros(len(subsets), dtype=np.int64),
        metrics={
            metric.key: np.array([metric.subsets.get(subset, np.nan) for subset in subsets])
            for metric in report.metrics
        },
        slices={"dataset": [report.dataset] * len(subsets), "subset": list(subsets)},
        fields={
            _COUNT: [_count(report, subset) for subset in subsets],
            **({_SHARE: np.array(shares)} if is_known else {}),
        },
        provenance=state(report),
        id_field="dataset and subset",
        made_ids=True,
        warnings=tuple(warnings),
        metric_facts={
            **{metric.key: replace(metric.facts, failed=_SHARE) for metric in report.metrics if metric.facts},
            _SHARE: MetricFacts(None),
            _COUNT: MetricFacts(None),
        },
        aliases=aliases,
        must_agree={"judge": "exactly", _COUNT: "exactly"},
    )


def _share_failed(report: Report, subset: str) -> float:
    """Return which share of the samples of a subset failed; NaN where the report does not say it."""
    requested, failed = (number_of(counts.get(subset)) for counts in (report.requested, report.errored))
    return failed / requested if requested and failed is not None else np.nan


def _count(report: Report, subset: str) -> str | None:
    """Return how many samples were evaluated in a subset, those that failed among them; of each metric if they differ.

    None where the report does not say it.
    """
    failed = report.errored.get(subset, 0)
    counted = {
        metric.key: metric.numbers[subset] + failed for metric in report.metrics if subset in metric.numbers
    }
    if len(set(counted.values())) < 2:
        return next((str(number) for number in counted.values()), None)
    return ", ".join(f"{number} of {key}" for key, number in sorted(counted.items()))


def state(report: Report) -> dict[str, object]:
    """Return what a report says of how the run was made."""
    facts: dict[str, object] = {"model": report.model, "dataset": report.dataset, "judge": report.judges}
    return {name: value for name, value in facts.items() if value}


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[tuple[str, Mapping[str, object]]]:
    return [(str(name), _object(item)) for name, item in _object(value).items()]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
