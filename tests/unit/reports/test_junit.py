"""JUnit: a test case a check, and nothing that was not shown looks passed."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from gateline.findings import Status
from gateline.reports import junit
from gateline.reports.headline import blockers
from gateline.verdict import Verdict

from .hostile import replace_texts, texts
from .verdicts import (
    design_verdict,
    huge_verdict,
    invalid_verdict,
    loosened_verdict,
    make_verdict,
    passing,
    unsettled,
)


def parse(verdict: Verdict) -> ElementTree.Element:
    return ElementTree.fromstring(junit.render(verdict))


VERDICTS = [
    design_verdict(),
    loosened_verdict(),
    make_verdict(unsettled(), passing(), fail_on="inconclusive"),
    huge_verdict(50),
]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_there_is_a_case_for_each_check_with_its_outcome(verdict: Verdict) -> None:
    suite = parse(verdict).find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert len(cases) == len(verdict.findings)
    blocking = blockers(verdict)
    for case, finding in zip(cases, verdict.findings, strict=True):
        outcomes = [child.tag for child in case]
        if finding in blocking:
            assert outcomes == ["failure"]
        else:
            assert outcomes == ([] if finding.status is Status.PASS else ["skipped"])
        assert case.get("file") == "gates/support-rag.yml"
        assert case.get("line") == str(finding.line)
        assert case.get("classname") == "support-rag"
        assert case.get("time") == "0"
        assert (case.get("name") or "").startswith(f"{finding.rule} · {finding.metric}")


@pytest.mark.parametrize("verdict", [*VERDICTS, invalid_verdict()])
def test_the_counts_are_those_of_the_cases(verdict: Verdict) -> None:
    root = parse(verdict)
    for element in (root, root[0]):
        for attribute, path in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error"),
                                ("skipped", "testcase/skipped")):  # fmt: skip
            assert element.get(attribute) == str(len(root[0].findall(path)))


def test_no_verdict_is_one_error_that_names_every_problem() -> None:
    cases = parse(invalid_verdict()).findall("testsuite/testcase")
    assert len(cases) == 1
    error = cases[0].find("error")
    assert error is not None
    for part in ("metrics.latency_p95.better", "9500 %", "did you mean 'at_most'?"):
        assert part in (error.text or "")


@settings(max_examples=60, deadline=None)
@given(texts)
def test_any_text_gives_valid_xml_with_names_of_its_own(text: str) -> None:
    for make in (design_verdict, invalid_verdict):
        suite = parse(replace_texts(make(), text)).find("testsuite")
        assert suite is not None
        names = [case.get("name") for case in suite.findall("testcase")]
        assert len(names) == len(set(names)) == len(parse(make())[0].findall("testcase"))


def test_names_that_are_alike_are_numbered() -> None:
    names = [
        case.get("name")
        for case in parse(make_verdict(passing(), passing(), passing(slice="x"))).iter("testcase")
    ]
    assert names == ["faithful-holds · faithfulness", "faithful-holds · faithfulness (2)",
                     "faithful-holds · faithfulness · x"]  # fmt: skip


def test_no_text_starts_a_command_of_the_runner() -> None:
    text = "##[error]stop"
    verdict = make_verdict(passing(slice=text, notes=[text]), passing(metric="#", slice="#[group]x"))
    assert "##[" not in junit.render(verdict)
    assert any(text in str(case.get("name")) for case in parse(verdict).iter("testcase"))
