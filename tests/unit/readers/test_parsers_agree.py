"""A run must not depend on whether orjson is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.readers import read_run

pytest.importorskip("orjson")

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.text(st.characters(exclude_categories=()), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["id", "metrics", "slices", "error", "f", "g.h", "ü", 'q"', "tokens"])
records_strategy = st.lists(
    st.fixed_dictionaries(
        {"id": st.text(min_size=1, max_size=6) | st.integers()},
        optional={
            "metrics": st.dictionaries(names, st.none() | st.integers() | st.floats() | st.text(max_size=3)),
            "slices": st.dictionaries(names, json_values),
        },
    ).flatmap(
        lambda base: st.dictionaries(
            names.filter(lambda name: name not in {"id", "metrics", "slices"}), json_values
        ).map(lambda rest: base | rest)
    ),
    min_size=1,
    max_size=6,
)


def outcome(path: Path) -> object:
    """What reading gives: the run's content as comparable texts, or the problems."""
    try:
        run = read_run(path, read_as="jsonl")
    except InputError as error:
        return [str(problem) for problem in error.problems]
    columns = {
        (section, name): (
            type(column).__name__,
            repr(column.tolist() if isinstance(column, np.ndarray) else column),
        )
        for section in ("metrics", "slices", "fields")
        for name, column in getattr(run, section).items()
    }
    return run.ids, run.lines.tolist(), run.format, list(columns), columns


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records=records_strategy, ascii_only=st.booleans())
def test_the_run_is_the_same_with_and_without_orjson(tmp_path, records, ascii_only):
    text = "".join(json.dumps(record, ensure_ascii=ascii_only) + "\n" for record in records)
    path = tmp_path / "a.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    fast = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "orjson", None)
        slow = outcome(path)
    if isinstance(fast, list) and isinstance(slow, list):
        return  # both refuse; the parsers word a broken text differently
    assert fast == slow
