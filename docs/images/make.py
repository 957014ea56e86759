"""Makes the pictures of this folder again: README's first command, its comment as GitHub shows it, and its HTML report.

    .venv/bin/python docs/images/make.py [FOLDER]

Needs npm and Chromium (CHROMIUM names it where it is not on the path), with a font for emoji. The packages of npm, at
fixed versions, go to a temporary folder. FOLDER takes the pictures in the place of this one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DAY = "2026-12-01"
"""On which waivers are looked at, so that the pictures stay as they are."""
PACKAGES = [
    "unified@11.0.5", "remark-parse@11.0.0", "remark-gfm@4.0.1", "remark-rehype@11.1.2", "rehype-raw@7.0.0",
    "rehype-sanitize@6.0.0", "rehype-stringify@10.0.1", "github-markdown-css@5.9.0", "playwright-core@1.65.1",
]  # fmt: skip


def run_gate(folder: Path) -> None:
    """Run the README's first command with its reports going to `folder`."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    words = re.search(r"<!-- output: gateline (check .+?) -->", readme)
    assert words is not None, "README.md no longer marks the output of its first command"
    command = [
        sys.executable,
        "-m",
        "gateline",
        *words[1].split(),
        "--on",
        DAY,
        "--output-dir",
        str(folder),
        "-q",
    ]
    done = subprocess.run(command, cwd=ROOT, check=False)
    assert done.returncode == 1, "the README's first command blocks"


def main(target: Path) -> None:
    """Make all pictures in `target`."""
    npm, chromium = shutil.which("npm"), os.environ.get("CHROMIUM") or shutil.which("chromium")
    if npm is None or chromium is None:
        sys.exit("npm and Chromium are needed: apt-get install npm chromium fonts-noto-color-emoji")
    with tempfile.TemporaryDirectory() as held:
        work = Path(held)
        run_gate(work / "out")
        install = [
            npm,
            "install",
            "--prefix",
            held,
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--silent",
        ]
        subprocess.run([*install, *PACKAGES], check=True)
        shutil.copy(HERE / "pictures.mjs", work)
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["node", "pictures.mjs", chromium, "out", str(target.resolve())], cwd=held, check=True)
    for picture in sorted(target.glob("*.png")):
        sys.stdout.write(f"{picture.name}: {picture.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
