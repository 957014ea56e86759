"""Samples of lm-evaluation-harness as records: one a document of a task, with the scores of all filters.

It must not look for files.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gateline.errors import InputError
from gateline.readers._building import describe
from gateline.readers._json_document import object_of
from gateline.readers._lm_eval_results import PLACEHOLDER, PLAIN_FILTER, Task, name_metric
from gateline.samples import read_number

Record = dict[str, object]
Key = tuple[str, int]

QUESTIONS = ("question", "query", "input", "prompt", "text", "sentence", "problem", "ctx")
LONGEST_LABEL = 200
_DIGITS = 16
_NO_METRIC = frozenset({
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash", "schema_version", PLACEHOLDER,
})  # fmt: skip


@dataclass
class Samples:
    """Documents as they are read, by task and number."""

    tasks: Mapping[str, Task] = field(default_factory=dict)
    records: dict[Key, Record] = field(default_factory=dict)
    places: dict[Key, tuple[str, int]] = field(default_factory=dict)
    partial: Counter[str] = field(default_factory=Counter)
    """How often a metric has no number for a sample, but a part of what is computed over the whole task."""
    repeated: int = 0
    """Documents that stand in a task more than once."""
    _filters: set[tuple[Key, str]] = field(default_factory=set)
    _hashes: dict[Key, str] = field(default_factory=dict)

    def add(self, task: str, line: Mapping[str, object], file: str, number: int) -> None:
        """Take one line; an InputError for one without `doc_id`, or that stands twice."""
        place = f"{file}:{number}" if number else file
        document, chosen = line.get("doc_id"), str(line.get("filter") or PLAIN_FILTER)
        if isinstance(document, bool) or not isinstance(document, int):
            raise InputError(f"doc_id must be a whole number, not {describe(document)}", place)
        key = (task, document)
        if (key, chosen) in self._filters:
            raise InputError(
                f"doc_id {document} stands twice"
                + (f" for the filter '{chosen}'" if "filter" in line else ""),
                place,
                "are there two runs in one file, or two tasks?",
            )
        self._filters.add((key, chosen))
        if key not in self.records:
            self.records[key] = self._make_record(task, line)
            self.places[key] = (file, number)
            self._hashes[key] = _hash_document(line, place)
        metrics = self.records[key]["metrics"]
        assert isinstance(metrics, dict)
        metrics.update(self._read_scores(line, chosen))

    def _make_record(self, task: str, line: Mapping[str, object]) -> Record:
        doc, known = object_of(line.get("doc")), self.tasks.get(task, Task(task))
        target = line.get("target")
        return {
            "slices": find_groups(known),
            "doc": doc,
            "metrics": {},
            "question": next((doc[name] for name in QUESTIONS if isinstance(doc.get(name), str)), None),
            "answer": _first_text(line.get("filtered_resps")),
            "reference": target if isinstance(target, str) else None,
            "target_hash": line.get("target_hash"),
        }

    def _read_scores(self, line: Mapping[str, object], chosen: str) -> Iterator[tuple[str, float | None]]:
        listed = line.get("metrics")
        names = [str(name) for name in listed] if isinstance(listed, list) else [*line]
        for name in names:
            if name in _NO_METRIC or name not in line:
                continue
            value, column = line[name], name_metric(name, chosen)
            if isinstance(value, bool):
                yield column, float(value)
            elif value is None or isinstance(value, int | float):
                yield column, None if value is None else read_number(value)
            elif isinstance(listed, list) or not isinstance(value, str):
                self.partial[column] += 1

    def finish(self) -> tuple[list[Record], list[tuple[str, int]]]:
        """Return the records, identified by task and document, and where each stands, in the order of tasks."""
        keys = sorted(self.records)
        self._identify(keys)
        fields = _label_names(self.records.values())
        for record in self.records.values():
            slices, doc = record["slices"], record.pop("doc")
            assert isinstance(slices, dict)
            assert isinstance(doc, dict)
            record["slices"] = {**{name: doc.get(name) for name in fields}, **slices}
        return [self.records[key] for key in keys], [self.places[key] for key in keys]

    def _identify(self, keys: list[Key]) -> None:
        """Identify each record by the hash of its document, and equal documents by a counter as well."""
        counted: Counter[str] = Counter()
        for key in keys:
            name = f"{key[0]}/{self._hashes[key][:_DIGITS]}".lstrip("/")
            counted[name] += 1
            self.repeated += counted[name] == 2
            self.records[key]["id"] = name if counted[name] == 1 else f"{name}#{counted[name]}"


def find_groups(task: Task) -> Record:
    """Return the labels of a task: its name and its groups, as far as it has them."""
    labels: Record = {"task": task.name, "group": list(task.groups)}
    return {name: label for name, label in labels.items() if label}


def _hash_document(line: Mapping[str, object], place: str) -> str:
    """Return the hash of the document, as lm-evaluation-harness computes it where an old file lacks it."""
    written = line.get("doc_hash")
    if isinstance(written, str) and written:
        return written
    if not line.get("doc"):
        raise InputError("has neither doc_hash nor doc, so nothing identifies the document", place)
    return hashlib.sha256(
        json.dumps(line["doc"], indent=2, ensure_ascii=False).encode("utf-8", "replace")
    ).hexdigest()


def _first_text(value: object) -> str | None:
    """Return the first text in nested lists; the answers that a filter chose."""
    while isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else None


def _label_names(records: Iterable[Record]) -> list[str]:
    """Return the fields of the documents that can be labels: those with short values that are not the question."""
    seen: dict[str, bool] = defaultdict(lambda: True)
    filled: set[str] = set()
    for record in records:
        texts = (record["question"], record["reference"])
        for name, value in object_of(record["doc"]).items():
            is_short = isinstance(value, str | int | float | None) and len(str(value)) <= LONGEST_LABEL
            seen[name] &= is_short and (value is None or value not in texts)
            filled.add(name if value is not None else "")
    return [name for name, is_label in seen.items() if is_label and name in filled]
