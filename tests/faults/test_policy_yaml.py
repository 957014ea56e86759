"""Policies in YAML: a number, a name and a zero mean what a person wrote, and no slip of the pen goes unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from drawn import QUICK, make_both, tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import PolicyError
from gateline.findings import Status
from gateline.policy import read_policy
from runs import judge_one, policy_text

GATES = Path(__file__).resolve().parents[2] / "gates"
SPELLINGS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["1", "2", "0.5", "05", "5.", ".25", "10"]),
    st.sampled_from(["e", "E"]),
    st.sampled_from(["-", "+", ""]),
    st.integers(0, 3),
)


@tries(60)
@given(SPELLINGS)
def test_a_number_in_exponent_form_is_that_number_or_refused_by_its_line(written: str) -> None:
    """Other readers of YAML 1.1 take 1e-3 for a text; whatever stands there, it is never ignored."""
    rule = f"{{kind: limit, metric: score, at_most: {written}}}"
    text = policy_text(rule, metrics="{score: {better: higher}}")
    try:
        policy = read_policy(text, "p.yml").policy
    except PolicyError as error:
        assert any(str(problem).startswith("p.yml:7 ") for problem in error.problems)
        assert written.startswith("05")
        return
    (found,) = policy.rules
    value = found.model_dump()["at_most"]
    value = value.get("value", value) if isinstance(value, dict) else value
    assert str(float(written)) in str(found.model_dump(mode="json")) or value == float(written)


WORDS = [
    "NO",
    "No",
    "no",
    "YES",
    "yes",
    "on",
    "On",
    "OFF",
    "off",
    "y",
    "n",
    "Y",
    "N",
    "007",
    "1.10",
    "1:30",
    "0x1F",
]
WORDS += ["1_000", "2026-01-01", ".5", "1e3", "=", "010", "12"]


@pytest.mark.parametrize("label", WORDS)
@pytest.mark.parametrize("place", ["named", "slice of a rule"])
def test_a_label_that_yaml_would_turn_into_something_else_selects_its_samples_or_is_refused(
    label: str, place: str
) -> None:
    """Never a slice `False` without samples that passes."""
    labels = [{"country": label}] * 6 + [{"country": "DE"}] * 6
    runs = make_both([1.0] * 12, [0.5] * 6 + [1.0] * 6, slices=labels)
    if place == "named":
        slices, of_rule = f"{{named: {{here: {{country: {label}}}}}, at_least: 1}}", "here"
    else:
        slices, of_rule = "{by: [country], at_least: 1}", f"country={label}"
    rule = f"{{kind: tolerance, metric: score, slice: {of_rule}, worse_by_at_most: 0.1, decide_by: value}}"
    try:
        finding = judge_one(runs, rule, slices=slices, **QUICK)
    except PolicyError as error:
        assert all(problem.where.startswith("policy.yml:") for problem in error.problems)
        assert label in str(error) or "quote" in str(error)
        return
    assert (finding.samples, finding.status) == (6, Status.FAIL)


def _keys(text: str) -> list[tuple[int, int, str]]:
    """Return line, end and name of each key of the language in a policy: not those that people choose."""
    keys, chosen = [], ("metrics", "named", "files")
    pending = False
    for token in yaml.scan(text):
        if isinstance(token, yaml.KeyToken):
            pending = True
        elif pending and isinstance(token, yaml.ScalarToken):
            keys.append((token.start_mark.line, token.end_mark.column, token.value))
            pending = False
    document = yaml.safe_load(text)
    names = {name for part in chosen for name in (document.get(part) or {})}
    names |= set((document.get("slices") or {}).get("named") or {})
    names |= {label for one in ((document.get("slices") or {}).get("named") or {}).values() for label in one}
    return [one for one in keys if one[2] not in names]


@pytest.mark.parametrize("policy", ["rag.yml", "refusals.yml", "short.yml"])
@pytest.mark.parametrize("slip", ["a letter more", "a letter less", "two letters swapped", "upper case"])
def test_a_misspelt_key_is_refused_by_its_line_wherever_it_stands(policy: str, slip: str) -> None:
    """Every key of the shipped policies by turns; for a slip of one letter the right name is offered."""
    text = (GATES / policy).read_text(encoding="utf-8")
    keys = _keys(text)
    assert len(keys) >= 8
    for line, end, name in keys:
        wrong = {
            "a letter more": f"{name}s",
            "a letter less": name[:-1],
            "two letters swapped": f"{name[:-2]}{name[-1]}{name[-2]}",
            "upper case": name.upper(),
        }[slip]
        if wrong == name or not wrong:
            continue
        lines = text.split("\n")
        lines[line] = lines[line][: end - len(name)] + wrong + lines[line][end:]
        with pytest.raises(PolicyError) as raised:
            read_policy("\n".join(lines), policy)
        told = [str(problem) for problem in raised.value.problems]
        assert any(one.startswith(f"{policy}:{line + 1} ") for one in told), (wrong, told)
        if wrong != "slice":  # which is a key itself, and refused for its value
            assert any(wrong in one and name.rstrip("s") in one for one in told), (wrong, told)


@pytest.mark.parametrize(
    ("bound", "kept", "broken"),
    [
        ("kind: limit, at_most: 0", (0.0, 0.0), (0.0, 0.001)),
        ("kind: limit, at_least: 0", (0.0, 0.0), (0.0, -0.001)),
        ("kind: every, at_most: 0", (0.0, 0.0), (0.0, 0.001)),
        ("kind: every, at_least: 0", (0.0, 0.0), (0.0, -0.001)),
        ("kind: every, worse_by_at_most: 0", (0.5, 0.5), (0.5, 0.499)),
        ("kind: tolerance, decide_by: value, worse_by_at_most: 0", (0.5, 0.5), (0.5, 0.499)),
        ("kind: tolerance, decide_by: value, worse_by_at_most: 0%", (0.5, 0.5), (0.5, 0.499)),
        ("kind: improvement, decide_by: value, better_by_at_least: 0", (0.5, 0.501), (0.5, 0.499)),
        ("kind: improvement, decide_by: value, better_by_at_least: 0%", (0.5, 0.501), (0.5, 0.499)),
    ],
)
@pytest.mark.parametrize("zero", ["0", "0.0", "-0.0", "0e0"])
@pytest.mark.parametrize("hard", ["", ", hard: true"])
def test_a_bound_of_0_is_a_bound_however_it_is_written(
    bound: str, kept: tuple[float, float], broken: tuple[float, float], zero: str, hard: str
) -> None:
    if bound.endswith("%") and zero != "0":
        pytest.skip("a percentage is written plainly")
    name, _, _ = bound.rpartition("0")
    written = bound if bound.endswith("%") else f"{name}{zero}"
    if hard:
        written = written.replace("decide_by: value, ", "")
    rule = f"{{metric: score, {written}{hard}}}"
    for (before, after), status in ((kept, Status.PASS), (broken, Status.FAIL)):
        runs = make_both([before] * 30, [after] * 30)
        finding = judge_one(runs, rule, metrics="{score: {better: higher}}", **QUICK)
        assert (finding.status, finding.threshold) == (
            status,
            0 if finding.kind != "every" else finding.threshold,
        )
