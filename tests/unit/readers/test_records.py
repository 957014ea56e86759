from __future__ import annotations

import json

import numpy as np
import pytest

RECORDS = [{"id": f"q{row}", "metrics": {"f": row / 4}, "lang": "de"} for row in range(4)]


def test_a_list_of_records_with_their_lines(read):
    run = read("a.json", json.dumps(RECORDS, indent=1))
    assert (run.format, run.ids) == ("json", ["q0", "q1", "q2", "q3"])
    assert run.lines.tolist() == [2, 9, 16, 23]
    np.testing.assert_array_equal(run.metrics["f"], [0, 0.25, 0.5, 0.75])
    assert run.labels("lang") == [("de",)] * 4


def test_a_minified_list(read):
    assert read("results.txt", json.dumps(RECORDS, separators=(",", ":"))).lines.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("wrapper", ["results", "records", "samples", "data"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_under_a_usual_name(read, wrapper, indent):
    whole = {"version": 3, "run": {"judge": {"model": "j1"}}, wrapper: RECORDS, "stats": {"mean": 0.5}}
    run = read("a.json", json.dumps(whole, indent=indent))
    assert run.ids == ["q0", "q1", "q2", "q3"]
    assert run.provenance == {"judge.model": "j1"}


def test_the_header_may_follow_the_records(read):
    assert read("a.json", json.dumps({"data": RECORDS, "run": {"a": 1}})).provenance == {"a": 1}


def test_bare_nan_and_long_ids(read):
    run = read("a.json", '[{"id": 18446744073709551617, "f": NaN}, {"id": 2, "f": 1}]')
    assert run.ids == ["18446744073709551617", "2"]
    np.testing.assert_array_equal(run.numbers("f"), [np.nan, 1])


def test_an_id_field_can_be_named(read):
    assert read("a.json", '[{"k": 1}, {"k": 2}]', id_field="k").ids == ["1", "2"]


def test_many_records_come_in_blocks(read, monkeypatch):
    monkeypatch.setattr("gateline.readers.records.BLOCK_RECORDS", 3)
    records = [{"id": row, "x": row if row % 2 else f"t{row}"} for row in range(10)]
    run = read("a.json", json.dumps(records))
    assert run.ids == [str(row) for row in range(10)]
    assert run.fields["x"] == [record["x"] for record in records]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[{"id": 1},\n {"id": 2', "a.json:2: is not JSON at column 10: the file ends in the middle of it"),
        ('[{"id": 1},\n {"id": 2}', "a.json:2: is not JSON at column 11: the file ends in the middle of it"),
        ('[{"id": 1},\n 3, {"id": 2}]', "a.json:2: a record must be an object, not the number 3"),
        ('[{"id": 1},\n {"id": 2}\n {"id": 3}]', "a.json:3: is not JSON at column 2: expecting ']'"),
        ('[{"id": 1}] x', "a.json:1: is not JSON at column 13: something else begins behind the end"),
        ('[{"id": 1,\n "id": 2}]', "a.json:1: the key 'id' stands twice in one object"),
        ('[{"id": 1, "metrics": {"f": 1, "f": 2}}]', "a.json:1: the key 'f' stands twice in one object"),
        (
            '{"results": [{"id": 1}], "data": [{"id": 2}]}',
            "a.json: both 'results' and 'data' are lists of records",
        ),
        ('[{"id": 1}, {"s": 2}]', "a.json:1: no 'id' in this record"),
    ],
)
def test_what_is_wrong_is_placed(refuse, content, problem):
    assert refuse("a.json", content)[0] == problem


@pytest.mark.parametrize("content", ["[]", '{"results": []}', " [ ] "])
def test_no_records(refuse, content):
    assert refuse("a.json", content) == ["a.json: 0 samples: the file has no record"]


@pytest.mark.parametrize(
    "content",
    [
        "[1, 2]",
        "[[1]]",
        '{"scores": {"test": [{"main_score": 0.4}]}, "task_name": "T"}',
        '{"results": {"results": [{"id": 1}]}}',
        '{"results": [1, 2]}',
        '{\n "id": 1\n}',
        '{"nested": {"data": [{"id": 1}]}}',
        '"text"',
    ],
)
def test_json_of_another_kind_is_not_claimed(refuse, content):
    (problem,) = refuse("a.json", content)
    assert problem.startswith("a.json: no reader knows this file; looked for ")


def test_forced_on_json_of_another_kind(refuse):
    (problem,) = refuse("a.json", '{"scores": [{"id": 1}]}', read_as="json")
    assert "no list of records under any of results, records, samples, data" in problem
