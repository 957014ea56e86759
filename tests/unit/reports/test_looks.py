"""Nothing that fell goes unsaid: slices too small to be judged, slices worse than the whole, and counts that agree."""

from __future__ import annotations

import re
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.findings import Finding, Status
from gateline.remark import Remark
from gateline.reports import html, markdown, text
from gateline.reports.annotations import render as annotate
from gateline.reports.headline import PASSED, WARNED, counts_line, headline, outcome
from gateline.reports.looks import needing_a_look
from gateline.verdict import LeftOutIds, Verdict

from .verdicts import make_finding, make_verdict, passing, skipped, span, unsettled

COLLAPSE = {
    "slice": "risk=high",
    "samples": 20,
    "clusters": 20,
    "baseline": 0.9,
    "candidate": 0.4,
    "gain": -0.5,
    "worse": 11,
}
NOISE = {
    "slice": "risk=high",
    "samples": 20,
    "clusters": 20,
    "baseline": 0.9,
    "candidate": 0.8,
    "gain": -0.1,
    "worse": 3,
}


def faces(verdict: Verdict) -> dict[str, str]:
    """What people read first: each report without what is folded or asked for."""
    comment = markdown.render(verdict).split("<details>")[0]
    page = html.render(verdict).split("<main>")[0]
    return {
        "headline": headline(verdict),
        "comment": comment,
        "page": re.sub(r"<style>.*?</style>|<[^>]+>", "", page, flags=re.DOTALL),
        "terminal": text.render(verdict),
        "annotations": annotate(verdict).replace("%25", "%"),
    }


@pytest.mark.parametrize("fail_on", ["fail", "inconclusive", "never"])
@pytest.mark.parametrize(
    "others",
    [
        [passing()],
        [passing(), unsettled()],
        [passing(), make_finding()],
        [passing(), unsettled(on_inconclusive="pass")],
    ],
    ids=["all pass", "one warns", "one blocks", "one let through"],
)
def test_a_slice_that_collapsed_and_was_too_small_to_be_judged_is_named_at_once(
    others: list[Finding], fail_on: str
) -> None:
    """Whatever else the verdict holds: it must not be green, or speak of something else, without a word on it."""
    verdict = make_verdict(*others, skipped(**COLLAPSE), fail_on=fail_on)
    assert outcome(verdict) != PASSED
    for name, said in faces(verdict).items():
        flat = " ".join(said.replace("`", "").split())
        assert "risk=high" in flat, name
        assert re.search(r"90\.0 (% )?→ 40\.0 %", flat), name
        assert "oo few to judge" in flat, name


def test_what_a_skipped_slice_says_changes_no_verdict() -> None:
    verdict = make_verdict(passing(), skipped(**COLLAPSE))
    assert (verdict.verdict, verdict.exit_code, verdict.counts["skipped"]) == ("pass", 0, 1)


def test_a_small_fall_in_a_small_slice_is_listed_and_does_not_cry_wolf() -> None:
    verdict = make_verdict(passing(), skipped(**NOISE))
    assert outcome(verdict) == PASSED
    assert "risk=high" not in headline(verdict)
    for said in (markdown.render(verdict), text.render(verdict), html.render(verdict)):
        assert "risk=high" in said.split("<main>")[0]


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_plain_fall_is_one_that_chance_makes_less_than_one_time_in_twenty_five(
    worse: int, better: int
) -> None:
    """Held against the exact sign test."""
    samples = max(worse + better, 1)
    finding = skipped(**COLLAPSE | {"samples": samples, "worse": worse, "better": better, "same": 0})
    moved = worse + better
    chance = sum(comb(moved, few) for few in range(better + 1)) / 2**moved
    if finding.fell_unjudged:
        assert chance < 0.04
    elif worse > better:
        assert chance > 0.015


@pytest.mark.parametrize(
    ("changed", "is_told"),
    [
        ({"worse_by_at_most": 0.49}, True),
        ({"worse_by_at_most": 0.51}, False),
        ({"worse_by_at_most": "50%"}, True),
        ({"worse_by_at_most": "60%"}, False),
        ({"worse_by_at_most": ["10%", 0.6]}, False),
        ({"worse_by_at_most": ["10%", 0.4]}, True),
        ({"kind": "improvement", "better_by_at_least": 0.03}, True),
        ({"worse_by_at_most": "many"}, False),
        ({"worse_by_at_most": []}, False),
        ({"better": None}, False),
        ({"gain": None}, False),
        ({"status": Status.PASS}, False),
        ({"notes_said": []}, False),
        ({"worse": 10**400}, True),
    ],
)
def test_a_fall_within_what_the_rule_allows_is_none(changed: dict[str, object], is_told: bool) -> None:
    """Also of a verdict file that somebody wrote by hand, which must not break a report."""
    assert skipped(**COLLAPSE | changed).fell_unjudged is is_told


def test_a_shown_loss_that_a_rule_lets_through_unsettled_is_named() -> None:
    """`on_inconclusive: pass` blocks and warns of nothing; it keeps no loss from who reads the first sentence."""
    loss = unsettled(slice="risk=high", gain=-0.3, interval=span(-0.5, -0.01), on_inconclusive="pass")
    verdict = make_verdict(passing(), loss)
    assert outcome(verdict) == PASSED
    assert "let through by its rule, but worse: answer_correct in risk=high" in headline(verdict)
    noise = loss.model_copy(update={"interval": span(-0.5, 0.1)})
    assert "risk=high" not in headline(make_verdict(passing(), noise))


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), min_size=1, max_size=5),
    st.sampled_from(["fail", "never"]),
)
def test_a_plain_fall_that_a_rule_lets_through_is_named_as_one_too_small_to_be_judged_is(
    moved: list[tuple[int, int]], fail_on: str
) -> None:
    """An interval over zero excuses none: the same pairs are told whether they were judged or not, the worst first."""
    falls = []
    for at, (worse, better) in enumerate(moved):
        gain = (better - worse) / 40
        numbers = {
            "slice": f"topic=t{at}", "samples": 40, "clusters": 40, "baseline": 0.9, "candidate": 0.9 + gain,
            "gain": gain, "worse": worse, "better": better, "threshold": -0.1, "worse_by_at_most": 0.1,
        }  # fmt: skip
        open_one = unsettled(**numbers, interval=span(-0.8, 0.4), on_inconclusive="pass")
        assert open_one.fell_plainly is skipped(**numbers | {"threshold": None}).fell_unjudged
        assert not open_one.warns
        falls.append(open_one)
    plain = [one for one in falls if one.fell_plainly]
    verdict = make_verdict(passing(), *falls, fail_on=fail_on)
    said = headline(verdict)
    assert outcome(verdict) == PASSED
    assert ("let through by its rule, but worse" in said) is bool(plain)
    if plain:
        worst = max(plain, key=lambda one: one.missed_by)
        assert f"worse: answer_correct in {worst.slice} " in said


def test_nine_worse_and_none_better_of_twenty_are_named_before_a_smaller_fall_that_is_shown() -> None:
    numbers = {
        "samples": 20,
        "clusters": 20,
        "threshold": -0.1,
        "worse_by_at_most": 0.1,
        "on_inconclusive": "pass",
    }
    fell = unsettled(
        **numbers, slice="risk=high", baseline=0.85, candidate=0.4, gain=-0.45, worse=9, better=0,
        interval=span(-0.8, 0.02),
    )  # fmt: skip
    shown = unsettled(
        **numbers, metric="faithfulness", slice="risk=high", baseline=0.85, candidate=0.7, gain=-0.15,
        worse=15, better=5, interval=span(-0.3, -0.01),
    )  # fmt: skip
    said = headline(make_verdict(passing(), shown, fell))
    assert "but worse: answer_correct in risk=high 85.0 → 40.0 % in 20 pairs and 1 more" in said


@pytest.mark.parametrize("key", ["note.left-out", "note.none-usable", "note.unknown-samples"])
def test_a_check_that_lost_its_evidence_is_told_first_whatever_its_rule_lets_through(key: str) -> None:
    values = {"left_out": "12", "asked": "20", "count": 20}
    lost = unsettled(
        slice="risk=high", gain=-0.01, on_inconclusive="pass", notes_said=[Remark(key=key, values=values)]
    )
    verdict = make_verdict(passing(), unsettled(gain=-0.2), lost)
    assert (verdict.verdict, verdict.exit_code, outcome(verdict)) == ("pass", 0, WARNED)
    assert needing_a_look(verdict)[0] is lost
    assert "look at this: answer_correct in risk=high" in headline(verdict)
    gone = lost.model_copy(update={"slice": "risk=low", "samples": 0, "gain": None, "candidate": None})
    assert needing_a_look(make_verdict(passing(), lost, gone))[0] is gone


def test_a_comment_says_how_many_questions_the_candidate_lacks_also_where_it_is_short() -> None:
    """What is not there is seen in no number of the comment."""
    whole = make_verdict(passing(), passing(rule="other"))
    pairing = whole.pairing
    assert pairing is not None
    lacking = pairing.model_copy(update={"only_in_baseline": LeftOutIds(samples=20, ids=[], slices={})})
    none = pairing.model_copy(update={"only_in_baseline": LeftOutIds(samples=0, ids=[], slices={})})
    said = {
        part: markdown.render(whole.model_copy(update={"pairing": part_of}))
        for part, part_of in (("lacking", lacking), ("none", none))
    }
    assert "<details>" not in said["lacking"]
    assert "The candidate lacks 20 questions of the baseline." in said["lacking"]
    assert "lacks" not in said["none"]


def test_the_worse_slice_is_told_where_the_headline_tells_of_the_whole() -> None:
    """In the unit of its own bound the whole may miss by more; people in the slice still lose most."""
    whole = make_finding(rule="holds", slice=None, gain=-0.144, threshold=-0.02, worse_by_at_most=0.02)
    worse = make_finding(slice="language=fr", gain=-0.3, candidate=0.51, interval=span(-0.4, -0.2))
    worse = worse.model_copy(update={"threshold": -0.1, "worse_by_at_most": 0.1})
    said = headline(make_verdict(whole, worse, passing()))
    assert said.startswith("answer_correct fell 81.0 % → 66.6 %")
    assert "language=fr lost most: 81.0 → 51.0 % in 90 pairs." in said


@pytest.mark.parametrize(
    "changed",
    [{"gain": -0.1}, {"status": Status.PASS, "blocks": False}, {"metric": "faithfulness"},
     {"status": Status.INCONCLUSIVE, "blocks": False, "interval": span(-0.6, 0.1)}],
    ids=["smaller", "allowed", "another metric", "not shown"],
)  # fmt: skip
def test_no_slice_is_told_that_is_not_shown_to_lose_more(changed: dict[str, object]) -> None:
    whole = make_finding(rule="holds", slice=None, threshold=-0.02, worse_by_at_most=0.02)
    worse = make_finding(**{"gain": -0.3, "interval": span(-0.4, -0.2)} | changed)
    assert "lost most" not in headline(make_verdict(whole, worse, passing()))


CHECKS = st.sampled_from(
    [
        passing(),
        make_finding(),
        unsettled(),
        unsettled(on_inconclusive="pass"),
        unsettled(on_inconclusive="fail", blocks=True),
        make_finding(status=Status.WAIVED, blocks=False),
        skipped(),
        skipped(**COLLAPSE),
    ]
)


@given(st.lists(CHECKS, min_size=1, max_size=9), st.sampled_from(["fail", "inconclusive", "never"]))
def test_all_reports_count_alike(checks: list[Finding], fail_on: str) -> None:
    """Headline, counts, list and drawing say the same number of what needs a look."""
    made = [one.model_copy(update={"rule": f"rule-{at}"}) for at, one in enumerate(checks)]
    verdict = make_verdict(*made, fail_on=fail_on)
    if verdict.verdict == "invalid":
        return
    looks = len(needing_a_look(verdict))
    told = re.search(r"; (\d+) needs? a look$", counts_line(verdict))
    assert (int(told[1]) if told else 0) == looks
    page = text.render(verdict)
    listed = re.search(r"^needs a look \((\d+)\)$", page, re.MULTILINE)
    assert (int(listed[1]) if listed else 0) == looks
    rows = [
        row[0] for row in markdown.render(verdict).partition("```diff\n")[2].partition("```")[0].splitlines()
    ]
    if rows and fail_on == "fail":
        assert rows.count("!") == looks
    if outcome(verdict) == WARNED:
        more = re.search(r"(\d+) more checks? needs? a look", headline(verdict))
        assert (int(more[1]) if more else 0) == looks - 1
