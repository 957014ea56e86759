"""What a file is that no reader knows, and how its samples could be read all the same.

It must not know a reader, and makes no run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from gateline.errors import name_some
from gateline.readers import table
from gateline.readers._json_text import JsonProblemError, parse_value, skip_blanks
from gateline.readers._source import Source, without_mark

MAPPING_HINT = (
    "any tool's samples can be read as JSON Lines, a JSON list or a CSV table: name their columns in the "
    "policy with field: and samples: {id: ...}, and force a reader with --read-as"
)
LARGEST = 1 << 24
"""Bytes up to which a JSON file is looked through for its records."""
_DEEPEST = 5
_ENDINGS = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet"})
_OF_POLICIES = frozenset({".yml", ".yaml"})
_COMPRESSED = ("a zip file", "a gzip file", "a zstandard file")
UNPACK_HINT = "unpack it first, and hand over what is in it"
_MAGIC = {
    b"SQLite format 3": "an SQLite database",
    b"PK\x03\x04": "a zip file",
    b"\x1f\x8b": "a gzip file",
    b"\x28\xb5\x2f\xfd": "a zstandard file",
    b"\x89PNG": "an image",
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file",
    b"\x80\x04": "a pickle, which is never opened",
    b"<!DOCTYPE": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "XML",
    b"---": "YAML",
}


def describe_unknown(source: Source) -> tuple[str, str]:
    """Return what a file or folder seems to be, as far as that can be told (else empty), and what to do."""
    if source.is_folder:
        return "", _hint_at_folder(source)
    if source.path.suffix.lower() in _OF_POLICIES:
        return "YAML, as a policy is", f"gateline lint checks a policy; {MAPPING_HINT}"
    begin = without_mark(source.head)
    kind = next((told for magic, told in _MAGIC.items() if source.data.startswith(magic)), "")
    if not kind and begin[:1] in {b"{", b"["} and len(source.data) <= LARGEST:
        return _describe_json(source)
    if not kind and b"\0" in begin[:4096]:
        kind = "no text"
    if not kind:
        return _describe_text(begin.decode("utf-8", "replace").splitlines())
    return kind, UNPACK_HINT if kind in _COMPRESSED else MAPPING_HINT


def _describe_text(lines: list[str]) -> tuple[str, str]:
    first = lines[0].strip() if lines else ""
    delimiter = table.find_delimiter(first)
    names = [name.strip() for name in first.split(delimiter)]
    if len(names) > 1 and all(names) and len(lines) > 1 and lines[1].count(delimiter) == len(names) - 1:
        return (
            f"a table with the columns {name_some(names, 8)}",
            f"read it with --read-as csv, and name the column that identifies a question; {MAPPING_HINT}",
        )
    return f"text that begins with {first[:60]!r}", MAPPING_HINT


def _hint_at_folder(source: Source) -> str:
    """Return the pattern to give where a folder holds files of records."""
    files = [path for path in source.path.glob("*") if path.is_file()]
    endings = Counter(path.suffix for path in files if path.suffix.lower() in _ENDINGS)
    if not endings:
        return MAPPING_HINT
    (ending, times), *_ = endings.most_common(1)
    pattern = str(source.path / f"*{ending}")
    return f"it has {times} {ending} files: as parts of one run give them as a pattern, '{pattern}'; {MAPPING_HINT}"


def _describe_json(source: Source) -> tuple[str, str]:
    text = source.decode()
    try:
        value, _ = parse_value(text, skip_blanks(text, 0))
    except JsonProblemError as error:
        line = text.count("\n", 0, error.position) + 1
        return f"JSON that breaks off or is wrong in line {line}: {error}", MAPPING_HINT
    found = next(_lists_of_objects(value, ""), None)
    if found is not None:
        path, names = found
        return (
            f"JSON with records under '{path}', which have {name_some(names, 8)}",
            f"write that list to a file of its own; {MAPPING_HINT}",
        )
    if isinstance(value, list):
        return "a JSON list of something else than objects", MAPPING_HINT
    if not isinstance(value, dict):
        return "a bare JSON value", MAPPING_HINT
    if len(value) > 1 and all(isinstance(item, dict) for item in value.values()):
        return (
            f"a JSON object of objects, called {name_some(value, 3)}",
            f"where these are ids, write a list of the objects, each with its id; {MAPPING_HINT}",
        )
    return (
        f"a JSON object without records, with {name_some(value, 8)}",
        f"means of a whole run can't show a change: hand over the samples; {MAPPING_HINT}",
    )


def _lists_of_objects(value: object, path: str, levels: int = _DEEPEST) -> Iterator[tuple[str, list[str]]]:
    """Give the place of each list of objects in a JSON value, and the keys of its first object."""
    if not isinstance(value, Mapping) or levels == 0:
        return
    for name, item in value.items():
        place = f"{path}.{name}" if path else str(name)
        if isinstance(item, list) and item and isinstance(item[0], dict):
            yield place, list(item[0])
        yield from _lists_of_objects(item, place, levels - 1)
