"""The policies that the pages of docs/formats show, and what they say of files."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from gateline.gate import Options, check
from gateline.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]
FILES = Path(__file__).resolve().parent / "files"
FORMATS = ROOT.parent / "shared" / "formats"
DAY = datetime.date(2026, 6, 1)


def write_policies(page: str, folder: Path) -> list[Path]:
    """Write each policy that a page shows to a file, and return the files."""
    text = (ROOT / "docs" / "formats" / page).read_text(encoding="utf-8")
    paths = []
    for number, policy in enumerate(re.findall(r"```yaml\n(version: 1\n.*?)```", text, re.DOTALL), 1):
        paths.append(folder / f"{page}-{number}.yml")
        paths[-1].write_text(policy, encoding="utf-8")
    assert paths, page
    return paths


def judge(
    policy: Path | str, baseline: Path, candidate: Path, folder: Path | None = None, **options: object
) -> Verdict:
    """Return the verdict on two files under a policy, which is a file or, with a folder to write it to, a text."""
    if isinstance(policy, str):
        assert folder is not None
        (folder / "policy.yml").write_text(policy, encoding="utf-8")
        policy = folder / "policy.yml"
    return check(policy, baseline, candidate, on=DAY, options=Options(**options))  # type: ignore[arg-type]
