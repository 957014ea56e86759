"""`doctor`: copies are what they claim to be, and the rates are those that theory gives."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from gateline.cli import run
from gateline.doctor import Examination, Plan, examine
from gateline.doctor.copies import Change, put_in, redo_answers, swap_sides
from gateline.doctor.examination import rate
from gateline.doctor.page import render_page
from gateline.doctor.text import render_text
from gateline.figures import about
from gateline.gate import compare
from gateline.policy import load_policy
from gateline.reports.escape import display_width

POLICY = """\
version: 1
name: tried
samples: {{at_least: 5{cluster}}}
metrics:
  correct: {{better: higher, range: [0, 1], show_as: percent}}
  latency_ms: {{better: lower, unit: ms}}
rules:
{rules}
"""


def write(folder: Path, rules: str, before, after, *, cluster: str = "", **fields) -> tuple:
    """Write a policy and two runs of pass/fail values; `fields` are lists of labels."""
    policy = folder / "policy.yml"
    policy.write_text(POLICY.format(rules=rules, cluster=cluster))
    for name, values in (("b", before), ("c", after)):
        records = []
        for number, value in enumerate(values):
            labels = {key: column[number] for key, column in fields.items()}
            records.append(
                {
                    "id": f"q{number:04}",
                    "metrics": {"correct": int(value)},
                    "latency_ms": 100 + number,
                    **labels,
                }
            )
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return load_policy(policy), str(folder / "b.jsonl"), str(folder / "c.jsonl")


def pass_fail(lost: int, gained: int, same: int):
    before = np.r_[np.ones(lost), np.zeros(gained), np.ones(same)]
    after = np.r_[np.zeros(lost), np.ones(gained), np.ones(same)]
    return before, after


TOLERANCE = (
    "  - {kind: tolerance, metric: correct, worse_by_at_most: 0, decide_by: value, on_inconclusive: warn}"
)


def test_false_alarms_are_those_of_a_fair_coin(tmp_path: Path) -> None:
    # Of 15 pairs that differ each is a loss with chance one half: by value, more losses than gains fail.
    policy, before, after = write(tmp_path, TOLERANCE, *pass_fail(9, 6, 25))
    found = examine(policy, before, after, Plan(copies=2_000, processes=1))
    chance = float(binom.sf(7, 15, 0.5))
    assert found.false_alarms.share == pytest.approx(chance, abs=4 * math.sqrt(0.25 / 2_000))
    assert found.false_alarms.low < chance < found.false_alarms.high
    assert found.unshown.count == 0
    assert found.noise == "swapped"


def test_clusters_are_swapped_as_wholes(tmp_path: Path) -> None:
    cluster = [f"document {number // 5}" for number in range(40)]
    policy, before, after = write(
        tmp_path, TOLERANCE, *pass_fail(15, 5, 20), cluster=", cluster: doc", doc=cluster
    )
    pairs = compare(policy, before, after).pairs
    losses = set()
    for seed in range(60):
        copy = swap_sides(pairs, np.random.default_rng(seed))
        values = copy.metrics["correct"]
        losses.add(int((values.candidate.value < values.baseline.value).sum()))
        kept = values.candidate.value == pairs.metrics["correct"].candidate.value
        for code in range(len(pairs.cluster_names)):
            rows = np.flatnonzero(pairs.cluster == code)
            assert len(rows) == 5
            differ = rows[
                pairs.metrics["correct"].candidate.value[rows]
                != pairs.metrics["correct"].baseline.value[rows]
            ]
            assert kept[differ].all() or not kept[differ].any()
    assert losses == {0, 5, 10, 15, 20}  # four documents differ, each as a whole


def test_a_drop_is_as_large_as_it_says_on_average_and_larger_ones_hold_smaller_ones(tmp_path: Path) -> None:
    policy, before, after = write(
        tmp_path,
        TOLERANCE,
        *pass_fail(0, 0, 200),
        slices=[{"language": "de" if n < 60 else "en"} for n in range(200)],
    )
    comparison = compare(policy, before, after)
    metric = comparison.metrics["correct"]
    rows = comparison.pairs.labels.rows("language=de")
    means = []
    for seed in range(400):
        chances = np.random.default_rng(seed).random(200)
        small, large = (
            put_in(Change("correct", "language=de", size), comparison.pairs, metric, chances).metrics[
                "correct"
            ]
            for size in (0.05, 0.2)
        )
        assert (large.candidate.value <= small.candidate.value).all()
        outside = np.setdiff1d(np.arange(200), rows)
        assert (small.candidate.value[outside] == 1).all()
        means.append(1 - small.candidate.value[rows].mean())
    assert np.mean(means) == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 60 / 400))


def test_what_has_not_so_far_to_fall_is_not_tried(tmp_path: Path) -> None:
    before, after = pass_fail(0, 0, 20)
    after[:19] = 0
    policy, *files = write(tmp_path, TOLERANCE, before, after)
    comparison = compare(policy, *files)
    chances = np.zeros(20)
    assert (
        put_in(Change("correct", None, 0.10), comparison.pairs, comparison.metrics["correct"], chances)
        is None
    )
    found = examine(policy, files[1], files[1], Plan(copies=5, processes=1))
    assert [one.blocked is None for one in found.powers if one.metric == "correct"] == [
        False,
        False,
        False,
        True,
    ]


def test_a_metric_without_a_range_gets_worse_by_a_share_of_itself(tmp_path: Path) -> None:
    policy, before, after = write(tmp_path, TOLERANCE, *pass_fail(1, 1, 20))
    comparison = compare(policy, before, after)
    changed = put_in(
        Change("latency_ms", None, 0.1), comparison.pairs, comparison.metrics["latency_ms"], np.zeros(22)
    )
    expected = 1.1 * comparison.pairs.metrics["latency_ms"].candidate.value
    assert changed.metrics["latency_ms"].candidate.value == pytest.approx(expected)


def test_one_run_is_redone_in_the_share_that_is_assumed(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    values = (generator.random(1_000) < 0.5).astype(float)
    policy, before, _ = write(tmp_path, TOLERANCE, values, values)
    pairs = compare(policy, before, before).pairs
    copy = redo_answers(pairs, 0.2, np.random.default_rng(2))
    changed = (copy.metrics["correct"].candidate.value != copy.metrics["correct"].baseline.value).mean()
    assert changed == pytest.approx(0.2 * 0.5, abs=0.04)
    assert (copy.metrics["correct"].baseline.value == pairs.metrics["correct"].baseline.value).all()
    found = examine(policy, before, None, Plan(copies=20, processes=1, redone=0.2))
    assert (found.noise, found.redone, found.candidate) == ("redone", 0.2, None)


def test_power_rises_with_the_drop_and_reaches_what_theory_says(tmp_path: Path) -> None:
    # Nothing differs but what is put in; by value, a tolerance of 4 points of 100 fails from the fifth loss on.
    rule = "  - {kind: tolerance, metric: correct, worse_by_at_most: 0.04, decide_by: value, on_inconclusive: warn}"
    policy, before, _ = write(tmp_path, rule, *pass_fail(0, 0, 100))
    found = examine(policy, before, before, Plan(copies=100, processes=1))
    shares = [one.blocked.share for one in found.powers]
    expected = [float(binom.sf(4, 100, drop)) for drop in (0.0, 0.02, 0.05, 0.1)]
    assert shares == sorted(shares)
    for share, chance in zip(shares, expected, strict=True):
        assert share == pytest.approx(chance, abs=4 * math.sqrt(max(chance * (1 - chance), 0.002) / 100))


def test_a_check_that_can_never_decide_is_named_with_what_it_needs(tmp_path: Path) -> None:
    rules = (
        "  - {id: fine, kind: tolerance, metric: correct, worse_by_at_most: 0.2}\n"
        "  - {id: hopeless, kind: tolerance, metric: correct, slice: 'language=de', worse_by_at_most: 0.01}"
    )
    labels = [{"language": "de" if number < 12 else "en"} for number in range(120)]
    policy, before, after = write(tmp_path, rules, *pass_fail(3, 3, 114), slices=labels)
    found = examine(policy, before, after, Plan(copies=30, processes=1))
    decides = {one.rule: one.decides for one in found.checks}
    assert decides == {"fine": True, "hopeless": False}
    hopeless = next(one for one in found.checks if one.rule == "hopeless")
    assert hopeless.needs is not None and hopeless.needs > 12
    text = render_text(found, 80)
    assert "These checks settled nothing in any copy" in text
    assert "hopeless (correct · language=de)" in text.split("settled nothing")[1]


def mixed(count: int):
    """Return pass/fail values of which an eighth differ, as many either way, at any size."""
    differ = count // 16
    return pass_fail(differ, differ, count - 2 * differ)


def test_as_many_questions_as_are_said_to_be_needed_catch_the_drop(tmp_path: Path) -> None:
    rule = "  - {kind: tolerance, metric: correct, worse_by_at_most: 0.05}"
    policy, before, after = write(tmp_path, rule, *mixed(96))
    found = examine(policy, before, after, Plan(copies=100, processes=1))
    few = found.powers[-1]
    assert few.blocked.share < 0.5
    assert f"about {about(few.needs)} would catch it 4 times in 5" in " ".join(found.conclusion)
    policy, before, after = write(tmp_path, rule, *mixed(few.needs))
    found = examine(policy, before, after, Plan(copies=100, processes=1))
    assert found.powers[-1].blocked.share == pytest.approx(0.8, abs=0.15)
    assert not any("less than half" in sentence for sentence in found.conclusion)


BLOCKING = {
    "proof": "worse_by_at_most: 0.01, on_inconclusive: fail, kind: tolerance",
    "chance": "worse_by_at_most: 0, decide_by: value, kind: tolerance",
    "limit": "at_least: 0.999, kind: limit",
}


@pytest.mark.parametrize("why", BLOCKING)
def test_a_gate_that_blocks_what_did_not_change_is_told_so_with_the_rule_and_the_reason(
    tmp_path: Path, why: str
) -> None:
    rules = (
        f"  - {{id: guilty, metric: correct, {BLOCKING[why]}}}\n"
        "  - {id: innocent, kind: tolerance, metric: correct, worse_by_at_most: 0.5}"
    )
    policy, before, after = write(tmp_path, rules, *mixed(96))
    found = examine(policy, before, after, Plan(copies=60, processes=1))
    assert found.blocked.count == found.false_alarms.count + found.unshown.count
    text = " ".join(render_text(found, 100).split())
    told = text.partition("What follows")[2]
    assert (
        f"An unchanged system is blocked in {100 * found.blocked.share:.1f} % of the copies; above 5 %"
        in told
    )
    reason = {
        "proof": "it asks for proof",
        "chance": "chance alone breaks it",
        "limit": "lie beyond what it wants",
    }
    assert "- guilty (correct) blocks " in told
    assert reason[why] in told
    assert "innocent" not in told
    assert "Every check can decide" not in told


def limit_rule(kind: str, bound: float, *, metric: str = "latency_ms") -> str:
    return f"  - {{id: line, kind: limit, metric: {metric}, {kind}: {bound:.10g}}}"


@pytest.mark.parametrize("summary", ["mean", "p95", "median"])
@pytest.mark.parametrize("proof", ["fail", "pass"])
@pytest.mark.parametrize("room", [0.7, 0.995, 1.005, 1.2])
def test_what_is_said_of_the_runs_is_true_of_them_wherever_the_limit_lies(
    tmp_path: Path, summary: str, proof: str, room: float
) -> None:
    """Whatever a check on one run blocks, the reason compares the runs' own number with the limit."""
    rule = limit_rule("at_most", 1).replace(": 1}", f": LIMIT, on_inconclusive: {proof}}}")
    times = np.r_[np.full(80, 1000.0), np.full(10, 1100.0), np.linspace(1200, 4000, 10)]
    policy, before, after = write(tmp_path, rule.replace("LIMIT", "1"), *mixed(100))
    for file, values in ((before, times), (after, times[::-1])):
        records = [json.loads(line) for line in Path(file).read_text().splitlines()]
        for record, value in zip(records, values, strict=True):
            record["latency_ms"] = value
        Path(file).write_text("".join(json.dumps(record) + "\n" for record in records))
    value = {
        "mean": np.mean,
        "median": np.median,
        "p95": lambda x: np.quantile(x, 0.95, method="inverted_cdf"),
    }[summary](times)
    limit = float(value) * room
    text = POLICY.format(rules=rule.replace("LIMIT", f"{limit:.6f}"), cluster="")
    Path(policy.file).write_text(text.replace("unit: ms", f"unit: ms, summary: {summary}"))
    found = examine(load_policy(policy.file), before, after, Plan(copies=40, processes=1))
    told = " ".join(found.conclusion)
    finding = found.checks[0]
    assert finding.holds_plainly == (room > 1)
    says_beyond, says_keep = "lie beyond what it wants" in told, "keep it (" in told
    blocks = finding.fails.share + finding.blocks_unshown.share > 0.05
    assert (says_beyond or says_keep) == blocks
    assert says_beyond == (blocks and room < 1)
    assert says_keep == (blocks and room > 1)
    if says_keep:
        asks = finding.blocks_unshown.count > finding.fails.count
        assert ("the interval reaches beyond" in told) == asks
        assert ("carry copies across" in told or "carries copies across" in told) == (not asks)
        assert "mend the system" not in told


def test_the_table_says_of_which_copies_it_is_and_nothing_that_gets_dearer_is_called_a_fall(
    tmp_path: Path,
) -> None:
    rules = "  - {id: slower, kind: tolerance, metric: latency_ms, worse_by_at_most: 5%}"
    policy, before, after = write(tmp_path, rules, *mixed(60))
    found = examine(policy, before, after, Plan(copies=110, processes=2))
    text = " ".join(render_text(found, 100).split())
    tried = found.powers[0].blocked.of
    assert tried < found.copies == 110
    assert f"shares of the first {tried} of the 110 copies" in text
    assert f"the whole gate in all {found.copies}" in text
    for page in (text, render_page(found)):
        assert "latency_ms (%)" in page
        assert "in percent of itself" in page
        assert "gets worse by" in page
        for word in ("falls", "fell", "drop"):
            assert not re.search(rf"\b{word}\b", page.partition("</style>")[2] or page)


def test_the_conclusion_names_each_place_that_is_not_guarded_and_no_other(tmp_path: Path) -> None:
    rules = (
        "  - {kind: tolerance, metric: correct, worse_by_at_most: 0.02}\n"
        "  - {id: wide, kind: tolerance, metric: correct, slice: 'language=de', worse_by_at_most: 0.2}\n"
        "  - {id: gain, kind: improvement, metric: correct}"
    )
    labels = [{"language": "de" if number % 4 == 0 else "en"} for number in range(400)]
    policy, before, after = write(tmp_path, rules, *mixed(400), slices=labels)
    found = examine(policy, before, after, Plan(copies=40, processes=1))
    told = "\n".join(found.conclusion)
    for power in found.powers:
        if power.drop == 0.10:
            place = "correct" if power.slice is None else f"correct · {power.slice}"
            assert (f"- {place}: " in told) == (power.blocked.share < 0.5)
    assert "- correct · language=de: " in told
    assert "the rule there allows as much" in told
    assert "gain asks for a gain" in told
    assert "settled nothing" not in told  # an improvement has nothing to settle where nothing is better


def test_what_one_run_could_show_is_told_by_the_noise_that_is_assumed(tmp_path: Path) -> None:
    """A run held against itself has no noise of its own: the smallest visible change is not 0."""
    policy, before, _ = write(tmp_path, TOLERANCE.replace(": 0,", ": 0.01,"), *mixed(96))
    one = examine(policy, before, None, Plan(copies=20, processes=1))
    assert one.checks[0].visible_change > 0.03
    assert one.checks[0].allowed == 0.01


def test_the_counts_do_not_depend_on_how_the_work_is_shared_out(tmp_path: Path) -> None:
    policy, before, after = write(tmp_path, TOLERANCE, *pass_fail(5, 3, 40))
    told: list[tuple[int, int]] = []
    alone = examine(
        policy, before, after, Plan(copies=25, processes=1), lambda done, of: told.append((done, of))
    )
    shared = examine(policy, before, after, Plan(copies=25, processes=2))
    assert alone == shared
    assert told[-1] == (25, 25)
    assert examine(policy, before, after, Plan(copies=25, processes=1, seed=1)) != alone


@pytest.mark.parametrize(("count", "of"), [(0, 10), (10, 10), (3, 10), (0, 0)])
def test_a_rate_holds_its_share(count: int, of: int) -> None:
    found = rate(count, of)
    assert 0.0 <= found.low <= found.share <= found.high <= 1.0


def test_the_command_writes_text_json_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = [{"tag": "<b>&@x" if number % 2 else "plain"} for number in range(60)]
    rules = "  - {kind: tolerance, metric: correct, slice: 'tag=<b>&@x', worse_by_at_most: 0.1}"
    _, before, after = write(tmp_path, rules, *pass_fail(2, 2, 56), slices=labels)
    page = tmp_path / "out" / "doctor.html"
    common = [
        "doctor",
        str(tmp_path / "policy.yml"),
        "--baseline",
        before,
        "--candidate",
        after,
        "--copies",
        "12",
    ]
    assert run([*common, "-o", str(page)]) == 0
    text = capsys.readouterr()
    assert "12 copies in which nothing changed" in text.out
    assert "wrote" in text.err
    html = page.read_text()
    assert "<b>" not in html.split("</style>")[1]
    assert "&lt;b&gt;&amp;@x" in html
    assert html.count("<svg") == 2
    assert "<h2>What follows</h2>" in html
    assert run([*common, "--json"]) == 0
    found = Examination.model_validate_json(capsys.readouterr().out)
    assert found.copies == 12


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--copies", "0"], "--copies is '0'"),
        (["--copies", "many"], "--copies is 'many'"),
        (["--redone", "nan"], "--redone is 'nan'"),
        (["--seed", "-1"], "--seed is '-1'"),
    ],
)
def test_a_wrong_option_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], expected: str
) -> None:
    _, before, after = write(tmp_path, TOLERANCE, *pass_fail(1, 1, 20))
    assert (
        run(["doctor", str(tmp_path / "policy.yml"), "--baseline", before, "--candidate", after, *options])
        == 2
    )
    assert expected in capsys.readouterr().err


def test_runs_that_have_no_verdict_are_not_examined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, before, after = write(tmp_path, TOLERANCE, *pass_fail(1, 1, 2))
    assert run(["doctor", str(tmp_path / "policy.yml"), "--baseline", before, "--candidate", after]) == 2
    assert "too few for a verdict" in capsys.readouterr().err


def told_of(found: Examination) -> str:
    return " ".join(found.conclusion)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_no_line_is_wider_than_the_terminal_whatever_the_names_are(tmp_path: Path, width: int) -> None:
    long, wide = "a-very-long-value-of-a-label-" * 3, "没有空格的很长的中文标签" * 4
    rules = "".join(
        f"  - {{id: r{number}, kind: tolerance, metric: correct, slice: 'tag={name}', worse_by_at_most: 0.01}}\n"
        for number, name in enumerate((long, wide))
    )
    rules += "  - {id: times, kind: tolerance, metric: latency_ms, worse_by_at_most: 5%}"
    labels = [{"tag": long if number % 2 else wide} for number in range(60)]
    policy, before, after = write(tmp_path, rules, *pass_fail(2, 2, 56), slices=labels)
    found = examine(policy, before, after, Plan(copies=3, processes=1))
    lines = render_text(found, width).splitlines()
    assert [line for line in lines if display_width(line) > width] == []
    assert not any(line.lstrip().startswith("%") for line in lines)  # a number and its sign stay together
    rows = [line for line in lines if line.rstrip().endswith(" %") and line.startswith("  ")]
    assert len(rows) >= 4
    assert len({display_width(line.rstrip()) for line in rows if line.count(" %") == 4}) == 1


def test_one_of_a_thing_is_not_told_as_many(tmp_path: Path) -> None:
    policy, before, after = write(tmp_path, TOLERANCE, *pass_fail(1, 0, 0))
    Path(policy.file).write_text(Path(policy.file).read_text().replace("at_least: 5", "at_least: 1"))
    found = examine(load_policy(policy.file), before, after, Plan(copies=1, processes=1))
    for text in (render_text(found, 100), render_page(found)):
        assert not re.search(r"\b1 (questions|copies|samples|groups)\b", text)
        assert "1 question" in text
        assert "1 copy" in text
    policy, before, after = write(
        tmp_path, TOLERANCE, *pass_fail(2, 2, 6), cluster=", cluster: doc", doc=["one"] * 10
    )
    found = examine(policy, before, after, Plan(copies=1, processes=1))
    assert "10 questions in 1 group\n" in render_text(found, 100)


@pytest.mark.parametrize("copies", [1, 10, 400])
def test_no_more_is_said_of_false_alarms_than_the_copies_can_tell(tmp_path: Path, copies: int) -> None:
    """Whether people can live with a gate is told where the interval of the rate lies on one side of 5 %."""
    rule = "  - {kind: tolerance, metric: correct, worse_by_at_most: 0.01}"
    policy, before, after = write(tmp_path, rule, *pass_fail(1, 1, 158))
    found = examine(policy, before, after, Plan(copies=copies, processes=1))
    told = told_of(found)
    assert found.blocked.count == 0
    assert ("people can live with that" in told) == (found.blocked.high <= 0.05) == (copies == 400)
    assert ("can't tell on which side" in told) == (found.blocked.low <= 0.05 < found.blocked.high)
    assert ("0 of 1 copy (0.0 to 85.3 %)" in told) == (copies == 1)


@pytest.mark.parametrize("bound", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("copies", [10, 200])
def test_the_first_sentence_is_of_false_alarms_and_of_what_is_caught(
    tmp_path: Path, bound: float, copies: int
) -> None:
    """A gate that blocks nothing at all raises no false alarm; nobody is told to live with it."""
    rules = f"  - {{kind: tolerance, metric: correct, worse_by_at_most: {bound}}}"
    policy, before, after = write(tmp_path, rules, *pass_fail(1, 1, 158))
    found = examine(policy, before, after, Plan(copies=copies, processes=1))
    first, last = found.conclusion[0], found.powers[-1]
    guards = last.blocked is not None and last.blocked.share >= 0.5
    assert guards == (bound < 0.1)
    assert "gets worse by 10 points is caught in" in first
    assert ("less than half of the copies" in first) == (not guards)
    assert ("people can live with that" in told_of(found)) == (guards and copies == 200)
    if copies == 200:
        assert "An unchanged system is blocked in" in first.replace("That an", "An")


def test_runs_that_do_not_differ_say_nothing_of_chance(tmp_path: Path) -> None:
    policy, before, _ = write(tmp_path, TOLERANCE, *mixed(96))
    found = examine(policy, before, before, Plan(copies=5, processes=1))
    assert found.no_noise
    assert "is not known from them" in told_of(found)
    assert "live with" not in told_of(found)
    assert "counts as noise" not in told_of(found)
    for other in (None, str(tmp_path / "c.jsonl")):
        found = examine(policy, before, other, Plan(copies=5, processes=1))
        assert not found.no_noise
        assert "is not known from them" not in told_of(found)


def test_what_the_one_run_lacks_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, before, _ = write(tmp_path, TOLERANCE, *mixed(40))
    records = [json.loads(line) for line in Path(before).read_text().splitlines()]
    for record in records[:9]:
        record["metrics"]["correct"] = None
    Path(before).write_text("".join(json.dumps(record) + "\n" for record in records))
    assert run(["doctor", str(tmp_path / "policy.yml"), "--baseline", before]) == 2
    told = capsys.readouterr().err
    assert told.count("correct is missing for 9 of") == 1
    assert "rerun the evaluation" in told


def test_copies_without_a_verdict_are_told_and_never_taken_for_a_gate_that_lets_pass(tmp_path: Path) -> None:
    # The baseline lacks a value; a swap gives the gap to the candidate, where a hard rule must not trust it.
    rules = "  - {id: firm, kind: limit, metric: correct, at_least: 0.98, hard: true}"
    policy, before, after = write(tmp_path, rules, np.ones(20), np.ones(20))
    policy_text = Path(policy.file).read_text().replace("rules:", "missing: {drop_at_most: 20%}\nrules:")
    Path(policy.file).write_text(policy_text)
    records = [json.loads(line) for line in Path(before).read_text().splitlines()]
    records[3]["metrics"]["correct"] = None
    Path(before).write_text("".join(json.dumps(record) + "\n" for record in records))
    found = examine(load_policy(policy.file), before, after, Plan(copies=200, processes=1))
    assert found.no_verdict == pytest.approx(100, abs=4 * math.sqrt(200) / 2)
    assert found.blocked.of == 200 - found.no_verdict
    text = " ".join(render_text(found, 100).split())
    assert f"No verdict: {found.no_verdict} of 200 copies, such as: the hard rule firm" in text
    assert "had no verdict, which stops a change as well" in told_of(found)
    one = next(seed for seed in range(20) if _has_no_verdict(policy.file, before, after, seed))
    found = examine(load_policy(policy.file), before, after, Plan(copies=1, processes=1, seed=one))
    assert "No copy had a verdict" in told_of(found)
    assert "live with" not in told_of(found)


def _has_no_verdict(policy: str, before: str, after: str, seed: int) -> bool:
    plan = Plan(copies=1, processes=1, seed=seed)
    return examine(load_policy(policy), before, after, plan).no_verdict == 1


def test_the_advice_fits_the_kind_of_the_check(tmp_path: Path) -> None:
    """More questions do not mend a check of every single one, nor one that has none or too few by the policy."""
    rules = (
        "  - {id: single, kind: every, metric: correct, worse_by_at_most: 0.5}\n"
        "  - {id: small, kind: tolerance, metric: correct, slice: 'language=de', worse_by_at_most: 0.9}"
    )
    labels = [{"language": "de" if number < 12 else "en"} for number in range(96)]
    policy, before, after = write(tmp_path, rules, *mixed(96), slices=labels)
    found = examine(policy, before, after, Plan(copies=60, processes=1))
    told = [sentence for sentence in found.conclusion if sentence.startswith("- ")]
    single = next(sentence for sentence in told if sentence.startswith("- single (correct) blocks"))
    assert "a single sample breaks it" in single
    assert "ask more questions" not in single
    small = [sentence for sentence in told if sentence.startswith("- small")]
    assert small == ["- small (correct · language=de) has 12 samples, where slices.at_least asks for 30"]


def test_what_a_check_needs_at_least_is_what_the_gate_holds_it_to(tmp_path: Path) -> None:
    """Single samples need no number, but a family leaves a small slice alone whatever the rule, save a hard one."""
    every = "kind: every, metric: correct, at_least: 0.5"
    rules = (
        f"  - {{id: here, {every}, slice: 'language=de'}}\n"
        f"  - {{id: each, {every}, slices: [language]}}\n"
        f"  - {{id: firm, {every}, slices: [language], hard: true}}"
    )
    labels = [{"language": "de" if number < 12 else "en"} for number in range(96)]
    policy, before, after = write(tmp_path, rules, *mixed(96), slices=labels)
    checks = examine(policy, before, after, Plan(copies=1, processes=1)).checks
    asked = {(one.rule, one.slice): (one.at_least, one.status.value != "skipped") for one in checks}
    assert asked == {
        ("here", "language=de"): (0, True),
        ("each", "language=de"): (30, False),
        ("each", "language=en"): (30, True),
        ("firm", "language=de"): (0, True),
        ("firm", "language=en"): (0, True),
    }


def test_a_hard_rule_without_a_usable_sample_is_told_as_that(tmp_path: Path) -> None:
    rules = "  - {id: firm, kind: tolerance, metric: correct, slice: 'language=de', worse_by_at_most: 0, hard: true}"
    labels = [{"language": "de" if number < 5 else "en"} for number in range(60)]
    policy, before, after = write(tmp_path, rules, *mixed(60)[::1], slices=labels[: len(mixed(60)[0])])
    text = Path(policy.file).read_text().replace("rules:", "missing: {drop_at_most: 100%}\nrules:")
    Path(policy.file).write_text(text)
    for file in (before, after):
        records = [json.loads(line) for line in Path(file).read_text().splitlines()]
        for record in records[:5]:
            record["metrics"]["correct"] = None
        Path(file).write_text("".join(json.dumps(record) + "\n" for record in records))
    found = examine(load_policy(policy.file), before, after, Plan(copies=30, processes=1))
    assert found.blocked.share == 1.0
    assert "it has no usable sample" in told_of(found)
    assert "candidate alone" not in told_of(found)


def test_a_limit_that_only_the_baseline_misses_is_told_as_that(tmp_path: Path) -> None:
    rules = "  - {id: line, kind: limit, metric: correct, at_least: 0.9, decide_by: value}"
    policy, before, after = write(tmp_path, rules, *pass_fail(0, 15, 60))
    found = examine(policy, before, after, Plan(copies=60, processes=1))
    assert found.checks[0].beyond == ["baseline"]
    assert "the baseline lies beyond what it wants" in told_of(found)
    assert "the runs themselves" not in told_of(found)


def test_labels_of_people_and_waivers_that_copies_leave_out_are_told() -> None:
    """What is counted by the judge alone is never told as what the corrected gate does."""
    home = Path(__file__).resolve().parents[2] / "gates" / "data" / "judge"
    policy = load_policy(home / "gate.yml")
    files = [str(home / name) for name in ("baseline.jsonl", "candidate.jsonl")]
    found = examine(policy, *files, Plan(copies=20, processes=1))
    assert found.judge_alone == ["over_refusal", "refused"]
    told = told_of(found)
    assert "People's labels correct over_refusal, refused in a check" in told
    assert "by what the judge says alone" in told
    assert "chance carries copies across" not in told
    assert (
        "over_refusal-calibration" not in told
    )  # a rule that copies can't try has settled nothing, by itself


def test_a_waiver_that_is_not_applied_is_told(tmp_path: Path) -> None:
    waiver = "\nwaivers:\n  - {rule: line, up_to: 0.5, until: 2026-12-01, by: someone, reason: meant}"
    rules = "  - {id: line, kind: limit, metric: correct, at_least: 0.99}" + waiver
    policy, before, after = write(tmp_path, rules, *mixed(96))
    found = examine(policy, before, after, Plan(copies=5, processes=1))
    assert found.waived == ["line"]
    assert "No waiver is applied here: line is let through" in told_of(found)


def test_every_metric_has_the_noise_that_is_assumed_also_where_it_is_not_known_of_most_questions(
    tmp_path: Path,
) -> None:
    generator = np.random.default_rng(3)
    values = (generator.random(2_000) < 0.5).astype(float)
    policy, before, _ = write(tmp_path, TOLERANCE, values, values)
    pairs = compare(policy, before, before).pairs
    known = np.zeros(2_000, dtype=bool)
    known[:400] = True
    side = replace(pairs.metrics["correct"].candidate, usable=known, value=np.where(known, values, np.nan))
    pairs = replace(
        pairs,
        metrics={
            **pairs.metrics,
            "correct": replace(pairs.metrics["correct"], candidate=side, baseline=side),
        },
    )
    changed = []
    for seed in range(40):
        copy = redo_answers(pairs, 0.3, np.random.default_rng(seed)).metrics["correct"]
        assert (copy.candidate.usable == known).all()
        assert np.isfinite(copy.candidate.value[known]).all()
        changed.append((copy.candidate.value[known] != values[known]).mean())
    assert np.mean(changed) == pytest.approx(0.3 * 0.5, abs=4 * math.sqrt(0.15 * 0.85 / 400 / 40))
