"""promptfoo's CSV: a row a test, and in it a block of columns for each pair of provider and prompt.

The names of the blocks' columns repeat, so they are read by position. Scores have two decimals, and error, time, cost,
tokens and metadata of a test are not there.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass

from gateline.errors import InputError
from gateline.readers._json_document import number_of, object_of
from gateline.readers._promptfoo_header import BLOCK
from gateline.readers._promptfoo_results import NO_ASSERTIONS, Record, keep_variables
from gateline.readers._promptfoo_tests import Answered
from gateline.readers._source import Source
from gateline.readers.table import LONGEST_CELL
from gateline.samples import read_number

_METRIC = "Metric: "
_PASSED = {"PASS": 1.0, "FAIL": 0.0}
ROUNDED = (
    "the CSV has scores of two decimals and neither latency, cost, tokens nor metadata; the JSON of the same run "
    "has them"
)


@dataclass(frozen=True)
class _Block:
    """The columns of one provider and prompt, as positions."""

    provider: str
    prompt: str
    output: int
    metrics: Mapping[str, int]
    reason: int | None


def read_table(source: Source) -> list[tuple[Answered, Record]]:
    """Return the tests of a CSV with the record of each; an InputError names the line of what is wrong."""
    csv.field_size_limit(LONGEST_CELL)  # a cell with contexts is longer than csv's own limit
    reader = csv.reader(io.StringIO(source.decode(), newline=""), strict=True)
    found: list[tuple[Answered, Record]] = []
    names: list[str] = []
    blocks: list[_Block] = []
    number = 0
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InputError(f"is not CSV: {error}", f"{source.name}:{line}") from None
        if cells is None:
            return found
        if not any(cells):
            continue
        if not names:
            names, blocks = cells, _find_blocks(cells, f"{source.name}:{line}")
            continue
        if len(cells) != len(names):
            raise InputError(
                f"cells: {len(cells)}; columns in the header: {len(names)}", f"{source.name}:{line}"
            )
        found += [_read_block(names, blocks, block, cells, (number, line)) for block in blocks]
        number += 1


def _find_blocks(names: list[str], place: str) -> list[_Block]:
    starts = [at for at in range(1, len(names)) if names[at : at + 3] == BLOCK]
    if not starts:
        raise InputError("has no columns Status, Score, Named Scores, as promptfoo's CSV has", place)
    blocks = []
    for at, following in zip(starts, [*starts[1:], len(names) + 1], strict=True):
        columns = range(at + 3, following - 1)
        provider, _, prompt = names[at - 1].removeprefix("[").partition("] ")
        blocks.append(
            _Block(
                provider=provider,
                prompt=prompt,
                output=at - 1,
                metrics={
                    names[one].removeprefix(_METRIC): one for one in columns if names[one].startswith(_METRIC)
                },
                reason=next((one for one in columns if names[one] == "Grader Reason"), None),
            )
        )
    return blocks


def _read_block(
    names: list[str], blocks: list[_Block], block: _Block, cells: list[str], place: tuple[int, int]
) -> tuple[Answered, Record]:
    given = dict(zip(names[: blocks[0].output], cells, strict=False))
    described = names[0] == "Description" and blocks[0].output > 0
    test = Answered(
        variables=keep_variables(
            {name: text for name, text in given.items() if text and not (described and name == names[0])}
        ),
        provider=block.provider,
        prompt=block.prompt,
        description=cells[0].strip() if described else "",
        test_number=place[0],
        line=place[1],
    )
    output, status = cells[block.output], cells[block.output + 1].strip().upper()
    record: Record = {"metrics": {}, "answer": output or None, "error": None}
    if status in _PASSED:
        record["metrics"] = _read_scores(block, cells, _PASSED[status])
    elif status:
        record["error"] = "grading_failed" if output else "no_answer"
    return test, record


def _read_scores(block: _Block, cells: list[str], passed: float) -> Record:
    """Return the scores: the named ones as JSON has them, or else from their columns."""
    if block.reason is not None and cells[block.reason].strip() == NO_ASSERTIONS:
        return {"pass": None, "score": None}
    columns = {name: read_number(cells[at]) for name, at in block.metrics.items()}
    try:
        named = object_of(json.loads(cells[block.output + 3] or "{}"))
    except (ValueError, RecursionError):
        named = {}
    scores = {**columns, **{name: number_of(value) for name, value in named.items()}}
    return {"pass": passed, "score": read_number(cells[block.output + 2]), **scores}
