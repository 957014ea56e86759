"""What gateline tells people to install is there for them, also where gateline itself is in no registry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOLD = [
    path
    for path in [
        *(ROOT / "src" / "gateline").rglob("*.py"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "README.md",
    ]
    if "pip install" in path.read_text(encoding="utf-8")
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.parametrize("path", TOLD, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_hint_asks_a_registry_for_an_extra_of_gateline(path: Path) -> None:
    assert not re.search(r"pip install [^\n]*gateline\[", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", TOLD, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_extra_that_is_named_is_one_and_brings_what_is_to_be_installed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for extras in re.findall(r"pip install [^\n]*'\.\[([a-z,]+)\]'", text):
        assert set(extras.split(",")) <= set(EXTRAS)
    for names, extra in re.findall(r"pip install ([a-z ]+) \(or gateline with its extra '([a-z]+)'\)", text):
        brought = {re.split(r"[^a-z]", one)[0] for one in EXTRAS[extra]}
        assert set(names.split()) <= brought
