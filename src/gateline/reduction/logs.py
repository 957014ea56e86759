"""Which files a log is made of, which columns they have, and what a header says of the run.

It reads the beginning of files only; records are for the engine.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from gateline.errors import InputError, did_you_mean
from gateline.files import find_matches, is_there
from gateline.reduction.columns import Kind, Wanted

_RECORDS_LOOKED_AT = 1000
_HEADER_NEEDS_SAMPLES = ("aliases", "must_agree", "unpaired")
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00")
"""How files begin that gzip, zip, zstd, bzip2 and xz write."""
_NUMBERS = ("double", "float", "halffloat", "int", "uint", "decimal")


@dataclass(frozen=True)
class Log:
    """The files of one run, all of one form."""

    files: tuple[str, ...]
    form: Literal["jsonl", "parquet"]
    columns: dict[tuple[str, ...], Kind]
    """Path of each column (`("metrics", "faithfulness")`, `("id",)`) and how it is read."""
    provenance: dict[str, object] = field(default_factory=dict)
    """What the first line of a JSON Lines file says of the run."""
    headers: int = 0
    """Files that have such a line."""

    def find(self, wanted: Wanted) -> list[tuple[str, ...]]:
        """Return the columns that may hold a field, the one that counts first."""
        inside = [(wanted.section, wanted.field)] if wanted.section else []
        known = [
            path
            for path in (*inside, (wanted.field,), tuple(wanted.field.split(".")))
            if path in self.columns
        ]
        if self.form == "jsonl":
            # What the first records lack, such as an error, may stand in later ones: it is always looked for.
            known += [path for path in (*inside, (wanted.field,)) if path not in known]
        return list(dict.fromkeys(known))


@dataclass(frozen=True)
class Column:
    """A column of the relation `log`: its name, where it stands in the files, how it is read."""

    name: str
    paths: tuple[tuple[str, ...], ...]
    """Places to look, the first that holds a value counts; empty where no file has it."""
    kind: Kind


def open_log(names: Sequence[str]) -> Log:
    """Return the files of a log; folders and patterns are looked into.

    Raises InputError where there is none, where they are of different forms, or of one that can't be reduced.
    """
    files = list({Path(file).resolve(): file for name in names for file in _expand(name)}.values())
    forms = {file: _form_of(file) for file in files}
    if len(set(forms.values())) > 1:
        other = next(file for file in files if forms[file] != forms[files[0]])
        raise InputError("is of another form than the files before it", other, "reduce one form at a time")
    if forms[files[0]] == "parquet":
        return Log(tuple(files), "parquet", _parquet_columns(files))
    return _open_json_lines(files)


def choose_columns(log: Log, wanted: Iterable[Wanted]) -> list[Column]:
    """Return where each wanted column stands.

    Raises InputError for a field that the policy needs and no file has.
    """
    found = []
    for one in wanted:
        paths = log.find(one)
        if one.required and not any(path in log.columns for path in paths) and not _is_further_on(log, paths):
            names = {path[-1] for path in log.columns}
            raise InputError(
                f"no record has a field {one.field}", log.files[0], did_you_mean(one.field, names)
            )
        if log.form == "parquet":
            paths = paths[:1]
        for path in paths:
            _refuse_look_alikes(log, path)
        kinds = {log.columns.get(path, "text") for path in paths}
        found.append(
            Column(one.name, tuple(paths), kinds.pop() if len(kinds) == 1 else "text" if paths else "absent")
        )
    return found


def _is_further_on(log: Log, paths: Sequence[tuple[str, ...]]) -> bool:
    """Say whether a field stands behind the records that were looked at, which costs a reading of the whole log."""
    if log.form != "jsonl":
        return False
    names = {path[-1] for path in paths}
    marks = [json.dumps(name, ensure_ascii=is_ascii).encode() for name in names for is_ascii in (True, False)]
    for file in log.files:
        with Path(file).open("rb") as stream:
            for number, line in enumerate(islice(stream, _RECORDS_LOOKED_AT, None), _RECORDS_LOOKED_AT + 1):
                if not any(mark in line for mark in marks):
                    continue
                columns: dict[tuple[str, ...], Kind] = {}
                for name, value in _read_line(line, f"{file}:{number}").items():
                    _note_column(columns, name, value)
                if not columns.keys().isdisjoint(paths):
                    return True
    return False


def _refuse_look_alikes(log: Log, path: tuple[str, ...]) -> None:
    """Raise InputError where another column differs from a wanted one in capital letters only.

    Neither engine tells such names apart in Parquet: one column would be read for the other.
    """
    if log.form != "parquet":
        return
    folded = [part.casefold() for part in path]
    for other in log.columns:
        if other != path and [part.casefold() for part in other] == folded:
            names = f"'{'.'.join(path)}' and '{'.'.join(other)}'"
            hint = "name one of them otherwise, or reduce a log in JSON Lines"
            raise InputError(f"has columns {names}, which SQL takes for one", log.files[0], hint)


def _expand(name: str) -> list[str]:
    path = Path(name)
    if is_there(name):
        if not path.is_dir():
            return [name]
        found = sorted(
            str(one) for one in path.rglob("*") if one.is_file() and not _is_hidden(one.relative_to(path))
        )
        if not found:
            raise InputError("is an empty folder", name)
        return found
    found = find_matches(name) or []
    if not found:
        raise InputError(f"not found: {name}")
    return found


def _is_hidden(path: Path) -> bool:
    """Say whether engines leave a file in a folder out: what begins with a dot or an underscore is not data (yet)."""
    return any(part[0] == "." or (part[0] == "_" and "=" not in part) for part in path.parts)


def _form_of(file: str) -> Literal["jsonl", "parquet"]:
    try:
        with Path(file).open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", file) from None
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return "jsonl"
    if head.startswith(_PACKED):
        raise InputError("is packed", file, "unpack it; Parquet is small without that")
    raise InputError(
        "is neither Parquet nor JSON Lines" if head else "is empty",
        file,
        "gateline convert makes JSON Lines of it",
    )


def _open_json_lines(files: Sequence[str]) -> Log:
    columns: dict[tuple[str, ...], Kind] = {}
    provenance: dict[str, object] = {}
    headers = 0
    for file in files:
        with Path(file).open("rb") as stream:
            for number, line in enumerate(islice(stream, _RECORDS_LOOKED_AT), start=1):
                if not line.strip():
                    continue
                record = _read_line(line, f"{file}:{number}")
                if number == 1 and "gateline" in record and "id" not in record:
                    provenance = _read_header(record, provenance, file)
                    headers += 1
                for name, value in record.items():
                    _note_column(columns, name, value)
    return Log(tuple(files), "jsonl", columns, provenance, headers)


def _note_column(columns: dict[tuple[str, ...], Kind], name: str, value: object) -> None:
    if isinstance(value, dict):
        columns.update(dict.fromkeys(((name, part) for part in value), "text"))
    else:
        columns[(name,)] = "text"


def _read_line(line: bytes, place: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", place) from None
    if not isinstance(record, dict):
        raise InputError("is not a JSON object", place)
    return record


def _read_header(record: dict[str, object], before: dict[str, object], file: str) -> dict[str, object]:
    for key in _HEADER_NEEDS_SAMPLES:
        if record.get(key):
            raise InputError(
                f"the header's '{key}' is about single records, and a reduced file has none", f"{file}:1",
                "check this file without reducing it",
            )  # fmt: skip
    run = record.get("run")
    if run is not None and not isinstance(run, dict):
        raise InputError("the header's 'run' must be an object", f"{file}:1")
    said = dict(run or {})
    if before and said != before:
        raise InputError("the files of one log say different things of the run", f"{file}:1")
    return said


def _parquet_columns(files: Sequence[str]) -> dict[tuple[str, ...], Kind]:
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "reading Parquet needs pyarrow",
            files[0],
            "pip install pyarrow (or gateline with its extra 'reduce')",
        ) from None
    first = None
    for file in files:
        try:
            schema = parquet.read_schema(file)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise InputError(
                f"is not a whole Parquet file: {str(error).partition(chr(10))[0]}", file
            ) from None
        if first is not None and not schema.equals(first):
            raise InputError(f"has other columns than {files[0]}", file, "reduce files of one form at a time")
        twice = [name for name, times in Counter(schema.names).items() if times > 1]
        if twice:
            raise InputError(f"columns stand twice: {', '.join(twice[:5])}", file)
        first = schema
    assert first is not None
    found: dict[tuple[str, ...], Kind] = {}
    for one in first:
        if pyarrow.types.is_struct(one.type):
            found[(one.name,)] = "text"
            for at in range(one.type.num_fields):
                part = one.type.field(at)
                found[one.name, part.name] = _kind_of(str(part.type))
            continue
        section, _, rest = one.name.partition(".")
        if rest and section in ("metrics", "slices"):
            found[section, rest] = _kind_of(str(one.type))
        found[(one.name,)] = _kind_of(str(one.type))
    return found


def _kind_of(name: str) -> Kind:
    return "number" if name.startswith(_NUMBERS) else "text"
