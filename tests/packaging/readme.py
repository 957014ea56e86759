"""Writes the parts of README.md and docs/ that are made from the program: outputs, tables, files.

A part stands under a mark such as `<!-- output: gateline check … -->`. Run as a script it brings the documents up to
date; the tests compare what stands there with what it would write. It must not know any text of a report.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import yaml

from gateline.cli.arguments import make_parser
from gateline.readers import readers
from gateline.rules import find_rules

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in ("github", "gitlab", "policy"))]

_RULE_FIELDS = frozenset({"kind", "id", "metric", "slice", "slices", "hard", "decide_by", "on_inconclusive"})
"""Fields that rules of every kind have; they are told once."""
_OWN_FIELDS_ONLY = frozenset({"Limit", "Every", "Tolerance", "Improvement", "Calibration"})
_FENCED = re.compile(r"(<!-- (output|file): (.+?) -->\n```\w+\n)(.*?)(```\n)", re.DOTALL)
_OPEN = re.compile(r"(<!-- (table): (.+?) -->\n)(.*?)(<!-- end -->\n)", re.DOTALL)


def fill_in(text: str) -> str:
    """Return a document with every marked part as the program gives it today."""
    for pattern in (_FENCED, _OPEN):
        text = pattern.sub(lambda found: found[1] + _make(found[2], found[3]) + found[5], text)
    return text


def run_gateline(command: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command as it stands in a document, in the root of the tree and away from this machine's settings."""
    words = command.split()
    assert words[0] == "gateline", command
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GATELINE_", "GITHUB_", "COLUMNS"))
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "gateline", *words[1:]],
        check=False,
        **{
            "cwd": ROOT,
            "capture_output": True,
            "encoding": "utf-8",
            "env": {**kept, "NO_COLOR": "1"},
            **options,
        },
    )


def _make(kind: str, what: str) -> str:
    if kind == "output":
        return run_gateline(what).stdout
    if kind == "file":
        lines = (ROOT / what).read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("#"))
    rows = _fields(what.removeprefix("fields ")) if what.startswith("fields ") else _TABLES[what]()
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def policy_schema() -> dict[str, dict[str, object]]:
    """Return the properties of each part of a policy, by the part's name; of the policy itself under `Policy`."""
    schema = json.loads(run_gateline("gateline schema policy").stdout)
    common = {
        name: field for name, field in schema["$defs"]["Limit"]["properties"].items() if name in _RULE_FIELDS
    }
    rules = {"properties": common, "required": ["kind", "metric"]}
    return {"Policy": schema, "Rules": rules, **schema["$defs"]}


def _fields(part: str) -> Iterator[tuple[str, ...]]:
    told = policy_schema()[part]
    yield "field", "default", "meaning"
    yield "---", "---", "---"
    for name, field in told["properties"].items():
        if name in _RULE_FIELDS and part in _OWN_FIELDS_ONLY:
            continue
        meaning = " ".join(str(field.get("description", "")).split()).replace("|", "\\|")
        if "enum" in field:
            meaning += f" One of {', '.join(f'`{one}`' for one in field['enum'] if one is not None)}."
        yield f"`{name}`", _default(name, field, told.get("required", [])), meaning


def _default(name: str, field: dict[str, object], required: list[str]) -> str:
    if name in required:
        return "required"
    default = field.get("default")
    if default is None or default == "" or isinstance(default, list | dict):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _commands() -> Iterator[tuple[str, ...]]:
    yield "command", "does"
    yield "---", "---"
    for choice in _subparsers()._choices_actions:
        named = [one for one in _subparsers().choices[choice.dest]._actions if not one.option_strings]
        places = [str(one.metavar or "[" + r"\|".join(one.choices or []) + "]") for one in named]
        words = ["gateline", choice.dest, *places]
        yield f"`{' '.join(words)}`", str(choice.help)


def _options() -> Iterator[tuple[str, ...]]:
    yield "option", "variable", "meaning"
    yield "---", "---", "---"
    for action in _subparsers().choices["check"]._actions:
        if action.dest == "help":
            continue
        value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
        meaning = str(action.help)
        if action.choices is not None:
            meaning += f"; {', '.join(f'`{choice}`' for choice in action.choices)}"
        variable = variable_of(action)
        yield f"`{action.option_strings[0]}{value}`", f"`{variable}`" if variable else "", meaning


def variable_of(action: argparse.Action, command: str = "check") -> str | None:
    """Return the variable that sets an option, tried out; None where none does."""
    variable = "GATELINE_" + action.dest.upper()
    value = "true" if action.nargs == 0 else str([*(action.choices or []), "x"][-2 if action.choices else 0])
    with mock.patch.dict(os.environ, {variable: value}):
        again = next(one for one in _subparsers().choices[command]._actions if one.dest == action.dest)
    return variable if str(again.default).lower() == value else None


def _subparsers() -> argparse._SubParsersAction[argparse.ArgumentParser]:
    return next(one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction))


def _readers() -> Iterator[tuple[str, ...]]:
    yield "name", "reads"
    yield "---", "---"
    for name, reader in sorted(readers().items()):
        yield f"`{name}`", _first_sentence(reader)


def _rules() -> Iterator[tuple[str, ...]]:
    yield "kind", "holds"
    yield "---", "---"
    for kind, rule in find_rules().items():
        yield f"`{kind}`", _first_sentence(rule)


def _inputs() -> Iterator[tuple[str, ...]]:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    yield "name", "", "default", "meaning"
    yield "---", "---", "---", "---"
    for name, told in action["inputs"].items():
        default = f"`{told['default']}`" if told.get("default") else "required" if told["required"] else ""
        yield f"`{name}`", "input", default, told["description"]
    for name, told in action["outputs"].items():
        yield f"`{name}`", "output", "", told["description"]


def _component() -> Iterator[tuple[str, ...]]:
    header = next(yaml.safe_load_all((ROOT / "templates" / "gateline.yml").read_text(encoding="utf-8")))
    yield "input", "default", "meaning"
    yield "---", "---", "---"
    for name, told in header["spec"]["inputs"].items():
        default = told.get("default", "required")
        shown = str(default).lower() if isinstance(default, bool) else default
        shown = f"`{shown}`" if shown and "default" in told else shown
        meaning = told["description"]
        if "options" in told:
            meaning += f" {', '.join(f'`{option}`' for option in told['options'])}"
        yield f"`{name}`", shown, meaning


def _first_sentence(thing: object) -> str:
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", text)[0].replace("|", "\\|")


_TABLES = {
    "commands": _commands,
    "options": _options,
    "readers": _readers,
    "rules": _rules,
    "inputs": _inputs,
    "component": _component,
}


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(fill_in(document.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
