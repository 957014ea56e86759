# ruff: noqa: E501  (lines of output stand here whole)
"""A policy in plain sentences, and what is worth a second thought in it."""

from __future__ import annotations

import pytest

from gateline.explanation import explain, review
from gateline.policy import read_policy
from runs import LIMIT, TOLERANCE, policy_text

FULL = """version: 1
name: support-rag
description: may this change be merged?
samples: {golden_set: golden.jsonl, cluster: source_doc, at_least: 100}
provenance: {must_match: [judge.model, corpus]}
metrics:
  correct: {better: higher, range: [0, 1], show_as: percent}
  cited: {better: higher, range: [0, 1], applies_to: answerable}
  hallucination: {better: lower, range: [0, 1], ratio: [bad, claims]}
  slow: {better: lower, field: latency_ms, unit: ms, summary: p95}
slices: {by: [language, intent], named: {high: {risk: high}, answerable: {answerable: "yes"}}}
rules:
  - {id: bugs, kind: every, metric: correct, slice: high, at_least: 1, hard: true}
  - {id: cited-every, kind: every, metric: cited, at_least: 0.5}
  - {id: floor, kind: limit, metric: correct, at_least: 75%}
  - {id: shown, kind: limit, metric: hallucination, at_most: 0.1, decide_by: interval, on_inconclusive: fail}
  - {id: by-slice, kind: tolerance, metric: correct, slices: true, worse_by_at_most: 0.05, on_inconclusive: pass}
  - {id: slow-holds, kind: tolerance, metric: slow, worse_by_at_most: [10%, 50]}
  - {id: better, kind: improvement, metric: cited}
waivers:
  - {rule: floor, up_to: 70%, until: 2026-12-31, by: search-team, reason: known}
"""


def test_the_whole_policy_reads_from_top_to_bottom() -> None:
    assert (
        explain(read_policy(FULL, "p.yml"))
        == """\
The gate support-rag: may this change be merged?

What is compared:
- the two runs are joined on the field 'id'; below 100 pairs there is no verdict
- ids in one run only end without a verdict
- both runs must answer the golden set golden.jsonl
- samples with the same 'source_doc' rise and fall together and count as one cluster
- both runs must have been made with the same judge.model, corpus
- intervals are at 95 %, method bayesian, seed 1

What is measured:
- correct: the mean of 'correct', between 0 and 1; higher is better
- cited: the mean of 'cited', between 0 and 1, only for answerable; higher is better
- hallucination: the ratio of 'bad / claims', between 0 and 1; lower is better
- slow: the p95 of 'latency_ms' in ms; lower is better

What a missing value means:
- a sample without an answer counts as the worst value
- a sample without a score is left out
- past 2 % left out of a metric in one run, overall or in a slice of a hard rule, there is no verdict

How small a slice may be:
- where a rule looks at each value of a label, one with fewer than 30 pairs is not judged (slices.at_least): its numbers are shown, and block nothing

What must hold:
- bugs: every sample's correct must be at least 100 % in high (hard: by the plain value, however few the samples, never waived)
- cited-every: every sample's cited must be at least 0.5 (each sample by itself)
- floor: correct must be at least 75 % (by the plain value)
- shown: hallucination must be at most 0.1 (by the whole interval; what the data can't settle blocks)
- by-slice: correct must not be worse than the baseline by more than 5 points for each value of language, intent (by the whole interval; only shown harm blocks)
- slow-holds: slow must not be worse than the baseline by more than 10% of the baseline and also more than 50 ms (by the whole interval; what the data can't settle is let through with a warning)
- better: cited must be better than the baseline (by the whole interval; what the data can't settle blocks)

What is let through for now:
- floor up to 70% until 2026-12-31 (search-team: known)
"""
    )


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"missing": "{no_answer: drop}"}, "- a sample without an answer is left out"),
        ({"missing": "{no_answer: refuse}"}, "- a sample without an answer ends without a verdict"),
        ({"missing": "{no_score: worst}"}, "- a sample without a score counts as the worst value"),
        (
            {"missing": "{drop_at_most: 0}"},
            "- past 0 % left out of a metric in one run, overall or in a slice of a hard rule, there is no verdict",
        ),
        ({"samples": "{on_mismatch: intersect}"}, "- ids in one run only are left out and reported"),
        (
            {"samples": "{on_mismatch: independent, at_least: 50}"},
            (
                "- the two runs answered other questions and are taken as independent, from reduced files; below 50 "
                "questions in either there is no verdict"
            ),
        ),
        (
            {"samples": "{id: qid}"},
            "- the two runs are joined on the field 'qid'; below 30 pairs there is no verdict",
        ),
        (
            {"statistics": "{confidence: 99%, method: bca, seed: 7}"},
            "- intervals are at 99 %, method bca, seed 7",
        ),
    ],
)
def test_what_is_not_the_default_is_said(parts: dict[str, str], said: str) -> None:
    assert said in explain(read_policy(policy_text(LIMIT, **parts), "p.yml")).splitlines()


def notes(*rules: str, **parts: str) -> list[str]:
    return review(read_policy(policy_text(*rules, **parts), "p.yml"))


def test_a_sound_policy_needs_no_second_thought() -> None:
    assert notes(LIMIT, TOLERANCE) == []


def test_what_is_never_looked_at_is_told() -> None:
    assert notes(
        LIMIT,
        metrics="{score: {better: higher, range: [0, 1]}, other: {better: lower, range: [0, 1]}}",
        slices="{by: [language], named: {high: {risk: high}}}",
    ) == [
        "metrics.other is measured but no rule judges it",
        "slices.named.high is named but no rule looks at it",
        "slices.by lists labels but no rule has 'slices: true'",
    ]


def test_a_score_without_a_range_is_told_but_not_a_duration_or_a_cost() -> None:
    metrics = "{score: {better: higher}, latency_ms: {better: lower}, cost_usd: {better: lower}}"
    rules = ["{kind: limit, metric: score, at_least: 1}"]
    rules += [f"{{kind: limit, metric: {name}, at_most: 1}}" for name in ("latency_ms", "cost_usd")]
    assert notes(*rules, metrics=metrics) == [
        "metrics.score has no range: a value out of range can't be noticed, and small slices get narrower intervals than they should"
    ]


def test_a_direction_against_the_name_of_what_is_read_is_told() -> None:
    metrics = (
        "{answer_correct: {better: lower, range: [0, 1]}, latency_ms: {better: higher}, shown: {better: higher, "
        "range: [0, 1], field: metrics.hallucination_rate}, bias: {better: higher, range: [0, 1]}, "
        "faithfulness: {better: higher, range: [0, 1]}, no_pii: {better: higher, range: [0, 1]}}"
    )
    names = ("answer_correct", "latency_ms", "shown", "bias", "faithfulness", "no_pii")
    rules = [f"{{kind: tolerance, metric: {name}, worse_by_at_most: 0.1}}" for name in names]
    assert notes(*rules, metrics=metrics) == [
        "metrics.answer_correct says 'better: lower', and by its name higher is better",
        "metrics.latency_ms says 'better: higher', and by its name lower is better",
        "metrics.shown says 'better: higher', and by its name lower is better",
    ]


def test_a_bound_on_the_good_end_and_a_percentage_that_may_be_meant_as_points_are_told() -> None:
    metrics = "{score: {better: higher, range: [0, 1], show_as: percent}}"
    rules = [
        "{id: ceiling, kind: limit, metric: score, at_most: 90%}",
        "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 3%}",
    ]
    assert notes(*rules, metrics=metrics) == [
        "rules.ceiling has at_most, but higher is better: it guards the good end",
        "rules.holds: worse_by_at_most 3% is a share of the baseline; 3 points would be 0.03",
    ]


def test_a_tolerance_by_value_is_told() -> None:
    assert notes(TOLERANCE.replace("}", ", decide_by: value}")) == [
        "rules.holds decides by value: noise alone can break it or hide a loss; 'decide_by: interval' says how sure"
    ]
    assert notes(TOLERANCE.replace("}", ", hard: true}")) == []


@pytest.mark.parametrize(
    ("rule", "is_said"),
    [
        ("slices: true", "one with fewer than 12 pairs is not judged (slices.at_least)"),
        ("slice: 'language=de'", "a slice that a rule names is not settled below 12 pairs (slices.at_least)"),
        ("slices: true, hard: true", ""),
        ("slice: 'language=de', hard: true", ""),
        ("decide_by: value", ""),
    ],
)
def test_from_how_many_on_a_slice_is_judged_is_said_where_a_rule_asks_for_it(rule: str, is_said: str) -> None:
    text = f"""\
version: 1
name: p
metrics:
  correct: {{better: higher, range: [0, 1]}}
slices: {{by: [language], at_least: 12}}
rules:
  - {{kind: tolerance, metric: correct, worse_by_at_most: 0.05, {rule}}}
"""
    told = explain(read_policy(text, "p.yml"))
    assert ("slices.at_least" in told) == bool(is_said)
    assert is_said in told
