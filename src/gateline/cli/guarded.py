"""Lets nothing that is printed be a command of a runner but what was made to be one.

A runner reads a job's log: a line that begins with `::error::`, or holds `##[error]`, is a command to it, whoever wrote
it. Names from files stand in what every command and every error prints, so both streams are guarded here, once. It
formats nothing, and what is written into files does not come through here.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # not typing's: importing that would take longer than the rest of a start
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TextIO

_STREAMS = ("stdout", "stderr")


class GuardedStream:
    """A stream of which no line is a command; everything but writing is the stream's own."""

    def __init__(self, stream: TextIO):
        """Take the stream that is written to."""
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text; a sign that nobody sees takes commands in it apart, unless it was made to be commands.

        Each text may be the beginning of a line: where it is none, the sign does no harm.
        """
        if "::" in text or "##[" in text:
            from gateline.reports.escape import Commands, guard_log

            if not isinstance(text, Commands):
                text = guard_log(text)
        return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts, one after the other."""
        for line in lines:
            self.write(line)


class GuardedStreams:
    """Guards stdout and stderr in a `with` block, and puts them back after it."""

    def __enter__(self) -> None:
        self._before = {name: getattr(sys, name) for name in _STREAMS}
        for name, stream in self._before.items():
            setattr(sys, name, GuardedStream(stream))

    def __exit__(self, *_: object) -> None:
        for name, stream in self._before.items():
            setattr(sys, name, stream)
