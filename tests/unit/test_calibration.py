"""People's labels in the verdict: what a judge says is corrected, or settles nothing."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from gateline.explanation import review
from gateline.gate import Options, check
from gateline.guard import compare_policies
from gateline.policy import load_policy
from gateline.statistics import Settings, cluster_keys
from gateline.statistics.prediction_powered import JudgedSamples, prediction_powered_gain

N = 600
RULE = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 0.05, on_inconclusive: fail}"
WITH = "calibration: {human: human.jsonl, metric: score}\n"


@pytest.fixture
def world(tmp_path: Path) -> dict[str, np.ndarray]:
    """Write two runs: people see the candidate 20 points worse, and the judge misses that."""
    draw = np.random.default_rng(5)
    human_before = (draw.random(N) < 0.85).astype(float)
    human_after = np.where(draw.random(N) < 0.24, 0.0, human_before)
    judge_after = np.where(draw.random(N) < 0.97, human_before, 1 - human_before)  # lenient on what was lost
    judge_before = np.where(draw.random(N) < 0.97, human_before, 1 - human_before)
    write(tmp_path / "baseline.jsonl", judge_before)
    write(tmp_path / "candidate.jsonl", judge_after)
    return {"hb": human_before, "ha": human_after, "jb": judge_before, "ja": judge_after}


def write(file: Path, values: np.ndarray) -> None:
    lines = [json.dumps({"id": f"q{row}", "metrics": {"score": value}}) for row, value in enumerate(values)]
    file.write_text("\n".join(lines) + "\n")


def label(folder: Path, world: dict[str, np.ndarray], count: int, runs: str = "bc", **more: object) -> None:
    lines = []
    for row in range(count):
        for run, key in (("baseline", "hb"), ("candidate", "ha")):
            value = float(world[key][row]) if run[0] in runs else None
            lines.append(json.dumps({"id": f"q{row}", "run": run, "metrics": {"score": value}, **more}))
    (folder / "human.jsonl").write_text("\n".join(lines) + "\n")


def judge(folder: Path, rules: str = RULE, calibration: str = WITH):  # type: ignore[no-untyped-def]
    policy = folder / "policy.yml"
    policy.write_text(
        f"version: 1\nname: p\nmetrics:\n  score: {{better: higher, range: [0, 1], show_as: percent}}\n{calibration}"
        f"rules:\n  - {rules}\n"
    )
    return check(
        policy, folder / "baseline.jsonl", folder / "candidate.jsonl", on=datetime.date(2026, 11, 30)
    )


def test_a_lenient_judge_passes_what_people_would_not(tmp_path: Path, world: dict[str, np.ndarray]) -> None:
    label(tmp_path, world, 200)
    assert judge(tmp_path, calibration="").verdict == "pass"
    found = judge(tmp_path)
    assert found.verdict == "fail"
    finding = found.findings[0]
    human = np.full(N, np.nan)
    human[:200] = (world["ha"] - world["hb"])[:200]
    samples = JudgedSamples(
        world["ja"] - world["jb"], human, np.arange(N), cluster_keys([f"q{n}" for n in range(N)])
    )
    expected = prediction_powered_gain(samples, level=0.95, width=1.0, settings=Settings())
    assert finding.gain == pytest.approx(expected.value, abs=1e-12)
    assert finding.candidate - finding.baseline == pytest.approx(finding.gain, abs=1e-12)
    assert finding.interval is not None and expected.interval is not None
    assert (finding.interval.low, finding.interval.high) == pytest.approx(
        (expected.interval.low, expected.interval.high), abs=1e-9
    )
    assert finding.calibration is not None and finding.calibration.labelled == 200
    assert finding.calibration.gain == pytest.approx((world["ja"] - world["jb"]).mean(), abs=1e-12)
    assert "by the judge alone" in finding.message


@pytest.mark.parametrize("runs", ["", "c", "b"])
def test_without_labels_of_both_runs_a_gain_is_not_settled(
    tmp_path: Path, world: dict[str, np.ndarray], runs: str
) -> None:
    label(tmp_path, world, 200, runs)
    found = judge(tmp_path)
    assert (found.verdict, found.findings[0].status, found.findings[0].gain) == ("fail", "inconclusive", None)
    assert "in both runs" in found.findings[0].message


def test_labels_of_the_candidate_alone_correct_a_limit(tmp_path: Path, world: dict[str, np.ndarray]) -> None:
    label(tmp_path, world, 200, "c")
    rule = "{kind: limit, metric: score, at_least: 0.75}"
    assert judge(tmp_path, rule, "").verdict == "pass"
    found = judge(tmp_path, rule)
    assert found.verdict == "fail"
    assert found.findings[0].candidate == pytest.approx(world["ha"].mean(), abs=0.08)


def test_labels_asked_for_for_a_reason_correct_nothing(tmp_path: Path, world: dict[str, np.ndarray]) -> None:
    label(tmp_path, world, 200, review={"sampling": "targeted"})
    found = judge(tmp_path)
    assert found.findings[0].status == "inconclusive"
    assert any("targeted labels left out: 400" in notice for notice in found.notices)


def test_a_bias_that_both_runs_share_cancels(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    before, after = draw.random(N) * 0.5, draw.random(N) * 0.5
    write(tmp_path / "baseline.jsonl", before + 0.3)
    write(tmp_path / "candidate.jsonl", after + 0.3)
    label(tmp_path, {"hb": before, "ha": after}, 150)
    finding = judge(tmp_path).findings[0]
    assert finding.calibration is not None
    assert finding.gain == pytest.approx(finding.calibration.gain, abs=1e-9)
    assert finding.calibration.trust == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "other", "metrics": {"score": 1}}, "is not in the candidate"),
        ({"id": "q1", "metrics": {"score": 3}}, "outside the range"),
        ({"id": "q1", "metrics": {"score": "good"}}, "must be a number"),
        ({"id": "q0", "run": "candidate", "metrics": {"score": 0.123}}, "has two labels"),
        ({"id": "q1", "run": "both", "metrics": {"score": 1}}, "baseline or candidate"),
    ],
)
def test_what_is_no_label_gives_no_verdict_with_its_line(
    tmp_path: Path, world: dict[str, np.ndarray], line: dict[str, object], said: str
) -> None:
    label(tmp_path, world, 1)
    with (tmp_path / "human.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    found = judge(tmp_path)
    assert found.verdict == "invalid"
    assert any(said in one.message and one.where.endswith("human.jsonl:3") for one in found.problems)


def digest(folder: Path, run: str) -> str:
    return hashlib.sha256((folder / f"{run}.jsonl").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("of", "counted"),
    [(None, (200, 200)), ("candidate", (200, 200)), ("baseline", (0, 200)), ("another", (0, 0))],
)
def test_a_digest_that_is_there_is_always_held_against_the_run(
    tmp_path: Path, world: dict[str, np.ndarray], of: str | None, counted: tuple[int, int]
) -> None:
    label(tmp_path, world, 200)
    told = "0" * 64 if of == "another" else digest(tmp_path, of) if of else None
    head = {"gateline": 1, "run": {"review.candidate_sha256": told} if told else {}}
    lines = (tmp_path / "human.jsonl").read_text()
    (tmp_path / "human.jsonl").write_text(json.dumps(head) + "\n" + lines)
    found = judge(tmp_path)
    notices = "\n".join(found.notices)
    said = "people labelled {} answers of the candidate and {} of the baseline".format(*counted)
    assert said in notices or counted == (0, 0)
    assert ("are of other answers" in notices) == (of in ("baseline", "another"))
    assert (found.findings[0].calibration.corrects, found.verdict) == (counted[0] > 0, "fail")


def test_a_judge_who_does_not_agree_gives_no_verdict(tmp_path: Path, world: dict[str, np.ndarray]) -> None:
    label(tmp_path, world, 200)
    rule = "{{kind: calibration, metric: score, measure: agreement, at_least: {}, otherwise: {}}}"
    assert judge(tmp_path, rule.format("99%", "no_verdict")).verdict == "invalid"
    assert judge(tmp_path, rule.format("99%", "fail")).verdict == "fail"
    held = judge(tmp_path, rule.format("60%", "no_verdict"))
    assert held.verdict == "pass"
    agreed = (world["ha"][:200] == world["ja"][:200]).mean()
    assert held.findings[0].candidate == pytest.approx(agreed) and held.findings[0].samples == 200
    assert agreed < 0.8 < 0.95 < (world["hb"][:200] == world["jb"][:200]).mean()


@pytest.mark.parametrize("bad", ["candidate", "baseline"])
def test_the_run_in_which_the_judge_does_not_agree_is_the_one_that_is_named(
    tmp_path: Path, world: dict[str, np.ndarray], bad: str
) -> None:
    """The lenient judge is that of the candidate's answers; with the runs exchanged, of the baseline's."""
    if bad == "baseline":
        write(tmp_path / "baseline.jsonl", world["ja"])
        write(tmp_path / "candidate.jsonl", world["jb"])
        world = {"hb": world["ha"], "ha": world["hb"]}
    label(tmp_path, world, 200)
    rule = "{kind: calibration, metric: score, measure: agreement, at_least: 90%, otherwise: no_verdict}"
    (problem,) = judge(tmp_path, rule).problems
    assert f"labels of the {bad}" in problem.message
    assert Path(problem.where).name == f"{bad}.jsonl"


def test_the_policy_is_checked_as_a_whole(tmp_path: Path, world: dict[str, np.ndarray]) -> None:
    rule = "{kind: calibration, metric: score, measure: kappa, at_least: 0.4}"
    assert "no labels of people" in judge(tmp_path, rule, "").problems[0].message
    shared = "{kind: tolerance, metric: score, worse_by_at_most: 5%}"
    assert "share of the baseline" in judge(tmp_path, shared).problems[0].message
    slip = "calibration: {human: human.jsonl, metric: scor}\n"
    assert "there is no metric 'scor'" in judge(tmp_path, calibration=slip).problems[0].message


PAGE = Path(__file__).resolve().parents[2] / "docs" / "judge.md"


def test_the_labels_of_the_page_are_tied_to_their_answers(tmp_path: Path) -> None:
    """Each line counts for the run that it names, and not where the run's answer is another one."""
    lines = PAGE.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0].splitlines()
    labels = [json.loads(line) for line in lines]
    assert [one["run"] for one in labels] == ["baseline", "candidate"]
    for changed, counted in ((False, (1, 1)), (True, (0, 1))):
        for run, one in zip(("baseline", "candidate"), labels, strict=True):
            answer = "something else" if changed and run == "candidate" else one["answer"]
            records = [{"id": f"q{row}", "metrics": {"score": 1}} for row in range(N)]
            records[0] |= {"id": one["id"], "answer": answer}
            (tmp_path / f"{run}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        (tmp_path / "human.jsonl").write_text("\n".join(lines) + "\n")
        found = judge(
            tmp_path, calibration="calibration: {human: human.jsonl, metric: score, label: faithfulness}\n"
        )
        told = "people labelled {} answers of the candidate and {} of the baseline".format(*counted)
        assert any(told in one for one in found.notices)
        assert any("is of another answer" in one for one in found.notices) == changed


REAL = (
    Path(__file__).resolve().parents[3] / "shared" / "data" / "judges" / "judge_xstest_llama2" / "items.jsonl"
)


@pytest.mark.skipif(not REAL.exists(), reason="needs the sets with labels of people and of a judge")
def test_the_interval_of_the_gate_holds_what_people_say_of_all(tmp_path: Path) -> None:
    """Real refusals, judged by phrases; people's labels of 30 % of the pairs, drawn anew 30 times."""
    human: dict[str, dict[str, float]] = {"llama2orig": {}, "llama2new": {}}
    said: dict[str, dict[str, float]] = {"llama2orig": {}, "llama2new": {}}
    for line in REAL.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        system, question = item["id"].split("|")
        if item["human"] is not None and item["judges"]["string"] is not None:
            human[system][question] = float(item["human"])
            said[system][question] = float(item["judges"]["string"])
    ids = sorted(human["llama2orig"].keys() & human["llama2new"].keys())
    for name, system in (("baseline", "llama2orig"), ("candidate", "llama2new")):
        write(tmp_path / f"{name}.jsonl", np.array([said[system][one] for one in ids]))
    before, after = (np.array([human[system][one] for one in ids]) for system in human)
    truth = float((after - before).mean())
    covered = 0
    for seed in range(30):
        labelled = np.random.default_rng(seed).permutation(len(ids))[: round(0.3 * len(ids))]
        lines = [
            json.dumps({"id": f"q{row}", "run": run, "metrics": {"score": float(values[row])}})
            for row in labelled
            for run, values in (("baseline", before), ("candidate", after))
        ]
        (tmp_path / "human.jsonl").write_text("\n".join(lines) + "\n")
        interval = judge(tmp_path).findings[0].interval
        covered += interval.low <= truth <= interval.high
    assert (
        covered >= 26
    )  # P(fewer | 95 %) is below 1.6 %; labels of a part of the set itself make it more often


def test_taking_the_calibration_away_or_pointing_it_elsewhere_is_told_as_loosening(
    tmp_path: Path, world: dict[str, np.ndarray]
) -> None:
    label(tmp_path, world, 50)
    judge(tmp_path)
    base = load_policy(tmp_path / "policy.yml").policy
    for other in ("", "calibration: {human: other.jsonl, metric: score}\n"):
        judge(tmp_path, calibration=other)
        changes = compare_policies(base, load_policy(tmp_path / "policy.yml").policy)
        assert [(one.path, one.base, one.loosens) for one in changes] == [
            ("calibration.score", "human.jsonl", True)
        ]


CANDIDATE, BASELINE, LENIENT = (
    f"{{human: human.jsonl, metric: score, label: {field}, run: {run}}}"
    for field, run in (("strict", "candidate"), ("strict", "baseline"), ("lenient", "candidate"))
)


@pytest.mark.parametrize(
    ("sources", "loosens"),
    [
        ((CANDIDATE, BASELINE), []),
        ((BASELINE, CANDIDATE), []),
        ((LENIENT, BASELINE), [True]),
        ((BASELINE, LENIENT), [True]),
        ((BASELINE, BASELINE), [True]),
        ((CANDIDATE,), [True]),
        ((BASELINE,), [True]),
    ],
)
def test_no_source_of_labels_hides_another_of_the_same_file_and_metric(
    tmp_path: Path, world: dict[str, np.ndarray], sources: tuple[str, ...], loosens: list[bool]
) -> None:
    label(tmp_path, world, 50)
    policies = []
    for some in ((CANDIDATE, BASELINE), sources):
        judge(tmp_path, calibration=f"calibration: [{', '.join(some)}]\n")
        policies.append(load_policy(tmp_path / "policy.yml").policy)
    changes = compare_policies(*policies)
    assert [one.loosens for one in changes] == loosens
    assert {one.path for one in changes} <= {"calibration.score"}


def test_two_rules_on_one_judge_have_names_of_their_own(tmp_path: Path, world: dict[str, np.ndarray]) -> None:
    label(tmp_path, world, 200)
    rule = "{kind: calibration, metric: score, measure: kappa, at_least: 0.1}"
    found = judge(tmp_path, f"{rule}\n  - {rule.replace('kappa', 'agreement')}")
    assert {one.rule for one in found.findings} == {"score-calibration-kappa", "score-calibration-agreement"}
    assert review(load_policy(tmp_path / "policy.yml")) == []


@pytest.fixture
def two_languages(tmp_path: Path) -> Path:
    """Write a run in two languages, all labelled: the judge is right in one and tosses a coin in the other."""
    draw = np.random.default_rng(8)
    human = (draw.random(240) < 0.6).astype(float)
    rows = []
    for row, truth in enumerate(human):
        said = truth if row % 2 else float(draw.random() < 0.5)
        language = "de" if row % 2 else "en"
        rows.append({"id": f"q{row}", "metrics": {"score": said}, "slices": {"language": language}})
    for name in ("baseline", "candidate"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    label(tmp_path, {"hb": human, "ha": human}, 240)
    return tmp_path


@pytest.mark.parametrize(
    ("measure", "bound"), [("agreement", "at_least"), ("false_positive_rate", "at_most")]
)
def test_a_judge_is_measured_in_the_slice_that_the_rule_names(
    two_languages: Path, measure: str, bound: str
) -> None:
    line = 0.8 if bound == "at_least" else 0.2
    rule = f"{{id: trusted, kind: calibration, metric: score, measure: {measure}, {bound}: {line}, slice: language=%s}}"
    finding = judge(two_languages, rule % "de").findings[0]
    assert (finding.status, finding.candidate) == ("pass", 1.0 if bound == "at_least" else 0.0)
    assert (finding.at_least, finding.at_most) == ((0.8, None) if bound == "at_least" else (None, 0.2))
    assert finding.interval is not None
    low, high = finding.interval.low, finding.interval.high
    assert (low is not None and low > 0.8) if bound == "at_least" else (high is not None and high < 0.2)
    assert (finding.interval.method, finding.interval.of) == ("bayesian", "candidate")
    refused = judge(two_languages, rule % "en")
    (problem,) = refused.problems
    assert refused.verdict == "invalid"
    assert Path(problem.where).name == "baseline.jsonl"
    assert problem.hint == "label more answers by chance (gateline review), or mend the judge"
    sign = "≥ 0.8" if bound == "at_least" else "≤ 0.2"
    assert problem.message.startswith(
        f"the judge is not shown to agree with people: {measure} of score · language=en is 0."
    )
    human = [json.loads(line) for line in (two_languages / "human.jsonl").read_text().splitlines()]
    passed = [row["metrics"]["score"] for row in human if row["run"] == "baseline"][::2]
    count = 120 if bound == "at_least" else passed.count(0.0)
    assert problem.message.endswith(f" over {count} labels of the baseline, and trusted asks for {sign}")
    assert " … 0." in problem.message


def test_what_could_not_be_measured_is_unknown(tmp_path: Path) -> None:
    """Where both say 0 of all, chance alone agrees always: there is no kappa."""
    for name in ("baseline", "candidate"):
        write(tmp_path / f"{name}.jsonl", np.zeros(60))
    label(tmp_path, {"hb": np.zeros(60), "ha": np.zeros(60)}, 40, "c")
    rule = "{id: trusted, kind: calibration, metric: score, measure: kappa, at_least: 0.5}"
    (problem,) = judge(tmp_path, rule).problems
    assert (
        "kappa of score is unknown over 40 labels of the candidate, and trusted asks for ≥ 0.5"
        in problem.message
    )


@pytest.mark.parametrize(("unsettled", "level"), [("fail", 0.95), ("warn", 0.975)])
def test_each_slice_is_measured_at_the_level_of_its_family(
    two_languages: Path, unsettled: str, level: float
) -> None:
    """Where all must be shown nothing is widened; where what is unsettled passes, it is for two slices."""
    rule = (
        "{id: trusted, kind: calibration, metric: score, measure: agreement, at_least: 0.8, slices: true, "
        f"otherwise: fail, on_inconclusive: {unsettled}}}"
    )
    both = judge(two_languages, rule, WITH + "slices: {by: [language]}\n").findings
    assert {finding.slice: finding.status for finding in both} == {
        "language=de": "pass",
        "language=en": "fail",
    }
    wide = next(finding.interval for finding in both if finding.slice == "language=de")
    alone = judge(two_languages, rule.replace("slices: true", "slice: language=de")).findings[0].interval
    assert wide is not None and alone is not None
    assert (wide.level, alone.level) == (pytest.approx(level), 0.95)
    assert wide.low is not None and alone.low is not None
    assert (wide.low < alone.low) is (level > 0.95)


@pytest.mark.parametrize("worse", ["baseline", "candidate"])
def test_of_two_judges_that_pass_too_much_the_worse_is_named(tmp_path: Path, worse: str) -> None:
    """A rate that is held from above: the run in which it is larger."""
    draw = np.random.default_rng(4)
    human = np.zeros(200)
    bad, less_bad = (draw.random(200) < 0.6).astype(float), (draw.random(200) < 0.4).astype(float)
    write(tmp_path / "baseline.jsonl", bad if worse == "baseline" else less_bad)
    write(tmp_path / "candidate.jsonl", bad if worse == "candidate" else less_bad)
    label(tmp_path, {"hb": human, "ha": human}, 200)
    rule = "{id: r, kind: calibration, metric: score, measure: false_positive_rate, at_most: 0.1}"
    (problem,) = judge(tmp_path, rule).problems
    assert f"over 200 labels of the {worse}, and r asks for ≤ 0.1" in problem.message


def test_few_labels_that_all_agree_are_too_few(tmp_path: Path) -> None:
    values = (np.arange(60) % 2).astype(float)
    for name in ("baseline", "candidate"):
        write(tmp_path / f"{name}.jsonl", values)
    label(tmp_path, {"hb": values, "ha": values}, 20)
    rule = "{id: r, kind: calibration, metric: score, measure: agreement, at_least: 0.3}"
    found = judge(tmp_path, rule)
    assert found.verdict == "invalid"
    assert "30 are needed to correct the judge" in found.problems[0].message
    finding = judge(tmp_path, rule.replace("0.3", "0.3, otherwise: fail, on_inconclusive: warn")).findings[0]
    assert finding.status == "inconclusive"
    assert any("30 are needed to correct the judge" in note for note in finding.notes)
    label(tmp_path, {"hb": values, "ha": values}, 40)
    assert judge(tmp_path, rule).verdict == "pass"


def test_a_finding_of_a_judge_tells_of_the_judge_alone(two_languages: Path) -> None:
    rule = "{id: r, kind: calibration, metric: score, measure: agreement, at_least: 0.5}"
    finding = judge(two_languages, rule).findings[0]
    nothing = (
        "baseline",
        "gain",
        "relative_gain",
        "better",
        "worse",
        "same",
        "calibration",
        "unit",
        "samples_needed",
    )
    assert {name: getattr(finding, name) for name in nothing} == dict.fromkeys(nothing)
    told = ("measure", "samples", "clusters", "direction", "summary", "show_as")
    assert [getattr(finding, name) for name in told] == ["agreement", 240, 0, "higher", "mean", "percent"]
    said = f"{finding.candidate:.3g}"
    assert any(
        note.count(said) == 2 and note.count("240") == 2 for note in finding.notes
    )  # one judge in both runs
    below = rule.replace("agreement, at_least", "bias, at_most")
    finding = judge(two_languages, below).findings[0]
    assert (finding.direction, finding.show_as, finding.at_most) == ("lower", "number", 0.5)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            "measure: kappa, at_least: 0.4",
            "the kappa of the judge of score must be at least 0.4, else there is no verdict",
        ),
        (
            "measure: bias, at_most: 0.1, otherwise: fail",
            "the bias of the judge of score must be at most 0.1, else the gate says no",
        ),
    ],
)
def test_the_rule_is_a_plain_sentence(tmp_path: Path, asked: str, sentence: str) -> None:
    (tmp_path / "human.jsonl").write_text(json.dumps({"id": "q0", "metrics": {"score": 1}}) + "\n")
    (tmp_path / "policy.yml").write_text(
        f"version: 1\nname: p\nmetrics: {{score: {{better: higher, range: [0, 1]}}}}\n{WITH}"
        f"rules:\n  - {{kind: calibration, metric: score, {asked}}}\n"
    )
    policy = load_policy(tmp_path / "policy.yml").policy
    assert policy.rules[0].sentence(policy.metrics["score"]) == sentence


def test_a_first_run_has_a_judge_too(two_languages: Path) -> None:
    (two_languages / "baseline.jsonl").unlink()
    human = (two_languages / "human.jsonl").read_text().splitlines(keepends=True)
    (two_languages / "human.jsonl").write_text("".join(line for line in human if '"candidate"' in line))
    rule = "{id: r, kind: calibration, metric: score, measure: agreement, at_least: 0.8, otherwise: fail, slice: %s}"
    (two_languages / "policy.yml").write_text(
        f"version: 1\nname: p\nmetrics: {{score: {{better: higher, range: [0, 1]}}}}\n{WITH}"
        f"rules:\n  - {rule % 'language=de'}\n  - {rule.replace('id: r', 'id: s') % 'language=en'}\n"
    )
    found = check(
        two_languages / "policy.yml", None, two_languages / "candidate.jsonl",
        on=datetime.date(2026, 11, 30), options=Options(first_run=True),
    )  # fmt: skip
    assert {finding.slice: (finding.status, finding.samples) for finding in found.findings} == {
        "language=de": ("pass", 120),
        "language=en": ("fail", 120),
    }
