"""Blocks of records to one `Run`: tells apart id, metrics, slices and the rest, and collects what is wrong.

Readers of record-like files (JSON Lines, JSON, Parquet) share this; it must not know a file format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, Problem, name_some, nearest
from gateline.readers._columns import DEEPEST, Columns, Record, UnfitValueError, is_shallow, plain_values
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Run, label_texts, read_numbers, reads_as_numbers

SECTIONS = ("metrics", "slices")


class Problems:
    """What is wrong with a file: the first few in words, the others counted."""

    def __init__(self, file: str, most: int = 5):
        """Take the name of the file and how many problems are told."""
        self.file = file
        self._most = most
        self._told: list[Problem] = []
        self._count = 0

    def add(self, line: int, message: str, hint: str = "") -> None:
        """Take down a problem of a line (0: of the file)."""
        self._count += 1
        if len(self._told) < self._most:
            self._told.append(Problem(message, f"{self.file}:{line}" if line else self.file, hint))

    def raise_any(self) -> None:
        """Raise an InputError if there was a problem."""
        if not self._count:
            return
        told = list(self._told)
        if self._count > len(told):
            told.append(Problem(f"and {self._count - len(told)} more", self.file))
        count = "1 problem" if self._count == 1 else f"{self._count} problems"
        raise InputError(f"{count} in {self.file}", problems=told)


class RunBuilder:
    """A run in the making."""

    def __init__(self, source: Source, options: ReadOptions, file_format: str):
        """Take the file, what is asked of the reader, and the name of the format."""
        self.problems = Problems(source.name)
        self.format = file_format
        self.provenance: dict[str, object] = {}
        self.warnings: list[str] = []
        self.stated: dict[str, Any] = {}
        """Further fields of the run, which the file states."""
        self.id_field = "" if options.numbered else options.id_field or "id"
        self._numbered = options.numbered
        self._source = source
        self.sha256: str | None = None
        """Digest of what was read, where that is more than one file."""
        self._ids: list[str] = []
        self._without_id = 0
        self._first_without_id = 0
        self._lines: list[npt.NDArray[np.int64]] = []
        self._metrics = Columns(as_measures=True)
        self._slices = Columns()
        self._fields = Columns()
        self._has_vast_id = False

    def __len__(self) -> int:
        """Return the number of records so far."""
        return len(self._ids)

    @property
    def field_names(self) -> list[str]:
        """Return the names of the fields outside the sections."""
        return self._fields.names

    @property
    def has_vast_numbers(self) -> bool:
        """Say whether an id or field may be an integer that lost digits; nested ones count after `finish`."""
        return self._has_vast_id or self._slices.has_vast_numbers or self._fields.has_vast_numbers

    @property
    def has_sections(self) -> bool:
        """Say whether a record had `metrics` or `slices` as an object."""
        return bool(self._metrics.names or self._slices.names)

    def take_provenance(self, run: Mapping[str, object], line: int) -> None:
        """Take what the file says of the whole run, nested objects by dotted names."""
        if is_shallow(run):
            self.provenance = flatten(run)
        else:
            self.problems.add(line, f"'run' is nested more than {DEEPEST} levels deep")

    def add(self, records: Sequence[Record], lines: npt.NDArray[np.int64]) -> int:
        """Add a block of records and their lines (n; 0 for none), and return how many keys they have."""
        without = set() if self._numbered else {self.id_field}
        keys = 0
        try:
            for section, columns in ((SECTIONS[0], self._metrics), (SECTIONS[1], self._slices)):
                keys += columns.append(self._section(section, records, lines))
                without.add(section)
            keys += self._fields.append(records, frozenset(without))
        except UnfitValueError as error:
            self.problems.add(int(lines[error.row]), str(error))
            self.problems.raise_any()
        self._lines.append(lines)
        self._ids += self._identify(records, lines)
        return keys

    def finish(self) -> Run:
        """Return the run; an InputError tells all that was wrong with the file."""
        fields = self._fields.finish()
        if self._without_id and self._without_id == len(self):
            self._refuse_without_id(list(fields))
        elif self._without_id:
            self.problems.add(
                self._first_without_id,
                f"no '{self.id_field}' in this and {self._without_id - 1} other records"
                if self._without_id > 1
                else f"no '{self.id_field}' in this record",
            )
        self.problems.raise_any()
        return Run(
            file=self._source.name,
            sha256=self.sha256 or self._source.sha256,
            format=self.format,
            ids=self._ids,
            lines=np.concatenate(self._lines) if self._lines else np.zeros(0, np.int64),
            metrics=self._metrics.finish(),
            slices=self._slices.finish(),
            fields=fields,
            provenance=self.provenance,
            id_field=self.id_field,
            warnings=tuple(self.warnings),
            **self.stated,
        )

    def _section(self, name: str, records: Sequence[Record], lines: npt.NDArray[np.int64]) -> list[Record]:
        """Return the section `name` of each record, empty where there is none."""
        sections = [record.get(name) for record in records]
        if set(map(type, sections)) == {dict}:
            return sections  # type: ignore[return-value]
        for section, line in zip(sections, lines.tolist(), strict=True):
            if section is not None and not isinstance(section, dict):
                self.problems.add(
                    line, f"'{name}' must be an object of names and values, not {describe(section)}"
                )
        return [section if isinstance(section, dict) else {} for section in sections]

    def _identify(self, records: Sequence[Record], lines: npt.NDArray[np.int64]) -> list[str]:
        if self._numbered:
            return [str(number) for number in range(len(self) + 1, len(self) + len(records) + 1)]
        name = self.id_field
        values = [record[name] if name in record else _look_up(record, name) for record in records]
        if set(map(type, values)) == {str} and all(map(str.strip, values)):  # type: ignore[arg-type]
            return values  # type: ignore[return-value]
        ids = []
        for value, line in zip(values, lines.tolist(), strict=True):
            ids.append(identity(value) or "")
            if ids[-1]:
                continue
            self._has_vast_id |= isinstance(value, float)
            if value is None:
                self._without_id += 1
                self._first_without_id = self._first_without_id or line
            else:
                self.problems.add(
                    line, f"{self.id_field} must be a text or a whole number, not {describe(value)}"
                )
        return ids

    def _refuse_without_id(self, names: list[str]) -> None:
        names += [f"metrics.{name}" for name in self._metrics.names]
        self.problems.add(0, *missing_id(self.id_field, names))


def refuse_two_values(run: Run) -> Run:
    """Return a run of a general format; an InputError where a number stands beside `metrics` with another value.

    The same holds for a label beside `slices`. A text beside a score of its name, such as an answer, is no such number.
    """
    for section, name, row in find_two_values(run):
        raise InputError(
            f"sample '{run.ids[row]}' has two values of {name}, one of which stands under '{section}'",
            run.place(row),
            f"which of them counts? rename or drop '{name}' or '{section}.{name}'",
        )
    return run


def find_two_values(run: Run) -> Iterator[tuple[str, str, int]]:
    """Give the section, name and first row of each metric or label of which a field of its name says another value."""
    for section, columns in ((SECTIONS[0], run.metrics), (SECTIONS[1], run.slices)):
        for name in columns.keys() & run.fields.keys():
            if section == SECTIONS[0] and not reads_as_numbers(run.fields[name]):
                continue
            pairs = zip(*_comparable(run, section, name), strict=True)
            row = next(
                (row for row, (one, other) in enumerate(pairs) if one and other and one != other), None
            )
            if row is not None:
                yield section, name, row


def _comparable(run: Run, section: str, name: str) -> tuple[list[str], list[str]]:
    """Return both columns of a name as texts of numbers or labels; empty where there is no value."""
    found = []
    for column in (getattr(run, section)[name], run.fields[name]):
        if section == SECTIONS[0]:
            numbers = column if isinstance(column, np.ndarray) else read_numbers(column, [])
            found.append(["" if np.isnan(one) else repr(one) for one in numbers.tolist()])
        else:
            found.append([", ".join(label_texts(one)) for one in plain_values(column)])
    return found[0], found[1]


def missing_id(id_field: str, names: list[str]) -> tuple[str, str]:
    """Return message and hint for a file whose records lack the identity field."""
    likely = [
        name
        for name in names
        if name.lower() in {"id", "_id", "qid", "uuid", "key"} or name.lower().endswith("_id")
    ]
    close = nearest(id_field, names)
    guess = likely[0] if likely else close
    guess = guess or "query_id"
    hint = f"name the field with --id {guess}, in a policy as samples: {{id: {guess}}}"
    found = f"found {name_some(names, 12)}" if names else "the records are empty"
    return f"no record has the field '{id_field}' that identifies its question; {found}", hint


def identity(value: object) -> str | None:
    """Return an id as text, whole numbers digit for digit; None for what identifies nothing."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))  # 5.0: a table once had a gap in its column of ids
    return None


def describe(value: object) -> str:
    """Return what a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {value[:40]!r}" if value.strip() else "a blank text"
    if isinstance(value, int | float):
        return f"the number {value!r}"
    return "an object" if isinstance(value, Mapping) else "a list"


def make_run_of_means(
    source: Source, numbers: Mapping[str, float], *, format_name: str, unpaired: str
) -> Run:
    """Return the means of a run as its one record; `unpaired` says why nothing can be compared with it."""
    return Run(
        file=source.name,
        sha256=source.sha256,
        format=format_name,
        ids=["mean of the run"],
        lines=np.zeros(1, dtype=np.int64),
        metrics={name: np.array([number]) for name, number in numbers.items()},
        id_field="nothing: the file has means",
        made_ids=True,
        unpaired=unpaired,
    )


def flatten(value: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Return nested objects as one, with dotted names; lists are kept."""
    flat: dict[str, object] = {}
    for key, item in value.items():
        if isinstance(item, Mapping) and item:
            flat.update(flatten(item, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = item
    return flat


def _look_up(record: Record, name: str) -> object:
    """Return the value of a field by its name, or by a dotted path into nested objects."""
    value: object = record
    for key in name.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
