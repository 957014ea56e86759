"""A judge that gives every answer one score tells nothing: the pass that rests on it is one with warnings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.reports import render
from gateline.reports.headline import headline
from gateline.texts import languages, load
from runs import Record, check_gate, make_pairs, make_run, records, set_metric, write_gate

BY_VALUE = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 0.1, decide_by: value}"


def sides(before: list[float | None], after: list[float | None]) -> tuple[list[Record], list[Record]]:
    """Return records with these scores."""
    found = records(" ".join(f"q{row:03} 1>1" for row in range(len(before))))
    for side, values in zip(found, (before, after), strict=True):
        set_metric(side, "score", values)
    return found


def notices(before: list[float | None], after: list[float | None], **parts: str) -> list[str]:
    one, other = sides(before, after)
    return make_pairs((make_run(one, "baseline.jsonl"), make_run(other)), **parts).notices


def told(samples: int, different: int, value: str = "1") -> list[str]:
    notice = (
        f"score is {value} in all {samples} questions of the candidate, where the baseline has {different} different "
        "values: it tells no answers apart any more; look at what gives it"
    )
    return [notice]


def spread(pairs: int, different: int) -> list[float | None]:
    return [0.5 + (row % different) / 100 for row in range(pairs)]


@pytest.mark.parametrize(
    ("pairs", "different", "is_told"),
    [(30, 10, True), (29, 10, False), (30, 9, False), (200, 30, True), (200, 2, False)],
)
@pytest.mark.parametrize("value", [1.0, 0.0, 0.73])
def test_one_value_where_the_baseline_told_many_apart(
    pairs: int, different: int, is_told: bool, value: float
) -> None:
    assert notices(spread(pairs, different), [value] * pairs) == (
        told(pairs, different, f"{value:g}") if is_told else []
    )


@given(st.integers(0, 59), st.integers(0, 999))
def test_a_single_other_value_is_enough_to_say_nothing(row: int, value: int) -> None:
    after: list[float | None] = [1.0] * 60
    after[row] = value / 1000
    assert notices(spread(60, 20), after) == []


def test_only_what_was_measured_in_both_runs_counts() -> None:
    after: list[float | None] = [1.0] * 60
    after[7] = None
    assert notices(spread(60, 20), after) == told(59, 20)
    # an answer that failed counts as the worst, which nobody measured
    one, other = sides(spread(60, 20), [1.0] * 60)
    other[7] = {**other[7], "error": "no_answer", "metrics": {"score": None}}
    assert make_pairs((make_run(one), make_run(other))).notices == told(59, 20)


def test_nothing_is_said_of_a_constant_baseline_or_of_a_run_alone() -> None:
    assert notices([1.0] * 60, spread(60, 20)) == []
    assert notices([1.0] * 60, [1.0] * 59 + [0.5]) == []
    one, _ = sides([1.0] * 60, [1.0] * 60)
    assert make_pairs((None, make_run(one))).notices == []


def test_of_a_ratio_the_single_samples_count() -> None:
    one, other = sides([1.0] * 40, [1.0] * 40)
    for row, (before, after) in enumerate(zip(one, other, strict=True)):
        claims = 11 + row % 7
        before["metrics"] |= {"right": row % 11, "claims": claims}
        after["metrics"] |= {"right": claims, "claims": claims}
    metrics = "{score: {better: higher, range: [0, 1]}, precision: {better: higher, ratio: [right, claims]}}"
    (notice,) = make_pairs((make_run(one, "b"), make_run(other, "c")), metrics=metrics).notices
    different = len({(row % 11) / (11 + row % 7) for row in range(40)})
    assert notice.startswith(
        f"precision is 1 in all 40 questions of the candidate, where the baseline has {different} different values"
    )


def test_the_pass_is_one_with_warnings_and_every_report_says_why(tmp_path: Path) -> None:
    write_gate(tmp_path, sides(spread(60, 20), [1.0] * 60), BY_VALUE)
    verdict = check_gate(tmp_path)
    assert (verdict.verdict, verdict.exit_code, verdict.warns) == ("pass", 0, True)
    assert verdict.notices == told(60, 20)
    assert told(60, 20)[0] in " ".join(render("text", verdict, width=300).split())
    assert headline(verdict).startswith(f"{told(60, 20)[0]}. ")  # before numbers that may rest on it
    for language in languages():
        said = load(language).say("notice.constant", metric="score", value="1", samples=60, different=20)
        for form in ("markdown", "html"):
            assert said.partition("score")[2][:20] in render(form, verdict, language=language)
    write_gate(tmp_path, sides(spread(60, 20), [1.0] * 59 + [0.9]), BY_VALUE)
    assert check_gate(tmp_path).warns is False
