"""A reduced file that is not what was written, or not sums of any run: never a verdict, never a crash."""

from __future__ import annotations

import copy
import datetime
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logs_of_runs import make_records, write_log

from gateline.gate import check
from gateline.policy import load_policy
from gateline.reduction.engines import start_engine
from gateline.reduction.file import MARK, to_bytes
from gateline.reduction.plan import make_plan
from gateline.reduction.summing import sum_up
from gateline.verdict import Verdict

DAY = datetime.date(2026, 1, 1)
Data = dict[str, Any]
POLICY = """
version: 1
name: damaged
samples: {cluster: doc}
missing: {drop_at_most: 30%}
metrics:
  good: {better: higher, range: [0, 1]}
  rank: {better: higher, applies_to: risky}
  claims: {better: lower, ratio: [bad, all], range: [0, 1]}
  latency: {better: lower, field: latency_ms, unit: ms, summary: p95}
  spent: {better: lower, field: cost_usd, unit: USD, summary: total}
slices: {by: [lang], named: {risky: {risk: high}}}
rules:
  - {kind: tolerance, metric: good, worse_by_at_most: 0.1, slices: true}
  - {kind: tolerance, metric: rank, worse_by_at_most: 0.1}
  - {kind: tolerance, metric: claims, worse_by_at_most: 0.2}
  - {kind: limit, metric: latency, at_most: 5000, decide_by: interval}
  - {kind: tolerance, metric: latency, worse_by_at_most: 50%, slice: risky}
  - {kind: limit, metric: spent, at_most: 10}
"""
"""Few rules, so that each verdict is quick; every way to sum up is among them."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Data]:
    """Return a policy, a reduced baseline, and the content of a reduced candidate."""
    pytest.importorskip("duckdb", reason="reduce needs DuckDB: pip install 'gateline[reduce]'")
    folder = tmp_path_factory.mktemp("damaged")
    policy = folder / "policy.yml"
    policy.write_text(POLICY)
    plan = make_plan(load_policy(str(policy)), groups=64)
    engine = start_engine("duckdb")
    found = []
    for seed in (1, 2):
        log = write_log(folder / f"{seed}.jsonl", make_records(seed, questions=120, harsh=True))
        sums = sum_up(plan, [log], engine)
        path = folder / f"{seed}.json"
        path.write_bytes(to_bytes(sums.statement, sums.columns, sums.sketches, path))
        found.append(path)
    engine.close()
    return str(policy), str(found[0]), json.loads(found[1].read_text())


def seal(data: Data, path: Path) -> str:
    """Write a file as `reduce` writes it, with checksums that fit whatever it holds."""
    statement = {key: value for key, value in data[MARK].items() if not key.startswith("checksum")}
    path.write_bytes(to_bytes(statement, data["columns"], data["sketches"], path))
    return str(path)


def refused(verdict: Verdict, file: str) -> str:
    """Return what is said; it must be an error of that file, and no crash."""
    said = " ".join(verdict.because)
    assert (verdict.verdict, verdict.exit_code) == ("invalid", 2), said
    assert "bug in gateline" not in said
    assert Path(file).name in said
    return said


VALUES = [
    None, True, False, "", "x", "7", -1, 0, 1, 2, 10**6, 2**31, 2**62, 2**63, 2**64, 10**30, -(10**30), 10**400,
    -0.5, 0.5, 1.5, 1e300, -1e300, math.pi, [], [1], {}, {"a": 1},
]  # fmt: skip
ODD = st.sampled_from(VALUES)
KEYS = ["digest", "facts", "families", "groups", "metrics", "missing", "named", "paired", "provenance", "records",
        "samples", "version"]  # fmt: skip


def change(data: Data, draw: Any) -> str:
    """Change one thing of a reduced file at a random place; return what."""
    table = draw(st.sampled_from(["columns", "columns", "sketches"]))
    column = draw(st.sampled_from(sorted(data[table])))
    cells = data[table][column]
    row = draw(st.integers(0, len(cells) - 1))
    how = draw(
        st.sampled_from(["odd", "odd", "near", "other", "drop row", "double row", "drop column", "swap"])
    )
    if how == "odd":
        cells[row] = draw(ODD)
    elif how == "near" and type(cells[row]) in (int, float):
        cells[row] += draw(st.sampled_from([-1, 1, -2, 5, 64, -64]))
    elif how == "other":
        cells[row] = cells[draw(st.integers(0, len(cells) - 1))]
    elif how == "swap":
        other = draw(st.integers(0, len(cells) - 1))
        cells[row], cells[other] = cells[other], cells[row]
    elif how == "drop row":
        for each in data[table].values():
            del each[row]
    elif how == "double row":
        for each in data[table].values():
            each.insert(row, each[row])
    elif how == "drop column":
        del data[table][column]
    return f"{how} {table}.{column}[{row}]"


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(draw=st.data())
def test_whatever_is_changed_is_found_by_its_checksum(
    runs: tuple[str, str, Data], tmp_path_factory: pytest.TempPathFactory, draw: st.DataObject
) -> None:
    policy, baseline, whole = runs
    data = copy.deepcopy(whole)
    change(data, draw.draw)
    if data == whole and json.dumps(data) == json.dumps(whole):
        return
    path = tmp_path_factory.mktemp("one") / "changed.json"
    path.write_text(json.dumps(data, separators=(",", ":")))
    assert "damaged reduced file" in refused(check(policy, baseline, str(path), on=DAY), str(path))


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(draw=st.data())
def test_what_somebody_writes_as_sums_is_refused_or_could_be_sums(
    runs: tuple[str, str, Data], tmp_path_factory: pytest.TempPathFactory, draw: st.DataObject
) -> None:
    """With checksums that fit: no crash, and where there is a verdict every number is one that a run can have."""
    policy, baseline, whole = runs
    data = copy.deepcopy(whole)
    for _ in range(draw.draw(st.integers(1, 3))):
        change(data, draw.draw)
    path = tmp_path_factory.mktemp("one") / "changed.json"
    try:
        file = seal(data, path)
    except (ValueError, TypeError):  # NaN is no JSON
        return
    verdict = check(policy, baseline, file, on=DAY)
    if verdict.verdict == "invalid":
        assert "bug in gateline" not in " ".join(verdict.because), verdict.because
        return
    for finding in verdict.findings:
        values = [finding.candidate, finding.baseline]
        for value in values:
            assert value is None or math.isfinite(value)
            if finding.metric == "good":
                assert value is None or 0 <= value <= 1
            if finding.metric in ("latency", "spent", "claims"):
                assert value is None or value >= 0
        assert 0 <= finding.samples <= 120


@pytest.mark.parametrize("key", KEYS)
def test_a_file_that_says_other_things_of_itself_is_refused(
    runs: tuple[str, str, Data], tmp_path: Path, key: str
) -> None:
    """With checksums that fit, each part of the statement is looked at: its kind and what it says."""
    policy, baseline, whole = runs
    assert set(whole[MARK]) == {*KEYS, "checksum", "checksums"}
    others: list[object] = [*VALUES, {"a": {}}, [whole[MARK][key]]]
    for value in others:
        data = copy.deepcopy(whole)
        if (value == {} and key == "provenance") or _is(value, whole[MARK][key]):
            continue
        data[MARK][key] = value
        file = seal(data, tmp_path / "changed.json")
        refused(check(policy, baseline, file, on=DAY), file)


def _is(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1), mask=st.integers(1, 255), suffix=st.sampled_from([".json", ".parquet"]))
def test_a_changed_byte_is_never_taken_for_what_was_written(
    runs: tuple[str, str, Data],
    tmp_path_factory: pytest.TempPathFactory,
    place: float,
    mask: int,
    suffix: str,
) -> None:
    policy, baseline, whole = runs
    path = tmp_path_factory.mktemp("one") / f"changed{suffix}"
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    file = seal(whole, path)
    wanted = check(policy, baseline, file, on=DAY)
    content = bytearray(path.read_bytes())
    at = min(int(place * len(content)), len(content) - 1)
    content[at] ^= mask
    path.write_bytes(content)
    verdict = check(policy, baseline, file, on=DAY)
    if verdict.verdict != "invalid":  # a byte that holds no value, such as a statistic of Parquet
        assert [one.model_dump() for one in verdict.findings] == [one.model_dump() for one in wanted.findings]
    else:
        assert "bug in gateline" not in " ".join(verdict.because), verdict.because


def set_cell(table: str, column: str, value: object, row: int = 0) -> Any:
    def spoil(data: Data) -> None:
        data[table][column][row] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (set_cell("columns", "used0", -1), "columns.used0 in row 1"),
        (set_cell("columns", "value0_whole", "many"), "columns.value0_whole in row 1"),
        (set_cell("columns", "value0_whole", 10**9), "outside number times smallest and largest value"),
        (set_cell("columns", "min0", -5.0), "columns.min0 in row 1"),
        (set_cell("columns", "questions", 10**30), "columns.questions in row 1"),
        (set_cell("columns", "grp", 64), "columns.grp in row 1"),
        (set_cell("columns", "place", "lang=it"), "columns."),
        (set_cell("columns", "hash1", 2**60), "columns.hash1 in row 1"),
        (set_cell("sketches", "bin", 10**9), "sketches.bin in row 1"),
        (set_cell("sketches", "questions", 0), "sketches.questions in row 1"),
        (lambda data: [column.clear() for column in data["sketches"].values()], "values, and"),
        (lambda data: [column.clear() for column in data["columns"].values()], "has no row of the whole run"),
        (lambda data: data["columns"].pop("cause1_5"), "columns.cause1_5 is not there"),
        (lambda data: data["columns"].pop("heaviest2"), "columns.heaviest2 is not there"),
    ],
)
def test_what_is_wrong_is_named(runs: tuple[str, str, Data], tmp_path: Path, spoil: Any, said: str) -> None:
    policy, baseline, whole = runs
    data = copy.deepcopy(whole)
    spoil(data)
    file = seal(data, tmp_path / "candidate.json")
    told = refused(check(policy, baseline, file, on=DAY), file)
    assert said in told, told


def test_a_slice_that_lost_its_rows_is_no_smaller_slice(runs: tuple[str, str, Data], tmp_path: Path) -> None:
    """The values of a label add up to the run: questions of a slice can't be cut out of a file."""
    policy, baseline, whole = runs
    data = copy.deepcopy(whole)
    kept = [place != "lang=de" for place in data["columns"]["place"]]
    assert not all(kept)
    for name, column in data["columns"].items():
        data["columns"][name] = [value for value, keep in zip(column, kept, strict=True) if keep]
    file = seal(data, tmp_path / "candidate.json")
    assert "don't add up" in refused(check(policy, baseline, file, on=DAY), file)
