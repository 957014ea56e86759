"""JSON Lines: every record arrives with its digits, or the file is refused with the line; none is lost in silence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from drawn import EIGHTHS, TEXTS, tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.readers import read_run
from gateline.samples import Run

SEPARATORS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json") / "run.jsonl"


def read(path: Path, text: str) -> Run:
    path.write_bytes(text.encode())
    return read_run(path)


def line(name: str, score: object) -> str:
    return json.dumps({"id": name, "metrics": {"score": score}}, ensure_ascii=False)


@tries(40)
@given(
    st.lists(
        st.one_of(EIGHTHS, st.sampled_from(["NaN", "Infinity", "-Infinity", "1e400", "-1e999"])),
        min_size=1,
        max_size=8,
    )
)
def test_a_bare_nan_is_missing_and_what_is_infinite_is_refused_by_its_line(
    path: Path, values: list[object]
) -> None:
    text = "".join(
        f'{{"id": "q{row}", "metrics": {{"score": {value}}}}}\n' for row, value in enumerate(values)
    )
    infinite = [row for row, value in enumerate(values) if isinstance(value, str) and value != "NaN"]
    try:
        found = read(path, text).numbers("score")
    except InputError as error:
        assert [problem.where for problem in error.problems][: len(infinite)] == [
            f"{path}:{row + 1}" for row in infinite
        ]
        assert infinite
        return
    assert not infinite
    np.testing.assert_array_equal(found, [np.nan if value == "NaN" else value for value in values])


@tries(40)
@given(
    st.lists(
        st.tuples(st.integers(0, 2**70), st.booleans()), min_size=1, max_size=10, unique_by=lambda one: one[0]
    )
)
def test_ids_keep_every_digit_as_numbers_and_as_texts(path: Path, ids: list[tuple[int, bool]]) -> None:
    text = "".join(
        f'{{"id": {json.dumps(str(one)) if quoted else one}, "metrics": {{"score": 1}}}}\n'
        for one, quoted in ids
    )
    assert read(path, text).ids == [str(one) for one, _ in ids]


def test_wherever_a_file_is_cut_off_no_record_is_lost_in_silence(path: Path) -> None:
    """At every byte: what is read are whole lines, and a part of a line is refused by its number."""
    text = "".join(line(name, score) + "\n" for name, score in [("q1", 0.5), ("q2", 0.25), ("zürich", 12)])
    raw = text.encode()
    for end in range(1, len(raw)):
        path.write_bytes(raw[:end])
        whole, rest = raw[:end].count(b"\n"), raw[:end].rpartition(b"\n")[2]
        try:
            json.loads(rest)
            complete = True
        except ValueError:
            complete = not rest
        if complete:
            assert len(read_run(path)) == whole + bool(rest)
        else:
            with pytest.raises(InputError) as raised:
                read_run(path)
            assert not whole or f"{path}:{whole + 1}" in str(
                raised.value
            )  # with no whole line it is of no format


@tries(40)
@given(
    st.lists(
        st.lists(st.one_of(st.sampled_from(SEPARATORS), TEXTS), max_size=4).map("".join),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "{end}", "{end}{end}", "{end}  {end}"]),
)
def test_only_a_line_feed_ends_a_record_whatever_stands_in_its_texts(
    path: Path, texts: list[str], end: str, last: str
) -> None:
    lines = [
        json.dumps({"id": f"q{row}", "answer": text, "metrics": {"score": row}}, ensure_ascii=False)
        for row, text in enumerate(texts)
    ]
    run = read(path, end.join(lines) + last.replace("{end}", end))
    assert run.ids == [f"q{row}" for row in range(len(texts))]
    assert run.fields["answer"] == texts
    assert run.numbers("score").tolist() == list(range(len(texts)))


@tries(40)
@given(st.integers(2, 6), st.data(), st.sampled_from(["", " ", "\t", ",", " , ", "\r"]))
def test_two_records_on_one_line_are_refused_by_that_line(
    path: Path, number: int, data: st.DataObject, between: str
) -> None:
    where = data.draw(st.integers(0, number - 2))
    lines = [line(f"q{row}", 1) for row in range(number)]
    joined = [*lines[:where], lines[where] + between + lines[where + 1], *lines[where + 2 :]]
    with pytest.raises(InputError) as raised:
        read(path, "\n".join(joined) + "\n")
    assert f"{path}:{where + 1}" in str(raised.value)
