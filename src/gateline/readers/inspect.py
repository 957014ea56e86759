"""Inspect AI: logs (`.eval` and `.json`), and the table of `samples_df` as CSV; the epochs of a sample are attempts.

A log that a killed run left is read too, as far as it goes. Members compressed with zstandard need the extra
`inspect`. What happened within a sample (`events`) is not looked at.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gateline.errors import InputError, name_some
from gateline.readers import table
from gateline.readers._json_document import object_of, objects_of, parse_document
from gateline.readers._json_lines import holds_all_keys, orjson_loads
from gateline.readers._json_text import JsonProblemError, parse_value, skip_blanks
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source, without_mark
from gateline.readers._zip_members import MAGIC, ZipMembers, member_names
from gateline.samples import Run

NAME = "inspect"
HEADER, START = "header.json", "_journal/start.json"
COLUMNS = frozenset({"sample_id", "eval_id", "epoch", "id"})
"""What every table of samples has."""
_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json")
_LOG_FILE = re.compile(r"\d{4}-\d{2}-\d{2}T.+\.json|.+\.eval")
_USER = re.compile(r"user:\n(.*?)\n?", re.DOTALL)
_DETAILS = ("_answer", "_explanation", "_reason", "_metadata")


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a log of Inspect, a table of its samples, or a folder with logs."""
    if not head:
        return next(_find_logs(path), None) is not None
    if head.startswith(MAGIC):
        first = head[30 : 30 + int.from_bytes(head[26:28], "little")].decode("utf-8", "replace")
        return first in (START, HEADER) or not member_names(path).isdisjoint((HEADER, START))
    shape = shape_of(head)
    if shape.kind:
        is_log = {"run_id", "task"} <= shape.inner.get("eval", frozenset())
        is_reversed = {"id", "epoch", "target"} <= shape.inner.get(
            "samples", frozenset()
        )  # samples before the plan
        return shape.kind == "object" and (is_log or is_reversed)
    return _is_table(without_mark(head))


def _is_table(begin: bytes) -> bool:
    line = begin.partition(b"\n")[0].decode("utf-8", "replace").strip()
    try:
        names = set(next(csv.reader([line], delimiter=table.find_delimiter(line)), []))
    except csv.Error:
        return False
    return names >= COLUMNS


def _find_logs(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if _LOG_FILE.fullmatch(entry.name) and entry.is_file():
            yield entry


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each sample and epoch.

    Raises InputError for a folder with several logs, a log without samples, and a broken or too large one.
    """
    if source.path.is_dir():
        logs = list(_find_logs(source.path))
        if len(logs) != 1:
            names = name_some([log.name for log in logs])
            raise InputError(
                f"holds {len(logs)} logs: {names}", source.name, "name one of them: a run is one log"
            )
        source = Source(str(logs[0]))
    if source.data.startswith(MAGIC):
        return _read_zip(source, options)
    if without_mark(source.head).startswith(b"{"):
        return _read_json(source, options)
    return _read_table(source, options)


def _read_json(source: Source, options: ReadOptions) -> Run:
    from gateline.readers._inspect_run import make_run
    from gateline.readers._inspect_samples import Samples

    log = object_of(parse_document(source))
    samples = Samples(str(object_of(log.get("eval")).get("model") or ""))
    for sample in objects_of(log.get("samples")):
        samples.add(sample)
    return make_run(samples, log, source, options)


def _read_zip(source: Source, options: ReadOptions) -> Run:
    from gateline.readers._inspect_run import make_run
    from gateline.readers._inspect_samples import Samples

    members = ZipMembers(source)
    header = next((name for name in (HEADER, START) if name in members), None)
    if header is None:
        raise InputError(f"is a zip file without {HEADER}: no log of Inspect", source.name)
    log = _parse_member(members, header)
    samples = Samples(str(object_of(log.get("eval")).get("model") or ""))
    names = [name for name in members.names if _SAMPLE.fullmatch(name)]
    for name in names:
        samples.add(_parse_member(members, name))
    return make_run(samples, log, source, options, origins=[members.place(name) for name in names])


def _parse_member(members: ZipMembers, name: str) -> Mapping[str, object]:
    """Return the object in a member.

    orjson refuses bare NaN, which Inspect writes for what is unscored, and sees no key that stands twice.
    """
    content, loads = members.read(name), orjson_loads()
    try:
        value = loads(content) if loads is not None else None
        if value is not None and holds_all_keys(content, value):
            return object_of(value)
    except ValueError:
        pass
    try:
        text = content.decode()
        return object_of(parse_value(text, skip_blanks(text, 0))[0])
    except (UnicodeDecodeError, JsonProblemError) as error:
        raise InputError(f"is not JSON: {error}", members.place(name)) from None


def _read_table(source: Source, options: ReadOptions) -> Run:
    """Return the rows of `samples_df`; cells with objects and lists are JSON."""
    from gateline.readers._inspect_run import make_run
    from gateline.readers._inspect_samples import Samples

    frame = table.read(source, ReadOptions(numbered=True))
    columns = {name: frame.written.get(name) or column for name, column in frame.fields.items()}
    lacking = [name for name in sorted(COLUMNS) if name not in columns]
    if lacking:
        raise InputError(
            f"is no log of Inspect, nor a table of its samples, which has {', '.join(lacking)}; found "
            f"{name_some(columns, 8)}",
            source.name,
        )
    logs = {str(name) for name in columns["eval_id"]}
    if len(logs) > 1:
        raise InputError(
            f"holds the samples of {len(logs)} logs: {name_some(sorted(logs))}",
            source.name,
            "a run is one log; keep the rows of one eval_id",
        )
    samples = Samples()
    for row in range(len(frame)):
        samples.add(_make_sample({name: column[row] for name, column in columns.items()}))
    return make_run(samples, {}, source, options, lines=frame.lines.tolist())


def _make_sample(cells: Mapping[str, object]) -> dict[str, object]:
    """Return a row of the table as the sample of a log."""
    sample = {name: _parse_cell(cell) for name, cell in cells.items() if "_" not in name or name in _PLAIN}
    sample |= {name: _to_number(cells.get(name)) for name in ("working_time", "total_time", "epoch")}
    asked = cells.get("input")
    spoken = _USER.fullmatch(asked) if isinstance(asked, str) else None
    sample |= {"id": cells.get("id"), "input": spoken[1] if spoken else asked, "target": cells.get("target")}
    sample["metadata"] = {
        name.removeprefix("metadata_"): _parse_cell(cell)
        for name, cell in cells.items()
        if name.startswith("metadata_") and cell is not None
    }
    scores = {name for name in cells if name.startswith("score_")}
    details = {name + ending for name in scores for ending in _DETAILS}
    sample["scores"] = {
        name.removeprefix("score_"): {"value": _parse_cell(cells[name])}
        for name in cells
        if name in scores - details and cells[name] is not None
    }
    return sample


_PLAIN = frozenset({"model_usage"})


def _parse_cell(cell: object) -> object:
    """Return what a cell holds: objects and lists, which are JSON, truth values, else its text."""
    if not isinstance(cell, str):
        return cell
    if cell[:1] in ("{", "["):
        try:
            value, end = parse_value(cell)
        except JsonProblemError:
            return cell
        return value if end == len(cell) else cell
    return {"True": True, "False": False}.get(cell, cell)


def _to_number(cell: object) -> float | None:
    try:
        return float(str(cell))
    except ValueError:
        return None
