"""The policy file: composes the parts that the layers below define, and keeps the line of everything.

All that is wrong with a policy is told at once. It judges nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from gateline.bounds import read_share
from gateline.errors import PolicyError, Problem, did_you_mean
from gateline.metric import Metric, Metrics
from gateline.pairing.settings import Missing, Provenance, Samples, Slices, Terms
from gateline.rules import Rule, find_rules
from gateline.settings import Name, Part
from gateline.statistics import Settings
from gateline.waivers import Waiver
from gateline.yaml_text import Document, read_yaml
from gateline.yaml_text import Path as KeyPath

RULES = find_rules()

if TYPE_CHECKING:
    AnyRule = Rule
else:
    AnyRule = Annotated[Union[tuple(RULES.values())], Field(discriminator="kind")]  # noqa: UP007

MOST_BYTES = 1_000_000


class Policy(Part):
    """What must hold for a change to be merged."""

    version: Literal[1]
    """Version of the policy's language."""
    name: Name
    """Name of the gate; its comment is found by it."""
    description: str | None = None
    """What the gate is for."""
    samples: Samples = Samples()
    """What is asked."""
    provenance: Provenance = Provenance()
    """How the runs must have been made."""
    metrics: Metrics
    """What is measured."""
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
        if name is None:
            return None
        beside = Path(self.file).parent / name
        return beside if beside.exists() or not Path(name).exists() else Path(name)

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


def load_policy(path: str | PathLike[str]) -> PolicyFile:
    """Read a policy file.

    Raises PolicyError with all problems that can be found without data, each with file, line and key.
    """
    file = str(path)
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise PolicyError(
            f"policy not found: {file}", file, "gateline init RESULT writes a first one"
        ) from None
    except OSError as error:
        raise PolicyError(f"the policy can't be read: {error.strerror}", file) from None
    if len(content) > MOST_BYTES:
        raise PolicyError(f"a policy of more than {MOST_BYTES:,} bytes is not read", file)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PolicyError("the policy is not UTF-8", f"{file}:{line}", "save it as UTF-8") from None
    return read_policy(text, file, hashlib.sha256(content).hexdigest())


def read_policy(text: str, file: str, sha256: str = "") -> PolicyFile:
    """Read a policy from its text; `file` is only for messages."""
    document = read_yaml(text, file)
    if not isinstance(document.data, dict):
        found = "empty" if document.data is None else f"a {type(document.data).__name__}"
        raise PolicyError(
            f"a policy is a mapping with version, name, metrics and rules; this file is {found}", file
        )
    _prepare(document)
    problems = list(document.problems)
    policy = None
    try:
        policy = Policy.model_validate(document.data)
    except ValidationError as error:
        problems += _explain_all(error, document)
    problems += _check_whole(policy, document) if policy else _check_names(document)
    if problems or policy is None:
        raise PolicyError(f"in {file}", problems=_sort(problems, document))
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


def _explain_all(error: ValidationError, document: Document) -> list[Problem]:
    told: dict[tuple[KeyPath, str], Problem] = {}
    seen: set[KeyPath] = set()
    for detail in error.errors(include_url=False):
        path = _real_path(detail["loc"], document.data)
        message, hint = _explain(detail, path, document)
        if detail["type"] not in ("missing", "extra_forbidden") and path in seen and path:
            continue  # the other arm of a union says the same in other words
        if path in document.faulty:
            continue
        seen.add(path)
        told.setdefault((path, message), Problem(message, _place(document, path), hint))
    return list(told.values())


def _explain(detail: ErrorDetails, path: KeyPath, document: Document) -> tuple[str, str]:
    """Return a sentence a person can act on, and a hint."""
    kind, value, context = detail["type"], detail.get("input"), detail.get("ctx", {})
    written = document.raw.get(path, value)
    if kind == "extra_forbidden":
        known = _fields_at(path[:-1], document)
        return f"unknown field '{path[-1]}'", did_you_mean(str(path[-1]), known)
    if kind == "missing":
        return f"'{detail['loc'][-1]}' is missing", ""
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        kinds = ", ".join(RULES)
        if kind == "union_tag_not_found":
            return "'kind' is missing", f"one of {kinds}"
        return f"there is no kind of rule '{context.get('tag')}'", did_you_mean(
            str(context.get("tag")), RULES
        )
    if kind == "value_error":
        return str(context.get("error", detail["msg"])), ""
    if kind == "literal_error":
        return f"must be {context['expected']}, not {_say(written)}", ""
    if kind == "too_short":
        return "must not be empty: a policy that checks nothing can't pass anything", ""
    message = detail["msg"][0].lower() + detail["msg"][1:]
    message = message.removeprefix("input should be ").removeprefix("value error, ")
    return f"must be {message}, not {_say(written)}", ""


def _say(value: object) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return "nothing" if value is None else f"'{value}'"


def _real_path(location: tuple[int | str, ...], data: object) -> KeyPath:
    """Drop from pydantic's location what is no key of the file: tags of unions and names of validators."""
    path: list[int | str] = []
    here: Any = data
    for number, part in enumerate(location):
        last = number == len(location) - 1
        known = (
            part in here if isinstance(here, dict) else isinstance(here, list) and part in range(len(here))
        )
        if known:
            here = here[part]
        elif not (last and isinstance(here, dict) and str(part).isidentifier()):
            continue
        path.append(part)
    return tuple(path)


def _place(document: Document, path: KeyPath) -> str:
    """Return file, line and key path; a rule also by its id."""
    place = document.place(path)
    data: Any = document.data
    if len(path) >= 2 and path[0] == "rules" and isinstance(path[1], int):
        rule = data["rules"][path[1]]
        name = rule.get("id") if isinstance(rule, dict) else None
        if name:
            start = f"rules[{path[1]}]"
            place = place.replace(start, f"{start} {name}", 1)
    return place


def _fields_at(path: KeyPath, document: Document) -> list[str]:
    """Return the fields that are known at a place of the policy."""
    data: Any = document.data
    parts: dict[str, type[Part] | type[Settings]] = {
        "samples": Samples,
        "provenance": Provenance,
        "missing": Missing,
        "slices": Slices,
        "statistics": Settings,
    }
    if not path:
        return list(Policy.model_fields)
    if path[0] == "metrics":
        return list(Metric.model_fields)
    if path[0] == "waivers":
        return list(Waiver.model_fields)
    if path[0] == "rules" and len(path) > 1 and isinstance(data["rules"], list):
        rule: Any = data["rules"][int(path[1])]
        return list(RULES.get(str(rule.get("kind")), Rule).model_fields) if isinstance(rule, dict) else []
    return list(parts[str(path[0])].model_fields) if path[0] in parts else []


def _check_whole(policy: Policy, document: Document) -> list[Problem]:
    """Return what only shows when the parts are read together."""
    problems: list[Problem] = []

    def complain(path: KeyPath, message: str, hint: str = "") -> None:
        problems.append(Problem(message, _place(document, path), hint))

    known_slices = list(policy.slices.named)
    for name, metric in policy.metrics.items():
        if metric.applies_to is not None and not _is_slice(metric.applies_to, known_slices):
            complain(
                ("metrics", name, "applies_to"),
                f"there is no slice '{metric.applies_to}'",
                did_you_mean(metric.applies_to, known_slices),
            )
    seen: set[str] = set()
    for number, rule in enumerate(policy.rules):
        here: KeyPath = ("rules", number)
        if rule.id in seen:
            complain((*here, "id"), f"the id '{rule.id}' stands twice", "give each rule an id of its own")
        seen.add(rule.id)
        if rule.slice is not None and not _is_slice(rule.slice, known_slices):
            complain(
                (*here, "slice"),
                f"there is no slice '{rule.slice}'",
                did_you_mean(rule.slice, known_slices) or "name it under slices.named, or write label=value",
            )
        if rule.slices is True and not policy.slices.by:
            complain((*here, "slices"), "slices: true needs labels under slices.by")
        if rule.metric in policy.metrics:
            for name, message in rule.problems(policy.metrics[rule.metric]):
                complain((*here, name), f"{name} of {message}" if message[0].isdigit() else message)
    for number, waiver in enumerate(policy.waivers):
        waived = next((rule for rule in policy.rules if rule.id == waiver.rule), None)
        if waived is None:
            complain(
                ("waivers", number, "rule"),
                f"there is no rule '{waiver.rule}'",
                did_you_mean(waiver.rule, seen),
            )
        elif waived.hard:
            complain(("waivers", number, "rule"), f"the rule '{waiver.rule}' is hard and can't be waived")
    return problems + _check_names(document)


def _check_names(document: Document) -> list[Problem]:
    """Return the rules whose metric is not defined; works on a policy that has other problems too."""
    data: Any = document.data
    metrics, rules = data.get("metrics"), data.get("rules")
    if not isinstance(metrics, dict) or not isinstance(rules, list):
        return []
    return [
        Problem(
            f"there is no metric '{rule['metric']}'",
            _place(document, ("rules", number, "metric")),
            did_you_mean(rule["metric"], metrics),
        )
        for number, rule in enumerate(rules)
        if isinstance(rule, dict) and isinstance(rule.get("metric"), str) and rule["metric"] not in metrics
    ]


def _is_slice(name: str, known: list[str]) -> bool:
    return name in known or "=" in name.strip("=")


def _sort(problems: list[Problem], document: Document) -> list[Problem]:
    def line(problem: Problem) -> int:
        start = problem.where.removeprefix(f"{document.file}:").split(" ")[0]
        return int(start) if start.isdigit() else 0

    return sorted(dict.fromkeys(problems), key=line)
