"""A key or a member that stands twice: nobody can say which value counts, so none does, in whatever format."""

from __future__ import annotations

import json
import re
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.readers import read_run
from gateline.readers._json_lines import holds_all_keys
from gateline.readers._json_text import JsonProblemError, RepeatedKeyError, parse_value

FILES = Path(__file__).resolve().parents[2] / "formats" / "files"

# Texts that look like the end of a key, in keys and in values, escaped and not.
texts = st.one_of(
    st.text(max_size=4),
    st.sampled_from(["a", "b", '":', '" :', ":", " :", "\\", '\\":', '{"a": 1, "a": 2}', "é"]),
)
values = st.recursive(
    st.one_of(st.none(), st.integers(0, 9), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=12,
)
plain = st.text('ab"é,{}[] x', min_size=1, max_size=6).map(lambda text: f"k{text}k")
separators = st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : "), (",\n", "\t :"), (",", "  :")])


def has_repeats(text: str) -> bool:
    """Say whether a key stands twice in an object, by the standard library."""
    found = []
    json.loads(
        text, object_pairs_hook=lambda pairs: found.append(len(dict(pairs)) < len(pairs)) or dict(pairs)
    )
    return any(found)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """Return JSON of an object in which, sometimes, a key was written twice at some depth."""
    signs = draw(separators)
    as_ascii = draw(st.booleans())

    def write(value: object) -> str:
        if isinstance(value, list):
            return "[" + signs[0].join(map(write, value)) + "]"
        if not isinstance(value, dict):
            return json.dumps(value, ensure_ascii=as_ascii)
        entries = list(value.items())
        if entries and draw(st.integers(0, 5)) == 0:
            entries.insert(draw(st.integers(0, len(entries))), draw(st.sampled_from(entries)))
        written = [
            json.dumps(key, ensure_ascii=draw(st.booleans())) + signs[1] + write(item)
            for key, item in entries
        ]
        return "{" + signs[0].join(written) + "}"

    return write(draw(st.dictionaries(texts, values, max_size=4)))


@settings(max_examples=400)
@given(text=json_texts())
def test_a_parse_refuses_exactly_the_texts_in_which_a_key_stands_twice(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    repeats: list[str] = []
    try:
        parse_value(text)
        refused = False
    except RepeatedKeyError as error:
        refused = True
        key = parse_value(text, error.position)[0]
        assert str(error) == f"the key {key!r} stands twice in one object"
    assert refused == has_repeats(text)
    parse_value(text, repeats=repeats)
    assert bool(repeats) == refused


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=json_texts())
def test_the_count_of_keys_never_calls_a_lost_key_none(text: str) -> None:
    try:
        line = text.encode()
    except UnicodeEncodeError:
        return
    if has_repeats(text):
        assert not holds_all_keys(line, json.loads(text))


@settings(max_examples=200)
@given(
    value=st.dictionaries(
        plain, st.recursive(plain, lambda inner: st.dictionaries(plain, inner) | st.lists(inner))
    )
)
def test_the_count_of_keys_spares_plain_texts_a_second_look(value: dict[str, object]) -> None:
    for signs in ((",", ":"), (", ", ": "), (",", " : ")):
        assert holds_all_keys(json.dumps(value, separators=signs).encode(), value)
    assert holds_all_keys(json.dumps(value, indent=2).encode(), value)


DEEP = ['{"id": 1, "x": {"a": 1, "a": 2}}', '{"id": 1, "x": [[{"b": {"a": 1, "a": 2}}]]}',
        '{"id": 1, "x": {"a" : 1, "a" : 2}}', '{"id": 1, "x": [{"\\u0061": 1, "a": 2}]}']  # fmt: skip


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("line", DEEP)
def test_a_key_twice_at_any_depth_of_a_record(refuse, line):
    told = "the key 'a' stands twice in one object"
    fine = '{"id": 2, "x": {"a": ":)", "b": "\\"a\\": 1"}}\n'
    assert refuse("a.jsonl", f"{fine}{line}\n") == [f"a.jsonl:2: {told}"]
    assert refuse("a.json", f"[{fine.strip()},\n{line}]") == [f"a.json:2: {told}"]
    assert refuse("b.json", f'{{"results": [{fine.strip()}], "run": {line}}}') == [f"b.json: {told}"]


def test_what_only_looks_like_a_key_is_read(read):
    record = {"id": "q", "x": ":)", "y": {"z": '": ', "k\\": "\\"}, "l": ['{"a": 1, "a": 2}'] * 3}
    for name, signs in (("a.jsonl", None), ("b.jsonl", (",", ":")), ("c.jsonl", (" , ", " : "))):
        assert read(name, json.dumps(record, separators=signs) + "\n").ids == ["q"]


TOOLS = sorted(path for path in FILES.rglob("*") if path.suffix in {".json", ".jsonl"} and path.stat().st_size < 2e6
               and not path.name.endswith(("dataset_run_items.json", "repr_string.json")))  # fmt: skip


def repeat_a_number(text: str) -> str:
    """Return JSON in which the first key with a number or truth value stands twice, with another value first."""
    for entry in ENTRY.finditer(text):
        return text[: entry.start()] + f"{entry[1]}{entry[2]} 0.125, " + text[entry.start() :]
    return text


ENTRY = re.compile(r'("(?:[^"\\]|\\.)+")(\s*:)\s*(?:true|false|-?\d[\d.e-]*)(?=\s*[,}])')


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: str(path.relative_to(FILES)))
def test_every_tool_s_json_with_a_key_twice_gives_no_run(tmp_path, path):
    try:
        read_run(path)
    except InputError:
        pytest.skip("no run by itself")
    text = path.read_text(encoding="utf-8")
    changed = repeat_a_number(text)
    assert changed != text
    (tmp_path / path.name).write_text(changed, encoding="utf-8")
    with pytest.raises(InputError, match=r"stands twice|has .* twice"):
        read_run(tmp_path / path.name)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("which", ["header.json", "samples/"])
def test_a_member_twice_in_a_zip_gives_no_run(tmp_path, which):
    source = FILES / "inspect" / "baseline.deflate.eval"
    if not source.exists():
        source = next(iter((FILES / "inspect").glob("*.eval")))
    copy = tmp_path / "log.eval"
    copy.write_bytes(source.read_bytes())
    with zipfile.ZipFile(copy, "a") as archive:
        name = next(one for one in archive.namelist() if one.startswith(which))
        archive.writestr(name, b"{}")
    with pytest.raises(InputError, match=f"members of one name twice: {name}"):
        read_run(copy)


def test_a_parse_error_is_no_repeat():
    with pytest.raises(JsonProblemError) as caught:
        parse_value('{"a": 1, "a": 2')
    assert not isinstance(caught.value, RepeatedKeyError)


def parquet_bytes(columns: list[tuple[str, list]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    arrays = [pyarrow.array(values) for _, values in columns]
    stream = BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, names=[name for name, _ in columns]), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ([("id", ["a"]), ("m", [0.0]), ("m", [1.0])], "columns stand twice: m"),
        ([("id", ["a"]), ("metrics", [{"m": 0.0}]), ("metrics.m", [1.0])], "columns stand twice: metrics.m"),
        ([("id", ["a"]), ("slices.s", ["x"]), ("slices", [{"s": "y"}])], "columns stand twice: slices.s"),
        ([("id", ["a"]), ("id", ["b"])], "columns stand twice: id"),
    ],
)
def test_a_column_of_parquet_that_stands_twice(refuse, columns, told):
    (problem,) = refuse("a.parquet", parquet_bytes(columns))
    assert problem.startswith(f"a.parquet: {told}  (")


FIELD_BESIDE_SECTION = {
    "a.jsonl": '{"id": "a", "m": 1, "metrics": {"m": 1}}\n{"id": "b", "m": 0, "metrics": {"m": %s}}\n',
    "a.json": '[{"id": "a", "m": 1, "metrics": {"m": 1}},{"id": "b", "m": 0, "metrics": {"m": %s}}]',
    "a.csv": "id,m,metrics.m\na,1,1\nb,0,%s\n",
}


@pytest.mark.parametrize("name", FIELD_BESIDE_SECTION)
def test_a_number_beside_a_metric_of_its_name(read, refuse, name):
    content = FIELD_BESIDE_SECTION[name]
    (problem,) = refuse(name, content % "0.5")
    assert "sample 'b' has two values of m, one of which stands under 'metrics'" in problem
    assert read(name, content % "0").numbers("m").tolist() == [1, 0]


def test_a_label_beside_a_slice_and_a_text_beside_a_score(read, refuse):
    (problem,) = refuse("a.jsonl", '{"id": "a", "lang": "de", "slices": {"lang": "en"}}\n')
    assert "two values of lang, one of which stands under 'slices'" in problem
    run = read("b.jsonl", '{"id": "a", "answer": "yes", "metrics": {"answer": 1}}\n')
    assert run.numbers("answer").tolist() == [1]


def test_a_number_beside_a_metric_in_parquet(refuse):
    (problem,) = refuse("a.parquet", parquet_bytes([("id", ["a"]), ("m", [0.0]), ("metrics.m", [1.0])]))
    assert "sample 'a' has two values of m" in problem
