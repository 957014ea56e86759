"""The same records say the same in whatever format they stand, also where the two runs stand in different ones."""

from __future__ import annotations

import csv
import datetime
import io
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from worlds import Record, World, to_lines, tries, worlds

from gateline.gate import check
from gateline.verdict import Verdict

DAY = datetime.date(2026, 6, 1)


def flatten(record: Record, *, dotted: bool = True) -> Record:
    """Return a record with what is in its sections beside the rest, under dotted names or plain ones."""
    flat: Record = {}
    for name, value in record.items():
        parts = value.items() if isinstance(value, dict) else ()
        flat |= {f"{name}.{part}" if dotted else part: item for part, item in parts} or {name: value}
    return flat


def to_list(records: Sequence[Record]) -> str:
    return json.dumps({"note": "made by a program", "results": list(records)}, ensure_ascii=False, indent=1)


def to_columns(records: Sequence[Record]) -> str:
    rows = [flatten(record, dotted=False) for record in records]
    names = dict.fromkeys(name for row in rows for name in row)
    return json.dumps({name: {str(at): row.get(name) for at, row in enumerate(rows)} for name in names})


def to_table(records: Sequence[Record], delimiter: str, line_end: str) -> str:
    rows = [flatten(record) for record in records]
    stream = io.StringIO()
    writer = csv.DictWriter(
        stream, list(dict.fromkeys(name for row in rows for name in row)), delimiter=delimiter,
        lineterminator=line_end,
    )  # fmt: skip
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


FORMATS: dict[str, Callable[[Sequence[Record]], str]] = {
    "lines.jsonl": to_lines,
    "list.json": to_list,
    "columns.json": to_columns,
    "comma.csv": lambda records: to_table(records, ",", "\n"),
    "semicolon.csv": lambda records: "\ufeff" + to_table(records, ";", "\r\n"),
    "tabs.tsv": lambda records: to_table(records, "\t", "\n"),
}


def all_it_says(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict without the names and digests of its files, and without what is told of these."""
    return verdict.model_dump(mode="json", include={"verdict", "findings", "pairing", "losses", "spreads"})


LABELS = ["de", "01", "1", "1.0", "1e3", "true", "n/a", "é", "e\u0301", "a;b", 'a "b", c', " x "]


@tries(20)
@given(
    worlds(),
    st.lists(st.sampled_from(LABELS), min_size=24, max_size=24),
    st.sampled_from(["q{}", "{:03}", "ü, {}", "a;{}\t", "{}.0", "1e{}"]),
    st.sampled_from(sorted(FORMATS)),
    st.sampled_from(sorted(FORMATS)),
)
def test_no_format_and_no_pair_of_them_says_anything_else(
    world: World, labels: list[str], ids: str, first: str, second: str
) -> None:
    for side in (world.baseline, world.candidate):
        for place, record in enumerate(side):
            record["id"] = ids.format(place)
            record["slices"]["zone"] = labels[place]
    world.policy["slices"]["by"] = ["language", "zone"]
    with tempfile.TemporaryDirectory(prefix="gateline-formats-") as folder:
        policy = Path(folder, "policy.yml")
        policy.write_text(json.dumps(world.policy), encoding="utf-8")

        def judge(baseline: str, candidate: str) -> dict[str, Any]:
            files = []
            for side, form, records in (("b", baseline, world.baseline), ("c", candidate, world.candidate)):
                files.append(Path(folder, f"{side}-{form}"))
                files[-1].write_text(FORMATS[form](records), encoding="utf-8", newline="")
            return all_it_says(check(policy, *files, on=DAY))

        assert judge(first, second) == judge("lines.jsonl", "lines.jsonl")
