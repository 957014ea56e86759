"""The parts of the policy that say when two runs may be compared, and on what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from gateline.bounds import Share
from gateline.metric import Metric
from gateline.samples import label_texts
from gateline.settings import Name, Part


class Samples(Part):
    """Which questions are compared, and what makes two records one question."""

    golden_set: Name | None = None
    """File of the questions that both runs must answer; its labels count before those of the runs. A relative path
    starts at the policy's folder, or else at the working folder."""
    id: Name = "id"
    """Field that identifies a question."""
    cluster: Name | None = None
    """Field whose equal values mark samples that are not independent; each id stands alone when left out."""
    at_least: int = Field(30, ge=1)
    """Fewest pairs for a verdict."""
    on_mismatch: Literal["refuse", "intersect", "independent"] = "refuse"
    """What ids in one run only do: no verdict; left out and reported; or nothing, as the runs answered other questions,
    so that none is paired (logs of traffic, reduced by `gateline reduce`)."""
    same_input: list[Name] | None = None
    """Fields that must be equal for one id in both runs; when left out `question` where both have it, else the one of
    `query`, `user_input`, `input` and `prompt` that holds a text of its own for most questions of both."""
    repeats: Literal["mean", "last", "refuse"] = "mean"
    """What several attempts at one id become."""
    repeat_field: Name = "attempt"
    """Field that tells attempts at one id apart."""
    uneven_attempts: Literal["refuse", "allow"] = "refuse"
    """What it does that a run tries some questions more often than others, and the other run not these: no verdict,
    as repeating only what failed lifts every mean, or a notice."""


class Provenance(Part):
    """How the two runs must have been made."""

    must_match: list[Name] = Field(default_factory=list)
    """Fields that must be present and equal in both runs."""
    may_change: list[Name] = Field(default_factory=list)
    """Fields that this change is allowed to alter, also where the tool that wrote the runs asks for agreement; any
    other difference is reported."""


class Missing(Part):
    """What a value that is not there means, by cause."""

    no_answer: Literal["worst", "drop", "refuse"] = "worst"
    """The system under test failed."""
    no_score: Literal["drop", "worst", "refuse"] = "drop"
    """Nothing is known: the judge failed, the value is null, the call was cached, the price is unknown."""
    drop_at_most: Annotated[Share, Field(ge=0, le=1)] = 0.02
    """Largest share of a metric's pairs that may be left out in one run, over all and in each slice of a hard
    rule."""


def _read_condition(value: object) -> object:
    """Read a label's value, or a list of values any of which is meant, as texts."""
    texts = label_texts(value)
    if not texts or isinstance(value, dict):
        raise ValueError(f"must be a label's value or a list of values, not {value!r}")
    return texts


Condition = Annotated[
    tuple[str, ...],
    BeforeValidator(_read_condition),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": ["string", "number", "boolean"]},
                {"type": "array", "items": {"type": ["string", "number", "boolean"]}, "minItems": 1},
            ]
        }
    ),
]


class Slices(Part):
    """Where we look."""

    by: list[Name] = Field(default_factory=list)
    """Labels each value of which is a slice."""
    named: dict[Name, Annotated[dict[Name, Condition], Field(min_length=1)]] = Field(default_factory=dict)
    """Slices by name: label and value, all of which must hold."""
    files: dict[Name, Name] = Field(default_factory=dict)
    """Slices by name: the questions whose ids stand in a file, such as those that went wrong before. A relative path
    starts at the policy's folder, or else at the working folder."""
    at_least: int = Field(30, ge=1)
    """Fewest pairs for a slice to be decided on; hard rules always are."""

    @model_validator(mode="after")
    def _check_names(self) -> Slices:
        for name in (*self.by, *self.named, *self.files):
            if "=" in name:
                raise ValueError(f"'{name}' can't be told from label=value; names have no '=' in them")
        for name in self.files:
            if name in self.named:
                raise ValueError(f"'{name}' stands in named and in files; give each slice a name of its own")
        return self


@dataclass(frozen=True)
class Terms:
    """The terms of one comparison: what pairing needs to know of a policy."""

    samples: Samples
    provenance: Provenance
    missing: Missing
    slices: Slices
    metrics: dict[str, Metric]
    hard: frozenset[tuple[str, str | None]] = frozenset()
    """Metric and slice of each hard rule."""
    hard_families: frozenset[tuple[str, str]] = frozenset()
    """Metric and label of each hard rule over the values of a label."""
    slice_lines: dict[str, str] = field(default_factory=dict)
    """Slices that a rule names, with the rule's place in the policy file for messages."""
    family_labels: dict[str, str] = field(default_factory=dict)
    """Labels each value of which is a slice of some rule, with that rule's place."""

    def conditions(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return label and values of a slice that is named in the policy, or written as `label=value`."""
        if name in self.slices.named:
            return self.slices.named[name]
        label, _, value = name.partition("=")
        return {label: (value,)}

    def hard_slices(self, family: Callable[[str], Iterable[str]], metric: str | None = None) -> list[str]:
        """Return the slices of hard rules, of all metrics or of one, sorted; `family` gives those of a label."""
        named = {place for judged, place in self.hard if place is not None and metric in (None, judged)}
        for judged, label in self.hard_families:
            if metric in (None, judged):
                named.update(family(label))
        return sorted(named)
