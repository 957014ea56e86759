"""A label in two spellings splits a slice, and each part may be too small to be judged: that is told everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.inspection import inspect_run
from gateline.pairing.spellings import find_spellings
from gateline.proposal import propose_policy
from gateline.reports import render
from gateline.texts import languages, load
from runs import Record, check_gate, make_pairs, make_run, records, write_gate

BY_RISK = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 0.1, decide_by: value, slices: true}"
OVERALL = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 0.1, decide_by: value}"
NOTICE = "the label risk has one value in several spellings, so its questions stand in several slices, each smaller: "


def labelled(*values: tuple[str, int]) -> tuple[list[Record], list[Record]]:
    """Return two runs with so many questions of each value of the label risk."""
    texts = [value for value, number in values for _ in range(number)]
    sides = records(" ".join(f"q{row:03} 1>{row % 2}" for row in range(len(texts))))
    for side in sides:
        for record, value in zip(side, texts, strict=True):
            record["slices"] = {"risk": value}
            record["metrics"]["score"] = 1
    sides[1][0]["metrics"]["score"] = 0.9
    return sides


def notices(
    sides: tuple[list[Record], list[Record]], rule: str = BY_RISK, slices: str = "{by: [risk]}"
) -> list[str]:
    before, after = sides
    return make_pairs((make_run(before, "b"), make_run(after, "c")), rule, slices=slices).notices


@pytest.mark.parametrize(
    "values",
    [("High", "high"), ("high  risk", "high risk"), ("high-risk", "High Risk"), ("high_risk", "high risk"),
     ("caf\u00e9", "cafe\u0301"), ("STRASSE", "straße")],
)  # fmt: skip
def test_what_a_person_takes_for_one_value_is_told(values: tuple[str, str]) -> None:
    told = f"{values[0]} (9) / {values[1]} (6)"
    assert notices(labelled((values[1], 6), ("low", 20), (values[0], 9))) == [
        f"{NOTICE}{told}; write them alike"
    ]


@pytest.mark.parametrize(
    "values", [("high", "higher"), ("1-0", "10"), ("-1", "1"), ("v1.0", "v10"), ("C", "C++"), ("1 0", "1-0")]
)
def test_other_values_are_not(values: tuple[str, str]) -> None:
    assert notices(labelled((values[0], 6), ("low", 20), (values[1], 9))) == []


@given(st.dictionaries(st.text(max_size=6), st.integers(1, 50), max_size=12))
def test_each_value_stands_in_one_group_at_most_and_its_count_is_kept(counts: dict[str, int]) -> None:
    found = find_spellings(counts)
    told = [value for values in found for value in values]
    assert len(told) == len(set(told))
    for values in found:
        assert len(values) > 1
        assert all(counts[value] == count for value, count in values.items())
        assert list(values.values()) == sorted(values.values(), reverse=True)
    spelt = {
        value
        for value in counts
        if any(value != other and value.lower() == other.lower() for other in counts)
    }
    assert spelt <= set(told)


def test_only_labels_that_a_rule_looks_at_count() -> None:
    split = labelled(("High", 9), ("high", 6))
    assert notices(split, OVERALL, "{by: []}") == []
    named = "{named: {risky: {risk: high}}}"
    assert notices(split, OVERALL[:-1] + ", slice: risky}", named) == [
        f"{NOTICE}High (9) / high (6); write them alike"
    ]
    # who lists all spellings has split nothing
    both = "{named: {risky: {risk: [high, High]}}}"
    assert notices(split, OVERALL[:-1] + ", slice: risky}", both) == []


def test_the_pass_is_one_with_warnings_and_every_report_says_why(tmp_path: Path) -> None:
    write_gate(tmp_path, labelled(("High", 9), ("high", 6)), BY_RISK, slices="{by: [risk], at_least: 1}")
    verdict = check_gate(tmp_path)
    assert (verdict.verdict, verdict.warns) == ("pass", True)
    assert f"{NOTICE}High (9) / high (6); write them alike" in " ".join(
        render("text", verdict, width=300).split()
    )
    for language in languages():
        said = load(language).say("notice.two-spellings", label="risk", values="High (9) / high (6)")
        for form in ("markdown", "html"):
            assert said.rpartition(")")[2] in render(form, verdict, language=language)
    write_gate(tmp_path, labelled(("high", 15)), BY_RISK, slices="{by: [risk], at_least: 1}")
    assert check_gate(tmp_path).warns is False


def test_inspect_and_init_tell_it_before_there_is_a_gate() -> None:
    before, _ = labelled(("High", 30), ("high", 25), ("low", 40))
    for row, record in enumerate(before):
        record["metrics"]["score"] = float(row % 5 > 0)
    told = "risk has one value in several spellings, each a slice of its own: High (30) / high (25)"
    run = make_run(before, "base.jsonl")
    assert told in inspect_run(run).warnings
    assert f"# CAUTION: {told}; write them alike before this policy is used.\n" in propose_policy(run)
    for record in before:
        record["slices"]["risk"] = record["slices"]["risk"].lower()
    run = make_run(before, "base.jsonl")
    assert not [warning for warning in inspect_run(run).warnings if "spelling" in warning]
    assert "spelling" not in propose_policy(run)
