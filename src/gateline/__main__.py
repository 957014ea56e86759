"""The process: runs the command line and turns whatever happens into exit code 0, 1 or 2."""

from __future__ import annotations

import sys


def main() -> int:
    """Run `gateline` with the arguments of the process and return its exit code."""
    from gateline.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
