"""How a file that `gateline reduce` wrote is known by its content. It reads nothing else of it."""

from __future__ import annotations

import io
from pathlib import Path

from gateline.files import is_special, is_there

MARK = "gateline.reduced"
_JSON_BEGINS = b'{"gateline.reduced":'
_MOST_FOOTER = 64 << 20


def is_reduced(path: object) -> bool:
    """Say whether a file is a reduced one, by its content; what can't be read is none."""
    file = str(path)
    if "\n" in file or not is_there(file) or is_special(file):
        return False
    try:
        with Path(file).open("rb") as stream:
            head = stream.read(32)
            if head.startswith(_JSON_BEGINS):
                return True
            if not head.startswith(b"PAR1"):
                return False
            stream.seek(-8, io.SEEK_END)
            size = int.from_bytes(stream.read(4), "little")
            if size > _MOST_FOOTER:
                return False
            stream.seek(-8 - size, io.SEEK_END)
            return MARK.encode() in stream.read(size)
    except OSError:
        return False
