"""A result file of any tool to a `Run`.

Each module of this folder reads one format and has

- `NAME`, by which `--read-as` forces it, and a docstring whose first sentence says what it reads;
- `looks_like(head, path)`: whether it knows the file by the beginning of its content (empty for a folder);
- `read(source, options)`: the file as a `Run`; where the tool writes a folder, the source may be that;
- optionally `GENERAL = True`: it reads files of no particular tool; its claim counts only where no other
  reader claims the file.

A new format is one more file; nothing here needs to know it. Modules must import what is heavy inside `read`.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Protocol, cast

from gateline.errors import InputError, PolicyError, did_you_mean, name_some
from gateline.files import find_matches
from gateline.readers._source import ReadOptions, Source
from gateline.reduced_mark import is_reduced
from gateline.samples import Run

File = str | PathLike[str]


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


def read_run(path: File | Sequence[File], *, read_as: str | None = None, id_field: str | None = None) -> Run:
    """Return the run in a file, by the reader `read_as` or the one that knows the file by its content.

    Several files, also lines of one text and those that a pattern such as `results/*.json` matches, are one
    run, joined on id.
    `id_field` names the field that identifies a question; None means the format's own. An InputError says
    what is wrong with the file (no samples is wrong too), a PolicyError that there is no reader
    `read_as`.
    """
    files = fspath(path).split("\n") if isinstance(path, str | PathLike) else [fspath(one) for one in path]
    files = [file.removesuffix("\r") for file in files if file.strip()] or [""]
    runs = [_read_file(name, read_as, id_field) for file in files for name in _expand(file)]
    if len(runs) == 1:
        return runs[0]
    from gateline.readers._joining import join_runs

    return join_runs(runs)


def find_reader(file: str) -> str:
    """Return the name by which `--read-as` forces the reader that knows a file; empty for several files.

    Raises InputError where none knows it, or more than one does.
    """
    found = [one for line in file.split("\n") for one in _expand(line)]
    return _recognise(Source(found[0])).NAME if len(found) == 1 else ""


def _expand(file: str) -> list[str]:
    """Return the files that a pattern matches, sorted; a path that is there is no pattern."""
    found = find_matches(file)
    if found is None:
        return [file]
    if not found:
        raise InputError(f"not found: no file matches {file}")
    return found


def _read_file(file: str, read_as: str | None, id_field: str | None) -> Run:
    try:
        return _read_source(Source(file), read_as, id_field)
    except MemoryError:
        raise InputError(
            "does not fit into memory", file, "split it, or run the gate on a larger machine"
        ) from None


def _read_source(source: Source, read_as: str | None, id_field: str | None) -> Run:
    if read_as is not None and read_as not in readers():
        raise PolicyError(f"there is no reader '{read_as}'", "--read-as", did_you_mean(read_as, readers()))
    if not source.is_folder:
        if not source.head.strip() and not source.data.strip():
            raise InputError(f"0 samples: the file is empty ({len(source.data)} bytes)", source.name)
        source.refuse_other_encodings()
        if is_reduced(source.path):
            raise InputError(
                "is a reduced file: it holds sums that gateline reduce made for a policy, and no single samples",
                source.name,
                "gateline check takes it, alone and without --read-as; for anything else take the log itself",
            )
    reader = readers()[read_as] if read_as is not None else _recognise(source)
    with _collector_at_rest():
        run = reader.read(source, ReadOptions(id_field=id_field))
    if len(run) == 0:
        raise InputError("0 samples: the file has no record", source.name)
    if run.made_ids and id_field not in (None, "id"):
        from gateline.readers._identity import identify_by

        return identify_by(run, id_field)
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


def find_tools(source: Source) -> list[str]:
    """Return the names of the readers of tools that know a file by its content."""
    return [reader.NAME for reader in _find_claims(source) if not getattr(reader, "GENERAL", False)]


def _find_claims(source: Source) -> list[Reader]:
    return [reader for reader in readers().values() if reader.looks_like(source.head, source.path)]


def _recognise(source: Source) -> Reader:
    claims = _find_claims(source)
    claims = [reader for reader in claims if not getattr(reader, "GENERAL", False)] or claims
    if len(claims) == 1:
        return claims[0]
    names = name_some([reader.NAME for reader in claims or readers().values()], 40)
    if claims:
        raise InputError(f"looks like {names} alike", source.name, "say which with --read-as")
    from gateline.readers._unknown import describe_unknown

    kind, hint = describe_unknown(source)
    what = "folder" if source.is_folder else "file"
    told = f"; it seems to be {kind}" if kind else ""
    raise InputError(f"no reader knows this {what}; looked for {names}{told}", source.name, hint)
