"""What a log of Inspect AI says of the whole run, and the samples with it as a `Run`.

Nothing here reads files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gateline.errors import InputError
from gateline.readers._building import RunBuilder
from gateline.readers._identity import identify_by
from gateline.readers._inspect_plan import hold_log
from gateline.readers._inspect_samples import Record, Samples
from gateline.readers._json_document import object_of, objects_of
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Agreement, MetricFacts, Run

_SETTINGS = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")
_SECRET = frozenset(
    ["key", "keys", "apikey", "token", "secret", "password", "url", "uri", "host", "path", "dir", "file"]
)
"""Words in the names of arguments that are not repeated in reports."""
_MEASURED = ("latency_ms", "total_time_ms", "tokens.input", "tokens.output", "tokens.total")

MUST_AGREE: dict[str, Agreement] = {
    "task": "exactly",
    "task_version": "exactly",
    "dataset": "exactly",
    "judge": "exactly",
}


def make_run(
    samples: Samples,
    log: Mapping[str, object],
    source: Source,
    options: ReadOptions,
    origins: Sequence[str] = (),
    lines: Sequence[int] = (),
) -> Run:
    """Return the samples (n) as a run, in the order that the log planned.

    `log` is the log without samples, empty for a table; `origins` and `lines` say where each sample stands (n, or
    empty). Raises InputError where there is no sample, and where the log is not that of these samples.
    """
    if not samples.records:
        raise InputError(
            "holds no samples",
            source.name,
            "was it written with log_samples=False, or before a sample had ended?",
        )
    plan = object_of(log.get("eval"))
    _complete(samples, plan)
    order = _find_order(samples.records, plan)
    builder = RunBuilder(source, ReadOptions(), "inspect")
    places = np.array(lines or [0] * len(order), dtype=np.int64)
    builder.add([samples.records[row] for row in order], places[order])
    run = builder.finish()
    names = list(run.metrics)
    facts = state(log)
    scorers = {name: "exactly" for name in facts if name.startswith("scorer_options.")}
    references = {"reference": "exactly"} if "reference" in run.fields else {}
    run = replace(
        run,
        origins=[origins[row] for row in order] if origins else [],
        provenance=facts,
        format_version=str(facts.get("inspect_version") or ""),
        metric_facts={
            name: MetricFacts("higher", (0.0, 1.0))
            for name in names
            if name not in samples.ungraded and not np.isnan(run.numbers(name)).all()
        },
        aliases=_find_aliases(names),
        must_agree={**(MUST_AGREE if plan else {}), **scorers, **references},  # type: ignore[dict-item]
    )
    run = replace(run, warnings=tuple(hold_log(samples, log, run)))
    return run if options.id_field in (None, "id") else identify_by(run, options.id_field)


def _complete(samples: Samples, plan: Mapping[str, object]) -> None:
    """Give each record the planned metrics, and leave out the columns that say nothing."""
    planned = _planned_metrics(plan, samples.parts)
    for record in samples.records:
        metrics = record["metrics"]
        assert isinstance(metrics, dict)
        for name in samples.parts:
            metrics.pop(name, None)  # unscored as a whole
        record["metrics"] = {**dict.fromkeys(planned), **metrics}
    repeats = Counter((type(record["id"]), str(record["id"])) for record in samples.records)
    # Where a sample failed, a column without values shows what failed; else it shows that nothing was recorded.
    kept = _MEASURED if any(record["error"] for record in samples.records) else ()
    empty = [
        name
        for name in samples.records[0]
        if name not in kept and all(record[name] is None for record in samples.records)
    ]
    if max(repeats.values()) == 1:
        empty.append("attempt")
    for record in samples.records:
        for name in empty:
            record.pop(name, None)


def _planned_metrics(plan: Mapping[str, object], parts: set[str]) -> list[str]:
    """Return the metrics that the log's scorers would give, so that a run in which all failed has them too."""
    names = []
    for scorer in objects_of(plan.get("scorers")):
        name, metrics = str(scorer.get("name")), scorer.get("metrics")
        grouped: list[Mapping[str, object]] = [metrics] if isinstance(metrics, dict) else []
        if isinstance(metrics, list):
            grouped = [item for item in objects_of(metrics) if "name" not in item]
        found = [f"{name}.{part}" for group in grouped for part in group if "*" not in part]
        names += found or ([name] if not grouped and name not in parts else [])
    return names


def _find_order(records: Sequence[Record], plan: Mapping[str, object]) -> list[int]:
    """Return the rows as planned: logs hold samples in the order in which they ended."""
    ids = object_of(plan.get("dataset")).get("sample_ids")
    rank = {str(name): place for place, name in enumerate(ids)} if isinstance(ids, list) else {}

    def key(row: int) -> tuple[int, str, str]:
        name = str(records[row].get("id", ""))  # a sample without one is told below
        return rank.get(name, len(rank)), name, str(records[row].get("attempt", "")).zfill(6)

    return sorted(range(len(records)), key=key)


def _find_aliases(names: Sequence[str]) -> dict[str, str]:
    """Return the short names of parts: `recall` for `rag_scores.recall`, where only one scorer has such a part."""
    parts = Counter(name.partition(".")[2] for name in names)
    return {
        short: name
        for name in names
        if (short := name.partition(".")[2]) and parts[short] == 1 and short not in names
    }


def state(log: Mapping[str, object]) -> dict[str, object]:
    """Return what a log says of how the run was made; addresses and keys stay where they are."""
    plan = object_of(log.get("eval"))
    if not plan:
        return {}
    steps = objects_of(object_of(log.get("plan")).get("steps"))
    settings = {
        **object_of(object_of(log.get("plan")).get("config")),
        **object_of(plan.get("model_generate_config")),
    }
    config, dataset = object_of(plan.get("config")), object_of(plan.get("dataset"))
    facts: dict[str, object] = {
        "inspect_version": object_of(plan.get("packages")).get("inspect_ai"),
        "task": plan.get("task"),
        "task_version": plan.get("task_version"),
        "dataset": dataset.get("name"),
        "shuffled": dataset.get("shuffled") or None,
        "model": plan.get("model"),
        "judge": _find_judges(plan),
        "solver": plan.get("solver") or [step.get("solver") for step in steps],
        "commit": object_of(plan.get("revision")).get("commit"),
        "epochs": config.get("epochs"),
        "limit": config.get("limit"),
        "tags": plan.get("tags"),
        **{name: settings.get(name) for name in _SETTINGS},
    }
    for part in ("task_args", "metadata"):
        facts |= {
            f"{part}.{name}": item
            for name, item in object_of(plan.get(part)).items()
            if _is_shown(name, item)
        }
    for scorer in objects_of(plan.get("scorers")):
        if options := _without_models(object_of(scorer.get("options"))):
            shown = json.dumps(options, ensure_ascii=False, sort_keys=True, default=str)
            facts[f"scorer_options.{scorer.get('name')}"] = shown
    return {name: value for name, value in facts.items() if value not in (None, "", [])}


def _is_shown(name: str, value: object) -> bool:
    return isinstance(value, str | int | float) and not _is_secret(name)


def _is_secret(name: str) -> bool:
    return not _SECRET.isdisjoint(name.lower().replace("-", "_").split("_"))


def _without_models(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that say how is scored: not the models, which are the judges, and nothing secret."""
    return {name: _plain(item) for name, item in options.items() if name != "model" and not _is_secret(name)}


def _plain(value: object) -> object:
    """Return a value without secrets; of a model that is an object, with its address and arguments, the name."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "model_args" in value:
        return value.get("model")
    return {name: _plain(item) for name, item in value.items() if not _is_secret(name)}


def _find_judges(plan: Mapping[str, object]) -> list[str]:
    """Return the models that scorers ask: those with the role of a grader, and those in a scorer's options."""
    found: list[object] = []
    for role, models in object_of(plan.get("model_roles")).items():
        if "grader" in role or "judge" in role or "scorer" in role:
            found += models if isinstance(models, list) else [models]
    for scorer in objects_of(plan.get("scorers")):
        asked = object_of(scorer.get("options")).get("model")
        found += asked if isinstance(asked, list) else [asked]
    names = [one.get("model") if isinstance(one, dict) else one for one in found]
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))
