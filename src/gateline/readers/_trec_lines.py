"""What the formats of TREC have in common: columns apart by blanks, names of measures, JSON by query.

Nothing here makes a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError
from gateline.readers._building import Problems
from gateline.readers._json_text import JsonProblemError, parse_value
from gateline.readers._source import Source
from gateline.samples import Floats

BLOCK_BYTES = 1 << 22

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
WHOLE = re.compile(rb"[+-]?\d{1,15}")
JSON_SCORES = re.compile(
    rb'\{\s*"(?!(?:overall|retriever|generator)_metrics")'  # groups of metrics in a summary are no queries
    rb'(?:[^"\\]|\\.)+"\s*:\s*\{\s*"((?:[^"\\]|\\.)+)"\s*:\s*-?[\dNI]'
)
MEASURE = re.compile(
    r"(n?dcg|map|gm_map|ap|gm_ap|rprec|r-precision|recip_rank|rr|mrr|bpref|infap|11pt_avg|judged|unj|err|rbp|f1"
    r"|precision|recall|success|hits|hit_rate|num_(q|ret|rel|rel_ret|nonrel_judged_ret)|relstring|utility"
    r"|set_(P|recall|map|F|relative_P|F_.*)|iprec_at_recall_[\d.]+|relative_P|rel_P|ndcg_rel|Rndcg|binG|G|yaap)"
    r"([@(].*|_(cut_|mult_|avgjg_|dcg_)?[\d.]+|-l\d+.*|_burges.*|_(avg|mult|G).*)?"
    r"|(P|R)([@(].*|_\d+)|[a-zA-Z]+\(.+\)(@\d+)?",
    re.IGNORECASE,
)
"""Names of retrieval measures as trec_eval, pytrec_eval, ir_measures, ranx and BEIR write them."""


def names_a_measure(name: bytes) -> bool:
    """Say whether a text is the name of a retrieval measure."""
    return MEASURE.fullmatch(name.decode("utf-8", "replace")) is not None


def first_rows(begin: bytes, most: int = 5) -> list[list[bytes]]:
    """Return the columns of the first lines that are no comment; the last line of a head is whole."""
    lines = begin.split(b"\n", most + 5)[: most + 5]
    return [line.split() for line in lines if line.strip() and not line.startswith(b"#")][:most]


class Lines:
    """The columns of a file, and the line of each row; comment lines and blank ones are left out."""

    def __init__(self) -> None:
        self.columns: list[list[bytes]] = []
        self.numbers: npt.NDArray[np.int64] = np.zeros(0, np.int64)


def read_lines(source: Source, width: int, *, skip_first: bool = False) -> Iterator[Lines]:
    """Give the rows of `width` columns in blocks; an InputError names the first lines of another width."""
    problems = Problems(source.name)
    first, start, data = 1, source.text_start, source.data
    while start < len(data):
        end = data.find(b"\n", start + BLOCK_BYTES)
        end = len(data) if end < 0 else end
        text = data[start:end]
        rows = [line.split() for line in text.split(b"\n")]
        numbers = np.arange(first, first + len(rows), dtype=np.int64)
        first, start = first + len(rows), end + 1
        if skip_first:
            rows, numbers, skip_first = rows[1:], numbers[1:], False
        may_have_comments = text.startswith(b"#") or b"\n#" in text
        if set(map(len, rows)) != {width} or may_have_comments:
            keep = [place for place, row in enumerate(rows) if row and not row[0].startswith(b"#")]
            rows, numbers = [rows[place] for place in keep], numbers[keep]
            for row, line in zip(rows, numbers.tolist(), strict=True):
                if len(row) != width:
                    problems.add(line, f"columns: {len(row)}; a line of this file has {width}")
            problems.raise_any()
        if rows:
            block = Lines()
            block.columns, block.numbers = [list(column) for column in zip(*rows, strict=True)], numbers
            yield block


class Names(dict[bytes, str]):
    """Texts of a file, each kept once: ten million cells hold a few hundred thousand names."""

    def __init__(self, source: Source):
        super().__init__()
        self._source = source

    def __missing__(self, cell: bytes) -> str:
        text = self[cell] = cell.decode("utf-8")
        return text

    def decode(self, cells: list[bytes]) -> list[str]:
        """Return cells as texts; an InputError names the line of a byte that is not UTF-8."""
        try:
            return [self[cell] for cell in cells]
        except UnicodeDecodeError:
            self._source.decode()
            raise


def read_scores(source: Source, cells: list[bytes], lines: npt.NDArray[np.int64]) -> Floats:
    """Return scores as numbers; an InputError names the lines of what is none, NaN among that."""
    try:
        scores = np.array(list(map(float, cells)))
        is_plain = b"_" not in b"".join(cells)  # Python reads 1_0 as 10, which no other tool does
    except ValueError:
        is_plain = False
    if not is_plain:
        scores = np.array([float(cell) if NUMBER.fullmatch(cell) else np.nan for cell in cells])
    problems = Problems(source.name)
    for row in np.flatnonzero(np.isnan(scores)).tolist():
        problems.add(
            int(lines[row]), f"the score is not a number: {cells[row].decode('utf-8', 'replace')[:40]!r}"
        )
    problems.raise_any()
    return scores


def read_json_object(source: Source, shape: str) -> dict[str, dict[str, Any]]:
    """Return the file's one JSON object of objects; an InputError says what else it holds, as `shape` has it."""
    text = source.decode()
    try:
        value, end = parse_value(text, len(text) - len(text.lstrip()), repeats=[])
    except JsonProblemError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"is not JSON: {error}", f"{source.name}:{line}") from None
    if text[end:].strip() or not isinstance(value, dict):
        raise InputError(f"must be one JSON object, {shape}", source.name)
    repeated = getattr(value, "repeated", "")
    if repeated:
        raise InputError(f"the query '{repeated}' stands twice", source.name)
    for query, inner in value.items():
        if not isinstance(inner, dict):
            raise InputError(f"'{query}' must be an object, {shape.partition(' -> ')[2]}", source.name)
        repeated = getattr(inner, "repeated", "")
        if repeated:
            raise InputError(f"query '{query}' has '{repeated}' twice", source.name)
    return value
