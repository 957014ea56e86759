"""YAML as a person reads it, with the line of every key.

Closes the traps of YAML 1.1: a plain `NO` is the text NO, `1e-3` is a number, a key that stands twice is a problem,
and so are octal numbers, NaN, infinity, merge keys, tags and aliases that multiply. Knows nothing of policies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from gateline.errors import PolicyError, Problem

Path = tuple[str | int, ...]
"""Where a value stands: keys and list positions from the top."""

MOST_NODES = 100_000
"""A policy has some hundred nodes; aliases that multiply reach this in a moment."""
MOST_DEPTH = 60

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_OCTAL = re.compile(r"[-+]?0[0-9_]+|0[xob][0-9a-fA-F_]+")
_UNBOUNDED = re.compile(r"[-+]?\.(inf|nan)|[-+]?(inf|infinity|nan)", re.IGNORECASE)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass
class Document:
    """A YAML file as plain data."""

    file: str
    data: object = None
    """Mappings, lists, texts, numbers, truth values and None."""
    lines: dict[Path, int] = field(default_factory=dict)
    """Line of each key and list item, counted from 1."""
    raw: dict[Path, str] = field(default_factory=dict)
    """Text of each plain scalar as it stands in the file."""
    problems: list[Problem] = field(default_factory=list)
    faulty: set[Path] = field(default_factory=set)
    """Places that `problems` speak of."""

    def line(self, path: Path) -> int:
        """Return the line of `path`, or of the nearest place above it that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return 1

    def place(self, path: Path) -> str:
        """Return `file:line  key.path`, the way every problem of a policy names its place."""
        dotted = path_text(path)
        return f"{self.file}:{self.line(path)}" + (f"  {dotted}" if dotted else "")


def path_text(path: Path) -> str:
    """Return `rules[0].at_most` for a path."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def read_yaml(text: str, file: str) -> Document:
    """Read one YAML document; what can be mended by the user is collected in `problems`.

    Raises PolicyError with the line where the text is no YAML at all.
    """
    document = Document(file)
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        node = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}" if mark else file
        raise PolicyError(f"not YAML: {error.problem or error.context}", where) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise PolicyError(f"not YAML: {str(error).splitlines()[0]}", file) from None
    if node is not None:
        document.lines[()] = node.start_mark.line + 1
        document.data = _Builder(document).build(node, ())
    return document


class _Builder:
    def __init__(self, document: Document):
        self.document = document
        self.nodes = 0

    def complain(self, node: yaml.Node, path: Path, message: str, hint: str = "") -> None:
        dotted = path_text(path)
        where = f"{self.document.file}:{node.start_mark.line + 1}" + (f"  {dotted}" if dotted else "")
        self.document.problems.append(Problem(message, where, hint))
        self.document.faulty.add(path)

    def build(self, node: yaml.Node, path: Path) -> object:
        self.nodes += 1
        if self.nodes > MOST_NODES or len(path) > MOST_DEPTH:
            raise PolicyError(
                "too many or too deeply nested values, or an alias that contains itself",
                f"{self.document.file}:{node.start_mark.line + 1}",
                "write the values out instead of using aliases",
            )
        kind = {yaml.ScalarNode: "str", yaml.SequenceNode: "seq", yaml.MappingNode: "map"}[type(node)]
        if node.tag not in (f"tag:yaml.org,2002:{kind}", "!"):
            self.complain(node, path, f"the tag {node.tag} is not allowed here", "leave it out")
        if isinstance(node, yaml.SequenceNode):
            for position, item in enumerate(node.value):
                self.document.lines[(*path, position)] = item.start_mark.line + 1
            return [self.build(item, (*path, position)) for position, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self.build_mapping(node, path)
        assert isinstance(node, yaml.ScalarNode)
        return self.read_scalar(node, path)

    def build_mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        mapping: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.complain(key_node, path, "a key must be a text")
                continue
            key = str(key_node.value)
            here = (*path, key)
            if key == "<<":
                self.complain(key_node, path, "merge keys ('<<') are not supported", "write the values out")
                continue
            if key in mapping:
                first = self.document.line(here)
                self.complain(
                    key_node,
                    here,
                    f"'{key}' stands twice here, first in line {first}",
                    "only one of them can be meant",
                )
                continue
            self.document.lines[here] = key_node.start_mark.line + 1
            mapping[key] = self.build(value_node, here)
        return mapping

    def read_scalar(self, node: yaml.ScalarNode, path: Path) -> object:
        text = str(node.value)
        if node.style or node.tag == "!":  # quoted or block: a text
            return text
        self.document.raw[path] = text
        if text in _NULLS:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if _OCTAL.fullmatch(text):
            number = text.lstrip("+-0_") or "0"
            self.complain(
                node,
                path,
                f"'{text}' can be read as a text, a decimal or an octal number",
                f"write {number} for the number or '{text}' in quotes for the text",
            )
            return text
        if _INTEGER.fullmatch(text):
            return int(text) if len(text) < 300 else text
        if _FLOAT.fullmatch(text):
            number_ = float(text)
            if number_ in (float("inf"), float("-inf")):
                self.complain(node, path, f"'{text}' is too large a number")
            elif "." not in text and number_.is_integer() and abs(number_) < 2**53:
                return int(number_)  # 1e4 is meant as 10000, also where only a whole number will do
            return number_
        if _UNBOUNDED.fullmatch(text) and path and path[-1] not in ("name", "id", "reason", "by"):
            self.complain(
                node, path, f"must be a finite number, not '{text}'", "leave the key out for no bound"
            )
        return text
