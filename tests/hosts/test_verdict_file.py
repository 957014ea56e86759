"""A verdict.json from elsewhere, changed in any field: refused in words, or every report of it can be made."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from reports.layered import whole_system_verdict
from reports.verdicts import design_verdict, invalid_verdict, loosened_verdict, many_kinds_verdict

from gateline.errors import InputError
from gateline.reports import names, render
from gateline.verdict_file import read_verdict

SPREAD = {
    "metric": "correct", "show_as": "percent", "unit": None, "samples": 9, "same": 4, "worse": 3, "better": 2,
    "edges": [0.0, 0.5, 1.0], "worse_bars": [1, 2], "better_bars": [2, 0], "farthest_worse": -1.0,
    "farthest_better": 0.4,
}  # fmt: skip
CURVE = {
    "metric": "p95", "field": "latency_ms", "unit": "ms", "samples": 9, "probabilities": [0.0, 0.5, 1.0],
    "baseline": [1.0, 2.0, 3.0], "candidate": [1.0, 2.0, 4.0],
}  # fmt: skip
BASES = {
    make.__name__: {**json.loads(make().to_json()), "spreads": [SPREAD], "curves": [CURVE]}
    for make in (
        design_verdict, many_kinds_verdict, loosened_verdict, invalid_verdict, whole_system_verdict,
    )
}  # fmt: skip
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.integers(-(10**17), 10**17), st.text(max_size=20),
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([1e300, -1e300, 5e-324, -0.0, "pass", "fail"]),
    st.lists(st.floats(-2, 2), max_size=4), st.lists(st.text(max_size=3), max_size=2),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)  # fmt: skip


def read(data, tmp_path):
    path = tmp_path / "verdict.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return read_verdict(path)


def render_all(verdict):
    for language in ("en", "zh"):
        for report in names():
            assert isinstance(render(report, verdict, language=language), str)


@pytest.mark.parametrize("base", BASES)
def test_a_whole_one_is_read_and_rendered(base, tmp_path):
    render_all(read(BASES[base], tmp_path))


@st.composite
def changed(draw):
    """A verdict in which one to three places hold something else, are gone, or stand there many times."""
    data = copy.deepcopy(BASES[draw(st.sampled_from(sorted(BASES)))])
    for _ in range(draw(st.integers(1, 3))):
        holder = data
        while True:
            keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
            key = draw(st.sampled_from(keys))
            if isinstance(holder[key], dict | list) and holder[key] and draw(st.integers(0, 3)):
                holder = holder[key]
                continue
            how = draw(st.sampled_from(["other", "other", "gone", "often", "emptied"]))
            if how == "gone":
                del holder[key]
            elif how == "often" and isinstance(holder[key], list):
                holder[key] = holder[key] * 40
            elif how == "emptied" and isinstance(holder[key], dict | list | str):
                holder[key] = type(holder[key])()
            else:
                holder[key] = draw(ODD)
            break
        if not data:
            break
    return data


@given(data=changed())
@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_stands_in_it_is_refused_in_words_or_can_be_rendered(data, tmp_path):
    try:
        verdict = read(data, tmp_path)
    except InputError as error:
        assert str(error).startswith(str(tmp_path / "verdict.json"))
        assert len(str(error)) < 1_000
        return
    render_all(verdict)


@pytest.mark.parametrize(
    "broken",
    [
        {"edges": []}, {"edges": [0.0]}, {"edges": [0.0, 1.0]}, {"edges": [0.0, 1.0, 0.5]}, {"edges": [-1.0, 0.5, 1.0]},
        {"worse_bars": []}, {"better_bars": [1]}, {"worse_bars": [], "better_bars": [], "edges": [0.0]},
        {"worse_bars": [-1, 2]}, {"edges": [0.0, 0.5, 1e308]},
    ],
)  # fmt: skip
def test_bars_that_can_not_be_drawn_are_refused(broken, tmp_path):
    with pytest.raises(InputError, match="the spread of correct can't be drawn"):
        read({**BASES["design_verdict"], "spreads": [{**SPREAD, **broken}]}, tmp_path)


@pytest.mark.parametrize(
    "broken",
    [
        {"probabilities": []}, {"candidate": []}, {"baseline": []}, {"candidate": [1.0]}, {"baseline": [1.0, 2.0]},
        {"probabilities": [0.0, 0.5, 1.1]}, {"probabilities": [-0.1, 0.5, 1.0]},
        {"probabilities": [], "candidate": [], "baseline": []},
    ],
)  # fmt: skip
def test_curves_that_can_not_be_drawn_are_refused(broken, tmp_path):
    with pytest.raises(InputError, match="the curve of latency_ms can't be drawn"):
        read({**BASES["design_verdict"], "curves": [{**CURVE, **broken}]}, tmp_path)


def test_a_curve_without_a_baseline_is_one(tmp_path):
    render_all(read({**BASES["design_verdict"], "curves": [{**CURVE, "baseline": None}]}, tmp_path))
