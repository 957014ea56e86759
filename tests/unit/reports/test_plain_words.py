"""What people read says what is so: of a loosened policy, of what blocks, of what to do, and says it once."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gateline.amounts import found
from gateline.findings import Status
from gateline.reports import annotations, codequality, facts, html, junit, markdown, text
from gateline.reports.escape import display_width
from gateline.reports.headline import headline, unblock
from gateline.spelling import PLAIN
from gateline.texts import load
from gateline.verdict import LeftOutValues, PolicyChange, Verdict
from gateline.wording import describe

from .layered import whole_system_verdict
from .verdicts import (
    cost_limit,
    design_verdict,
    every,
    fine_verdict,
    improvement,
    loosened_verdict,
    make_finding,
    make_verdict,
    passing,
    span,
    unsettled,
)


def _with_policy(verdict: Verdict, **changed: Any) -> Verdict:
    return verdict.model_copy(update={"policy": verdict.policy.model_copy(update=changed)})


def _joined(report: str) -> str:
    return " ".join(report.split())


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("outcome", "key"), [("fail", "headline.base-blocks"), ("invalid", "headline.base-undecided")]
)
def test_a_pass_by_a_loosened_policy_is_told_wherever_a_pass_is_told(
    language: str, outcome: str, key: str
) -> None:
    verdict = loosened_verdict()
    base = verdict.policy.under_base
    assert base is not None
    verdict = _with_policy(verdict, under_base=base.model_copy(update={"verdict": outcome}))
    texts = load(language)
    beginning = texts.say(key, reason="")
    word = texts.say("outcome.passed-loosened")
    assert headline(verdict, PLAIN.speaking(texts)).startswith(beginning)
    quiet = text.render(verdict, quiet=True, language=language)
    assert word in quiet
    assert beginning in quiet
    whole = text.render(verdict, width=10_000, language=language)
    assert word in whole.split("\n")[0]
    assert whole.split("\n")[1].startswith(beginning)
    comment = markdown.render(verdict, language=language)
    assert word in comment.split("\n")[1]
    assert f"**{beginning}" in comment


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_loosened_policy_is_told_though_the_base_passes_or_the_verdict_is_a_fail(language: str) -> None:
    texts = load(language)
    verdict = loosened_verdict()
    base = verdict.policy.under_base
    assert base is not None
    alike = base.model_copy(update={"verdict": "pass", "because": [], "worst": None, "problem": None})
    passes = text.render(_with_policy(verdict, under_base=alike), quiet=True, language=language)
    assert texts.say("headline.base-passes") in passes
    change = PolicyChange(path="rules.x.at_least", base="0.8", now="0.7", loosens=True)
    fails = text.render(_with_policy(design_verdict(), changes=[change]), quiet=True, language=language)
    assert texts.say("outcome.blocked-loosened") in fails
    assert texts.say("headline.loosened") in fails
    assert texts.say("headline.loosened") not in text.render(design_verdict(), quiet=True, language=language)


def test_what_blocks_is_nowhere_said_to_be_let_through() -> None:
    strict = make_verdict(unsettled(), unsettled(rule="second"), passing(), fail_on="inconclusive")
    reports = [
        text.render(strict, verbose=True),
        markdown.render(strict),
        markdown.render_summary(strict),
        html.render(strict),
        junit.render(strict),
        annotations.render(strict),
        codequality.render(strict),
    ]
    for report in reports:
        assert "let through" not in _joined(report)
    assert "it blocks, as fail-on inconclusive asks for proof" in _joined(reports[0])
    assert "2 inconclusive (2 block)" in _joined(reports[0])
    lenient = make_verdict(unsettled(), passing())
    assert "let through with a warning" in _joined(text.render(lenient))


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (make_finding(), "lose at most 5.0 points in answer_correct in language=de (now 14.4 points worse)"),
        (
            make_finding(threshold=0.0, worse_by_at_most=0.0),
            "lose nothing in answer_correct in language=de (now 14.4 points worse)",
        ),
        (
            make_finding(kind="limit", judged="candidate", threshold=0.75, at_least=0.75, slice=None),
            "bring answer_correct to at least 75",
        ),
        (
            improvement(status=Status.FAIL, blocks=True, gain=-0.01, candidate=0.762, interval=None),
            "gain at least 3.0 points in recall@5 (now 1.0 points worse)",
        ),
    ],
)
def test_a_change_is_asked_for_by_its_size_and_a_limit_by_its_value(finding: Any, said: str) -> None:
    step = unblock(make_verdict(finding))
    assert said.casefold() in step.casefold()
    for language in ("en", "zh"):
        step = unblock(make_verdict(finding), PLAIN.speaking(load(language)))
        assert not set("≥≤−") & set(step)


@pytest.mark.parametrize(("times", "reachable"), [(1, True), (100, True), (101, False), (3_000, False)])
def test_a_number_of_samples_that_nobody_evaluates_is_not_advised(times: int, reachable: bool) -> None:
    finding = unsettled(samples=200, samples_needed=200 * times)
    said = describe(finding)
    assert ("samples would settle it" in said.replace("no realistic number of ", "no ")) is True
    assert ("no realistic number of samples would settle it" in said) is not reachable
    step = unblock(make_verdict(finding, fail_on="inconclusive"))
    assert step.startswith("settle answer_correct with about" if reachable else "improve answer_correct,")


def test_only_a_written_file_is_pointed_to() -> None:
    for verdict in (design_verdict(), fine_verdict(), loosened_verdict()):
        assert "verdict.json" not in text.render(verdict)
        assert "All checks: -v, or verdict.json." in text.render(verdict, with_files=True)


def _missing(metric: str, **changed: Any) -> LeftOutValues:
    fields: dict[str, Any] = {
        "metric": metric,
        "run": "candidate",
        "slice": None,
        "cause": "no_answer",
        "counted_as": "worst",
        "samples": 1,
        "of": 30,
        "ids": ["q1"],
    }
    return LeftOutValues(**(fields | changed))


def test_equal_lines_of_missing_values_are_one_and_say_no_two_things() -> None:
    verdict = design_verdict()
    assert verdict.pairing is not None
    parts = [
        _missing("answered"),
        _missing("faithful"),
        _missing("recall", ids=["q2"]),
        _missing("cost", cause="no_score", counted_as="left out"),
        _missing("tokens", samples=0, ids=[]),
        _missing("\ud800"),
    ]
    pairing = verdict.pairing.model_copy(update={"no_answer": parts, "no_score": []})
    lines = facts.left_out(verdict.model_copy(update={"pairing": pairing}), PLAIN)
    assert lines[1:] == [
        "answered, faithful, \ud800: no answer for 1 of 30 in the candidate, counted as the worst: q1",
        "recall: no answer for 1 of 30 in the candidate, counted as the worst: q2",
        "cost: no score for 1 of 30 in the candidate, left out: q1",
    ]
    shown = text.render(verdict.model_copy(update={"pairing": pairing}), width=200)
    assert not [line for line in shown.split("\n") if line.startswith("left out") and "worst" in line]


@pytest.mark.parametrize("width", [60, 72, 80])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_too_narrow_for_the_drawing_still_has_its_numbers(width: int, language: str) -> None:
    rule = "answers-hold-where-text-is-given"
    slices = [f"a-rather-long-name-of-a-slice=number-{number}" for number in range(14)]
    verdict = make_verdict(*(make_finding(rule=rule, slice=name) for name in slices))
    page = text.render(verdict, width=width, language=language)
    listed = [line for line in page.split("\n") if line.startswith("- ")]
    drawn = any("●" in line for line in listed)
    assert len(listed) == (12 if drawn else 10)
    assert all(display_width(line) <= width for line in page.split("\n"))
    if not drawn:
        numbers = _joined(page.partition("\n- ")[2].partition("\n\n")[0])
        assert numbers.count("−14.4") == 10
        assert numbers.count("≥ −5.0") == 10


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize(
    "verdict",
    [
        make_verdict(make_finding(), make_finding(rule="other", slice="language=en")),
        make_verdict(unsettled(), passing()),
        make_verdict(unsettled(), unsettled(rule="other", samples=211)),
        design_verdict(),
    ],
)
def test_the_sentence_of_the_headline_is_not_said_again_below(verdict: Verdict, verbose: bool) -> None:
    page = _joined(text.render(verdict, verbose=verbose))
    first = verdict.findings[0]
    assert page.count(describe(first).rstrip(".")) == 1
    for finding in verdict.findings if verbose else ():
        assert f" {finding.rule}: " in page


def test_a_page_marks_names_as_code_and_shows_no_mark_of_another_language() -> None:
    for language in ("en", "zh"):
        page = html.render(whole_system_verdict(), language=language)
        assert "`" not in page
        assert "<code>layer:</code>" in page


_LOOK = """<script>
onload = () => {
  const beyond = [];
  document.querySelectorAll('section').forEach(section => {
    const end = section.getBoundingClientRect().right - parseFloat(getComputedStyle(section).paddingRight);
    section.querySelectorAll('td, tbody th, table, svg, p, dd').forEach(one => {
      if (one.getBoundingClientRect().right > end + 1) beyond.push(section.id + ': ' + one.textContent);
    });
  });
  document.querySelectorAll('td').forEach(cell => {
    if (cell.scrollWidth > cell.clientWidth + 1) beyond.push('cut off: ' + cell.textContent);
  });
  if (document.documentElement.scrollWidth > innerWidth) beyond.push('the page is wider than the window');
  document.title = 'seen ' + beyond.length + ' ' + beyond.slice(0, 3).join('; ');
}
</script></body>"""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_cell_leaves_its_card_in_a_browser(tmp_path: Path, language: str) -> None:
    wide = make_finding(
        rule="latency-both",
        metric="latency_p95",
        show_as="number",
        unit="ms",
        direction="lower",
        slice="collection=a-longer-name",
        baseline=11_910.0,
        candidate=14_510.0,
        gain=-2_600.0,
        relative_gain=-0.218,
        threshold=-1_910.0,
        worse_by_at_most=1_910.0,
        interval=span(-3_000.0, -2_200.0),
        smallest_visible_change=1_234.0,
        samples=12_212,
        clusters=1_800,
        worse=7_172,
        better=4_040,
        layer="system",
    )
    verdict = make_verdict(*whole_system_verdict().findings, wide, cost_limit(rule="cost-line-total"))
    page = re.sub(
        '<meta http-equiv="Content-Security-Policy"[^>]*>', "", html.render(verdict, language=language)
    )
    (tmp_path / "page.html").write_text(page.replace("</body>", _LOOK), encoding="utf-8")
    widths = (1200, 1081, 1000, 800, 400)
    frames = "".join(
        f'<iframe src="page.html" style="width:{width}px;height:900px"></iframe>' for width in widths
    )
    collect = (
        "<script>setTimeout(() => document.body.dataset.seen = [...frames].map(one => one.document.title)"
        ".join('\\n'), 1000)</script>"
    ).replace("[...frames]", "Array.from({length: frames.length}, (_, at) => frames[at])")
    (tmp_path / "frames.html").write_text(f"<body>{frames}{collect}</body>", encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    seen = subprocess.run(
        [
            "chromium",
            *options,
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=4000",
            "--dump-dom",
            (tmp_path / "frames.html").as_uri(),
        ],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    told = re.search('data-seen="([^"]*)"', seen.stdout)
    assert told is not None
    assert told[1].split("\n") == ["seen 0 "] * len(widths) or told[1].split("\n") == ["seen 0"] * len(widths)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_only_a_step_that_would_help_is_advised(language: str) -> None:
    """A waiver lets through what its rule blocks: what only fail-on blocks, or a hard rule, it does not."""
    said = PLAIN.speaking(load(language))
    offer = load(language).say("unblock.waive", rule="correct-holds", file="gates/support-rag.yml", line="41")
    by_rule = make_verdict(unsettled(blocks=True, on_inconclusive="fail"), fail_on="inconclusive")
    assert offer in unblock(by_rule, said)
    only_asked_for = make_verdict(unsettled(), fail_on="inconclusive")
    assert offer not in unblock(only_asked_for, said)
    assert unblock(only_asked_for, said).rstrip(".。")[-1] not in ";； "


@pytest.mark.parametrize(
    ("samples", "said"),
    [(40, "have the samples of old_answer in regression_set scored again"), (0, "give old_answer in")],
)
def test_what_has_samples_is_not_asked_for_some(samples: int, said: str) -> None:
    unknown = every(metric="old_answer", samples=samples, failing=[], failing_count=0)
    assert unblock(make_verdict(unknown)).casefold().startswith(said.casefold())


@pytest.mark.parametrize(
    ("failing", "said"), [(1, "1 of 40 misses"), (2, "2 of 40 miss"), (0, "0 of 40 miss")]
)
def test_one_sample_misses_and_two_miss(failing: int, said: str) -> None:
    assert found(every(failing_count=failing), PLAIN) == said


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("same", [None, False])
def test_a_gate_that_is_taken_away_is_told_in_every_report(language: str, same: bool | None) -> None:
    """Also where nothing is known of the base branch's own policy of the gates that are left."""
    gone = PolicyChange(path="gates/old.yml", base="present", now=None, loosens=True)
    verdict = _with_policy(fine_verdict(), changes=[gone], same_as_base=same)
    said = load(language).say("policy.loosened", changes=load(language).say("count.changes", count=1))
    assert f"::{said}\n" in annotations.render(verdict, language=language)
    assert said in codequality.render(verdict, language=language)
    for report in (markdown, html, text):
        assert "gates/old.yml" in report.render(verdict, language=language)
