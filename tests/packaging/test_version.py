"""One version: the code says it, everything else agrees."""

from __future__ import annotations

import importlib.metadata
import re

from readme import ROOT, run_gateline

import gateline


def test_the_newest_entry_of_the_changelog_is_this_version():
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == gateline.__version__


def test_documents_name_this_version():
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in documents)
    named = re.findall(r"gateline(?:@v|:|==)(\d+\.\d+\.\d+)", text)
    assert set(named) == {gateline.__version__}


def test_what_is_installed_and_what_the_command_says_agree():
    assert importlib.metadata.version("gateline") == gateline.__version__
    assert run_gateline("gateline --version").stdout == f"gateline {gateline.__version__}\n"
