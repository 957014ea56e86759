"""What several files of one run state of the run and of its metrics, held against each other.

Nothing here reads records or knows a format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from gateline.errors import InputError
from gateline.samples import Agreement, MetricFacts, Run, label_texts

_OF_THE_SYSTEM = frozenset({"model", "generator", "dataset", "corpus", "golden", "revision"})
"""Words in the names of facts that one run has once, whatever wrote its files."""
_OF_THE_JUDGE = frozenset({"judge", "evaluator", "grader"})
"""Words in the names of facts that may differ between files with other metrics, each from another tool."""
_ONE_RUN = "files of one run are made alike; leave out the file of the other run"


def check_run_facts(runs: Sequence[Run], warnings: list[str]) -> dict[str, object]:
    """Return what the files say of the whole run; of what may differ among them all values, which a warning tells.

    Raises InputError where two files differ in a fact in which whole runs must agree, or that a run has once.
    """
    must = strictest_agreement(runs)
    merged: dict[str, list[object]] = {}
    holders: dict[str, list[Run]] = {}
    for run in runs:
        for name, value in run.provenance.items():
            values = merged.setdefault(name, [])
            if value not in values:
                values.append(value)
                holders.setdefault(name, []).append(run)
    for name, stated in holders.items():
        for one, other in combinations(stated, 2):
            before, after = _text(one.provenance[name]), _text(other.provenance[name])
            if not before or not after or before == after:
                continue
            told = f"{name} is '{after}' here and '{before}' in {one.file}"
            if _differ(before, after, must.get(name)) and _must_be_one(name, name in must, one, other):
                raise InputError(told, other.file, _ONE_RUN)
            warnings.append(f"{other.file}: {told}")
    return {name: values[0] if len(values) == 1 else values for name, values in merged.items()}


def _must_be_one(name: str, is_asked: bool, one: Run, other: Run) -> bool:
    """Say whether a fact must be the same in two files of one run."""
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    of_the_tool = is_asked or words & _OF_THE_JUDGE
    if words & _OF_THE_SYSTEM and not words & _OF_THE_JUDGE:
        return True
    return bool(of_the_tool) and not _numbers(one).isdisjoint(_numbers(other))


def _numbers(run: Run) -> set[str]:
    return {*run.metrics, *run.metric_facts}


def _differ(before: str, after: str, agreement: Agreement | None) -> bool:
    if agreement == "major version":
        return before.partition(".")[0] != after.partition(".")[0]
    return before != after


def agreed_facts(runs: Sequence[Run]) -> dict[str, MetricFacts]:
    """Return what the tools that wrote the files say of each metric; an InputError where two contradict each other."""
    agreed: dict[str, MetricFacts] = {}
    first: dict[str, str] = {}
    for run in runs:
        for name, facts in run.metric_facts.items():
            known = agreed.get(name)
            agreed[name] = facts if known is None else _merge(name, known, facts, (first[name], run.file))
            first.setdefault(name, run.file)
    return agreed


def _merge(name: str, known: MetricFacts, facts: MetricFacts, files: tuple[str, str]) -> MetricFacts:
    for aspect, before, after in (
        ("better", known.better, facts.better),
        ("range", known.range, facts.range),
        ("definition", known.definition, facts.definition),
    ):
        if before and after and before != after:
            raise InputError(
                f"{name} is stated with {aspect} {_shown(after)} here and {_shown(before)} in {files[0]}",
                files[1],
                "files of one run must not contradict each other",
            )
    return MetricFacts(
        known.better or facts.better,
        known.range or facts.range,
        known.definition or facts.definition,
        known.failed or facts.failed,
    )


def _shown(value: object) -> str:
    return f"[{value[0]:g}, {value[1]:g}]" if isinstance(value, tuple) else f"'{value}'"


def strictest_agreement(runs: Sequence[Run]) -> dict[str, Agreement]:
    """Return in which facts the joined run must agree with another: as exactly as any of its files asks for."""
    asked: dict[str, Agreement] = {}
    for run in runs:
        for name, how in run.must_agree.items():
            asked[name] = "exactly" if "exactly" in (how, asked.get(name)) else how
    return asked


def _text(value: object) -> str:
    return ", ".join(label_texts(value))
