"""What is wrong with a policy, in sentences: what can't be read, and what only shows when its parts are read together.

All of it is told at once, also where another part can't be read. It changes nothing in the policy.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateline.calibration import CalibrationSource
from gateline.errors import Problem, did_you_mean, nearest
from gateline.metric import Metric
from gateline.pairing.settings import Missing, Provenance, Samples, Slices
from gateline.rules import Rule, find_rules
from gateline.settings import Part
from gateline.statistics import Settings
from gateline.waivers import Waiver, loosen
from gateline.yaml_text import Document
from gateline.yaml_text import Path as KeyPath

RULES = find_rules()
AnyPart = TypeVar("AnyPart", bound=Part)

_PARTS: dict[str, type[Part] | type[Settings]] = {
    "samples": Samples,
    "provenance": Provenance,
    "missing": Missing,
    "slices": Slices,
    "statistics": Settings,
}
_WANTED = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
}


def find_problems(document: Document, error: ValidationError | None, fields: list[str]) -> list[Problem]:
    """Return all that is wrong with a policy, by line.

    `error` is what reading the whole as a policy raised, `fields` are the known names at its top.
    """
    problems = [
        *document.problems,
        *(_explain_all(error, document, fields) if error else []),
        *_Parts(document).check(),
    ]
    return sorted(dict.fromkeys(problems), key=lambda problem: _line(problem, document))


def _line(problem: Problem, document: Document) -> int:
    start = problem.where.removeprefix(f"{document.file}:").split(" ", maxsplit=1)[0]
    return int(start) if start.isdigit() else 0


def _explain_all(error: ValidationError, document: Document, fields: list[str]) -> list[Problem]:
    told: dict[tuple[KeyPath, str], Problem] = {}
    seen: set[KeyPath] = set()
    for detail in error.errors(include_url=False):
        path = _real_path(detail, document.data)
        message, hint = _explain(detail, path, document, fields)
        if detail["type"] not in ("missing", "extra_forbidden") and path in seen and path:
            continue  # the other arm of a union says the same in other words
        if path in document.faulty:
            continue
        seen.add(path)
        told.setdefault((path, message), Problem(message, _place(document, path), hint))
    return list(told.values())


def _explain(detail: ErrorDetails, path: KeyPath, document: Document, fields: list[str]) -> tuple[str, str]:
    """Return a sentence a person can act on, and a hint."""
    kind, value, context = detail["type"], detail.get("input"), detail.get("ctx", {})
    written = _say(document.raw.get(path, value) if value is not None else None)
    if kind == "extra_forbidden":
        return f"unknown field '{path[-1]}'", did_you_mean(
            str(path[-1]), _fields_at(path[:-1], document, fields)
        )
    if kind == "missing":
        return f"'{detail['loc'][-1]}' is missing", ""
    if kind == "union_tag_not_found":
        known = {name for rule in RULES.values() for name in rule.model_fields}
        keys = value if isinstance(value, dict) else {}
        odd = {str(key).lower(): str(key) for key in keys if key not in known}
        slip = odd.get(nearest("kind", odd) or "")
        meant = f"is '{slip}' meant to be it? " if slip else ""
        return "'kind' is missing", f"{meant}one of {', '.join(RULES)}"
    if kind == "union_tag_invalid":
        tag = str(context.get("tag"))
        return f"there is no kind of rule '{tag}'", did_you_mean(tag, RULES)
    if kind == "value_error":
        hint = "write 95% or 0.95" if path == ("statistics", "confidence") else ""
        return str(context.get("error", detail["msg"])), hint
    if kind == "literal_error":
        return f"must be {context['expected']}, not {written}", ""
    if kind == "too_short":
        return "must not be empty" + (
            ": a policy that checks nothing can't pass anything" if len(path) == 1 else ""
        ), ""
    if kind in _WANTED:
        return f"must be {_WANTED[kind]}, not {written}", ""
    message = detail["msg"][0].lower() + detail["msg"][1:]
    return f"must be {message.removeprefix('input should be ')}, not {written}", ""


def _say(value: object) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return "nothing" if value is None else f"'{value}'"


def _real_path(detail: ErrorDetails, data: object) -> KeyPath:
    """Drop from pydantic's location what is no key of the file: tags of unions and names of validators."""
    path: list[int | str] = []
    here: Any = data
    location = detail["loc"]
    for number, part in enumerate(location):
        known = (
            part in here if isinstance(here, dict) else isinstance(here, list) and part in range(len(here))
        )
        if known:
            here = here[part]
        elif detail["type"] != "missing" or number < len(location) - 1:
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


def _fields_at(path: KeyPath, document: Document, fields: list[str]) -> list[str]:
    """Return the fields that are known at a place of the policy."""
    data: Any = document.data
    if not path:
        return fields
    if path[0] == "metrics":
        return list(Metric.model_fields)
    if path[0] == "calibration":
        return list(CalibrationSource.model_fields)
    if path[0] == "waivers":
        return list(Waiver.model_fields)
    if path[0] == "rules" and len(path) > 1 and isinstance(data["rules"], list):
        rule: Any = data["rules"][int(path[1])]
        return list(RULES.get(str(rule.get("kind")), Rule).model_fields) if isinstance(rule, dict) else []
    return list(_PARTS[str(path[0])].model_fields) if path[0] in _PARTS else []


class _Parts:
    """The parts of a policy that can be read by themselves."""

    def __init__(self, document: Document):
        data: Any = document.data
        self.document = document
        self.problems: list[Problem] = []
        self.metric_names: list[str] | None = (
            list(data["metrics"]) if isinstance(data.get("metrics"), dict) else None
        )
        self.metrics = {
            name: metric
            for name, value in (data["metrics"] if self.metric_names else {}).items()
            if (metric := _try(Metric, value)) is not None
        }
        slices: Any = data.get("slices")
        slices = slices if isinstance(slices, dict) else {}
        self.named = [
            name for part in ("named", "files") if isinstance(slices.get(part), dict) for name in slices[part]
        ]
        self.by = bool(slices.get("by"))
        self.raw_rules: list[Any] = data["rules"] if isinstance(data.get("rules"), list) else []
        self.rules = [
            _try(RULES.get(str(raw.get("kind"))), raw) if isinstance(raw, dict) else None
            for raw in self.raw_rules
        ]
        sources: Any = data.get("calibration")
        sources = sources if isinstance(sources, list) else [sources]
        self.sources: list[Any] = [one for one in sources if isinstance(one, dict)]
        self.calibrated = [str(one.get("metric")) for one in self.sources]
        self.waivers: list[Any] = data["waivers"] if isinstance(data.get("waivers"), list) else []

    def complain(self, path: KeyPath, message: str, hint: str = "") -> None:
        if path not in self.document.faulty:
            self.problems.append(Problem(message, _place(self.document, path), hint))

    def check(self) -> list[Problem]:
        """Return what only shows when the parts are read together."""
        for name, metric in self.metrics.items():
            self._check_slice(metric.applies_to, ("metrics", name, "applies_to"))
        self._check_calibration()
        seen: set[str] = set()
        for number, (raw, rule) in enumerate(zip(self.raw_rules, self.rules, strict=True)):
            if isinstance(raw, dict):
                self._check_rule(raw, rule, ("rules", number), seen)
        for number, raw in enumerate(self.waivers):
            if isinstance(raw, dict):
                self._check_waiver(raw, ("waivers", number), seen)
        return self.problems

    def _check_calibration(self) -> None:
        data: Any = self.document.data
        listed = isinstance(data.get("calibration"), list)
        for number, name in enumerate(self.calibrated):
            here: KeyPath = ("calibration", number, "metric") if listed else ("calibration", "metric")
            if self.metric_names is not None and name not in self.metric_names and name != "None":
                self.complain(here, f"there is no metric '{name}'", did_you_mean(name, self.metric_names))
            metric = self.metrics.get(name)
            if metric is not None and metric.summary_name != "mean":
                hint = "people's labels correct a mean of samples"
                self.complain(here, f"'{name}' is a {metric.summary_name}, which can't be calibrated", hint)
            elif metric is not None and metric.range is None:
                hint = f"metrics: {{{name}: {{range: [0, 1]}}}} says in which scale people label"
                self.complain(
                    here, f"'{name}' needs a range for people's labels to be of the same scale", hint
                )

    def _check_calibrated(self, rule: Rule, here: KeyPath) -> None:
        if rule.kind == "calibration":
            if rule.metric not in self.calibrated:
                hint = f"calibration: {{human: FILE, metric: {rule.metric}}}"
                self.complain((*here, "metric"), f"'{rule.metric}' has no labels of people", hint)
        elif rule.metric in self.calibrated and rule.kind in ("tolerance", "improvement"):
            name, bound = next(iter(rule.bound_fields().items()))
            if "%" in str(bound):
                hint = f"write {name} in the metric's unit, such as 0.02"
                self.complain((*here, name), "a calibrated metric has no share of the baseline", hint)

    def _check_rule(self, raw: dict[str, Any], rule: Rule | None, here: KeyPath, seen: set[str]) -> None:
        name = rule.id if rule is not None else raw.get("id")
        if isinstance(name, str):
            if name in seen:
                self.complain(
                    (*here, "id"), f"the id '{name}' stands twice", "give each rule an id of its own"
                )
            seen.add(name)
        metric = raw.get("metric")
        if isinstance(metric, str) and self.metric_names is not None and metric not in self.metric_names:
            self.complain(
                (*here, "metric"), f"there is no metric '{metric}'", did_you_mean(metric, self.metric_names)
            )
        self._check_slice(raw.get("slice"), (*here, "slice"))
        if rule is None:
            return
        if rule.slices is True and not self.by:
            self.complain((*here, "slices"), "slices: true needs labels under slices.by")
        self._check_calibrated(rule, here)
        if rule.metric in self.metrics:
            for field, message in rule.problems(self.metrics[rule.metric]):
                self.complain((*here, field), message)

    def _check_waiver(self, raw: dict[str, Any], here: KeyPath, known: set[str]) -> None:
        self._check_slice(raw.get("slice"), (*here, "slice"))
        name = raw.get("rule")
        if not isinstance(name, str):
            return
        rule = next((one for one in self.rules if one is not None and one.id == name), None)
        if name not in known:
            if None not in self.rules:  # a rule that can't be read may be the one that is meant
                self.complain((*here, "rule"), f"there is no rule '{name}'", did_you_mean(name, known))
        elif rule is not None and rule.hard:
            self.complain((*here, "rule"), f"the rule '{name}' is hard and can't be waived")
        elif rule is not None and rule.metric in self.metrics and (waiver := _try(Waiver, raw)) is not None:
            for _, message in loosen(rule, waiver).problems(self.metrics[rule.metric]):
                self.complain((*here, "up_to"), message)

    def _check_slice(self, name: object, here: KeyPath) -> None:
        if isinstance(name, str) and name.strip() and name not in self.named and "=" not in name.strip("="):
            hint = did_you_mean(name, self.named) or "name it under slices.named, or write label=value"
            self.complain(here, f"there is no slice '{name}'", hint)


def _try(kind: type[AnyPart] | None, value: object) -> AnyPart | None:
    """Return a part, or None where it can't be read; why is told elsewhere."""
    try:
        return None if kind is None else kind.model_validate(value)
    except ValidationError:
        return None
