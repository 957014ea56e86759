"""Which questions a verdict names as lost, against a plain loop over the records."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.verdict import Verdict
from gateline.verdict_file import read_verdict
from runs import Record, check_gate, records, set_field, set_metric, write_gate

HOLDS = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 1}"
EVERY = "{id: stay-fixed, kind: every, metric: score, at_least: 0.5, hard: true}"
GERMAN = "{id: german, kind: tolerance, metric: score, slice: language=de, worse_by_at_most: 1}"
SCORES = st.sampled_from([None, 0.0, 0.25, 0.5, 0.75, 1.0])


def judge(
    folder: Path, runs: str | tuple[list[Record], list[Record]], *rules: str, **options: bool
) -> Verdict:
    write_gate(folder, runs, *rules, missing="{drop_at_most: 100%}")
    return check_gate(folder, **options)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=130), st.booleans())
@settings(max_examples=40, deadline=None)
def test_what_got_worse_is_named_worst_first_and_counted(
    tmp_path_factory: pytest.TempPathFactory, scores: list[tuple[float | None, float | None]], lower: bool
) -> None:
    before, after = records(f"q*{len(scores)} 1>1")
    set_metric(before, "score", [old for old, _ in scores])
    set_metric(after, "score", [new for _, new in scores])
    folder = tmp_path_factory.mktemp("gate")
    metric = (
        "{score: {better: lower, range: [0, 2]}}" if lower else "{score: {better: higher, range: [0, 2]}}"
    )
    write_gate(folder, (before, after), HOLDS, missing="{drop_at_most: 100%}", metrics=metric)
    verdict = check_gate(folder)

    sign = -1 if lower else 1
    expected = sorted(
        (sign * (new - old), f"q{at}", old, new)
        for at, (old, new) in enumerate(scores, 1)
        if old is not None and new is not None and sign * (new - old) < 0
    )
    if not expected:
        assert verdict.losses == []
        return
    (losses,) = verdict.losses
    assert (losses.metric, losses.rule, losses.slice, losses.width) == ("score", None, None, 2)
    assert losses.number == len(expected)
    told = [(one.gain, one.id, one.baseline, one.candidate) for one in losses.samples]
    assert told == expected[:100]


def test_all_that_fail_a_hard_rule_are_named_though_the_finding_shows_twenty(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "good*10 1>1 bad*30 1>0 worse*5 0.2>0", EVERY)
    assert len(verdict.findings[0].failing) == 20
    rule, metric = verdict.losses
    assert (rule.rule, rule.number, len(rule.samples)) == ("stay-fixed", 35, 35)
    assert {one.id for one in rule.samples} == {f"bad{at}" for at in range(1, 31)} | {
        f"worse{at}" for at in range(1, 6)
    }
    assert (metric.rule, metric.number) == (None, 35)


def test_only_a_hard_rule_on_single_samples_that_fails_names_its_questions(tmp_path: Path) -> None:
    soft = "{id: soft, kind: every, metric: score, at_least: 0.5}"
    limit = "{id: floor, kind: limit, metric: score, at_least: 1, hard: true}"
    verdict = judge(tmp_path, "a*40 1>1 b*2 0>0", soft, limit)
    assert verdict.verdict == "fail"
    assert verdict.losses == []
    assert judge(tmp_path, "a*40 1>1", EVERY).losses == []


def test_without_a_baseline_only_rules_name_questions(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*40 1>1 b 1>0", EVERY)
    (losses,) = check_gate(tmp_path, baseline=False, first_run=True).losses
    (sample,) = losses.samples
    assert (losses.rule, sample.id, sample.baseline, sample.candidate, sample.gain) == (
        "stay-fixed", "b", None, 0, None,
    )  # fmt: skip


def test_what_is_not_known_did_not_get_worse_and_what_was_not_answered_did(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "a*40 1>1 unknown 1>? silent 1>! before ?>0", HOLDS)
    (losses,) = verdict.losses
    assert [(one.id, one.gain) for one in losses.samples] == [("silent", -1)]


def test_the_slices_are_those_that_rules_look_at(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "a*40 de 1>1 b de risk=high 1>0 c en 1>0", HOLDS, GERMAN)
    (losses,) = verdict.losses
    assert {one.id: one.slices for one in losses.samples} == {"b": ["language=de"], "c": []}


def test_times_costs_and_metrics_without_a_range_are_left_out(tmp_path: Path) -> None:
    before, after = records("a*40 1>0")
    set_field(before, latency_ms=1, words=10)
    set_field(after, latency_ms=900, words=99)
    metrics = (
        "{score: {better: higher}, latency: {better: lower, field: latency_ms, unit: ms, range: [0, 1000]}, "
        "words: {better: lower}}"
    )
    rules = [
        HOLDS,
        *(f"{{kind: tolerance, metric: {name}, worse_by_at_most: 1}}" for name in ("latency", "words")),
    ]
    write_gate(tmp_path, (before, after), *rules, metrics=metrics)
    verdict = check_gate(tmp_path)
    assert verdict.verdict == "fail"
    assert verdict.losses == []


def test_a_text_is_told_only_where_excerpts_are_allowed_and_the_file_reads_back(tmp_path: Path) -> None:
    before, after = records("a*40 1>1 b 1>0")
    for side in (before, after):
        set_field(side, question="Who?")
    assert judge(tmp_path, (before, after), HOLDS).losses[0].samples[0].question is None
    verdict = judge(tmp_path, (before, after), HOLDS, with_excerpts=True)
    assert verdict.losses[0].samples[0].question == "Who?"
    (tmp_path / "verdict.json").write_text(verdict.to_json(), encoding="utf-8")
    assert read_verdict(tmp_path / "verdict.json").losses == verdict.losses
