"""The result of an MTEB task as records: one for each subset of each split, which is what mteb scores.

It must not know where the tasks come from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gateline.errors import InputError, count_of
from gateline.readers._building import describe, flatten
from gateline.readers._json_document import number_of
from gateline.samples import MetricFacts

UNIT_METRIC = re.compile(
    r"(ndcg|map|mrr|recall|precision|hit_rate|cv_recall|accuracy)(_at_[0-9]+)?"
    r"|(.+[_.])?(accuracy|f1|ap|precision|recall|v_measure)(_weighted)?"
)
CORRELATION = re.compile(r"(.+[_.])?(pearson|spearman)")
AT_RANK = re.compile(r"([a-z_]+)_at_([0-9]+)")
RENAMED = (("cv_recall_at_", "hit_rate_at_"),)
"""Names of one metric, before and after mteb renamed it (2.6 to 2.18)."""
FAMILIES: tuple[tuple[str, str], ...] = (
    ("ranking", r"(ndcg|map)_at_[0-9]+|map|mrr"),
    ("clustering", r"v_measure"),
    ("similarity", r"(.+[_.])?spearman"),
    ("pair classification", r"(?!.*weighted).+[_.]ap"),
    ("classification", r"accuracy"),
)
"""What a task is scored as, and a metric that tells it, the most telling first."""

# Keys of an old result's top level that are no split, and of an entry that are no metric.
_NO_SPLIT = frozenset({"evaluation_time", "kg_co2_emissions", "date", "evaluation_phases"})
_NO_METRIC = frozenset({"hf_subset", "languages", "mteb_version", "scores_per_experiment", "evaluation_time",
                        "mteb_dataset_name", "date", "kg_co2_emissions"})  # fmt: skip
_FIRST_RANK_AGREES = 0.05
_SAME_SUM = 1e-9
NO_METRIC_OF_THE_ENTRY = "no metric of the entry"


@dataclass(frozen=True)
class TaskRecord:
    """The scores of one subset of one split of a task."""

    task: str
    subset: str
    split: str
    languages: list[str]
    metrics: dict[str, float | None]
    version: str
    """Version of mteb; empty where the file doesn't say it."""
    revision: str
    """Revision of the data; empty where the file doesn't say it."""
    evaluation_time: float | None
    """Seconds that the whole task took, all its splits and subsets."""
    place: str
    """File, for messages."""

    @property
    def id(self) -> str:
        """Return `Task/subset/split`."""
        return f"{self.task}/{self.subset}/{self.split}"


def read_task(result: Mapping[str, object], place: str) -> list[TaskRecord]:
    """Return the records of one task's result, as mteb writes it since 1.11 or as it wrote it before.

    Raises InputError for scores that are no list of objects, and where there is no `main_score`.
    """
    name = str(result.get("task_name") or result.get("mteb_dataset_name") or "")
    if not name:
        raise InputError("a result of MTEB without task_name", place)
    scores = result.get("scores")
    splits = _old_splits(result) if scores is None else scores
    if not isinstance(splits, Mapping) or not splits:
        raise InputError(f"{name}: no scores", place)
    records = []
    for split, entries in splits.items():
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise InputError(
                f"{name}: the scores of the split '{split}' must be a list of objects, not {describe(entries)}",
                place,
            )
        records += [_read_entry(entry, result, name, str(split), place) for entry in entries]
    return records


def _old_splits(result: Mapping[str, object]) -> dict[str, list[dict[str, object]]]:
    """Return the splits of a result before mteb 1.11, which stand on the top level, by language or without."""
    splits = {}
    for split, value in result.items():
        if split in _NO_SPLIT or not isinstance(value, dict):
            continue
        parts = {key: item for key, item in value.items() if isinstance(item, dict)}
        by_language = parts and "main_score" not in value and len(parts) == len(set(value) - _NO_SPLIT)
        if by_language:
            splits[split] = [{**item, "hf_subset": key} for key, item in parts.items()]
        else:
            splits[split] = [value]
    return splits


def _read_entry(
    entry: Mapping[str, object], result: Mapping[str, object], task: str, split: str, place: str
) -> TaskRecord:
    subset = str(entry.get("hf_subset") or "default")
    version = str(entry.get("mteb_version") or result.get("mteb_version") or "")
    if "main_score" not in entry:
        raise InputError(
            f"{task}/{subset}/{split} has no main_score" + (f" (mteb {version})" if version else ""),
            place,
            "files of old versions lack it; run the task again with one version for both runs",
        )
    metrics: dict[str, float | None] = {}
    for name, value in flatten({key: item for key, item in entry.items() if key not in _NO_METRIC}).items():
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            metrics[name] = value
        elif name == "main_score":
            raise InputError(f"main_score of {task}/{subset}/{split} is {describe(value)}", place)
    spoken = entry.get("languages")
    took = result.get("evaluation_time", entry.get("evaluation_time"))
    return TaskRecord(
        task=task,
        subset=subset,
        split=split,
        languages=list(dict.fromkeys(map(str, spoken))) if isinstance(spoken, list) else [],
        metrics=metrics,
        version=version,
        revision=str(result.get("dataset_revision") or ""),
        evaluation_time=number_of(took),
        place=place,
    )


def find_family(metrics: Mapping[str, object]) -> str:
    """Return what a task is scored as, known by the names of its metrics."""
    for family, pattern in FAMILIES:
        if any(re.fullmatch(pattern, name) for name in metrics):
            return family
    return "other"


def find_main_metrics(records: Sequence[TaskRecord]) -> list[list[str] | None]:
    """Return for each record (n) which metrics `main_score` may be, as mteb copies one of them; None if unknown.

    Those of equal value in all records of a task, by the names that mteb has for them now. Where it equals no
    metric in one of the records, that is told instead.
    """
    by_task: dict[str, set[str]] = {}
    for record in records:
        names = {name for name in record.metrics if name != "main_score" and not name.startswith("nauc_")}
        main = number_of(record.metrics.get("main_score"))
        if main is None or not names:
            continue
        equal = _metrics_like_main(record)
        by_task[record.task] = by_task.get(record.task, equal) & equal
    return [
        sorted(by_task[record.task]) or [NO_METRIC_OF_THE_ENTRY] if record.task in by_task else None
        for record in records
    ]


def _newest_name(name: str) -> str:
    for old, new in RENAMED:
        if name.startswith(old):
            return name.replace(old, new, 1)
    return name


def find_facts(name: str) -> MetricFacts | None:
    """Return direction and range of a metric; None where its name does not tell."""
    better: Literal["higher"] = "higher"
    if name.startswith("nauc_"):
        return MetricFacts(None)  # how well scores tell when to abstain: a diagnosis
    if name == "main_score":
        return MetricFacts(better, (-1.0, 1.0))  # of a task of correlations it may be negative
    if UNIT_METRIC.fullmatch(name):
        return MetricFacts(better, (0.0, 1.0))
    return MetricFacts(better, (-1.0, 1.0)) if CORRELATION.fullmatch(name) else None


def find_aliases(names: Sequence[str]) -> dict[str, str]:
    """Return further names of metrics: `ndcg@10` for `ndcg_at_10`, and names from before or after a renaming."""
    aliases = {}
    for name in names:
        for old, new in RENAMED:
            for prefix, other in ((old, new), (new, old)):
                if name.startswith(prefix) and name.replace(prefix, other, 1) not in names:
                    aliases[name.replace(prefix, other, 1)] = name
    for name, known in [*((name, name) for name in names), *aliases.items()]:
        match = AT_RANK.fullmatch(name)
        if match and not name.startswith("nauc_"):
            aliases[f"{match[1]}@{match[2]}"] = known
    return aliases


def find_warnings(records: Sequence[TaskRecord], main_metrics: Sequence[list[str] | None]) -> list[str]:
    """Return what is odd about the results (n) and a person should know; of each, what `find_main_metrics` found."""
    found = []
    splits: dict[str, set[str]] = {}
    for record in records:
        splits.setdefault(record.task, set()).add(record.split)
    several = {task: sorted(names) for task, names in splits.items() if len(names) > 1}
    if several:
        task, names = next(iter(several.items()))
        found.append(
            f"{count_of(len(several), 'task has', 'tasks have')} scores for several splits, each a record of "
            f"its own ({task}: "
            f"{', '.join(names)}); the slice split=… looks at one of them"
        )
    versions = sorted({record.version for record in records if record.version})
    if len(versions) > 1:
        found.append(f"the results were made by several versions of mteb: {', '.join(versions)}")
    found += _find_strange_main_scores(records, main_metrics)
    broken = [record for record in records if _breaks_first_rank(record)]
    if broken:
        first = broken[0]
        found.append(
            "MRR@1 and P@1 are one number by definition, and differ in "
            f"{count_of(len(broken), 'result', 'results')}: {first.id} has "
            f"{first.metrics['mrr_at_1']} and {first.metrics['precision_at_1']}; the tool had an error there"
        )
    return found


def _find_strange_main_scores(
    records: Sequence[TaskRecord], main_metrics: Sequence[list[str] | None]
) -> list[str]:
    """Return what to say of tasks whose main score is none of the other scores, of which mteb copies one."""
    strange = [
        record
        for record, names in zip(records, main_metrics, strict=True)
        if names == [NO_METRIC_OF_THE_ENTRY] and number_of(record.metrics.get("main_score")) is not None
    ]
    if not strange:
        return []
    tasks = list(dict.fromkeys(record.task for record in strange))
    first = next((one for one in strange if not _metrics_like_main(one)), strange[0])
    told = (
        f"mteb copies main_score from one of a task's other scores, and that of "
        f"{count_of(len(tasks), 'task', 'tasks')} is a copy of none: {first.id} has {first.metrics['main_score']}; "
        "it was changed, or written by another tool: name a metric by its own name in the policy"
    )
    return [told]


def _metrics_like_main(record: TaskRecord) -> set[str]:
    """Return the other metrics that have the value of the main score, by the names that mteb has for them now.

    A mean over the tasks of another may be the same sum in another order.
    """
    main = number_of(record.metrics.get("main_score"))
    values = {name: number_of(value) for name, value in record.metrics.items()}
    return {
        _newest_name(name)
        for name, value in values.items()
        if name != "main_score" and not name.startswith("nauc_")
        if main is not None and value is not None and abs(value - main) <= _SAME_SUM
    }


def _breaks_first_rank(record: TaskRecord) -> bool:
    """Say whether MRR@1 and P@1 differ by more than a few documents with equal scores can explain."""
    mrr, precision = (number_of(record.metrics.get(name)) for name in ("mrr_at_1", "precision_at_1"))
    return mrr is not None and precision is not None and abs(mrr - precision) > _FIRST_RANK_AGREES
