"""A log to sums: runs the statement on an engine, and refuses logs that can't be summed up.

What is wrong with records is told with ids and lines. It writes no file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateline.errors import InputError, Problem, count_of
from gateline.reduction.columns import Kind, columns_of
from gateline.reduction.engines import Engine
from gateline.reduction.expressions import quote
from gateline.reduction.file import SKETCH_COLUMNS, sort_rows
from gateline.reduction.logs import Column, Log, choose_columns, open_log
from gateline.reduction.plan import Plan
from gateline.reduction.records import BAD
from gateline.reduction.sql import make_attempts_search, make_count, make_search, make_sketches, make_sums
from gateline.samples import label_texts


@dataclass(frozen=True)
class Sums:
    """What a reduced file holds."""

    statement: dict[str, Any]
    columns: dict[str, list[Any]]
    sketches: dict[str, list[Any]]


def sum_up(plan: Plan, names: Sequence[str], engine: Engine) -> Sums:
    """Return the sums of a log of one or many files.

    Raises InputError for records that can't be read, with ids, lines and what was found.
    """
    log = open_log(names)
    columns = choose_columns(log, columns_of(plan))
    kinds: dict[str, Kind] = {column.name: column.kind for column in columns}
    engine.show(log, columns)
    _, [(records, most, headers)] = engine.run(make_count(plan, kinds))
    if headers is not None and headers > log.headers:
        raise InputError(
            f"{count_of(headers - log.headers, 'header line stands', 'header lines stand')} behind the first line, so "
            "that the log may hold other runs",
            log.files[0],
            "a file has one header, in its first line",
        )
    if not records:
        raise InputError("0 samples: the log has no record", log.files[0])
    repeated = most > 1
    found = sort_rows(*engine.run(make_sums(plan, kinds, repeated=repeated)), ("place", "grp"))
    whole = _rows_of_whole_run(found)
    if sum(found["records"][row] for row in whole) != records:
        raise InputError("the log changed while it was read", log.files[0], "reduce it when it is complete")
    work = _Work(plan, log, columns, kinds, engine)
    work.refuse_bad_records(found, whole)
    sketches = _count_bins(engine, make_sketches(plan, kinds, repeated=repeated))
    provenance = {**_texts(log.provenance), **work.facts(found, whole)}
    kept = {
        name: column
        for name, column in found.items()
        if not name.startswith(("least", "most", "silent", "bad"))
    }
    for name in ("odd", "differing"):
        del kept[name]
    statement = plan.statement() | {
        "digest": plan.digest(),
        "records": sum(found["records"][row] for row in whole),
        "provenance": dict(sorted(provenance.items())),
    }
    return Sums(statement, kept, sketches)


def _count_bins(engine: Engine, statement: str) -> dict[str, list[Any]]:
    names, rows = engine.run(statement) if statement else (list(SKETCH_COLUMNS), [])
    order = [names.index(name) for name in SKETCH_COLUMNS]
    return sort_rows(SKETCH_COLUMNS, [[row[at] for at in order] for row in rows], SKETCH_COLUMNS[:4])


def _rows_of_whole_run(found: Mapping[str, list[Any]]) -> list[int]:
    return [row for row, place in enumerate(found["place"]) if place == ""]


def _texts(said: Mapping[str, object]) -> dict[str, str]:
    found = {name: ", ".join(label_texts(value)) for name, value in said.items()}
    return {name: text for name, text in found.items() if text}


@dataclass(frozen=True)
class _Work:
    plan: Plan
    log: Log
    columns: Sequence[Column]
    kinds: dict[str, Kind]
    engine: Engine

    def refuse_bad_records(self, found: Mapping[str, list[Any]], whole: Sequence[int]) -> None:
        """Raise InputError where a record can't be read, or attempts can't be told apart."""

        def total(name: str) -> int:
            return sum(found[name][row] for row in whole)

        if total("odd"):
            hint = "labels must be texts, 'error' a text, and each record needs an id; gateline convert makes them so"
            self._refuse(total("odd"), "records without an id, or with a list or an object as label or error",
                         "odd = 1", hint)  # fmt: skip
        if total("repeated"):
            self._refuse_attempts(total("repeated"))
        if total("differing"):
            self._refuse(total("differing"), "ids with several attempts of different inputs, labels or clusters",
                         "differs = 1", "all attempts at a question must say the same of it")  # fmt: skip
        for at, (name, metric) in enumerate(self.plan.metrics.items()):
            if total(f"bad{at}"):
                self._refuse_values(at, name, metric.ratio or (metric.field or name,), total(f"bad{at}"))

    def _refuse(self, count: int, what: str, condition: str, hint: str) -> None:
        _, rows = self.engine.run(make_search(self.plan, self.kinds, condition))
        ids = [row[0] for row in rows]
        places = self._places(ids)
        problems = [Problem(f"id '{one}'", places.get(one, self.log.files[0])) for one in ids]
        problems[-1] = Problem(problems[-1].message, problems[-1].where, hint)
        raise InputError(f"{count:,} {what}", problems=problems)

    def _refuse_attempts(self, count: int) -> None:
        samples = self.plan.policy.policy.samples
        if samples.repeats == "refuse":
            self._refuse(
                count,
                "ids stand in the log more than once",
                "tries > 1",
                "samples.repeats: mean averages them",
            )
        _, rows = self.engine.run(make_attempts_search(self.plan, self.kinds))
        if rows:
            ids = [row[0] for row in rows]
            places = self._places(ids)
            problems = [
                Problem(f"id '{name}' stands {tries} times in the log", places.get(name, self.log.files[0]),
                        "" if at else f"tell attempts apart by the field '{samples.repeat_field}'")
                for at, (name, tries) in enumerate(rows)
            ]  # fmt: skip
            raise InputError("records that nothing tells apart", problems=problems)

    def _refuse_values(self, at: int, name: str, fields: Sequence[str], count: int) -> None:
        _, found = self.engine.run(make_search(self.plan, self.kinds, f"bad{at} > 0", shown=f"bad{at}"))
        codes: dict[str, int] = {row[0]: row[1] for row in found}
        places = self._places(list(codes))
        wanted = ", ".join(quote(one) for one in codes)
        shown = ", ".join(f"CAST(raw{at}{part} AS STRING)" for part in "vw"[: len(fields)])
        name_of = "trim(CAST(id AS STRING))"
        _, values = self.engine.run(f"SELECT {name_of}, {shown} FROM log WHERE {name_of} IN ({wanted})")
        told: dict[str, str] = {}
        for one in sorted(values, key=str):
            told.setdefault(one[0], " / ".join(str(value) for value in one[1:]))
        problems = [
            Problem(f"{' / '.join(fields)} of sample '{one}' {BAD[code]}: {told.get(one, '')[:60]}",
                    places.get(one, self.log.files[0]))
            for one, code in codes.items()
        ]  # fmt: skip
        raise InputError(f"{count:,} values of {name} can't be used", problems=problems)

    def _places(self, ids: Sequence[str]) -> dict[str, str]:
        """Return `file:line` of the first record of each id, where the files have lines."""
        if self.log.form != "jsonl":
            return {}
        field, left = self.plan.policy.policy.samples.id, set(ids)
        found: dict[str, str] = {}
        for place, line in _lines(self.log.files):
            if not left:
                break
            if not any(one in line for one in left):
                continue
            try:
                record = json.loads(line)
            except ValueError:
                continue
            name = str(record.get(field) if record.get(field) is not None else "").strip()
            if name in left and "gateline" not in record:
                found[name] = place
                left.discard(name)
        return found

    def facts(self, found: Mapping[str, list[Any]], whole: Sequence[int]) -> dict[str, str]:
        """Return the facts that records hold: one text, or what they are mixed of."""
        facts: dict[str, str] = {}
        for at, name in enumerate(self.plan.facts):
            values = {found[key][row] for key in (f"least{at}", f"most{at}") for row in whole} - {None}
            said = _texts(self.log.provenance).get(name)
            if not values:
                continue
            texts = sorted(values | ({said} if said else set()))
            if said is None and sum(found[f"silent{at}"][row] for row in whole):
                texts.append("nothing")
            facts[name] = texts[0] if len(texts) == 1 else f"mixed ({', '.join(texts[:5])})"
        return facts


def _lines(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    for file in files:
        with Path(file).open(encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, start=1):
                yield f"{file}:{number}", line
