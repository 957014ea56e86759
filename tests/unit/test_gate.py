"""The pipeline: two files and a policy in, a verdict out; a pure function that raises nothing for bad files."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path

import pytest

import gateline
from gateline import gate
from gateline.gate import Options, check
from gateline.reports.markdown import render
from runs import DAY, LIMIT, TOLERANCE, check_gate, records, set_field, set_metric, write_gate, write_run

FAIL = "a*30 1>1 b*30 1>0"


def test_a_verdict_tells_what_was_judged_by_what(tmp_path: Path) -> None:
    write_gate(tmp_path, FAIL, TOLERANCE, LIMIT)
    verdict = check_gate(tmp_path)
    assert (verdict.gateline, verdict.verdict, verdict.exit_code) == (gateline.__version__, "fail", 1)
    assert (verdict.judged_on, verdict.fail_on, verdict.first_run) == ("2026-06-01", "fail", False)
    assert verdict.policy.model_dump() == {
        "name": "gate", "file": str(tmp_path / "policy.yml"),
        "sha256": hashlib.sha256((tmp_path / "policy.yml").read_bytes()).hexdigest(),
        "lang": None, "base_file": None,
        "same_as_base": None, "changes": [], "under_base": None,
    }  # fmt: skip
    assert verdict.candidate is not None
    assert verdict.candidate.model_dump(exclude={"origin"}) == {
        "file": str(tmp_path / "candidate.jsonl"),
        "sha256": hashlib.sha256((tmp_path / "candidate.jsonl").read_bytes()).hexdigest(),
        "format": "gateline-jsonl", "samples": 60, "provenance": {},
    }  # fmt: skip
    assert verdict.statistics is not None
    assert verdict.statistics.model_dump() == {
        "confidence": 0.95,
        "resamples": 10000,
        "seed": 1,
        "method": "bayesian",
    }
    assert verdict.counts == {"pass": 1, "waived": 0, "skipped": 0, "inconclusive": 0, "fail": 1}
    assert [(one.rule, one.line) for one in verdict.findings] == [("holds", 7), ("floor", 8)]
    assert verdict.because == [verdict.findings[0].message]
    assert verdict.problems == []


def test_a_pass_says_what_it_rests_on(tmp_path: Path) -> None:
    verdict = check_gate(write_gate(tmp_path, "a*60 1>1", TOLERANCE, LIMIT))
    assert verdict.because == ["2 of 2 checks hold"]


def test_a_pass_with_a_warning_says_the_warning_first(tmp_path: Path) -> None:
    verdict = check_gate(write_gate(tmp_path, "a*95 1>1 b*5 1>0", TOLERANCE.replace("0.1", "0.06"), LIMIT))
    assert (verdict.verdict, verdict.warns) == ("pass", True)
    assert verdict.because == [verdict.findings[0].message, "1 of 2 checks hold"]


def test_fail_on_inconclusive_says_what_was_inconclusive(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*95 1>1 b*5 1>0", TOLERANCE.replace("0.1", "0.06"), LIMIT)
    verdict = check_gate(tmp_path, fail_on="inconclusive")
    assert (verdict.verdict, verdict.exit_code) == ("fail", 1)
    assert verdict.because == [verdict.findings[0].message]


def test_the_samples_that_got_worse_most_stand_in_the_verdict(tmp_path: Path) -> None:
    before, after = records("a*60 1>1")
    set_metric(after, "score", [1 - number / 100 for number in range(60)])
    verdict = check_gate(write_gate(tmp_path, (before, after), TOLERANCE))
    assert [(one.id, one.gain) for one in verdict.worst] == [
        (f"a{number}", pytest.approx(-(number - 1) / 100)) for number in (60, 59, 58, 57, 56)
    ]
    assert {one.question for one in verdict.worst} == {None}


def test_nothing_judged_is_no_verdict(tmp_path: Path) -> None:
    """A family all of whose slices are too small has decided nothing."""
    rule = "{id: by, kind: tolerance, metric: score, worse_by_at_most: 0.5, slices: true}"
    verdict = check_gate(
        write_gate(tmp_path, "a*20 de 1>1 b*20 en 1>1", rule, slices="{by: [language], at_least: 30}")
    )
    assert (verdict.verdict, verdict.exit_code) == ("invalid", 2)
    assert verdict.because == ["no rule could be judged, so nothing was decided"]
    assert verdict.counts["skipped"] == 2


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("policy.yml", "policy not found"),
        ("baseline.jsonl", "baseline not found"),
        ("candidate.jsonl", "candidate not found"),
        ("golden.jsonl", "golden set not found"),
    ],
)
def test_a_file_that_is_not_there_is_no_verdict_and_named(tmp_path: Path, missing: str, said: str) -> None:
    write_gate(tmp_path, FAIL, TOLERANCE, samples="{golden_set: golden.jsonl}")
    write_run(tmp_path / "golden.jsonl", records(FAIL)[0])
    (tmp_path / missing).unlink()
    verdict = check_gate(tmp_path)
    assert (verdict.verdict, verdict.exit_code, verdict.findings) == ("invalid", 2, [])
    assert said in verdict.because[0]
    assert missing in verdict.because[0]


def test_a_verdict_that_ends_early_tells_what_was_known(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*40 1>1 b*5 1>?", TOLERANCE)
    verdict = check_gate(tmp_path)
    assert verdict.verdict == "invalid"
    assert verdict.problems[0].hint.startswith("missing.drop_at_most lets 2 % of them be left out")
    assert verdict.pairing is not None
    assert verdict.pairing.paired == 45
    assert [(one.cause, one.samples, one.of) for one in verdict.pairing.no_score] == [("no_score", 5, 45)]
    assert verdict.candidate is not None
    assert verdict.candidate.samples == 45


def test_a_missing_baseline_is_a_first_run_only_where_that_is_allowed(tmp_path: Path) -> None:
    write_gate(tmp_path, FAIL, LIMIT)
    refused, allowed = (
        check_gate(tmp_path, baseline=False),
        check_gate(tmp_path, baseline=False, first_run=True),
    )
    assert (refused.verdict, refused.first_run) == ("invalid", False)
    assert (allowed.verdict, allowed.first_run, allowed.baseline) == ("pass", True, None)


def test_a_baseline_that_is_named_counts_also_when_a_first_run_is_allowed(tmp_path: Path) -> None:
    verdict = check_gate(write_gate(tmp_path, FAIL, TOLERANCE), first_run=True)
    assert (verdict.verdict, verdict.first_run) == ("fail", False)


def test_the_golden_set_gives_the_labels(tmp_path: Path) -> None:
    before, after = records(FAIL)
    write_gate(
        tmp_path, (before, after), "{id: de, kind: limit, metric: score, at_least: 0.9, slice: language=de}",
        samples="{golden_set: golden.jsonl, at_least: 1}",
    )  # fmt: skip
    golden = [
        {"id": one["id"], "slices": {"language": "de" if one["id"].startswith("b") else "en"}}
        for one in before
    ]
    write_run(tmp_path / "golden.jsonl", golden)
    (finding,) = check_gate(tmp_path).findings
    assert (finding.status.value, finding.samples, finding.candidate) == ("fail", 30, 0.0)


def test_provenance_that_changed_is_told(tmp_path: Path) -> None:
    before, after = records(FAIL)
    set_field(before, judge="j1")
    set_field(after, judge="j2")
    verdict = check_gate(write_gate(tmp_path, (before, after), TOLERANCE))
    assert [(one.field, one.baseline, one.candidate) for one in verdict.changed] == [("judge", "j1", "j2")]


def test_where_the_change_is_why_there_is_no_verdict_it_is_told_as_well(tmp_path: Path) -> None:
    before, after = records(FAIL)
    set_field(before, judge="j1")
    set_field(after, judge="j2")
    write_gate(tmp_path, (before, after), TOLERANCE, provenance="{must_match: [judge]}")
    verdict = check_gate(tmp_path)
    assert verdict.verdict == "invalid"
    told = [(one.field, one.baseline, one.candidate, one.rule) for one in verdict.changed]
    assert told == [("judge", "j1", "j2", "must_match")]
    assert "(1 difference)" in render(verdict)
    assert "**To get a verdict:**" in render(verdict)


def test_the_same_inputs_give_the_same_bytes_in_another_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        write_gate(tmp_path / place, FAIL, TOLERANCE, LIMIT)
        monkeypatch.chdir(tmp_path / place)
        texts.append(check("policy.yml", "baseline.jsonl", "candidate.jsonl", on=DAY).to_json())
        monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    assert texts[0] == texts[1]


def test_the_day_changes_nothing_but_waivers(tmp_path: Path) -> None:
    write_gate(tmp_path, FAIL, TOLERANCE)
    first = check_gate(tmp_path).model_dump()
    second = check_gate(tmp_path, on=datetime.date(2031, 1, 1)).model_dump()
    assert first | {"judged_on": ""} == second | {"judged_on": ""}


def test_the_files_are_read_by_the_reader_that_is_forced(tmp_path: Path) -> None:
    write_gate(tmp_path, FAIL, TOLERANCE)
    verdict = check_gate(tmp_path, read_as="nonsense")
    assert "there is no reader 'nonsense'" in verdict.because[0]


def test_the_policys_id_field_joins_the_runs(tmp_path: Path) -> None:
    before, after = records(FAIL)
    for side in (before, after):
        for record in side:
            record["qid"] = record.pop("id")
    verdict = check_gate(write_gate(tmp_path, (before, after), TOLERANCE, samples="{id: qid}"))
    assert verdict.pairing is not None
    assert verdict.pairing.paired == 60


def test_giving_up_over_a_fault_of_our_own_says_so(tmp_path: Path) -> None:
    verdict = gate.give_up(KeyError("x" * 999), "p.yml", None, "c.jsonl", on=DAY, options=Options())
    assert (verdict.verdict, verdict.exit_code, verdict.policy.name) == ("invalid", 2, "p")
    assert verdict.because[0].startswith("this is a bug in gateline: KeyError: 'xxx")
    assert len(verdict.because[0]) < 420
    json.loads(verdict.to_json())


BYTES = [
    b"", b"\x00", b"\xff\xfe\x00", b"{", b"[]", b"null", b"[" * 5000, b"{}" * 50, b"id,score\n", b"PAR1",
    b'{"id": NaN}', b'{"id": "a", "metrics": {"score": 1e999}}',
    b'{"id": "\\ud800", "metrics": {"score": 1}}', b"a\tb\n1\t2\n",
]  # fmt: skip


@pytest.mark.parametrize("content", BYTES)
@pytest.mark.parametrize("name", ["policy.yml", "baseline.jsonl", "candidate.jsonl", "golden.jsonl"])
def test_bytes_that_are_no_such_file_are_no_verdict_and_no_crash(
    tmp_path: Path, name: str, content: bytes
) -> None:
    write_gate(tmp_path, FAIL, TOLERANCE, samples="{golden_set: golden.jsonl}")
    write_run(tmp_path / "golden.jsonl", records(FAIL)[0])
    (tmp_path / name).write_bytes(content)
    verdict = check_gate(tmp_path)
    assert (verdict.verdict, verdict.exit_code) == ("invalid", 2)
    assert verdict.because
    json.loads(verdict.to_json())


def test_the_policy_may_hold_the_same_rule_for_many_slices(tmp_path: Path) -> None:
    rules = [f"{{kind: limit, metric: score, at_least: 0.1, slice: language={one}}}" for one in ("de", "en")]
    verdict = check_gate(write_gate(tmp_path, "a*20 de 1>1 b*20 en 1>1", *rules))
    assert [one.rule for one in verdict.findings] == ["score-limit-language=de", "score-limit-language=en"]
