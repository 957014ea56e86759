"""What a results file of lm-evaluation-harness says of tasks: means, directions, versions, groups, settings.

It must not know single samples.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gateline.readers._json_document import number_of, object_of, objects_of, text_of
from gateline.readers._told_sums import find_rounding
from gateline.samples import Agreement, MetricFacts

PLAIN_FILTER = "none"
PLACEHOLDER = "bypass"
"""A metric of tasks that are generated and not scored; its value means nothing."""
MUST_AGREE: dict[str, Agreement] = {
    "task_version": "exactly",
    "num_fewshot": "exactly",
    "dataset": "exactly",
    "scoring": "exactly",
    "target_hash": "exactly",
}
_NO_METRIC = frozenset({"alias", "name", "sample_len", "sample_count", "samples"})
_OF_THE_MODEL = ("revision", "dtype", "peft", "delta", "max_length", "load_in_4bit", "load_in_8bit")
_DIGITS = 12
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(frozen=True)
class Task:
    """What the file says of one task."""

    name: str
    means: dict[str, float] = field(default_factory=dict)
    """Numbers by metric and filter, as `name_metric` writes them."""
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    """Direction by the metric's own name, where it is stated."""
    averaged: frozenset[str] = frozenset()
    """Metrics, by their own names, that are the mean of the samples' values."""
    facts: dict[str, str] = field(default_factory=dict)
    """Version, examples in the prompt, data and scoring, in which two runs must agree; texts, as none is a measure."""
    groups: tuple[str, ...] = ()
    """Groups that the task belongs to, at any level."""
    samples: int | None = None
    """How many documents were evaluated."""
    rounding: float = 0.0
    """By how much the numbers may differ from exact ones: they may have been rounded after the run, all of them."""


def name_metric(name: str, chosen: str) -> str:
    """Return a metric's name with its filter: `exact_match,strict-match`, or just `acc` with the plain one."""
    return name if chosen == PLAIN_FILTER else f"{name},{chosen}"


def bare_name(name: str) -> str:
    """Return a metric's own name without a filter."""
    return name.partition(",")[0]


def read_tasks(value: Mapping[str, object]) -> dict[str, Task]:
    """Return the tasks of a results file by name; groups, which are means of tasks, are none of them."""
    parents = _find_parents(value)
    groups = {group for found in parents.values() for group in found} | object_of(value.get("groups")).keys()
    tasks = {}
    for name, row in object_of(value.get("results")).items():
        if name not in groups:
            tasks[name] = _read_task(name, object_of(row), value, _all_parents(name, parents))
    return tasks


def _read_task(
    name: str, row: Mapping[str, object], value: Mapping[str, object], groups: Sequence[str]
) -> Task:
    config = object_of(object_of(value.get("configs")).get(name))
    metrics = objects_of(config.get("metric_list"))
    directions = object_of(object_of(value.get("higher_is_better")).get(name))
    counted = number_of(object_of(object_of(value.get("n-samples")).get(name)).get("effective"))
    dataset = [text_of(config.get("dataset_path")), text_of(config.get("dataset_name"))]
    facts = {
        "task_version": object_of(value.get("versions")).get(name),
        "num_fewshot": object_of(value.get("n-shot")).get(name),
        "dataset": "/".join(part for part in dataset if part) or None,
        "scoring": _digest_scoring(config),
    }
    return Task(
        name=name,
        means=dict(_read_means(row)),
        higher_is_better={str(metric): way for metric, way in directions.items() if isinstance(way, bool)},
        averaged=frozenset(str(one.get("metric")) for one in metrics if one.get("aggregation") == "mean"),
        facts={key: str(item) for key, item in facts.items() if isinstance(item, str | int | float)},
        groups=tuple(groups),
        samples=None if counted is None else int(counted),
        rounding=find_rounding(number for number in map(number_of, row.values()) if number is not None),
    )


def _read_means(row: Mapping[str, object]) -> Iterable[tuple[str, float]]:
    for key, item in row.items():
        name, _, chosen = key.partition(",")
        number = number_of(item)
        if (
            name not in _NO_METRIC
            and name != PLACEHOLDER
            and not name.endswith("_stderr")
            and number is not None
        ):
            yield name_metric(name, chosen or PLAIN_FILTER), number


def _find_parents(value: Mapping[str, object]) -> dict[str, list[str]]:
    """Return the groups directly above each task or group."""
    parents: dict[str, list[str]] = {}
    for group, members in object_of(value.get("group_subtasks")).items():
        for member in members if isinstance(members, list) else ():
            parents.setdefault(str(member), []).append(group)
    return parents


def _all_parents(name: str, parents: Mapping[str, Sequence[str]]) -> list[str]:
    found: dict[str, None] = {}
    todo = list(parents.get(name, ()))
    while todo:
        group = todo.pop()
        if group not in found:
            found[group] = None
            todo += parents.get(group, ())
    return sorted(found)


def _digest_scoring(config: Mapping[str, object]) -> str | None:
    """Return a digest of how answers are filtered and compared; None where the file does not say it.

    Functions stand there as `<function agg at 0x7b5ae43817e0>`; addresses, which differ in every run, are left out.
    """
    if "metric_list" not in config:
        return None
    said = json.dumps([config["metric_list"], config.get("filter_list")], sort_keys=True)
    return hashlib.sha256(_ADDRESS.sub("", said).encode()).hexdigest()[:_DIGITS]


def state(value: Mapping[str, object]) -> dict[str, object]:
    """Return what the file says of how the run was made; addresses and keys stay where they are."""
    config = object_of(value.get("config"))
    arguments = _read_arguments(config.get("model_args"))
    facts: dict[str, object] = {
        "lm_eval_version": value.get("lm_eval_version"),
        "model": value.get("model_name") or arguments.get("pretrained") or arguments.get("model"),
        "model_source": value.get("model_source") or config.get("model"),
        "model_sha": config.get("model_sha"),
        "commit": value.get("git_hash"),
        "limit": config.get("limit"),
        "system_instruction_sha": value.get("system_instruction_sha"),
        "chat_template_sha": value.get("chat_template_sha"),
        "fewshot_as_multiturn": value.get("fewshot_as_multiturn"),
        **{f"model.{name}": arguments.get(name) for name in _OF_THE_MODEL},
    }
    for name, item in _read_arguments(config.get("gen_kwargs")).items():
        facts[f"generation.{name}"] = item if isinstance(item, str | int | float | None) else json.dumps(item)
    return {name: item for name, item in facts.items() if item not in (None, "")}


def _read_arguments(value: object) -> dict[str, object]:
    """Return arguments, which are an object or, in older files, a text such as `pretrained=a,dtype=b`."""
    if isinstance(value, str):
        pairs = (part.partition("=") for part in value.split(","))
        return {name.strip(): item for name, mark, item in pairs if mark}
    return dict(object_of(value))


def find_facts(tasks: Iterable[Task], names: Iterable[str]) -> tuple[dict[str, MetricFacts], list[str]]:
    """Return the direction of the metrics `names`, and those whose direction differs between tasks.

    No range is stated: a task may score by a function of its own, also under a name such as `exact_match`.
    """
    known = list(tasks)
    facts: dict[str, MetricFacts] = {}
    mixed = []
    for name in names:
        ways = {
            task.higher_is_better[bare_name(name)]
            for task in known
            if bare_name(name) in task.higher_is_better
        }
        if len(ways) > 1:
            mixed.append(name)
        elif ways:
            better: Literal["higher", "lower"] = "higher" if ways.pop() else "lower"
            facts[name] = MetricFacts(better)
    return facts, mixed
