from __future__ import annotations

import datetime
import decimal
import sys

import numpy as np
import pytest

from gateline.errors import InputError
from gateline.readers import read_run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def read_table(tmp_path):
    def read(columns, **options):
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table(columns), path)
        return read_run(path, **options)

    return read


def test_types(read_table):
    run = read_table(
        {
            "id": pa.array([9007199254740993, 2, 3]),
            "score": pa.array([0.5, None, float("nan")]),
            "count": pa.array([1, 2, None], pa.int8()),
            "none": pa.nulls(3),
            "text": pa.array(["4", " 5 ", None]),
            "word": pa.array(["x", "y", "x"]).dictionary_encode(),
            "flag": pa.array([True, None, False]),
            "big": pa.array([2**53, 2**53 + 1, 1]),
            "when": pa.array([datetime.datetime(2026, 1, 2, 3)] * 3),
            "price": pa.array([decimal.Decimal("1.50")] * 3),
            "raw": pa.array([b"x"] * 3),
            "tags": pa.array([["a", "b"], [], None]),
            "tokens": pa.array([{"input": 3, "output": 4}, None, {"input": 5, "output": None}]),
        }
    )
    assert (run.format, run.ids, run.lines.tolist()) == ("parquet", ["9007199254740993", "2", "3"], [0, 0, 0])
    np.testing.assert_array_equal(run.numbers("score"), [0.5, np.nan, np.nan])
    np.testing.assert_array_equal(run.numbers("count"), [1, 2, np.nan])
    np.testing.assert_array_equal(run.numbers("none"), [np.nan] * 3)
    np.testing.assert_array_equal(run.numbers("text"), [4, 5, np.nan])
    np.testing.assert_array_equal(run.numbers("price"), [1.5] * 3)
    np.testing.assert_array_equal(run.numbers("tokens.input"), [3, np.nan, 5])
    assert run.labels("word") == [("x",), ("y",), ("x",)]
    assert run.labels("flag") == [("true",), (), ("false",)]
    assert run.labels("big") == [(str(2**53),), (str(2**53 + 1),), ("1",)]
    assert run.labels("tags") == [("a", "b"), (), ()]
    assert run.texts("when") == ["2026-01-02 03:00:00"] * 3
    assert run.texts("raw") == ["x"] * 3
    assert run.place(1).endswith("a.parquet")


def test_sections_as_structs_and_as_dotted_columns(read_table):
    run = read_table(
        {
            "id": ["a", "b"],
            "metrics": pa.array([{"f": 0.5}, None]),
            "metrics.g": [1, 2],
            "slices": pa.array([{"risk": "high"}, {"risk": None}]),
            "slices.lang": ["de", "en"],
        }
    )
    np.testing.assert_array_equal(run.metrics["f"], [0.5, np.nan])
    np.testing.assert_array_equal(run.metrics["g"], [1, 2])
    assert (run.labels("risk"), run.labels("lang"), run.fields) == ([("high",), ()], [("de",), ("en",)], {})


def test_row_numbers_of_a_data_frame_are_dropped(read_table):
    assert list(read_table({"id": ["a"], "s": [1], "__index_level_0__": [7]}).fields) == ["s"]


def test_an_id_field_can_be_named(read_table):
    assert read_table({"qid": [1, 2], "s": [0.5, 1]}, id_field="qid").ids == ["1", "2"]


def test_more_rows_than_a_batch(read_table):
    run = read_table({"id": list(range(10_000)), "s": np.arange(10_000) / 7})
    assert run.ids[-1] == "9999"
    np.testing.assert_array_equal(run.numbers("s"), np.arange(10_000) / 7)


def test_categories_read_as_the_values_they_stand_for(read_table):
    words, hours = ["b", None, "a", "b"], [datetime.time(3), None, datetime.time(4), datetime.time(3)]
    columns = {
        "id": list("pqrs"),
        "word": pa.array(words),
        "hour": pa.array(hours),
        "n": pa.array([7, 8, None, 7]),
    }
    as_categories = {name: column.dictionary_encode() for name, column in columns.items() if name != "id"}
    plain, shared = read_table(columns), read_table({"id": columns["id"], **as_categories})
    assert [plain.texts(name) == shared.texts(name) for name in ("hour", "n")] == [True, True]
    assert plain.labels("word") == shared.labels("word") == [("b",), (), ("a",), ("b",)]
    np.testing.assert_array_equal(shared.numbers("n"), [7, 8, np.nan, 7])


def test_no_rows(read_table):
    with pytest.raises(InputError, match="0 samples"):
        read_table({"id": pa.array([], pa.string()), "s": pa.array([], pa.float64())})


def test_a_damaged_file(read_table, tmp_path):
    read_table({"id": ["a"], "s": [1]})
    path = tmp_path / "cut.parquet"
    path.write_bytes((tmp_path / "a.parquet").read_bytes()[:-20])
    with pytest.raises(InputError, match=r"cut\.parquet: is not a whole Parquet file"):
        read_run(path)


def test_without_pyarrow_the_extra_is_named(read_table, tmp_path, monkeypatch):
    read_table({"id": ["a"], "s": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install pyarrow"):
        read_run(tmp_path / "a.parquet")
