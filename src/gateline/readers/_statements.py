"""What several files of one run state of the run and of its metrics, held against each other.

Nothing here reads records or knows a format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from gateline.agreement import texts_agree
from gateline.errors import InputError
from gateline.samples import Agreement, MetricFacts, Run, label_texts

_OF_THE_DATA = frozenset({"dataset", "corpus", "golden", "index"})
"""Words in the names of facts of which each part of the questions may have its own."""
_OF_THE_SYSTEM = frozenset({"model", "generator", "revision"})
"""Words in the names of facts that one run has once, whatever wrote its files."""
_OF_THE_JUDGE = frozenset({"judge", "evaluator", "grader"})
"""Words in the names of facts that may differ between files with other metrics, each from another tool."""
_OF_SOME_MODEL = frozenset({"model", "name", "id", "revision", "version", "provider"})
"""Words of a name that says of which model it tells no more than `model`: the system's, or that of the judge."""
_ONE_RUN = "files of one run are made alike; leave out the file of the other run"


@dataclass(frozen=True)
class _Stated:
    """A value of a fact, and the files that state it."""

    text: str
    value: object
    runs: list[Run] = field(default_factory=list)

    @cached_property
    def ids(self) -> set[str]:
        return {name for run in self.runs for name in run.ids}

    @cached_property
    def names(self) -> set[str]:
        return {name for run in self.runs for name in (*run.metrics, *run.fields)}

    @cached_property
    def numbers(self) -> set[str]:
        return {name for run in self.runs for name in (*run.metrics, *run.metric_facts)}


def check_run_facts(
    runs: Sequence[Run], warnings: list[str]
) -> tuple[dict[str, object], dict[str, dict[str, list[Run]]]]:
    """Return what the files say of the whole run, and the facts of its parts: by name and text, the files.

    Of what may differ among the files of the same questions it is all values, which a warning tells, in an order in
    which it does not matter how the files are named. A fact is one of
    parts where files without a question in common differ in it, and it tells of their data or is compared with the
    other run anyway. Raises InputError where files differ in another fact that a run has once.
    """
    must = strictest_agreement(runs)
    of_run: dict[str, object] = {}
    of_parts: dict[str, dict[str, list[Run]]] = {}
    for name in dict.fromkeys(name for run in runs for name in run.provenance):
        stated = _collect(name, runs)
        pairs = list(combinations((one for one in stated if one.text), 2))
        are_apart = all(one.ids.isdisjoint(other.ids) for one, other in pairs)
        if pairs and are_apart and (name in must or _tells_of_data(name)):
            of_parts[name] = {one.text: one.runs for one in stated if one.text}
            continue
        for one, other in pairs:
            told = f"{name} is '{other.text}' here and '{one.text}' in {one.runs[0].file}"
            agree = texts_agree(one.text, other.text, must.get(name, "exactly"))
            if not agree and _must_be_one(name, name in must, one, other):
                raise InputError(told, other.runs[0].file, _ONE_RUN)
            warnings.append(f"{other.runs[0].file}: {told}")
        of_run[name] = stated[0].value if len(stated) == 1 else [one.value for one in _in_order(stated)]
    return of_run, of_parts


def find_stated(run: Run, facts: Iterable[str]) -> dict[str, str]:
    """Return what a file states of facts of the whole run, as texts."""
    return {name: text for name in facts if (text := _text(run.provenance.get(name)))}


def _in_order(stated: Sequence[_Stated]) -> list[_Stated]:
    """Return what is stated in an order in which the files may be named in any: by the first number of each."""

    def first_name(one: _Stated) -> str:
        others = {name for other in stated if other is not one for name in other.names}
        return min(one.names - others, default="")

    return sorted(stated, key=first_name)


def find_silent(runs: Sequence[Run], facts: Iterable[str], warnings: list[str]) -> list[frozenset[str]]:
    """Return for each file the facts that it does not state for its records, as another one with its numbers does.

    A file of labels or times of records whose scores stand in a file that states the fact lacks nothing. A warning
    tells of facts on which numbers rest; the others count where a policy asks for them.
    """
    must = strictest_agreement(runs)
    numbers = [{*run.metrics, *run.number_names()} - {"attempt"} for run in runs]
    silent: list[set[str]] = [set() for _ in runs]
    for name in facts:
        tells = [bool(_text(run.provenance.get(name))) for run in runs]
        known = {sample for run, told in zip(runs, tells, strict=True) if told for sample in run.ids}
        for at, run in enumerate(runs):
            if tells[at] or any(run.texts(name) or ()) or known.issuperset(run.ids):
                continue
            alike = [
                at_other
                for at_other, told in enumerate(tells)
                if told and not numbers[at].isdisjoint(numbers[at_other])
            ]
            if alike:
                silent[at].add(name)
                if name in must or _words(name) & (_OF_THE_DATA | _OF_THE_SYSTEM | _OF_THE_JUDGE):
                    other = runs[alike[0]]
                    text = _text(other.provenance[name])
                    warnings.append(f"{run.file}: {name} is not said here, and is '{text}' in {other.file}")
    return [frozenset(names) for names in silent]


def _collect(name: str, runs: Sequence[Run]) -> list[_Stated]:
    """Return the values of a fact in the order of the files; values of one text are one."""
    found: dict[str, _Stated] = {}
    for run in runs:
        if name in run.provenance:
            text = _text(run.provenance[name])
            found.setdefault(text, _Stated(text, run.provenance[name])).runs.append(run)
    return list(found.values())


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name.lower()))


def _tells_of_data(name: str) -> bool:
    words = _words(name)
    return bool(words & _OF_THE_DATA) and not words & _OF_THE_JUDGE


def _must_be_one(name: str, is_asked: bool, one: _Stated, other: _Stated) -> bool:
    """Say whether a fact must be the same in the files that differ in it."""
    words = _words(name)
    is_of_some_model = "model" in words and words <= _OF_SOME_MODEL
    if words & (_OF_THE_DATA | _OF_THE_SYSTEM) and not words & _OF_THE_JUDGE and not is_of_some_model:
        return True
    rests_on_it = is_asked or is_of_some_model or words & _OF_THE_JUDGE
    return bool(rests_on_it) and not one.numbers.isdisjoint(other.numbers)


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
