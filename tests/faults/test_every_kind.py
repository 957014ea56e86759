"""Each kind of fault, and each fault of it, has a test that states it in general; `kinds.py` says which."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from kinds import KINDS

TESTS = Path(__file__).resolve().parents[1]
SHARED = TESTS.parents[1] / "shared" / "cases"
SHIPPED = TESTS / "cases" / "shipped"
STATED = [(fault, test) for faults in KINDS.values() for fault, tests in faults.items() for test in tests]


@cache
def functions_of(file: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    ("fault", "test"), STATED, ids=[f"{fault[:3]}-{test.split('::')[1]}" for fault, test in STATED]
)
def test_what_states_a_fault_is_a_test_of_many_inputs(fault: str, test: str) -> None:
    """A property, a table of inputs, or a walk over all places; and it asserts something."""
    file, _, name = test.partition("::")
    function = functions_of(file).get(name)
    assert function is not None, f"{fault}: there is no test {test}"
    over_many = {
        part.id for node in function.decorator_list for part in ast.walk(node) if isinstance(part, ast.Name)
    }
    over_many |= {
        part.attr
        for node in function.decorator_list
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute)
    }
    loops = any(isinstance(node, ast.For) for node in ast.walk(function))
    assert over_many & {"given", "parametrize"} or loops, f"{test} looks at one file only"


def test_every_fault_has_a_test() -> None:
    assert all(tests for faults in KINDS.values() for tests in faults.values())
    assert len(KINDS) == 21


def kinds_told(folder: Path) -> dict[str, str]:
    """Return the kind of each case as its own page says it."""
    told = {}
    for page in sorted(folder.glob("[0-9][0-9][0-9]-*/expect.md")):
        found = re.search(r"^Fault kind: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert found, page
        told[page.parent.name] = found[1]
    return told


def test_the_shipped_cases_are_of_these_kinds() -> None:
    told = kinds_told(SHIPPED)
    assert len(told) >= 15
    assert told.items() <= {fault: kind for kind, faults in KINDS.items() for fault in faults}.items()


@pytest.mark.skipif(
    not SHARED.is_dir(), reason="the folder ../shared/cases is not there; shipped/ has some of them"
)
def test_every_case_there_is_has_its_fault_in_the_table() -> None:
    assert kinds_told(SHARED) == {fault: kind for kind, faults in KINDS.items() for fault in faults}
