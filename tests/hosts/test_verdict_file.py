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


def whole(verdict):
    """Return a verdict made for drawing as JSON, with the numbers that the drawing does not need made to agree."""
    data = {**json.loads(verdict.to_json()), "spreads": [SPREAD], "curves": [CURVE]}
    for finding in data["findings"]:
        if finding["hard"]:
            finding["on_inconclusive"] = "fail"
        if None not in (finding["baseline"], finding["gain"]):
            sign = 1 if finding["direction"] == "higher" else -1
            if finding["status"] == "pass":
                finding["candidate"] = finding["baseline"] + sign * finding["gain"]
            finding["gain"] = sign * (finding["candidate"] - finding["baseline"])
        finding["relative_gain"] = None
    return data


BASES = {
    make.__name__: whole(make())
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


# --- findings that go against themselves

CHECK = {
    "rule": "r", "kind": "tolerance", "status": "pass", "blocks": False, "hard": False, "metric": "correct",
    "slice": None, "direction": "higher", "summary": "mean", "show_as": "percent", "unit": None, "samples": 100,
    "clusters": 100,
    "baseline": 0.9, "candidate": 0.91, "gain": 0.01, "relative_gain": 0.011111, "judged": "gain", "threshold": -0.02,
    "interval": {"of": "gain", "low": -0.01, "high": 0.03, "level": 0.95, "method": "bayesian", "resamples": None},
    "better": 5, "worse": 4, "same": 91, "decide_by": "interval", "on_inconclusive": "warn", "worse_by_at_most": 0.02,
    "family": 1, "smallest_visible_change": None, "samples_needed": None, "line": 1,
}  # fmt: skip
WAIVER = {"up_to": 0.1, "until": "2026-12-31", "by": "a", "reason": "b"}
LOW = {"of": "gain", "low": -0.366, "high": -0.238, "level": 0.95, "method": "bayesian", "resamples": None}
WORSE = {"candidate": 0.6, "gain": -0.3, "relative_gain": -0.333333, "interval": LOW}
LIMIT = {"kind": "limit", "worse_by_at_most": None, "judged": "candidate", "decide_by": "value"}
EVERY = {**LIMIT, "kind": "every", "at_least": 1.0, "threshold": 1.0, "interval": None, "failing_count": 0}
LABELS = {
    "baseline": 0.9, "candidate": 0.9, "gain": 0.0, "labelled": 5, "labelled_clusters": 5, "trust": 0.5,
    "corrects": False,
}  # fmt: skip


def of_one(changed, **more):
    """Return a verdict with one check, whose word and counts are those of it."""
    data = copy.deepcopy(BASES["design_verdict"])
    finding = {**copy.deepcopy(CHECK), **changed}
    status, blocks = finding["status"], finding["blocks"]
    data.update(
        findings=[finding],
        counts={word: int(word == status) for word in ("pass", "waived", "skipped", "inconclusive", "fail")},
        verdict="fail" if blocks else "pass",
        exit_code=int(blocks),
        judged_on="2026-06-01",
        **more,
    )
    return data


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"interval": {**LOW, "low": -0.020001, "high": 0.0}},  # rounding
        {**WORSE, "status": "fail", "blocks": True},
        {**WORSE, "status": "inconclusive"},  # too few samples
        {**WORSE, "status": "waived", "waiver": {**WAIVER, "up_to": 0.3}},
        {**WORSE, "status": "waived", "waiver": {**WAIVER, "up_to": "34%", "until": "2026-06-01"}},
        {**LIMIT, "at_least": 0.9, "threshold": 0.9},
        {**LIMIT, "at_most": "95%", "threshold": 0.95},
        {"direction": "lower", "candidate": 0.89},
        {"worse_by_at_most": ["5%", 0.02]},
        {"worse_by_at_most": "5%", "judged": "relative_gain", "threshold": -0.05,
         "interval": {**CHECK["interval"], "of": "relative_gain"}},
        {"kind": "improvement", "worse_by_at_most": None, "better_by_at_least": 0, "threshold": 0,
         "decide_by": "value"},
        EVERY,
        {**EVERY, "hard": True, "on_inconclusive": "fail"},
    ],
)  # fmt: skip
def test_a_check_that_agrees_with_itself_is_believed(changed, tmp_path):
    render_all(read(of_one(changed), tmp_path))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (WORSE, "an interval that misses its bound"),
        ({**WORSE, "decide_by": "value"}, "a value that misses its bound"),
        ({**WORSE, "kind": "of another version"}, "misses its bound"),
        ({**WORSE, "threshold": -0.5}, "not held against its own bound"),
        ({**WORSE, "threshold": None}, "not held against its own bound"),
        ({**WORSE, "threshold": -0.5, "worse_by_at_most": None}, "not held against its own bound"),
        ({**WORSE, "threshold": -0.5, "worse_by_at_most": "half"}, "not held against its own bound"),
        ({**WORSE, "interval": None}, "an interval that it does not have"),
        ({**WORSE, "interval": {**CHECK["interval"], "of": "candidate"}}, "an interval that it does not have"),
        ({**WORSE, "interval": {**LOW, "low": None}}, "misses its bound"),
        ({**WORSE, "interval": {**LOW, "low": 0.5}}, "ends before it begins"),
        ({**WORSE, "decide_by": "value", "gain": 0.3}, "not the difference"),
        ({**WORSE, "decide_by": "value", "relative_gain": 0.3}, "goes against its gain"),
        ({"samples": 0}, "no samples"),
        ({"calibration": LABELS}, "labels that do not count"),
        ({"kind": "improvement", "worse_by_at_most": None, "better_by_at_least": 0.05, "threshold": 0.05}, "misses"),
        ({**LIMIT, "at_least": 0.95, "threshold": 0.95}, "misses its bound"),
        ({**LIMIT, "at_most": 0.9, "threshold": 0.9}, "misses its bound"),
        ({**LIMIT, "at_most": 0.9, "threshold": 0.95}, "not held against its own bound"),
        ({**EVERY, "failing_count": 3}, "samples that miss"),
        ({**EVERY, "failing": ["q1"]}, "samples that miss"),
        ({**WORSE, "status": "waived"}, "without a waiver"),
        ({**WORSE, "status": "waived", "waiver": {**WAIVER, "up_to": None}}, "without a waiver"),
        ({**WORSE, "status": "waived", "waiver": WAIVER}, "beyond the waiver's ceiling"),
        ({**WORSE, "status": "waived", "waiver": {**WAIVER, "up_to": "30%"}}, "beyond the waiver's ceiling"),
        ({**WORSE, "status": "waived", "waiver": {**WAIVER, "up_to": "much"}}, "up to no bound"),
        ({**WORSE, "status": "waived", "waiver": {**WAIVER, "up_to": 0.3, "until": "2026-05-31"}}, "has ended"),
        ({**EVERY, "hard": True, "on_inconclusive": "fail", "status": "waived", "waiver": WAIVER}, "is hard"),
        ({"hard": True}, "not decided as a hard rule"),
        ({**EVERY, "hard": True}, "not decided as a hard rule"),
        ({**WORSE, "status": "inconclusive", "on_inconclusive": "fail"}, "does not block"),
        ({**WORSE, "status": "fail"}, "does not block"),
        ({"blocks": True}, "blocks"),
        ({"status": "skipped"}, "without a reason"),
        ({**EVERY, "status": "skipped", "slice": "a=b", "hard": True, "on_inconclusive": "fail"}, "without a reason"),
    ],
)  # fmt: skip
def test_a_check_that_goes_against_its_own_numbers_is_refused(changed, said, tmp_path):
    """A pass, a waiver or a skip is believed only as far as the finding's own fields allow it."""
    data = of_one(changed)
    if data["findings"][0]["status"] == "skipped":
        data["findings"].append(CHECK)
        data["counts"]["pass"] = 1
    with pytest.raises(InputError, match=said):
        read(data, tmp_path)


def test_a_candidate_that_is_the_baseline_may_pass_with_a_wide_interval_and_no_other(tmp_path):
    wide = {"candidate": 0.9, "gain": 0.0, "relative_gain": 0.0, "interval": {**LOW, "high": 0.3}}
    pairing = {**BASES["design_verdict"]["pairing"], "identical": True}
    render_all(read(of_one(wide, pairing=pairing), tmp_path))
    with pytest.raises(InputError, match="misses its bound"):
        read(of_one(wide), tmp_path)
    with pytest.raises(InputError, match="misses its bound"):
        read(of_one(WORSE, pairing=pairing), tmp_path)


def test_a_curve_without_a_baseline_is_one(tmp_path):
    render_all(read({**BASES["design_verdict"], "curves": [{**CURVE, "baseline": None}]}, tmp_path))
