"""docs/troubleshooting.md against the source: each message of the hosts has its line, and each line its message."""

from __future__ import annotations

import ast
import re

import pytest
from readme import ROOT

SOURCE = ROOT / "src" / "gateline"
TEXT = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
HOSTS = [
    *(SOURCE / "hosts").glob("*.py"),
    *(SOURCE / "baselines").glob("*.py"),
    SOURCE / "git.py",
    *(SOURCE / "cli" / name for name in ("publishing.py", "job.py", "grounds.py")),
]
ELSEWHERE = [SOURCE / "verdict_file.py", *(SOURCE / "texts").glob("en.py")]
ERRORS = {"HostError", "RefusedError", "UnclearError", "InputError", "PolicyError", "ConnectionError", "say"}


def pieces(node: ast.expr) -> list[str]:
    """Return the fixed parts of a text that is put together."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return [part for value in node.values for part in pieces(value)]
    return []


def texts(path) -> list[list[str]]:
    """Return the fixed parts of every text of a module but its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    skipped |= {
        id(inner) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for inner in node.values
    }
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr)]
    return [pieces(node) for node in nodes if id(node) not in skipped]


def messages(path) -> set[str]:
    """Return the longest fixed part of what a module raises, or says in a note."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and node.args):
            continue
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        fixed = pieces(node.args[0]) if name in ERRORS else []
        if any(" " in part.strip() for part in fixed):
            found.add(max(fixed, key=len).strip(" :;,("))
    return found


@pytest.mark.parametrize("path", HOSTS, ids=lambda path: "/".join(path.relative_to(SOURCE).parts))
def test_each_message_of_the_hosts_has_its_line(path):
    plain = TEXT.replace("`", "")
    assert {text for text in messages(path) if text.replace("`", "") not in plain} == set()


def test_there_is_something_to_look_for():
    assert sum(len(messages(path)) for path in HOSTS) > 40


FIRST_CELLS = re.findall(r"^\| (.+?) \|", TEXT, re.MULTILINE)
SHOWN = [text for cell in FIRST_CELLS for text in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("shown", SHOWN)
def test_each_line_is_a_message_that_exists(shown):
    """The line holds a fixed part of a message of the program, or is a part of one."""
    known = {
        part.strip(" :;,(").replace("`", "")
        for path in (*HOSTS, *ELSEWHERE)
        for text in texts(path)
        for part in text
    }
    known = {part for part in known if " " in part and len(part) >= 8} | {"answered", "no note", "is empty"}
    said = [part for part in re.split(r"…|: ", shown) if part.strip(" :;,(")]
    assert any(
        part in shown or any(piece.strip(" ,;(") in part for piece in said if len(piece) > 12)
        for part in known
    )


def test_the_tables_are_tables():
    for line in TEXT.splitlines():
        if line.startswith("|"):
            assert line.count("|") - line.count(r"\|") in (3, 4), line
