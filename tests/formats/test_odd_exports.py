"""Exports of tracing tools with odd values anywhere, and joined in any parts: read right, or refused in words."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from documented import FILES
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.errors import GatelineError
from gateline.inspection import inspect_run
from gateline.readers import read_run

EXPORTS = {
    path: json.loads((FILES / path).read_text())[:4]
    for path in (
        "langsmith/candidate.json",
        "phoenix/candidate.json",
        "langfuse/candidate.scores.json",
        "langfuse/candidate.traces.json",
        "langfuse/candidate.dataset_run_items.json",
    )
}
SIMPLE = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**25), 10**25), st.floats(), st.text(max_size=4),
    st.sampled_from(["nan", "N/A", "True", "pass", "[1]", '{"a": 1}', "[1", "['a' 'b']", "9" * 400]),
)  # fmt: skip
VALUES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("path", EXPORTS)
@settings(deadline=None)
@given(data=st.data())
def test_an_odd_value_is_kept_or_refused_and_never_becomes_a_score(path, data, tmp_path_factory):
    rows = [dict(row) for row in EXPORTS[path]]
    place = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from(sorted(rows[place])))
    if data.draw(st.booleans()):
        rows[place][name] = data.draw(VALUES)
    else:
        del rows[place][name]
    file = tmp_path_factory.mktemp("odd") / "a.json"
    file.write_text(json.dumps(rows))
    try:
        run = read_run(file)
        inspect_run(run)
        numbers = {metric: run.numbers(metric) for metric in run.metrics}
    except GatelineError as error:
        assert "a.json" in str(error) or "values of" in str(error)
        return
    if name in ("feedback.word_recall", "value", "word_recall") and "word_recall" in numbers:
        changed = rows[place].get(name)
        changed = changed[0] if isinstance(changed, list) and len(changed) == 1 else changed
        if changed is None and place < len(run):
            assert math.isnan(numbers["word_recall"][place])


@settings(deadline=None)
@given(data=st.data())
def test_parts_of_a_run_join_on_their_trace_as_a_dictionary_would(data, tmp_path_factory):
    """Items say which question a trace answers; scores and traces are of any of these, and of others."""
    count = data.draw(st.integers(1, 8))
    order = data.draw(st.permutations(range(count)))
    scored = data.draw(st.lists(st.integers(0, count + 3), unique=True, max_size=8))
    timed = data.draw(st.lists(st.integers(0, count + 3), unique=True, max_size=8))
    items = [
        {"id": "x", "datasetItemId": f"q{row}", "traceId": f"t{row}", "datasetName": "d"} for row in order
    ]
    scores = [
        {"traceId": f"t{row}", "name": "s", "dataType": "NUMERIC", "value": row / 16, "source": "API"}
        for row in scored
    ]
    traces = [
        {
            "id": f"t{row}",
            "input": "Q",
            "output": "A",
            "observationCount": 1,
            "defaultCount": 1,
            "latency": row,
        }
        for row in timed
    ]
    folder = tmp_path_factory.mktemp("parts")
    paths = []
    for name, rows in (("items", items), ("scores", scores), ("traces", traces)):
        if rows:
            paths.append(folder / f"{name}.json")
            paths[-1].write_text(json.dumps(rows))
    known = set(range(count))
    if any(rows and not known & {*rows} for rows in (scored, timed)):
        with pytest.raises(GatelineError, match="has no traceId in common with"):
            read_run(data.draw(st.permutations(paths)))
        return
    run = read_run(data.draw(st.permutations(paths)))
    assert sorted(run.ids) == sorted(f"q{row}" for row in order)
    rows = [int(name[1:]) for name in run.ids]
    for name, given_rows, factor in (("s", scored, 1 / 16), ("latency_ms", timed, 1000.0)):
        column = run.find_column(name)
        if column is None:
            assert not given_rows
            continue
        expected = [row * factor if row in given_rows else np.nan for row in rows]
        np.testing.assert_array_equal(run.numbers(name), expected)
    lost = sum(row not in known for row in scored), sum(row not in known for row in timed)
    assert sum(" left out" in warning for warning in run.warnings) == sum(map(bool, lost))
