"""A result file of any tool to a `Run`.

Each module of this folder reads one format and has

- `NAME`, by which `--read-as` forces it, and a docstring whose first sentence says what it reads;
- `looks_like(head, path)`: whether it knows the file by the beginning of its content (empty for a folder);
- `read(source, options)`: the file as a `Run`;
- optionally `GENERAL = True`: it reads files of no particular tool; its claim counts only where no other
  reader claims the file.

A new format is one more file; nothing here needs to know it. Modules must import what is heavy inside `read`.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Protocol, cast

from gateline.errors import InputError, PolicyError, did_you_mean, name_some
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Run

MAPPING_HINT = (
    "any tool's samples can be read as JSON Lines, a JSON list or a CSV table: name their columns in the "
    "policy with field: and samples: {id: ...}, and force a reader with --read-as"
)


class Reader(Protocol):
    """A module that reads one format."""

    NAME: str

    def looks_like(self, head: bytes, path: Path) -> bool:
        """Say whether the file is of this format."""

    def read(self, source: Source, options: ReadOptions) -> Run:
        """Return the file as a run."""


@cache
def readers() -> dict[str, Reader]:
    """Return all readers by name."""
    found: dict[str, Reader] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            reader = cast(Reader, importlib.import_module(f"{__name__}.{module.name}"))
            found[reader.NAME] = reader
    return found


def read_run(path: str | PathLike[str], *, read_as: str | None = None, id_field: str | None = None) -> Run:
    """Return the run in a file, by the reader `read_as` or the one that knows the file by its content.

    `id_field` names the field that identifies a question; None means the format's own. An InputError says
    what is wrong with the file (no samples is wrong too), a PolicyError that there is no reader
    `read_as`.
    """
    source = Source(fspath(path))
    if read_as is not None and read_as not in readers():
        raise PolicyError(f"there is no reader '{read_as}'", "--read-as", did_you_mean(read_as, readers()))
    if not source.path.is_dir():
        if not source.head.strip() and not source.data.strip():
            raise InputError(f"0 samples: the file is empty ({len(source.data)} bytes)", source.name)
        source.refuse_other_encodings()
    reader = readers()[read_as] if read_as is not None else _recognise(source)
    with _collector_at_rest():
        run = reader.read(source, ReadOptions(id_field=id_field))
    if len(run) == 0:
        raise InputError("0 samples: the file has no record", source.name)
    return run


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from searching, again and again, a million records that hold no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _recognise(source: Source) -> Reader:
    claims = [reader for reader in readers().values() if reader.looks_like(source.head, source.path)]
    claims = [reader for reader in claims if not getattr(reader, "GENERAL", False)] or claims
    if len(claims) == 1:
        return claims[0]
    names = name_some([reader.NAME for reader in claims or readers().values()], 20)
    if claims:
        raise InputError(f"looks like {names} alike", source.name, "say which with --read-as")
    what = "folder" if source.path.is_dir() else "file"
    raise InputError(f"no reader knows this {what}; looked for {names}", source.name, MAPPING_HINT)
