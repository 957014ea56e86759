"""Files made to exhaust a machine: each ends within bounds of memory and processor time, with a reason or a result.

The bounds are those of the process (RLIMIT_AS, RLIMIT_CPU), far above what is needed; docs/limits.md has the limits.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="bounds of a process need POSIX")

MEMORY = 2500 << 20
SECONDS = 90
DEEP = 100_000
MANY = 200_000


def nested(opening: str, closing: str, inner: str = "1") -> bytes:
    return (opening * DEEP + inner + closing * DEEP).encode()


def multiplying_aliases() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]" for number in range(1, 30)]
    return "\n".join(lines).encode()


def multiplying_entities() -> bytes:
    entities = '<!ENTITY a0 "ha">' + "".join(
        f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 12)
    )
    return f"<!DOCTYPE l [{entities}]><testsuite><testcase name='&a11;'/></testsuite>".encode()


def long_entity() -> bytes:
    return (
        f"<!DOCTYPE l [<!ENTITY a '{'x' * DEEP}'>]><testsuite><testcase name='{'&a;' * DEEP}'/></testsuite>"
    ).encode()


def wide_table() -> bytes:
    names = ",".join(f"m{number}" for number in range(MANY))
    return f"id,{names}\na{',1' * MANY}\n".encode()


def archive(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return stream.getvalue()


def repeated_text_in_parquet(*, categories: bool) -> bytes:
    """A third of a megabyte that unpacks to three gigabytes, or would if each row had a copy of its category."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = 3_000_000
    ids = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * 1000]))
    stream = io.BytesIO()
    pq.write_table(
        pa.table({"id": ids, "score": pa.array([1.0] * rows)}),
        stream,
        compression="zstd",
        store_schema=categories,
    )
    return stream.getvalue()


def parquet_with_a_name_that_is_no_text() -> bytes:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table({"id": ["a"], "zzzzzzzz": [1.0]}), stream, store_schema=False)
    return stream.getvalue().replace(b"zzzzzzzz", b"\xf3(zzzzzz")


def nested_parquet() -> bytes:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    column = pa.array([1.0])
    for _ in range(300):
        column = pa.ListArray.from_arrays(pa.array([0, len(column)], pa.int32()), column)
    stream = io.BytesIO()
    pq.write_table(pa.table({"id": ["a"], "score": column}), stream)
    return stream.getvalue()


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "lists.yml": (lambda: nested("[", "]"), "nesting depth|deeply nested"),
    "mappings.yml": (
        lambda: b"version: 1\nmetrics: " + nested("{a: ", "}"),
        "nesting depth|deeply nested",
    ),
    "blocks.yml": (lambda: "".join(" " * row + "a:\n" for row in range(1300)).encode(), "nesting depth|deeply nested"),
    "aliases.yml": (multiplying_aliases, "alias"),
    "large.yml": (lambda: b"# " + b"x" * 30_000_000, "is not read"),
    "lists.json": (lambda: nested("[", "]"), "nested too deeply"),
    "objects.jsonl": (
        lambda: b'{"id": "a", "metrics": ' + nested('{"a":', "}") + b"}\n",
        "nested too deeply",
    ),
    "keys.jsonl": (
        lambda: json.dumps({"id": "a", "metrics": {f"m{number}": 1 for number in range(MANY)}}).encode(),
        "2000 different fields",
    ),
    "keys.json": (
        lambda: json.dumps([{"id": "a", **{f"m{number}": 1 for number in range(MANY)}}]).encode(),
        "2000 different fields",
    ),
    "columns.csv": (wide_table, "their names seem to be data"),
    "number.jsonl": (lambda: b'{"id": "a", "score": ' + b"9" * 20_000_000 + b"}\n", "digits"),
    "empty.jsonl": (lambda: b"{}\n" * 1_000_000, "no record has the field 'id'"),
    "text.jsonl": (lambda: b"{x\n" * 1_000_000, "is not JSON"),
    "entities.xml": (multiplying_entities, "document type or entities"),
    "entity.xml": (long_entity, "document type or entities"),
    "outside.xml": (
        lambda: b"<!DOCTYPE l [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><testsuite><testcase name='&a;'/></testsuite>",
        "document type or entities",
    ),
    "suites.xml": (
        lambda: nested("<testsuite name='a'>", "</testsuite>", ""),
        "no test case|nested",
    ),
    "header.eval": (lambda: archive({"header.json": b" " * 300_000_000}), "unpacks to 300,000,000 bytes"),
    "members.eval": (
        lambda: archive({"header.json": b"{}", **{f"samples/{row}_epoch_1.json": b"{}" for row in range(20_000)}}),
        "no record has the field 'id'",
    ),
    "twice.jsonl": (lambda: b'{"id": "a",' + b'"x": 1,' * MANY + b'"y": 2}\n', "the key 'x' stands twice"),
    "quotation.csv": (lambda: b'id,score\na,"1' + b"x,y\n" * 2_000_000, "is not CSV"),
    "sixteen.jsonl": (lambda: '{"id": "a"}\n'.encode("utf-16"), "is UTF-16"),
    "zeros.jsonl": (lambda: bytes(4_000_000), "no reader knows this file"),
    "packed.jsonl": (lambda: gzip.compress(gzip.compress(b"{}\n" * 1_000_000)), "seems to be a gzip file"),
    "encoding.xml": (
        lambda: b"<?xml version='1.0' encoding='nonsense'?><testsuite><testcase name='a'/></testsuite>",
        "encoding|XML",
    ),
    "circle.yml": (lambda: b"a: &a\n  b: *a\n", "alias that contains itself"),
    "zero.yml": (lambda: b"version: 1\nname: a\0b\n", "control characters"),
    "names.parquet": (parquet_with_a_name_that_is_no_text, "is not a whole Parquet file"),
    "nested.parquet": (nested_parquet, "nested"),
    "texts.parquet": (lambda: repeated_text_in_parquet(categories=False), "unpacks to more than 536,870,912 bytes"),
}  # fmt: skip


def limit() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run_bounded(file: Path) -> subprocess.CompletedProcess[str]:
    command = "lint" if file.suffix == ".yml" else "inspect"
    return subprocess.run(
        [sys.executable, "-m", "gateline", command, file.name],
        cwd=file.parent,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_with_a_reason_within_bounds(tmp_path: Path, name: str) -> None:
    made, reason = REFUSED[name]
    file = tmp_path / name
    file.write_bytes(made())
    done = run_bounded(file)
    assert done.returncode == 2, (done.returncode, done.stdout[-300:], done.stderr[-1000:])
    assert "bug in gateline" not in done.stderr
    assert re.search(reason, done.stderr), done.stderr[-1000:]
    assert name in done.stderr
    assert len(done.stderr) < 20_000
    assert list(tmp_path.iterdir()) == [file]


def test_a_very_long_line_and_very_many_short_ones_are_just_data(tmp_path: Path) -> None:
    long = tmp_path / "long.jsonl"
    long.write_bytes(b'{"id": "a", "metrics": {"score": 1}, "answer": "' + b"x" * 50_000_000 + b'"}\n')
    assert run_bounded(long).returncode == 0
    many = tmp_path / "many.jsonl"
    many.write_bytes(b'{"id": "a", "metrics": {"score": 1}}\n' + b"\n" * 3_000_000)
    done = run_bounded(many)
    assert (done.returncode, "1 record" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_category_of_three_million_rows_is_held_once(tmp_path: Path) -> None:
    file = tmp_path / "categories.parquet"
    file.write_bytes(repeated_text_in_parquet(categories=True))
    done = run_bounded(file)
    assert (done.returncode, "3,000,000 records of 1 question" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )
