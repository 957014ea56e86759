"""Says whether a tag may be released, and prints its part of the changelog; makes and sends nothing.

    python3 .ci/release.py v1.2.3

The tag must be the code's own version, and CHANGELOG.md must have an entry for it with a day and something in it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\] - (?P<day>.+?)\s*$", re.MULTILINE)


def find_notes(tag: str, version: str, changelog: str) -> str:
    """Return what the changelog says of the version. Raises ValueError where the tag may not be released."""
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but the code is version {version}; the tag must be v{version}")
    entries = list(_HEADING.finditer(changelog))
    if not entries or entries[0]["version"] != version:
        newest = entries[0]["version"] if entries else "none"
        raise ValueError(f"the newest entry of CHANGELOG.md is {newest}, not {version}")
    day = entries[0]["day"]
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        raise ValueError(f"CHANGELOG.md calls {version} '{day}'; write the day of the release, YYYY-MM-DD")
    end = entries[1].start() if len(entries) > 1 else len(changelog)
    notes = changelog[entries[0].end() : end].strip()
    if not notes:
        raise ValueError(f"CHANGELOG.md says nothing of {version}")
    return notes + "\n"


def read_version(source: str) -> str:
    """Return the version that the code states. Raises ValueError where it states none."""
    found = re.search(r'^__version__ = "([^"]+)"$', source, re.MULTILINE)
    if found is None:
        raise ValueError("src/gateline/__init__.py states no version")
    return found[1]


def main(arguments: list[str]) -> int:
    """Print the notes and return 0, or say what is wrong and return 1."""
    if len(arguments) != 1:
        print("usage: release.py TAG", file=sys.stderr)
        return 1
    try:
        version = read_version((ROOT / "src" / "gateline" / "__init__.py").read_text(encoding="utf-8"))
        notes = find_notes(arguments[0], version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    except ValueError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(notes, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
