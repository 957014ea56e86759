"""The settings of an EvalScope run, from the `task_config` files in its folder: how it was made, and by which judge.

Addresses and keys stay where they are. No score rests on a setting, and nothing here reads one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateline.agreement import texts_agree
from gateline.errors import InputError, PolicyError
from gateline.readers._json_document import object_of
from gateline.readers._source import Source
from gateline.samples import label_texts
from gateline.yaml_text import read_yaml

_OF_A_MODEL = ("model", "evalscope_version", "eval_type", "eval_backend", "seed")
_ONCE = ("model", "judge", "evalscope_version", "dataset_revision.", "evaluation_version.")
"""Beginnings of facts that a run has once."""


def read_settings(configs: Sequence[Source]) -> tuple[dict[str, object], list[str]]:
    """Return what the settings say of how the run was made, and what could not be read.

    A resumed run writes them again, so there may be several files. Raises InputError where two say different things
    of what a run has once; of anything else all values count.
    """
    found: dict[str, dict[str, object]] = {}
    first: dict[tuple[str, str], str] = {}
    unread = []
    for config in configs:
        facts = _read_config(config)
        if facts is None:
            unread.append(
                f"{config.name} is no YAML that can be read, so nothing of it is known: judge, versions"
            )
            continue
        for name, value in facts.items():
            text = ", ".join(label_texts(value))
            found.setdefault(name, {}).setdefault(text, value)
            first.setdefault((name, text), config.name)
            others = [other for other in found[name] if other != text]
            if others and name.startswith(_ONCE) and not _is_one_version(name, text, others[0]):
                raise InputError(
                    f"{name} is '{text}' here and '{others[0]}' in {first[name, others[0]]}",
                    config.name,
                    "a run is evaluated in one way: keep the settings and results of one run in the folder",
                )
    merged = {name: list(values.values()) for name, values in found.items()}
    if "dataset" in merged:
        merged["dataset"] = [
            list(dict.fromkeys(name for value in merged["dataset"] for name in label_texts(value)))
        ]
    return {name: values[0] if len(values) == 1 else values for name, values in merged.items()}, unread


def _is_one_version(name: str, one: str, other: str) -> bool:
    return name == "evalscope_version" and texts_agree(one, other, "major version")


def _read_config(config: Source) -> dict[str, object] | None:
    try:
        settings = read_yaml(config.decode(), config.name).data
    except (PolicyError, InputError):
        return None
    if not isinstance(settings, dict):
        return None
    facts: dict[str, object] = {name: settings.get(name) for name in _OF_A_MODEL}
    facts["dataset"] = settings.get("datasets")
    generation = object_of(settings.get("generation_config"))
    facts |= {name: generation.get(name) for name in ("temperature", "max_tokens", "top_p")}
    facts["judge"] = _judges(settings)
    for name, benchmark in _objects(settings.get("resolved_benchmarks") or settings.get("dataset_args")):
        for ours, theirs in (("dataset_revision", "dataset_revision"), ("few_shot", "few_shot_num"),
                             ("prompt_template", "prompt_template")):  # fmt: skip
            facts[f"{ours}.{name}"] = benchmark.get(theirs)
    for name, identity in _objects(object_of(settings.get("evaluation_identity")).get("benchmarks")):
        facts[f"evaluation_version.{name}"] = identity.get("evaluation_version")
    return {name: value for name, value in facts.items() if value not in (None, "", [])}


def _judges(settings: Mapping[str, object]) -> list[str]:
    """Return the names of the judge models, of both generations of settings."""
    models = object_of(settings.get("judge")).get("models")
    named = models if isinstance(models, list) else []
    old = object_of(settings.get("judge_model_args")).get("model_id")
    found = [object_of(one).get("model_id") or object_of(one).get("model") or str(one) for one in named]
    return [str(one) for one in found or [old] if one]


def _objects(value: object) -> list[tuple[str, Mapping[str, object]]]:
    return [(str(name), object_of(item)) for name, item in object_of(value).items()]
