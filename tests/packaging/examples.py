"""Takes the YAML examples out of the documents, and scripts out of workflows, so that linters can be run on them.

As a script it writes them below a folder: workflows under .github/workflows, GitLab files under gitlab (with the two
halves of the component, which linters can't read as one file), those of pre-commit under pre-commit, and what a step of
a workflow or a document's `sh` block runs under scripts. It changes no document.
"""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMPONENT = ROOT / "templates" / "gateline.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
_BLOCK = re.compile(r"^(?P<indent> *)```yaml\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """A block of YAML in a document."""

    document: Path
    line: int
    text: str

    @property
    def name(self) -> str:
        """Return a name for its file."""
        return f"{self.document.stem.lower()}-{self.line}"

    @property
    def kind(self) -> str:
        """Return `github`, `gitlab`, `pre-commit` or `other`, told by its keys."""
        keys = set(re.findall(r"^([\w-]+):", self.text, re.MULTILINE))
        if "jobs" in keys:
            return "github"
        if "repos" in keys:
            return "pre-commit"
        if "include" in keys or re.search(r"^  script:", self.text, re.MULTILINE):
            return "gitlab"
        return "other"


def find_examples(kind: str | None = None) -> list[Example]:
    """Return the blocks of all documents, or those of one kind."""
    found = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for block in _BLOCK.finditer(text):
            line = text[: block.start()].count("\n") + 2
            found.append(Example(document, line, textwrap.dedent(block["text"])))
    return [example for example in found if kind in (None, example.kind)]


def find_scripts() -> dict[str, str]:
    """Return what the steps of this repository's workflows run, and the `sh` blocks of the documents, by a name."""
    found = {}
    for file in WORKFLOWS:
        for job, told in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].items():
            for number, step in enumerate(told["steps"], 1):
                if "run" in step:
                    found[f"{file.stem}-{job}-{number}"] = step["run"]
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for block in re.finditer(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            found[f"{document.stem.lower()}-{text[: block.start()].count(chr(10)) + 2}"] = block[1]
    return found


def write_examples(folder: Path) -> None:
    """Write all that a tool of a host can read."""
    places = {"github": ".github/workflows", "gitlab": "gitlab", "pre-commit": "pre-commit"}
    for place in (*places.values(), "scripts"):
        (folder / place).mkdir(parents=True)
    for kind, place in places.items():
        for example in find_examples(kind):
            # the commit of a release can't be known before it is made
            text = re.sub(r"(OWNER/gateline)@v[\d.]+", f"\\1@{'0' * 40}", example.text)
            (folder / place / f"{example.name}.yml").write_text(text, encoding="utf-8")
    header, body = re.split(r"^---$", COMPONENT.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)
    for name, script in find_scripts().items():
        (folder / "scripts" / f"{name}.sh").write_text(f"#!/usr/bin/env bash\n{script}", encoding="utf-8")
    (folder / "gitlab" / "component-header.yml").write_text(header, encoding="utf-8")
    (folder / "gitlab" / "component-body.yml").write_text(body, encoding="utf-8")


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
