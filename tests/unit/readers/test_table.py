from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.readers import read_run
from gateline.readers.table import find_delimiter
from gateline.samples import SMALLEST


def test_numbers_and_their_texts(read):
    run = read("a.csv", "id,code,score,lang\n007,007,0.5,de\n7,7,1.0,en\n1e3,1e3,,\n10.0,10,nan,de\n")
    assert (run.format, run.ids, run.lines.tolist()) == ("csv", ["007", "7", "1e3", "10.0"], [2, 3, 4, 5])
    np.testing.assert_array_equal(run.numbers("score"), [0.5, 1, np.nan, np.nan])
    np.testing.assert_array_equal(run.numbers("code"), [7, 7, 1000, 10])
    assert run.labels("code") == [("007",), ("7",), ("1e3",), ("10",)]
    assert run.labels("lang") == [("de",), ("en",), (), ("de",)]
    assert run.number_names() == ["code", "score"]
    assert run.fields["lang"] == ["de", "en", None, "de"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoted", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_dialects(read, delimiter, mark, end, quoted):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoted)
    writer.writerows(
        [["id", "answer, long; or\tshort", "s"], ["a", 'says "x"\nand y', "0.25"], ["b", "", "1"]]
    )
    run = read("a.csv", mark + stream.getvalue())
    assert run.ids == ["a", "b"]
    assert run.fields["answer, long; or\tshort"] == ['says "x"\nand y', None]
    assert run.numbers("s").tolist() == [0.25, 1.0]
    assert run.lines.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("id,a", ","),
        ("id;a;latency (p50, p95)", ";"),
        ("id\ta, b, c\td\te", "\t"),
        ('"id, x; y";a;b', ";"),
        ("id", "\t"),
    ],
)
def test_the_delimiter_is_told_by_the_header(header, delimiter):
    assert find_delimiter(header) == delimiter


def test_excel_names_its_delimiter(read):
    run = read("a.csv", "sep=;\r\nid;s\r\nx;0.5\r\n")
    assert (run.ids, run.lines.tolist(), run.numbers("s").tolist()) == (["x"], [3], [0.5])


def test_sections_of_gatelines_own_format(read):
    run = read("a.csv", "id, metrics.f ,slices.risk,metrics.,latency_ms\nq1,1.0,01,x,5\nq2,,,y,6\n")
    np.testing.assert_array_equal(run.metrics["f"], [1, np.nan])
    assert run.slices["risk"] == ["01", None]
    assert list(run.fields) == ["metrics.", "latency_ms"]


def test_tsv_is_called_so(read):
    assert read("a.tsv", "id\ts\nx\t1\n").format == "tsv"


def test_row_numbers_of_a_data_frame_are_dropped(read):
    run = read("a.csv", ",id,s\n0,x,1\n1,y,2\n")
    assert (run.ids, list(run.fields)) == (["x", "y"], ["s"])


def test_a_cell_of_megabytes(read):
    run = read("a.csv", f'id,contexts,s\nq1,"{"passage. " * 300_000}",0.5\n')
    assert len(run.fields["contexts"][0]) == 2_700_000
    assert run.numbers("s").tolist() == [0.5]


def test_blank_lines_are_no_rows(read):
    assert read("a.csv", "\n\nid,s\n\nx,1\n   \ny,2\n\n").lines.tolist() == [5, 7]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("id,s,s\nx,1,2\n", "a.csv:1: columns stand twice in the header: s"),
        ("id,s,,\nx,1,2,3\n", "a.csv:1: column 3 has no name in the header"),
        ("id,s\nx,1\ny\nz,1,2\n", "a.csv:3: cells: 1; columns in the header: 2"),
        ('id,s\nx,1\n"y\nz",1,2\nv,1\n', "a.csv:3: cells: 3; columns in the header: 2"),
        ('id,s\nx,"1\ny,2\n', "a.csv:2: is not CSV: unexpected end of data"),
        ('id,s\nx,1\ny,"1"2\n', "a.csv:3: is not CSV: "),
        ("id,s\nx,1\0\n", "a.csv:2: holds a zero byte and is no text"),
        ("id,s\nx,1\n,2\n  ,3\n", "a.csv:3: the cell of 'id' is empty"),
        (
            "query_id,s\nx,1\n",
            "a.csv: no record has the field 'id' that identifies its question; found query_id, s",
        ),
    ],
)
def test_what_is_wrong_is_placed(refuse, content, problem):
    assert refuse("a.csv", content)[0].startswith(problem)


def test_other_encodings_are_named_by_line(refuse):
    (problem,) = refuse("a.csv", "id,s\nx,1\ncafé,2\n".encode("cp1252"))
    assert problem == "a.csv:3: byte 0xe9 is not UTF-8  (save it as UTF-8)"
    (problem,) = refuse("a.csv", b"\xef\xbb\xbfid,s\ncaf\xe9,2\n")
    assert problem.startswith("a.csv:2: byte 0xe9")


def test_header_only(refuse):
    assert refuse("a.csv", "id,s\n") == ["a.csv: 0 samples: the file has no record"]


def test_decimal_commas_are_refused_by_column_and_cell(read):
    run = read("a.csv", "id;faithfulness;latency\nq1;0,91;1.234\nq2;0,84;980\n")
    with pytest.raises(InputError) as caught:
        run.numbers("faithfulness")
    assert "faithfulness of sample 'q1' is not a number: '0,91'" in str(caught.value)
    assert caught.value.problems[0].where.endswith("a.csv:2")
    assert caught.value.problems[0].hint


def test_a_column_with_a_word_in_it_is_no_number_column(read):
    run = read("a.csv", "id,s\nq1,0.5\nq2,Failed\n")
    assert run.number_names() == []
    with pytest.raises(InputError, match="'Failed'"):
        run.numbers("s")


def test_without_a_telling_name_a_header_must_name_an_id(read, refuse):
    assert read("results", "id,s\nx,1\n").ids == ["x"]
    assert "no reader knows" in refuse("notes.txt", "dear all, hello\nx,1\n")[0]


cells = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\r"), max_size=6)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    names=st.lists(st.from_regex("[a-z]{1,3}[0-9]", fullmatch=True), min_size=1, max_size=4, unique=True),
    rows=st.lists(st.lists(cells, min_size=5, max_size=5), min_size=1, max_size=6),
)
def test_what_csv_writes_is_read(tmp_path, names, rows):
    """Against the standard library's writer: cells arrive as they were, empty ones as no value."""
    table = [[f"q{number}", *cells[: len(names)]] for number, cells in enumerate(rows)]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([["id", *names], *table])
    path = tmp_path / "a.csv"
    path.write_bytes(stream.getvalue().encode())
    run = read_run(path)
    assert run.ids == [row[0] for row in table]
    for place, name in enumerate(names, 1):
        written = run.written.get(name, run.fields[name])
        assert list(written) == [row[place] or None for row in table]


def computable(value: float) -> bool:
    return value == 0 or abs(value) >= SMALLEST


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(values=st.lists(st.none() | st.floats(-1e150, 1e150).filter(computable), min_size=1, max_size=8))
def test_numbers_survive_exactly(tmp_path, values):
    assume(any(value is not None for value in values))
    path = tmp_path / "a.csv"
    path.write_text(
        "id,s\n" + "".join(f"q{i},{'' if v is None else repr(v)}\n" for i, v in enumerate(values))
    )
    np.testing.assert_array_equal(
        read_run(path).numbers("s"), [np.nan if value is None else value for value in values]
    )
