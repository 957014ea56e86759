"""JSON by columns is the same table as by rows; what could be anything else is left alone."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.readers import read_run, readers
from gateline.readers._json_columns import UnevenColumnsError, turn_columns

CELLS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(0, 1), st.text(max_size=3))
NAMES = st.lists(st.text(min_size=1, max_size=4), min_size=2, max_size=4, unique=True)


@st.composite
def tables(draw):
    names = draw(NAMES)
    return [{name: draw(CELLS) for name in names} for _ in range(draw(st.integers(1, 5)))]


@given(tables())
def test_rows_come_back_from_every_form(rows):
    names = list(rows[0])
    by_number = {name: {str(place): row[name] for place, row in enumerate(rows)} for name in names}
    lists = {name: [row[name] for row in rows] for name in names}
    split = {
        "columns": names, "index": list(range(len(rows))), "data": [list(row.values()) for row in rows],
    }  # fmt: skip
    for form in (by_number, lists, split):
        assert turn_columns(form) == rows


def test_pandas_writes_the_same_run_in_each_orientation(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "id": [f"q{place}" for place in range(4)],
            "score": [0.5, None, 1.0, 0.25],
            "tags": [["a", "b"], [], ["c"], None],
        }
    )
    frame.to_json(tmp_path / "records.json", orient="records")
    expected = read_run(tmp_path / "records.json")
    for orientation in ("columns", "split", "table"):
        for indent in (0, 2):
            path = tmp_path / f"{orientation}-{indent}.json"
            frame.to_json(path, orient=orientation, indent=indent)
            run = read_run(path)
            assert (run.format, run.ids) == ("json", expected.ids)
            np.testing.assert_array_equal(run.numbers("score"), expected.numbers("score"))
            assert run.labels("tags") == expected.labels("tags")
    path = tmp_path / "list.json"
    path.write_text(json.dumps(frame.to_dict("list")))  # a bare NaN stands in it
    assert math.isnan(read_run(path).numbers("score")[1])


def test_a_filtered_frame_has_gaps_in_its_row_numbers(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"id": {"3": "a", "17": "b"}, "score": {"17": 1, "3": 0}}))
    run = read_run(path)
    assert dict(zip(run.ids, run.numbers("score"), strict=True)) == {"a": 0, "b": 1}


@pytest.mark.parametrize("indent", [None, 1])
def test_columns_longer_than_the_head_of_the_file(tmp_path, indent):
    count = 30_000
    columns = {
        "id": {str(place): f"q{place}" for place in range(count)},
        "score": {str(place): place / count for place in range(count)},
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(columns, indent=indent))
    run = read_run(path)
    assert len(run) == count
    assert run.numbers("score")[-1] == (count - 1) / count


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"id": {"0": "a", "1": "b"}, "score": {"0": 1}}, "column 'score' has 1 of 2 rows"),
        ({"id": ["a", "b"], "score": [1]}, "column 'score' has 1 of 2 rows"),
        ({"columns": ["id", "score"], "index": [0], "data": [["a"]]}, "'columns' names 2 columns"),
    ],
)
def test_columns_that_do_not_fit(tmp_path, value, message):
    with pytest.raises(UnevenColumnsError, match=message):
        turn_columns(value)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    with pytest.raises(InputError, match=rf"a\.json: is no table by columns: {message}"):
        read_run(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": {"0": "a", "0": "b"}, "score": {"0": 1}}', "column 'id' has row 0 twice"),
        ('{"id": {"0": "a"}, "id": {"0": "b"}, "score": {"0": 1}}', r"a\.json:1: the key 'id' stands twice"),
    ],
)
def test_a_key_that_stands_twice(tmp_path, text, message):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(path)


@pytest.mark.parametrize(
    "value",
    [
        {"q1": {"d1": 0.5}, "q2": {"d1": 0.25}},  # a ranking: the rows have names
        {"score": {"0": 1}},  # one column
        {"id": ["a"]},
        {"a": [{"x": 1}], "b": [{"x": 2}]},  # lists of records
        {"a": {"0": 1}, "b": "text"},
        {"a": {}, "b": {}},
        {"mean": 0.5, "values": [0.5]},
    ],
)
def test_what_is_no_table(value):
    assert turn_columns(value) is None
    assert not readers()["json"].looks_like(json.dumps(value).encode(), Path("a.json"))
