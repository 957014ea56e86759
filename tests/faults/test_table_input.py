"""Tables: an id is a text, a number is a number, and what is neither is refused by column, id and cell."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import make_side, tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError, NotComparable
from gateline.readers import read_run
from runs import LIMIT, make_pairs

DIGITS = st.text("0123456789", min_size=1, max_size=6)
NUMBER_LIKE = st.one_of(
    DIGITS, st.builds("{}.{}".format, DIGITS, DIGITS), st.builds("{}e{}".format, DIGITS, DIGITS)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@tries(40)
@given(st.lists(NUMBER_LIKE, min_size=1, max_size=12, unique=True))
def test_ids_that_look_like_numbers_join_letter_for_letter(folder: Path, ids: list[str]) -> None:
    """A table on one side, JSON Lines on the other; 007, 7, 7.0 and 7e0 are four questions."""
    table, lines = folder / "ids.csv", folder / "ids.jsonl"
    table.write_text("id,score\n" + "".join(f"{one},{row}\n" for row, one in enumerate(ids)))
    records = [{"id": one, "metrics": {"score": row}} for row, one in enumerate(ids)]
    lines.write_text("".join(json.dumps(one) + "\n" for one in records[::-1]))
    pairs = make_pairs((read_run(table), read_run(lines)), LIMIT, metrics="{score: {better: higher}}")
    assert sorted(pairs.ids) == sorted(ids)
    score = pairs.metrics["score"]
    assert score.baseline is not None
    np.testing.assert_array_equal(score.baseline.value, score.candidate.value)


@tries(40)
@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=6),
    st.sampled_from([("decimal", ";"), ("decimal", "\t"), ("thousands", ","), ("thousands", ";")]),
)
def test_a_comma_in_a_number_is_refused_and_never_dropped_or_read_as_a_point(
    folder: Path, values: list[int], how: tuple[str, str]
) -> None:
    kind, delimiter = how
    cells = [f"{one // 1000},{one % 1000:03d}" if kind == "decimal" else f"{one + 1000:,}" for one in values]
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows(
        [["id", "score", "note"], *([f"q{row}", cell, "x"] for row, cell in enumerate(cells))]
    )
    path = folder / "commas.csv"
    path.write_text(stream.getvalue())
    run = read_run(path)
    assert "score" not in run.number_names()
    with pytest.raises(InputError) as raised:
        run.numbers("score")
    told = [str(problem) for problem in raised.value.problems]
    for row, (cell, problem) in enumerate(zip(cells, told, strict=False)):
        assert f"'q{row}'" in problem
        assert row or f"score of sample 'q0' is not a number: '{cell}'" in problem


NO_NUMBERS = st.one_of(
    st.booleans(),
    st.lists(st.integers(0, 5), max_size=3),
    st.dictionaries(st.sampled_from(["score", "value"]), st.integers(0, 5), min_size=1),
    st.sampled_from(["Failed", "4/5", "four", "0x4", "1_000", "4%", "\u0664x", "1,5", "--4"]),
)


@tries(60)
@given(st.lists(st.one_of(st.integers(1, 5), NO_NUMBERS), min_size=1, max_size=8))
def test_a_score_that_is_no_number_is_refused_by_its_id_and_never_read_as_one(
    folder: Path, values: list[Any]
) -> None:
    path = folder / "scores.jsonl"
    records = [{"id": f"q{row}", "score": value} for row, value in enumerate(values)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    wrong = {
        f"q{row}" for row, value in enumerate(values) if isinstance(value, bool) or not isinstance(value, int)
    }
    run = read_run(path)
    try:
        pairs = make_pairs((run, run), LIMIT, metrics="{score: {better: higher}}")
    except (InputError, NotComparable) as error:
        told = " ".join(map(str, error.problems))
        assert wrong
        assert "score" in told
        assert any(name in told for name in wrong) or "no record has a field" in told or "%" in told
        return
    assert not wrong
    np.testing.assert_array_equal(pairs.metrics["score"].candidate.value, values)


@pytest.mark.parametrize("kind", ["null", "float64", "float32", "int64", "string", "bool", "decimal128"])
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_a_column_of_nulls_of_any_type_is_missing_by_name_and_no_zero(
    folder: Path, kind: str, rows: int
) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    types = {"decimal128": lambda: arrow.decimal128(9, 2), "bool": arrow.bool_}
    column = arrow.nulls(rows, types[kind]() if kind in types else getattr(arrow, kind)())
    path = folder / "nulls.parquet"
    names = [f"q{row}" for row in range(rows)]
    parquet.write_table(arrow.table({"id": names, "score": column}), path)
    run = read_run(path)
    np.testing.assert_array_equal(run.numbers("score"), [np.nan] * rows)
    with pytest.raises(NotComparable) as raised:
        make_pairs((make_side([1.0] * rows, "baseline.jsonl"), run), LIMIT)
    assert f"{rows} of {rows}" in " ".join(map(str, raised.value.problems))
