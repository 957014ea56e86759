"""JSON Lines, one record a line: gateline's own format, and the flat records of any other tool.

A line ends at a line feed and nowhere else: the other line separators of Unicode are data. orjson is
used where it is installed; what it refuses or would change (bare NaN, infinite numbers, integers beyond
64 bits) is read again with the standard library, so that the run is the same with and without it. A key
that stands twice in one object is an error, at any depth.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gateline.errors import InputError
from gateline.readers._building import SECTIONS, RunBuilder, describe, refuse_two_values
from gateline.readers._columns import Record
from gateline.readers._header import read_statements
from gateline.readers._json_columns import begins_a_column
from gateline.readers._json_lines import Loads, orjson_loads, read_blocks, read_object
from gateline.readers._json_text import JsonProblemError
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.readers.records import WRAPPERS
from gateline.samples import Run

NAME = "jsonl"
GENERAL = True
SUFFIXES = frozenset({".jsonl", ".ndjson", ".jsonlines"})
VERSION = 1


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether the first line is a JSON object that is a record, or a damaged one in a `.jsonl` file."""
    first, _, rest = without_mark(head).partition(b"\n")
    if not first.startswith(b"{"):
        return False
    named_so = path.suffix.lower() in SUFFIXES
    try:
        record = read_object(first)
    except JsonProblemError:
        return named_so and len(first.strip()) > 1  # a lone brace begins a JSON file printed over many lines
    is_alone = not rest.strip()
    if is_alone and any(_is_list_of_objects(record.get(wrapper)) for wrapper in WRAPPERS):
        return False
    if is_alone and len(record) > 1 and all(map(begins_a_column, record.values())):
        return False  # a data frame by columns
    return (
        named_so
        or rest.lstrip().startswith(b"{")
        or not record.keys().isdisjoint({"id", "gateline", *SECTIONS})
    )


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def read(source: Source, options: ReadOptions) -> Run:
    """Return the records of the file; an InputError tells the first problems by line."""
    loads = orjson_loads()
    builder = _build(source, options, loads)
    run = None if builder.has_vast_numbers else builder.finish()
    if run is None or (loads is not None and builder.has_vast_numbers):
        # orjson makes a float of an integer beyond 64 bits, and an id must keep its digits.
        run = _build(source, options, None).finish()
    return refuse_two_values(run)


def _build(source: Source, options: ReadOptions, loads: Loads | None) -> RunBuilder:
    builder = RunBuilder(source, options, NAME)
    for block in read_blocks(source, builder.problems, loads):
        if not len(builder) and block.records and "gateline" in block.records[0]:
            _read_header(*block.take_first(), builder)
        keys = builder.add(block.records, np.array(block.numbers, dtype=np.int64))
        for line, message in block.find_repeated_keys(keys):
            builder.problems.add(line, message)
    if "gateline" in builder.field_names:
        builder.problems.add(0, "a header line stands in the middle", "two files seem to have been joined")
    if builder.has_sections:
        builder.format = "gateline-jsonl"
    return builder


def _read_header(header: Record, line: int, builder: RunBuilder) -> None:
    version, run = header["gateline"], header.get("run")
    place = f"{builder.problems.file}:{line}"
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"format version {version!r} is not known; this gateline reads version {VERSION}", place
        )
    if run is not None and not isinstance(run, dict):
        raise InputError(f"'run' must be an object, not {describe(run)}", place)
    builder.format = "gateline-jsonl"
    builder.take_provenance(run or {}, line)
    warnings = header.get("warnings")
    if warnings is not None and not (
        isinstance(warnings, list) and all(isinstance(one, str) for one in warnings)
    ):
        raise InputError("'warnings' must be a list of texts", place)
    builder.warnings += warnings or []
    builder.stated = read_statements(header, place)
