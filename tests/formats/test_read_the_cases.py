"""What must be read from the files of the shared cases and real data, or why they are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gateline.errors import InputError
from gateline.readers import read_run

SHARED = Path(__file__).resolve().parents[3] / "shared"
CASES = SHARED / "cases"
DATA = SHARED / "data"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside this work tree")


def case(number: str, file: str) -> Path:
    (folder,) = CASES.glob(f"{number}-*")
    return folder / file


@pytest.mark.parametrize(
    "file", ["candidate.jsonl", "candidate-header-only.csv", "candidate-empty-list.json"]
)
def test_021_no_samples(file):
    with pytest.raises(InputError) as caught:
        read_run(case("021", file))
    (problem,) = caught.value.problems
    assert problem.where.endswith(file)
    assert "0 samples" in problem.message


def test_026_the_judge_is_a_field():
    assert read_run(case("026", "candidate.jsonl")).labels("judge") == [("judge-model-2026-01",)] * 30


@pytest.mark.parametrize(("file", "version"), [("baseline.json", "1.12.40"), ("candidate.json", "2.7.1")])
def test_029_an_aggregate_is_one_record(file, version):
    run = read_run(case("029", file))
    assert run.ids == ["TwitterLikeRetrieval/default/test"]
    assert run.provenance == {"mteb_version": version, "dataset_revision": "5f0c17aa"}


def test_029_a_file_without_main_score():
    with pytest.raises(InputError, match=r"baseline-no-main-score\.json: .* has no main_score"):
        read_run(case("029", "baseline-no-main-score.json"))


def test_034_bare_nan_and_infinity():
    run = read_run(case("034", "candidate.jsonl"))
    for name, bad_lines in (("faithfulness", ["4", "6"]), ("latency_ms", ["3"])):
        with pytest.raises(InputError) as caught:
            run.numbers(name)
        assert [problem.where.rpartition(":")[2] for problem in caught.value.problems] == bad_lines
    assert np.isnan(run.metrics["faithfulness"][1])


def test_037_ids_beyond_2_to_the_53():
    baseline, candidate = (read_run(case("037", f"{side}.jsonl")) for side in ("baseline", "candidate"))
    assert baseline.ids == candidate.ids
    assert baseline.ids[:2] == ["1723004518830047233", "1723004518830047234"]
    assert len(set(baseline.ids)) == 6


def test_038_last_line_cut_off():
    with pytest.raises(InputError, match=r"candidate\.jsonl:10: is not complete JSON"):
        read_run(case("038", "candidate.jsonl"))


def test_039_line_separators_inside_strings():
    baseline, candidate = (read_run(case("039", f"{side}.jsonl")) for side in ("baseline", "candidate"))
    assert baseline.fields["answer"] == candidate.fields["answer"]
    assert len(baseline) == 6
    assert "\u2028" in str(baseline.fields["answer"][1])


def test_041_two_objects_on_one_line():
    with pytest.raises(InputError, match=r"candidate\.jsonl:1: something else begins at column 115"):
        read_run(case("041", "candidate.jsonl"))


def test_043_byte_order_mark():
    run = read_run(case("043", "candidate.csv"))
    assert run.ids == [f"q{row}" for row in range(8)]
    assert run.numbers("faithfulness").tolist() == [0.5] * 8
    assert run.labels("risk") == [("low",), ("high",)] * 4


def test_045_leading_zeros():
    baseline, candidate = read_run(case("045", "baseline.csv")), read_run(case("045", "candidate.jsonl"))
    assert baseline.ids == candidate.ids == ["007", "7", "08", "1e3", "10"]
    assert baseline.numbers("em").tolist() == [1, 0, 1, 1, 1]


def test_047_commas():
    with pytest.raises(InputError, match="faithfulness of sample 'q1' is not a number: '0,91'"):
        read_run(case("047", "baseline.csv")).numbers("faithfulness")
    with pytest.raises(InputError, match="latency_ms of sample 'q1' is not a number: '1,234'"):
        read_run(case("047", "candidate.csv")).numbers("latency_ms")


def test_048_scores_that_are_not_numbers():
    with pytest.raises(InputError) as caught:
        read_run(case("048", "candidate.jsonl")).numbers("rating")
    named = [problem.message.split("'")[1] for problem in caught.value.problems]
    assert named == ["q3", "q5", "q6", "q7", "q8"]


def test_049_a_big_cell_and_line_breaks():
    run = read_run(case("049", "candidate.csv"))
    assert run.ids == ["q1", "q2", "q3", "q4"]
    assert len(run.fields["contexts"][1]) > 150_000
    assert "\n" in str(run.fields["answer"][2])
    assert run.lines.tolist()[:3] == [2, 3, 4]
    assert run.lines[3] > 5


def test_051_parquet_column_of_nulls():
    pytest.importorskip("pyarrow")
    run = read_run(case("051", "candidate.parquet"))
    np.testing.assert_array_equal(run.numbers("faithfulness"), [np.nan] * 3)
    np.testing.assert_array_equal(run.numbers("latency_ms"), [800, 810, 820])


def test_064_cached_records():
    cached = read_run(case("064", "candidate.jsonl")).labels("cached")
    assert cached.count(("true",)) == 30


def test_067_null_and_zero_costs_stay_apart():
    costs = read_run(case("067", "candidate.jsonl")).numbers("cost_usd")
    assert (int(np.isnan(costs).sum()), int((costs == 0).sum())) == (10, 10)


REAL = sorted([*DATA.glob("pairs/*/baseline.jsonl"), *DATA.glob("pairs/*/candidate.jsonl")])


@pytest.mark.parametrize("path", REAL, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_data_arrives_whole(path):
    """Against a plain reading line by line with the standard library."""
    run = read_run(path)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    assert run.ids == [str(record["id"]) for record in records]
    assert set(run.metrics) == {name for record in records for name in record.get("metrics", {})}
    for name in run.metrics:
        expected = [record["metrics"].get(name) for record in records]
        np.testing.assert_array_equal(run.numbers(name), np.array(expected, dtype=float))
    for name in {label for record in records for label in record.get("slices", {})}:
        expected = [record["slices"].get(name) for record in records]
        assert [texts[0] if texts else None for texts in run.labels(name)] == [
            None if value is None else str(value) for value in expected
        ]
