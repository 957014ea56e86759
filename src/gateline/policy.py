"""The policy file: composes the parts that the layers below define, and keeps the line of everything.

All that is wrong with a policy is told at once. It judges nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

from gateline.bounds import read_share
from gateline.calibration import CalibrationSource
from gateline.errors import PolicyError
from gateline.files import SPECIAL, find_matches, is_special, is_there
from gateline.metric import Metrics
from gateline.pairing.settings import Missing, Provenance, Samples, Slices, Terms
from gateline.policy_problems import RULES, find_problems
from gateline.rules import Rule
from gateline.settings import Name, Part
from gateline.statistics import Settings
from gateline.texts import languages
from gateline.waivers import Waiver
from gateline.yaml_text import Document, read_yaml

if TYPE_CHECKING:
    AnyRule = Rule
else:
    AnyRule = Annotated[Union[tuple(RULES.values())], Field(discriminator="kind")]  # noqa: UP007

MOST_BYTES = 1_000_000
_OF_RESULTS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
"""Endings that no policy has; JSON is YAML too."""


def _read_version(value: object) -> object:
    if type(value) is not int or value != 1:
        raise ValueError(f"must be 1, not {value!r}")
    return value


def _read_language(value: object) -> object:
    if value is not None and value not in languages():
        raise ValueError(f"must be one of {', '.join(languages())}, not {value!r}")
    return value


def _read_calibration(value: object) -> object:
    return [value] if isinstance(value, dict) else value


class Policy(Part):
    """What must hold for a change to be merged."""

    version: Annotated[int, BeforeValidator(_read_version), WithJsonSchema({"const": 1})]
    """Version of the policy's language."""
    name: Name
    """Name of the gate; its comment is found by it."""
    description: str | None = None
    """What the gate is for."""
    lang: Annotated[
        str | None, BeforeValidator(_read_language), WithJsonSchema({"enum": [*languages(), None]})
    ] = None
    """Language of comment and reports, where --lang asks for no other: en or zh."""
    samples: Samples = Samples()
    """What is asked."""
    provenance: Provenance = Provenance()
    """How the runs must have been made."""
    metrics: Metrics
    """What is measured."""
    calibration: Annotated[list[CalibrationSource], BeforeValidator(_read_calibration)] = Field(
        default_factory=list
    )
    """Labels of people that correct what a judge says: one file, or a list of several."""
    missing: Missing = Missing()
    """What a missing value means."""
    slices: Slices = Slices()
    """Where we look."""
    statistics: Settings = Settings()
    """How sure we must be."""
    rules: Annotated[list[AnyRule], Field(min_length=1)]
    """What must hold."""
    waivers: list[Waiver] = Field(default_factory=list)
    """What we let pass for now."""


@dataclass(frozen=True)
class PolicyFile:
    """A policy and where it stands."""

    policy: Policy
    file: str
    sha256: str
    rule_lines: dict[str, int] = field(default_factory=dict)
    """Line of each rule in the file, by id."""
    elsewhere: Mapping[str, Path] = field(default_factory=dict)
    """Where a named file is really read from, by its path: of the base branch's policy, that branch's copy."""

    @property
    def rules(self) -> dict[str, Rule]:
        """Return the rules by id."""
        return {rule.id: rule for rule in self.policy.rules}

    def place(self, rule: Rule) -> str:
        """Return `file:line  rules.id` of a rule."""
        return f"{self.file}:{self.rule_lines[rule.id]}  {rule.id}"

    def golden_set_file(self) -> Path | None:
        """Return the golden set's path: as it stands, or from the policy's folder."""
        name = self.policy.samples.golden_set
        return None if name is None else self._find(name)

    def slice_files(self) -> dict[str, Path]:
        """Return the path of each slice that a file names."""
        return {name: self._find(file) for name, file in self.policy.slices.files.items()}

    def calibration_files(self) -> list[tuple[CalibrationSource, Path]]:
        """Return the files of people's labels, each with what it is for."""
        return [(source, self._find(source.human)) for source in self.policy.calibration]

    def named_files(self) -> list[str]:
        """Return the files that decide with the policy: golden set, slices, people's labels; each once, in order."""
        golden = self.golden_set_file()
        named = [golden] if golden is not None else []
        named += [*self.slice_files().values(), *(path for _, path in self.calibration_files())]
        return list(dict.fromkeys(str(path) for path in named))

    def _find(self, name: str) -> Path:
        beside = Path(self.file).parent / name
        found = beside if _names_something(beside) or not _names_something(name) else Path(name)
        plain = os.path.normpath(found)
        if os.path.realpath(plain) == os.path.realpath(found):  # not so where `..` leaves a linked folder
            found = Path(plain)
        return self.elsewhere.get(str(found), found)

    def terms(self) -> Terms:
        """Return what pairing needs to know."""
        policy = self.policy
        slice_lines: dict[str, str] = {}
        for name, metric in policy.metrics.items():
            if metric.applies_to:
                slice_lines.setdefault(metric.applies_to, f"{self.file}  metrics.{name}.applies_to")
        for rule in policy.rules:
            if rule.slice is not None:
                slice_lines.setdefault(rule.slice, self.place(rule))
        families = {
            label: self.place(rule) for rule in policy.rules for label in rule.labels(policy.slices.by)
        }
        hard = frozenset((rule.metric, rule.slice) for rule in policy.rules if rule.hard)
        hard_families = frozenset(
            (rule.metric, label)
            for rule in policy.rules
            if rule.hard
            for label in rule.labels(policy.slices.by)
        )
        return Terms(
            policy.samples,
            policy.provenance,
            policy.missing,
            policy.slices,
            policy.metrics,
            hard,
            hard_families,
            slice_lines,
            families,
        )


def _names_something(path: str | PathLike[str]) -> bool:
    """Return whether there is a file of this name, or one that it matches as a pattern."""
    return is_there(path) or bool(find_matches(str(path)))


def load_policy(path: str | PathLike[str]) -> PolicyFile:
    """Read a policy file.

    Raises PolicyError with all problems that can be found without data, each with file, line and key.
    """
    file = str(path)
    content = _read_bytes(path)
    return read_policy(_decode(content, file), file, hashlib.sha256(content).hexdigest())


def name_of(path: str | PathLike[str]) -> str:
    """Return the name of a gate whose policy may be unusable: the one in it as far as it can be read, else the file's.

    A gate keeps its name whatever is wrong with it, or its comment would stand beside the one of better days.
    """
    stem = Path(path).stem
    try:
        data = read_yaml(_decode(_read_bytes(path), str(path)), str(path)).data
    except PolicyError:
        return stem
    name = data.get("name") if isinstance(data, dict) else None
    return name if isinstance(name, str) and name.strip() else stem


def _read_bytes(path: str | PathLike[str]) -> bytes:
    file = str(path)
    if is_special(path):
        raise PolicyError(f"the policy {SPECIAL}", file)
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise PolicyError(
            f"policy not found: {file}", file, "gateline init RESULT writes a first one"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PolicyError(f"the policy can't be read: {reason}", file) from None
    if file.lower().endswith(_OF_RESULTS):
        hint = "gateline inspect shows results, and gateline init writes a policy for them"
        raise PolicyError("a policy is a YAML file, and this is named as results are", file, hint)
    if len(content) > MOST_BYTES:
        raise PolicyError(f"a policy of more than {MOST_BYTES:,} bytes is not read", file)
    return content


def _decode(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PolicyError("the policy is not UTF-8", f"{file}:{line}", "save it as UTF-8") from None


def read_policy(text: str, file: str, sha256: str = "") -> PolicyFile:
    """Read a policy from its text; `file` is only for messages."""
    document = read_yaml(text, file)
    if not isinstance(document.data, dict):
        found = (
            "empty" if document.data is None else "a list" if isinstance(document.data, list) else "one value"
        )
        raise PolicyError(
            f"a policy is a mapping with version, name, metrics and rules; this file is {found}", file
        )
    _prepare(document)
    policy, error = None, None
    try:
        policy = Policy.model_validate(document.data)
    except ValidationError as raised:
        error = raised
    problems = find_problems(document, error, list(Policy.model_fields))
    if problems or policy is None:
        raise PolicyError(f"in {file}", problems=problems)
    lines = {rule.id: document.line(("rules", number)) for number, rule in enumerate(policy.rules)}
    return PolicyFile(policy, file, sha256, lines)


def _prepare(document: Document) -> None:
    """Take a label's value as the text that stands in the file, and a confidence also as a percentage."""
    data: Any = document.data
    for path, text in document.raw.items():
        if path[:2] == ("slices", "named") and len(path) >= 4 and text not in ("", "~", "null"):
            holder: Any = data
            for part in path[:-1]:
                holder = holder[part]
            holder[path[-1]] = text
    statistics = data.get("statistics")
    if isinstance(statistics, dict) and "confidence" in statistics:
        statistics["confidence"] = read_share(statistics["confidence"])
