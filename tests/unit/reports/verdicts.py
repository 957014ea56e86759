"""Verdicts made by hand for the tests of sentences and reports: the example of the design, and others."""

from __future__ import annotations

from typing import Any

from gateline.findings import Finding, FoundInterval, Status, UsedWaiver
from gateline.remark import Said, name_some, remark_of, said
from gateline.verdict import (
    BaseVerdict,
    ChangedField,
    LeftOutIds,
    LeftOutValues,
    Pairing,
    PolicyChange,
    PolicyFacts,
    RunFacts,
    StatedProblem,
    StatisticsFacts,
    Verdict,
    WorstSample,
    count,
    decide,
    order_findings,
)


def span(low: float | None, high: float | None, of: str = "gain", level: float = 0.95) -> FoundInterval:
    return FoundInterval(
        of=of,  # type: ignore[arg-type]
        low=low,
        high=high,
        level=level,
        method="bayesian",
        resamples=10_000,
    )


def noted(*notes: Said) -> dict[str, Any]:
    """Notes as a finding holds them."""
    return {"notes": [str(note) for note in notes], "notes_said": [note.remark for note in notes]}


def make_finding(**changed: Any) -> Finding:
    """The failing slice of the design's drawing: 81.0 % → 66.6 %, −14.4 points, allowed −5.0."""
    fields: dict[str, Any] = {
        "rule": "correct-by-slice",
        "kind": "tolerance",
        "status": Status.FAIL,
        "blocks": True,
        "hard": False,
        "metric": "answer_correct",
        "slice": "language=de",
        "direction": "higher",
        "summary": "mean",
        "show_as": "percent",
        "unit": None,
        "samples": 90,
        "clusters": 90,
        "baseline": 0.81,
        "candidate": 0.666,
        "gain": -0.144,
        "relative_gain": -0.144 / 0.81,
        "judged": "gain",
        "threshold": -0.05,
        "interval": span(-0.245, -0.054),
        "better": 1,
        "worse": 13,
        "same": 76,
        "decide_by": "interval",
        "on_inconclusive": "warn",
        "worse_by_at_most": 0.05,
        "family": 3,
        "smallest_visible_change": 0.08,
        "samples_needed": None,
        "line": 46,
    }
    fields |= changed
    if "worse_by_at_most" not in changed and ({"at_most", "at_least", "better_by_at_least"} & changed.keys()):
        fields["worse_by_at_most"] = None
    return Finding(**fields)


def passing(**changed: Any) -> Finding:
    fields: dict[str, Any] = {
        "rule": "faithful-holds",
        "metric": "faithfulness",
        "slice": None,
        "status": Status.PASS,
        "blocks": False,
        "samples": 212,
        "clusters": 180,
        "baseline": 0.912,
        "candidate": 0.918,
        "gain": 0.006,
        "relative_gain": 0.006 / 0.912,
        "threshold": -0.02,
        "worse_by_at_most": 0.02,
        "interval": span(-0.008, 0.021),
        "better": 9,
        "worse": 7,
        "same": 196,
        "line": 40,
    }
    return make_finding(**(fields | changed))


def unsettled(**changed: Any) -> Finding:
    """Across its bound: 79.9 % → 78.2 %, −1.7 points, allowed −2.0."""
    fields: dict[str, Any] = {
        "rule": "correct-holds",
        "slice": None,
        "status": Status.INCONCLUSIVE,
        "blocks": False,
        "samples": 212,
        "clusters": 180,
        "baseline": 0.799,
        "candidate": 0.782,
        "gain": -0.017,
        "relative_gain": -0.0213,
        "threshold": -0.02,
        "worse_by_at_most": 0.02,
        "interval": span(-0.049, 0.015),
        "better": 9,
        "worse": 13,
        "same": 190,
        "samples_needed": 3_400,
        "line": 41,
    }
    return make_finding(**(fields | changed))


def improvement(**changed: Any) -> Finding:
    fields: dict[str, Any] = {
        "rule": "recall-gain",
        "kind": "improvement",
        "metric": "recall@5",
        "slice": None,
        "status": Status.PASS,
        "blocks": False,
        "samples": 212,
        "clusters": 180,
        "baseline": 0.772,
        "candidate": 0.815,
        "gain": 0.043,
        "relative_gain": 0.043 / 0.772,
        "threshold": 0.03,
        "better_by_at_least": 0.03,
        "interval": span(0.033, 0.053),
        "better": 31,
        "worse": 2,
        "same": 179,
        "on_inconclusive": "fail",
        "family": 1,
        "line": 48,
    }
    return make_finding(**(fields | changed))


def cost_limit(**changed: Any) -> Finding:
    fields: dict[str, Any] = {
        "rule": "cost-line",
        "kind": "limit",
        "metric": "cost",
        "slice": None,
        "direction": "lower",
        "status": Status.WAIVED,
        "blocks": False,
        "show_as": "number",
        "unit": "USD",
        "samples": 212,
        "clusters": 180,
        "baseline": 0.0113,
        "candidate": 0.0131,
        "gain": -0.0018,
        "relative_gain": -0.16,
        "judged": "candidate",
        "threshold": 0.012,
        "at_most": 0.012,
        "interval": span(0.0124, 0.0138, of="candidate"),
        "better": 12,
        "worse": 200,
        "same": 0,
        "decide_by": "value",
        "family": 1,
        "line": 53,
        "waiver": UsedWaiver(
            up_to=0.014,
            until="2026-12-31",
            by="search-team",
            reason="hosted reranker until the self-hosted one ships",
        ),
    }
    return make_finding(**(fields | changed))


def latency(**changed: Any) -> Finding:
    """A relative tolerance on a number with a unit: 1,910 ms → 2,170 ms, allowed 10 %."""
    fields: dict[str, Any] = {
        "rule": "latency-holds",
        "metric": "latency_p95",
        "slice": None,
        "direction": "lower",
        "summary": "p95",
        "show_as": "number",
        "unit": "ms",
        "status": Status.FAIL,
        "samples": 212,
        "clusters": 180,
        "baseline": 1910.0,
        "candidate": 2170.0,
        "gain": -260.0,
        "relative_gain": -260 / 1910,
        "judged": "relative_gain",
        "threshold": -0.1,
        "worse_by_at_most": "10%",
        "interval": span(-0.19, -0.112, of="relative_gain"),
        "better": 40,
        "worse": 172,
        "same": 0,
        "family": 1,
        "line": 52,
    }
    return make_finding(**(fields | changed))


def every(**changed: Any) -> Finding:
    fields: dict[str, Any] = {
        "rule": "old-bugs-stay-fixed",
        "kind": "every",
        "hard": True,
        "slice": "regression_set",
        "samples": 40,
        "clusters": 40,
        "baseline": 1.0,
        "candidate": 0.925,
        "gain": -0.075,
        "relative_gain": -0.075,
        "judged": "candidate",
        "threshold": 1.0,
        "at_least": 1.0,
        "interval": None,
        "better": 0,
        "worse": 3,
        "same": 37,
        "decide_by": "value",
        "family": 1,
        "failing": ["q-0173", "q-0188", "q-0190"],
        "failing_count": 3,
        "line": 33,
    }
    return make_finding(**(fields | changed))


def skipped(**changed: Any) -> Finding:
    fields: dict[str, Any] = {
        "slice": "language=fr",
        "status": Status.SKIPPED,
        "blocks": False,
        "samples": 12,
        "clusters": 12,
        "baseline": 0.75,
        "candidate": 0.667,
        "gain": -0.083,
        "relative_gain": -0.083 / 0.75,
        "threshold": None,
        "interval": None,
        "better": 1,
        "worse": 2,
        "same": 9,
        "smallest_visible_change": 0.43,
        **noted(said("note.small-slice", count=12, least="30")),
    }
    return make_finding(**(fields | changed))


NOBODY = LeftOutIds(samples=0, ids=[], slices={})


def make_pairing(**changed: Any) -> Pairing:
    fields: dict[str, Any] = {
        "paired": 212,
        "clusters": 180,
        "attempts": False,
        "identical": False,
        "only_in_baseline": NOBODY,
        "only_in_candidate": NOBODY,
        "no_answer": [],
        "no_score": [],
        "slices": {"language=de": 90},
    }
    return Pairing(**(fields | changed))


def make_verdict(*findings: Finding, **changed: Any) -> Verdict:
    """A verdict over the findings, decided as the program decides it."""
    ordered = order_findings(findings)
    fail_on = changed.pop("fail_on", "fail")
    word, code = decide(ordered, fail_on)
    fields: dict[str, Any] = {
        "gateline": "0.1.0",
        "verdict": word,
        "exit_code": code,
        "because": [finding.message for finding in ordered if finding.blocks],
        "counts": count(ordered),
        "fail_on": fail_on,
        "first_run": False,
        "policy": PolicyFacts(
            name="support-rag", file="gates/support-rag.yml", sha256="a1" * 32, same_as_base=True
        ),
        "judged_on": "2026-09-01",
        "baseline": RunFacts(
            file="runs/baseline.jsonl",
            sha256="b2" * 32,
            format="gateline",
            samples=212,
            provenance={
                "app.commit": "9f31c02",
                "judge.model": "judge-4",
                "golden_set.version": "support-v1.3",
            },
        ),
        "candidate": RunFacts(
            file="runs/candidate.jsonl",
            sha256="c3" * 32,
            format="gateline",
            samples=212,
            provenance={
                "app.commit": "b81d0e7",
                "judge.model": "judge-4",
                "golden_set.version": "support-v1.3",
            },
        ),
        "changed": [
            ChangedField(field="app.commit", baseline="9f31c02", candidate="b81d0e7", rule="may_change")
        ],
        "pairing": make_pairing(),
        "statistics": StatisticsFacts(confidence=0.95, resamples=10_000, seed=1, method="bayesian"),
        "findings": ordered,
        "worst": [],
        "notices": [],
        "problems": [],
    }
    return Verdict(**(fields | changed))


def design_verdict(**changed: Any) -> Verdict:
    """The gate of the design's drawing, with a waiver, a skipped slice, left-out values and worst samples."""
    worst = [
        WorstSample(
            id=f"q-{number:04}",
            metric="answer_correct",
            slice="language=de",
            baseline=1,
            candidate=0,
            gain=-1,
        )
        for number in (173, 188, 190)
    ]
    fields: dict[str, Any] = {
        "worst": worst,
        "pairing": make_pairing(
            only_in_baseline=LeftOutIds(
                samples=3,
                ids=["q-0004", "q-0009", "q-0011"],
                slices={"language=de": 2, "language=en": 1},
                passed=3,
            ),
            no_score=[
                LeftOutValues(
                    metric="faithfulness",
                    run="candidate",
                    slice=None,
                    cause="no_score",
                    counted_as="left out",
                    samples=2,
                    of=212,
                    ids=["q-0031", "q-0102"],
                )
            ],
        ),
    }
    findings = [
        make_finding(),
        unsettled(),
        improvement(),
        cost_limit(),
        skipped(),
        passing(),
        every(
            status=Status.PASS,
            blocks=False,
            failing=[],
            failing_count=0,
            candidate=1.0,
            gain=0.0,
            worse=0,
            same=40,
        ),
    ]
    return make_verdict(*findings, **(fields | changed))


def many_kinds_verdict() -> Verdict:
    """Every kind of rule in trouble, with units, wide names, two bounds and a fail that is only reported."""
    findings = [
        every(status=Status.FAIL),
        cost_limit(
            rule="no-severe-errors",
            metric="severe_error",
            slice="high_risk",
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
        ),
        make_finding(slice="语言=中文", gain=-0.0504, candidate=0.7596, interval=span(-0.08, -0.0501)),
        latency(),
        latency(
            rule="latency-both",
            worse_by_at_most=["10%", 150.0],
            judged="gain",
            threshold=-191.0,
            interval=span(-300.0, -220.0),
        ),
        improvement(
            status=Status.INCONCLUSIVE,
            gain=0.021,
            candidate=0.793,
            interval=span(0.004, 0.038),
            samples_needed=640,
            blocks=True,
        ),
        unsettled(
            interval=span(None, None), samples_needed=None, **noted(said("note.upper-end-needs-clusters"))
        ),
        skipped(),
    ]
    waiver = said("notice.waiver", rule="cost-line")
    notice = said("notice.waiver-ends", waiver=waiver, until="2026-09-10", by="search-team", count=9)
    return make_verdict(*findings, fail_on="never", notices=[str(notice)], notices_said=[notice.remark])


def loosened_verdict() -> Verdict:
    """A pass that rests on a loosened policy."""
    policy = PolicyFacts(
        name="support-rag",
        file="gates/support-rag.yml",
        sha256="a1" * 32,
        same_as_base=False,
        changes=[
            PolicyChange(
                path="rules.correct-by-slice.worse_by_at_most", base="0.05", now="0.2", loosens=True
            ),
            PolicyChange(path="rules.recall-gain.better_by_at_least", base="0.02", now="0.03", loosens=False),
        ],
        under_base=BaseVerdict(
            verdict="fail", because=["answer_correct in language=de fell 81.0 % → 66.6 %, 14.4 points worse."]
        ),
    )
    return make_verdict(passing(), improvement(), policy=policy)


def fine_verdict() -> Verdict:
    return make_verdict(passing(), improvement(), passing(rule="correct-holds", metric="answer_correct"))


def invalid_verdict(**changed: Any) -> Verdict:
    problems = [
        StatedProblem(
            message="must be 'higher' or 'lower', not 'lwer'",
            where="gates/support-rag.yml:25  metrics.latency_p95.better",
            hint="",
        ),
        StatedProblem(
            message="must be below 100 %, not 9500 %",
            where="gates/support-rag.yml:38  statistics.confidence",
            hint="write 95% or 0.95",
        ),
        StatedProblem(
            message="unknown field 'at_moost'",
            where="gates/support-rag.yml:46  rules[0] no-severe-errors",
            hint="did you mean 'at_most'?",
        ),
    ]
    fields: dict[str, Any] = {
        "verdict": "invalid",
        "exit_code": 2,
        "because": [problem.message for problem in problems],
        "problems": problems,
        "pairing": None,
        "statistics": None,
        "changed": [],
    }
    return make_verdict(**(fields | changed))


def unlike_verdict() -> Verdict:
    """No verdict, for reasons that have keys: two runs that can't be compared."""
    reasons = [
        (
            said(
                "problem.not-in-candidate", missing=4, asked=212, ids=name_some(f"q-{n:04}" for n in range(4))
            ),
            "runs/candidate.jsonl",
            "",
        ),
        (
            said(
                "problem.must-match",
                what=said("problem.fact-differs", field="judge.model", before="judge-4", after="judge-5"),
            ),
            "runs/candidate.jsonl",
            said("hint.rerun"),
        ),
    ]
    problems = [
        StatedProblem(
            message=str(message),
            where=where,
            hint=str(hint),
            message_said=remark_of(message),
            hint_said=remark_of(hint),
        )
        for message, where, hint in reasons
    ]
    return invalid_verdict(problems=problems, because=[problem.message for problem in problems])


def huge_verdict(checks: int = 900, wide: bool = False) -> Verdict:
    """Many slices with names of about 60 characters, two of which fail."""
    letters = "テナント" if wide else "path=tenant"
    findings = [
        passing(
            rule="slices-hold",
            slice=f"{letters}-{number:04}/locale-zh/intent-legal-long-tail-variant",
            **(
                {
                    "status": Status.FAIL,
                    "blocks": True,
                    "gain": -0.3,
                    "candidate": 0.612,
                    "interval": span(-0.41, -0.2),
                }
                if number in (3, checks - 10)
                else {}
            ),
        )
        for number in range(checks)
    ]
    return make_verdict(*findings)
