"""The worst finding decides; verdict.json is strict JSON with a fixed shape."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports.verdicts import make_verdict

from gateline.findings import Finding, Status
from gateline.verdict import SCHEMA, Verdict, count, decide, order_findings
from runs import LIMIT, TOLERANCE, check_gate, judge, write_gate

(EXAMPLE,) = judge("a*40 1>1", TOLERANCE)


def finding(status: Status, *, blocks: bool = False, **fields: Any) -> Finding:
    return EXAMPLE.model_copy(update={"status": status, "blocks": blocks, **fields})


PASS, WAIVED, SKIPPED = finding(Status.PASS), finding(Status.WAIVED), finding(Status.SKIPPED)
OPEN, OPEN_BLOCKS = finding(Status.INCONCLUSIVE), finding(Status.INCONCLUSIVE, blocks=True)
FAIL = finding(Status.FAIL, blocks=True)
ALL = st.lists(st.sampled_from([PASS, WAIVED, SKIPPED, OPEN, OPEN_BLOCKS, FAIL]), max_size=6)


@pytest.mark.parametrize(
    ("findings", "fail_on", "word", "code"),
    [
        ([PASS], "fail", "pass", 0),
        ([PASS, WAIVED, SKIPPED, OPEN], "fail", "pass", 0),
        ([PASS, FAIL], "fail", "fail", 1),
        ([PASS, OPEN_BLOCKS], "fail", "fail", 1),
        ([PASS, OPEN], "inconclusive", "fail", 1),
        ([PASS, WAIVED], "inconclusive", "pass", 0),
        ([PASS, FAIL], "never", "fail", 0),
        ([PASS, OPEN_BLOCKS], "never", "fail", 0),
        ([], "fail", "invalid", 2),
        ([SKIPPED, SKIPPED], "fail", "invalid", 2),
        ([], "never", "invalid", 2),
        ([SKIPPED], "never", "invalid", 2),
    ],
)
def test_the_worst_finding_decides_word_and_exit_code(
    findings: list[Finding], fail_on: Any, word: str, code: int
) -> None:
    assert decide(findings, fail_on) == (word, code)


@given(ALL)
def test_one_more_finding_that_was_judged_never_makes_a_verdict_better(findings: list[Finding]) -> None:
    order = ["pass", "fail"]
    for more in (PASS, OPEN, OPEN_BLOCKS, FAIL):
        before, after = decide(findings, "fail")[0], decide([*findings, more], "fail")[0]
        if before != "invalid":
            assert order.index(after) >= order.index(before)


@given(ALL)
def test_findings_are_counted_by_status(findings: list[Finding]) -> None:
    counts = count(findings)
    assert list(counts) == ["pass", "waived", "skipped", "inconclusive", "fail"]
    assert sum(counts.values()) == len(findings)


def test_findings_are_ordered_worst_first() -> None:
    hard = finding(Status.FAIL, blocks=True, hard=True, rule="hard")
    far = finding(Status.FAIL, blocks=True, gain=-0.9, threshold=-0.1, rule="far")
    near = finding(Status.FAIL, blocks=True, gain=-0.2, threshold=-0.1, rule="near")
    in_order = [hard, far, near, OPEN_BLOCKS, OPEN, WAIVED, SKIPPED, PASS]
    for shuffled in itertools.islice(itertools.permutations(in_order), 0, 40320, 997):
        assert order_findings(shuffled) == in_order


def test_how_far_a_limit_is_missed_counts_in_its_direction() -> None:
    lower = {"judged": "candidate", "blocks": True, "worse_by_at_most": None}
    above = finding(Status.FAIL, at_most=1.0, threshold=1.0, candidate=3.0, **lower)
    below = finding(Status.FAIL, at_least=1.0, threshold=1.0, candidate=0.5, **lower)
    assert order_findings([below, above]) == [above, below]


def test_equal_findings_keep_the_order_of_the_policy() -> None:
    first, second = finding(Status.PASS, rule="first"), finding(Status.PASS, rule="second")
    assert order_findings([second, first]) == [second, first]
    assert order_findings([first, second]) == [first, second]


def strict(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def test_the_file_is_strict_json_in_fixed_order_with_a_line_break_last(tmp_path: Path) -> None:
    verdict = check_gate(write_gate(tmp_path, "a*40 1>1 b*10 1>0", LIMIT, TOLERANCE))
    text = verdict.to_json()
    data = strict(text)
    assert text.endswith("}\n")
    assert " ".join(data) == (
        "schema gateline verdict exit_code because counts fail_on first_run policy judged_on baseline candidate "
        "changed pairing statistics findings worst worse_samples changed_samples spreads curves losses "
        "notices notices_said problems"
    )
    assert data["schema"] == SCHEMA
    assert list(data["findings"][0]) == [*Finding.model_fields]


def test_numbers_are_rounded_to_six_places_and_none_is_minus_0_or_nan() -> None:
    odd = finding(
        Status.PASS,
        gain=0.123456789,
        baseline=-0.0,
        candidate=math.nan,
        relative_gain=math.inf,
        threshold=-1e-9,
    )
    verdict = Verdict.model_construct(**dict.fromkeys(Verdict.model_fields) | {"findings": [odd]})
    told = strict(verdict.to_json())["findings"][0]
    assert (told["gain"], told["candidate"], told["relative_gain"]) == (0.123457, None, None)
    assert str(told["baseline"]) == str(told["threshold"]) == "0.0"


@pytest.mark.parametrize("candidate", ["a*40 1>1 b*10 1>0", "a*40 1>1 b*10 1>?", "a 1>1"])
def test_every_verdict_fits_the_published_schema(tmp_path: Path, candidate: str) -> None:
    from gateline.reports.machine import verdict_schema

    verdict = check_gate(write_gate(tmp_path, candidate, LIMIT, TOLERANCE, samples="{at_least: 10}"))
    jsonschema.validate(strict(verdict.to_json()), verdict_schema())


def test_a_verdict_can_be_read_back(tmp_path: Path) -> None:
    verdict = check_gate(write_gate(tmp_path, "a*40 1>1 b*10 1>0", LIMIT, TOLERANCE))
    again = Verdict.model_validate_json(verdict.to_json())
    assert again.to_json() == verdict.to_json()
    assert again.warns is verdict.warns is True


def test_what_reorders_a_terminal_stands_in_the_file_under_its_number() -> None:
    text = "a\u202eb\u2066c\u2028d\x9be\ufefff\u200bé"
    told = make_verdict().model_copy(update={"notices": [text]}).to_json()
    assert not set(text) & set("\u202e\u2066\u2028\x9b\ufeff") & set(told)
    assert "\\u202e" in told and "é" in told
    assert json.loads(told)["notices"] == [text]
