"""Whatever a log's files, folders, columns and labels are called: sums are those of the log, or there are none."""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Reduce
from gateline.errors import InputError
from gateline.gate import check
from gateline.reduction.engines import Engine
from gateline.reduction.logs import open_log

Records = list[dict[str, Any]]
Found = dict[tuple[str, str | None], tuple[object, ...]]

POLICY = """
version: 1
name: odd
samples: {at_least: 5}
metrics: {good: {better: higher, range: [0, 1]FIELD}}
slices: {by: [LABEL], at_least: 1}
rules:
  - {kind: tolerance, metric: good, worse_by_at_most: 0.1}
  - {kind: tolerance, metric: good, worse_by_at_most: 0.1, slices: true, id: by-label}
"""


@pytest.fixture(params=["duckdb", "spark"])
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.getfixturevalue(request.param)
    return found


def make(seed: int, number: int = 60) -> Records:
    chance = random.Random(seed)
    return [
        {"id": f"q{place}", "lang": "de" if place % 2 else "en", "good": float(chance.random() < 0.7)}
        for place in range(number)
    ]


def write_policy(folder: Path, *, label: str = "lang", field: str | None = None) -> str:
    path = folder / "policy.yml"
    text = POLICY.replace("LABEL", json.dumps(label))
    path.write_text(text.replace("FIELD", "" if field is None else f", field: {json.dumps(field)}"))
    return str(path)


def write_lines(path: Path, records: Records) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return str(path)


def write_parquet(path: Path, records: Records) -> str:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(records), path)
    return str(path)


def judge(policy: str, files: list[str]) -> Found:
    """Return status and values by rule and slice."""
    verdict = check(policy, *files, on=datetime.date(2026, 1, 1))
    assert verdict.problems == []
    return {
        (one.rule, one.slice): (
            one.status,
            one.samples,
            *(None if value is None else round(value, 9) for value in (one.baseline, one.candidate)),
        )
        for one in verdict.findings
    }


def hold_against_the_logs(policy: str, files: list[str], reduce_log: Reduce, engine: Engine) -> None:
    assert judge(policy, [reduce_log(file, policy, engine=engine) for file in files]) == judge(policy, files)


NAMES = ["b*", "b?", "b[12]", "b{1,2}", "b\\x", "b c", "b%20", "b#1", "b'q", 'b"q', "b,c", "b$x", "ä"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_read_whatever_its_name_and_no_other_is(
    tmp_path: Path, reduce_log: Reduce, engine: Engine, name: str
) -> None:
    """Engines take names for patterns: beside each file lie some that such a pattern would also find."""
    policy = write_policy(tmp_path)
    for decoy in ("b1", "b2", "bb", "b12", "bx"):
        write_lines(
            tmp_path / "log" / f"{decoy}.jsonl", [{**one, "id": f"other-{one['id']}"} for one in make(9)]
        )
    files = [
        write_lines(tmp_path / "log" / f"{name}.jsonl", make(1)),
        write_lines(tmp_path / "c.jsonl", make(2)),
    ]
    hold_against_the_logs(policy, files, reduce_log, engine)


@pytest.mark.parametrize("folder", ["good=0", "lang=xx", "id=7"])
@pytest.mark.parametrize(("write", "suffix"), [(write_lines, "jsonl"), (write_parquet, "parquet")])
def test_a_folder_s_name_takes_the_place_of_no_column(
    tmp_path: Path, reduce_log: Reduce, engine: Engine, folder: str, write: Callable[..., str], suffix: str
) -> None:
    policy = write_policy(tmp_path)
    files = [write(tmp_path / folder / f"{seed}.{suffix}", make(seed)) for seed in (1, 2)]
    hold_against_the_logs(policy, files, reduce_log, engine)


@pytest.mark.parametrize("wanted", ["id", "lang", "good"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_column_is_not_taken_for_one_that_differs_in_capital_letters(
    tmp_path: Path, reduce_log: Reduce, engine: Engine, wanted: str, is_first: bool
) -> None:
    policy = write_policy(tmp_path)
    other = {wanted.upper(): 0.0 if wanted == "good" else "zz"}
    changed = [[{**other, **one} if is_first else {**one, **other} for one in make(seed)] for seed in (1, 2)]
    tables = [write_parquet(tmp_path / f"{seed}.parquet", one) for seed, one in enumerate(changed)]
    with pytest.raises(
        InputError, match=f"has columns '{wanted}' and '{wanted.upper()}', which SQL takes for one"
    ):
        reduce_log(tables[0], policy, engine=engine)
    lines = [write_lines(tmp_path / f"{seed}.jsonl", one) for seed, one in enumerate(changed)]
    hold_against_the_logs(policy, lines, reduce_log, engine)


def test_a_column_that_stands_twice_is_an_error(tmp_path: Path, reduce_log: Reduce, engine: Engine) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    records = make(1)
    columns = [pa.array([one[name] for one in records]) for name in ("id", "lang", "good", "good")]
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_arrays(columns, names=["id", "lang", "good", "good"]), path)
    with pytest.raises(InputError, match="columns stand twice: good"):
        reduce_log(str(path), write_policy(tmp_path), engine=engine)


KEYWORDS = ["select", "order", "group", "from", "table", "log", "grp", "place", "x0v", "a b", "a.b", 'a"b', "a`b",
            "a'b", "ümlaut", "日本"]  # fmt: skip


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_field_or_a_label_may_have_any_name(
    tmp_path: Path, reduce_log: Reduce, engine: Engine, name: str
) -> None:
    for wanted in ("good", "lang"):
        changed = [[{name if key == wanted else key: value for key, value in one.items()} for one in make(seed)]
                   for seed in (1, 2)]  # fmt: skip
        policy = write_policy(tmp_path, **({"field": name} if wanted == "good" else {"label": name}))
        for write, suffix in ((write_lines, "jsonl"), (write_parquet, "parquet")):
            files = [write(tmp_path / f"{wanted}{seed}.{suffix}", one) for seed, one in enumerate(changed)]
            hold_against_the_logs(policy, files, reduce_log, engine)


LABELS: dict[str, list[object]] = {
    "quotes": ["a'b", 'a"b', "a\\b", "a`b", "a;--", "%s", "\\n", "'\\''", "$1", "a/*"],
    "blanks": [" de", "de\t", "\u00a0de", "de\n", "de\u3000", "\u200bde", "d e", "\x1fde", "\u2028"],
    "letters": ["日本", "İ", "ß", "SS", "é", "e\u0301", "🙂", "\u0000x"],
    "nothing": ["", None, "(none)", "null", "nan", "None", "  "],
    "truth": [True, False],
    "whole": [1, 0, -3, 10**15],
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_those_of_the_log(tmp_path: Path, reduce_log: Reduce, engine: Engine, kind: str) -> None:
    policy, values = write_policy(tmp_path), LABELS[kind]
    labelled = [
        [{**one, "lang": values[place % len(values)]} for place, one in enumerate(make(seed))]
        for seed in (1, 2)
    ]
    for write, suffix in ((write_lines, "jsonl"), (write_parquet, "parquet")):
        files = [write(tmp_path / f"{seed}.{suffix}", one) for seed, one in enumerate(labelled)]
        hold_against_the_logs(policy, files, reduce_log, engine)


@pytest.mark.parametrize("values", [[0.0, 1.0, 2.0], [0.5, float("nan"), None], [-1.25, 1e9, 3.0]])
def test_numbers_of_a_table_are_labels_as_they_are_in_the_log(
    tmp_path: Path, reduce_log: Reduce, engine: Engine, values: list[float | None]
) -> None:
    policy = write_policy(tmp_path)
    files = [
        write_parquet(
            tmp_path / f"{seed}.parquet",
            [{**one, "lang": values[place % 3]} for place, one in enumerate(make(seed))],
        )
        for seed in (1, 2)
    ]
    hold_against_the_logs(policy, files, reduce_log, engine)


def test_a_field_that_only_later_records_have_is_found(
    tmp_path: Path, reduce_log: Reduce, engine: Engine
) -> None:
    policy = write_policy(tmp_path)
    runs = [make(seed, 1_400) for seed in (1, 2)]
    for run in runs:
        for one in run[:1_200]:
            del one["lang"]
    files = [write_lines(tmp_path / f"{seed}.jsonl", one) for seed, one in enumerate(runs)]
    hold_against_the_logs(policy, files, reduce_log, engine)
    for run in runs:
        for one in run:
            one.pop("lang", None)
            one["note"] = 'no "lang" here'
    with pytest.raises(InputError, match="no record has a field lang"):
        reduce_log(write_lines(tmp_path / "none.jsonl", runs[0]), policy, engine=engine)


def test_a_folder_s_unfinished_files_are_left_out_and_no_file_counts_twice(tmp_path: Path) -> None:
    for name in ("part-1.jsonl", "day=1/part-2.jsonl", "_x=1/part-3.jsonl"):
        write_lines(tmp_path / "log" / name, make(1))
    for name in ("_temporary/0/part-9.jsonl", "_SUCCESS", ".part-1.jsonl.crc", ".staging/part-8.jsonl"):
        write_lines(tmp_path / "log" / name, make(1))
    log = tmp_path / "log"
    found = [str(Path(file).relative_to(log)) for file in open_log([str(log)]).files]
    assert sorted(found) == ["_x=1/part-3.jsonl", "day=1/part-2.jsonl", "part-1.jsonl"]
    again = open_log([str(log), str(log / "part-1.jsonl"), f"{log}/*.jsonl"])
    assert len(again.files) == 3


@pytest.mark.parametrize("begins", [b"\x1f\x8b\x08", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh9"])
def test_a_packed_log_is_told_as_packed(tmp_path: Path, begins: bytes) -> None:
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(begins + b"\x00" * 40)
    with pytest.raises(InputError, match=r"is packed  \(unpack it"):
        open_log([str(path)])


@pytest.mark.parametrize("without", ["both", "baseline", "candidate"])
def test_a_ratio_without_any_denominator_gives_no_verdict(
    tmp_path: Path, reduce_log: Reduce, engine: Engine, without: str
) -> None:
    """Also where both runs hold the same: what has no value is never a pass."""
    policy = tmp_path / "policy.yml"
    text = POLICY.replace("LABEL", "lang").replace("range: [0, 1]FIELD", "range: [0, 1], ratio: [n, d]")
    policy.write_text(text.replace("slices: true", "slices: true, on_inconclusive: pass"))
    files = []
    for seed, side in ((1, "baseline"), (2, "candidate")):
        weight = 0 if without in ("both", side) else 2
        records = [
            {"id": one["id"], "lang": one["lang"], "n": weight // 2, "d": weight} for one in make(seed)
        ]
        files.append(write_lines(tmp_path / f"{side}.jsonl", records))
    for given in (files, [reduce_log(file, str(policy), engine=engine) for file in files]):
        verdict = check(str(policy), *given, on=datetime.date(2026, 1, 1))
        assert verdict.verdict == "invalid"
        assert "denominator" in " ".join(problem.message for problem in verdict.problems)


@pytest.mark.parametrize(
    "error", ["no_answer", " no_answer ", "No_Answer", "NO_ANSWER", "timeout", "", "0", "False"]
)
def test_an_error_means_what_it_means_in_the_log(
    tmp_path: Path, reduce_log: Reduce, engine: Engine, error: str
) -> None:
    policy = write_policy(tmp_path)
    Path(policy).write_text(
        Path(policy).read_text().replace("\nslices:", "\nmissing: {drop_at_most: 20%}\nslices:")
    )
    files = [
        write_lines(
            tmp_path / f"{seed}.jsonl",
            [{**one, **({"error": error} if place < 6 else {})} for place, one in enumerate(make(seed))],
        )
        for seed in (1, 2)
    ]
    hold_against_the_logs(policy, files, reduce_log, engine)


def test_a_header_is_the_first_line_of_a_file_or_an_error(
    tmp_path: Path, reduce_log: Reduce, engine: Engine
) -> None:
    """A log that was put together of two runs must not pass for one."""
    policy, header = write_policy(tmp_path), {"gateline": 1, "run": {"judge": "one"}}
    whole = write_lines(tmp_path / "whole.jsonl", [header, *make(1)])
    reduce_log(whole, policy, engine=engine)
    records = make(1)
    for place in (1, 30, 60):
        parts = [header, *records[:place], {"gateline": 1, "run": {"judge": "two"}}, *records[place:]]
        with pytest.raises(InputError, match="1 header line stands behind the first line"):
            reduce_log(write_lines(tmp_path / f"{place}.jsonl", parts), policy, engine=engine)
