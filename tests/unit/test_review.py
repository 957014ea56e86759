"""The review queue: the right chances over many seeds, the reasons in their order, lines that audit reads back."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.cli import run
from gateline.errors import InputError, NotComparable, PolicyError
from gateline.readers import read_run
from gateline.review import Request, review
from gateline.review.selection import Selection, select
from gateline.verdict import Verdict
from runs import Record, check_gate, records, set_field, set_metric, write_gate, write_run

HOLDS = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 1}"
EVERY = "{id: stay-fixed, kind: every, metric: score, at_least: 0.5, hard: true}"
RISK = "{id: risk, kind: limit, metric: score, slice: risky, at_least: 0, hard: true}"
NAMED = "{named: {risky: {risk: high}}}"


# Who is chosen

IDS = [f"q{number:03}" for number in range(40)]
STRATA = {"first": IDS[:3], "second": IDS[2:12], "empty": []}


def draw(seed: int, number: int = 10, share: float = 0.3) -> Selection:
    return select(IDS, STRATA, number, share, seed)


def test_each_sample_is_in_the_random_part_as_often_as_any_other() -> None:
    """Over 2,000 seeds 3 of 40 are 150 times each; a count is binomial, and all 40 stay within 4.5 deviations."""
    seeds = 2000
    counts = Counter(
        pick.id for seed in range(seeds) for pick in draw(seed).picks if pick.sampling == "random"
    )
    chance = 3 / 40
    deviation = math.sqrt(seeds * chance * (1 - chance))
    assert sum(counts.values()) == seeds * 3
    assert all(abs(counts[name] - seeds * chance) < 4.5 * deviation for name in IDS)
    squares = sum((counts[name] - seeds * chance) ** 2 for name in IDS) / (seeds * chance * (1 - chance))
    assert 15 < squares < 75  # chi-square with 39 degrees of freedom: the middle 99.9 %


def test_two_samples_are_in_the_random_part_together_as_often_as_chance_has_it() -> None:
    seeds = 3000
    together = Counter(
        (one, other)
        for seed in range(seeds)
        for picked in [sorted(pick.id for pick in draw(seed).picks if pick.sampling == "random")]
        for place, one in enumerate(picked)
        for other in picked[place + 1 :]
    )
    expected = seeds * 3 * 2 / (40 * 39)
    assert sum(together.values()) == seeds * 3
    squares = sum(
        (together[a, b] - expected) ** 2 / expected for at, a in enumerate(IDS) for b in IDS[at + 1 :]
    )
    assert abs(squares - 780) < 4.5 * math.sqrt(2 * 780)  # all 780 pairs are equally likely


def test_the_stated_probability_is_how_often_a_sample_is_chosen() -> None:
    seeds = 2000
    chosen = Counter(pick.id for seed in range(seeds) for pick in draw(seed).picks)
    stated = {pick.id: pick.probability for seed in range(200) for pick in draw(seed).picks}
    targeted = [name for name in IDS if stated[name] == 1]
    assert targeted == ["q000", "q001", "q002", "q003", "q004", "q005", "q006"]
    for name in IDS:
        deviation = math.sqrt(seeds * stated[name] * (1 - stated[name]))
        assert abs(chosen[name] - seeds * stated[name]) <= 4.5 * deviation


def test_both_ways_to_estimate_are_without_bias() -> None:
    """The mean of the random part, and all lines weighted: over many seeds both are the mean of all samples."""
    rng = np.random.default_rng(7)
    truth = dict(zip(IDS, rng.normal(size=40) + np.arange(40) / 10, strict=True))
    plain, weighted, naive = [], [], []
    for seed in range(3000):
        picks = draw(seed).picks
        plain.append(np.mean([truth[pick.id] for pick in picks if pick.sampling == "random"]))
        weighted.append(sum(truth[pick.id] / pick.probability for pick in picks) / 40)
        naive.append(np.mean([truth[pick.id] for pick in picks]))
    mean = np.mean(list(truth.values()))
    for estimates in (plain, weighted):
        assert abs(np.mean(estimates) - mean) < 4.5 * np.std(estimates) / math.sqrt(len(estimates))
    assert abs(np.mean(naive) - mean) > 0.3  # all lines without weights are not


@given(
    st.lists(st.integers(0, 60), unique=True, min_size=1, max_size=60),
    st.lists(st.lists(st.integers(0, 60), unique=True), max_size=4),
    st.integers(1, 70), st.floats(0, 1), st.integers(0, 5),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_what_always_holds(
    numbers: list[int], members: list[list[int]], number: int, share: float, seed: int
) -> None:
    ids = [f"q{one}" for one in numbers]
    strata = {str(at): [f"q{one}" for one in some if one in set(numbers)] for at, some in enumerate(members)}
    found = select(ids, strata, number, share, seed)
    picked = [pick.id for pick in found.picks]
    assert len(picked) == len(set(picked)) == min(number, len(ids))
    assert set(picked) <= set(ids)
    kinds = Counter(pick.sampling for pick in found.picks)
    assert kinds["random"] == found.random
    assert found.random >= min(len(ids), max(1 if share > 0 else 0, math.floor(number * share + 0.5)))
    assert all(0 < pick.probability <= 1 for pick in found.picks)
    total = sum(1 / pick.probability for pick in found.picks)
    if found.random or len(picked) == len(ids):
        assert total == pytest.approx(len(ids))  # the weights stand for all samples
    for pick in found.picks:
        assert list(pick.strata) == [name for name, some in strata.items() if pick.id in some]
        assert pick.sampling != "targeted" or pick.strata
    assert select(ids[::-1], strata, number, share, seed) == found


def test_reasons_take_turns_the_most_urgent_first() -> None:
    strata = {"a": IDS[:20], "b": IDS[30:32], "c": IDS[:3]}
    found = select(IDS, strata, 6, 0, 1)
    assert {pick.id for pick in found.picks} == {"q000", "q030", "q001", "q002", "q031", "q003"}
    assert {pick.sampling for pick in found.picks} == {"targeted"}


def test_another_seed_draws_others_and_orders_otherwise() -> None:
    drawn = {tuple(pick.id for pick in draw(seed).picks) for seed in range(50)}
    assert len(drawn) == 50


# Whole queues


def judge(folder: Path, runs: Any, *rules: str, **parts: str) -> Verdict:
    write_gate(folder, runs, *(rules or (HOLDS,)), **{"missing": "{drop_at_most: 100%}", **parts})
    verdict = check_gate(folder)
    assert verdict.verdict != "invalid", verdict.because
    return verdict


def queue(verdict: Verdict, **request: Any) -> list[Record]:
    return [json.loads(line) for line in review(verdict, Request(**request)).text.splitlines()[1:]]


def test_a_whole_queue_letter_for_letter(tmp_path: Path) -> None:
    before, after = records("a*20 1>1 b 1>0")
    set_field(after[-1:], question="Who?", answer="She", contexts=["one", "two"], latency_ms=3)
    verdict = judge(tmp_path, (before, after), HOLDS, EVERY)
    assert verdict.candidate is not None
    found = review(verdict, Request(number=2, random_share="50%", seed=3))
    header, *lines = found.text.splitlines()
    assert json.loads(header) == {
        "gateline": 1,
        "run": {
            "review.gate": "gate", "review.candidate_sha256": verdict.candidate.sha256, "review.seed": 3,
            "review.population": 21, "review.random": 1,
        },
    }  # fmt: skip
    told = '"question": "Who?", "answer": "She", "contexts": ["one", "two"]'
    (line,) = (line for line in lines if '"b"' in line)
    assert line == (
        f'{{"id": "b", "metrics": {{"score": null}}, {told}, "review": {{"sampling": "targeted", '
        '"strata": ["failed hard", "changed most"], "probability": 1.0, "weight": 1.0, '
        f'"answer_sha256": "{hashlib.sha256(b"She").hexdigest()}"}}}}'
    )
    (other,) = (json.loads(line) for line in lines if '"b"' not in line)
    assert other["review"] == {"sampling": "random", "strata": [], "probability": 0.05, "weight": 20.0}
    assert other["metrics"] == {"score": None}


@pytest.mark.parametrize(
    ("number", "share", "advice"),
    [
        ("20", "30%", "-n 30 --random-share 100%"),
        ("35", "30%", "--random-share 86%"),
        ("40", "100%", None),
        ("35", "86%", None),
    ],
)
def test_a_queue_that_would_not_correct_a_judge_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str, share: str, advice: str | None
) -> None:
    """What it advises is enough: the last case is the advice of the second one."""
    judge(tmp_path, "a*30 1>1 b*30 1>0", HOLDS)
    verdict = tmp_path / "verdict.json"
    files = [f"--{name}={tmp_path / name}.jsonl" for name in ("baseline", "candidate")]
    run(["check", f"--policy={tmp_path / 'policy.yml'}", *files, "--format=json"])
    verdict.write_text(capsys.readouterr().out)
    queue_file = tmp_path / "queue.jsonl"
    asked = ["review", str(verdict), "-n", number, "--random-share", share, "-o", str(queue_file)]
    assert run(asked) == 0
    told = capsys.readouterr().err
    random = queue_file.read_text().count('"sampling": "random"')
    assert (random >= 30) == (advice is None)
    if advice is None:
        assert "needed" not in told
    else:
        assert f"only {random} are random, and 30 random labels are needed" in told and advice in told


def test_the_order_of_records_plays_no_part(tmp_path: Path) -> None:
    before, after = records("a*30 1>1 b*5 1>0 c*5 0.4>0.6 d*9 high 0>1")
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    first = queue(judge(tmp_path / "1", (before, after)), number=20)
    assert queue(judge(tmp_path / "2", (before[::-1], after[::-1])), number=20) == first


def strata_of(lines: list[Record]) -> dict[str, list[str]]:
    return {line["id"]: line["review"]["strata"] for line in lines}


def test_the_reasons(tmp_path: Path) -> None:
    runs = "a*30 1>1 failed 1>0.1 risky risk=high 1>1 up 0.2>1 close 0.55>0.55 far 0.9>0.9"
    strata = strata_of(queue(judge(tmp_path, runs, HOLDS, EVERY, RISK, slices=NAMED), number=100))
    assert {name: reasons for name, reasons in strata.items() if reasons} == {
        "failed": ["failed hard", "changed most"],
        "risky": ["high risk"],
        "up": ["changed most"],
        "close": ["near threshold"],
    }


def test_what_moved_farthest_comes_first_in_shares_of_the_range(tmp_path: Path) -> None:
    before, after = records("a*40 1>1 big 1>0.2 small 1>0.8 both 1>0.7")
    set_metric(before, "points", [50.0] * 43)
    set_metric(after, "points", [50.0] * 42 + [5.0])
    metrics = "{score: {better: higher, range: [0, 1]}, points: {better: higher, range: [0, 50]}}"
    rule = "{kind: tolerance, metric: points, worse_by_at_most: 50}"
    verdict = judge(tmp_path, (before, after), HOLDS, rule, metrics=metrics)
    for number, ids in [(1, {"both"}), (2, {"both", "big"}), (3, {"both", "big", "small"})]:
        assert {line["id"] for line in queue(verdict, number=number, random_share=0)} == ids


def test_high_risk_slices_may_be_named_and_the_worst_of_them_comes_first(tmp_path: Path) -> None:
    runs = "a*30 en 1>1 b*3 de 1>1 worst de 1>0.9"
    verdict = judge(tmp_path, runs)
    assert not any(strata_of(queue(verdict, number=100))[name] for name in ("b1", "b2", "b3"))
    lines = queue(verdict, number=1, random_share=0, high_risk=["language=de"])
    assert [line["id"] for line in lines] == ["worst"]
    strata = strata_of(queue(verdict, number=100, high_risk=["language=de"]))
    assert strata["b1"] == ["high risk"]
    for place, said in [("germany", "no slice 'germany'"), ("language=fr", "no sample is in 'language=fr'")]:
        with pytest.raises(PolicyError, match=said):
            queue(verdict, high_risk=[place])


def test_a_threshold_may_be_said_and_scores_at_the_ends_are_never_near(tmp_path: Path) -> None:
    runs = "a*30 1>1 b 0.9>0.9 c 0.85>0.85 d 0.5>0.5 e 0>0"
    verdict = judge(tmp_path, runs)

    def near(**request: Any) -> set[str]:
        strata = strata_of(queue(verdict, number=100, **request))
        return {name for name, reasons in strata.items() if "near threshold" in reasons}

    assert near() == {"d"}
    assert near(thresholds="score=0.95") == {"b", "c"}
    for text in ("0.5", "skore=0.5", "score=x", "score=nan"):
        with pytest.raises(PolicyError, match="--threshold must be METRIC=NUMBER"):
            near(thresholds=text)


def test_what_to_label_are_the_judges_metrics_unless_said(tmp_path: Path) -> None:
    before, after = records("a*40 1>1", metric="faithfulness")
    for side in (before, after):
        for record in side:
            record["metrics"] |= {"recall@5": 1, "claims": 4, "unsupported_claims": 1}
        set_field(side, latency_ms=5)
    metrics = (
        "{faithfulness: {better: higher, range: [0, 1]}, recall@5: {better: higher, range: [0, 1]}, "
        "latency: {better: lower, field: latency_ms, unit: ms}, "
        "hallucination_rate: {better: lower, ratio: [unsupported_claims, claims], range: [0, 1]}}"
    )
    rules = [f"{{kind: tolerance, metric: {name}, worse_by_at_most: 1}}"
             for name in ("faithfulness", "recall@5", "latency", "hallucination_rate")]  # fmt: skip
    verdict = judge(tmp_path, (before, after), *rules, metrics=metrics)
    assert set(queue(verdict)[0]["metrics"]) == {"faithfulness", "unsupported_claims", "claims"}
    assert queue(verdict, metrics=["recall@5"])[0]["metrics"] == {"recall@5": None}
    with pytest.raises(PolicyError, match="no metric 'recal@5'"):
        queue(verdict, metrics=["recal@5"])
    only = judge(tmp_path, (before, after), rules[1], metrics=metrics)
    with pytest.raises(PolicyError, match="name what people should label with --metric"):
        queue(only)


def test_texts_come_from_the_run_and_else_from_the_golden_set(tmp_path: Path) -> None:
    before, after = records("a*40 1>1")
    set_field(after, response="An answer")
    golden = [{"id": f"a{at}", "query": f"What is {at}?", "ground_truth": "42", "answer": "not the run's"}
              for at in range(1, 41)]  # fmt: skip
    write_run(tmp_path / "golden.jsonl", golden)
    verdict = judge(tmp_path, (before, after), samples="{golden_set: golden.jsonl}")
    line = queue(verdict)[0]
    assert list(line) == ["id", "metrics", "question", "answer", "reference_answer", "review"]
    assert line["question"] == f"What is {line['id'][1:]}?"
    assert (line["answer"], line["reference_answer"]) == ("An answer", "42")


def test_a_first_run_has_a_queue_too(tmp_path: Path) -> None:
    write_gate(tmp_path, "a*40 1>1 b 1>0", EVERY)
    verdict = check_gate(tmp_path, baseline=False, first_run=True)
    strata = strata_of(queue(verdict, number=5))
    assert strata["b"] == ["failed hard"]
    assert len(strata) == 5


def test_attempts_at_one_question_are_one_line(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "a*40 1,1>1,0 b 1,1>0,0", EVERY)
    lines = queue(verdict, number=100)
    assert len(lines) == len({line["id"] for line in lines}) == 41


# What is refused


def test_other_files_than_those_that_were_judged_are_refused(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "a*40 1>1 b 1>0")
    with pytest.raises(InputError, match="the run is not the one that was judged"):
        queue(verdict, candidate=tmp_path / "baseline.jsonl")
    other = tmp_path / "other.yml"
    other.write_text((tmp_path / "policy.yml").read_text() + "# more\n")
    with pytest.raises(InputError, match="the policy is not the one that was judged"):
        queue(verdict, policy=other)
    moved = tmp_path / "moved.jsonl"
    (tmp_path / "candidate.jsonl").rename(moved)
    with pytest.raises(
        InputError, match=r"the candidate that was judged is not here: .*say where it is with --candidate"
    ):
        queue(verdict)
    assert len(queue(verdict, candidate=moved)) == 41


def test_a_golden_set_that_has_changed_so_that_nothing_compares_is_said(tmp_path: Path) -> None:
    write_run(tmp_path / "golden.jsonl", [{"id": f"a{at}"} for at in range(1, 41)])
    verdict = judge(tmp_path, "a*40 1>1", samples="{golden_set: golden.jsonl}")
    write_run(tmp_path / "golden.jsonl", [{"id": f"b{at}"} for at in range(1, 41)])
    with pytest.raises(NotComparable, match="are not answered"):
        queue(verdict)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"number": 0}, "-n must be at least 1, not 0"),
        ({"random_share": "130%"}, "--random-share must be a share between 0 and 1, not '130%'"),
        ({"random_share": "much"}, "--random-share must be a share"),
        ({"random_share": "nan"}, "--random-share must be a share"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, request_: dict[str, Any], said: str) -> None:
    verdict = judge(tmp_path, "a*40 1>1")
    with pytest.raises(PolicyError, match=said):
        queue(verdict, **request_)


# The command


def write_verdict(folder: Path, runs: Any, *rules: str) -> list[str]:
    path = folder / "verdict.json"
    path.write_text(judge(folder, runs, *rules).to_json(), encoding="utf-8")
    return ["review", str(path), "-o", str(folder / "queue.jsonl")]


def test_the_command_writes_a_queue_once_and_the_same_seed_writes_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = write_verdict(tmp_path, "a*60 1>1 b*3 1>0", HOLDS, EVERY)
    assert run([*arguments, "-n", "10"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"gateline: wrote {tmp_path}/queue.jsonl: 10 of 63 samples (")
    text = (tmp_path / "queue.jsonl").read_text()

    assert run([*arguments, "-n", "10"]) == 2  # people may have written into it
    assert "is there already and is not written over" in capsys.readouterr().err
    assert (tmp_path / "queue.jsonl").read_text() == text

    (tmp_path / "queue.jsonl").unlink()
    assert run([*arguments, "-n", "10"]) == 0
    assert (tmp_path / "queue.jsonl").read_text() == text
    (tmp_path / "queue.jsonl").unlink()
    assert run([*arguments, "-n", "10", "--seed", "1"]) == 0
    assert (tmp_path / "queue.jsonl").read_text() != text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["-n", "many"], "-n must be a whole number, not 'many'"),
        (["--seed", "x"], "--seed must be a whole number"),
        (["--metric", "x"], "there is no metric 'x'"),
        (["--candidate", "nowhere.jsonl"], "candidate not found: nowhere.jsonl"),
    ],
)
def test_what_is_wrong_is_2_and_nothing_is_written(
    tmp_path: Path, more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = write_verdict(tmp_path, "a*40 1>1")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert run([*arguments, *more]) == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_verdict_that_is_none_has_no_queue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_gate(tmp_path, "a*40 1>1", HOLDS.replace("score", "skore"))
    (tmp_path / "verdict.json").write_text(check_gate(tmp_path).to_json(), encoding="utf-8")
    assert run(["review", str(tmp_path / "verdict.json"), "-o", str(tmp_path / "queue.jsonl")]) == 2
    assert "nothing was judged" in capsys.readouterr().err
    assert not (tmp_path / "queue.jsonl").exists()


def audit(folder: Path, lines: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    human = folder / "human.jsonl"
    human.write_text("".join(f"{line}\n" for line in lines))
    capsys.readouterr()
    judged = str(folder / "candidate.jsonl")
    code = run(["audit", "--human", str(human), "--judge", judged, "--judge-everywhere", "--json"])
    assert code in (0, 1)  # 1: the judge is not shown to be better than chance
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["overall"]
    return found


def test_audit_reads_the_queue_back_and_takes_no_line_that_is_still_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = write_verdict(tmp_path, "a*60 1>1 b*40 1>0")
    assert run([*arguments, "-n", "40", "--random-share", "100%"]) == 0
    lines = [json.loads(line) for line in (tmp_path / "queue.jsonl").read_text().splitlines()]
    assert read_run(tmp_path / "queue.jsonl").ids == [line["id"] for line in lines[1:]]
    filled = lines[1:31]
    for line in filled:
        line["metrics"]["score"] = 1 if line["id"].startswith("a") else 0
    good = [line for line in filled if line["id"].startswith("a")]
    good[0]["metrics"]["score"] = 0  # the judge was wrong once
    found = audit(tmp_path, [json.dumps(line) for line in lines], capsys)
    assert (found["samples"], found["both"], found["without_human"]) == (100, 30, 70)
    assert found["confusion"] == {
        "true_positives": len(good) - 1, "false_negatives": 0, "false_positives": 1, "true_negatives": 30 - len(good),
    }  # fmt: skip


def test_only_the_random_lines_show_how_often_the_judge_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The judge is wrong wherever the score fell, and there the queue looks: all lines make it seem far worse."""
    arguments = write_verdict(tmp_path, "a*160 1>1 z*20 0>0 b*20 1>0")
    assert run([*arguments, "-n", "60", "--random-share", "50%"]) == 0
    texts = (tmp_path / "queue.jsonl").read_text().splitlines()
    filled = [
        text.replace('"score": null', '"score": 0' if text.startswith('{"id": "z') else '"score": 1')
        for text in texts
    ]
    random = [text for text in filled if '"sampling": "random"' in text or '"gateline"' in text]
    assert len(random) == 1 + 40  # only 20 samples moved: chance takes what the reasons leave
    of_all, of_random = audit(tmp_path, filled, capsys), audit(tmp_path, random, capsys)
    truth = 1 - 20 / 200
    assert of_all["measures"]["agreement"]["high"] < truth
    agreement = of_random["measures"]["agreement"]
    assert agreement["low"] <= truth <= agreement["high"]
