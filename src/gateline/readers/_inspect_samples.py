"""Samples of Inspect AI as records: scores as numbers, what an error means, times, tokens and labels.

It must not know which kind of file the samples come from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gateline.readers._json_document import first_line, measure, object_of, objects_of, text_of

Record = dict[str, object]

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partial, incorrect, no answer: what Inspect's `value_to_float` makes of them unless told otherwise."""
_SOFT = ("P", "N")
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
LONGEST_LABEL, LONGEST_TAG = 200, 40
"""Characters of a label, and of one of several in a list: longer ones are texts, such as passages."""
MOST_TAGS = 20
_MISSING = frozenset({"nan", "", "none", "null"})
_CANCELLED = ("CancelledError(", "Cancelled(")
_BY_PERSONS = frozenset({"operator", "custom"})
"""Limits that say nothing of the system under test."""
_SECOND = 1000.0


@dataclass
class Samples:
    """Samples as they are read."""

    model: str = ""
    """The model under test; empty where the file does not say it."""
    records: list[Record] = field(default_factory=list)
    ungraded: set[str] = field(default_factory=set)
    """Metrics with a value that is neither a grade nor a truth value."""
    unreadable: Counter[str] = field(default_factory=Counter)
    """How many texts of each metric are no number; Inspect counts them as 0."""
    example: str = ""
    """The first of these texts."""
    parts: set[str] = field(default_factory=set)
    """Scorers that give several metrics."""
    softly_graded: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """Of each metric: id and epoch of the samples with a grade to which a log may give another number, P or N."""
    invalidated: int = 0
    """Samples that somebody marked as invalid."""
    failed: set[tuple[str, str]] = field(default_factory=set)
    """Id and epoch of samples that ended with an error."""
    retried: int = 0
    """Samples that ended without an error only when they were tried again."""

    def add(self, sample: Mapping[str, object]) -> None:
        """Take a sample as it stands in a log, without its events."""
        scores = sample.get("scores")
        if scores is None and "score" in sample:  # before several scorers were possible
            scores = {"score": sample["score"]}
        error = _find_error(sample)
        self.invalidated += error == "invalidated"
        execution = str(sample.get("id")), str(sample.get("epoch") or 1)
        if sample.get("error"):
            self.failed.add(execution)
        else:
            self.retried += bool(sample.get("error_retries"))
        usage = self._find_usage(sample)
        output = object_of(sample.get("output"))
        self.records.append(
            {
                "id": sample.get("id"),
                "attempt": sample.get("epoch") or 1,
                "slices": find_labels(object_of(sample.get("metadata"))),
                "metrics": dict(self._read_scores(object_of(scores), execution)),
                "error": error,
                "question": find_question(sample.get("input")),
                "answer": text_of(output.get("completion")) or _find_answer(scores),
                "reference": _find_reference(sample.get("target")),
                "latency_ms": measure(sample.get("working_time"), _SECOND),
                "total_time_ms": measure(sample.get("total_time"), _SECOND),
                "tokens.input": _sum_inputs(usage),
                "tokens.output": _sum(usage, "output_tokens"),
                "tokens.total": _sum(usage, "total_tokens"),
                "cost_usd": _sum(usage, "total_cost"),
            }
        )

    def _find_usage(self, sample: Mapping[str, object]) -> list[Mapping[str, object]]:
        """Return the use of the model under test; of all models where it used none of that name itself."""
        usage = object_of(sample.get("model_usage"))
        return [
            object_of(item) for name, item in usage.items() if name == self.model or self.model not in usage
        ]

    def _read_scores(
        self, scores: Mapping[str, object], execution: tuple[str, str]
    ) -> Iterator[tuple[str, float | None]]:
        for scorer, score in scores.items():
            value = score.get("value") if isinstance(score, dict) else score
            if isinstance(value, list):
                value = {str(place): item for place, item in enumerate(value)}
            if isinstance(value, dict):
                self.parts.add(scorer)
                for part, item in value.items():
                    yield f"{scorer}.{part}", self._to_number(f"{scorer}.{part}", item, execution)
            elif not is_missing(value) or scorer not in self.parts:
                yield scorer, self._to_number(scorer, value, execution)

    def _to_number(self, name: str, value: object, execution: tuple[str, str]) -> float | None:
        if is_missing(value):
            return None
        if isinstance(value, str):
            grade = GRADES.get(value, WORDS.get(value.lower()))
            if grade is not None:
                if value in _SOFT:
                    self.softly_graded.setdefault(name, set()).add(execution)
                return grade
        elif isinstance(value, bool):
            return float(value)
        self.ungraded.add(name)
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            self.unreadable[name] += 1
            self.example = self.example or str(value)[:40]
            return None


def is_missing(value: object) -> bool:
    """Say whether a score's value is none: Inspect writes NaN for a sample that a scorer left unscored."""
    if isinstance(value, str):
        return value.strip().lower() in _MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def find_question(asked: object) -> str | None:
    """Return what the user asked: the input as text, or the user's messages in it."""
    if isinstance(asked, str):
        return asked.strip() or None
    said = [message.get("content") for message in objects_of(asked) if message.get("role") == "user"]
    parts = [part for content in said for part in (content if isinstance(content, list) else [content])]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text.strip() for text in texts if isinstance(text, str)) or None


def find_labels(metadata: Mapping[str, object]) -> Record:
    """Return what of the metadata can be a label: short values, and lists of a few."""
    labels: Record = {}
    for name, value in metadata.items():
        items, most = (value, LONGEST_TAG) if isinstance(value, list) else ([value], LONGEST_LABEL)
        is_short = (isinstance(item, str | int | float) and len(str(item)) <= most for item in items)
        if 0 < len(items) <= MOST_TAGS and all(is_short):
            labels[name] = value
    return labels


def _find_error(sample: Mapping[str, object]) -> str | None:
    """Return why a sample has no usable score; None where it has.

    Inspect tells a failure of the system from one of a scorer only by what it left: where the model's output is there,
    the answer was given, and nothing is known of its worth.
    """
    if sample.get("invalidation"):
        return "invalidated"
    error = sample.get("error")
    message = text_of(error.get("message") if isinstance(error, dict) else error)
    answered = _has_answered(sample)
    if message:
        if message.startswith(_CANCELLED):
            return "cancelled"
        return (first_line(message) or "error") if answered else "no_answer"
    if sample.get("scores") or sample.get("score"):
        return None
    limit = sample.get("limit")
    kind = text_of(limit.get("type") if isinstance(limit, dict) else limit)
    return "no_answer" if kind and kind not in _BY_PERSONS and not answered else "not_scored"


def _has_answered(sample: Mapping[str, object]) -> bool:
    if "output" not in sample:  # a table: who spent no tokens gave no answer
        return bool(sample.get("model_usage"))
    return bool(text_of(object_of(sample["output"]).get("completion")))


def _find_answer(scores: object) -> str | None:
    """Return the answer as the first scorer that kept it has it."""
    answers = (text_of(object_of(score).get("answer")) for score in object_of(scores).values())
    return next((answer for answer in answers if answer), None)


def _find_reference(target: object) -> str | None:
    if isinstance(target, list):
        return "\n".join(map(str, target)) or None
    return text_of(target) or None


def _sum(usage: Sequence[Mapping[str, object]], name: str) -> float | None:
    """Return the sum over models; None where one does not say it, and where there is none."""
    numbers = [measure(item.get(name)) for item in usage]
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(numbers) else None


def _sum_inputs(usage: Sequence[Mapping[str, object]]) -> float | None:
    """Return all tokens of the input; Inspect counts those from and to a provider's cache apart."""
    plain = _sum(usage, "input_tokens")
    cached = ("input_tokens_cache_read", "input_tokens_cache_write")
    return (
        None
        if plain is None
        else plain + sum(measure(one.get(name)) or 0 for one in usage for name in cached)
    )
