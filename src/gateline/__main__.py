"""The process: runs the command line and turns whatever happens into exit code 0, 1 or 2."""

from __future__ import annotations

import gc
import sys

_ALLOCATIONS = 1_000_000
"""New objects before the garbage collector looks for cycles."""


def main() -> int:
    """Run `gateline` with the arguments of the process and return its exit code."""
    gc.set_threshold(
        _ALLOCATIONS
    )  # at Python's 700 it searches the modules while they load: a tenth of a start
    from gateline.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
