"""The process: runs the command line and turns whatever happens into exit code 0, 1 or 2."""

from __future__ import annotations

import atexit
import gc
import os
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


def start() -> None:
    """Run `gateline` as a process, and end that with the exit code of the command, whatever its libraries do then."""
    codes: list[int] = []
    atexit.register(_end, codes)  # registered first, so it runs after all others
    codes.append(main())
    sys.exit(codes[0])


def _end(codes: list[int]) -> None:
    """End the process before threads of libraries are torn down: pyarrow's abort it now and then, with code 134."""
    if codes:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                continue
        os._exit(codes[0])


if __name__ == "__main__":
    start()
