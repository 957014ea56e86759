"""What can't be summed up is an error that names the record; files that don't belong together give no verdict."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from logs_of_runs import make_records, policy_text, write_log

from conftest import Reduce
from gateline.cli import run
from gateline.errors import GatelineError, InputError, PolicyError
from gateline.gate import check
from gateline.policy import load_policy
from gateline.reduction.plan import make_plan

DAY = datetime.date(2026, 1, 1)
Spoil = Callable[[dict[str, Any]], object]


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "policy.yml"
    path.write_text(policy_text())
    return str(path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda one: one["metrics"].update(rank="high"), "rank of sample 'q3' is not a number: high"),
        (lambda one: one["metrics"].update(rank=True), "rank of sample 'q3' is not a number: true"),
        (lambda one: one["metrics"].update(rank=[1]), "rank of sample 'q3' is not a number"),
        (lambda one: one["metrics"].update(good=87), "good of sample 'q3' lies outside the range"),
        (lambda one: one.update(latency_ms=-1), "latency_ms of sample 'q3' is below 0"),
        (lambda one: one.update(latency_ms=1e300), "latency_ms of sample 'q3' can't be summed up"),
        (lambda one: one["metrics"].update(all=-2), "bad / all of sample 'q3' is below 0"),
        (lambda one: one.update(error={"type": "timeout"}), "id 'q3'"),
        (lambda one: one["slices"].update(lang=["de", "en"]), "id 'q3'"),
        (lambda one: one.update(id="q4"), "id 'q4' stands 2 times"),
    ],
)
def test_a_bad_record_is_named_with_its_line(
    tmp_path: Path, policy: str, reduce_log: Reduce, spoil: Spoil, said: str
) -> None:
    records = make_records(1, questions=60)
    spoil(records[3])
    for record in records:
        del record["attempt"]
    with pytest.raises(InputError) as raised:
        reduce_log(write_log(tmp_path / "bad.jsonl", records), policy)
    told = " ".join(f"{one.where} {one.message}" for one in raised.value.problems)
    assert said in told
    assert "bad.jsonl:5" in told  # the header stands in line 1


@pytest.mark.parametrize("line", ['{"id": "q7", "metrics": {"good": ', '["q7"]', '"text"', "NaN"])
@pytest.mark.parametrize("at", [3, 1500])
def test_a_damaged_line_is_an_error(
    tmp_path: Path, policy: str, reduce_log: Reduce, line: str, at: int
) -> None:
    lines = [json.dumps(one) for one in make_records(1, questions=1600)]
    lines[at] = line
    log = tmp_path / "damaged.jsonl"
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError):
        reduce_log(str(log), policy)


def test_nan_in_parquet_is_missing_and_text_there_is_an_error(
    tmp_path: Path, policy: str, reduce_log: Reduce
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    records = make_records(1, questions=60)
    records[3]["metrics"]["rank"] = float("nan")
    as_json = [{**one, "metrics": {**one["metrics"]}} for one in make_records(1, questions=60)]
    as_json[3]["metrics"]["rank"] = None
    for one in (*records, *as_json):
        one["metrics"]["good"] = float(one["metrics"]["good"])
    parquet.write_table(pa.Table.from_pylist(records), tmp_path / "log.parquet")
    of_parquet = json.loads(Path(reduce_log(str(tmp_path / "log.parquet"), policy.replace("policy", "free"))
                                 if (tmp_path / "free.yml").write_text(policy_text().replace("[judge.model]", "[]"))
                                 else "").read_text())  # fmt: skip
    log = write_log(tmp_path / "log.jsonl", as_json)
    of_json = json.loads(Path(reduce_log(log, str(tmp_path / "free.yml"))).read_text())
    assert of_parquet["columns"] == of_json["columns"]
    assert of_parquet["sketches"] == of_json["sketches"]


def test_files_that_do_not_belong_together_give_no_verdict(
    tmp_path: Path, policy: str, reduce_log: Reduce
) -> None:
    records = make_records(1)
    good = reduce_log(write_log(tmp_path / "good.jsonl", records), policy)
    other = tmp_path / "other.yml"
    other.write_text(policy_text().replace("drop_at_most: 20%", "no_score: worst, drop_at_most: 20%"))
    moved = [
        {**one, "slices": {**one["slices"], "lang": "xx"}} if at == 5 else one
        for at, one in enumerate(records)
    ]
    log = write_log(tmp_path / "whole.jsonl", make_records(2))
    cases = {
        "did not answer the same questions": reduce_log(
            write_log(tmp_path / "fewer.jsonl", make_records(2)[1:]), policy
        ),
        "disagree on labels": reduce_log(write_log(tmp_path / "moved.jsonl", moved), policy),
        "reduced for another policy": reduce_log(log, str(other)),
        "--groups must be the same": reduce_log(log, policy, groups=512),
        "not made alike": reduce_log(
            write_log(tmp_path / "judge.jsonl", make_records(2), judge="j2"), policy
        ),
        "is not reduced": log,
    }
    for said, candidate in cases.items():
        verdict = check(policy, good, candidate, on=DAY)
        assert (verdict.verdict, verdict.exit_code) == ("invalid", 2), said
        assert said in " ".join(verdict.because) or said == "not made alike", verdict.because


def test_a_cut_file_is_an_error(tmp_path: Path, policy: str, reduce_log: Reduce) -> None:
    log = write_log(tmp_path / "log.jsonl", make_records(1))
    for suffix in (".json", ".parquet"):
        whole = reduce_log(log, policy, suffix=suffix)
        data = Path(whole).read_bytes()
        for size in (40, len(data) // 2, len(data) - 3):
            cut = tmp_path / f"cut{suffix}"
            cut.write_bytes(data[:size])
            assert check(policy, whole, str(cut), on=DAY).verdict == "invalid"


def test_what_sums_can_not_decide_is_said_at_once(tmp_path: Path) -> None:
    text = policy_text() + "  - {kind: every, metric: good, at_least: 0, slice: risky}\n"
    path = tmp_path / "every.yml"
    path.write_text(text.replace("{at_least: 30}", "{at_least: 30, on_mismatch: intersect}"))
    with pytest.raises(PolicyError) as raised:
        make_plan(load_policy(str(path)))
    assert len(raised.value.problems) == 2


def test_people_s_labels_are_refused_where_the_log_is_reduced(
    tmp_path: Path, policy: str, duckdb: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """What only `check` would refuse is work for nothing on a log of any size."""
    log = write_log(tmp_path / "log.jsonl", make_records(1, questions=60))
    (tmp_path / "human.jsonl").write_text('{"id": "q1", "good": 1}\n')
    text = policy_text() + "calibration: [{human: human.jsonl, metric: good}]\n"
    (tmp_path / "calibrated.yml").write_text(text)
    output = tmp_path / "out.json"
    assert run(["reduce", log, "--policy", str(tmp_path / "calibrated.yml"), "-o", str(output)]) == 2
    told = capsys.readouterr().err
    assert "a reduced file can't have calibration" in told and "calibrated.yml" in told
    assert not output.exists()


def test_the_command_leaves_no_file_where_it_fails(
    tmp_path: Path, policy: str, duckdb: object, capsys: pytest.CaptureFixture[str]
) -> None:
    records = make_records(1, questions=60)
    log = write_log(tmp_path / "log.jsonl", records)
    output = tmp_path / "out.parquet"
    assert run(["reduce", log, "--policy", policy, "-o", str(output)]) == 0
    before = output.read_bytes()
    records[3]["metrics"]["rank"] = "high"
    write_log(tmp_path / "log.jsonl", records)
    assert run(["reduce", log, "--policy", policy, "-o", str(output)]) == 2
    assert "is not a number: high" in capsys.readouterr().err
    assert output.read_bytes() == before
    for wrong in (["-o", str(tmp_path / "out.csv")], ["-o", str(output), "--groups", "many"]):
        assert run(["reduce", log, "--policy", policy, *wrong]) == 2
    assert not (tmp_path / "out.csv").exists()


def test_single_samples_are_not_asked_of_sums(tmp_path: Path, policy: str, reduce_log: Reduce) -> None:
    from gateline.gate import compare

    reduced = reduce_log(write_log(tmp_path / "log.jsonl", make_records(1)), policy)
    with pytest.raises(GatelineError, match="no single samples"):
        compare(load_policy(policy), reduced, reduced)
