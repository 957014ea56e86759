"""The sentence of a finding, for every kind and outcome."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from reports.verdicts import (
    cost_limit,
    every,
    improvement,
    latency,
    make_finding,
    noted,
    passing,
    skipped,
    span,
    unsettled,
)

from gateline.amounts import found, from_to, interval, needed
from gateline.findings import Finding, Status
from gateline.remark import said
from gateline.spelling import Spelling
from gateline.wording import describe

SENTENCES = {
    "a loss shown by the interval": (
        make_finding(),
        ("answer_correct in language=de fell 81.0 % → 66.6 %, 14.4 points worse (95 % interval: 5.4 to 24.5 worse), "
        "where up to 5.0 points worse is allowed; 13 worse, 1 better of 90 pairs."),
    ),
    "a loss by the value, without an interval": (
        make_finding(interval=None, decide_by="value", slice=None),
        ("answer_correct fell 81.0 % → 66.6 %, 14.4 points worse, where up to 5.0 points worse is allowed; "
        "13 worse, 1 better of 90 pairs."),
    ),
    "a pass": (
        passing(),
        ("faithfulness rose 91.2 % → 91.8 %, 0.6 points better (95 % interval: 0.8 worse to 2.1 better), "
        "where up to 2.0 points worse is allowed; 7 worse, 9 better of 212 pairs in 180 groups."),
    ),
    "no number at all": (
        unsettled(
            baseline=None, candidate=None, gain=None, relative_gain=None, judged="gain",
            interval=span(None, None), samples_needed=None, notes=["people labelled too little"],
        ),
        ("answer_correct can't be judged, where up to 2.0 points worse is allowed; 13 worse, 9 better of 212 pairs in "
        "180 groups; people labelled too little; let through with a warning."),
    ),
    "nothing changed": (
        passing(candidate=0.912, gain=0.0, relative_gain=0.0, interval=span(0.0, 0.0), better=0, worse=0, same=212),
        ("faithfulness stayed at 91.2 %, no change (95 % interval: no change), "
        "where up to 2.0 points worse is allowed; 0 worse, 0 better of 212 pairs in 180 groups."),
    ),
    "unsettled, let through": (
        unsettled(),
        ("answer_correct fell 79.9 % → 78.2 %, 1.7 points worse, but the 95 % interval (4.9 worse to 1.5 better) "
        "doesn't settle it, where up to 2.0 points worse is allowed; 13 worse, 9 better of 212 pairs in 180 groups; "
        "about 3,400 samples would settle it; let through with a warning."),
    ),
    "unsettled, blocking, without an interval": (
        unsettled(
            blocks=True,
            on_inconclusive="fail",
            interval=span(None, None),
            samples=1,
            clusters=1,
            better=0,
            worse=1,
            samples_needed=None,
            notes=["one independent group says nothing about others."],
        ),
        ("answer_correct fell 79.9 % → 78.2 %, 1.7 points worse, but no interval can be given, where up to 2.0 points "
        "worse is allowed; 1 worse, 0 better of 1 pair; one independent group says nothing about others; "
        "the rule asks for proof, so it blocks."),
    ),
    "an improvement": (
        improvement(),
        ("recall@5 rose 77.2 % → 81.5 %, 4.3 points better (95 % interval: 3.3 to 5.3 better), where at least "
        "3.0 points better is needed; 2 worse, 31 better of 212 pairs in 180 groups."),
    ),
    "an improvement of any size": (
        improvement(threshold=0.0, better_by_at_least=0.0),
        ("recall@5 rose 77.2 % → 81.5 %, 4.3 points better (95 % interval: 3.3 to 5.3 better), where any gain is "
        "needed; 2 worse, 31 better of 212 pairs in 180 groups."),
    ),
    "a relative bound, in both units; latency that rises is worse": (
        latency(),
        ("latency_p95 rose 1,910 ms → 2,170 ms, 13.6 % of the baseline (260 ms) worse (95 % interval: 11.2 to 19.0 % "
        "worse), where up to 10.0 % of the baseline (191 ms) worse is allowed; 172 worse, 40 better of 212 pairs in "
        "180 groups."),
    ),
    "two bounds together": (
        latency(worse_by_at_most=["10%", 150.0], judged="gain", threshold=-191.0, interval=span(-300.0, -220.0)),
        ("latency_p95 rose 1,910 ms → 2,170 ms, 260 ms worse (95 % interval: 220 to 300 worse), where up to 10 % of "
        "the baseline or 150 ms worse is allowed, whichever is more; 172 worse, 40 better of 212 pairs in 180 groups."),
    ),
    "a limit, waived": (
        cost_limit(),
        ("cost is 0.0131 USD (baseline 0.0113 USD), 95 % interval 0.0124 to 0.0138 USD, where at most 0.0120 USD is "
        "allowed; 212 samples in 180 groups; decided by the value, not the interval; "
                "waived up to 0.014 USD until 2026-12-31 by search-team: hosted reranker "
        "until the self-hosted one ships."),
    ),
    "a hard total": (
        cost_limit(
            metric="severe_error",
            summary="total",
            unit=None,
            hard=True,
            status=Status.FAIL,
            blocks=True,
            waiver=None,
            baseline=0.0,
            candidate=2.0,
            threshold=0.0,
            at_most=0.0,
            interval=None,
            slice="high_risk",
        ),
        ("severe_error in high_risk adds up to 2 (baseline 0), where at most 0 is allowed; 212 samples in 180 groups; "
        "a hard rule."),
    ),
    "a floor without a baseline": (
        cost_limit(
            metric="answer_correct",
            show_as="percent",
            unit=None,
            direction="higher",
            status=Status.FAIL,
            waiver=None,
            baseline=None,
            gain=None,
            relative_gain=None,
            candidate=0.731,
            threshold=0.75,
            at_most=None,
            at_least="75%",
            interval=span(0.702, 0.76, of="candidate"),
            better=None,
            worse=None,
            clusters=212,
        ),
        ("answer_correct is 73.1 %, 95 % interval 70.2 to 76.0 %, where at least 75.0 % is needed; 212 samples; "
                "decided by the value, not the interval."),
    ),
    "single samples that miss": (
        every(status=Status.FAIL),
        "3 of 40 samples in regression_set miss answer_correct at least 100 %: q-0173, q-0188, q-0190; a hard rule.",
    ),
    "many single samples that miss": (
        every(status=Status.FAIL, hard=False, failing=[f"q{i}" for i in range(20)], failing_count=31, samples=1200),
        "31 of 1,200 samples in regression_set miss answer_correct at least 100 %: q0, q1, q2, q3, q4 and 26 more.",
    ),
    "all single samples hold": (
        every(status=Status.PASS, failing=[], failing_count=0),
        "All 40 samples in regression_set hold answer_correct at least 100 %.",
    ),
    "a hard rule over nothing": (
        cost_limit(samples=0, clusters=0, candidate=None, baseline=None, status=Status.FAIL, hard=True, interval=None,
                   waiver=None),
        "cost has no usable sample, where at most 0.012 USD is allowed; a hard rule.",
    ),
    "too small to judge": (
        skipped(),
        ("answer_correct in language=fr fell 75.0 % → 66.7 %, 8.3 points worse; too few to judge: 12 samples, "
         "slices.at_least is 30; 2 worse, 1 better of 12 pairs; so few could show a change of "
         "43.0 points or more only."),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("finding", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_describes_a_finding(finding: Finding, sentence: str) -> None:
    assert describe(finding) == sentence


MAKERS: dict[str, Callable[..., Finding]] = {
    "tolerance": make_finding,
    "improvement": improvement,
    "limit": cost_limit,
    "relative": latency,
    "every": every,
}
MISSING: dict[str, dict[str, Any]] = {
    "all there": {},
    "no interval": {"interval": None},
    "no ends": {"interval": span(None, None)},
    "no baseline": {"baseline": None, "gain": None, "relative_gain": None, "better": None, "worse": None},
    "no sample": {"samples": 0, "clusters": 0, "baseline": None, "candidate": None, "gain": None,
                  "relative_gain": None, "better": None, "worse": None, "interval": None, "failing": [],
                  "failing_count": None},
    "no threshold": {"threshold": None, "interval": None},
    "no share": {"relative_gain": None, "interval": None},
}  # fmt: skip


@pytest.mark.parametrize(
    ("maker", "status", "missing"),
    list(itertools.product(MAKERS, Status, MISSING)),
    ids=str,
)
def test_every_kind_and_outcome_is_one_sentence_without_holes(
    maker: str, status: Status, missing: str
) -> None:
    finding = MAKERS[maker](status=status, **MISSING[missing])
    texts = [describe(finding), found(finding), interval(finding), needed(finding), from_to(finding)]
    assert texts[0].endswith(".")
    assert finding.metric in texts[0]
    assert str(finding.slice or finding.metric) in texts[0]
    for text in texts:
        assert "None" not in text
        assert "nan" not in text
        assert "  " not in text
        assert "\n" not in text


def test_a_breached_bound_never_looks_met() -> None:
    """Case 094: −2.04 beside −2.0 must not be shown as −2.0."""
    finding = make_finding(gain=-0.0204, threshold=-0.02, interval=span(-0.03, -0.02004))
    assert (found(finding), needed(finding)) == ("−2.040", "≥ −2.000")
    assert interval(finding) == "−3.000 … −2.004"
    assert "2.040 points worse (95 % interval: 2.004 to 3.000 worse), where up to 2.000 points" in describe(
        finding
    )


def test_a_relative_bound_says_what_it_is_of() -> None:
    """Case 058: 0.80 → 0.765 is 3.5 points and 4.375 % of the baseline."""
    finding = make_finding(
        baseline=0.8, candidate=0.765, gain=-0.035, relative_gain=-0.04375, judged="relative_gain",
        threshold=-0.04, worse_by_at_most="4%", interval=None,
    )  # fmt: skip
    assert "4.4 % of the baseline (3.5 points) worse" in describe(finding)
    assert "up to 4.0 % of the baseline (3.2 points) worse is allowed" in describe(finding)


def test_every_text_from_a_file_goes_through_the_spelling() -> None:
    waiver = {"up_to": None, "until": "someday", "by": "somebody", "reason": "some reason"}
    spelling = Spelling(name=lambda text: f"<{text}>", text=lambda text: f"[{text}]")
    finding = cost_limit(slice="here", notes=["a note"], waiver=waiver)
    told = describe(finding, spelling)
    for name in ("<cost>", "<here>", "[USD]", "[someday]", "[somebody]", "[some reason]"):
        assert name in told
    assert "<q-0173>" in describe(every(status=Status.FAIL), spelling)
    assert "[a note]" in describe(unsettled(notes=["a note"]), spelling)
    assert "[a note]" in describe(skipped(notes=["a note"]), spelling)


def test_a_reason_that_only_looks_like_one_counts_for_nothing() -> None:
    """A text alone, such as one that a file made, says nothing of what is lacking."""
    told = describe(unsettled(notes=["9 usable samples, slices.at_least is 20"]))
    assert "doesn't settle it" in told


def test_too_few_samples_are_the_reason_where_they_are() -> None:
    few = noted(said("note.too-few-usable", count=9, setting="slices.at_least", least="20"))
    told = describe(unsettled(**few, samples_needed=None))
    assert (
        "1.7 points worse, but there are too few samples (95 % interval: 4.9 worse to 1.5 better), where"
        in told
    )
    assert "settle" not in told and "9 usable samples, slices.at_least is 20" in told
    assert "but there are too few samples, where" in describe(
        unsettled(**few, interval=None, decide_by="value")
    )
    limit = cost_limit(status=Status.INCONCLUSIVE, **few)
    assert "but there are too few samples" in describe(limit)
    left_out = noted(said("note.left-out", left_out="3", asked="40"))
    assert "but too much is left out (95 % interval:" in describe(unsettled(**left_out))


def test_one_sample_would_settle_it() -> None:
    assert "about 1 sample would settle it" in describe(unsettled(samples_needed=1))


def test_a_hard_every_that_fails_for_what_is_unknown_says_so() -> None:
    finding = every(
        status=Status.FAIL, blocks=True, failing=[], failing_count=0, notes=["2 samples have no usable value"]
    )
    assert "can't be shown to hold" in describe(finding)
    assert "2 samples have no usable value" in describe(finding)
    assert "All " not in describe(finding)
