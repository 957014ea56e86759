"""The terminal report."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.findings import Status
from gateline.reports import text
from gateline.reports.escape import display_width
from gateline.verdict import Verdict

from .hostile import ATTACKS, replace_texts, texts
from .verdicts import (
    cost_limit,
    design_verdict,
    fine_verdict,
    huge_verdict,
    invalid_verdict,
    loosened_verdict,
    make_finding,
    make_verdict,
    skipped,
    unsettled,
)

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("verdict", "first"),
    [
        (design_verdict(), "✗ support-rag: blocked"),
        (fine_verdict(), "✓ support-rag: passed"),
        (loosened_verdict(), "! support-rag: passed, policy loosened"),
        (make_verdict(unsettled()), "! support-rag: passed with warnings"),
        (invalid_verdict(), "gateline: no verdict: 3 problems in gates/support-rag.yml"),
        (make_verdict(skipped()), "gateline: no verdict: no check could be judged"),
    ],
)
def test_the_first_line_says_the_outcome(verdict: Verdict, first: str) -> None:
    for options in ({}, {"verbose": True}, {"width": 60}):
        assert text.render(verdict, **options).split("\n")[0] == first
    assert text.render(verdict, quiet=True).startswith(first)


def test_problems_are_told_a_line_each_as_the_design_has_it() -> None:
    assert text.render(invalid_verdict()).split("\n") == [
        "gateline: no verdict: 3 problems in gates/support-rag.yml",
        "  gates/support-rag.yml:25  metrics.latency_p95.better: must be 'higher' or 'lower', not 'lwer'",
        (
            "  gates/support-rag.yml:38  statistics.confidence: must be below 100 %, not 9500 %   "
            "(write 95% or 0.95)"
        ),
        (
            "  gates/support-rag.yml:46  rules[0] no-severe-errors: unknown field 'at_moost'   "
            "(did you mean 'at_most'?)"
        ),
        "",
    ]


def test_no_verdict_because_nothing_was_judged_says_what_was_not() -> None:
    made = text.render(make_verdict(skipped()))
    assert "8.3 points worse; too few to judge: 12" in " ".join(made.split())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("make", [design_verdict, fine_verdict, loosened_verdict])
@pytest.mark.parametrize("verbose", [False, True])
def test_every_line_fits_the_width(width: int, make: Callable[[], Verdict], verbose: bool) -> None:
    for line in text.render(make(), width=width, verbose=verbose).split("\n"):
        longest_word = max(map(display_width, line.split() or [""]))
        assert display_width(line) <= max(width, longest_word + 4)


def test_a_number_is_not_parted_from_its_percent_sign() -> None:
    for width in range(40, 120):
        for line in text.render(design_verdict(), width=width, verbose=True).split("\n"):
            assert not line.lstrip().startswith("%")


def test_wrapping_loses_nothing() -> None:
    narrow, wide = (" ".join(text.render(fine_verdict(), width=width).split()) for width in (40, 10_000))
    assert narrow == wide


@pytest.mark.parametrize("make", [design_verdict, fine_verdict, loosened_verdict, invalid_verdict])
@pytest.mark.parametrize("quiet", [False, True])
def test_colour_changes_nothing_but_colour(make: Callable[[], Verdict], quiet: bool) -> None:
    plain, coloured = (text.render(make(), quiet=quiet, colour=colour) for colour in (False, True))
    assert "\x1b" not in plain
    assert coloured != plain
    assert ANSI.sub("", coloured) == plain
    assert all(line.count("\x1b[0m") * 2 == line.count("\x1b[") for line in coloured.split("\n"))


@pytest.mark.parametrize("make", [design_verdict, fine_verdict, loosened_verdict, invalid_verdict])
def test_quiet_is_one_line(make: Callable[[], Verdict]) -> None:
    made = text.render(make(), quiet=True)
    assert made.endswith("\n")
    assert made.count("\n") == 1


def test_verbose_names_every_check() -> None:
    verdict = huge_verdict(60)
    brief, whole = text.render(verdict), text.render(verdict, verbose=True)
    for number in range(60):
        assert f"tenant-{number:04}" in whole
    assert "tenant-0007" not in brief
    assert "gateline check --policy gates/support-rag.yml" in whole


def test_long_lists_are_cut_and_counted() -> None:
    verdict = make_verdict(*(make_finding(slice=f"s=l{number}") for number in range(30)))
    made = text.render(verdict)
    assert "blocks (30)" in made
    assert "and 20 more, see -v\n" in made
    assert "and 20 more, see -v or verdict.json" in text.render(verdict, with_files=True)


def test_a_reported_but_unenforced_fail_says_so() -> None:
    made = text.render(make_verdict(make_finding(), fail_on="never"))
    assert made.startswith("✗ support-rag: blocked\n")
    assert "The exit code is 0 because --fail-on is never." in made


def test_fail_on_inconclusive_names_the_unsettled_check() -> None:
    made = text.render(make_verdict(unsettled(), fail_on="inconclusive"))
    assert made.startswith("✗ support-rag: blocked\nanswer_correct fell 79.9 %")
    assert "settle answer_correct with about 3,400 samples (now 212)" in " ".join(made.split())


def test_a_loosened_policy_leads() -> None:
    made = text.render(loosened_verdict())
    loud = made.index("This change loosens the policy")
    assert loud < made.index("questions in both runs")
    assert "the base branch's policy would block: answer_correct in language=de fell" in " ".join(
        made.split()
    )
    assert "rules.correct-by-slice.worse_by_at_most: 0.05 → 0.2 (loosens)" in made


def test_a_hard_rule_can_not_be_waived() -> None:
    made = " ".join(text.render(make_verdict(cost_limit(hard=True, status=Status.FAIL, blocks=True))).split())
    assert "To unblock: bring cost to at most 0.0120 USD (now 0.0131 USD); cost-line is a hard rule" in made
    assert "record a waiver" not in made


@settings(max_examples=30, deadline=None)
@given(texts | st.sampled_from(ATTACKS), st.integers(40, 130), st.booleans())
def test_no_text_from_a_file_is_more_than_text(hostile: str, width: int, verbose: bool) -> None:
    harmless = [text.render(replace_texts(make(), "abc"), width=10_000, verbose=verbose) for make in _MAKERS]
    for make, expected in zip(_MAKERS, harmless, strict=True):
        verdict = replace_texts(make(), hostile)
        made = text.render(verdict, width=10_000, verbose=verbose)
        assert made.count("\n") == expected.count("\n")
        for page in (made, text.render(verdict, width=width), text.render(verdict, quiet=True)):
            assert not any(line.strip().startswith("::") or "##[" in line for line in page.split("\n"))
            assert set(page) & {chr(code) for code in (*range(32), *range(127, 160))} <= {"\n"}
            page.encode()


_MAKERS = [design_verdict, loosened_verdict, invalid_verdict]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 50, 60, 70, 80, 90, 100, 110])
def test_a_page_too_narrow_for_the_drawing_says_from_where_on_it_is_drawn(width: int, language: str) -> None:
    """Nothing that is drawn goes away without a word, and at that width it is there; the interval is told anyway."""
    made = text.render(design_verdict(), width=width, language=language)
    told = re.search(r"(\d+) (?:columns on|列时绘图)", made)
    assert (told is None) == ("├" in made)
    if told is not None:
        assert int(told[1]) > width
        assert "├" in text.render(design_verdict(), width=int(told[1]), language=language)
        flat = "".join(made.split())
        assert all(ends in flat for ends in ("−24.5…−5.4", "−4.9…+1.5", "+3.3…+5.3"))
