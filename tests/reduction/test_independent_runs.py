"""Runs of other questions: the policy must permit it, both numbers are said, and fewer questions prove less."""

from __future__ import annotations

import datetime
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logs_of_runs import write_log

from conftest import Reduce
from gateline.cli import run
from gateline.findings import Status
from gateline.gate import Options, check
from gateline.guard import compare_policies
from gateline.policy import load_policy
from gateline.reduction.independent import has_too_few
from gateline.reports import render
from gateline.verdict import Verdict

DAY = datetime.date(2026, 1, 1)
POLICY = """
version: 1
name: traffic
samples: {on_mismatch: independent}
missing: {drop_at_most: 5%}
metrics:
  good: {better: higher, range: [0, 1], show_as: percent}
  latency: {better: lower, field: latency_ms, unit: ms, summary: p95}
slices: {by: [lang], named: {risky: {risk: high}}}
rules:
  - {id: all, kind: tolerance, metric: good, worse_by_at_most: 0.3, on_inconclusive: fail}
  - {id: by-language, kind: tolerance, metric: good, worse_by_at_most: 0.5, slices: true, on_inconclusive: fail}
  - {id: risky, kind: limit, metric: good, slice: risky, at_least: 0.1}
  - {id: slow, kind: tolerance, metric: latency, worse_by_at_most: 100%}
"""


def make_week(name: str, counts: dict[str, int], share: float = 0.9) -> list[dict[str, Any]]:
    """Return so many records of each language; an even number of them is of high risk."""
    draw = random.Random(name)
    return [
        {
            "id": f"{name}-{lang}-{number}",
            "slices": {"lang": lang, "risk": "high" if number % 2 else "low"},
            "metrics": {"good": int(draw.random() < share)},
            "latency_ms": draw.randint(100, 900),
        }
        for lang, count in counts.items()
        for number in range(count)
    ]


class Weeks:
    """Reduces two weeks and judges them."""

    def __init__(self, folder: Path, reduce_log: Reduce):
        self.folder, self.reduce_log = folder, reduce_log
        self.policy = str(folder / "policy.yml")
        Path(self.policy).write_text(POLICY)

    def reduced(self, name: str, counts: dict[str, int], share: float = 0.9) -> str:
        log = write_log(self.folder / f"{name}.jsonl", make_week(name, counts, share))
        return self.reduce_log(log, self.policy, groups=256)

    def judge(self, before: dict[str, int], after: dict[str, int], policy: str = POLICY) -> Verdict:
        Path(self.policy).write_text(policy)
        return check(self.policy, self.reduced("before", before), self.reduced("after", after), on=DAY)


@pytest.fixture
def weeks(tmp_path: Path, reduce_log: Reduce) -> Weeks:
    return Weeks(tmp_path, reduce_log)


EVEN = {"de": 200, "en": 200}


def test_the_policy_must_permit_it(weeks: Weeks) -> None:
    """A file of other questions is refused under a policy that asks for the same, whoever reduced it."""
    files = [weeks.reduced(name, EVEN) for name in ("before", "after")]
    assert check(weeks.policy, *files, on=DAY).verdict == "pass"
    Path(weeks.policy).write_text(POLICY.replace("samples: {on_mismatch: independent}\n", ""))
    verdict = check(weeks.policy, *files, on=DAY)
    assert (verdict.verdict, verdict.exit_code) == ("invalid", 2)
    assert "which the policy does not permit" in verdict.because[0]
    assert "on_mismatch: independent" in verdict.problems[0].hint


def test_permitting_it_is_told_as_loosening_and_the_old_policy_gives_no_verdict(weeks: Weeks) -> None:
    old = weeks.folder / "old.yml"
    old.write_text(POLICY.replace("independent", "refuse"))
    before, after = load_policy(str(old)).policy, load_policy(weeks.policy).policy
    loosened = [(change.path, change.loosens) for change in compare_policies(before, after)]
    assert loosened == [("samples.on_mismatch", True)]
    back = compare_policies(after, before)
    assert [(change.path, change.loosens) for change in back] == [("samples.on_mismatch", False)]
    files = [weeks.reduced(name, EVEN) for name in ("before", "after")]
    verdict = check(weeks.policy, *files, on=DAY, base_policy=str(old))
    assert verdict.policy.under_base is not None
    assert verdict.policy.under_base.verdict == "invalid"


def test_there_is_no_switch_beside_the_policy(weeks: Weeks, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_log(weeks.folder / "log.jsonl", make_week("log", EVEN))
    output = str(weeks.folder / "out.json")
    assert run(["reduce", log, "--policy", weeks.policy, "-o", output, "--unpaired"]) == 2
    assert run(["reduce", log, "--policy", weeks.policy, "-o", output]) == 0
    assert json.loads(Path(output).read_text())["gateline.reduced"]["paired"] is False
    capsys.readouterr()


def test_whole_logs_are_not_compared_so(weeks: Weeks) -> None:
    logs = [write_log(weeks.folder / f"{name}.jsonl", make_week(name, EVEN)) for name in ("a", "b")]
    verdict = check(weeks.policy, *logs, on=DAY)
    assert (verdict.verdict, verdict.exit_code) == ("invalid", 2)
    assert "only reduced ones" in verdict.because[0]


def test_both_numbers_are_said_and_nothing_is_called_a_pair(weeks: Weeks) -> None:
    before, after = {"de": 200, "en": 200}, {"de": 205, "en": 193}
    verdict = weeks.judge(before, after)
    assert verdict.verdict == "pass"
    assert verdict.pairing is not None and verdict.pairing.independent is not None
    runs = verdict.pairing.independent
    assert (verdict.pairing.paired, verdict.pairing.slices) == (0, {})
    assert (runs.baseline, runs.candidate) == (400, 398)
    assert {name: runs.baseline_slices[f"lang={name}"] for name in before} == before
    assert {name: runs.candidate_slices[f"lang={name}"] for name in after} == after
    for finding in verdict.findings:
        label = (finding.slice or "").removeprefix("lang=")
        sizes = (before[label], after[label]) if label in before else (400, 398)
        if finding.judged != "candidate":
            assert (finding.baseline_samples, finding.samples) == sizes
    numbers = next(notice for notice in verdict.notices if "numbers of questions differ" in notice)
    order = ["200 → 193 in lang=en", "200 → 205 in lang=de", "400 → 398 in the whole run"]
    found = [numbers.index(one) for one in order]
    assert found == sorted(found)
    for kind in ("text", "markdown", "html", "junit"):
        told = render(kind, verdict)
        assert "pair" not in told.lower().replace("unpaired", ""), kind
        assert "in both runs" not in told, kind
    assert "400 questions in the baseline, 398 others in the candidate" in render(
        "text", verdict, verbose=True
    )
    assert "400 samples before and 398 others after" in verdict.to_json()
    chinese = render("markdown", verdict, language="zh")
    assert "对样本" not in chinese and "基线有 400 个问题" in chinese


def test_a_candidate_with_too_few_questions_gives_no_verdict(weeks: Weeks) -> None:
    verdict = weeks.judge(EVEN, {"de": 190, "en": 130})
    assert (verdict.verdict, verdict.exit_code) == ("invalid", 2)
    assert "80 fewer questions than the baseline (20.0%)" in verdict.because[0]
    assert "5 % be missing" in verdict.problems[0].hint


def test_a_slice_with_too_few_questions_settles_nothing(weeks: Weeks) -> None:
    """Questions of one language were dropped, and others made up the number: the whole is as large as before."""
    verdict = weeks.judge(EVEN, {"de": 260, "en": 140})
    status = {(one.rule, one.slice): one.status for one in verdict.findings}
    assert status["by-language", "lang=en"] is Status.INCONCLUSIVE
    assert status["by-language", "lang=de"] is Status.PASS
    assert verdict.verdict == "fail"
    assert any("140 questions here and the baseline 200" in reason for reason in verdict.because)


def test_a_slice_without_questions_in_the_candidate_is_not_skipped(weeks: Weeks) -> None:
    verdict = weeks.judge({"de": 200, "en": 200, "fr": 40}, {"de": 220, "en": 220})
    status = {(one.rule, one.slice): one.status for one in verdict.findings}
    assert status["by-language", "lang=fr"] is Status.INCONCLUSIVE
    assert verdict.verdict == "fail"


def test_a_hard_slice_with_too_few_questions_gives_no_verdict(weeks: Weeks) -> None:
    hard = POLICY.replace("at_least: 0.1}", "at_least: 0.1, hard: true}")
    assert weeks.judge(EVEN, EVEN, hard).verdict == "pass"
    log = make_week("after", {"de": 200, "en": 200})
    kept = [one for at, one in enumerate(log) if one["slices"]["risk"] == "low" or at % 4 == 1]
    more = [{**one, "id": f"more-{one['id']}"} for one in log if one["slices"]["risk"] == "low"][:100]
    file = weeks.reduce_log(write_log(weeks.folder / "cut.jsonl", [*kept, *more]), weeks.policy, groups=256)
    verdict = check(weeks.policy, weeks.reduced("before", EVEN), file, on=DAY)
    assert verdict.verdict == "invalid"
    assert "100 fewer questions" in verdict.because[0] and "risky" in verdict.because[0]


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(kept=st.floats(0.3, 1.0), seed=st.integers(0, 1000))
def test_dropping_what_went_wrong_never_makes_a_run_pass_by_more_than_may_be_missing(
    weeks: Weeks, kept: float, seed: int
) -> None:
    """A candidate that fell by 40 points and logs only some of its bad answers passes at best within the allowance."""
    Path(weeks.policy).write_text(POLICY)
    log = make_week(f"after{seed}", EVEN, share=0.5)
    bad = [one for one in log if not one["metrics"]["good"]]
    random.Random(seed).shuffle(bad)
    away = {one["id"] for one in bad[round(kept * len(bad)) :]}
    left = [one for one in log if one["id"] not in away]
    file = weeks.reduce_log(write_log(weeks.folder / "after.jsonl", left), weeks.policy, groups=256)
    verdict = check(weeks.policy, weeks.reduced("before", EVEN), file, on=DAY)
    if has_too_few(len(log), len(left), 0.05):
        assert verdict.verdict == "invalid"
    else:
        assert verdict.verdict == "fail"


def test_the_share_that_may_be_missing_counts_to_the_question() -> None:
    for before in range(1, 400):
        for most in (0.0, 0.02, 0.05, 0.5):
            fewest = next(after for after in range(before + 1) if not has_too_few(before, after, most))
            allowed = int(np.floor(before * most + 1e-9))
            assert before - fewest == allowed


def test_questions_that_were_tried_more_often_than_others_give_no_verdict(weeks: Weeks) -> None:
    """Repeating only what failed lifts the mean, and no other run says how often to try; alone as well."""
    log = make_week("after", EVEN, share=0.8)
    again = [{**one, "attempt": 2, "metrics": {"good": 1}} for one in log if not one["metrics"]["good"]]
    lifted = [*({**one, "attempt": 1} for one in log), *again]
    file = weeks.reduce_log(write_log(weeks.folder / "after.jsonl", lifted), weeks.policy, groups=256)
    before = weeks.reduced("before", EVEN, share=0.8)
    for baseline in (before, None):
        verdict = check(weeks.policy, baseline, file, on=DAY, options=Options(first_run=baseline is None))
        assert verdict.verdict == "invalid"
        assert "not tried equally often: one of them 2 times" in verdict.because[0]
    allowed = POLICY.replace("independent}", "independent, uneven_attempts: allow}")
    Path(weeks.policy).write_text(allowed)
    verdict = check(weeks.policy, before, file, on=DAY)
    assert verdict.verdict == "pass"
    assert any("not tried equally often" in notice for notice in verdict.notices)


def test_other_questions_tried_twice_are_told_though_the_number_of_records_is_the_same(
    tmp_path: Path, reduce_log: Reduce
) -> None:
    """Each run repeats questions of its own choice; only the attempts at each question tell."""
    policy = tmp_path / "paired.yml"
    policy.write_text(POLICY.replace("independent", "refuse"))
    files = []
    for chosen in (range(40), range(40, 80)):
        log = make_week("same", EVEN)
        twice = [{**log[number], "attempt": 2} for number in chosen]
        path = write_log(
            tmp_path / f"{chosen.start}.jsonl", [*({**one, "attempt": 1} for one in log), *twice]
        )
        files.append(reduce_log(path, str(policy), groups=16))
    verdict = check(str(policy), *files, on=DAY)
    assert verdict.verdict == "invalid"
    assert "a different number of times" in verdict.because[0]
