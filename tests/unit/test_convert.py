from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateline.convert import write_jsonl
from gateline.errors import InputError
from gateline.readers import read_run
from gateline.samples import Column, MetricFacts, Run


def columns_of(run: Run) -> dict[tuple[str, str], list[object]]:
    """Every column as plain values: NaN and None alike, whole numbers as int."""

    def plain(value: object) -> object:
        if isinstance(value, float):
            return None if math.isnan(value) else value
        return value

    def values(column: Column) -> list[object]:
        return [plain(value) for value in (column.tolist() if isinstance(column, np.ndarray) else column)]

    sections = (("metrics", run.metrics), ("slices", run.slices), ("fields", run.fields))
    return {(section, name): values(column) for section, part in sections for name, column in part.items()}


def write_and_read(run: Run, path) -> Run:
    path.write_text("".join(write_jsonl(run)), encoding="utf-8")
    return read_run(path)


computable = st.just(math.nan) | st.just(0.0) | st.floats(1e-150, 1e150) | st.floats(-1e150, -1e-150)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=5)
plain_names = st.from_regex("[a-zA-Zü@.]{1,4}", fullmatch=True)
labels = st.none() | texts | st.booleans() | st.integers() | st.lists(texts, max_size=2)


@st.composite
def runs(draw):
    size = draw(st.integers(1, 4))

    def columns(names, values):
        return draw(st.dictionaries(names, st.lists(values, min_size=size, max_size=size), max_size=3))

    measured = {name: np.array(values) for name, values in columns(plain_names, computable).items()}
    fields: dict[str, Column] = dict(columns(plain_names, labels))
    fields |= {f"n{name}": np.array(v) for name, v in columns(plain_names, computable).items()}
    sliced = dict(columns(plain_names, labels))
    # a number or label that stands twice under one name, with two values, is refused when it is read
    fields = {name: column for name, column in fields.items() if name not in measured and name not in sliced}
    return Run(
        "f", "", "csv", draw(st.lists(texts.filter(str.strip), min_size=size, max_size=size)), np.arange(size),
        metrics=measured, slices=sliced, fields=fields,
        provenance=draw(st.dictionaries(plain_names, texts | st.integers() | st.none(), max_size=2)),
    )  # fmt: skip


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(run=runs())
def test_what_is_written_reads_back_as_the_same_run(tmp_path, run):
    read = write_and_read(run, tmp_path / "a.jsonl")
    assert (read.ids, read.format, read.provenance) == (run.ids, "gateline-jsonl", run.provenance)
    assert columns_of(read) == columns_of(run)
    for name in run.metrics:
        np.testing.assert_array_equal(read.numbers(name), run.numbers(name))
    for name in [*run.slices, *run.fields]:
        assert read.labels(name) == run.labels(name)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(run=runs())
def test_every_line_is_strict_json(run):
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for line in write_jsonl(run):
        assert line.endswith("\n")
        assert "\n" not in line[:-1]
        assert isinstance(json.loads(line, parse_constant=refuse), dict)


def test_the_format():
    run = Run(
        "f", "", "csv", ["q1", "q2"], np.zeros(2, np.int64),
        metrics={"f": np.array([0.5, np.nan]), "n": np.array([12.0, 3.0])},
        slices={"lang": ["de", None]}, fields={"error": [None, "judge_failed"], "gone": [None, None]},
        provenance={"judge.model": "j"},
    )  # fmt: skip
    assert list(write_jsonl(run)) == [
        '{"gateline": 1, "run": {"judge.model": "j"}}\n',
        '{"id": "q1", "slices": {"lang": "de"}, "metrics": {"f": 0.5, "n": 12}, "gone": null}\n',
        '{"id": "q2", "slices": {}, "metrics": {"f": null, "n": 3}, "error": "judge_failed", "gone": null}\n',
    ]


def test_infinite_numbers_stay_refused(tmp_path):
    run = Run("f", "", "csv", ["a"], np.zeros(1, np.int64), metrics={"f": np.array([np.inf])})
    read = write_and_read(run, tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="'Infinity'"):
        read.numbers("f")


def test_digits_of_a_table_are_kept(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,code,score,one,slices.r,metrics.m\n007,007,0.5,1.0,01,2.50\n7,7,1,2.5,1,\n")
    run = read_run(path)
    read = write_and_read(run, tmp_path / "a.jsonl")
    assert read.ids == ["007", "7"]
    for name in ("code", "score", "one", "r"):
        assert read.labels(name) == run.labels(name)
    for name in ("code", "score", "one", "m"):
        np.testing.assert_array_equal(read.numbers(name), run.numbers(name))
    assert isinstance(read.fields["score"], np.ndarray)


def test_names_that_mean_something_get_a_word_before_them(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"qid": 1, "id": "other", "metrics": "text"}\n')
    with pytest.raises(InputError):
        read_run(path, id_field="qid")
    path.write_text('{"qid": 1, "id": "other", "s": 1}\n')
    read = write_and_read(read_run(path, id_field="qid"), tmp_path / "b.jsonl")
    assert (read.ids, read.fields["field.id"]) == (["1"], ["other"])


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_field_of_the_name_of_a_metric_or_label_reads_back_beside_it(tmp_path, data):
    """Whatever names fields share with metrics, labels and each other's new names, nothing is refused or lost."""
    names = st.sampled_from(
        ["f", "field.f", "field.field.f", "lang", "field.lang", "id", "field.id", "metrics"]
    )
    values = st.sampled_from([math.nan, 0.5, 1.5])
    numbers = st.dictionaries(names, st.lists(values, min_size=3, max_size=3), max_size=5)
    words = st.dictionaries(
        names, st.lists(st.sampled_from(["a", "b", "1"]), min_size=3, max_size=3), max_size=3
    )
    run = Run(
        "f", "", "csv", ["q1", "q2", "q3"], np.zeros(3, np.int64),
        metrics={name: np.array(values) for name, values in data.draw(numbers).items()},
        slices=dict(data.draw(words)),
        fields={name: np.array(values) for name, values in data.draw(numbers).items()} | data.draw(words),
    )  # fmt: skip
    read = write_and_read(run, tmp_path / "a.jsonl")
    before, after = columns_of(run), columns_of(read)
    for section in ("metrics", "slices"):
        assert {key: v for key, v in after.items() if key[0] == section} == {
            key: v for key, v in before.items() if key[0] == section
        }
    kept = [sorted(map(repr, (v for key, v in of.items() if key[0] == "fields"))) for of in (before, after)]
    assert kept[0] == kept[1]
    for name in (
        set(run.fields) - set(run.metrics) - set(run.slices) - {"id", "metrics", "slices", "gateline"}
    ):
        if not name.startswith("field."):
            assert after["fields", name] == before["fields", name]


def test_what_is_said_of_metrics_reads_back_whole(tmp_path):
    """All of it: a share of failed requests that is forgotten would count as none."""
    facts = {
        "ttft": MetricFacts("lower", failed="failed_share"),
        "f": MetricFacts("higher", (0.0, 1.0), "with reference"),
        "failed_share": MetricFacts(None),
    }
    assert {one.name for one in dataclasses.fields(MetricFacts)} == {
        "better",
        "range",
        "definition",
        "failed",
    }
    metrics = {name: np.array([0.5]) for name in facts}
    run = Run("f", "", "x", ["a"], np.zeros(1, np.int64), metrics=dict(metrics), metric_facts=facts)
    assert write_and_read(run, tmp_path / "a.jsonl").metric_facts == facts


def test_files_that_do_not_say_the_same_of_their_records_are_not_written_as_if_they_did(tmp_path):
    said, silent, times = (tmp_path / f"{name}.jsonl" for name in ("said", "silent", "times"))
    said.write_text('{"gateline": 1, "run": {"judge.model": "j"}}\n{"id": "a", "metrics": {"f": 1}}\n')
    silent.write_text('{"gateline": 1}\n{"id": "b", "metrics": {"f": 1}}\n')
    times.write_text('{"gateline": 1}\n{"id": "a", "latency_ms": 1}\n')
    with pytest.raises(
        InputError, match=r"silent\.jsonl: judge\.model is not said here, and is 'j' in another"
    ):
        list(write_jsonl(read_run([said, silent])))
    assert write_and_read(read_run([said, times]), tmp_path / "b.jsonl").provenance == {"judge.model": "j"}
