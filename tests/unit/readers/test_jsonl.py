"""JSON Lines: every test runs with orjson and with the standard library alone."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.readers import _json_lines, read_run
from gateline.samples import Run

pytestmark = pytest.mark.usefixtures("parser")


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_gatelines_own_format(read):
    run = read(
        "a.jsonl",
        lines(
            {"gateline": 1, "run": {"app": {"commit": "b81d"}, "judge.model": "judge-4"}},
            {
                "id": "q1",
                "slices": {"language": "de", "tags": ["x", "y"]},
                "metrics": {"faithfulness": 0.5, "claims": 12},
                "latency_ms": 812,
                "tokens": {"input": 10, "output": 3},
                "retrieved": ["d1", "d2"],
            },
            {
                "id": 2,
                "slices": {"language": "en"},
                "metrics": {"faithfulness": None},
                "error": "judge_failed",
            },
        ),
    )
    assert (run.format, run.ids, run.lines.tolist(), run.id_field) == (
        "gateline-jsonl",
        ["q1", "2"],
        [2, 3],
        "id",
    )
    assert run.provenance == {"app.commit": "b81d", "judge.model": "judge-4"}
    np.testing.assert_array_equal(run.metrics["faithfulness"], [0.5, np.nan])
    np.testing.assert_array_equal(run.metrics["claims"], [12, np.nan])
    assert run.labels("language") == [("de",), ("en",)]
    assert run.labels("tags") == [("x", "y"), ()]
    assert list(run.fields) == ["latency_ms", "tokens.input", "tokens.output", "retrieved", "error"]
    assert run.fields["retrieved"] == [["d1", "d2"], None]
    assert run.fields["error"] == [None, "judge_failed"]
    np.testing.assert_array_equal(run.numbers("tokens.input"), [10, np.nan])
    assert run.place(1).endswith("a.jsonl:3")


def test_flat_records_of_another_tool(read):
    run = read("a.jsonl", lines({"query_id": 7, "score": 0.25, "lang": "de"}), id_field="query_id")
    assert (run.format, run.ids, run.id_field, run.metrics) == ("jsonl", ["7"], "query_id", {})
    assert run.numbers("score").tolist() == [0.25]
    assert "query_id" not in run.fields
    assert run.texts("query_id") == ["7"]


def test_an_id_may_lie_deeper(read):
    run = read(
        "a.jsonl", lines({"meta": {"id": "a"}, "s": 1}, {"meta": {"id": "b"}, "s": 2}), id_field="meta.id"
    )
    assert run.ids == ["a", "b"]


@pytest.mark.parametrize(
    "separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"]
)
def test_only_a_line_feed_ends_a_line(read, separator):
    answer = f"x{separator}y"
    records = [{"id": name, "answer": answer} for name in ("a", "b")]
    run = read("a.jsonl", "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    assert (run.ids, run.lines.tolist(), run.fields["answer"]) == (["a", "b"], [1, 2], [answer, answer])


def test_crlf_blank_lines_and_byte_order_mark(read):
    run = read("a.jsonl", b'\xef\xbb\xbf\r\n{"id": "a", "s": 1}\r\n   \r\n{"id": "b", "s": 2}\r\n\r\n')
    assert (run.ids, run.lines.tolist(), run.numbers("s").tolist()) == (["a", "b"], [2, 4], [1, 2])


def test_ids_keep_every_digit(read):
    written = [
        "1723004518830047233", "9007199254740993", "18446744073709551617", "-9223372036854775809",
        '"007"', '"1e3"', "5", '"5"', "6.0", '" x "',
    ]  # fmt: skip
    run = read("a.jsonl", "".join(f'{{"id": {identity}}}\n' for identity in written))
    assert run.ids == [
        "1723004518830047233",
        "9007199254740993",
        "18446744073709551617",
        "-9223372036854775809",
        "007",
        "1e3",
        "5",
        "5",
        "6",
        " x ",
    ]


def test_labels_keep_every_digit_and_metrics_are_doubles(read):
    big, huge = 9007199254740993, 18446744073709551617
    run = read(
        "a.jsonl",
        lines(
            {"id": "a", "doc": big, "far": huge, "deep": {"doc": huge}, "metrics": {"m": big}},
            {"id": "b", "doc": 3, "far": 1, "deep": {"doc": 2}, "metrics": {"m": 1}},
        ),
    )
    assert run.labels("doc") == [(str(big),), ("3",)]
    assert run.labels("far") == [(str(huge),), ("1",)]
    assert run.labels("deep.doc") == [(str(huge),), ("2",)]
    assert run.numbers("m").tolist() == [float(big), 1.0]


def test_bare_nan_is_missing_and_infinity_is_refused_by_line(read):
    run = read(
        "a.jsonl",
        '{"id": 0, "metrics": {"f": NaN}, "t": 1}\n{"id": 1, "metrics": {"f": -Infinity}, "t": Infinity}\n'
        '{"id": 2, "metrics": {"f": 0.5}, "t": NaN}\n{"id": 3, "metrics": {"f": 1e400}, "t": 2}\n',
    )
    assert math.isnan(run.metrics["f"][0])
    with pytest.raises(InputError) as caught:
        run.numbers("f")
    assert [problem.where.rpartition(":")[2] for problem in caught.value.problems] == ["2", "4"]
    with pytest.raises(InputError, match=r"a\.jsonl:2"):
        run.numbers("t")


def test_a_bare_nan_in_a_list_or_text_column_is_kept_apart(read):
    run = read("a.jsonl", '{"id": 1, "x": "t", "l": [NaN, 1]}\n{"id": 2, "x": NaN, "l": null}\n')
    assert run.labels("x") == [("t",), ()]
    assert run.labels("l") == [("1",), ()]


def test_a_cut_off_last_line_is_named(refuse):
    whole = lines(*({"id": f"q{row}", "metrics": {"f": 0.5}} for row in range(9)))
    for cut in (
        '{"id": "q9", "metr',
        '{"id": "q9", "metrics": {"f": 0.',
        '{"id": "q9", "metrics": {"f": 0.5}',
        '{"id": ',
    ):
        problems = refuse("a.jsonl", whole + cut)
        assert problems == ["a.jsonl:10: is not complete JSON; the file ends in the middle of a record"]


def test_broken_lines_are_named_and_counted(refuse):
    problems = refuse("a.jsonl", '{"id": 1}\n' + "nonsense\n" * 8)
    assert len(problems) == 6
    assert problems[0].startswith("a.jsonl:2: is not JSON at column 1")
    assert problems[-1] == "a.jsonl: and 3 more"


def test_two_objects_on_a_line(refuse):
    assert refuse("a.jsonl", '{"id": 1}{"id": 2}\n{"id": 3}\n') == [
        "a.jsonl:1: something else begins at column 10; one record a line"
    ]


@pytest.mark.parametrize(
    ("line", "what"), [("[1]", "a list"), ("3", "the number 3"), ("null", "null"), ('"x"', "the text 'x'")]
)
def test_a_line_must_be_an_object(refuse, line, what):
    assert refuse("a.jsonl", f'{{"id": 1}}\n{line}\n') == [f"a.jsonl:2: must be an object, not {what}"]


@pytest.mark.parametrize("value", ["true", "1.5", "[]", "{}", '""', '"  "', "1e17", "Infinity", "NaN"])
def test_what_is_no_id(refuse, value):
    problems = refuse("a.jsonl", f'{{"id": 1}}\n{{"id": {value}}}\n')
    assert problems[0].startswith("a.jsonl:2: id must be a text or a whole number, not ")


def test_records_without_id(refuse):
    problems = refuse("a.jsonl", '{"id": 1}\n{"s": 2}\n{"id": null}\n')
    assert problems == ["a.jsonl:2: no 'id' in this and 1 other records"]
    problems = refuse("a.jsonl", '{"query_id": 1, "s": 2}\n{"query_id": 2}\n')
    assert "found query_id, s" in problems[0]
    assert "samples: {id: query_id}" in problems[0]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"id": 1, "id": 2}', "id"),
        ('{"id": 1, "metrics": {"f": 0.1, "f": 0.9}}', "f"),
        ('{"id": 1, "slices": {"r": "a", "r": "b"}}', "r"),
        ('{"id": 1, "error": null, "error": "x"}', "error"),
        ('{"id":1,"Größe":1,"Größe":2}', "Größe"),
        ('{"id": 1, "metrics": {"f": 0.1}, "metrics": {"f": 0.9}}', "metrics"),
        ('{"id": 18446744073709551617, "f": 1, "f": 2}', "f"),
        ('{"id": "a \\": b", "f": 1, "f": 2}', "f"),
    ],
)
def test_a_key_twice_in_a_record_is_an_error(refuse, line, key):
    others = '{"id": 7, "metrics": {"f": 0.1}, "slices": {"r": "f"}, "error": "\\"f\\": 1"}\n'
    assert refuse("a.jsonl", others + line + "\n" + others) == [
        f"a.jsonl:2: the key {key!r} stands twice in one object"
    ]


def test_texts_that_look_like_keys_are_no_keys(read):
    record = {
        "id": "id",
        "metrics": {"f": 1},
        "answer": 'she said: "f": 1, "id": 2',
        "deep": [{"id": 1, "f": {"id": 2}}],
    }
    run = read("a.jsonl", lines(record, record | {"id": "f"}))
    assert run.ids == ["id", "f"]


def test_half_a_surrogate_pair_can_be_written_again(read):
    run = read("a.jsonl", '{"id": "a", "x": "cut \\ud83d", "l": ["\\udc00"], "y": "\\ud83d\\ude00"}\n')
    assert run.fields["x"] == ["cut \ufffd"]
    assert run.fields["l"] == [["\ufffd"]]
    assert run.fields["y"] == ["😀"]


@pytest.mark.parametrize("depth", [60, 1000, 5000, 200_000])
def test_deep_nesting_is_refused_and_does_not_crash(refuse, depth):
    problems = refuse("a.jsonl", '{"id": 1}\n{"id": "a", "x": ' + "[" * depth + "]" * depth + "}\n")
    assert problems[0].startswith("a.jsonl:2: ")
    assert "nested" in problems[0]


@pytest.mark.parametrize("depth", [60, 1000])
def test_a_deeply_nested_header_is_refused(refuse, depth):
    problems = refuse(
        "a.jsonl", '{"gateline": 1, "run": ' + '{"a": ' * depth + "1" + "}" * depth + '}\n{"id": 1}\n'
    )
    assert "a.jsonl:1: " in problems[0]
    assert "nested" in problems[0]


def test_deep_nesting_within_reason_is_read(read):
    run = read("a.jsonl", '{"id": "a", "x": ' + "[" * 40 + "1" + "]" * 40 + "}\n")
    assert run.labels("x") == [("1",)]


def test_bytes_that_are_not_utf8_are_named(refuse):
    assert refuse("a.jsonl", b'{"id": 1}\n{"id": "caf\xe9"}\n') == ["a.jsonl:2: byte 0xe9 at 12 is not UTF-8"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_utf16_is_refused_with_a_hint(refuse, encoding):
    (problem,) = refuse("a.jsonl", '{"id": 1}\n'.encode(encoding))
    assert "UTF-16" in problem
    assert "save it as UTF-8" in problem


@pytest.mark.parametrize("version", ["2", '"1"', "null", "true", "1.5"])
def test_an_unknown_format_version_is_refused(refuse, version):
    (problem,) = refuse("a.jsonl", f'{{"gateline": {version}}}\n{{"id": 1}}\n')
    assert problem.startswith("a.jsonl:1: format version ")


def test_a_header_in_the_middle_tells_that_files_were_joined(refuse):
    problems = refuse("a.jsonl", lines({"gateline": 1}, {"id": 1}, {"gateline": 1}, {"id": 2}))
    assert "two files seem to have been joined" in problems[0]


def test_sections_must_be_objects(refuse):
    problems = refuse(
        "a.jsonl", lines({"id": 1, "metrics": {"f": 1}}, {"id": 2, "metrics": [1]}, {"id": 3, "slices": "x"})
    )
    assert problems == [
        "a.jsonl:2: 'metrics' must be an object of names and values, not a list",
        "a.jsonl:3: 'slices' must be an object of names and values, not the text 'x'",
    ]


def test_a_metric_is_never_taken_apart(read):
    run = read("a.jsonl", lines({"id": 1, "metrics": {"r": 4}}, {"id": 2, "metrics": {"r": {"score": 4}}}))
    with pytest.raises(InputError, match="sample '2'"):
        run.numbers("r")


def test_written_names_win_over_nested_ones(read):
    run = read("a.jsonl", lines({"id": 1, "a": {"b": 1}, "a.b": 2}))
    assert run.numbers("a.b").tolist() == [2]
    assert run.fields["a"] == [{"b": 1}]


def test_a_map_with_many_keys_is_one_value(read):
    records = [{"id": row, "scores": {f"d{row}-{number}": 0.5 for number in range(40)}} for row in range(3)]
    assert list(read("a.jsonl", lines(*records)).fields) == ["scores"]


def test_keys_that_are_data_are_refused(refuse):
    problems = refuse("a.jsonl", lines({"id": 1} | {f"k{number}": 1 for number in range(2001)}))
    assert "more than 2000 different fields" in problems[0]


def test_columns_hold_across_blocks(read, monkeypatch):
    """Records of changing shape in blocks of a few lines become the columns that the plain objects say."""
    monkeypatch.setattr(_json_lines, "BLOCK_BYTES", 100)
    records = []
    for row in range(200):
        record: dict[str, object] = {"id": f"q{row}", "metrics": {"m": row / 7}}
        if row % 3:
            record["x"] = row if row < 100 else f"t{row}"
        if row > 150:
            record["metrics"] = {"m": row, "late": 2**60 + row}
        records.append(record)
    run = read("a.jsonl", "\n".join(map(json.dumps, records)))
    assert run.ids == [record["id"] for record in records]
    assert run.lines.tolist() == list(range(1, 201))
    assert run.fields["x"] == [record.get("x") for record in records]
    expected = [record["metrics"].get("late", math.nan) for record in records]
    np.testing.assert_array_equal(run.metrics["late"], np.array(expected, dtype=float))
    np.testing.assert_array_equal(run.metrics["m"], [record["metrics"]["m"] for record in records])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=80) | st.text('{}[]":,01eE.-\\u \n\tidnul', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    try:
        run = read_run(path)
    except InputError as error:
        assert str(path) in str(error)
    else:
        assert isinstance(run, Run)
        assert len(run) > 0
