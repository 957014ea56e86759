"""A report in which any value is another one is read or refused with a reason; nothing crashes."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path

import pytest
from documented import FILES
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.errors import GatelineError
from gateline.inspection import inspect_run
from gateline.readers import read_run

REPORTS = {
    "deepeval": FILES / "deepeval" / "candidate.test_run.json",
    "promptfoo": FILES / "promptfoo" / "candidate.json",
    "ctrf": FILES / "pytest" / "candidate.ctrf.json",
    "pytest-json-report": FILES / "pytest" / "candidate.pytest-json-report.json",
}
LISTS = ("testCases", "tests", "results", "collectors")
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**70), st.floats(), st.text(max_size=5),
    st.sampled_from([[], {}, [[]], [{}], {"a": {}}, [None], "no_answer", "\0", 1e400, "x" * 300]),
)  # fmt: skip


@cache
def small(name: str) -> object:
    """Return the report with its first and last three tests only."""

    def cut(value: object) -> object:
        if isinstance(value, dict):
            return {
                key: cut(item[:3] + item[-3:] if key in LISTS and isinstance(item, list) else item)
                for key, item in value.items()
            }
        return [cut(item) for item in value] if isinstance(value, list) else value

    return cut(json.loads(REPORTS[name].read_text(encoding="utf-8")))


def places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


@pytest.mark.parametrize("name", REPORTS)
@settings(max_examples=80)
@given(data=st.data())
def test_any_value_may_be_another(name, data, tmp_path_factory):
    document = copy.deepcopy(small(name))
    for path in data.draw(st.lists(st.sampled_from(places(small(name))), min_size=1, max_size=3)):
        holder = document
        try:
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took it away
        if data.draw(st.booleans()) and isinstance(holder, dict):
            del holder[path[-1]]
        elif not isinstance(holder, str):
            holder[path[-1]] = data.draw(ODD)
    path = Path(tmp_path_factory.mktemp("mangled")) / "a.json"
    path.write_text(json.dumps(document))
    try:
        run = read_run(path, read_as=name)
        inspect_run(run)
        for metric in run.metrics:
            run.numbers(metric)
    except GatelineError as error:
        assert str(error)
    else:
        assert len(run) > 0
