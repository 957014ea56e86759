"""One evaluation run as a table of columns.

Readers make it, pairing reads it. Nothing here knows a policy, another run or a file format.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, Problem, cut, name_some

Floats = npt.NDArray[np.float64]
Column = Floats | list[object]
"""A column of n records: float64 where every value is a number or absent (NaN = no value), else the raw
values (None = no value)."""

Agreement = Literal["exactly", "major version", "one in common"]
"""How a fact of two runs must agree: as a whole, in what stands before the first dot, or in one of its values."""

EXACT_INTEGERS = 2.0**53
"""Whole numbers below this size are kept by a double; from here on two of them may become one."""

SMALLEST, LARGEST = 1e-150, 1e150
"""Sizes between which a number can be squared, added up and divided by without leaving the range of a double."""

_TRUTHS = frozenset({"true", "false", "yes", "no", "pass", "fail", "passed", "failed"})
MISSING_TEXTS = frozenset({"", "nan", "null", "none", "na", "n/a", "nil", "-nan"})
"""Texts, in lower case and stripped, with which tools say that there is no value."""


@dataclass(frozen=True)
class MetricFacts:
    """What the tool that wrote a file says of one of its metrics."""

    better: Literal["higher", "lower"] | None
    """Which way is better; None for a number that is a diagnosis and no quality."""
    range: tuple[float, float] | None = None
    """Smallest and largest possible value; None where the tool sets no bounds."""
    definition: str = ""
    """What is computed, where tools use the name for several things; runs that differ in it can't be compared."""
    failed: str = ""
    """Field with the share (0 to 1) of what a record's number is a mean of that failed and isn't in it, if any."""


@dataclass(frozen=True)
class JoinedFile:
    """One of the files that were joined to a run."""

    file: str
    sha256: str
    names: frozenset[str]
    """Metrics and fields that it has."""
    elsewhere: frozenset[str]
    """Those of them that another of the files has, too, for one of its records."""
    facts: frozenset[str] = frozenset()
    """Facts of this part of the questions, which stand with its records: another part was made otherwise."""
    silent: frozenset[str] = frozenset()
    """Facts that it does not state for its records, as another file with the same numbers does."""
    stated: Mapping[str, str] = field(default_factory=dict)
    """Facts that it states of the whole run, as texts."""


@dataclass(frozen=True)
class Run:
    """One run of the system under test over a golden set."""

    file: str
    """The path as the user gave it."""
    sha256: str
    """Digest of the file's bytes (for a folder or several files: of theirs, in order)."""
    format: str
    """What the reader recognised, such as `gateline-jsonl` or `csv`."""
    ids: list[str]
    """Identity of the question of each record (n); repeats of one id are attempts."""
    lines: npt.NDArray[np.int64]
    """Line of each record in the file (n), counted from 1; 0 where the format has no lines."""
    metrics: dict[str, Column] = field(default_factory=dict)
    """Scores by name; what the format keeps as such."""
    slices: dict[str, Column] = field(default_factory=dict)
    """Labels by name; a value may be a list (tags)."""
    fields: dict[str, Column] = field(default_factory=dict)
    """Everything else of the records, nested objects by dotted names (`tokens.input`)."""
    written: dict[str, list[object]] = field(default_factory=dict)
    """Texts of the number columns among the fields, where the file has texts (None = no value): as a label, `007`
    is not `7`."""
    provenance: dict[str, object] = field(default_factory=dict)
    """How the run was made, as far as the file says so for the whole of it."""
    id_field: str = "id"
    """Where the ids came from."""
    made_ids: bool = False
    """Whether no field holds the ids, and the reader made them of what `id_field` says."""
    warnings: tuple[str, ...] = ()
    """What the reader noticed and a person should know."""
    format_version: str = ""
    """Version of the format, or of the tool that wrote it, as far as the file tells."""
    metric_facts: dict[str, MetricFacts] = field(default_factory=dict)
    """What the tool says of its metrics; absent where it says nothing."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Other names of columns: `ndcg@10` for `ndcg_at_10`. A column's own name counts first."""
    must_agree: dict[str, Agreement] = field(default_factory=dict)
    """Facts (fields, provenance) in which two runs must agree, and how: else their numbers mean different things."""
    unpaired: str = ""
    """Why the records can't be matched with those of another run; empty where they can."""
    handle: str = ""
    """Field that names a record in the tool (a trace), by which several files of one run are joined where only one of
    them has the ids; empty where there is none."""
    origins: list[str] = field(default_factory=list)
    """Path of the file of each record (n) where the run is a folder or several files; empty for one file."""
    parts: tuple[JoinedFile, ...] = ()
    """The files of the run where several were joined."""
    _parsed: dict[str, Floats] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.ids)

    def place(self, row: int) -> str:
        """Return `file:line` of a record."""
        line, file = int(self.lines[row]), self.origins[row] if self.origins else self.file
        return f"{file}:{line}" if line else file

    def find_column(self, name: str) -> Column | None:
        """Return the column of a metric's field: looked up in `metrics`, then among the other fields."""
        for known in (name, self.aliases.get(name, name)):
            for section in (self.metrics, self.fields):
                if known in section:
                    return section[known]
        return None

    def find_facts(self, name: str) -> MetricFacts | None:
        """Return what the tool says of the metric's field `name`; None where it says nothing."""
        if name in self.metrics or name in self.fields:
            return self.metric_facts.get(name)
        return self.metric_facts.get(self.aliases.get(name, name))

    def find_label(self, name: str) -> Column | None:
        """Return the column of a label: looked up in `slices`, then the other fields, then `metrics`."""
        sections: tuple[Mapping[str, Column], ...] = (self.slices, self.written, self.fields, self.metrics)
        for known in (name, self.aliases.get(name, name)):
            found = next((section[known] for section in sections if known in section), None)
            if found is not None:
                return found
        return None

    def number_names(self) -> list[str]:
        """Return the names under which a metric can find numbers, in the file's order."""
        names = list(self.metrics)
        names += [
            name
            for name, column in self.fields.items()
            if name not in self.metrics and reads_as_numbers(column)
        ]
        return names

    def numbers(self, name: str) -> Floats:
        """Return the column `name` as float64 (n), NaN where there is no value.

        Numeric text (`"4"`, `" 1e1 "`) is read as a number, the usual spellings of a missing value as NaN.
        Anything else, truth values and infinite numbers among that, is an InputError that names the records; so is a
        number too large or too close to 0 to be computed with.
        """
        column = self.find_column(name)
        if column is None:
            raise KeyError(name)
        if name in self._parsed:
            return self._parsed[name]
        refused: list[tuple[int, str]] = []
        values = column if isinstance(column, np.ndarray) else read_numbers(column, refused)
        unbounded = np.flatnonzero(np.isinf(values))
        refused += [(int(row), "an infinite number" if isinstance(column, np.ndarray) else repr(column[row]))
                    for row in unbounded]  # fmt: skip
        if refused:
            told = [(row, f"not a number: {cut(one)}", _how_to_write(one)) for row, one in sorted(refused)]
            raise self._refuse(name, told, "are not numbers")
        self._refuse_extremes(name, values)
        if values is not column:
            self._parsed[name] = values
        return values

    def _refuse_extremes(self, name: str, values: Floats) -> None:
        size = np.abs(values)
        rows = np.flatnonzero((size > LARGEST) | ((size < SMALLEST) & (size > 0))).tolist()
        if rows:
            hint = "is it garbage, or in a wrong unit?"
            told = [(row, f"beyond what can be computed with: {values[row]:.3g}", hint) for row in rows]
            raise self._refuse(name, told, "can't be computed with")

    def _refuse(self, name: str, told: list[tuple[int, str, str]], are: str) -> InputError:
        """Return the error of values by row: what each is, and how to mend it."""
        problems = [
            Problem(f"{name} of sample '{self.ids[row]}' is {what}", self.place(row), hint)
            for row, what, hint in told[:5]
        ]
        if len(told) > 5:
            rest = [f"'{self.ids[row]}'" for row, _, _ in told[5:]]
            problems.append(Problem(f"{name}: likewise {name_some(rest, 10)}", self.file))
        return InputError(
            f"{len(told)} of {len(self)} values of {name} in {self.file} {are}", problems=problems
        )

    def labels(self, name: str) -> list[tuple[str, ...]] | None:
        """Return the texts of the label `name` of each record (n), or None where no record has the column.

        An absent, null or blank label is the empty tuple; a list gives one text an item.
        """
        column = self.find_label(name)
        if column is None:
            return None
        if isinstance(column, np.ndarray):
            return [() if math.isnan(value) else (number_text(value),) for value in column.tolist()]
        return _texts_of(column)

    def texts(self, name: str) -> list[str] | None:
        """Return the text of a field of each record (n), "" where it has none, or None without the column."""
        if name == self.id_field:
            return list(self.ids)
        labels = self.labels(name)
        return None if labels is None else [", ".join(values) for values in labels]


def number_text(value: float) -> str:
    """Return a number as a person writes it: `5`, not `5.0`."""
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < EXACT_INTEGERS else repr(float(value))
    )


def count_digits(value: float) -> int:
    """Return how many significant digits a number has, zeros at the end left out: 3 for `0.812` and for `81200`."""
    return len(repr(abs(_to_float(value))).partition("e")[0].replace(".", "").strip("0"))


def _texts_of(column: Sequence[object]) -> list[tuple[str, ...]]:
    """Return the texts of a column of labels (n): few differ, so that equal ones are one tuple."""
    known: dict[str, tuple[str, ...]] = {}
    found = []
    for value in column:
        if type(value) is not str:
            found.append(label_texts(value))
            continue
        texts = known.get(value)
        if texts is None:
            texts = known[value] = label_texts(value)
        found.append(texts)
    return found


def label_texts(value: object) -> tuple[str, ...]:
    """Return a label's value as texts, whole numbers digit for digit: none for a blank, one an item."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value.strip(),) if value.strip() else ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, float):
        return () if math.isnan(value) else (number_text(value),)
    if isinstance(value, Sequence):
        return tuple(dict.fromkeys(text for item in value for text in label_texts(item)))
    if isinstance(value, Mapping):
        return tuple(f"{key}={text}" for key, item in value.items() for text in label_texts(item))
    return (str(value),)


def read_number(value: object) -> float | None:
    """Return a raw value as a number: NaN where it says that there is none, None where it is something else.

    Numeric text counts, a truth value does not. The result may be infinite.
    """
    if value is None:
        return math.nan
    if isinstance(value, str):
        return math.nan if value.strip().lower() in MISSING_TEXTS else _parse_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _to_float(value)


def read_numbers(column: Sequence[object], refused: list[tuple[int, str]]) -> Floats:
    """Read a raw column (n) as numbers; what is none goes to `refused` with its row."""
    known: dict[str, float | None] = {}  # texts repeat; each is parsed once
    values = np.full(len(column), np.nan)
    for row, value in enumerate(column):
        if type(value) is str:
            if value not in known:
                known[value] = read_number(value)
            number = known[value]
        else:
            number = read_number(value)
        if number is None:
            refused.append((row, str(value).lower() if isinstance(value, bool) else repr(value)))
        else:
            values[row] = number
    return values


def reads_as_numbers(column: Column) -> bool:
    """Say whether a column has a number and nothing that is none."""
    if isinstance(column, np.ndarray):
        return True
    found = False
    for value in column:
        number = read_number(value)
        if number is None:
            return False
        found = found or not math.isnan(number)
    return found


def _to_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of a double
        return math.inf if value > 0 else -math.inf


def _parse_number(text: str) -> float | None:
    """Read a number as JSON writes it, with blanks around; no `1_000`, no `0x10`, no other digits."""
    stripped = text.strip()
    if not stripped.isascii() or "_" in stripped:
        return None
    try:
        return float(stripped)
    except ValueError:
        return None


def _how_to_write(value: str) -> str:
    """Return how a value should be written that is no number, where that is plain."""
    word = value.strip("'\" ").lower()
    if word in _TRUTHS or word.endswith("%"):
        return "write 1 and 0" if word in _TRUTHS else "write a share, 0.5 for 50 %"
    is_number = "," in word and set(word) <= set("0123456789.,+-")
    return "write the decimal point as '.', without thousands marks" if is_number else ""
